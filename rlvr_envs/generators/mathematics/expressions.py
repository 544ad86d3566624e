"""Random arithmetic expressions, written with few parentheses under the usual precedence.

An expression is its text, how tightly that text binds, and its exact value. The caller chooses
the type of the value: rationals here, Gaussian rationals elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from rlvr_envs.core.seeding import Rng, integers
from rlvr_envs.generators.mathematics.latex import in_parentheses

SUM, PRODUCT, ATOM = 1, 2, 3  # how tightly a text binds
SIGNS = {"+": " + ", "-": " - ", "*": " \\times ", "/": " \\div "}

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Expression(Generic[V]):
    """A text, how tightly it binds, and its value."""

    text: str
    value: V
    rank: int = ATOM


def join(operator: str, left: Expression[V], right: Expression[V], value: V) -> Expression[V]:
    """Return ``left operator right``, which has the given value, with the parentheses it needs.

    The operators are ``+``, ``-``, ``*``, ``/`` and ``|``, which is a division written as one
    large fraction. A right operand that binds no tighter than the operator keeps its parentheses
    even where they are redundant, which makes the structure of the expression visible.
    """
    if operator == "|":
        return Expression(f"\\frac{{{left.text}}}{{{right.text}}}", value)
    rank = SUM if operator in "+-" else PRODUCT
    first = left.text if left.rank >= rank else in_parentheses(left.text)
    second = right.text if right.rank > rank else in_parentheses(right.text)
    return Expression(first + SIGNS[operator] + second, value, rank)


def apply(operator: str, left: Fraction, right: Fraction) -> Fraction | None:
    """Return the exact result, or None for a division by zero."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left / right if right else None


def bits(value: Fraction) -> int:
    """Return the length of the longer of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def grow(
    rng: Rng, atoms: Sequence[Expression[Fraction]], operators: str, max_bits: int
) -> Expression[Fraction]:
    """Join the atoms in their order into one random tree.

    An operator whose result is 0, undefined or longer than ``max_bits`` is replaced by the next;
    if none fits, the one with the shortest defined result is used. ``operators`` contains ``+``.
    """
    pieces = list(atoms)
    draws = iter(integers(rng, 0, 2**40, 2 * len(pieces)))
    while len(pieces) > 1:
        at = next(draws) % (len(pieces) - 1)
        turn = next(draws) % len(operators)
        order = operators[turn:] + operators[:turn]
        pieces[at : at + 2] = [_join_short(order, pieces[at], pieces[at + 1], max_bits)]
    return pieces[0]


def _join_short(
    order: str, left: Expression[Fraction], right: Expression[Fraction], max_bits: int
) -> Expression[Fraction]:
    best: tuple[int, str, Fraction] | None = None
    for operator in order:
        value = apply(operator, left.value, right.value)
        if value is None:
            continue
        size = bits(value)
        if value and size <= max_bits:
            return join(operator, left, right, value)
        if best is None or size < best[0]:
            best = (size, operator, value)
    if best is None:
        return join("+", left, right, left.value + right.value)
    return join(best[1], left, right, best[2])
