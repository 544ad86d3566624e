"""Steps to an antiderivative, term by term, by the rules of a first course.

Knows sums of powers of x; polynomials times sin, cos or exp of a multiple of x; and multiples of
``f(u) u'`` for a polynomial u. Partial fractions, products with a logarithm and an arctangent of a
polynomial are left out.
"""

from collections.abc import Sequence
from fractions import Fraction

from rlvr_envs.generators.mathematics.calculus import (
    ONE,
    Add,
    Call,
    Mul,
    Node,
    Num,
    Pow,
    X,
    add,
    call,
    differentiate,
    div,
    latex,
    mul,
    neg,
    num,
    polynomial,
    power,
)
from rlvr_envs.generators.mathematics.latex import Rational

Coefficients = list[Rational]
_WAVES = ("sin", "cos", "exp")


def integral_steps(integrand: Node) -> tuple[list[str], Node] | None:
    """Return the steps and an antiderivative, or None where these rules do not lead to one."""
    terms = integrand.terms if isinstance(integrand, Add) else (integrand,)
    simple = [term for term in terms if as_polynomial(term) is not None]
    groups = [*([add(*simple)] if simple else []), *(t for t in terms if t not in simple)]
    steps: list[str] = []
    parts = []
    for group in groups:
        found = _integrate(group)
        if found is None:
            return None
        lines, part = found
        steps += lines
        parts.append(part)
    total = _gathered(add(*parts))
    if len(groups) > 1 or total != parts[0]:
        steps.append(f"Together: {latex(total)}")
    return steps, total


def hurried_integral(node: Node) -> Node:
    """Return the integral as a weak solver takes it: what is no power of x counts as constant."""
    parts = []
    for term in node.terms if isinstance(node, Add) else (node,):
        powers = as_polynomial(term)
        parts.append(mul(X, term) if powers is None else _powers(term, powers)[1])
    return add(*parts)


def _gathered(node: Node) -> Node:
    """Return a sum with its polynomial multiples of equal functions put together."""
    gathered: dict[tuple[Node, ...], Coefficients] = {}
    for term in node.terms if isinstance(node, Add) else (node,):
        factor, rest = _split(term) or ([1], [term])
        held = gathered.setdefault(tuple(rest), [])
        gathered[tuple(rest)] = _plus(held, factor)
    return add(*(mul(polynomial(factor), *rest) for rest, factor in gathered.items()))


def _plus(left: Coefficients, right: Coefficients) -> Coefficients:
    size = max(len(left), len(right))
    padded = [[*row, *([0] * (size - len(row)))] for row in (left, right)]
    return [a + b for a, b in zip(*padded, strict=True)]


def as_polynomial(node: Node) -> Coefficients | None:
    """Return the coefficients of a polynomial in x, constant first, or None for other trees.

    Products of sums are not multiplied out.
    """
    if isinstance(node, Num) or node == X:
        return [node.value] if isinstance(node, Num) else [0, 1]
    if isinstance(node, Pow) and node.base == X:
        whole = node.exponent.denominator == 1 and node.exponent > 0
        return [*([0] * int(node.exponent)), 1] if whole else None
    if isinstance(node, Mul) and len(node.factors) == 2 and isinstance(node.factors[0], Num):
        inner = as_polynomial(node.factors[1])
        return None if inner is None else [node.factors[0].value * c for c in inner]
    if not isinstance(node, Add):
        return None
    total: Coefficients = []
    for term in node.terms:
        part = as_polynomial(term)
        if part is None:
            return None
        total = _plus(total, part)
    return total


def _integrate(node: Node) -> tuple[list[str], Node] | None:
    coefficients = as_polynomial(node)
    if coefficients is not None:
        return _powers(node, coefficients)
    return _by_parts(node) or _by_substitution(node)


def _powers(node: Node, coefficients: Coefficients) -> tuple[list[str], Node]:
    whole = polynomial([0, *(Fraction(c) / (k + 1) for k, c in enumerate(coefficients))])
    steps = ["Power rule: x^n has the antiderivative x^(n + 1) / (n + 1)."]
    terms = [(k, c) for k, c in enumerate(coefficients) if c]
    if len(terms) > 1:
        steps += [
            f"{latex(mul(num(c), power(X, k)))} gives "
            f"{latex(mul(num(Fraction(c) / (k + 1)), power(X, k + 1)))}."
            for k, c in terms[::-1]
        ]
    return [*steps, f"{latex(node)} has the antiderivative {latex(whole)}."], whole


