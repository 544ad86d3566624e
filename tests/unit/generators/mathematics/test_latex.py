from fractions import Fraction

import pytest

from rlvr_envs.generators.mathematics import latex


@pytest.mark.parametrize(
    ("value", "text"),
    [(7, "7"), (0, "0"), (Fraction(-3, 4), r"-\frac{3}{4}"), (Fraction(8, 4), "2")],
)
def test_numbers(value, text):
    assert latex.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-12, "-12"),
        (Fraction(1, 8), "0.125"),
        (Fraction(-1, 20), "-0.05"),
        (Fraction(1203, 100), "12.03"),
        (Fraction(300, 25), "12"),
    ],
)
def test_decimals(value, text):
    assert latex.decimal(value) == text


def test_an_endless_decimal_is_refused():
    with pytest.raises(ValueError, match="finite"):
        latex.decimal(Fraction(1, 6))


def test_powers():
    assert [latex.power("x", n) for n in (1, 2, 10, -1)] == ["x", "x^2", "x^{10}", "x^{-1}"]


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ((), "0"),
        ((0, 0), "0"),
        ((-1, 1), "x - 1"),
        ((5, -1, 0, Fraction(2, 3)), r"\frac{2}{3}x^3 - x + 5"),
        ((1, 0, -1), "-x^2 + 1"),
    ],
)
def test_polynomials(coefficients, text):
    assert latex.polynomial(coefficients) == text


def test_linear_forms():
    assert latex.linear((2, -1, 0), "xyz", -7) == "2x - y - 7"


@pytest.mark.parametrize(
    ("text", "more", "whole"),
    [
        ("x", "-2y + 1", "x - 2y + 1"),
        ("x", "3", "x + 3"),
        ("x", "0", "x"),
        ("", "-3", "-3"),
        ("", "0", "0"),
        ("0", "y", "y"),
    ],
)
def test_sums_are_continued(text, more, whole):
    assert latex.appended(text, more) == whole


def test_matrices_points_and_sets():
    rows = ((1, Fraction(1, 2)), (-3, 4))
    assert latex.matrix(rows) == r"\begin{pmatrix} 1 & \frac{1}{2} \\ -3 & 4 \end{pmatrix}"
    assert latex.point((1, -2)) == r"\left(1, -2\right)"
    assert latex.number_set((3, -1, 3)) == r"\{-1, 3\}"
    assert latex.number_set(()) == r"\emptyset"


def test_intervals():
    parts = [latex.interval(None, 2, high_closed=True), latex.interval(5, None, high_closed=True)]
    assert latex.union(parts) == r"(-\infty, 2] \cup (5, \infty)"
    assert latex.interval(2, 2, low_closed=True, high_closed=True) == r"\{2\}"
    assert latex.union([]) == r"\emptyset"
