"""Longest cycle: the whole small world, exploits of other suites, bands, configuration."""

import dataclasses
import itertools

import networkx
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard import longest_cycle
from rlvr_envs.envs.np_hard.longest_cycle import (
    LongestCycleConfig,
    LongestCycleProblem,
    LongestCycleTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = LongestCycleTask(dataclasses.replace(LongestCycleConfig.at(0), scheme="ratio"))
# A pentagon with the chord 1-3, and vertex 6 hanging on vertex 5.
SMALL = LongestCycleProblem(
    6,
    ((1, 2), (1, 3), (1, 5), (2, 3), (3, 4), (4, 5), (5, 6)),
    Reference(5, 5, True, 3, "1, 2, 3, 4, 5"),
)


def is_cycle(problem, walk):
    """Whether a list of different vertices is a cycle, by the definition."""
    joined = {frozenset(pair) for pair in problem.edges}
    steps = zip(walk, [*walk[1:], walk[0]], strict=True)
    return len(walk) >= 3 and all(frozenset(step) in joined for step in steps)


@pytest.mark.parametrize("off_percent", [0, 35])
@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed, off_percent):
    task = LongestCycleTask(
        LongestCycleConfig(n_vertices=6, off_percent=off_percent, scheme="ratio")
    )
    problem = task.generate(stream("LongestCycle", off_percent, seed))
    walks = [w for size in range(1, 7) for w in itertools.permutations(range(1, 7), size)]
    lengths = {len(walk) for walk in walks if is_cycle(problem, walk)}
    low, high = min(lengths), max(lengths)
    assert (problem.reference.objective, problem.reference.bound) == (high, high)
    assert problem.reference.trivial == low
    for walk in walks:
        verdict = task.verify(problem, ", ".join(map(str, walk)))
        fits = is_cycle(problem, walk)
        expected = float(len(walk) == high) if low == high else (len(walk) - low) / (high - low)
        assert verdict.score == (expected if fits else 0.0)
        assert verdict.parts["feasible"] == fits


@pytest.mark.parametrize("seed", range(6))
def test_reference_and_baseline_agree_with_networkx(seed):
    task = LongestCycleTask(LongestCycleConfig(n_vertices=13, off_percent=25))
    problem = task.generate(stream("LongestCycle", "thirteen", seed))
    cycles = list(networkx.simple_cycles(networkx.Graph(problem.edges)))
    assert problem.reference.objective == max(map(len, cycles))
    assert problem.reference.trivial == min(map(len, cycles))
    assert problem.reference.proven


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2, 3, 4, 5", 1.0),
        ("[3 2 1 5 4]", 1.0),
        ("1, 3, 4, 5", 0.5),
        ("1, 2, 3", 0.0),  # the baseline
        ("1", 0.0),  # an empty round at a vertex
        ("1, 2", 0.0),  # there and back along one edge
        ("1, 2, 1, 2, 1, 2", 0.0),
        ("1, 2, 3, 1, 2, 3", 0.0),
        ("1, 2, 3, 4, 5, 1", 0.0),
        ("1, 2, 3, 4, 5, 6", 0.0),  # no way back from 6
        ("5, 6, 5", 0.0),
        ("1, 2, 4", 0.0),
        ("0, 1, 2", 0.0),
        ("1, 2, 7", 0.0),
        ("1.0, 2.0, 3.0", 0.0),
        ("1-2, 2-3, 1-3", 0.0),
        ("[]", 0.0),
        ("1, 2, NaN", 0.0),
        ("range(1, 6)", 0.0),
        ("1, 2, 3, 4, 5 or 1, 2, 3", 0.0),
        ("1," * 4000 + "2", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_bands_of_np_engine():
    vertices = {"easy": (15, 20), "medium": (20, 30), "hard": (30, 40), "bench": (40, 50)}
    for band, level in BANDS.items():
        assert vertices[band][0] <= LongestCycleConfig.at(level).n_vertices <= vertices[band][1]


@pytest.mark.parametrize(
    "knob", [{"n_vertices": 4}, {"n_vertices": 401}, {"off_percent": 41}, {"chord_percent": 0}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        LongestCycleConfig(**knob)


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8])
def test_greedy_and_its_neighbours_are_cycles(level):
    rng = stream("LongestCycle", "moves", level)
    problem = LongestCycleTask(LongestCycleConfig.at(level)).generate(rng)
    answer, seen = TASK.baseline(stream("baseline"), problem), set()
    for _ in range(40):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        seen.add(answer)
        answer = TASK.neighbour(problem, answer, rng)
    assert len(seen) > 3


def test_a_forest_has_no_cycle_and_a_walk_that_cannot_close_starts_elsewhere():
    assert longest_cycle.shortest_cycle(4, ((1, 2), (2, 3), (2, 4))) == []
    tailed = ((1, 2), (2, 3), (3, 4), (3, 5), (4, 5))
    assert set(longest_cycle.shortest_cycle(5, tailed)) == {3, 4, 5}
    assert set(longest_cycle.walked_cycle(5, tailed)) == {3, 4, 5}


def test_the_baseline_of_the_small_problem():
    # the walk ends at 6, and 5 is joined to 1
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2, 3, 4, 5"
