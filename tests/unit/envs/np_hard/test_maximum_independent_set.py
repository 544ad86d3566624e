"""Maximum independent set: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.maximum_independent_set import (
    MaximumIndependentSetConfig,
    MaximumIndependentSetProblem,
    MaximumIndependentSetTask,
)
from rlvr_envs.generators.graphs.independent_sets import largest_set
from rlvr_envs.generators.graphs.undirected import all_pairs, chosen
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = MaximumIndependentSetTask(
    dataclasses.replace(MaximumIndependentSetConfig.at(0), scheme="ratio")
)
# A star around 1, with 2 and 3 joined as well.
EDGES = ((1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 3))
SMALL = MaximumIndependentSetProblem(6, EDGES, Reference(4, 4, True, 1, "2, 4, 5, 6"))


def is_independent(edges, vertices):
    return not any(pair in edges for pair in itertools.combinations(sorted(vertices), 2))


def size_by_deletion(vertices, edges):
    """The largest size: without a vertex, or with it and without its neighbours."""
    if not edges:
        return len(vertices)
    one = edges[0][0]
    near = {one} | {a for a, b in edges if b == one} | {b for a, b in edges if a == one}

    def without(gone):
        left = [e for e in edges if e[0] not in gone and e[1] not in gone]
        return size_by_deletion(vertices - gone, left)

    return max(without({one}), 1 + without(near))


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("MaximumIndependentSet", seed))
    vertices = range(1, problem.n_vertices + 1)
    choices = [c for k in vertices for c in itertools.combinations(vertices, k)]
    best = max(len(c) for c in choices if is_independent(problem.edges, c))
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for choice in choices:
        verdict = TASK.verify(problem, ", ".join(map(str, choice)))
        feasible = is_independent(problem.edges, choice)
        expected = (len(choice) - 1) / (best - 1) if feasible else 0.0
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == feasible


@pytest.mark.parametrize("percent", [0, 15, 40, 70, 100])
@pytest.mark.parametrize("seed", range(4))
def test_search_finds_the_largest_set_of_any_graph(seed, percent):
    edges = tuple(chosen(stream("graph", seed, percent), all_pairs(14), percent))
    found = largest_set(14, edges, [1], budget=1.0)
    assert is_independent(edges, found.vertices)
    size = size_by_deletion(frozenset(range(1, 15)), list(edges))
    assert len(found.vertices) == found.bound == size


def test_search_that_is_cut_short_keeps_the_known_set_and_a_valid_bound():
    edges = tuple(chosen(stream("graph"), all_pairs(40), 30))
    full = largest_set(40, edges, [1], budget=10.0)
    cut = largest_set(40, edges, [1], budget=1e-6)
    assert full.proven
    assert not cut.proven
    assert cut.vertices == (1,)
    assert cut.bound >= len(full.vertices)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("2, 4, 5, 6", 1.0),
        ("{6, 5, 4, 3}", 1.0),
        ("4, 5, 6", 2 / 3),
        ("4", 0.0),  # the baseline: any vertex
        ("4, 4, 4, 4", 0.0),  # paid in full by a published validator
        ("4, 5, 6, 6", 0.0),
        ("2, 3, 4, 5", 0.0),
        ("1, 2", 0.0),
        ("0, 4, 5, 6", 0.0),
        ("4, 5, 6, 7", 0.0),
        ("-4, -5", 0.0),
        ("4.0, 5.0", 1 / 3),
        ("[]", 0.0),
        ("[v for v in (4, 5, 6)]", 0.0),
        ("[2] + [4, 5, 6]", 0.0),
        pytest.param("4," * 5000 + "5", 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == pytest.approx(score)


def test_bands_of_np_engine():
    vertices = {"easy": (12, 20), "medium": (20, 30), "hard": (30, 40), "bench": (40, 50)}
    hidden = {"easy": (4, 8), "medium": (8, 12), "hard": (12, 16), "bench": (16, 20)}
    for band, level in BANDS.items():
        config = MaximumIndependentSetConfig.at(level)
        assert vertices[band][0] <= config.n_vertices <= vertices[band][1]
        assert hidden[band][0] <= config.n_independent <= hidden[band][1]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"n_independent": 1}, "hidden set"),
        ({"n_vertices": 10**6}, "n_vertices"),
        ({"n_independent": 25}, "hidden set"),
        ({"edge_percent": 0}, "percent"),
        ({"budget": -1.0}, "budget"),
    ],
)
def test_config_is_checked(knobs, words):
    with pytest.raises(ConfigError, match=words):
        MaximumIndependentSetConfig(**knobs)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_independent(seed):
    rng = stream("MaximumIndependentSet", "moves", seed)
    problem = MaximumIndependentSetTask(MaximumIndependentSetConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_baseline_of_the_small_problem():
    # 4 has one neighbour
    assert TASK.baseline(stream("baseline"), SMALL) == "2, 4, 5, 6"


@pytest.mark.parametrize(("edges", "effort"), [((), 7 + 6 + 5), (((1, 2),), 7 + 5)])
def test_effort_is_the_work_of_the_search(edges, effort):
    # a node costs 5, and 1 for each vertex still possible; one joined to the other ends it sooner
    assert largest_set(2, edges, [1], budget=1.0).effort == effort
