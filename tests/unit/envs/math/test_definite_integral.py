from fractions import Fraction

import mpmath
import pytest
from latex_reader import latex_value

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.definite_integral import (
    DefiniteIntegralConfig,
    DefiniteIntegralProblem,
    DefiniteIntegralTask,
)


@pytest.mark.parametrize("difficulty", [0, 2, 4, 7])
def test_the_value_is_that_of_quadrature(difficulty):
    task = DefiniteIntegralTask(DefiniteIntegralConfig.at(difficulty))
    for seed in range(8):
        problem = task.generate(stream("integral", difficulty, seed))
        low, high = latex_value(problem.low), latex_value(problem.high)
        cuts = mpmath.linspace(low, high, 9)
        area = mpmath.quad(
            lambda x, text=problem.integrand: latex_value(text, x=x), cuts, maxdegree=4
        )
        assert mpmath.almosteq(area, latex_value(problem.value), 1e-7, 1e-7)


def test_whole_small_world():
    task = DefiniteIntegralTask(DefiniteIntegralConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("integral", seed))
        low, high = int(problem.low), int(problem.high)
        # The trapezoid is exact for the straight lines of rung 0.
        ends = sum(int(latex_value(problem.integrand, x=x)) for x in (low, high))
        right = Fraction(ends * (high - low), 2)
        for doubled in range(-80, 81):
            guess = Fraction(doubled, 2)
            assert (task.verify(problem, str(guess)).score == 1.0) == (guess == right)


def test_equal_forms_pass_and_near_misses_fail():
    task = DefiniteIntegralTask(DefiniteIntegralConfig())
    problem = DefiniteIntegralProblem(r"\frac{8}{x + 13}", "0", "2", r"8\ln(15) - 8\ln(13)")
    for form in (r"8\ln\frac{15}{13}", r"8 \ln(15/13)", r"-8\ln\left(\frac{13}{15}\right)"):
        assert task.verify(problem, form).score == 1.0
    for form in (r"8\ln(15)", "1.1448", r"8\ln\frac{13}{15}", r"8\ln(x+13)"):
        assert task.verify(problem, form).score == 0.0


def test_values_vanish_seldom():
    task = DefiniteIntegralTask(DefiniteIntegralConfig(last_kind=1))
    values = [task.generate(stream("zero", seed)).value for seed in range(300)]
    assert values.count("0") < 10


@pytest.mark.parametrize(
    "knobs", [{"first_kind": 5}, {"last_kind": 8}, {"n_terms": 0}, {"max_bound": 0}]
)
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        DefiniteIntegralConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = DefiniteIntegralTask(DefiniteIntegralConfig())
    problem = DefiniteIntegralProblem("2x", "0", "3", "9")
    assert task.effort(problem) == 3 * 2 + 1
    assert task.baseline(stream("baseline"), problem) == "9"
    problem = DefiniteIntegralProblem(r"2x + \sin(x)", "0", "3", r"10 - \cos(3)")
    assert task.baseline(stream("baseline"), problem) == r"3\sin(3) + 9"
