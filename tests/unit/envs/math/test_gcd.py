"""Gcd: the whole small world, forms of the answer, configuration."""

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
    right = [n for n in range(-10, 82) if TASK.verify(problem, str(n)).score == 1.0]
    assert right == [expected]


@pytest.mark.parametrize(
    ("answer", "score"),
    [("6", 1.0), ("$6$", 1.0), ("06", 1.0), ("12/2", 0.0), ("-6", 0.0), ("3", 0.0), ("6, 3", 0.0)],
)
def test_forms(answer, score):
    assert TASK.verify(GcdProblem((12, 18), 6), answer).score == score


@pytest.mark.parametrize("knob", [{"n_numbers": 1}, {"max_divisor": 0}, {"max_cofactor": 1}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        GcdConfig(**knob)
