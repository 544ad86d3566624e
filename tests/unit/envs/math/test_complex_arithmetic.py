from fractions import Fraction
from itertools import product

import pytest
import sympy
from sympy.parsing.sympy_parser import (
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.complex_arithmetic import (
    ComplexArithmeticConfig,
    ComplexArithmeticProblem,
    ComplexArithmeticTask,
)

TRANSFORMATIONS = (*standard_transformations, implicit_multiplication)


def parts(latex: str) -> tuple[Fraction, Fraction]:
    text = latex.replace(r"\left", "").replace(r"\right", "").replace("^", "**")
    text = text.replace(r"\times", "*").replace("}{", ")/(").replace("i", "j")
    text = text.replace(r"\frac{", "((").replace("}", "))")
    value = parse_expr(text, {"j": sympy.I}, transformations=TRANSFORMATIONS)
    real, imaginary = sympy.nsimplify(sympy.expand_complex(value)).as_real_imag()
    return Fraction(int(real.p), int(real.q)), Fraction(int(imaginary.p), int(imaginary.q))


@pytest.mark.parametrize("difficulty", [0, 2, 5, 8])
def test_the_value_is_that_of_the_expression(difficulty):
    task = ComplexArithmeticTask(ComplexArithmeticConfig.at(difficulty))
    for seed in range(6):
        problem = task.generate(stream("complex", difficulty, seed))
        assert parts(problem.expression) == (problem.real, problem.imaginary)


def test_whole_small_world():
    task = ComplexArithmeticTask(ComplexArithmeticConfig(n_numbers=2, max_part=2, n_operators=2))
    for seed in range(10):
        problem = task.generate(stream("complex", seed))
        right = parts(problem.expression)
        for a, b in product(range(-16, 17, 2), range(-9, 10)):
            text = f"{a} + {b}i".replace("+ -", "- ")
            assert (task.verify(problem, text).score == 1.0) == ((a, b) == right)


def test_equal_forms_pass_and_the_copied_question_does_not():
    task = ComplexArithmeticTask(ComplexArithmeticConfig())
    problem = ComplexArithmeticProblem(r"\frac{4 + 3i}{1 + 2i}", Fraction(2), Fraction(-1))
    for form in ("2 - i", "-i + 2", r"2 - 1i", "z = 2 - i", r"\frac{4 - 2i}{2}", "2.0 - 1.0i"):
        assert task.verify(problem, form).score == 1.0
    for form in (problem.expression, "2 + i", "2", "-i", "(4+3i)(1-2i)/5", "10/5 - 5i/5 + 0", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"n_numbers": 1}, {"max_part": 0}, {"max_power": 0}, {"n_operators": 5}]
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        ComplexArithmeticConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = ComplexArithmeticTask(ComplexArithmeticConfig())
    text = r"\left(1 + 2i\right) \times \left(3 - i\right)"
    problem = ComplexArithmeticProblem(text, Fraction(5), Fraction(5))
    assert task.effort(problem) == 4 + 1  # four products of the parts, and joining them
    assert task.baseline(stream("baseline"), problem) == "3 + 5i"
