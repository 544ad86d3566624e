"""Steiner tree: the whole small world, exploits of other suites, configuration."""

import dataclasses
import itertools

import networkx
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard import steiner_tree
from rlvr_envs.envs.np_hard.steiner_tree import (
    SteinerTreeConfig,
    SteinerTreeProblem,
    SteinerTreeTask,
)
from rlvr_envs.generators.optimisation.task import Reference

TASK = SteinerTreeTask(dataclasses.replace(SteinerTreeConfig.at(0), scheme="ratio"))
# A star around 4 costs 9; around the triangle it is 10.
SMALL = SteinerTreeProblem(
    5,
    ((1, 2, 5), (1, 3, 6), (1, 4, 3), (2, 3, 5), (2, 4, 3), (3, 4, 3), (4, 5, 1)),
    (1, 2, 3),
    Reference(9, 9, True, 11, "1-4, 2-4, 3-4"),
)


def weight_if_connected(problem, chosen):
    """The weight of a choice of edges, or None where it leaves a terminal apart."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(1, problem.n_vertices + 1))
    graph.add_edges_from((a, b) for a, b, _ in chosen)
    reached = networkx.node_connected_component(graph, problem.terminals[0])
    return sum(c for _, _, c in chosen) if reached.issuperset(problem.terminals) else None


def spanning_baseline(problem):
    """The weight of the minimum spanning tree without useless branches, by the definition."""
    graph = networkx.Graph()
    for place, (a, b, weight) in enumerate(problem.edges):
        graph.add_edge(a, b, weight=weight, rank=1000 * weight + place)  # ties go by place
    tree = networkx.minimum_spanning_tree(graph, weight="rank")
    while leaves := [v for v in tree if tree.degree(v) == 1 and v not in problem.terminals]:
        tree.remove_nodes_from(leaves)
    return int(tree.size(weight="weight"))


@pytest.mark.parametrize("seed", range(3))
def test_whole_small_world(seed):
    task = SteinerTreeTask(
        SteinerTreeConfig(n_vertices=5, n_terminals=3, max_weight=200, scheme="ratio")
    )
    problem = task.generate(stream("SteinerTree", seed))
    m = len(problem.edges)
    choices = [c for k in range(1, m + 1) for c in itertools.combinations(problem.edges, k)]
    weights = {choice: weight_if_connected(problem, choice) for choice in choices}
    best = min(weight for weight in weights.values() if weight is not None)
    trivial = spanning_baseline(problem)
    assert (problem.reference.objective, problem.reference.trivial) == (best, trivial)
    for choice, weight in weights.items():
        verdict = task.verify(problem, ", ".join(f"{a}-{b}" for a, b, _ in choice))
        expected = float(weight == best)
        if weight is not None and best < weight < trivial:
            expected = (trivial - weight) / (trivial - best)
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == (weight is not None)


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_is_the_cheapest_over_all_sets_of_further_vertices(seed):
    task = SteinerTreeTask(SteinerTreeConfig(n_vertices=11, n_terminals=5))
    problem = task.generate(stream("SteinerTree", "eleven", seed))
    graph = networkx.Graph()
    graph.add_weighted_edges_from(problem.edges)
    free = sorted(set(graph) - set(problem.terminals))
    found = []
    for size in range(len(free) + 1):
        for extra in itertools.combinations(free, size):
            part = graph.subgraph([*problem.terminals, *extra])
            if networkx.is_connected(part):
                found.append(networkx.minimum_spanning_tree(part).size(weight="weight"))
    assert problem.reference.objective == min(found)
    assert TASK.measure(problem, problem.reference.answer) == min(found)
    assert problem.reference.trivial == spanning_baseline(problem)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1-4, 2-4, 3-4", 1.0),
        ("[4-1 4-2 4-3]", 1.0),
        ("1 - 4, 2 - 4, 3 - 4", 1.0),
        ("1\u20134, 2 \u2013 4, 3\u22124", 1.0),
        ("```\n1-4, 2-4, 3-4\n```", 1.0),
        ("1-2, 2-3", 0.5),
        ("1-4, 2-4, 3-4, 4-5", 0.5),  # a superfluous edge
        ("1-2, 1-3", 0.0),
        ("1-4, 2-4", 0.0),  # 3 stays apart
        ("4-5", 0.0),
        ("1-4, 2-4, 3-4, 1-4", 0.0),
        ("1-4, 4-1, 2-4, 3-4", 0.0),
        ("1-2, 1-3, 1-4, 2-3, 2-4, 3-4, 4-5", 0.0),  # every edge
        ("1-1, 1-4, 2-4, 3-4", 0.0),
        ("1-5, 2-5, 3-5", 0.0),  # no such edges
        ("0-1, 1-4, 2-4, 3-4", 0.0),
        ("1-4: 3, 2-4: 3, 3-4: 3", 0.0),
        ("1.0-4.0, 2-4, 3-4", 1.0),
        ("1, 2, 3, 4", 0.0),
        ("[]", 0.0),
        ("1-NaN, 2-4", 0.0),
        ("1-4, 2-4, 3-4 or 1-2, 2-3", 0.0),
        ("1-4," * 4000 + "2-4", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_of_the_levels_are_those_of_similar_tasks():
    vertices = [SteinerTreeConfig.at(level).n_vertices for level in (2, 5, 8, 10)]
    terminals = [SteinerTreeConfig.at(level).n_terminals for level in (2, 5, 8, 10, 40)]
    assert vertices == [10, 20, 30, 40]
    assert terminals == [4, 6, 8, 10, 12]


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_vertices": 3},
        {"n_vertices": 401},
        {"n_terminals": 2},
        {"n_terminals": 12},
        {"n_terminals": 13, "n_vertices": 30},
        {"edges_per_vertex": 0},
        {"edges_per_vertex": 51},
        {"min_weight": 0},
        {"min_weight": 21},
    ],
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        SteinerTreeConfig(**knobs)


@pytest.mark.parametrize("edges_per_vertex", [1, 2, 50])
def test_greedy_and_its_neighbours_connect_the_terminals(edges_per_vertex):
    rng = stream("SteinerTree", "moves", edges_per_vertex)
    config = SteinerTreeConfig(n_vertices=15, n_terminals=6, edges_per_vertex=edges_per_vertex)
    problem = SteinerTreeTask(config).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    assert TASK.verify(problem, answer).parts["feasible"] == 1.0
    moved = [TASK.neighbour(problem, answer, rng) for _ in range(30)]
    verdicts = [TASK.verify(problem, other) for other in moved]
    assert {verdict.status.value for verdict in verdicts} <= {"correct", "partial", "wrong"}
    assert any(verdict.parts["feasible"] for verdict in verdicts)


def test_parts_are_the_splits_of_a_set_each_once():
    parts = steiner_tree._parts(0b10110)
    assert sorted(parts) == [0b00010, 0b00110, 0b10010]


def test_the_baseline_of_the_small_problem():
    # 2 is nearest to 1, and then 3 to 2: 10, where 9 is possible
    assert TASK.baseline(stream("baseline"), SMALL) == "1-2, 2-3"
