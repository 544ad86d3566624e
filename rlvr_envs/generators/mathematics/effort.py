"""What a calculation costs by hand, in operations on single digits.

Tasks build `effort` from these costs: each is a property of the numbers alone, and a fraction
costs what its numerator and its denominator cost. What a problem asks for does not belong here.
"""

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

from rlvr_envs.core.task import ConfigT, ProblemT, Task
from rlvr_envs.generators.mathematics.primes import Factors, factor_small

Rational = Fraction | int

_SYMBOL = re.compile(r"\\[a-zA-Z]+|[0-9]+|[a-zA-Z]|[-+*/^_=<>|]")
_PRODUCT = re.compile(r"([0-9]+)\)* [*/] \(*-?(?=([0-9]+))")


def digits(value: Rational) -> int:
    """Return the number of digits of a number; a fraction has those of both of its parts."""
    if value.denominator == 1:
        # By the logarithm, which is quick at any length; beyond 15 digits it may be off by one.
        return 1 + int(math.log10(abs(value.numerator) or 1))
    return digits(value.numerator) + digits(value.denominator)


def adding(left: Rational, right: Rational) -> int:
    """Return the cost of a sum or a difference: a digit at a time, fractions over one bottom."""
    if left.denominator == right.denominator == 1:
        return max(digits(left), digits(right))
    a, b, c, d = left.numerator, left.denominator, right.numerator, right.denominator
    top = multiplying(a, d) + multiplying(c, b) + adding(a * d, c * b)
    return top + multiplying(b, d) + euclid(a * d + c * b, b * d)


def multiplying(left: Rational, right: Rational) -> int:
    """Return the cost of a product: every digit by every digit, and reducing a fraction."""
    if left.denominator == right.denominator == 1:
        return digits(left) * digits(right)
    top, bottom = left.numerator * right.numerator, left.denominator * right.denominator
    work = digits(left.numerator) * digits(right.numerator)
    return work + digits(left.denominator) * digits(right.denominator) + euclid(top, bottom)


def dividing(left: Rational, right: Rational) -> int:
    """Return the cost of a division with remainder, or of the quotient of two fractions."""
    if left.denominator == right.denominator == 1:
        return digits(abs(int(left)) // abs(int(right))) * digits(right)
    return multiplying(left, 1 / Fraction(right))


def euclid(left: int, right: int) -> int:
    """Return the cost of a greatest common divisor, by divisions with remainder."""
    cost, high, low = 0, abs(left), abs(right)
    while low:
        cost += dividing(high, low)
        high, low = low, high % low
    return cost


def raising(base: Rational, exponent: int) -> int:
    """Return the cost of a power, one multiplication after the other."""
    powers = [base**k for k in range(1, exponent + 1)]
    return sum(multiplying(power, base) for power in powers[:-1])


def totalling(values: Iterable[Rational]) -> int:
    """Return the cost of adding numbers up, in turn."""
    terms = list(values)
    sums = list(accumulate(terms))
    return sum(adding(done, term) for done, term in zip(sums, terms[1:], strict=False))


def evaluating(coefficients: Iterable[Rational], x: Rational) -> int:
    """Return the cost of a polynomial's value by Horner's rule; ``x**i`` has coefficient ``i``."""
    cost, value = 0, None
    for coefficient in reversed(list(coefficients)):
        if value is None:
            value = coefficient
            continue
        product = value * x
        cost += multiplying(value, x) + adding(product, coefficient)
        value = product + coefficient
    return cost


def symbols(text: str) -> int:
    """Return the size of an expression in LaTeX: its numbers, names, commands and operators."""
    return len(_SYMBOL.findall(text))


def written(lines: Iterable[str]) -> int:
    """Return the cost of a worked solution: a step for each digit, and the work of its products.

    A product or a quotient costs the digits of one number times those of the other.
    """
    text = "\n".join(lines)
    products = sum(len(a) * len(b) for a, b in _PRODUCT.findall(text))
    return products + sum(character.isdigit() for character in text)


def root_candidates(coefficients: Sequence[int]) -> int:
    """Return the number of rational roots that the outer coefficients of a polynomial allow."""
    ends = next(c for c in coefficients if c), coefficients[-1]
    exponents = (e for end in ends for e in factor_small(abs(end)).values())
    return 2 * math.prod(1 + exponent for exponent in exponents)


def trial_division(factors: Factors) -> int:
    """Return the cost of finding the factors of an integer, ascending, by trying all divisors."""
    primes = [prime for prime, exponent in factors for _ in range(exponent)] or [1]
    last_tried = max(*primes[-2:-1], math.isqrt(primes[-1]), 1)
    return digits(math.prod(primes)) * last_tried


class WorkedTask(Task[ConfigT, ProblemT]):
    """A task whose problems are as hard as their worked solutions are long."""

    def effort(self, problem: ProblemT) -> float:
        """Count the digits of the worked solution, and the work of its products."""
        return written(self.explain(problem))
