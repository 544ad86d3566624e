"""ModularInverse: the whole small world, forms of the answer, configuration."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.modular_inverse import (
    ModularInverseConfig,
    ModularInverseProblem,
    ModularInverseTask,
)

TASK = ModularInverseTask(ModularInverseConfig.at(0))


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("ModularInverse", seed))
    value, modulus = problem.value, problem.modulus
    expected = [x for x in range(1, modulus) if (value * x - 1) % modulus == 0]
    right = [x for x in range(-5, 160) if TASK.verify(problem, str(x)).score == 1.0]
    assert right == expected


@pytest.mark.parametrize(
    ("answer", "score"),
    [("5", 1.0), ("$x = 5$", 1.0), ("-2", 0.0), ("12", 0.0), ("1/3", 0.0), ("3", 0.0)],
)
def test_forms(answer, score):
    assert TASK.verify(ModularInverseProblem(3, 7, 5), answer).score == score


def test_powers_agree_with_repeated_multiplication():
    task = ModularInverseTask(ModularInverseConfig.at(5))
    for seed in range(20):
        problem = task.generate(stream("power", seed))
        product = problem.inverse
        for _ in range(problem.exponent):
            product = product * problem.value % problem.modulus
        assert product == 1
        assert 1 < problem.exponent <= 16
        assert str(problem.inverse) in task.explain(problem)[-1] or problem.inverse == 1


def test_effort_and_baseline():
    problem = ModularInverseProblem(3, 10, 7)
    steps = TASK.explain(problem)
    assert steps[1] == "10 = 3 * 3 + 1, so 3 * (-3) mod 10 = 1."
    digits = sum(character.isdigit() for character in "".join(steps))
    assert TASK.effort(problem) == digits + 2  # two products of single digits
    assert TASK.baseline(stream("b"), problem) == "4"


def test_config_is_checked():
    with pytest.raises(ConfigError, match="max_modulus is 7 or more"):
        ModularInverseConfig(max_modulus=6)
