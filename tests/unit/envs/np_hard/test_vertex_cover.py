"""Vertex cover: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.vertex_cover import (
    VertexCoverConfig,
    VertexCoverProblem,
    VertexCoverTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = VertexCoverTask(dataclasses.replace(VertexCoverConfig.at(0), scheme="ratio"))
# Two stars, around 1 and 4, with their centres joined.
EDGES = ((1, 2), (1, 3), (1, 4), (4, 5), (4, 6))
SMALL = VertexCoverProblem(6, EDGES, Reference(2, 2, True, 6, "1, 4"))


def covers(problem, vertices):
    return all(a in vertices or b in vertices for a, b in problem.edges)


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("VertexCover", seed))
    n = problem.n_vertices
    choices = [c for k in range(1, n + 1) for c in itertools.combinations(range(1, n + 1), k)]
    best = min(len(c) for c in choices if covers(problem, c))
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for choice in choices:
        verdict = TASK.verify(problem, ", ".join(map(str, choice)))
        feasible = covers(problem, choice)
        expected = (n - len(choice)) / (n - best) if feasible else 0.0
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == feasible


@pytest.mark.parametrize("seed", range(3))
def test_reference_of_a_larger_graph_by_branching_on_edges(seed):
    problem = VertexCoverTask(VertexCoverConfig.at(8)).generate(stream("VertexCover", seed))

    def smallest(edges):
        if not edges:
            return 0
        return 1 + min(smallest([e for e in edges if end not in e]) for end in edges[0])

    size = smallest(problem.edges)
    assert problem.reference.objective == problem.reference.bound == size
    assert len(problem.reference.answer.split(",")) == size


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 4", 1.0),
        ("(4; 1)", 1.0),
        ("1, 4, 5", 0.75),
        ("1, 5, 6, 4", 0.5),
        ("1, 2, 3, 4, 5, 6", 0.0),  # the baseline: all vertices
        ("1", 0.0),
        ("1, 5", 0.0),
        ("1, 4, 4", 0.0),
        ("1, 4, 7", 0.0),
        ("0, 1, 4", 0.0),
        ("1.0, 4.0", 1.0),
        ("[]", 0.0),
        ("1, 4 # done", 0.0),
        ("set([1, 4])", 0.0),
        pytest.param("1, 4," * 3000, 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_of_graph_r1():
    sizes = {"easy": (4, 10), "medium": (4, 13), "hard": (10, 20), "bench": (10, 20)}
    for band, level in BANDS.items():
        assert sizes[band][0] <= VertexCoverConfig.at(level).n_vertices <= sizes[band][1]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"n_cover": 0}, "n_cover"),
        ({"n_vertices": 10**6}, "n_vertices"),
        ({"n_cover": 9}, "hidden set"),
        ({"edge_percent": 0}, "percent"),
        ({"scheme": "none"}, "scheme"),
    ],
)
def test_config_is_checked(knobs, words):
    with pytest.raises(ConfigError, match=words):
        VertexCoverConfig(**knobs)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_covers(seed):
    rng = stream("VertexCover", "moves", seed)
    problem = VertexCoverTask(VertexCoverConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_baseline_of_the_small_problem():
    # the centre of the first star, then that of the other
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 4"
