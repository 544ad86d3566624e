"""Truncated power series with exact coefficients, and functions without their first terms."""

from collections.abc import Callable
from fractions import Fraction

from rlvr_envs.core.seeding import Rng, integer, nonzero, pick
from rlvr_envs.generators.mathematics.calculus import (
    ONE,
    Node,
    X,
    add,
    call,
    mul,
    neg,
    num,
    polynomial,
    sqrt,
)

Series = list[Fraction]
_SPARE = 4  # orders beyond the wanted one in which a coefficient other than 0 is looked for


def times(left: Series, right: Series) -> Series:
    """Return the product of two series of equal length, cut to that length."""
    product = [Fraction(0)] * len(left)
    for i, a in enumerate(left):
        if a:
            for j in range(len(left) - i):
                product[i + j] += a * right[j]
    return product


def compose(outer: Series, inner: Series) -> Series:
    """Return ``outer(inner(x))``; the inner series starts at power 1."""
    result = [Fraction(0)] * len(inner)
    for coefficient in reversed(outer):
        result = times(result, inner)
        result[0] += coefficient
    return result


def stretch(series: Series, rate: int) -> Series:
    """Return the series of ``f(rate x)``."""
    return [value * rate**i for i, value in enumerate(series)]


def _exp(size: int) -> Series:
    terms = [Fraction(1)]
    for i in range(1, size):
        terms.append(terms[-1] / i)
    return terms


def _sin(size: int) -> Series:
    return [value * (0, 1, 0, -1)[i % 4] for i, value in enumerate(_exp(size))]


def _cos(size: int) -> Series:
    return [value * (1, 0, -1, 0)[i % 4] for i, value in enumerate(_exp(size))]


def _log(size: int) -> Series:
    return [Fraction(0), *(Fraction((-1) ** (i + 1), i) for i in range(1, size))]


def _arctan(size: int) -> Series:
    return [Fraction((0, 1, 0, -1)[i % 4], max(i, 1)) for i in range(size)]


def _sqrt(size: int) -> Series:
    terms = [Fraction(1)]
    for i in range(1, size):
        terms.append(terms[-1] * (Fraction(3, 2) - i) / i)
    return terms


# The series of each function, and how the function is written; all are smooth at 0.
_FUNCTIONS: dict[str, tuple[Callable[[int], Series], Callable[[Node], Node]]] = {
    "exp": (_exp, lambda arg: call("exp", arg)),
    "sin": (_sin, lambda arg: call("sin", arg)),
    "cos": (_cos, lambda arg: call("cos", arg)),
    "ln": (_log, lambda arg: call("ln", add(ONE, arg))),
    "arctan": (_arctan, lambda arg: call("arctan", arg)),
    "sqrt": (_sqrt, lambda arg: sqrt(add(ONE, arg))),
}
_NAMES = tuple(_FUNCTIONS)


def _function(rng: Rng, size: int, limit: int, *, nested: bool) -> tuple[Node, Series]:
    series, write = _FUNCTIONS[pick(rng, _NAMES)]
    rate = nonzero(rng, min(limit, 5))
    arg: Node = mul(num(rate), X)
    if not nested:
        return write(arg), stretch(series(size), rate)
    inside, write_inside = _FUNCTIONS[pick(rng, ("sin", "arctan", "ln"))]
    inner = stretch(inside(size), rate)
    return write(write_inside(arg)), compose(series(size), inner)


def remainder(
    rng: Rng, n_functions: int, order: int, max_coefficient: int
) -> tuple[Node, int, Fraction]:
    """Return a function without the first terms of its series, and what is then its first.

    The function is a sum of products of up to two functions, of which some are nested. The
    first term left has the power and the coefficient returned; the power is at least ``order``
    unless the coefficient is 0, which needs an unlucky draw of coefficients.
    """
    size = order + _SPARE
    node: Node = num(0)
    series = [Fraction(0)] * size
    left = n_functions
    while left > 0:
        scale = nonzero(rng, min(max_coefficient, 5))
        part, terms = _function(rng, size, max_coefficient, nested=n_functions > 1 and left == 1)
        if left > 1 and integer(rng, 0, 1):
            other, more = _function(rng, size, max_coefficient, nested=False)
            part, terms = mul(part, other), times(terms, more)
            left -= 1
        node = add(node, mul(num(scale), part))
        series = [a + scale * b for a, b in zip(series, terms, strict=True)]
        left -= 1
    first = next((i for i in range(order, size) if series[i]), order)
    return add(node, neg(polynomial(series[:first]))), first, series[first]
