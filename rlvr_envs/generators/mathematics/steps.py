"""Lines of worked solutions that several tasks share: divisions, primes, elimination, polynomials.

Everything is plain text: ``*``, ``/`` and ``^``, fractions as ``3/4``. A chain ``a = b = c`` of
numbers is true as it stands, and tests evaluate it.
"""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from rlvr_envs.generators.mathematics import latex
from rlvr_envs.generators.mathematics.latex import Rational
from rlvr_envs.generators.mathematics.polynomials import add, multiply
from rlvr_envs.generators.mathematics.primes import Factors

_FRACTION = re.compile(r"\\frac\{([0-9]+)\}\{([0-9]+)\}")
_EXPONENT = re.compile(r"\^\{([0-9]+)\}")

_TERM = re.compile(r"([+-]?) *([0-9]*) *(?:([a-z])(?:\^(?:\{([0-9]+)\}|([0-9])))?)?")

RationalPoly = tuple[Fraction, ...]


def ascii_math(text: str) -> str:
    """Return LaTeX of numbers and sums as plain text, such as ``(3/4)x^12 - 1``."""
    return _EXPONENT.sub(r"^\1", _FRACTION.sub(r"(\1/\2)", text))


def operand(value: Rational) -> str:
    """Return a number as a factor or divisor: in parentheses unless it is a natural one."""
    text = str(value)
    return text if text.isdigit() else f"({text})"


def total(terms: Sequence[Rational]) -> str:
    """Return a sum such as ``3 + (-4) + 5``, of no terms ``0``."""
    if not terms:
        return "0"
    rest = "".join(f" + ({term})" if term < 0 else f" + {term}" for term in terms[1:])
    return f"{terms[0]}{rest}"


def times(factors: Sequence[Rational]) -> str:
    """Return a product such as ``3 * (-4) * 5``, of no factors ``1``."""
    return " * ".join(map(operand, factors)) or "1"


def worked(work: str, value: object) -> str:
    """Return ``work = value``, or just the value where there was nothing to work out."""
    return str(value) if work == str(value) else f"{work} = {value}"


def polynomial(coefficients: Sequence[Rational], variable: str = "x") -> str:
    """Return a polynomial as plain text, highest power first."""
    return ascii_math(latex.polynomial(coefficients, variable))


def read_polynomial(text: str) -> tuple[int, ...]:
    """Return the coefficients of a written polynomial with integer ones, constant first.

    Raises:
        ValueError: the text is something else.
    """
    found: dict[int, int] = {}
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or match.end() == at:
            raise ValueError(f"not a polynomial with integer coefficients: {text!r:.80}")
        sign, size, variable, long, short = match.groups()
        power = int(long or short or 1) if variable else 0
        found[power] = found.get(power, 0) + (-1 if sign == "-" else 1) * int(size or 1)
        at = match.end() + (text[match.end() : match.end() + 1] == " ")
    return tuple(found.get(power, 0) for power in range(max(found) + 1))


class Division(NamedTuple):
    """``dividend = quotient * divisor + remainder``."""

    dividend: int
    quotient: int
    divisor: int
    remainder: int

    def __str__(self) -> str:
        return f"{self.dividend} = {self.quotient} * {self.divisor} + {self.remainder}"


