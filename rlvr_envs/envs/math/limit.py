"""Limits of indeterminate forms with known values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex as written
from rlvr_envs.generators.mathematics.calculus import (
    ONE,
    Node,
    Num,
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
    sqrt,
    substitute,
)
from rlvr_envs.generators.mathematics.calculus_steps import from_text, parts_of_quotient
from rlvr_envs.generators.mathematics.effort import symbols
from rlvr_envs.generators.mathematics.polynomials import evaluate
from rlvr_envs.generators.mathematics.steps import (
    divided_out,
    horner,
    operand,
    read_polynomial,
)
from rlvr_envs.generators.mathematics.steps import (
    polynomial as polynomial_text,
)
from rlvr_envs.verifiers.symbolic import judge_math

_MAX_EXPONENT = 40  # of e, roughly


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitConfig(TaskConfig):
    """The kinds of limits, and how much cancels in them."""

    first_kind: int = knob(0, "the simplest kind of limit that may occur, from 0")
    last_kind: int = knob(4, "the hardest kind of limit that may occur, up to 6")
    order: int = knob(2, "order of the terms that cancel", low=1)
    n_functions: int = knob(
        1, "number of functions from which a Taylor polynomial is subtracted", low=1
    )
    max_coefficient: int = knob(9, "the largest absolute value of coefficients", low=2)

    def check(self) -> None:
        last = len(_KINDS) - 1
        if not 0 <= self.first_kind <= self.last_kind <= last:
            raise ConfigError(f"need 0 <= first_kind <= last_kind <= {last}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "LimitConfig":
        """Kinds get harder up to level 15; orders, functions and coefficients always grow."""
        return cls(
            first_kind=min(difficulty // 3, len(_KINDS) - 2),
            last_kind=min(difficulty, len(_KINDS) - 1),
            order=1 + (difficulty + 1) // 3,
            n_functions=1 + max(0, difficulty - 1) // 3,
            max_coefficient=9 + difficulty,
        )


@dataclass(frozen=True, slots=True)
class LimitProblem:
    """An expression in x and the point that x tends to, in LaTeX, and the limit.

    Attributes:
        expression: what tends to the limit.
        point: where x tends to.
        order: how many terms of a series, or common factors, cancel before the limit shows.
        limit: the exact value.
    """

    expression: str
    point: str
    order: int = hidden()
    limit: str = hidden()


@register("Limit-v0", domain="math")
class LimitTask(Task[LimitConfig, LimitProblem]):
    """Find the limit of an expression at a point or at infinity.

    Description:
        Rational functions at infinity and at removable singularities; quotients of functions
        that vanish at 0; a square root minus a linear function at infinity; powers of the form
        one to infinity; functions minus the first terms of their Taylor series, alone and inside
        a power.

    Observation:
        The limit in the usual notation.

    Action:
        An exact number: a rational one, or a power of e.

    Reward:
        1 for the limit, otherwise 0.

    Verification:
        Each problem is built from its limit. The answer is compared with it as a real number, in
        any form. No known gaps.

    Difficulty:
        The kinds of limit, the order of the terms that cancel, the number of functions and the
        coefficients grow.

    References:
        Spivak, Calculus, chapters 5, 11 and 20.
    """

    def generate(self, rng: Rng) -> LimitProblem:
        config = self.config
        kind = pick(rng, _KINDS[config.first_kind : config.last_kind + 1])
        return kind(rng, config)

    def prompt(self, problem: LimitProblem) -> str:
        return (
            f"Find the limit $$\\lim_{{x \\to {problem.point}}} {problem.expression}.$$ "
            "Give the exact value, not a rounded decimal."
        )

    def verify(self, problem: LimitProblem, answer: str) -> Verdict:
        return judge_math(problem.limit, answer, answer_type="real", exact=True)

    def solve(self, problem: LimitProblem) -> str:
        return problem.limit

    def effort(self, problem: LimitProblem) -> int:
        """Count the symbols of the expression, once for each derivative that l'Hospital takes."""
        return (1 + problem.order) * symbols(problem.expression)

    def baseline(self, rng: Rng, problem: LimitProblem) -> str:
        """Divide the leading coefficients of two polynomials, and answer 1 for anything else."""
        quotient = _QUOTIENT.fullmatch(problem.expression)
        if quotient is None:
            return "1"
        above, below = map(read_polynomial, quotient.groups())
        return written.number(Fraction(above[-1], below[-1]))

    def explain(self, problem: LimitProblem) -> list[str]:
        return limit_steps(problem.expression, problem.point)


