"""Maximum clique: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.maximum_clique import (
    MaximumCliqueConfig,
    MaximumCliqueProblem,
    MaximumCliqueTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = MaximumCliqueTask(dataclasses.replace(MaximumCliqueConfig.at(0), scheme="ratio"))
# 1, 2, 3 and 4 are all joined; 5 hangs on 4.
EDGES = ((1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4), (4, 5))
SMALL = MaximumCliqueProblem(5, EDGES, Reference(4, 4, True, 2, "1, 2, 3, 4"))


def is_clique(problem, vertices):
    return all(pair in problem.edges for pair in itertools.combinations(sorted(vertices), 2))


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("MaximumClique", seed))
    vertices = range(1, problem.n_vertices + 1)
    choices = [c for k in vertices for c in itertools.combinations(vertices, k)]
    best = max(len(c) for c in choices if is_clique(problem, c))
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for choice in choices:
        verdict = TASK.verify(problem, ", ".join(map(str, choice)))
        feasible = is_clique(problem, choice)
        expected = max(0.0, (len(choice) - 2) / (best - 2)) if feasible else 0.0
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == feasible


@pytest.mark.parametrize("seed", range(3))
def test_reference_of_a_larger_graph_by_growing_every_clique(seed):
    problem = MaximumCliqueTask(MaximumCliqueConfig.at(10)).generate(stream("Clique", seed))
    layer = {frozenset([v]) for v in range(1, problem.n_vertices + 1)}
    size = 0
    while layer:
        size += 1
        layer = {
            clique | {v}
            for clique in layer
            for v in range(max(clique) + 1, problem.n_vertices + 1)
            if all((u, v) in problem.edges for u in clique)
        }
    assert problem.reference.objective == problem.reference.bound == size


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2, 3, 4", 1.0),
        ("[4 3 2 1]", 1.0),
        ("1, 2, 3", 0.5),
        ("4, 5", 0.0),  # the baseline: an edge
        ("4", 0.0),
        ("3, 4, 5", 0.0),
        ("1, 1, 1, 1", 0.0),
        ("1, 2, 3, 3", 0.0),
        ("0, 1, 2, 3", 0.0),
        ("1, 2, 3, 6", 0.0),
        ("1.0, 2.0, 3.0", 0.5),
        ("[]", 0.0),
        ("1, 2, NaN", 0.0),
        ("range(1, 5)", 0.0),
        pytest.param("1, 2, 3, 4," * 2000, 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_bands_of_np_engine():
    # cliques are larger than there, so that taking the vertex of the most edges misses them
    vertices = {"easy": (4, 10), "medium": (8, 13), "hard": (12, 16), "bench": (16, 20)}
    clique = {"easy": (2, 5), "medium": (2, 6), "hard": (2, 7), "bench": (4, 8)}
    for band, level in BANDS.items():
        config = MaximumCliqueConfig.at(level)
        assert vertices[band][0] <= config.n_vertices <= vertices[band][1]
        assert clique[band][0] <= config.n_clique <= clique[band][1]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"n_clique": 2}, "hidden set"),
        ({"n_vertices": 10**6}, "n_vertices"),
        ({"n_clique": 12}, "hidden set"),
        ({"missing_percent": 0}, "percent"),
        ({"missing_percent": 101}, "percent"),
        ({"scheme": "best"}, "scheme"),
    ],
)
def test_config_is_checked(knobs, words):
    with pytest.raises(ConfigError, match=words):
        MaximumCliqueConfig(**knobs)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_cliques(seed):
    rng = stream("MaximumClique", "moves", seed)
    problem = MaximumCliqueTask(MaximumCliqueConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_baseline_of_the_small_problem():
    # 4 has four edges, and all left are joined to each other
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2, 3, 4"
