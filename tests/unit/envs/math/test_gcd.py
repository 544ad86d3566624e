"""Gcd: the whole small world, forms of the answer, configuration."""

from math import gcd

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.gcd import GcdConfig, GcdProblem, GcdTask

TASK = GcdTask(GcdConfig.at(0))


def greatest_common_divisor(numbers):
    return max(d for d in range(1, min(numbers) + 1) if all(n % d == 0 for n in numbers))


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Gcd", seed))
    expected = greatest_common_divisor(problem.numbers)
    right = [n for n in range(-10, 301) if TASK.verify(problem, str(n)).score == 1.0]
    assert right == [expected]


@pytest.mark.parametrize(
    ("answer", "score"),
    [("6", 1.0), ("$6$", 1.0), ("06", 1.0), ("12/2", 0.0), ("-6", 0.0), ("3", 0.0), ("6, 3", 0.0)],
)
def test_forms(answer, score):
    assert TASK.verify(GcdProblem((12, 18), 6), answer).score == score


@pytest.mark.parametrize("difficulty", [0, 1, 4, 9])
def test_no_number_is_the_answer_and_each_one_counts(difficulty):
    task = GcdTask(GcdConfig.at(difficulty))
    for seed in range(50):
        numbers = task.generate(stream("Gcd", difficulty, seed)).numbers
        common = gcd(*numbers)
        assert common not in numbers
        if len(numbers) > 2:
            others = [numbers[:i] + numbers[i + 1 :] for i in range(len(numbers))]
            assert all(gcd(*part) > common for part in others)


def test_effort_and_baseline_of_a_small_problem():
    problem = GcdProblem((48, 18), 6)
    # 48 = 2 * 18 + 12, 18 = 1 * 12 + 6, 12 = 2 * 6: divisors of two, two and one digits.
    assert TASK.effort(problem) == 2 + 2 + 1
    assert TASK.baseline(stream("baseline"), problem) == "6"
    assert TASK.baseline(stream("baseline"), GcdProblem((26, 39), 13)) == "1"


@pytest.mark.parametrize("knob", [{"n_numbers": 1}, {"max_divisor": 0}, {"max_cofactor": 2}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        GcdConfig(**knob)