def _value(coefficients: list[int], point: int) -> int:
    total = 0
    for coefficient in reversed(coefficients):
        total = total * point + coefficient
    return total


def _times_root(coefficients: list[int], root: int) -> list[int]:
    """Return the product with ``x - root``."""
    shifted, scaled = [0, *coefficients], [*(root * value for value in coefficients), 0]
    return [a - b for a, b in zip(shifted, scaled, strict=True)]


def _rational_at_infinity(rng: Rng, config: LimitConfig) -> LimitProblem:
    limit = config.max_coefficient
    degree = integer(rng, 1, config.order + 1)
    top = [*integers(rng, -limit, limit, degree), nonzero(rng, limit)]
    bottom = [*integers(rng, -limit, limit, degree), nonzero(rng, limit)]
    quotient = f"\\frac{{{written.polynomial(top)}}}{{{written.polynomial(bottom)}}}"
    return LimitProblem(quotient, "\\infty", 0, written.number(Fraction(top[-1], bottom[-1])))


def _removable(rng: Rng, config: LimitConfig) -> LimitProblem:
    root = nonzero(rng, config.max_coefficient)
    above, below = (
        [integer(rng, -config.max_coefficient, config.max_coefficient), nonzero(rng, 3)]
        for _ in range(2)
    )
    if config.order == 1:
        below = [1]
    for part in (above, below):
        # The cofactors must not vanish at the root, or the limit would be another one.
        if _value(part, root) == 0:
            part[0] += 1
    value = Fraction(_value(above, root), _value(below, root))
    multiplicity = integer(rng, 1, config.order)
    for _ in range(multiplicity):
        above, below = _times_root(above, root), _times_root(below, root)
    quotient = f"\\frac{{{written.polynomial(above)}}}{{{written.polynomial(below)}}}"
    return LimitProblem(quotient, str(root), multiplicity, written.number(value))


def _vanishing(rng: Rng, config: LimitConfig) -> LimitProblem:
    """Return a quotient of functions that behave like ax and bx near 0."""
    sides, rates = [], []
    for _ in range(2):
        rate, scale = nonzero(rng, config.max_coefficient), nonzero(rng, 3)
        arg = mul(num(rate), X)
        name = pick(rng, ("sin", "arctan", "exp", "ln", "x"))
        function = {
            "x": arg,
            "exp": add(call("exp", arg), num(-1)),
            "ln": call("ln", add(ONE, arg)),
        }.get(name) or call(name, arg)
        sides.append(mul(num(scale), function))
        rates.append(rate * scale)
    quotient = div(sides[0], sides[1])
    if isinstance(quotient, Num):
        # Both sides were multiples of one function.
        quotient, rates[1] = div(add(call("exp", sides[0]), num(-1)), mul(num(2), X)), 2
    return LimitProblem(latex(quotient), "0", 1, written.number(Fraction(rates[0], rates[1])))


def _difference_of_roots(rng: Rng, config: LimitConfig) -> LimitProblem:
    limit = config.max_coefficient
    lead, slope = integer(rng, 1, limit), nonzero(rng, limit)
    constant, shift = integers(rng, -limit, limit, 2)
    root = sqrt(polynomial([constant, slope, lead * lead]))
    text = latex(add(root, neg(polynomial([shift, lead]))))
    value = Fraction(slope, 2 * lead) - shift
    return LimitProblem(f"\\left( {text} \\right)", "\\infty", 2, written.number(value))


