"""What the graph tasks share: drawing, wording and reading graphs."""

import itertools

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.graph_coloring import GraphColoringConfig
from rlvr_envs.envs.np_hard.graph_edit_distance import GraphEditDistanceConfig
from rlvr_envs.envs.np_hard.max_cut import MaxCutConfig
from rlvr_envs.envs.np_hard.maximum_clique import MaximumCliqueConfig
from rlvr_envs.envs.np_hard.maximum_common_subgraph import MaximumCommonSubgraphConfig
from rlvr_envs.envs.np_hard.maximum_independent_set import MaximumIndependentSetConfig
from rlvr_envs.envs.np_hard.vertex_cover import VertexCoverConfig
from rlvr_envs.generators.graphs.undirected import (
    MAX_VERTICES,
    all_pairs,
    chosen,
    complement,
    describe,
    in_range,
    members,
    neighbour_masks,
    neighbours,
    random_numbers,
    read_pairs,
    renumbered,
    show_edges,
)
from rlvr_envs.generators.optimisation.task import Infeasible, Unreadable

PATH = ((1, 2), (2, 3), (3, 4))


def test_pairs_are_drawn_as_often_as_asked():
    pairs = all_pairs(40)
    assert pairs == list(itertools.combinations(range(1, 41), 2))
    rng = stream("graphs")
    assert chosen(rng, pairs, 0) == []
    assert chosen(rng, pairs, 100) == pairs
    share = len(chosen(rng, pairs, 30)) / len(pairs)
    assert 0.25 < share < 0.35


def test_complement_and_neighbours():
    assert complement(4, PATH) == ((1, 3), (1, 4), (2, 4))
    assert neighbours(4, PATH) == [set(), {2}, {1, 3}, {2, 4}, {3}]
    assert [set(members(mask)) for mask in neighbour_masks(4, PATH)] == neighbours(4, PATH)


@pytest.mark.parametrize("seed", range(5))
def test_new_numbers_keep_the_shape(seed):
    numbers = random_numbers(stream("graphs", seed), 4)
    assert sorted(numbers[1:]) == [1, 2, 3, 4]
    edges = renumbered(PATH, numbers)
    assert edges == tuple(sorted(edges))
    assert all(a < b for a, b in edges)
    before, after = neighbours(4, PATH), neighbours(4, edges)
    for vertex in range(1, 5):
        assert after[numbers[vertex]] == {numbers[other] for other in before[vertex]}


def test_wording():
    assert describe(4, PATH).endswith("from 1 to 4, and these 3 edges:\n\n1-2, 2-3, 3-4")
    assert describe(2, ((1, 2),), name="It") == (
        "It has 2 vertices, numbered from 1 to 2, and one edge:\n\n1-2"
    )
    assert describe(2, ()).endswith("and no edges.")


@pytest.mark.parametrize(
    "text", ["1-4, 3-2", "[1-4 3-2]", "(1->4; 3->2)", "1 - 4, 3 - 2", " 1-4,3-2 "]
)
def test_pairs_are_read_as_written(text):
    assert read_pairs(text, what="pairs") == [(1, 4), (3, 2)]
    assert read_pairs(show_edges([(1, 4), (3, 2)]), what="pairs") == [(1, 4), (3, 2)]


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "1", "1-", "-1", "1--2", "1-2-3", "1-x", "1-2, 3", "²-1"),
        *("1-2.5", "1-2, 3-4 or so"),
        pytest.param("1-" + "9" * 5000, id="5,000 digits"),
        pytest.param("1-2, " * 20_000, id="20,000 pairs"),
        pytest.param("-" * 20_000, id="20,000 hyphens"),
    ],
)
def test_other_texts_are_no_pairs(text):
    with pytest.raises(Unreadable, match="pairs such as 1-4, 2-3"):
        read_pairs(text, what="pairs")


def test_a_blank_stands_for_no_second_number():
    assert read_pairs("1-4, 2-x, 3-X", what="pairs", blank="x") == [(1, 4), (2, 0), (3, 0)]
    for text in ("1-0", "x-1", "1-xx", "x"):
        with pytest.raises(Unreadable, match="such as 1-4, 2-x"):
            read_pairs(text, what="pairs", blank="x")


def test_vertices_out_of_range_break_a_rule():
    in_range(1, 4)
    in_range(4, 4)
    for vertex in (0, 5, -1, 10**900):
        with pytest.raises(Infeasible, match="those of the graph run from 1 to 4"):
            in_range(vertex, 4)


@pytest.mark.parametrize(
    "config_type",
    [
        GraphColoringConfig,
        GraphEditDistanceConfig,
        MaxCutConfig,
        MaximumCliqueConfig,
        MaximumCommonSubgraphConfig,
        MaximumIndependentSetConfig,
        VertexCoverConfig,
    ],
)
def test_every_level_is_a_configuration(config_type):
    sizes = [config_type.at(level).n_vertices for level in (*range(31), 10**9)]
    assert sizes == sorted(sizes)
    assert sizes[-1] <= MAX_VERTICES
