"""Graph edit distance: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.graph_edit_distance import (
    GraphEditDistanceConfig,
    GraphEditDistanceProblem,
    GraphEditDistanceTask,
    LabelledGraph,
    cheapest_edits,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = GraphEditDistanceTask(dataclasses.replace(GraphEditDistanceConfig.at(0), scheme="ratio"))
# A path A-B-C becomes a path B-C. By equal numbers: two labels, a vertex and an edge.
SMALL = GraphEditDistanceProblem(
    LabelledGraph(("A", "B", "C"), ((1, 2), (2, 3))),
    LabelledGraph(("B", "C"), ((1, 2),)),
    Reference(2, 2, True, 4, "1-x, 2-1, 3-2"),
)


def mappings(n, n_there):
    """Every mapping: an image for each vertex, or None."""
    targets = [None, *range(1, n_there + 1)]
    for images in itertools.product(targets, repeat=n):
        mapped = [v for v in images if v]
        if len(mapped) == len(set(mapped)):
            yield images


def written(images):
    return ", ".join(f"{v}-{image or 'x'}" for v, image in enumerate(images, start=1))


def count_edits(first, second, images):
    """Carry the edits out one by one on a copy of the first graph, and count them."""
    # a vertex that stays takes the name of its image, one that goes a name of its own
    names = {v: image or -v for v, image in enumerate(images, start=1)}
    labels = {names[v]: label for v, label in enumerate(first.labels, start=1)}
    edges = {frozenset((names[a], names[b])) for a, b in first.edges}
    goal = {frozenset(pair) for pair in second.edges}
    edits = 0
    for pair in list(edges - goal):
        edges.remove(pair)
        edits += 1
    for name in [name for name in labels if name < 0]:
        assert not any(name in pair for pair in edges)
        del labels[name]
        edits += 1
    for v, label in enumerate(second.labels, start=1):
        edits += labels.get(v) != label  # inserted, or relabelled
        labels[v] = label
    for pair in goal - edges:
        edges.add(pair)
        edits += 1
    assert edges == goal
    assert labels == dict(enumerate(second.labels, start=1))
    return edits


def draw(seed, n, n_edits):
    task = GraphEditDistanceTask(GraphEditDistanceConfig(n_vertices=n, n_edits=n_edits))
    return task.generate(stream("GraphEditDistance", seed, n, n_edits))


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("GraphEditDistance", seed))
    first, second = problem.first, problem.second
    n, n_there = len(first.labels), len(second.labels)
    costs = {images: count_edits(first, second, images) for images in mappings(n, n_there)}
    best = min(costs.values())
    trivial = costs[tuple(v if v <= n_there else None for v in range(1, n + 1))]
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for images, cost in costs.items():
        verdict = TASK.verify(problem, written(images))
        assert verdict.score == pytest.approx(max(0.0, (trivial - cost) / (trivial - best)))
        assert verdict.parts["objective"] == cost


@pytest.mark.parametrize(("n", "n_edits"), [(3, 6), (5, 2), (5, 5), (5, 8)])
def test_search_finds_the_cheapest_of_all_mappings(n, n_edits):
    problem = draw(0, n, n_edits)
    first, second = problem.first, problem.second
    best = min(
        count_edits(first, second, images)
        for images in mappings(len(first.labels), len(second.labels))
    )
    # from a poor start, so that the search has to find the mapping itself
    found = cheapest_edits(first, second, [0] * len(first.labels), budget=1.0)
    assert count_edits(first, second, found.images) == found.cost == found.bound == best


@pytest.mark.parametrize("seed", range(4))
def test_reference_agrees_with_networkx(seed):
    networkx = pytest.importorskip("networkx")
    problem = draw(seed, 6, 3)
    graphs = []
    for side in (problem.first, problem.second):
        graph = networkx.Graph(side.edges)
        graph.add_nodes_from((v, {"label": x}) for v, x in enumerate(side.labels, start=1))
        graphs.append(graph)
    distance = networkx.graph_edit_distance(
        *graphs, node_match=lambda one, other: one["label"] == other["label"]
    )
    assert problem.reference.objective == distance


def test_search_that_is_cut_short_keeps_what_is_known_and_a_valid_bound():
    problem = draw(1, 10, 6)
    n = len(problem.first.labels)
    cut = cheapest_edits(problem.first, problem.second, [0] * n, budget=1e-6)
    assert cut.images == (0,) * n
    assert 0 <= cut.bound <= problem.reference.objective < cut.cost


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1-x, 2-1, 3-2", 1.0),
        ("[3-2, 2-1, 1-X]", 1.0),
        ("1->x; 2->1; 3->2", 1.0),
        ("1-2, 2-1, 3-x", 0.5),  # a label, a vertex and its edge
        ("1-1, 2-2, 3-x", 0.0),  # the baseline
        ("1-x, 2-1, 3-x", 0.0),
        ("1-x, 2-x, 3-x", 0.0),
        ("1-x, 2-1", 0.0),
        ("1-x, 2-1, 3-1", 0.0),
        ("1-x, 1-x, 2-1, 3-2", 0.0),
        ("1-x, 2-1, 3-2, 4-x", 0.0),
        ("1-x, 2-1, 3-3", 0.0),
        ("1-0, 2-1, 3-2", 0.0),
        ("0-x, 1-x, 2-1, 3-2", 0.0),
        ("1-xx, 2-1, 3-2", 0.0),
        ("1-x, 2-1, 3-2.0", 1.0),
        ("1-x, 2-1, 3-2, and so on", 0.0),
        ("x, 1, 2", 0.0),
        ("[]", 0.0),
        ("{1: None, 2: 1, 3: 2}", 0.0),
        pytest.param("1-x, 2-1, 3-2," * 1000, 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_of_graph_r1():
    sizes = {"easy": (4, 9), "medium": (4, 10), "hard": (10, 20), "bench": (10, 20)}
    for band, level in BANDS.items():
        config = GraphEditDistanceConfig.at(level)
        assert sizes[band][0] <= config.n_vertices <= sizes[band][1]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_vertices": 2},
        {"n_vertices": 10**6},
        {"n_edits": 0},
        {"n_edits": 10**6},
        {"n_labels": 1},
        {"n_labels": 27},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        GraphEditDistanceConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_mappings(seed):
    rng = stream("GraphEditDistance", "moves", seed)
    problem = GraphEditDistanceTask(GraphEditDistanceConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_baseline_of_the_small_problem():
    # A cannot stay A, B costs a label, and nothing is left for C
    assert TASK.baseline(stream("baseline"), SMALL) == "1-1, 2-2, 3-x"
