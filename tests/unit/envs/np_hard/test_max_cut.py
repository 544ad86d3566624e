"""Maximum cut: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import integers, stream
from rlvr_envs.envs.np_hard.max_cut import (
    MaxCutConfig,
    MaxCutProblem,
    MaxCutTask,
    greedy_cut,
    improved_cut,
    largest_cut,
)
from rlvr_envs.generators.graphs.undirected import all_pairs, chosen
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = MaxCutTask(dataclasses.replace(MaxCutConfig.at(0), scheme="ratio"))
# A square of weight 2 a side with a diagonal of weight 4.
EDGES = ((1, 2), (1, 3), (1, 4), (2, 3), (3, 4))
SMALL = MaxCutProblem(4, EDGES, (2, 4, 2, 2, 2), Reference(8, 8, True, 6, "2, 4"))


def cut_weight(edges, weights, part):
    return sum(w for e, w in zip(edges, weights, strict=True) if len(set(e) & set(part)) == 1)


def random_graph(n, percent, seed):
    rng = stream("graph", n, percent, seed)
    edges = tuple(chosen(rng, all_pairs(n), percent)) or ((1, 2),)
    return edges, integers(rng, 1, 20, len(edges))


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("MaxCut", seed))
    vertices = range(1, problem.n_vertices + 1)
    parts = [c for k in vertices for c in itertools.combinations(vertices, k)]
    weights = {part: cut_weight(problem.edges, problem.weights, part) for part in parts}
    best, half = max(weights.values()), sum(problem.weights) // 2
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for part, weight in weights.items():
        verdict = TASK.verify(problem, ", ".join(map(str, part)))
        assert verdict.score == pytest.approx(max(0.0, (weight - half) / (best - half)))
        assert verdict.parts["objective"] == weight


@pytest.mark.parametrize("percent", [0, 20, 50, 100])
@pytest.mark.parametrize("seed", range(4))
def test_elimination_finds_the_heaviest_cut_of_any_graph(seed, percent):
    edges, weights = random_graph(9, percent, seed)
    parts = [c for k in range(9) for c in itertools.combinations(range(2, 10), k)]
    best = max(cut_weight(edges, weights, part) for part in parts)
    found = largest_cut(9, edges, weights, budget=1.0)
    assert cut_weight(edges, weights, found.part) == best
    # the other two are feasible, and the local search is no worse than where it starts
    greedy = cut_weight(edges, weights, greedy_cut(9, edges, weights))
    improved = cut_weight(edges, weights, improved_cut(9, edges, weights, {1}).part)
    assert best >= improved >= greedy


def test_without_budget_the_reference_is_a_cut_that_is_not_called_proven():
    task = MaxCutTask(MaxCutConfig(budget=1e-6))
    problem = task.generate(stream("MaxCut"))
    reference = problem.reference
    assert not reference.proven
    assert reference.bound == sum(problem.weights) > reference.objective
    best = largest_cut(problem.n_vertices, problem.edges, problem.weights, budget=1.0)
    better = task.verify(problem, ", ".join(map(str, best.part)))
    assert better.score == 1.0
    assert better.parts["objective"] >= reference.objective


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("2, 3, 4", 1.0),
        ("1", 1.0),
        ("3", 1.0),
        ("[2, 1]", 1.0),
        ("2, 4", 1.0),
        ("1, 3", 1.0),
        ("2", 0.0),
        ("1, 2, 3, 4", 0.0),
        ("1, 1", 0.0),
        ("0, 1", 0.0),
        ("1, 5", 0.0),
        ("1.0", 1.0),
        ("[]", 0.0),
        ("NaN", 0.0),
        ("1 | 2, 3, 4", 0.0),
        ("{v for v in (1,)}", 0.0),
        pytest.param("2, 4," * 3000, 0.0, id="a huge list"),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_grow_as_those_of_np_engine_do():
    sizes = [MaxCutConfig.at(level).n_vertices for level in BANDS.values()]
    assert sizes == [12, 16, 26, 34]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_vertices": 2},
        {"n_vertices": 10**6},
        {"degree": 0},
        {"max_weight": 0},
        {"max_weight": 10**30},
        {"scheme": "all"},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MaxCutConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_cuts(seed):
    rng = stream("MaxCut", "moves", seed)
    problem = MaxCutTask(MaxCutConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_the_baseline_of_the_small_problem():
    # 3 goes apart from 1; then 2 and 4 cut as much on either side
    assert TASK.baseline(stream("baseline"), SMALL) == "3"
