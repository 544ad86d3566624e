"""Knapsack: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.knapsack import KnapsackConfig, KnapsackProblem, KnapsackTask
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = KnapsackTask(dataclasses.replace(KnapsackConfig.at(0), scheme="ratio"))
SMALL = KnapsackProblem((3, 4, 5), (4, 5, 6), 8, Reference(10, 10, True, 6, "1, 3"))


def worth(problem, chosen):
    """The value of a choice, or None if it does not fit, by the definition."""
    weight = sum(problem.weights[i] for i in chosen)
    return sum(problem.values[i] for i in chosen) if weight <= problem.capacity else None


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Knapsack", seed))
    n = len(problem.weights)
    choices = [c for k in range(1, n + 1) for c in itertools.combinations(range(n), k)]
    values = {choice: worth(problem, choice) for choice in choices}
    best = max(value for value in values.values() if value is not None)
    single = max(v for c, v in values.items() if len(c) == 1 and v is not None)
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    for choice, value in values.items():
        verdict = TASK.verify(problem, ", ".join(str(i + 1) for i in choice))
        if value is None:
            expected = 0.0
        elif value == best:
            expected = 1.0
        else:
            expected = max(0.0, (value - single) / (best - single))
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == (value is not None)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 3", 1.0),
        ("[3 1]", 1.0),
        ("1, 2", 0.75),
        ("3", 0.0),  # the baseline: the best single item
        ("1, 1, 1", 0.0),
        ("1, 2, 3", 0.0),
        ("0, 1", 0.0),
        ("1, 4", 0.0),
        ("-1, 3", 0.0),
        ("1.0, 3.0", 1.0),
        ("[]", 0.0),
        ("1, NaN", 0.0),
        ("[i for i in (1, 3)]", 0.0),
        ("1," * 5000 + "3", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize(
    ("scheme", "score"), [("ratio", 0.75), ("graph_r1", 0.9 / 4), ("binary", 0.0)]
)
def test_schemes(scheme, score):
    task = KnapsackTask(KnapsackConfig(scheme=scheme))
    assert task.verify(SMALL, "1, 2").score == pytest.approx(score)
    assert task.verify(SMALL, "1, 3").score == 1.0


def test_bands_of_np_engine():
    sizes = {band: KnapsackConfig.at(level) for band, level in BANDS.items()}
    planted = {"easy": (6, 10), "medium": (8, 12), "hard": (15, 25), "bench": (25, 35)}
    distractors = {"easy": (8, 15), "medium": (15, 25), "hard": (20, 35), "bench": (30, 45)}
    for band, config in sizes.items():
        assert planted[band][0] <= config.n_planted <= planted[band][1]
        assert distractors[band][0] <= config.n_distractors <= distractors[band][1]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_planted": 0},
        {"max_weight": 1},
        {"max_weight": 10**18},
        {"slack_percent": -1},
        {"slack_percent": 10**30},
        {"budget": 0},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        KnapsackConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_answers(seed):
    rng = stream("Knapsack", "moves", seed)
    problem = KnapsackTask(KnapsackConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    assert TASK.verify(problem, answer).parts["feasible"] == 1.0
    for _ in range(20):
        assert TASK.verify(problem, TASK.neighbour(problem, answer, rng)).status != "unparsable"


def test_sizes_stop_growing_far_beyond_the_levels():
    assert KnapsackConfig.at(30).n_planted < KnapsackConfig.at(80).n_planted
    assert KnapsackConfig.at(80).n_planted == KnapsackConfig.at(10**6).n_planted
    assert KnapsackConfig.at(80).budget == KnapsackConfig.at(10**6).budget


def test_the_baseline_of_the_small_problem():
    # item 3 is worth the least for its weight
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2"


def test_effort_counts_the_loads_that_no_other_beats():
    # (0, 0); with item 1 two loads, with item 2 four, and with item 3 six
    assert TASK.effort(SMALL) == 1 + 2 + 4 + 6
