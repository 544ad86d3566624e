from fractions import Fraction

import pytest
import sympy
from sympy.parsing.sympy_parser import (
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.linear_equation import (
    LinearEquationConfig,
    LinearEquationProblem,
    LinearEquationTask,
)

TRANSFORMATIONS = (*standard_transformations, implicit_multiplication)


def side(latex: str) -> sympy.Expr:
    text = latex.replace(r"\left", "").replace(r"\right", "").replace("}{", ")/(")
    text = text.replace(r"\frac{", "((").replace("}", "))")
    return parse_expr(text, transformations=TRANSFORMATIONS)


@pytest.mark.parametrize("difficulty", [0, 1, 3, 6, 10])
def test_the_solution_is_the_only_one(difficulty):
    task = LinearEquationTask(LinearEquationConfig.at(difficulty))
    for seed in range(5):
        problem = task.generate(stream("equation", difficulty, seed))
        found = sympy.solve(sympy.Eq(side(problem.left), side(problem.right)))
        assert [Fraction(int(x.p), int(x.q)) for x in found] == [problem.solution]


def test_whole_small_world():
    task = LinearEquationTask(LinearEquationConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("equation", seed))
        left, right = side(problem.left), side(problem.right)
        for guess in range(-15, 16):
            solves = left.subs("x", guess) == right.subs("x", guess)
            assert (task.verify(problem, str(guess)).score == 1.0) == solves


def test_equal_forms_pass_and_near_misses_do_not():
    task = LinearEquationTask(LinearEquationConfig())
    problem = LinearEquationProblem("4x + 1", "-6", Fraction(-7, 4))
    for form in ("-7/4", r"-\frac{7}{4}", "-1.75", "x = -7/4", r"-\frac{14}{8}"):
        assert task.verify(problem, form).score == 1.0
    for form in ("7/4", "-4/7", "-1.7", "x", "4x + 1 = -6", "-7/4, 7/4", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"depth": -1}, {"max_coefficient": 1}, {"max_solution": 1}, {"max_denominator": 0}]
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        LinearEquationConfig(**knobs)
