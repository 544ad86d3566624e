from fractions import Fraction

import mpmath
import pytest
from latex_reader import latex_value

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.derivative import DerivativeConfig, DerivativeProblem, DerivativeTask


@pytest.mark.parametrize("difficulty", [0, 2, 5, 10])
def test_the_derivative_is_that_of_numerical_differences(difficulty):
    task = DerivativeTask(DerivativeConfig.at(difficulty))
    orders = set()
    for seed in range(12):
        problem = task.generate(stream("derivative", difficulty, seed))
        orders.add(problem.order)
        at = mpmath.mpf(problem.point or 0.8125)
        with mpmath.workdps(300):
            slope = mpmath.diff(
                lambda x, text=problem.function: latex_value(text, x=x), at, problem.order
            )
            found = latex_value(problem.derivative, x=at)
            assert mpmath.almosteq(slope, found, 1e-8, 1e-8)
    assert orders <= set(range(1, task.config.max_order + 1))


def test_whole_small_world():
    task = DerivativeTask(DerivativeConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("derivative", seed))
        # A quadratic's slope is fixed by its values at three points.
        below, middle, above = (latex_value(problem.function, x=x) for x in (-1, 0, 1))
        right = (above + below - 2 * middle, (above - below) / 2)
        for slope in range(-18, 19, 2):
            for constant in range(-9, 10):
                verdict = task.verify(problem, f"{slope}x + {constant}".replace("+ -", "- "))
                assert (verdict.score == 1.0) == ((slope, constant) == right)


def test_equal_forms_pass_and_near_misses_fail():
    task = DerivativeTask(DerivativeConfig())
    problem = DerivativeProblem(r"x^2 e^{x}", 1, None, r"2xe^{x} + x^2 e^{x}")
    for form in (r"x(x+2)e^x", r"(2x+x^2)\exp(x)", "y = e^x (x^2 + 2x)", "x*(x+2)*e^x"):
        assert task.verify(problem, form).score == 1.0
    for form in (r"2xe^x", r"x(x+2)", r"x^2 e^x", r"x(x+2)e^{-x}", "x(x+2.001)e^x"):
        assert task.verify(problem, form).score == 0.0


def test_the_value_at_a_point_is_a_number():
    task = DerivativeTask(DerivativeConfig())
    problem = DerivativeProblem(r"x \ln(x)", 1, 2, r"\ln(2) + 1")
    assert task.verify(problem, r"1 + \ln 2").score == 1.0
    assert task.verify(problem, r"\frac{\ln 4}{2} + 1").score == 1.0
    assert task.verify(problem, r"\ln(x) + 1").score == 0.0
    assert task.verify(problem, "1.69").score == 0.0
    assert "at $x = 2$" in task.prompt(problem)


def test_constant_answers_earn_little():
    task = DerivativeTask(DerivativeConfig.at(1))
    answers = [task.solve(task.generate(stream("constant", seed))) for seed in range(200)]
    commonest = max(answers.count(answer) for answer in set(answers))
    assert Fraction(commonest, 200) < Fraction(1, 10)


@pytest.mark.parametrize(
    "knobs", [{"n_rules": -1}, {"degree": 0}, {"max_coefficient": 0}, {"max_order": 0}]
)
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        DerivativeConfig(**knobs)


def test_effort_and_baseline_of_small_problems():
    task = DerivativeTask(DerivativeConfig())
    line = DerivativeProblem("3x^2 + x", 1, None, "6x + 1")
    assert task.effort(line) == 4  # 6, x, + and 1
    assert task.baseline(stream("baseline"), line) == "6x + 1"
    at_two = DerivativeProblem("3x^2 + x", 1, 2, "13")
    assert task.effort(at_two) == 8
    assert task.baseline(stream("baseline"), at_two) == "13"
    product = DerivativeProblem(r"x^2 \sin(3x)", 1, None, r"2x \sin(3x) + 3x^2 \cos(3x)")
    assert task.baseline(stream("baseline"), product) == r"2x \cos(3x)"
