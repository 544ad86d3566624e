r"""Exact sums of square roots, such as ``3 + 2\sqrt{5}``: arithmetic, LaTeX and decimals."""

import math
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.generators.mathematics.latex import Rational

Terms = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Surd:
    """A sum of rational multiples of square roots of distinct square-free integers.

    Attributes:
        terms: pairs of a radicand and its coefficient, which is not 0, by radicand. The radicand 1
            stands for a rational number. `root` and the operators make these.
    """

    terms: Terms

    def __add__(self, other: "Surd | Rational") -> "Surd":
        found = dict(self.terms)
        for radicand, coefficient in as_surd(other).terms:
            found[radicand] = found.get(radicand, Fraction(0)) + coefficient
        return Surd(tuple(sorted((n, c) for n, c in found.items() if c)))

    __radd__ = __add__

    def __neg__(self) -> "Surd":
        return self * -1

    def __sub__(self, other: "Surd | Rational") -> "Surd":
        return self + -as_surd(other)

    def __mul__(self, other: "Surd | Rational") -> "Surd":
        total = Surd(())
        for left, a in self.terms:
            for right, b in as_surd(other).terms:
                shared = math.gcd(left, right)
                total += Surd(((left * right // shared**2, a * b * shared),))
        return total

    __rmul__ = __mul__

    def __truediv__(self, other: Rational) -> "Surd":
        return self * (1 / Fraction(other))

    def __float__(self) -> float:
        return math.fsum(float(c) * math.sqrt(n) for n, c in self.terms)

    def latex(self) -> str:
        r"""Return it in LaTeX, such as ``\frac{1}{2} - 3\sqrt{7}``."""
        text = ""
        for radicand, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            body = _term(abs(coefficient), radicand)
            text = f"{text} {sign} {body}" if text else body if sign == "+" else f"-{body}"
        return text or "0"

    def __str__(self) -> str:
        """Return it in plain text, such as ``1/2 - 3*sqrt(7)``."""
        text = ""
        for radicand, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            size = abs(coefficient)
            body = str(size) if radicand == 1 else f"{size}*sqrt({radicand})"
            if size == 1 and radicand > 1:
                body = f"sqrt({radicand})"
            text = f"{text} {sign} {body}" if text else body if sign == "+" else f"-{body}"
        return text or "0"


def as_surd(value: Surd | Rational) -> Surd:
    """Return a number as a sum of square roots."""
    if isinstance(value, Surd):
        return value
    return Surd(((1, Fraction(value)),) if value else ())


def root(value: Rational) -> Surd:
    """Return the square root of a rational number.

    Raises:
        ValueError: the number is negative.
    """
    if value < 0:
        raise ValueError(f"need a number from 0, got {value}")
    if value == 0:
        return Surd(())
    exact = Fraction(value)
    outside, inside = _square_part(exact.numerator * exact.denominator)
    return Surd(((inside, Fraction(outside, exact.denominator)),))


def _square_part(value: int) -> tuple[int, int]:
    """Return a and b with ``value == a * a * b`` and b square-free."""
    outside, inside, prime = 1, 1, 2
    while prime**3 <= value:
        while value % (prime * prime) == 0:
            value //= prime * prime
            outside *= prime
        if value % prime == 0:
            value //= prime
            inside *= prime
        prime += 1
    whole = math.isqrt(value)  # what is left has at most two prime factors
    return (outside * whole, inside) if whole * whole == value else (outside, inside * value)


def _term(size: Fraction, radicand: int) -> str:
    top, bottom = size.numerator, size.denominator
    above = str(top) if radicand == 1 else f"{'' if top == 1 else top}\\sqrt{{{radicand}}}"
    return above if bottom == 1 else f"\\frac{{{above}}}{{{bottom}}}"
