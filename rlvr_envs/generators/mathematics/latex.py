r"""LaTeX of exact objects: numbers, sums, polynomials, matrices, intervals, sets.

Everything returns text without dollar signs, fit for a prompt and for a reference answer alike.
Nothing here parses; reading LaTeX belongs to `rlvr_envs.verifiers`.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

Rational: TypeAlias = int | Fraction


def number(value: Rational) -> str:
    r"""Return ``7``, ``-7`` or ``-\frac{3}{4}``."""
    top, bottom = value.numerator, value.denominator
    if bottom == 1:
        return str(top)
    return f"{'-' if top < 0 else ''}\\frac{{{abs(top)}}}{{{bottom}}}"


def decimal(value: Rational) -> str:
    """Return the exact decimal, such as ``-0.125``, of a rational that has one.

    Raises:
        ValueError: the decimal does not end.
    """
    rest, places = value.denominator, 0
    while rest > 1:
        common = math.gcd(rest, 10)
        if common == 1:
            raise ValueError(f"{value} has no finite decimal")
        rest //= common
        places += 1
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
    return ("-" if value < 0 else "") + whole + ("." + fraction if fraction else "")


def in_parentheses(text: str) -> str:
    r"""Return the text between ``\left(`` and ``\right)``."""
    return f"\\left({text}\\right)"


def power(base: str, exponent: int) -> str:
    """Return a power; an exponent of 1 is left out. The base needs its own parentheses."""
    if exponent == 1:
        return base
    return f"{base}^{exponent}" if 0 <= exponent <= 9 else f"{base}^{{{exponent}}}"


def signed_sum(terms: Iterable[tuple[Rational, str]]) -> str:
    r"""Return a linear combination such as ``2x - y + \frac{1}{2}``.

    Each term is a coefficient and a symbol, which is empty for a constant. Terms of coefficient 0
    are left out, as is a coefficient of 1 before a symbol; the empty sum is ``0``.
    """
    text = ""
    for coefficient, symbol in terms:
        if coefficient == 0:
            continue
        size = -coefficient if coefficient < 0 else coefficient
        body = symbol if symbol and size == 1 else number(size) + symbol
        if not text:
            text = f"-{body}" if coefficient < 0 else body
        else:
            text += f" - {body}" if coefficient < 0 else f" + {body}"
    return text or "0"


def appended(text: str, more: str) -> str:
    """Return two written sums as one, such as ``x`` and ``-2y + 1`` as ``x - 2y + 1``.

    An empty text or a 0 adds nothing.
    """
    if more in ("", "0"):
        return text or "0"
    if text in ("", "0"):
        return more
    return f"{text} - {more[1:]}" if more.startswith("-") else f"{text} + {more}"


def polynomial(coefficients: Sequence[Rational], variable: str = "x") -> str:
    """Return a polynomial, highest power first; ``coefficients[k]`` belongs to the k-th power."""
    return signed_sum(
        (coefficients[k], power(variable, k) if k else "")
        for k in range(len(coefficients) - 1, -1, -1)
    )


def linear(
    coefficients: Sequence[Rational], variables: Sequence[str], constant: Rational = 0
) -> str:
    """Return a linear form such as ``2x - 3y + 5``."""
    return signed_sum([*zip(coefficients, variables, strict=True), (constant, "")])


def matrix(rows: Iterable[Iterable[Rational]]) -> str:
    r"""Return a ``pmatrix`` of numbers."""
    lines = [" & ".join(map(number, row)) for row in rows]
    body = " \\\\ ".join(lines)
    return f"\\begin{{pmatrix}} {body} \\end{{pmatrix}}"


def point(values: Iterable[Rational]) -> str:
    r"""Return an ordered tuple such as ``\left(1, -2, \frac{1}{2}\right)``."""
    return in_parentheses(", ".join(map(number, values)))


def number_set(values: Iterable[Rational]) -> str:
    r"""Return the set in rising order, each element once; the empty one is ``\emptyset``."""
    members = sorted(set(values))
    return f"\\{{{', '.join(map(number, members))}\\}}" if members else "\\emptyset"


def interval(
    low: Rational | None,
    high: Rational | None,
    *,
    low_closed: bool = False,
    high_closed: bool = False,
) -> str:
    r"""Return an interval such as ``(-\infty, 2]``; None stands for an infinite end, never closed.

    The closed interval of a single number is written as a set, ``\{2\}``.
    """
    if low is not None and low == high:
        return f"\\{{{number(low)}\\}}"
    left = "-\\infty" if low is None else number(low)
    right = "\\infty" if high is None else number(high)
    opening = "[" if low_closed and low is not None else "("
    closing = "]" if high_closed and high is not None else ")"
    return f"{opening}{left}, {right}{closing}"


def union(parts: Sequence[str]) -> str:
    r"""Return the union of written intervals and sets; of none, ``\emptyset``."""
    return " \\cup ".join(parts) if parts else "\\emptyset"
