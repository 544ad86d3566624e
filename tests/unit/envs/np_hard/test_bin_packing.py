"""Bin packing: the whole small world, answers of other forms, configuration."""

import dataclasses

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.bin_packing import (
    BinPackingConfig,
    BinPackingProblem,
    BinPackingTask,
)
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = BinPackingTask(dataclasses.replace(BinPackingConfig.at(0), scheme="ratio"))
SMALL = BinPackingProblem((6, 3, 4, 7), 10, Reference(2, 2, True, 3, "1, 3\n2, 4"))


def partitions(items):
    """Every way to put items into unordered bins."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for i, bin_ in enumerate(smaller):
            yield [*smaller[:i], [first, *bin_], *smaller[i + 1 :]]


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    task = BinPackingTask(BinPackingConfig(n_bins=2, scheme="ratio"))
    problem = task.generate(stream("BinPacking", seed))
    n, reference = len(problem.sizes), problem.reference
    best = n
    for bins in partitions(list(range(1, n + 1))):
        verdict = TASK.verify(problem, "; ".join(", ".join(map(str, b)) for b in bins))
        fits = all(sum(problem.sizes[i - 1] for i in b) <= problem.capacity for b in bins)
        assert verdict.parts["feasible"] == fits
        expected = 0.0
        if fits:
            best = min(best, len(bins))
            expected = float(len(bins) == reference.objective)  # the trivial packing has one more
            assert reference.trivial == reference.objective + 1
        assert verdict.score == pytest.approx(expected)
    assert (reference.objective, reference.bound) == (best, best)


@pytest.mark.parametrize("level", [3, 10, 20])
def test_planted_packing_is_optimal_by_volume(level):
    config = BinPackingConfig.at(level)
    problem = BinPackingTask(config).generate(stream("BinPacking", "volume", level))
    assert sum(problem.sizes) > problem.capacity * (problem.reference.objective - 1)
    assert max(problem.sizes) <= problem.capacity
    assert min(problem.sizes) >= 1


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 3\n2, 4", 1.0),
        ("4 2 | 3 1", 1.0),
        ("[[1, 3], [2, 4]]", 1.0),
        ("[3, 1]\n\n[2, 4]", 1.0),
        ("```\n1, 3\n2, 4\n```", 1.0),
        ("$1, 3; 2, 4$", 1.0),
        ("**1, 3 | 2, 4**", 1.0),
        ("1\n2, 3\n4", 0.0),  # the baseline
        ("1\n2\n3\n4", 0.0),
        ("1, 2, 3\n4", 0.0),  # too full
        ("1, 3\n2", 0.0),  # item 4 is left out
        ("1, 3\n2, 4, 4", 0.0),
        ("1, 3\n2, 4\n3", 0.0),
        ("1, 3\n2, 4\n0", 0.0),
        ("1, 3\n2, 4\n5", 0.0),
        ("1, 3\n2, 4.0", 1.0),
        ("1, 3\nNaN", 0.0),
        ("1, 3\n[]\n2, 4", 0.0),
        ("1, 3, 2, 4", 0.0),
        ("Bin 1: 1, 3\nBin 2: 2, 4", 1.0),
        ("1, 3\n2, 4\n" + "1\n" * 5000, 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_sizes_of_the_bands():
    planted = [BinPackingConfig.at(level).n_bins for level in BANDS.values()]
    assert planted == [4, 7, 10, 12]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_bins": 1},
        {"n_bins": 201},
        {"max_parts": 1},
        {"max_parts": 6},
        {"capacity": 9},
        {"capacity": 10**6 + 1},
        {"slack_percent": 26},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        BinPackingConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_answers(seed):
    rng = stream("BinPacking", "moves", seed)
    problem = BinPackingTask(BinPackingConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    for _ in range(20):
        assert TASK.verify(problem, answer).parts["feasible"] == 1.0
        answer = TASK.neighbour(problem, answer, rng)


def test_effort_gives_up_in_time():
    task = BinPackingTask(BinPackingConfig(n_bins=20, capacity=220, slack_percent=0, budget=1.5))
    problem = task.generate(stream("BinPacking", "long"))
    assert 0.3e6 < task.effort(problem) < 0.5e6


def test_effort_is_deterministic_work():
    problem = TASK.generate(stream("BinPacking", 0))
    assert TASK.effort(problem) == TASK.effort(problem) > 0


def test_the_baseline_of_the_small_problem():
    # 7 and 6 open a bin each, 4 fits the second, and 3 the first
    assert TASK.baseline(stream("baseline"), SMALL) == "4, 2\n1, 3"
