"""Limits of indeterminate forms, built so that their values are known."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math import _series
from rlvr_envs.envs.math._limit_steps import limit_steps
from rlvr_envs.generators.mathematics import latex as written
from rlvr_envs.generators.mathematics.calculus import (
    ONE,
    Num,
    X,
    add,
    call,
    div,
    latex,
    mul,
    neg,
    num,
    polynomial,
    power,
    sqrt,
)
from rlvr_envs.verifiers.symbolic import judge_math

_MAX_EXPONENT = 40  # of e, roughly


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitConfig:
    """Which kinds of limit occur, and how much cancels in them."""

    first_kind: int = 0  # the simplest kind of limit that may occur
    last_kind: int = 4  # the hardest; 6 is the hardest that there is
    order: int = 2  # of the terms that cancel
    n_functions: int = 1  # functions in a numerator that is cut at a Taylor polynomial
    max_coefficient: int = 9  # in absolute value

    def __post_init__(self) -> None:
        last = len(_KINDS) - 1
        if not 0 <= self.first_kind <= self.last_kind <= last:
            raise ConfigError(f"need 0 <= first_kind <= last_kind <= {last}, got {self}")
        if min(self.order, self.n_functions) < 1 or self.max_coefficient < 2:
            raise ConfigError(
                f"need order >= 1, n_functions >= 1 and max_coefficient >= 2, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "LimitConfig":
        """Kinds get harder up to rung 15; orders, functions and coefficients keep growing."""
        return cls(
            first_kind=min(difficulty // 3, len(_KINDS) - 2),
            last_kind=min(difficulty, len(_KINDS) - 1),
            order=1 + difficulty // 3,
            n_functions=1 + difficulty // 5,
            max_coefficient=9 + difficulty,
        )


@dataclass(frozen=True, slots=True)
class LimitProblem:
    """An expression in x and the point that x tends to, in LaTeX, and the limit."""

    expression: str
    point: str
    limit: str = hidden()


@register("Limit-v0", domain="math")
class LimitTask(Task[LimitConfig, LimitProblem]):
    """Find the limit of an expression at a point or at infinity.

    Description:
        Rational functions at infinity and at removable singularities; quotients of functions
        that vanish at 0; differences of roots; powers that tend to one to infinity; functions
        without the first terms of their Taylor series, alone and inside a power.

    Observation:
        The limit, in the usual notation.

    Action:
        An exact number: a rational one, or a power of e.

    Reward:
        1 for the limit, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Each problem is built around its limit. The answer is compared with it as a real number,
        whatever its form. No known gaps.

    Difficulty:
        The kinds of limit, the order of the terms that cancel, the number of functions and the
        coefficients grow.

    References:
        Spivak, Calculus, chapters 5, 11 and 20.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> LimitProblem:
        config = self.config
        kind = pick(rng, _KINDS[config.first_kind : config.last_kind + 1])
        return kind(rng, config)

    def prompt(self, problem: LimitProblem) -> str:
        return (
            f"Find the limit $$\\lim_{{x \\to {problem.point}}} {problem.expression}.$$ "
            "Give the exact value."
        )

    def verify(self, problem: LimitProblem, answer: str) -> Verdict:
        return judge_math(problem.limit, answer, answer_type="real", exact=True)

    def solve(self, problem: LimitProblem) -> str:
        return problem.limit

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
    return LimitProblem(quotient, "\\infty", written.number(Fraction(top[-1], bottom[-1])))


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
    for _ in range(integer(rng, 1, config.order)):
        above, below = _times_root(above, root), _times_root(below, root)
    quotient = f"\\frac{{{written.polynomial(above)}}}{{{written.polynomial(below)}}}"
    return LimitProblem(quotient, str(root), written.number(value))


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
    return LimitProblem(latex(quotient), "0", written.number(Fraction(rates[0], rates[1])))


def _difference_of_roots(rng: Rng, config: LimitConfig) -> LimitProblem:
    limit = config.max_coefficient
    lead, slope = integer(rng, 1, limit), nonzero(rng, limit)
    constant, shift = integers(rng, -limit, limit, 2)
    root = sqrt(polynomial([constant, slope, lead * lead]))
    text = latex(add(root, neg(polynomial([shift, lead]))))
    value = Fraction(slope, 2 * lead) - shift
    return LimitProblem(f"\\left( {text} \\right)", "\\infty", written.number(value))


def _one_to_infinity(rng: Rng, config: LimitConfig) -> LimitProblem:
    limit = config.max_coefficient
    top, exponent = nonzero(rng, 9), [integer(rng, -limit, limit), nonzero(rng, 4)]
    scale, bottom = integer(rng, 1, config.order), integer(rng, -5, 5)
    if top == bottom:
        bottom = 0
    base = f"\\frac{{{written.polynomial([top, scale])}}}{{{written.polynomial([bottom, scale])}}}"
    text = f"{written.in_parentheses(base)}^{{{written.polynomial(exponent)}}}"
    value = call("exp", num(Fraction((top - bottom) * exponent[1], scale)))
    return LimitProblem(text, "\\infty", latex(value))


def _taylor(rng: Rng, config: LimitConfig) -> LimitProblem:
    below = nonzero(rng, config.max_coefficient)
    rest, order, coefficient = _series.remainder(
        rng, config.n_functions, config.order + 1, config.max_coefficient
    )
    text = latex(div(rest, mul(num(below), power(X, order))))
    return LimitProblem(text, "0", written.number(coefficient / below))


def _taylor_in_power(rng: Rng, config: LimitConfig) -> LimitProblem:
    rest, order, coefficient = _series.remainder(rng, config.n_functions, config.order, 3)
    # A power of e beyond this could not be told from its neighbours by comparing digits.
    below = nonzero(rng, 9) * (1 + int(abs(coefficient)) // _MAX_EXPONENT)
    base, bottom = latex(add(ONE, rest)), latex(mul(num(abs(below)), power(X, order)))
    text = f"{written.in_parentheses(base)}^{{{'-' if below < 0 else ''}1 / ({bottom})}}"
    return LimitProblem(text, "0", latex(call("exp", num(coefficient / below))))


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