def _one_to_infinity(rng: Rng, config: LimitConfig) -> LimitProblem:
    limit = config.max_coefficient
    top, exponent = nonzero(rng, 9), [integer(rng, -limit, limit), nonzero(rng, 4)]
    scale, bottom = integer(rng, 1, config.order), integer(rng, -5, 5)
    if top == bottom:
        bottom = 0
    base = f"\\frac{{{written.polynomial([top, scale])}}}{{{written.polynomial([bottom, scale])}}}"
    text = f"{written.in_parentheses(base)}^{{{written.polynomial(exponent)}}}"
    value = call("exp", num(Fraction((top - bottom) * exponent[1], scale)))
    return LimitProblem(text, "\\infty", 2, latex(value))


def _taylor(rng: Rng, config: LimitConfig) -> LimitProblem:
    below = nonzero(rng, config.max_coefficient)
    rest, order, coefficient = remainder(
        rng, config.n_functions, config.order + 1, config.max_coefficient
    )
    text = latex(div(rest, mul(num(below), power(X, order))))
    return LimitProblem(text, "0", order, written.number(coefficient / below))


def _taylor_in_power(rng: Rng, config: LimitConfig) -> LimitProblem:
    rest, order, coefficient = remainder(rng, config.n_functions, config.order, 3)
    # Comparing digits cannot distinguish a larger power of e from its neighbours.
    below = nonzero(rng, 9) * (1 + int(abs(coefficient)) // _MAX_EXPONENT)
    base, bottom = latex(add(ONE, rest)), latex(mul(num(abs(below)), power(X, order)))
    text = f"{written.in_parentheses(base)}^{{{'-' if below < 0 else ''}1 / ({bottom})}}"
    return LimitProblem(text, "0", order + 1, latex(call("exp", num(coefficient / below))))


# From the simplest to the hardest.
_KINDS: tuple[Callable[[Rng, LimitConfig], LimitProblem], ...] = (
    _rational_at_infinity,
    _removable,
    _vanishing,
    _difference_of_roots,
    _one_to_infinity,
    _taylor,
    _taylor_in_power,
)
# Steps to a limit, for the kinds of `rlvr_envs.envs.math.limit` that a rule takes apart.


_INSIDE = r"([^{}\\]*(?:\{[0-9]+\}[^{}\\]*)*)"  # a polynomial; braces hold exponents
_QUOTIENT = re.compile(rf"\\frac\{{{_INSIDE}\}}\{{{_INSIDE}\}}")
_ROOT = re.compile(r"\\left\( \\sqrt\{([^\\]*)\} - (.*) \\right\)")
_POWER = re.compile(r"\\left\(\\frac\{([^\\]*)\}\{([^\\]*)\}\\right\)\^\{(.*)\}")


def limit_steps(expression: str, point: str) -> list[str]:
    """Return the steps to a limit; none where only Taylor series would lead to it."""
    quotient = _QUOTIENT.fullmatch(expression)
    if point == "\\infty":
        if quotient is not None:
            return _leading(*map(read_polynomial, quotient.groups()))
        root, power = _ROOT.fullmatch(expression), _POWER.fullmatch(expression)
        if root is not None:
            return _conjugate(*map(read_polynomial, (root[1], _sign_turned(root[2]))))
        return _one_to_infinity_steps(*map(read_polynomial, power.groups())) if power else []
    if quotient is not None and point != "0":
        above, below = map(read_polynomial, quotient.groups())
        return _cancelled(above, below, int(point))
    # Taylor series inside a power, the last kind, stand in parentheses.
    return [] if expression.startswith("\\left(") else _by_derivatives(expression)


def _leading(above: tuple[int, ...], below: tuple[int, ...]) -> list[str]:
    degree = len(below) - 1
    top = above[degree]
    return [
        f"For large x the highest powers decide. Divide above and below by x^{degree}.",
        f"Above, all but {top} goes to 0; below, all but {below[-1]}.",
        f"{operand(top)} / {operand(below[-1])} = {Fraction(top, below[-1])}",
    ]


def _cancelled(above: tuple[int, ...], below: tuple[int, ...], root: int) -> list[str]:
    steps = []
    factor = (-root, 1)
    while not evaluate(below, root):
        steps.append(f"Above at x = {root}: {horner(above, root)}")
        steps.append(f"Below at x = {root}: {horner(below, root)}")
        above, below = divided_out(above, factor), divided_out(below, factor)
        steps.append(
            f"Cancel {polynomial_text(factor)}: "
            f"({polynomial_text(above)}) over ({polynomial_text(below)})"
        )
    top, bottom = evaluate(above, root), evaluate(below, root)
    return [
        *steps,
        f"Above at x = {root}: {horner(above, root)}",
        f"Below at x = {root}: {horner(below, root)}",
        f"{operand(top)} / {operand(bottom)} = {Fraction(top, bottom)}",
    ]


def _sign_turned(text: str) -> str:
    """Return what is subtracted term by term, such as ``3x - 2`` of ``- 3x - 2``, as a sum."""
    first, *rest = re.split(r" ([+-]) ", text)
    signs = {"+": "-", "-": "+"}
    return first + "".join(f" {signs[part]} " if part in signs else part for part in rest)


def _conjugate(square: tuple[int, ...], line: tuple[int, ...]) -> list[str]:
    shift, lead = line
    constant, slope, _ = square
    left = slope - 2 * lead * shift
    rest = constant - shift * shift
    shown = polynomial_text((shift, lead))
    return [
        f"Multiply and divide by the root plus {shown}.",
        (
            f"Above stands ({polynomial_text(square)}) - ({shown})^2, "
            f"which is {polynomial_text((rest, left))}."
        ),
        f"Its factor of x is {slope} - 2 * {lead} * {operand(shift)} = {left}.",
        f"Divide above and below by x. The root over x tends to {lead}.",
        f"So what is below tends to {lead} + {lead} = {2 * lead}.",
        f"{operand(left)} / {2 * lead} = {Fraction(left, 2 * lead)}",
    ]


def _one_to_infinity_steps(
    above: tuple[int, ...], below: tuple[int, ...], exponent: tuple[int, ...]
) -> list[str]:
    gap, scale, rate = above[0] - below[0], below[1], exponent[1]
    value = Fraction(gap * rate, scale)
    return [
        f"The base is 1 + d with d = ({gap}) / ({polynomial_text(below)}), and d tends to 0.",
        "Such a power tends to e to the limit of d times the exponent.",
        f"That is ({gap}) * ({polynomial_text(exponent)}) / ({polynomial_text(below)}).",
        f"The highest powers decide: {operand(gap)} * {operand(rate)} / {operand(scale)} = {value}",
        f"So the limit is e to the power {value}.",
    ]


def _by_derivatives(expression: str) -> list[str]:
    """Return the steps by l'Hospital's rule, where one derivative is enough."""
    above, below = parts_of_quotient(from_text(expression))
    zero = num(0)
    if any(substitute(part, X, zero) != zero for part in (above, below)):
        return []
    slopes = [differentiate(part) for part in (above, below)]
    top, bottom = (substitute(slope, X, zero) for slope in slopes)
    if not isinstance(top, Num) or not isinstance(bottom, Num) or not bottom.value:
        return []
    return [
        "Above and below tend to 0, so take derivatives of both (l'Hospital's rule).",
        f"The derivative of {latex(above)} is {latex(slopes[0])}, at 0 {latex(top)}.",
        f"The derivative of {latex(below)} is {latex(slopes[1])}, at 0 {latex(bottom)}.",
        f"{operand(top.value)} / {operand(bottom.value)} = {Fraction(top.value) / bottom.value}",
    ]


# Truncated power series with exact coefficients, and functions without their first terms.


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
