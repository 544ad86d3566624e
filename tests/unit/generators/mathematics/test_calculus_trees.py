from fractions import Fraction

import mpmath
import pytest
from latex_reader import latex_value

from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.envs.math import limit
from rlvr_envs.generators.mathematics.calculus import (
    PI,
    X,
    add,
    call,
    differentiate,
    div,
    latex,
    mul,
    neg,
    num,
    polynomial,
    power,
    sqrt,
    substitute,
)

LINE = polynomial([1, 2])


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (neg(LINE), "-2x - 1"),
        (add(X, neg(LINE)), "-x - 1"),
        (mul(num(3), LINE, X), "3x (2x + 1)"),
        (mul(num(-1), LINE), "-(2x + 1)"),
        (div(LINE, num(2)), r"\frac{1}{2} (2x + 1)"),
        (div(num(-3), mul(num(2), LINE)), r"-\frac{3}{2(2x + 1)}"),
        (mul(num(2), sqrt(num(5)), num(3)), r"6\sqrt{5}"),
        (mul(num(2), power(num(5), Fraction(3, 2))), r"2 \cdot 5^{\frac{3}{2}}"),
        (mul(call("sin", X), call("exp", X), LINE), r"(2x + 1) e^{x} \sin(x)"),
        (power(call("cos", LINE), 2), r"\cos^2(2x + 1)"),
        (power(call("cos", LINE), 12), r"\cos^{12}(2x + 1)"),
        (call("exp", num(1)), "e"),
    ],
)
def test_latex_is_short_and_keeps_precedence(node, text):
    assert latex(node) == text


def test_numbers_and_like_terms_fold():
    assert add(X, X, neg(mul(num(2), X))) == num(0)
    assert mul(sqrt(LINE), sqrt(LINE)) == LINE
    assert power(num(Fraction(4, 9)), Fraction(-1, 2)) == num(Fraction(3, 2))
    assert call("ln", call("exp", LINE)) == LINE
    assert substitute(div(X, LINE), X, num(3)) == num(Fraction(3, 7))
    assert differentiate(power(X, 5)) == mul(num(5), power(X, 4))


def test_the_root_of_a_square_stays():
    assert sqrt(power(X, 2)) != X


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_values_on_the_circle(name):
    for turns in {Fraction(a, b) for a in range(-26, 27) for b in (1, 2, 3, 4, 5, 6)}:
        found = latex_value(latex(call(name, mul(num(turns), PI))))
        exact = getattr(mpmath, name)(mpmath.mpf(turns.numerator) / turns.denominator * mpmath.pi)
        assert mpmath.almosteq(found, exact, 1e-12, 1e-12)


@pytest.mark.parametrize("n_functions", [1, 2, 4])
def test_a_remainder_starts_at_its_order(n_functions):
    for seed in range(20):
        rng = stream("remainder", n_functions, seed)
        wanted = integer(rng, 1, 5)
        node, order, coefficient = limit.remainder(rng, n_functions, wanted, 9)
        assert order >= wanted
        with mpmath.workdps(200):
            near = mpmath.mpf(10) ** -15
            found = latex_value(latex(node), x=near) / near**order
        exact = mpmath.mpf(coefficient.numerator) / coefficient.denominator
        assert mpmath.almosteq(found, exact, 1e-9, 1e-9)
