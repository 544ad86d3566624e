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
        equation = task.prompt(problem).split("$$")[1]
        found = sympy.solve(sympy.Eq(*map(side, equation.split(" = "))))
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


def test_products_have_the_same_squares_on_both_sides():
    task = LinearEquationTask(LinearEquationConfig(n_products=2))
    for seed in range(20):
        problem = task.generate(stream("products", seed))
        left, right = map(side, task.prompt(problem).split("$$")[1].split(" = "))
        assert len(problem.products) == 4
        assert sympy.degree(sympy.expand(left - right), sympy.Symbol("x")) == 1
        assert any("^2" in step for step in task.explain(problem))


def test_effort_and_baseline_of_a_small_equation():
    task = LinearEquationTask(LinearEquationConfig())
    problem = LinearEquationProblem("4x + 1", "-6", Fraction(-7, 4))
    assert task.explain(problem)[-1] == "Divide both sides by 4: x = (-7) / 4 = -7/4"
    # Subtract 1 on both sides: 4x = -7 has three digits, the division five and a quotient.
    assert task.effort(problem) == 3 + 5 + 1
    assert task.baseline(stream("b"), problem) == "6/4"
