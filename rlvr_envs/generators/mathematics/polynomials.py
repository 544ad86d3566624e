"""Dense polynomials in one variable: ``coefficients[k]`` belongs to the k-th power."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

from rlvr_envs.core.seeding import Rng, integers, nonzero

Poly: TypeAlias = tuple[int, ...]
R = TypeVar("R", int, Fraction)


def trim(coefficients: Sequence[R]) -> tuple[R, ...]:
    """Return the coefficients without the zeros of the highest powers."""
    end = len(coefficients)
    while end and not coefficients[end - 1]:
        end -= 1
    return tuple(coefficients[:end])


def add(left: Sequence[R], right: Sequence[R]) -> tuple[R, ...]:
    """Return the sum."""
    if len(left) < len(right):
        left, right = right, left
    total = list(left)
    for k, value in enumerate(right):
        total[k] += value
    return trim(total)


def multiply(left: Sequence[R], right: Sequence[R]) -> tuple[R, ...]:
    """Return the product."""
    if not left or not right:
        return ()
    total = [left[0] * right[0] * 0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        if a:
            for k, b in enumerate(right):
                total[i + k] += a * b
    return trim(total)


def compose(outer: Sequence[R], inner: Sequence[R]) -> tuple[R, ...]:
    """Return ``outer(inner(x))``."""
    total: tuple[R, ...] = ()
    for value in reversed(outer):
        total = add(multiply(total, inner), (value,))
    return total


def evaluate(coefficients: Sequence[R], x: R) -> R:
    """Return the value at a point."""
    total = x * 0
    for value in reversed(coefficients):
        total = total * x + value
    return total


def content(coefficients: Poly) -> int:
    """Return the greatest common divisor of the coefficients."""
    return math.gcd(*coefficients)


def random_polynomial(rng: Rng, degree: int, limit: int) -> Poly:
    """Return a polynomial of exactly this degree with coefficients in [-limit, limit]."""
    return (*integers(rng, -limit, limit, degree), nonzero(rng, limit))
