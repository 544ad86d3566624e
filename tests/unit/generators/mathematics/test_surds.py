"""Surds: arithmetic against floats, square-free radicands, both ways of writing them."""

import itertools
import math
from fractions import Fraction

import pytest

from rlvr_envs.generators.mathematics.surds import Surd, as_surd, root

VALUES = [root(8), root(3) + 2, root(Fraction(2, 3)) - root(5), as_surd(Fraction(-1, 2)), Surd(())]


@pytest.mark.parametrize("value", [*range(200), 10**6 + 3, 2 * 997**2, 997 * 991**2, 12 * 983**2])
def test_root_is_square_free(value):
    (radicand, coefficient), *rest = root(value).terms or ((1, Fraction(0)),)
    assert not rest
    assert coefficient**2 * radicand == value
    assert all(radicand % (k * k) for k in range(2, 1000))


def test_root_of_a_fraction():
    assert root(Fraction(9, 4)) == as_surd(Fraction(3, 2))
    assert root(Fraction(1, 2)).terms == ((2, Fraction(1, 2)),)
    with pytest.raises(ValueError, match="-1"):
        root(-1)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(VALUES, repeat=2)))
def test_arithmetic_agrees_with_floats(a, b):
    assert math.isclose(float(a + b), float(a) + float(b), abs_tol=1e-12)
    assert math.isclose(float(a - b), float(a) - float(b), abs_tol=1e-12)
    assert math.isclose(float(a * b), float(a) * float(b), abs_tol=1e-12)
    assert math.isclose(float(a / 7), float(a) / 7, abs_tol=1e-12)


def test_equal_values_are_equal():
    assert root(8) == 2 * root(2)
    assert root(2) * root(3) == root(6)
    assert root(5) - root(5) == Surd(())
    assert (1 + root(2)) * (root(2) - 1) == as_surd(1)


@pytest.mark.parametrize(
    ("value", "latex", "plain"),
    [
        (root(12), "2\\sqrt{3}", "2*sqrt(3)"),
        (root(Fraction(3, 4)) - 2, "-2 + \\frac{\\sqrt{3}}{2}", "-2 + 1/2*sqrt(3)"),
        (root(7) * -3 + Fraction(1, 2), "\\frac{1}{2} - 3\\sqrt{7}", "1/2 - 3*sqrt(7)"),
        (-root(5), "-\\sqrt{5}", "-sqrt(5)"),
        (Surd(()), "0", "0"),
    ],
)
def test_text(value, latex, plain):
    assert (value.latex(), str(value)) == (latex, plain)
