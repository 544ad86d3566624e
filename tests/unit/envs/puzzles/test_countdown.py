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


@pytest.mark.parametrize("level", [2, 5, 10])
def test_targets_are_neither_given_nor_reached_by_two(level):
    task = CountdownTask(CountdownConfig.at(level))
    for seed in range(20):
        problem = task.generate(stream("Countdown", "pairs", seed))
        for size in (1, 2):
            for chosen in itertools.combinations(problem.numbers, size):
                assert all(value != problem.target for _, value in expressions(chosen))


def test_effort_grows():
    efforts = []
    for level in (0, 3, 6):
        task = CountdownTask(CountdownConfig.at(level))
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


def test_effort_counts_the_results_computed():
    # Of 3 and 4: 7, 1, 12.
    for target, effort in ((7, 1), (1, 2), (12, 3)):
        assert TASK.effort(CountdownProblem((3, 4), target, "")) == effort


@pytest.mark.parametrize("level", range(5))
def test_targets_need_as_many_numbers_as_the_level_says(level):
    """By all expressions of whole, positive results, built by another program."""
    config = CountdownConfig.at(level)
    task = CountdownTask(config)
    for seed in range(6):
        problem = task.generate(stream("Countdown", "needed", seed))
        fewer = (
            chosen
            for size in range(1, config.n_needed)
            for chosen in itertools.combinations(problem.numbers, size)
        )
        assert all(problem.target not in whole_values(chosen) for chosen in fewer)


def whole_values(numbers):
    if len(numbers) == 1:
        return {numbers[0]}
    found = set()
    for i, j in itertools.permutations(range(len(numbers)), 2):
        rest = [n for k, n in enumerate(numbers) if k not in (i, j)]
        a, b = numbers[i], numbers[j]
        results = [a + b, a * b, *([a - b] if a > b else []), *([a // b] if a % b == 0 else [])]
        for value in results:
            found |= whole_values((*rest, value))
    return found


def test_the_example_of_the_prompt_is_no_answer():
    """It has the value 2, and targets are larger."""
    for level in range(4):
        task = CountdownTask(CountdownConfig.at(level))
        problems = [task.generate(stream("Countdown", "example", seed)) for seed in range(60)]
        assert min(problem.target for problem in problems) > 2
        assert "(9 - 8) * 2" in task.prompt(problems[0])
