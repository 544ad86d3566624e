"""Travelling salesman: the whole small world, the bound, exploits of other suites, bands."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard import traveling_salesman
from rlvr_envs.envs.np_hard.traveling_salesman import (
    TravelingSalesmanConfig,
    TravelingSalesmanProblem,
    TravelingSalesmanTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = TravelingSalesmanTask(dataclasses.replace(TravelingSalesmanConfig.at(0), scheme="ratio"))
# 1-2-3-4 is 60 long, 1-2-4-3 is 50 and 1-3-2-4 is 40.
SMALL = TravelingSalesmanProblem(
    ((20, 10, 15), (10, 15), (15,)), Reference(50, 50, True, 60, "1, 3, 2, 4")
)


def distance(problem, a, b):
    low, high = min(a, b), max(a, b)
    return problem.distances[low - 1][high - low - 1]


def trips(n):
    """Every round trip once, from city 1 and in one of its two directions."""
    for rest in itertools.permutations(range(2, n + 1)):
        if rest[0] < rest[-1]:
            yield (1, *rest)


def length(problem, trip):
    return sum(distance(problem, trip[i - 1], trip[i]) for i in range(len(trip)))


def test_the_example_by_hand():
    lengths = {trip: length(SMALL, trip) for trip in trips(4)}
    assert lengths == {(1, 2, 3, 4): 60, (1, 2, 4, 3): 60, (1, 3, 2, 4): 50}


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("TravelingSalesman", seed))
    n = len(problem.distances) + 1
    best = min(length(problem, trip) for trip in trips(n))
    numeric = length(problem, range(1, n + 1))
    assert numeric > best
    assert problem.reference.objective == problem.reference.bound == best
    assert problem.reference.trivial == numeric
    for trip in itertools.permutations(range(1, n + 1)):
        verdict = TASK.verify(problem, ", ".join(map(str, trip)))
        expected = max(0.0, (numeric - length(problem, trip)) / (numeric - best))
        assert verdict.score == pytest.approx(expected)
        assert (verdict.score == 1.0) == (length(problem, trip) == best)
    for size in range(1, n):
        for part in itertools.permutations(range(1, n + 1), size):
            assert TASK.verify(problem, ", ".join(map(str, part))).score == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_bound_and_reference_agree_with_dynamic_programming(seed):
    task = TravelingSalesmanTask(TravelingSalesmanConfig(n_cities=11, budget=0.2))
    problem = task.generate(stream("TravelingSalesman", "eleven", seed))
    best = held_karp_program(problem, 11)
    table = [[0 if a == b else distance(problem, a, b) for b in range(1, 12)] for a in range(1, 12)]
    bound, surcharges = traveling_salesman.held_karp(table, best)
    assert bound <= 64 * best
    assert problem.reference.objective == problem.reference.bound == best
    tour = [int(city) - 1 for city in problem.reference.answer.split(", ")]
    for a, b in zip(tour, [*tour[1:], tour[0]], strict=True):
        assert bound + surcharges[a, b] <= 64 * best  # the optimum has each of these edges


def held_karp_program(problem, n):
    """The length of a shortest trip, over sets of visited cities and the last of them."""
    ways = {(frozenset([city]), city): distance(problem, 1, city) for city in range(2, n + 1)}
    for _ in range(n - 2):
        longer = {}
        for (visited, last), so_far in ways.items():
            for city in range(2, n + 1):
                if city not in visited:
                    key = (visited | {city}, city)
                    total = so_far + distance(problem, last, city)
                    longer[key] = min(total, longer.get(key, total))
        ways = longer
    return min(total + distance(problem, last, 1) for (_, last), total in ways.items())


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 3, 2, 4", 1.0),
        ("[4 2 3 1]", 1.0),
        ("3, 2, 4, 1", 1.0),  # any city may be first
        ("1, 2, 3, 4", 0.0),  # the baseline
        ("1, 3, 2, 4, 1", 0.0),  # the first city again
        ("1, 3, 1, 3", 0.0),
        ("1, 3", 0.0),
        ("3", 0.0),
        ("0, 1, 2, 3", 0.0),
        ("1, 3, 2, 5", 0.0),
        ("1.0, 3.0, 2.0, 4.0", 1.0),
        ("1 -> 3 -> 2 -> 4", 1.0),
        ("[]", 0.0),
        ("NaN, 3, 2, 4", 0.0),
        ("range(1, 5)", 0.0),
        ("1, 3, 2, 4, or 1, 2, 3, 4", 0.0),
        ("1," * 4000 + "3", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_graph_r1_squares_the_ratio():
    task = TravelingSalesmanTask(TravelingSalesmanConfig(scheme="graph_r1"))
    assert task.verify(SMALL, "1, 2, 3, 4").score == pytest.approx((50 / 60) ** 2 / 4)


def test_bands_of_np_engine():
    cities = {"easy": (10, 20), "medium": (20, 30), "hard": (35, 45), "bench": (45, 55)}
    for band, level in BANDS.items():
        assert cities[band][0] <= TravelingSalesmanConfig.at(level).n_cities <= cities[band][1]


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_cities": 3},
        {"n_cities": 401},
        {"min_distance": 0},
        {"min_distance": 50, "max_distance": 50},
        {"max_distance": 10**7},
    ],
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        TravelingSalesmanConfig(**knobs)


def test_the_fewest_cities_are_solved():
    task = TravelingSalesmanTask(TravelingSalesmanConfig(n_cities=4, max_distance=12))
    for seed in range(20):
        problem = task.generate(stream("TravelingSalesman", "four", seed))
        assert problem.reference.objective == min(length(problem, trip) for trip in trips(4))


@pytest.mark.parametrize("seed", range(3))
def test_greedy_and_its_neighbours_are_trips(seed):
    rng = stream("TravelingSalesman", "moves", seed)
    problem = TravelingSalesmanTask(TravelingSalesmanConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    moved = {TASK.neighbour(problem, answer, rng) for _ in range(40)}
    assert len(moved) > 20
    for other in (answer, *moved):
        assert TASK.verify(problem, other).parts["feasible"] == 1.0


def test_two_opt_shortens_the_nearest_neighbours_tour():
    problem = TravelingSalesmanTask(TravelingSalesmanConfig.at(5)).generate(stream("2-opt", 1))
    n = len(problem.distances) + 1
    table = [
        [0 if a == b else distance(problem, a, b) for b in range(1, n + 1)] for a in range(1, n + 1)
    ]
    nearest = traveling_salesman.nearest_neighbour(table)
    better = traveling_salesman.two_opt(nearest, table)
    assert sorted(better) == sorted(nearest) == list(range(n))
    assert traveling_salesman.length(better, table) < traveling_salesman.length(nearest, table)


def test_the_baseline_of_the_small_problem():
    # 3 is nearest to 1, and then 2 to 3
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 3, 2, 4"
