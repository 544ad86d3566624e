"""DigitProblem: every kind against plain enumeration, the small world, configuration."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.digit_problem import (
    KINDS,
    DigitProblem,
    DigitProblemConfig,
    DigitProblemTask,
)


def digits(value, base=10):
    found = []
    while value:
        found.append(value % base)
        value //= base
    return found


def zeros_at_the_end(value, base):
    count = 0
    while value % base == 0:
        value //= base
        count += 1
    return count


ENUMERATED = {
    "product_digit_sum": lambda a, b: sum(map(int, str(a * b))),
    "base_digit_sum": lambda n, base: sum(digits(n, base)),
    "power_last_digits": lambda a, b, m: int(str(a**b)[1 - len(str(m)) :]),
    "factorial_zeros": lambda n, base: zeros_at_the_end(math.factorial(n), base),
    "digit_occurrences": lambda low, high, digit: sum(
        str(n).count(str(digit)) for n in range(low, high + 1)
    ),
    "range_digit_sum": lambda low, high: sum(sum(digits(n)) for n in range(low, high + 1)),
    "given_digit_sum": lambda limit, total: sum(
        sum(digits(n)) == total for n in range(1, limit + 1)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_whole_small_world(kind):
    task = DigitProblemTask(DigitProblemConfig(kinds=(kind,), max_value=20, n_last_digits=1))
    for seed in range(20):
        problem = task.generate(stream("DigitProblem", kind, seed))
        expected = ENUMERATED[kind](*problem.numbers)
        window = range(max(0, expected - 10), expected + 11)
        assert [v for v in window if task.verify(problem, str(v)).score == 1.0] == [expected]


@pytest.mark.parametrize("kind", KINDS)
def test_larger_values_agree_with_enumeration(kind):
    task = DigitProblemTask(
        DigitProblemConfig(kinds=(kind,), max_value=1_100, max_base=36, n_last_digits=5)
    )
    for seed in range(150):
        problem = task.generate(stream("DigitProblem", "larger", kind, seed))
        assert int(task.solve(problem)) == ENUMERATED[kind](*problem.numbers), problem


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("palindromes",)}, "kinds are"),
        ({"max_value": 11}, "max_value"),
        ({"max_base": 9}, "max_base"),
        ({"max_base": 37}, "max_base"),
        ({"n_last_digits": 0}, "n_last_digits"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        DigitProblemConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = DigitProblemTask(DigitProblemConfig())
    problem = DigitProblem("product_digit_sum", (12, 3), 9)
    # "12 * 3 = 36" has five digits and two products of digits, "3 + 6 = 9" three digits.
    assert task.effort(problem) == 5 + 2 + 3
    assert task.baseline(stream("baseline"), problem) == "9"
    problem = DigitProblem("product_digit_sum", (19, 19), 10)
    assert task.baseline(stream("baseline"), problem) == "100"
