"""Maximum common subgraph: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.maximum_common_subgraph import (
    MaximumCommonSubgraphConfig,
    MaximumCommonSubgraphProblem,
    MaximumCommonSubgraphTask,
    largest_matching,
)
from rlvr_envs.generators.graphs.undirected import all_pairs, chosen, neighbour_masks
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = MaximumCommonSubgraphTask(
    dataclasses.replace(MaximumCommonSubgraphConfig.at(0), scheme="ratio")
)
# A path of four vertices in each graph: 1-2-3-4, and 3-1-4-2 beside the lone vertex 5. The first
# graph's fifth vertex is joined to all others.
SMALL = MaximumCommonSubgraphProblem(
    5,
    ((1, 2), (1, 5), (2, 3), (2, 5), (3, 4), (3, 5), (4, 5)),
    ((1, 3), (1, 4), (2, 4)),
    Reference(4, 4, True, 2, "1-3, 2-1, 3-4, 4-2"),
)


def matchings(n):
    """Every matching of one vertex or more of two graphs with n vertices."""
    vertices = range(1, n + 1)
    for k in vertices:
        for left in itertools.combinations(vertices, k):
            for right in itertools.permutations(vertices, k):
                yield tuple(zip(left, right, strict=True))


def agrees(first, second, pairs):
    return all(
        (tuple(sorted((a, c))) in first) == (tuple(sorted((b, d))) in second)
        for (a, b), (c, d) in itertools.combinations(pairs, 2)
    )


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("MaximumCommonSubgraph", seed))
    answers = list(matchings(problem.n_vertices))
    valid = [agrees(problem.first, problem.second, pairs) for pairs in answers]
    best = max(len(pairs) for pairs, fine in zip(answers, valid, strict=True) if fine)
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for pairs, fine in zip(answers, valid, strict=True):
        verdict = TASK.verify(problem, ", ".join(f"{a}-{b}" for a, b in pairs))
        expected = max(0.0, (len(pairs) - 2) / (best - 2)) if fine else 0.0
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == fine


@pytest.mark.parametrize("percent", [0, 25, 50, 75, 100])
@pytest.mark.parametrize("seed", range(3))
def test_search_finds_the_largest_matching_of_any_two_graphs(seed, percent):
    rng = stream("graphs", seed, percent)
    first, second = (chosen(rng, all_pairs(5), share) for share in (percent, 50))
    best = max(len(pairs) for pairs in matchings(5) if agrees(first, second, pairs))
    found = largest_matching(neighbour_masks(5, first), neighbour_masks(5, second), [], budget=1.0)
    assert agrees(first, second, found.pairs)
    assert len(found.pairs) == found.bound == best


def test_search_that_is_cut_short_keeps_what_is_known():
    rng = stream("graphs")
    first, second = (neighbour_masks(12, chosen(rng, all_pairs(12), 50)) for _ in range(2))
    cut = largest_matching(first, second, [(1, 1)], budget=1e-6)
    assert (cut.pairs, cut.bound) == (((1, 1),), 12)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1-3, 2-1, 3-4, 4-2", 1.0),
        ("[4-3, 3-1, 2-4, 1-2]", 1.0),
        ("1->3; 2->1; 3->4; 4->2", 1.0),
        ("1 - 3, 2 - 1, 3 - 4, 4 - 2", 1.0),
        ("1-3, 2-1, 3-4", 0.5),
        ("1-3, 2-1", 0.0),  # the baseline: two pairs
        ("1-1", 0.0),
        ("1-3, 2-1, 3-4, 4-5", 0.0),
        ("1-3, 2-1, 3-4, 5-2", 0.0),
        ("1-3, 1-3, 1-3, 1-3", 0.0),
        ("1-3, 2-1, 3-4, 4-4", 0.0),
        ("1-3, 2-1, 3-4, 3-2", 0.0),
        ("0-3, 2-1, 3-4, 4-2", 0.0),
        ("1-3, 2-1, 3-4, 6-2", 0.0),
        ("1-3, 2-1, 3-4, 4--2", 0.0),
        ("1.0-3, 2-1, 3-4", 0.5),
        ("1, 2, 3, 4", 0.0),
        ("1-3-2, 3-4", 0.0),
        ("[]", 0.0),
        ("NaN-1", 0.0),
        ("dict([(1, 3), (2, 1)])", 0.0),
        pytest.param("1-3, 2-1, 3-4, 4-2," * 1000, 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_of_graph_r1():
    sizes = {"easy": (4, 9), "medium": (4, 11), "hard": (10, 20), "bench": (10, 20)}
    for band, level in BANDS.items():
        config = MaximumCommonSubgraphConfig.at(level)
        assert sizes[band][0] <= config.n_vertices <= sizes[band][1]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_vertices": 10**6},
        {"n_common": 2},
        {"n_common": 8},
        {"edge_percent": 0},
        {"edge_percent": 100},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MaximumCommonSubgraphConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_matchings(seed):
    rng = stream("MaximumCommonSubgraph", "moves", seed)
    problem = MaximumCommonSubgraphTask(MaximumCommonSubgraphConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_baseline_of_the_small_problem():
    # nothing fits 3 and 5
    assert TASK.baseline(stream("baseline"), SMALL) == "1-1, 2-3, 4-2"
