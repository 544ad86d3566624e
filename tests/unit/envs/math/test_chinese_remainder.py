"""ChineseRemainder: the whole small world, forms of the answer, configuration."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.chinese_remainder import (
    ChineseRemainderConfig,
    ChineseRemainderProblem,
    ChineseRemainderTask,
)

TASK = ChineseRemainderTask(ChineseRemainderConfig.at(0))


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("ChineseRemainder", seed))
    pairs = list(zip(problem.remainders, problem.moduli, strict=True))
    solutions = [x for x in range(100) if all(x % m == r for r, m in pairs)]
    right = [x for x in range(-10, 100) if TASK.verify(problem, str(x)).score == 1.0]
    assert right == solutions[:1]


@pytest.mark.parametrize("difficulty", [3, 8])
def test_consistent_although_moduli_share_factors(difficulty):
    task = ChineseRemainderTask(ChineseRemainderConfig.at(difficulty))
    for seed in range(50):
        problem = task.generate(stream("ChineseRemainder", difficulty, seed))
        assert len(set(problem.moduli)) == task.config.n_moduli
        for remainder, modulus in zip(problem.remainders, problem.moduli, strict=True):
            assert problem.solution % modulus == remainder


@pytest.mark.parametrize(
    ("answer", "score"), [("23", 1.0), ("x = 23", 1.0), ("128", 0.0), ("-82", 0.0), ("22", 0.0)]
)
def test_forms(answer, score):
    problem = ChineseRemainderProblem((3, 5, 7), (2, 3, 2), 23)
    assert TASK.verify(problem, answer).score == score


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_moduli": 1}, "n_moduli is 2 or more"),
        ({"n_moduli": 15}, "max_modulus >= "),
        ({"max_modulus": 7}, "max_modulus >= "),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        ChineseRemainderConfig(**knobs)
