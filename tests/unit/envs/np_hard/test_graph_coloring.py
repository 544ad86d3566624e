"""Graph colouring: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.graph_coloring import (
    GraphColoringConfig,
    GraphColoringProblem,
    GraphColoringTask,
    fewest_colors,
)
from rlvr_envs.generators.graphs.undirected import MAX_VERTICES, all_pairs, chosen
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = GraphColoringTask(dataclasses.replace(GraphColoringConfig.at(0), scheme="ratio"))
# A star around 1: two colours are enough, and the largest degree is 3.
SMALL = GraphColoringProblem(4, ((1, 2), (1, 3), (1, 4)), Reference(2, 2, True, 4, "1, 2, 2, 2"))


def chromatic_number(n, edges):
    """The number of colours by adding and contracting pairs that are not joined."""
    free = next((p for p in itertools.combinations(range(1, n + 1), 2) if p not in edges), None)
    if free is None:
        return n
    keep, gone = free
    numbers = {v: i for i, v in enumerate((v for v in range(1, n + 1) if v != gone), start=1)}
    numbers[gone] = numbers[keep]
    merged = {tuple(sorted((numbers[a], numbers[b]))) for a, b in edges}
    return min(chromatic_number(n, edges | {free}), chromatic_number(n - 1, merged))


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    task = GraphColoringTask(GraphColoringConfig(n_vertices=7, n_parts=3, scheme="ratio"))
    problem = task.generate(stream("GraphColoring", seed))
    n, edges = problem.n_vertices, problem.edges
    worst = 1 + max(sum(v in e for e in edges) for v in range(1, n + 1))
    colorings = list(itertools.product(range(1, 5), repeat=n))
    valid = [all(c[a - 1] != c[b - 1] for a, b in edges) for c in colorings]
    best = min(len(set(c)) for c, fine in zip(colorings, valid, strict=True) if fine)
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for colors, fine in zip(colorings, valid, strict=True):
        verdict = TASK.verify(problem, ", ".join(map(str, colors)))
        expected = max(0.0, (worst - len(set(colors))) / (worst - best)) if fine else 0.0
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == fine


@pytest.mark.parametrize("percent", [0, 20, 40, 60, 80, 100])
@pytest.mark.parametrize("seed", range(5))
def test_search_finds_the_chromatic_number_of_any_graph(seed, percent):
    edges = tuple(chosen(stream("graph", seed, percent), all_pairs(7), percent))
    found = fewest_colors(7, edges, range(1, 8), budget=1.0)
    assert all(found.colors[a - 1] != found.colors[b - 1] for a, b in edges)
    assert found.n_colors == found.bound == chromatic_number(7, frozenset(edges))


def test_search_that_is_cut_short_keeps_the_known_colouring_and_a_valid_bound():
    edges = tuple(chosen(stream("graph"), all_pairs(40), 50))
    full = fewest_colors(40, edges, range(1, 41), budget=5.0)
    cut = fewest_colors(40, edges, range(1, 41), budget=1e-6)
    assert full.bound == full.n_colors
    assert cut.colors == tuple(range(1, 41))
    assert cut.bound <= full.n_colors


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2, 2, 2", 1.0),
        ("[4 3 3 3]", 1.0),
        ("1, 2, 3, 2", 0.5),
        ("1, 2, 3, 4", 0.0),  # the baseline: largest degree plus one
        ("1, 1, 2, 2", 0.0),
        ("1, 1, 1, 1", 0.0),
        ("1, 2, 2", 0.0),
        ("1, 2, 2, 2, 2", 0.0),
        ("0, 1, 1, 1", 0.0),
        ("1, 5, 5, 5", 0.0),
        ("1.0, 2.0, 2.0, 2.0", 1.0),
        ("1, 2, 2, NaN", 0.0),
        ("red, blue, blue, blue", 0.0),
        ("[1] + [2] * 3", 0.0),
        ("[]", 0.0),
        pytest.param("1, 2, 2, 2," * 2000, 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_bands_of_np_engine():
    vertices = {"easy": (8, 12), "medium": (15, 22), "hard": (25, 32), "bench": (32, 40)}
    colors = {"easy": (3, 4), "medium": (4, 6), "hard": (6, 8), "bench": (6, 8)}
    for band, level in BANDS.items():
        config = GraphColoringConfig.at(level)
        assert vertices[band][0] <= config.n_vertices <= vertices[band][1]
        assert colors[band][0] <= config.n_parts <= colors[band][1]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_vertices": 10**6},
        {"n_parts": 1},
        {"n_parts": 18},
        {"edge_percent": 0},
        {"budget": float("nan")},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        GraphColoringConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_colourings(seed):
    rng = stream("GraphColoring", "moves", seed)
    problem = GraphColoringTask(GraphColoringConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_deepest_search_of_the_largest_graph_ends():
    config = GraphColoringConfig(n_vertices=MAX_VERTICES, n_parts=30, edge_percent=30)
    problem = GraphColoringTask(config).generate(stream("GraphColoring", "large"))
    assert not problem.reference.proven
    assert TASK.verify(problem, problem.reference.answer).score == 1.0


def test_effort_grows_with_the_levels():
    efforts = []
    for level in (0, 2, 4, 6, 8):
        task = GraphColoringTask(GraphColoringConfig.at(level))
        drawn = [task.generate(stream("GraphColoring", "level", seed)) for seed in range(40)]
        efforts.append(sum(map(task.effort, drawn)))
    assert efforts == sorted(efforts)


def test_the_baseline_of_the_small_problem():
    # the centre comes first
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2, 2, 2"
