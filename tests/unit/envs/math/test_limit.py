from fractions import Fraction

import mpmath
import pytest
from latex_reader import latex_value

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math import limit
from rlvr_envs.envs.math.limit import LimitConfig, LimitProblem, LimitTask


def approached(problem):
    """Evaluate the expression very near its point, with digits enough for the cancellation."""
    with mpmath.workdps(400):
        if problem.point == "\\infty":
            return latex_value(problem.expression, x=mpmath.mpf(10) ** 30)
        return latex_value(problem.expression, x=int(problem.point) + mpmath.mpf(10) ** -20)


@pytest.mark.parametrize("difficulty", [1, 3, 5, 8, 12, 20])
def test_the_limit_is_approached(difficulty):
    task = LimitTask(LimitConfig.at(difficulty))
    for seed in range(20):
        problem = task.generate(stream("limit", difficulty, seed))
        near, exact = approached(problem), latex_value(problem.limit)
        assert mpmath.almosteq(near, exact, 1e-10, 1e-10)


@pytest.mark.parametrize("kind", range(len(limit._KINDS)))
def test_each_kind_has_x_in_it_and_varied_answers(kind):
    task = LimitTask(LimitConfig(first_kind=kind, last_kind=kind))
    problems = [task.generate(stream("kind", kind, seed)) for seed in range(200)]
    assert all("x" in problem.expression.replace("exp", "") for problem in problems)
    answers = [problem.limit for problem in problems]
    assert max(answers.count(answer) for answer in set(answers)) <= 30


def test_whole_small_world():
    task = LimitTask(LimitConfig.at(0))
    window = sorted({Fraction(a, b) for a in range(-9, 10) for b in range(1, 10)})
    for seed in range(20):
        problem = task.generate(stream("limit", seed))
        near = approached(problem)
        for guess in window:
            is_right = abs(near * guess.denominator - guess.numerator) < 1e-15
            assert (task.verify(problem, str(guess)).score == 1.0) == is_right


def test_equal_forms_pass_and_near_misses_fail():
    task = LimitTask(LimitConfig())
    problem = LimitProblem(
        r"\left(1 + \frac{3}{x}\right)^{-x / 2}", r"\infty", 2, r"e^{-\frac{3}{2}}"
    )
    for form in (r"\frac{1}{e^{3/2}}", r"e^{-1.5}", r"\frac{1}{e\sqrt{e}}", r"\exp(-3/2)"):
        assert task.verify(problem, form).score == 1.0
    for form in (r"e^{3/2}", "0.2231", r"e^{-3}", r"\infty", "1", "does not exist"):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"first_kind": 5}, {"last_kind": 7}, {"order": 0}, {"n_functions": 0}]
)
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        LimitConfig(**knobs)


def test_effort_and_baseline_of_small_problems():
    task = LimitTask(LimitConfig())
    quotient = LimitProblem(r"\frac{2x + 1}{4x}", r"\infty", 0, r"\frac{1}{2}")
    assert task.effort(quotient) == 7  # the bar, 2, x, +, 1, 4 and x, read once
    assert task.baseline(stream("baseline"), quotient) == r"\frac{1}{2}"
    sine = LimitProblem(r"\frac{\sin(3x)}{x}", "0", 1, "3")
    assert task.effort(sine) == 2 * 5
    assert task.baseline(stream("baseline"), sine) == "1"
