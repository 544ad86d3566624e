from itertools import product

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.polynomial_division import (
    PolynomialDivisionConfig,
    PolynomialDivisionProblem,
    PolynomialDivisionTask,
)

X = sympy.Symbol("x")


@pytest.mark.parametrize("difficulty", [0, 2, 5, 10])
def test_quotient_and_remainder_are_those_of_the_division(difficulty):
    task = PolynomialDivisionTask(PolynomialDivisionConfig.at(difficulty))
    for seed in range(8):
        problem = task.generate(stream("division", difficulty, seed))
        dividend = sympy.Poly(problem.dividend[::-1], X)
        found = sympy.div(dividend, sympy.Poly(problem.divisor[::-1], X), domain="QQ")
        for poly, coefficients in zip(found, (problem.quotient, problem.remainder), strict=True):
            assert poly == sympy.Poly(coefficients[::-1] or (0,), X, domain="QQ")


def test_whole_small_world():
    task = PolynomialDivisionTask(PolynomialDivisionConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("division", seed))
        (low, high), total = problem.divisor, sympy.Poly(problem.dividend[::-1], X).all_coeffs()
        for a, b in product(range(-5, 6), repeat=2):
            left = (a * high, a * low + b * high)  # what the quotient ax + b leaves open
            rest = total[2] - b * low
            assert len(total) == 3
            text = f"({a}x + {b}, {rest})"
            assert (task.verify(problem, text).score == 1.0) == (left == tuple(total[:2]))
            assert task.verify(problem, f"({a}x + {b}, {rest + 1})").score == 0.0


def test_equal_forms_pass_and_near_misses_do_not():
    task = PolynomialDivisionTask(PolynomialDivisionConfig())
    problem = PolynomialDivisionProblem((3, 2, 1, 1), (1, 1), (2, 0, 1), (1,))
    for form in (
        "(x^2 + 2, 1)",
        r"\left(2 + x^2, 1\right)",
        "(q(x), r(x)) = (x^2+2, 1)",
        "q(x) = x^2 + 2, r(x) = 1",
        "(x*x+2, 3-2)",
    ):
        assert task.verify(problem, form).score == 1.0, form
    for form in (
        "(1, x^2 + 2)",
        "(x^2 + 2, 2)",
        "(x^2 + 1, 1)",
        "x^2 + 2",
        "(x^2+2, 1, 0)",
        "((x^3+x^2+2x+2)/(x+1), 1)",
        "(x^{999999999}, 1)",
        "",
    ):
        assert task.verify(problem, form).score == 0.0, form


@pytest.mark.parametrize(
    "knobs",
    [{"quotient_degree": 0}, {"divisor_degree": 0}, {"max_coefficient": 0}, {"max_leading": 0}],
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        PolynomialDivisionConfig(**knobs)


def test_effort_and_baseline_of_a_small_division():
    task = PolynomialDivisionTask(PolynomialDivisionConfig())
    problem = PolynomialDivisionProblem((-1, 0, 1), (1, 1), (-1, 1), ())
    steps = task.explain(problem)
    assert task.effort(problem) == sum(c.isdigit() for c in "".join(steps))
    assert task.baseline(stream("b"), problem) == r"\left(x, 0\right)"
