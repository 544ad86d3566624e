"""Costs of calculations by hand, against numbers counted on paper."""

from fractions import Fraction

import pytest

from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.evaluation import left_to_right, work


def test_digits_are_those_that_are_written():
    for value in (0, 7, 9, 10, 99, 100, 999, 1000, 10**14 - 1):
        assert effort.digits(value) == effort.digits(-value) == len(str(value))
    assert effort.digits(Fraction(3, 70)) == 3
    assert effort.digits(10**5000) == 5001


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (effort.adding(25, 100), 3),
        (effort.multiplying(25, 100), 6),
        (effort.dividing(100, 25), 2),  # one digit of the quotient, times a divisor of two
        (effort.euclid(48, 18), 2 + 2 + 1),
        (effort.adding(Fraction(1, 2), Fraction(1, 4)), 3 + 1 + 3),
        (effort.multiplying(Fraction(1, 3), Fraction(3, 4)), 2 + 3),
        (effort.raising(2, 3), 2),
        (effort.raising(10, 3), 4 + 6),
        (effort.totalling((5, 6, 7)), 1 + 2),
        (effort.totalling(()), 0),
        (effort.evaluating((1, 2, 3), 4), (1 + 2) + (2 + 2)),
        (effort.symbols(r"3x^{2} + \sin(x)"), 7),
    ],
)
def test_costs_of_small_calculations(cost, expected):
    assert cost == expected


@pytest.mark.parametrize(
    ("text", "hurried"),
    [
        (r"1 + 2 \times 3", (9, 0)),
        (r"\frac{1}{2} + \frac{3}{4}", (Fraction(5, 4), 0)),
        (r"\left(1 + 2i\right)^2 \times \left(3 - i\right)", (3, 5)),
        (r"\frac{1 + 2i}{2}", (Fraction(1, 2), 1)),
        (r"1 \div 0 + 2", (3, 0)),
    ],
)
def test_a_hurried_reader_goes_from_left_to_right(text, hurried):
    assert left_to_right(text) == hurried


def test_work_counts_every_operation():
    assert work(r"2 \times 3") == 1
    assert work(r"\left(2 + 3\right) \times 4 - 20") == 1 + 1 + 2
    assert work("3 - 2i") == 0  # there is nothing to work out
