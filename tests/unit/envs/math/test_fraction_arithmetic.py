from fractions import Fraction

import pytest
import sympy
from sympy.parsing.sympy_parser import parse_expr

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.fraction_arithmetic import (
    FractionArithmeticConfig,
    FractionArithmeticProblem,
    FractionArithmeticTask,
)


def evaluated(latex: str) -> sympy.Rational:
    text = latex.replace(r"\left", "").replace(r"\right", "")
    text = text.replace(r"\times", "*").replace(r"\div", "/").replace("}{", ")/(")
    return parse_expr(text.replace(r"\frac{", "((").replace("}", "))"))


@pytest.mark.parametrize("difficulty", [1, 4, 9])
def test_the_value_is_that_of_the_expression(difficulty):
    task = FractionArithmeticTask(FractionArithmeticConfig.at(difficulty))
    for seed in range(10):
        problem = task.generate(stream("fractions", difficulty, seed))
        assert evaluated(problem.expression) == sympy.Rational(
            problem.value.numerator, problem.value.denominator
        )


def test_whole_small_world():
    task = FractionArithmeticTask(FractionArithmeticConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("fractions", seed))
        right = evaluated(problem.expression)
        for bottom in range(1, 31):
            for top in range(-10, 40, 7):
                passed = task.verify(problem, f"{top}/{bottom}").score == 1.0
                assert passed == (sympy.Rational(top, bottom) == right)


def test_equal_forms_pass_and_the_copied_question_does_not():
    task = FractionArithmeticTask(FractionArithmeticConfig())
    problem = FractionArithmeticProblem(r"\frac{3}{2} \times \frac{5}{4}", Fraction(15, 8))
    for form in ("15/8", r"\frac{30}{16}", r"1\frac{7}{8}", "1.875"):
        assert task.verify(problem, form).score == 1.0
    copies = (problem.expression, r"\frac{3}{2}\frac{5}{4}", r"\frac{3 \times 5}{8}", "3/2*5/4")
    for form in (*copies, "1.87", "8/15", "-15/8"):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"n_fractions": 1}, {"max_denominator": 2}, {"n_operators": 0}, {"n_operators": 6}]
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        FractionArithmeticConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = FractionArithmeticTask(FractionArithmeticConfig())
    text = r"\frac{1}{2} + \frac{1}{3} \times \frac{3}{4}"
    problem = FractionArithmeticProblem(text, Fraction(3, 4))
    # 3/12 takes two products and Euclid's divisions (2 + 1) of 3 and 12; then 1/2 + 1/4 = 6/8 takes
    # three products, a sum and three divisions.
    product = FractionArithmeticProblem(r"\frac{1}{3} \times \frac{3}{4}", Fraction(1, 4))
    assert task.effort(product) == 2 + 3
    assert task.effort(problem) == 5 + 3 + 1 + 3
    assert task.baseline(stream("baseline"), problem) == r"\frac{5}{8}"
    assert task.baseline(stream("baseline"), product) == r"\frac{1}{4}"
