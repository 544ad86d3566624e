"""Countdown: the whole small world, exploits, configuration."""

import itertools
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.countdown import CountdownConfig, CountdownProblem, CountdownTask

TASK = CountdownTask(CountdownConfig.at(1))
SMALL = CountdownProblem((25, 3, 4, 4), 88, "(25 - 3) * 4")


def expressions(numbers):
    """Every expression of all the numbers, in every order, with its value (None for x / 0)."""
    if len(numbers) == 1:
        yield str(numbers[0]), Fraction(numbers[0])
        return
    places = range(len(numbers))
    for size in range(1, len(numbers)):
        for chosen in itertools.combinations(places, size):
            left = [numbers[i] for i in chosen]
            right = [numbers[i] for i in places if i not in chosen]
            for (a, x), (b, y) in itertools.product(expressions(left), expressions(right)):
                missing = x is None or y is None
                yield f"({a} + {b})", None if missing else x + y
                yield f"({a} - {b})", None if missing else x - y
                yield f"({a} * {b})", None if missing else x * y
                yield f"({a} / {b})", None if missing or not y else x / y


@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed):
    """All expressions of some of the three numbers, about 1,400."""
    problem = TASK.generate(stream("Countdown", seed))
    right = 0
    for size in (1, 2, 3):
        for chosen in itertools.combinations(problem.numbers, size):
            for text, value in expressions(chosen):
                expected = value == problem.target
                right += expected
                assert TASK.verify(problem, text).score == expected
    assert right > 0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("(25 - 3) * 4", 1.0),
        ("4*(25-3)", 1.0),
        ("(25 - 3) * 4 = 88", 1.0),
        (r"4 \times (25 - 3)", 1.0),
        ("88", 0.0),
        ("25 * 4 - 3 * 4", 1.0),
        ("(25 - 3) * 4 * (3 - 3 + 1)", 0.0),
        ("25 + 25 + 25 + 4 + 3 + 3 + 3", 0.0),
        ("(25 - 3) * 4, 88", 0.0),
        ("22 * 4", 0.0),
        ("(25 - 3) * 4 # comment", 0.0),
        ("eval('88')", 0.0),
        ("44 + 44", 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_one_number_of_two_equal_ones_is_no_two():
    problem = CountdownProblem((4, 5), 16, "")
    assert TASK.verify(problem, "4 * 4").score == 0.0
    assert TASK.verify(CountdownProblem((4, 4), 16, ""), "4 * 4").score == 1.0


@pytest.mark.parametrize("rung", [2, 5, 10])
def test_targets_are_neither_given_nor_reached_by_two(rung):
    task = CountdownTask(CountdownConfig.at(rung))
    for seed in range(20):
        problem = task.generate(stream("Countdown", "pairs", seed))
        for size in (1, 2):
            for chosen in itertools.combinations(problem.numbers, size):
                assert all(value != problem.target for _, value in expressions(chosen))


def test_effort_grows():
    efforts = []
    for rung in (0, 3, 6):
        task = CountdownTask(CountdownConfig.at(rung))
        problems = [task.generate(stream("Countdown", "effort", seed)) for seed in range(15)]
        efforts.append(sum(map(task.effort, problems)))
    assert 10 * efforts[0] < efforts[1] < efforts[2] / 2


def test_guesses_are_readable():
    rng = stream("Countdown", "guess")
    task = CountdownTask(CountdownConfig.at(7))
    verdicts = [
        task.verify(p, task.baseline(rng, p)) for p in (task.generate(rng) for _ in range(20))
    ]
    assert all(verdict.status != "unparsable" for verdict in verdicts)
    assert sum(verdict.score for verdict in verdicts) < 6


@pytest.mark.parametrize(
    "knob",
    [
        *({"n_numbers": 1}, {"n_numbers": 61}, {"max_target": 99}),
        *({"max_number": 4}, {"max_number": 10**12 + 1}),
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        CountdownConfig(**knob)


def test_the_longest_expressions_are_read():
    config = CountdownConfig(n_numbers=60, max_number=10**12, max_target=10**14)
    problem = CountdownTask(config).generate(stream("countdown", "longest"))
    assert CountdownTask(config).verify(problem, problem.expression).score == 1.0
