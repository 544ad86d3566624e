import mpmath
import pytest
from latex_reader import latex_value

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.indefinite_integral import (
    IndefiniteIntegralConfig,
    IndefiniteIntegralProblem,
    IndefiniteIntegralTask,
)
from rlvr_envs.generators.mathematics import antiderivatives
from rlvr_envs.generators.mathematics.calculus import latex


@pytest.mark.parametrize("kind", antiderivatives.KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_is_a_function_and_its_slope(kind):
    for seed in range(15):
        pair = kind(stream("kind", seed), 1 + seed % 4, 9)
        whole, slope = latex(pair.antiderivative), latex(pair.integrand)
        for at in (0.375, 1.25):
            with mpmath.workdps(40):
                found = mpmath.diff(lambda x, text=whole: latex_value(text, x=x), at)
                assert mpmath.almosteq(found, latex_value(slope, x=at), 1e-10, 1e-10)


def test_sums_of_hard_kinds_keep_their_slope():
    task = IndefiniteIntegralTask(IndefiniteIntegralConfig.at(12))
    for seed in range(10):
        problem = task.generate(stream("integral", seed))
        with mpmath.workdps(40):
            found = mpmath.diff(lambda x, p=problem: latex_value(p.antiderivative, x=x), 0.75)
            assert mpmath.almosteq(found, latex_value(problem.integrand, x=0.75), 1e-10, 1e-10)


def test_whole_small_world():
    task = IndefiniteIntegralTask(IndefiniteIntegralConfig.at(0))
    for a in range(-3, 4):
        problem = IndefiniteIntegralProblem(f"{2 * a}x + 3", "")
        for b in range(-4, 5):
            for c in range(6):
                for rest in ("", " + 5", " + C"):
                    score = task.verify(problem, f"{b}x^2 + {c}x{rest}").score
                    assert (score == 1.0) == ((b, c) == (a, 3))


def test_every_antiderivative_passes_and_others_fail():
    task = IndefiniteIntegralTask(IndefiniteIntegralConfig())
    problem = IndefiniteIntegralProblem(r"\sin(x) \cos(x)", r"\frac{1}{2} \sin^2(x)")
    for form in (
        r"-\frac{\cos^2 x}{2} + C",
        r"-\frac{1}{4}\cos(2x)",
        r"F(x) = \frac{\sin^2(x)}{2} + 17",
    ):
        assert task.verify(problem, form).score == 1.0
    for form in (r"\sin(x)\cos(x)", r"\frac{\cos^2 x}{2}", r"\frac{\sin^2 x}{2} + x", "C"):
        assert task.verify(problem, form).score == 0.0


def test_a_logarithm_may_carry_the_absolute_value():
    task = IndefiniteIntegralTask(IndefiniteIntegralConfig())
    problem = IndefiniteIntegralProblem(r"\frac{6}{2x + 3}", r"3\ln(2x + 3)")
    for form in (r"3\ln|2x+3| + C", r"3\ln(2x+3)", r"3\ln|4x+6|", r"3 \ln\left|x + 3/2\right|"):
        assert task.verify(problem, form).score == 1.0
    assert task.verify(problem, r"6\ln|2x+3|").score == 0.0


@pytest.mark.parametrize("knobs", [{"first_kind": 5}, {"last_kind": 8}, {"degree": 0}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        IndefiniteIntegralConfig(**knobs)


def test_effort_and_baseline_of_small_problems():
    task = IndefiniteIntegralTask(IndefiniteIntegralConfig())
    power = IndefiniteIntegralProblem("2x", "x^2")
    assert task.effort(power) == 2 + 3
    assert task.verify(power, task.baseline(stream("baseline"), power)).score == 1.0
    wave = IndefiniteIntegralProblem(r"\cos(x)", r"\sin(x)")
    assert task.effort(wave) == (1 + 9 + 1) * 2  # a function counts ten
    assert task.baseline(stream("baseline"), wave) == r"x \cos(x)"
