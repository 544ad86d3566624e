"""Minimum bisection: the whole small world, the local search, exploits of other suites, bands."""

import dataclasses
import itertools

import networkx
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard import minimum_bisection
from rlvr_envs.envs.np_hard.minimum_bisection import (
    MinimumBisectionConfig,
    MinimumBisectionProblem,
    MinimumBisectionTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = MinimumBisectionTask(dataclasses.replace(MinimumBisectionConfig.at(0), scheme="ratio"))
# {1, 2} and {3, 4} cost 3, {1, 4} and {2, 3} cost 8, {1, 3} and {2, 4} cost 11
SMALL = MinimumBisectionProblem(
    4, ((1, 2, 5), (1, 4, 2), (2, 3, 1), (3, 4, 3)), Reference(3, 3, True, 11, "1, 2")
)


def cost(problem, half):
    return sum(weight for a, b, weight in problem.edges if len({a, b} & set(half)) == 1)


def share(start, value, best):
    return (
        float(value == best)
        if value >= start or value == best
        else (start - value) / (start - best)
    )


@pytest.mark.parametrize("n", [6, 7])
@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed, n):
    task = MinimumBisectionTask(MinimumBisectionConfig(n_vertices=n, scheme="ratio"))
    problem = task.generate(stream("MinimumBisection", n, seed))
    vertices = range(1, n + 1)
    halves = [*itertools.combinations(vertices, n // 2), *itertools.combinations(vertices, 3)]
    best = min(cost(problem, half) for half in halves)
    numeric = cost(problem, range(1, n // 2 + 1))
    assert (problem.reference.objective, problem.reference.bound) == (best, best)
    assert problem.reference.trivial == numeric
    for size in range(1, n + 1):
        for group in itertools.combinations(vertices, size):
            verdict = task.verify(problem, ", ".join(map(str, group)))
            fits = abs(2 * size - n) <= 1
            expected = share(numeric, cost(problem, group), best) if fits else 0.0
            assert verdict.score == pytest.approx(expected)
            assert verdict.parts["feasible"] == fits


@pytest.mark.parametrize("seed", range(4))
def test_the_reference_is_no_worse_than_networkx_finds(seed):
    problem = MinimumBisectionTask(MinimumBisectionConfig.at(4)).generate(stream("nx", seed))
    graph = networkx.Graph()
    graph.add_nodes_from(range(1, problem.n_vertices + 1))
    graph.add_weighted_edges_from(problem.edges)
    cuts = [
        networkx.algorithms.community.kernighan_lin_bisection(graph, seed=start)[0]
        for start in range(10)
    ]
    assert problem.reference.objective <= min(cost(problem, half) for half in cuts)
    answer = [int(vertex) for vertex in problem.reference.answer.split(", ")]
    assert cost(problem, answer) == problem.reference.objective
    assert not problem.reference.proven


@pytest.mark.parametrize("n", [9, 10])
def test_the_local_search_alone_comes_close(n, monkeypatch):
    monkeypatch.setattr(minimum_bisection, "_EXACT", 0)
    hits = 0
    for seed in range(12):
        task = MinimumBisectionTask(MinimumBisectionConfig(n_vertices=n))
        problem = task.generate(stream("KL", n, seed))
        best = min(cost(problem, half) for half in itertools.combinations(range(1, n + 1), n // 2))
        assert problem.reference.objective >= best
        hits += problem.reference.objective == best
    assert hits >= 11


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2", 1.0),
        ("[4 3]", 1.0),  # the other half
        ("1, 4", 0.375),
        ("2, 4", 0.0),  # the baseline
        ("1, 1", 0.0),
        ("1", 0.0),
        ("1, 2, 3", 0.0),
        ("1, 2, 3, 4", 0.0),
        ("1, 2, 2", 0.0),
        ("0, 1", 0.0),
        ("1, 5", 0.0),
        ("1.0, 2.0", 1.0),
        ("[1, 2], [3, 4]", 0.0),
        ("[]", 0.0),
        ("1, NaN", 0.0),
        ("range(1, 3)", 0.0),
        ("1, 2 or 3, 4", 0.0),
        ("1," * 4000 + "2", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_grow_to_those_of_np_engine():
    sizes = [MinimumBisectionConfig.at(level).n_vertices for level in range(11)]
    assert all(2 <= after - before <= 5 for before, after in itertools.pairwise(sizes))
    assert (sizes[BANDS["hard"]], sizes[BANDS["bench"]]) == (42, 50)


@pytest.mark.parametrize(
    "knob",
    [
        {"n_vertices": 5},
        {"n_vertices": 401},
        {"noise_percent": -1},
        {"traitor_percent": 101},
        {"links_per_traitor": 0},
        {"links_per_traitor": 21},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MinimumBisectionConfig(**knob)


@pytest.mark.parametrize("n", [12, 13])
def test_greedy_and_its_neighbours_are_halves(n):
    rng = stream("MinimumBisection", "moves", n)
    problem = MinimumBisectionTask(MinimumBisectionConfig(n_vertices=n)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    moved = {TASK.neighbour(problem, answer, rng) for _ in range(40)}
    assert len(moved) > 20
    for other in (answer, *moved):
        assert TASK.verify(problem, other).parts["feasible"] == 1.0


def test_the_baseline_of_the_small_problem():
    # 2 is tied to 1 most
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2"