def euclid(first: int, second: int) -> list[Division]:
    """Return the divisions of Euclid's algorithm for two natural numbers, the larger one first."""
    high, low = max(first, second), min(first, second)
    found = []
    while low:
        found.append(Division(high, high // low, low, high % low))
        high, low = low, high % low
    return found


def factoring(n: int, factors: Factors) -> list[str]:
    """Return the trial divisions that split a number into primes, ascending, and the product."""
    steps = []
    primes = [prime for prime, exponent in factors for _ in range(exponent)]
    rest = n
    for prime in primes[:-1]:
        steps.append(
            f"The smallest prime that divides {rest} is {prime}: {rest} = {prime} * "
            f"{rest // prime}."
        )
        rest //= prime
    steps.append(f"No prime up to the square root of {rest} divides it, so {rest} is prime.")
    return steps


def prime_powers(factors: Factors) -> str:
    """Return a factorisation such as ``2^3 * 5``."""
    return " * ".join(str(p) if e == 1 else f"{p}^{e}" for p, e in factors)


class Echelon(NamedTuple):
    """What elimination leaves: the lines, the rows, the pivots' columns, and the swaps made."""

    steps: list[str]
    rows: list[list[Fraction]]
    pivots: list[int]
    swaps: int


def eliminate(
    rows: Sequence[Sequence[Rational]],
    show: Callable[[Sequence[Fraction]], str],
    *,
    noun: str = "row",
    width: int | None = None,
    upwards: bool = False,
) -> Echelon:
    """Return the steps of Gaussian elimination in the first ``width`` columns, by row operations.

    Upwards too, every pivot becomes 1 and the rest of its column 0.
    """
    left = [[Fraction(value) for value in row] for row in rows]
    steps: list[str] = []
    pivots: list[int] = []
    swaps = 0
    for column in range(len(left[0]) if width is None else width):
        top = len(pivots)
        usable = [i for i in range(top, len(left)) if left[i][column]]
        if not usable:
            continue
        chosen = min(usable, key=lambda i: (abs(left[i][column]) != 1, i))
        if chosen != top:
            left[top], left[chosen] = left[chosen], left[top]
            swaps += 1
            steps.append(f"Swap {noun}s {top + 1} and {chosen + 1}.")
        lead = left[top]
        if upwards and lead[column] != 1:
            steps.append(f"Divide {noun} {top + 1} by {lead[column]}: ")
            lead[:] = [value / lead[column] for value in list(lead)]
            steps[-1] += show(lead)
        for i in range(0 if upwards else top + 1, len(left)):
            factor = left[i][column] / lead[column]
            if i == top or not factor:
                continue
            left[i] = [a - factor * b for a, b in zip(left[i], lead, strict=True)]
            verb = "Subtract" if factor > 0 else "Add"
            size = "" if abs(factor) == 1 else f"{abs(factor)} times "
            to = "from" if factor > 0 else "to"
            steps.append(f"{verb} {size}{noun} {top + 1} {to} {noun} {i + 1}: {show(left[i])}")
        pivots.append(column)
        if len(pivots) == len(left):
            break
    return Echelon(steps, left, pivots, swaps)


def show_row(row: Sequence[Rational]) -> str:
    """Return a row of a matrix as ``[1, -2, 3/4]``."""
    return f"[{', '.join(map(str, row))}]"


def power_term(coefficient: Fraction, power: int) -> RationalPoly:
    """Return a coefficient times a power of the variable."""
    return (*[Fraction(0)] * power, coefficient)


def long_division(
    dividend: Sequence[Rational], divisor: Sequence[Rational]
) -> tuple[list[str], RationalPoly, RationalPoly]:
    """Return the steps of a division of polynomials, the quotient and the remainder."""
    rest: RationalPoly = tuple(map(Fraction, dividend))
    below: RationalPoly = tuple(map(Fraction, divisor))
    quotient: RationalPoly = ()
    steps = []
    while len(rest) >= len(below):
        shift = len(rest) - len(below)
        term = power_term(rest[-1] / below[-1], shift)
        product = multiply(term, below)
        lead, low = (power_term(p[-1], len(p) - 1) for p in (rest, below))
        rest = add(rest, tuple(-value for value in product))
        quotient = add(quotient, term)
        steps.append(
            f"{polynomial(lead)} divided by {polynomial(low)} is {polynomial(term)}. Subtract "
            f"{polynomial(term)} * ({polynomial(below)}) = {polynomial(product)}: "
            f"{polynomial(rest)} is left."
        )
    return steps, quotient, rest


def divided_out(coefficients: Sequence[int], factor: Sequence[int]) -> tuple[int, ...]:
    """Return the quotient by a factor that leaves no remainder, with integer coefficients."""
    _, quotient, rest = long_division(coefficients, factor)
    if rest or any(value.denominator != 1 for value in quotient):
        raise ValueError(f"{polynomial(factor)} does not divide {polynomial(coefficients)}")
    return tuple(value.numerator for value in quotient)


def horner(coefficients: Sequence[Rational], x: Rational) -> str:
    """Return the value of a polynomial worked out, such as ``2 * 3^2 - 5 * 3 + 1 = 4``."""
    work, value = value_parts(coefficients, x)
    return worked(work, value)


def value_parts(coefficients: Sequence[Rational], x: Rational) -> tuple[str, Fraction]:
    """Return the calculation of a polynomial's value, and the value."""
    terms = [(value, k) for k, value in enumerate(coefficients) if value][::-1]
    at = operand(x)
    parts: list[str] = []
    for value, k in terms:
        power = "" if not k else at if k == 1 else f"{at}^{k}"
        size = str(abs(value)) if not power or abs(value) != 1 else ""
        body = f"{size} * {power}" if size and power else size or power
        if not parts:
            parts.append(f"-{body}" if value < 0 else body)
        else:
            parts.append(f" - {body}" if value < 0 else f" + {body}")
    value = sum((Fraction(c) * Fraction(x) ** k for k, c in enumerate(coefficients)), Fraction(0))
    return "".join(parts) or "0", value


def differences(values: Sequence[int]) -> list[list[int]]:
    """Return the rows of differences of some values, the values first."""
    table = [list(values)]
    while len(table[-1]) > 1:
        table.append([after - before for before, after in pairwise(table[-1])])
    return table
