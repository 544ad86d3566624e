"""Vehicle routing: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.vehicle_routing import (
    VehicleRoutingConfig,
    VehicleRoutingProblem,
    VehicleRoutingTask,
    distances,
    in_turn,
    length,
    savings,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = VehicleRoutingTask(dataclasses.replace(VehicleRoutingConfig.at(0), scheme="ratio"))
# On a line: two customers to the left of the depot, one to the right.
SMALL = VehicleRoutingProblem(
    ((0, 0), (-3, 0), (2, 0), (-5, 0)), (2, 2, 2), 4, Reference(14, 14, True, 20, "1, 3\n2")
)


def plans(customers):
    """Every set of routes that serves the customers, each route in every order."""
    if not customers:
        yield []
        return
    first, rest = customers[0], customers[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [c for c in rest if c not in others]
            for route in itertools.permutations((first, *others)):
                for plan in plans(left):
                    yield [list(route), *plan]


def driven(problem, plan):
    """The way in unit steps along the axes."""
    total = 0
    for route in plan:
        stops = [problem.places[i] for i in (0, *route, 0)]
        for (a, b), (c, d) in itertools.pairwise(stops):
            total += len(range(a, c, 1 if c > a else -1)) + len(range(b, d, 1 if d > b else -1))
    return total


@pytest.mark.parametrize("stops", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world(stops, seed):
    config = VehicleRoutingConfig(n_customers=6, stops_per_route=stops, scheme="ratio")
    task = VehicleRoutingTask(config)
    problem = task.generate(stream("VehicleRouting", seed))
    reference, best = problem.reference, None
    for plan in plans(list(range(1, len(problem.demands) + 1))):
        verdict = task.verify(problem, "\n".join(", ".join(map(str, r)) for r in plan))
        fits = all(sum(problem.demands[c - 1] for c in r) <= problem.capacity for r in plan)
        assert verdict.parts["feasible"] == fits
        if not fits:
            assert verdict.score == 0
            continue
        total = driven(problem, plan)
        best = total if best is None else min(best, total)
        assert verdict.parts["objective"] == total
        share = (reference.trivial - total) / (reference.trivial - reference.objective)
        assert verdict.score == pytest.approx(max(0.0, share))
    assert (reference.objective, reference.bound, reference.proven) == (best, best, True)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 3\n2", 1.0),
        ("2 | 3 1", 1.0),
        ("[[2], [3, 1]]", 1.0),
        ("2; 1, 3", 1.0),
        ("```text\n2\n1, 3\n```", 1.0),
        ("1, 2\n3", 0.0),  # the baseline
        ("1\n2\n3", 0.0),
        ("1, 2, 3", 0.0),  # overloaded
        ("1, 3", 0.0),
        ("1, 3\n2, 2", 0.0),
        ("1, 3\n2\n2", 0.0),
        ("0, 1, 3, 0\n0, 2, 0", 0.0),  # the depot is not to be named
        ("1, 3\n4", 0.0),
        ("1, 3\n-2", 0.0),
        ("1, 3\n2.0", 1.0),
        ("1, 3\nNaN", 0.0),
        ("Route 1: 1, 3\nRoute 2: 2", 1.0),
        ("1, 3\n2\n" * 3000, 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize("level", [6, 10])
def test_heuristics_keep_to_the_rules_and_the_reference_is_no_worse(level):
    task = VehicleRoutingTask(VehicleRoutingConfig.at(level))
    problem = task.generate(stream("VehicleRouting", "heuristics", level))
    for plan in (
        savings(distances(problem.places), problem.demands, problem.capacity),
        in_turn(problem.demands, problem.capacity),
    ):
        assert sorted(c for route in plan for c in route) == list(
            range(1, len(problem.demands) + 1)
        )
        for route in plan:
            assert sum(problem.demands[c - 1] for c in route) <= problem.capacity
        assert length(distances(problem.places), plan) == driven(problem, plan)
        assert driven(problem, plan) >= problem.reference.objective >= problem.reference.bound


def test_sizes_of_the_bands():
    sizes = [VehicleRoutingConfig.at(level).n_customers for level in BANDS.values()]
    assert sizes == [8, 9, 11, 12]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_customers": 1},
        {"n_customers": 65},
        {"size": 1},
        {"size": 10**6 + 1},
        {"stops_per_route": 1},
        {"stops_per_route": 65},
        {"max_demand": 0},
        {"max_demand": 10**6 + 1},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        VehicleRoutingConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_answers(seed):
    rng = stream("VehicleRouting", "moves", seed)
    problem = VehicleRoutingTask(VehicleRoutingConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    assert TASK.verify(problem, answer).parts["feasible"] == 1.0
    for _ in range(20):
        assert TASK.verify(problem, TASK.neighbour(problem, answer, rng)).status != "unparsable"


def test_the_baseline_of_the_small_problem():
    # joining 1 and 3 saves 6
    assert TASK.baseline(stream("baseline"), SMALL) == "2\n3, 1"


def test_effort_counts_the_routes_of_one_vehicle():
    # each customer alone, and each two of them in either order
    assert TASK.effort(SMALL) == 3 + 3 * 2
