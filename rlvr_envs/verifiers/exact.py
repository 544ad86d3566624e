"""Exact arithmetic on rationals, refused before it could become expensive.

Every operation first bounds the size of its result and raises `TooLarge` rather than computing
it, so a tower of powers or a vast factorial costs nothing.
"""

import math
from fractions import Fraction

MAX_BITS = 40_000  # about 12,000 decimal digits
MAX_FACTORIAL = 3_000


class TooLarge(ArithmeticError):
    """The result would not fit the size limit, so it was not computed."""


def bits(value: Fraction) -> int:
    """Return the size of a rational: the longer of its numerator and denominator, in bits."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def add(left: Fraction, right: Fraction) -> Fraction:
    """Return the sum.

    Raises:
        TooLarge: the sum might not fit.
    """
    if bits(left) + bits(right) > 2 * MAX_BITS:
        raise TooLarge("the sum is too large")
    return left + right


def multiply(left: Fraction, right: Fraction) -> Fraction:
    """Return the product.

    Raises:
        TooLarge: the product might not fit.
    """
    if bits(left) + bits(right) > 2 * MAX_BITS:
        raise TooLarge("the product is too large")
    return left * right


def power(base: Fraction, exponent: int) -> Fraction:
    """Return an integer power.

    Raises:
        TooLarge: the power might not fit.
        ZeroDivisionError: a negative power of zero.
    """
    if base == 0 and exponent < 0:
        raise ZeroDivisionError("a negative power of zero")
    if base in (0, 1):
        return base if exponent else Fraction(1)
    if base == -1:
        return Fraction(-1 if exponent % 2 else 1)
    if abs(exponent) > MAX_BITS or bits(base) * abs(exponent) > MAX_BITS:
        raise TooLarge("the power is too large")
    return base**exponent


def root(base: Fraction, degree: int) -> Fraction | None:
    """Return the real root when it is rational, else None."""
    negative = base < 0
    if degree not in (2, 3, 4, 5, 6) or (negative and degree % 2 == 0) or bits(base) > 2_000:
        return None
    top = _integer_root(abs(base.numerator), degree)
    bottom = _integer_root(base.denominator, degree)
    if top is None or bottom is None:
        return None
    return Fraction(-top if negative else top, bottom)


def _integer_root(value: int, degree: int) -> int | None:
    if degree == 2:
        found = math.isqrt(value)
        return found if found * found == value else None
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**degree < value:
            low = middle + 1
        else:
            high = middle
    return low if low**degree == value else None


def factorial(value: Fraction) -> Fraction:
    """Return the factorial of a natural number.

    Raises:
        TooLarge: the number is above `MAX_FACTORIAL`.
        ValueError: it is not a natural number.
    """
    if value.denominator != 1 or value < 0:
        raise ValueError("a factorial needs a natural number")
    if value > MAX_FACTORIAL:
        raise TooLarge("the factorial is too large")
    return Fraction(math.factorial(value.numerator))


def binomial(n: Fraction, k: Fraction) -> Fraction:
    """Return a binomial coefficient of natural numbers.

    Raises:
        TooLarge: it might not fit.
        ValueError: an argument is not a natural number.
    """
    if n.denominator != 1 or k.denominator != 1 or n < 0 or k < 0:
        raise ValueError("a binomial coefficient needs natural numbers")
    smaller = min(k.numerator, n.numerator - k.numerator)
    if smaller > MAX_BITS or smaller * n.numerator.bit_length() > MAX_BITS:
        raise TooLarge("the binomial coefficient is too large")
    return Fraction(math.comb(n.numerator, k.numerator))
