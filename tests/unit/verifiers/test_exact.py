"""Exact arithmetic refuses before it computes."""

from fractions import Fraction

import pytest

from rlvr_envs.verifiers import exact
from rlvr_envs.verifiers.exact import TooLarge

HUGE = Fraction(2) ** exact.MAX_BITS


def test_powers_fold_until_they_are_too_large() -> None:
    assert exact.power(Fraction(2, 3), -2) == Fraction(9, 4)
    assert exact.power(Fraction(-1), 10**100) == 1
    assert exact.power(Fraction(-1), 10**100 + 1) == -1
    assert exact.power(Fraction(0), 5) == 0
    assert exact.power(Fraction(0), 0) == 1
    assert exact.power(Fraction(1), 10**100) == 1
    for base, exponent in ((9, 9**9), (2, exact.MAX_BITS + 1), (3, -(10**9))):
        with pytest.raises(TooLarge):
            exact.power(Fraction(base), exponent)
    with pytest.raises(ZeroDivisionError):
        exact.power(Fraction(0), -1)


def test_sums_and_products_are_bounded() -> None:
    assert exact.add(Fraction(1, 2), Fraction(1, 3)) == Fraction(5, 6)
    assert exact.multiply(Fraction(1, 2), Fraction(2, 3)) == Fraction(1, 3)
    with pytest.raises(TooLarge):
        exact.multiply(HUGE, HUGE)
    with pytest.raises(TooLarge):
        exact.add(HUGE, HUGE)


@pytest.mark.parametrize(
    ("value", "degree", "root"),
    [
        (Fraction(9, 4), 2, Fraction(3, 2)),
        (Fraction(-27), 3, Fraction(-3)),
        (Fraction(1024), 5, Fraction(4)),
        (Fraction(2), 2, None),
        (Fraction(-4), 2, None),
        (Fraction(128), 7, None),
        (Fraction(0), 2, Fraction(0)),
    ],
)
def test_rational_roots(value: Fraction, degree: int, root: Fraction | None) -> None:
    assert exact.root(value, degree) == root


def test_factorials_and_binomials() -> None:
    assert exact.factorial(Fraction(5)) == 120
    assert exact.binomial(Fraction(10), Fraction(3)) == 120
    assert exact.binomial(Fraction(3), Fraction(5)) == 0
    for value in (Fraction(1, 2), Fraction(-1)):
        with pytest.raises(ValueError, match="natural"):
            exact.factorial(value)
        with pytest.raises(ValueError, match="natural"):
            exact.binomial(value, Fraction(1))
    with pytest.raises(TooLarge):
        exact.factorial(Fraction(exact.MAX_FACTORIAL + 1))
    with pytest.raises(TooLarge):
        exact.binomial(Fraction(10**9), Fraction(5 * 10**8))
