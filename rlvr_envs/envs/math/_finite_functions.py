"""Functions of a finite set 0..n-1 to itself: their values, compositions, and values worked out."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.generators.mathematics.steps import value_parts


@dataclass(frozen=True, slots=True)
class FiniteFunction:
    """A function on 0..n-1: the table of its values, or the coefficients of a polynomial mod n."""

    table: tuple[int, ...] = ()
    coefficients: tuple[int, ...] = ()

    def values(self, n: int) -> tuple[int, ...]:
        """Return the values at 0..n-1."""
        if self.table:
            return self.table
        return tuple(sum(c * x**k for k, c in enumerate(self.coefficients)) % n for x in range(n))


def composed(functions: Sequence[FiniteFunction], n: int) -> list[int]:
    """Return the values of the composition, whose last function is applied first."""
    result = list(range(n))
    for function in reversed(functions):
        values = function.values(n)
        result = [values[x] for x in result]
    return result


def value_told(function: FiniteFunction, x: int, n: int) -> str:
    """Return the value at a point, worked out where the function is a polynomial."""
    if not function.coefficients:
        return f"{function.table[x]}."
    work, _ = value_parts(function.coefficients, x)
    return f"({work}) mod {n} = {function.values(n)[x]}."
