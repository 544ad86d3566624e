"""Pairs of a function and its derivative, from which integrals are made.

The derivatives are written from polynomial arithmetic rather than by differentiating, which
gathers what belongs together: ``(x^2 + 2x) e^x``, not ``2x e^x + x^2 e^x``. Every function here
is smooth for x >= 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.generators.mathematics.calculus import (
    Node,
    X,
    add,
    call,
    differentiate,
    div,
    mul,
    num,
    polynomial,
    power,
    sqrt,
)

Coefficients = Sequence[int | Fraction]


@dataclass(frozen=True, slots=True)
class Pair:
    """A function and its derivative."""

    antiderivative: Node
    integrand: Node


def total(pairs: Sequence[Pair]) -> Pair:
    """Return the sum of pairs."""
    return Pair(
        add(*(pair.antiderivative for pair in pairs)), add(*(pair.integrand for pair in pairs))
    )


def _derived(coefficients: Coefficients) -> list[int | Fraction]:
    return [i * value for i, value in enumerate(coefficients)][1:]


def _plus(left: Coefficients, right: Coefficients) -> list[int | Fraction]:
    size = max(len(left), len(right))
    padded = [[*part, *([0] * (size - len(part)))] for part in (left, right)]
    return [a + b for a, b in zip(*padded, strict=True)]


def _times(left: Coefficients, right: Coefficients) -> list[int | Fraction]:
    product: list[int | Fraction] = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product


def _scaled(factor: int | Fraction, coefficients: Coefficients) -> list[int | Fraction]:
    return [factor * value for value in coefficients]


def _drawn(rng: Rng, degree: int, limit: int) -> list[int | Fraction]:
    return [*integers(rng, -limit, limit, degree), nonzero(rng, limit)]


def _rising(rng: Rng, degree: int, limit: int) -> list[int | Fraction]:
    """Return a polynomial that is positive for x >= 0."""
    low = integers(rng, 0, limit, degree - 1)
    return [integer(rng, 1, limit), *low, integer(rng, 1, limit)]


def polynomial_pair(rng: Rng, degree: int, limit: int) -> Pair:
    """Return a polynomial with whole coefficients as the integrand."""
    integrand = _drawn(rng, integer(rng, 1, degree), limit)
    raised = [Fraction(value) / (i + 1) for i, value in enumerate(integrand)]
    return Pair(polynomial([0, *raised]), polynomial(integrand))


def wave(rng: Rng, degree: int, limit: int) -> Pair:
    """Return a sine, cosine or exponential of a multiple of x."""
    del degree
    # No rate of 1: the exponential would be its own integral.
    rate, scale = pick(rng, (-5, -4, -3, -2, 2, 3, 4, 5)), nonzero(rng, limit)
    function = call(pick(rng, ("sin", "cos", "exp")), mul(num(rate), X))
    return Pair(mul(num(scale), function), mul(num(scale), differentiate(function)))


def logarithm(rng: Rng, degree: int, limit: int) -> Pair:
    """Return a multiple of ``ln(ax + b)``."""
    del degree
    inner, scale = _rising(rng, 1, limit), nonzero(rng, limit)
    below = polynomial(inner)
    return Pair(mul(num(scale), call("ln", below)), div(num(scale * inner[1]), below))


def composed(rng: Rng, degree: int, limit: int) -> Pair:
    """Return a function of a polynomial; its integral asks for a substitution."""
    name = pick(rng, ("sin", "cos", "exp", "ln", "sqrt", "power", "arctan"))
    if name in ("ln", "sqrt"):
        inner = _rising(rng, integer(rng, 2, max(2, degree)), min(limit, 9))
    else:
        # A steep exponent would make one end of an integral vanish beside the other.
        inner = _drawn(rng, 2, 1 if name == "exp" else min(limit, 9))
    scale = nonzero(rng, limit)
    body, slope = polynomial(inner), polynomial(_scaled(scale, _derived(inner)))
    if name == "sqrt":
        return Pair(mul(num(2 * scale), sqrt(body)), div(slope, sqrt(body)))
    if name == "power":
        exponent = integer(rng, 2, 3 + degree)
        return Pair(
            mul(num(Fraction(scale, exponent)), power(body, exponent)),
            mul(slope, power(body, exponent - 1)),
        )
    if name == "arctan":
        below = polynomial(_plus([1], _times(inner, inner)))
        return Pair(mul(num(scale), call("arctan", body)), div(slope, below))
    outer = {
        "sin": call("cos", body),
        "cos": mul(num(-1), call("sin", body)),
        "exp": call("exp", body),
        "ln": power(body, -1),
    }[name]
    return Pair(mul(num(scale), call(name, body)), mul(outer, slope))


def by_parts(rng: Rng, degree: int, limit: int) -> Pair:
    """Return a polynomial times an exponential, or polynomials times sine and cosine."""
    rate = nonzero(rng, 4)
    first = _drawn(rng, integer(rng, 1, degree), limit)
    angle = mul(num(rate), X)
    if rng.integers(2):
        grown = _plus(_derived(first), _scaled(rate, first))
        wave = call("exp", angle)
        return Pair(mul(polynomial(first), wave), mul(polynomial(grown), wave))
    return circular(rng, rate, first, _drawn(rng, len(first) - 1, limit))


def circular(rng: Rng, rate: int, first: Coefficients, second: Coefficients) -> Pair:
    """Return ``P sin(ax) + Q cos(ax)``; half of the time, P is set so that its slope has no cos."""
    sine, cosine = (call(name, mul(num(rate), X)) for name in ("sin", "cos"))
    if rng.integers(2):
        # The slope is (P' - aQ) sin + (Q' + aP) cos; with Q = aR and P = -R', the cosine goes.
        first, second = _scaled(-1, _derived(first)), _scaled(rate, first)
    over_sine = _plus(_derived(first), _scaled(-rate, second))
    over_cosine = _plus(_derived(second), _scaled(rate, first))
    return Pair(
        add(mul(polynomial(first), sine), mul(polynomial(second), cosine)),
        add(mul(polynomial(over_sine), sine), mul(polynomial(over_cosine), cosine)),
    )


def log_product(rng: Rng, degree: int, limit: int) -> Pair:
    """Return ``(ax + b) P(x) ln(ax + b)``."""
    inner = _rising(rng, 1, limit)
    factor = _drawn(rng, integer(rng, 0, degree - 1), limit)
    whole = _times(inner, factor)
    log = call("ln", polynomial(inner))
    return Pair(
        mul(polynomial(whole), log),
        add(mul(polynomial(_derived(whole)), log), polynomial(_scaled(inner[1], factor))),
    )


def damped(rng: Rng, degree: int, limit: int) -> Pair:
    """Return ``e^(ax) (P sin(bx) + Q cos(bx))`` with polynomials P and Q."""
    grow, rate = nonzero(rng, 3), integer(rng, 1, 4)
    order = integer(rng, 0, degree // 3)
    first, second = (_drawn(rng, order, limit) for _ in range(2))
    sine, cosine = (call(name, mul(num(rate), X)) for name in ("sin", "cos"))
    envelope = call("exp", mul(num(grow), X))
    over_sine = _plus(_plus(_derived(first), _scaled(grow, first)), _scaled(-rate, second))
    over_cosine = _plus(_plus(_derived(second), _scaled(grow, second)), _scaled(rate, first))
    return Pair(
        mul(envelope, add(mul(polynomial(first), sine), mul(polynomial(second), cosine))),
        mul(envelope, add(mul(polynomial(over_sine), sine), mul(polynomial(over_cosine), cosine))),
    )


def partial_fractions(rng: Rng, degree: int, limit: int) -> Pair:
    """Return logarithms and an arctangent whose derivatives are put over one denominator."""
    count = integer(rng, 2, max(2, degree))
    shifts = sorted({integer(rng, 1, limit + count) for _ in range(count)})
    terms: list[Node] = []
    top: list[int | Fraction] = [0]
    bottom: list[int | Fraction] = [1]
    for shift in shifts:
        weight = nonzero(rng, limit)
        top = _plus(_times(top, [shift, 1]), _scaled(weight, bottom))
        bottom = _times(bottom, [shift, 1])
        terms.append(mul(num(weight), call("ln", polynomial([shift, 1]))))
    if rng.integers(2):
        side, weight = integer(rng, 1, 4), nonzero(rng, limit)
        top = _plus(_times(top, [side * side, 0, 1]), _scaled(weight * side, bottom))
        bottom = _times(bottom, [side * side, 0, 1])
        terms.append(mul(num(weight), call("arctan", mul(num(Fraction(1, side)), X))))
    return Pair(add(*terms), div(polynomial(top), polynomial(bottom)))


# From the simplest to the hardest.
KINDS: tuple[Callable[[Rng, int, int], Pair], ...] = (
    polynomial_pair,
    wave,
    logarithm,
    composed,
    by_parts,
    log_product,
    partial_fractions,
    damped,
)


def draw(rng: Rng, kinds: tuple[int, int], n_terms: int, degree: int, limit: int) -> Pair:
    """Return a sum of ``n_terms`` pairs of the kinds from the first to the last given."""
    known = KINDS[kinds[0] : kinds[1] + 1]
    pairs = [pick(rng, known)(rng, degree, limit) for _ in range(n_terms)]
    summed = total(pairs)
    # Terms may cancel; an integrand without x would be no question.
    constant = differentiate(summed.integrand) == num(0)
    return total([*pairs, Pair(power(X, 2), mul(num(2), X))]) if constant else summed
