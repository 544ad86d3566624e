"""Derivatives of random functions: as a function, of higher order, or at a point."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.calculus import (
    Add,
    Mul,
    Node,
    Num,
    Pow,
    Sym,
    X,
    add,
    call,
    differentiate,
    div,
    latex,
    mul,
    num,
    polynomial,
    power,
    sqrt,
    substitute,
)
from rlvr_envs.generators.mathematics.calculus_steps import derivative_steps, from_text
from rlvr_envs.generators.mathematics.effort import symbols
from rlvr_envs.verifiers.symbolic import judge_math

_MAX_LENGTH = 800  # of a derivative in characters; a longer one makes way for a simpler function
_RATES = (-4, -3, -2, 2, 3, 4)  # without 1: nobody should be paid for copying e^x
_ORDINALS = ("", "second ", "third ", "fourth ", "fifth ", "sixth ")


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivativeConfig(TaskConfig):
    """How a function is built, and what is asked of it."""

    n_rules: int = knob(2, "products, quotients, powers and compositions in the function", low=0)
    degree: int = knob(2, "of the polynomials at the leaves", low=1)
    max_coefficient: int = knob(9, "of those polynomials, in absolute value", low=1)
    max_order: int = knob(1, "highest order of the derivative asked for", low=1)
    max_point: int = knob(
        0, "half of the problems ask for the value at 1..max_point; 0: none does", low=0
    )

    @classmethod
    def at(cls, difficulty: int) -> "DerivativeConfig":
        """A rule is added at odd levels, and the degree grows at even ones.

        Values at a point come from level 2 on, second derivatives from 4 and third ones from 8.
        Functions whose derivative would be too long to write are drawn anew with fewer rules.
        """
        return cls(
            n_rules=(difficulty + 1) // 2,
            degree=min(2 + difficulty // 2, 8),
            max_coefficient=9 + difficulty,
            max_order=min(1 + difficulty // 4, 3),
            max_point=min(difficulty // 2, 3),
        )


@dataclass(frozen=True, slots=True)
class DerivativeProblem:
    """A function of x in LaTeX, the order of the derivative, and the point if there is one."""

    function: str
    order: int
    point: int | None
    derivative: str = hidden()


@register("Derivative-v0", domain="math")
class DerivativeTask(Task[DerivativeConfig, DerivativeProblem]):
    """Differentiate a function of one variable.

    Description:
        A random expression of polynomials, products, quotients, powers and compositions with
        sin, cos, exp, ln and the square root. Arguments of ln, roots and denominators are
        positive for x >= 0. Derivatives of higher order are asked of functions with fewer rules,
        from order 4 on of a power of x times one function of a linear argument, so that the
        answer stays short enough to be written.

    Observation:
        The function, and what is asked: the derivative, one of higher order, or its value at a
        whole number.

    Action:
        An expression in x, or an exact number.

    Reward:
        1 for an expression equal to the derivative (or a number equal to its value), else 0.

    Verification:
        The answer is compared with the exact derivative, as a function or as a number, whatever
        its form. Identity of functions is tested at sample points, to high precision.

    Difficulty:
        The number of rules, the degrees, the coefficients, the order and the point grow.

    References:
        Spivak, Calculus, chapter 10.
    """

    def generate(self, rng: Rng) -> DerivativeProblem:
        config = self.config
        # Most problems stay at the first order: there the function may be as large as it gets.
        higher = config.max_order > 1 and integer(rng, 1, 4) == 1
        order = integer(rng, 2, config.max_order) if higher else 1
        # The derivatives of a nested function grow by a factor with each order.
        rules = (config.n_rules + order - 1) // order if order < 4 else 0
        point: int | None = None
        if config.max_point and rng.integers(2):
            point = integer(rng, 1, config.max_point)
        while True:
            short = order > 2 and rules == 0
            function = self._short(rng, order) if short else self._function(rng, rules)
            derivative = function
            for _ in range(order):
                derivative = differentiate(derivative)
            if point is not None:
                derivative = substitute(derivative, X, num(point))
            answer = latex(derivative)
            if len(answer) <= _MAX_LENGTH or rules == 0:
                return DerivativeProblem(latex(function), order, point, answer)
            rules -= 1

    def prompt(self, problem: DerivativeProblem) -> str:
        start = f"Find the {_named(problem.order)} of ${problem.function}$"
        if problem.point is None:
            return f"{start}. Answer with an expression in $x$."
        return f"{start} at $x = {problem.point}$. Answer with the exact value."

    def verify(self, problem: DerivativeProblem, answer: str) -> Verdict:
        kind = "expression" if problem.point is None else "real"
        return judge_math(problem.derivative, answer, answer_type=kind, exact=True)

    def solve(self, problem: DerivativeProblem) -> str:
        return problem.derivative

    def effort(self, problem: DerivativeProblem) -> int:
        """Count the symbols of the derivatives that are written, and again to put a point in."""
        function, cost = from_text(problem.function), 0
        for _ in range(problem.order):
            function = differentiate(function)
            cost += symbols(latex(function))
        return cost if problem.point is None else 2 * cost

    def baseline(self, rng: Rng, problem: DerivativeProblem) -> str:
        """Differentiate factor by factor, and forget the chain rule."""
        function = from_text(problem.function)
        for _ in range(problem.order):
            function = _hurried(function)
        at = X if problem.point is None else num(problem.point)
        return latex(substitute(function, X, at))

    def explain(self, problem: DerivativeProblem) -> list[str]:
        function = from_text(problem.function)
        steps = derivative_steps(function)
        for order in range(2, problem.order + 1):
            function = differentiate(function)
            steps.append(f"Once more: the {_named(order)} is {latex(differentiate(function))}.")
        if problem.point is not None:
            value = substitute(differentiate(function), X, num(problem.point))
            steps.append(f"Put in x = {problem.point}: {latex(value)}")
        return steps

    def _function(self, rng: Rng, n_rules: int) -> Node:
        """Return a function whose tree has ``n_rules`` inner nodes."""
        if n_rules == 0:
            # A lone line would be answered by a number that the prompt shows.
            least = min(2, self.config.degree) if self.config.n_rules == 0 else 1
            return self._polynomial(rng, integer(rng, least, self.config.degree))
        kind = pick(rng, ("product", "quotient", "power", "sum", "call", "call", "call"))
        if kind == "power":
            return power(self._function(rng, n_rules - 1), integer(rng, 2, 4))
        if kind == "call":
            return self._composed(rng, n_rules - 1)
        left = integer(rng, 0, n_rules - 1)
        first, second = self._function(rng, left), self._function(rng, n_rules - 1 - left)
        if kind == "quotient":
            return div(first, self._positive(rng, second))
        return (
            mul(first, second)
            if kind == "product"
            else add(first, mul(num(integer(rng, 2, 5)), second))
        )

    def _composed(self, rng: Rng, n_rules: int) -> Node:
        name = pick(rng, ("sin", "cos", "exp", "ln", "sqrt"))
        if name == "exp":
            # A linear or a bounded exponent: a tower of powers has no value worth comparing.
            inner = polynomial((nonzero(rng, 5), pick(rng, _RATES)))
            if n_rules:
                inner = mul(num(nonzero(rng, 3)), call("sin", self._function(rng, n_rules - 1)))
            return call("exp", inner)
        inner = self._function(rng, n_rules)
        if name in ("sin", "cos"):
            return call(name, inner)
        inner = self._positive(rng, inner)
        return sqrt(inner) if name == "sqrt" else call("ln", inner)

    def _short(self, rng: Rng, order: int) -> Node:
        """Return a polynomial times a function whose every derivative is a few terms long."""
        name = pick(rng, ("sin", "cos", "exp", "ln", "sqrt", "power"))
        if name in ("sin", "cos", "exp"):
            degree = integer(rng, 0, min(self.config.degree, order))
            factor = power(X, degree)
            return mul(
                num(nonzero(rng, self.config.max_coefficient)), factor, self._wave(rng, name)
            )
        inner = polynomial(integers(rng, 1, min(9, self.config.max_coefficient), 2))
        scale = num(nonzero(rng, self.config.max_coefficient))
        if name == "ln":
            return mul(scale, call("ln", inner))
        return mul(scale, sqrt(inner) if name == "sqrt" else power(inner, -integer(rng, 1, 3)))

    def _wave(self, rng: Rng, name: str) -> Node:
        return call(name, mul(num(nonzero(rng, 5)), X))

    def _polynomial(self, rng: Rng, degree: int) -> Node:
        limit = self.config.max_coefficient
        lower = integers(rng, -limit, limit, degree)
        return polynomial((*lower, nonzero(rng, limit)))

    def _positive(self, rng: Rng, node: Node) -> Node:
        """Return a function that is positive everywhere: the square of a node plus a number."""
        return add(power(node, 2), num(integer(rng, 1, self.config.max_coefficient)))


def _named(order: int) -> str:
    """Return the name of a derivative of some order."""
    if order > len(_ORDINALS):
        return f"derivative of order {order}"
    return f"{_ORDINALS[order - 1]}derivative"


def _hurried(node: Node) -> Node:
    """Return the product of the factors' derivatives, without those of inner functions."""
    if isinstance(node, Num | Sym):
        return differentiate(node)
    if isinstance(node, Add):
        return add(*map(_hurried, node.terms))
    if isinstance(node, Mul):
        return mul(*(part if isinstance(part, Num) else _hurried(part) for part in node.factors))
    outer, inner = (
        (power(X, node.exponent), node.base)
        if isinstance(node, Pow)
        else (call(node.name, X), node.arg)
    )
    return substitute(differentiate(outer), X, inner)