def _split(node: Node) -> tuple[Coefficients, list[Node]] | None:
    """Return the polynomial factor of a product, and its other factors."""
    number: Coefficients = [1]
    rest: list[Node] = []
    for factor in node.factors if isinstance(node, Mul) else (node,):
        part = as_polynomial(factor)
        if part is None:
            rest.append(factor)
        elif len(part) == 1 or len(number) == 1:
            scale, long = (part[0], number) if len(part) == 1 else (number[0], part)
            number = [scale * value for value in long]
        else:
            return None
    return number, rest


def _by_parts(node: Node) -> tuple[list[str], Node] | None:
    """Return the integral of a polynomial times sin, cos or exp of a multiple of x."""
    split = _split(node)
    if split is None or len(split[1]) != 1 or not isinstance(split[1][0], Call):
        return None
    factor, wave = split[0], split[1][0]
    inner = as_polynomial(wave.arg)
    if wave.name not in _WAVES or inner is None or len(inner) != 2 or inner[0]:
        return None
    if len(factor) == 1:
        return None  # a substitution is enough
    rate = inner[1]
    steps = []
    terms: list[Node] = []
    outer: Node = wave
    while any(factor):
        outer = _antiderivative_of_wave(outer, rate)
        signed = mul(num((-1) ** len(terms)), polynomial(factor), outer)
        slope = [k * value for k, value in enumerate(factor)][1:]
        steps.append(
            f"Integral {len(terms) + 1} of {latex(wave)} is {latex(outer)}. With the sign "
            f"{'-' if len(terms) % 2 else '+'} and {latex(polynomial(factor))}: {latex(signed)}"
        )
        terms.append(signed)
        factor = slope
    whole = add(*terms)
    rule = "Integrate by parts, each time with the derivative of the polynomial before."
    return [rule, *steps, f"{latex(node)} has the antiderivative {latex(whole)}."], whole


def _antiderivative_of_wave(node: Node, rate: Rational) -> Node:
    """Return the antiderivative of a multiple of sin, cos or exp of ``rate x``."""
    factors = node.factors if isinstance(node, Mul) else (node,)
    wave = next(factor for factor in factors if isinstance(factor, Call))
    rest = mul(*(factor for factor in factors if factor is not wave))
    turned = {
        "sin": neg(call("cos", wave.arg)),
        "cos": call("sin", wave.arg),
        "exp": wave,
    }[wave.name]
    return mul(rest, div(turned, num(rate)))


def _by_substitution(node: Node) -> tuple[list[str], Node] | None:
    """Return the integral of a multiple of ``f(u) u'``, where u is a polynomial."""
    split = _split(node)
    if split is None or len(split[1]) != 1:
        return None
    factor, outer = split[0], split[1][0]
    inside: Node = outer.arg if isinstance(outer, Call) else ONE
    if isinstance(outer, Call) and outer.name in _WAVES:
        whole = _antiderivative_of_wave(outer, 1)
    elif isinstance(outer, Pow) and as_polynomial(outer.base) is not None:
        inside = outer.base
        raised = outer.exponent + 1
        whole = div(power(inside, raised), num(raised)) if raised else call("ln", inside)
    else:
        return None
    slope = as_polynomial(differentiate(inside))
    ratio = _ratio(factor, slope or [])
    if ratio is None or as_polynomial(inside) is None:
        return None
    result = mul(num(ratio), whole)
    if inside == X:
        return [f"{latex(node)} has the antiderivative {latex(result)}."], result
    return [
        f"Substitute u for {latex(inside)}; its derivative is {latex(differentiate(inside))}.",
        f"The factor {latex(polynomial(factor))} is {latex(num(ratio))} times that.",
        f"As a function of u, {latex(outer)} has the antiderivative {latex(whole)}.",
        f"So {latex(node)} has the antiderivative {latex(result)}.",
    ], result


def _ratio(left: Sequence[Rational], right: Sequence[Rational]) -> Fraction | None:
    """Return the number that a polynomial is of another one, if there is one."""
    if len(left) != len(right) or not right or not right[-1]:
        return None
    ratio = Fraction(left[-1]) / Fraction(right[-1])
    same = all(a == ratio * b for a, b in zip(left, right, strict=True))
    return ratio if same else None
