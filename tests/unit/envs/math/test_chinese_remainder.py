"""ChineseRemainder: the whole small world, forms of the answer, configuration."""

import re
from itertools import count
from math import gcd

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
    solutions = [x for x in range(200) if all(x % m == r for r, m in pairs)]
    right = [x for x in range(-10, 200) if TASK.verify(problem, str(x)).score == 1.0]
    assert right == solutions[:1]


def test_factors_are_divided_out_by_trying():
    task = ChineseRemainderTask(ChineseRemainderConfig(n_moduli=2, max_modulus=12, max_factor=9))
    for seed in range(30):
        problem = task.generate(stream("ChineseRemainder", "factors", seed))
        rows = re.findall(r"\$(\d*)x \\equiv (\d+) \\pmod\{(\d+)\}", task.prompt(problem))
        expected = next(
            x for x in count() if all((int(f or 1) * x - int(r)) % int(m) == 0 for f, r, m in rows)
        )
        assert problem.solution == expected
        assert str(expected) in task.explain(problem)[-1]


def test_no_remainder_is_the_answer():
    for seed in range(100):
        problem = TASK.generate(stream("ChineseRemainder", "small", seed))
        assert problem.solution >= max(problem.moduli)


def test_effort_and_baseline_of_a_small_problem():
    problem = ChineseRemainderProblem((3, 5), (2, 3), (1, 1), 8)
    # Joining 1 and 3 takes one division, 3 and 5 three of them; each join multiplies two digits.
    assert TASK.effort(problem) == (2 * 2 + 1) + (2 * 4 + 1)
    assert TASK.baseline(stream("baseline"), problem) == "5"


@pytest.mark.parametrize("difficulty", [3, 8])
def test_consistent_although_moduli_share_factors(difficulty):
    task = ChineseRemainderTask(ChineseRemainderConfig.at(difficulty))
    for seed in range(50):
        problem = task.generate(stream("ChineseRemainder", difficulty, seed))
        assert len(set(problem.moduli)) == task.config.n_moduli
        rows = zip(problem.factors, problem.remainders, problem.moduli, strict=True)
        for factor, remainder, modulus in rows:
            assert factor * problem.solution % modulus == remainder
            assert gcd(factor, modulus) == 1


@pytest.mark.parametrize(
    ("answer", "score"), [("23", 1.0), ("x = 23", 1.0), ("128", 0.0), ("-82", 0.0), ("22", 0.0)]
)
def test_forms(answer, score):
    problem = ChineseRemainderProblem((3, 5, 7), (2, 3, 2), (1, 1, 1), 23)
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
