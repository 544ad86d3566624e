"""Composition of functions: its value at a point, or the composition as a polynomial."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.latex import number, polynomial
from rlvr_envs.generators.mathematics.polynomial_answers import expanded_of, sides
from rlvr_envs.generators.mathematics.polynomials import compose, evaluate, multiply
from rlvr_envs.generators.mathematics.stated_numbers import judge_rational
from rlvr_envs.generators.mathematics.steps import polynomial as plain
from rlvr_envs.generators.mathematics.steps import value_parts
from rlvr_envs.verifiers.mathtext.nodes import symbols

FORMS = ("value", "expression")
_FEW_NAMES = ("f", "g", "h")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCompositionConfig(TaskConfig):
    """The number and kinds of functions, and the form of the question."""

    n_functions: int = knob(2, "number of functions that are composed", low=2)
    max_coefficient: int = knob(
        6, "coefficients are drawn from -max_coefficient..max_coefficient", low=2
    )
    max_argument: int = knob(9, "the argument lies in -max_argument..max_argument", low=1)
    n_quadratics: int = knob(1, "number of quadratic functions", low=0)
    n_quotients: int = knob(
        0, "number of quotients of linear functions, in questions about a value", low=0
    )
    forms: tuple[str, ...] = knob(
        FORMS, "questions about a value, or about the expanded composition", choices=FORMS
    )

    def check(self) -> None:
        if self.n_quadratics + self.n_quotients > self.n_functions:
            raise ConfigError(f"need n_quadratics + n_quotients <= n_functions, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "FunctionCompositionConfig":
        """One more function every second level; larger numbers; more quadratics, then quotients."""
        return cls(
            n_functions=2 + difficulty // 2,
            max_coefficient=4 + difficulty,
            max_argument=6 + 2 * difficulty,
            n_quadratics=min((1 + difficulty) // 3, 4),
            n_quotients=difficulty // 5,
            forms=FORMS if difficulty > 1 else FORMS[:1],
        )


@dataclass(frozen=True, slots=True)
class Function:
    """A quotient of two polynomials; coefficients start with the constant."""

    top: tuple[int, ...]
    bottom: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True)
class FunctionCompositionProblem:
    """The functions, outermost first; the argument or None; the value or the coefficients."""

    functions: tuple[Function, ...]
    argument: int | None
    result: tuple[Fraction, ...] = hidden()


@register("FunctionComposition-v0", domain="math")
class FunctionCompositionTask(Task[FunctionCompositionConfig, FunctionCompositionProblem]):
    """Evaluate or expand a composition of functions.

    Description:
        Linear and quadratic functions and quotients of linear functions are composed in random
        order. The question is about the value at an integer or, for polynomials only, about the
        composition as an expanded polynomial. The integer is not a pole; if eight draws are poles,
        each quotient is replaced by its numerator.

    Observation:
        The functions, and the composition.

    Action:
        The value as an integer, a fraction or an exact decimal; or the polynomial in x, with one
        term for each power.

    Reward:
        1 for the exact value or polynomial, otherwise 0.

    Verification:
        Exact, on rationals. An expression that is not fully evaluated, expanded and collected
        earns 0.

    Difficulty:
        The number of functions, the quadratics and quotients among them, and the numbers grow.
        There are at most four quadratics (reached at level 11), because each one doubles the
        number of digits of the value.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (composition of functions).
    """

    def generate(self, rng: Rng) -> FunctionCompositionProblem:
        config = self.config
        if pick(rng, config.forms) == "expression":
            functions = self._functions(rng, 0)
            return FunctionCompositionProblem(functions, None, _expanded(functions))
        functions = self._functions(rng, config.n_quotients)
        for _ in range(8):
            argument = integer(rng, -config.max_argument, config.max_argument)
            value = _value(functions, argument)
            if value is not None:
                return FunctionCompositionProblem(functions, argument, (value,))
        functions = tuple(Function(function.top) for function in functions)
        value = evaluate(_expanded(functions), Fraction(config.max_argument))
        return FunctionCompositionProblem(functions, config.max_argument, (value,))

    def _functions(self, rng: Rng, n_quotients: int) -> tuple[Function, ...]:
        config, limit = self.config, self.config.max_coefficient
        kinds = ["quadratic"] * config.n_quadratics + ["quotient"] * n_quotients
        kinds += ["linear"] * (config.n_functions - len(kinds))
        made = []
        for place in rng.permutation(config.n_functions).tolist():
            if kinds[place] == "quadratic":
                made.append(Function((*integers(rng, -limit, limit, 2), nonzero(rng, 3))))
            elif kinds[place] == "quotient":
                made.append(_quotient(rng, limit))
            else:
                made.append(Function((nonzero(rng, limit), _slope(rng, limit))))
        return tuple(made)

    def prompt(self, problem: FunctionCompositionProblem) -> str:
        count = len(problem.functions)
        names = _FEW_NAMES[:count] if count <= 3 else [f"f_{{{i}}}" for i in range(1, count + 1)]
        lines = " \\\\\n".join(
            f"{name}(x) &= {_written(function)}"
            for name, function in zip(names, problem.functions, strict=True)
        )
        inner = "x" if problem.argument is None else str(problem.argument)
        composed = "(".join([*names, inner]) + ")" * count
        given = f"Let\n\n$$\\begin{{aligned}}\n{lines}\n\\end{{aligned}}$$\n\n"
        if problem.argument is None:
            return (
                f"{given}Write ${composed}$ as an expanded polynomial in $x$, with at most one "
                "term for each power of $x$."
            )
        return f"{given}Calculate the exact value of ${composed}$, as an integer or a fraction."

    def verify(self, problem: FunctionCompositionProblem, answer: str) -> Verdict:
        if problem.argument is not None:
            return judge_rational(problem.result[0], answer)
        written = sides(answer)
        limit = len(problem.result) - 1
        named = len(written) < 2 or symbols(written[0])  # f(g(x)) = ..., but not 5 = ...
        found = expanded_of(written[-1], "x", limit) if written and named else None
        if found is None:
            return Verdict.unparsable("expected an expanded polynomial in x of a possible degree")
        right = found == problem.result
        return Verdict.correct() if right else Verdict.wrong("the polynomial is wrong")

    def solve(self, problem: FunctionCompositionProblem) -> str:
        if problem.argument is not None:
            return number(problem.result[0])
        return polynomial(problem.result)

    def effort(self, problem: FunctionCompositionProblem) -> int:
        """Count the digit operations of putting each value, or polynomial, into the next."""
        cost = 0
        if problem.argument is None:
            inner: tuple[int, ...] = (0, 1)
            for function in reversed(problem.functions):
                powers = len(function.top) - 1
                size = sum(map(effort.digits, filter(None, inner)))
                cost += size**powers * effort.digits(max(map(abs, function.top)))
                inner = compose(function.top, inner)
            return cost
        value = Fraction(problem.argument)
        for function in reversed(problem.functions):
            cost += effort.evaluating(function.top, value)
            below = evaluate(tuple(map(Fraction, function.bottom)), value)
            above = evaluate(tuple(map(Fraction, function.top)), value)
            if len(function.bottom) > 1:
                cost += effort.evaluating(function.bottom, value) + effort.dividing(above, below)
            value = above / below
        return cost

    def baseline(self, rng: Rng, problem: FunctionCompositionProblem) -> str:
        """Answer with the first function alone, as if the others were not there."""
        first = problem.functions[0]
        if problem.argument is None:
            return polynomial(first.top)
        value = _value((first,), problem.argument)
        return number(Fraction(problem.argument) if value is None else value)

    def explain(self, problem: FunctionCompositionProblem) -> list[str]:
        """Return the innermost function first, then each next one of its value."""
        count = len(problem.functions)
        names = _FEW_NAMES[:count] if count <= 3 else [f"f_{i}" for i in range(1, count + 1)]
        pairs = list(zip(names, problem.functions, strict=True))[::-1]
        steps = []
        if problem.argument is None:
            inner: tuple[int, ...] = (0, 1)
            for name, function in pairs:
                done = plain(inner)
                if len(function.top) > 2 and len(inner) > 1 and inner != (0, 1):
                    steps.append(f"({done})^2 = {plain(multiply(inner, inner))}")
                inner = compose(function.top, inner)
                put = plain(function.top).replace("x", f"({done})" if done != "x" else "x")
                result = "" if put == plain(inner) else f" = {plain(inner)}"
                steps.append(f"{name} of {done}: {put}{result}")
            return steps
        value = Fraction(problem.argument)
        for name, function in pairs:
            work, reached = value_parts(function.top, value)
            if len(function.bottom) > 1:
                below, divisor = value_parts(function.bottom, value)
                work, reached = f"({work}) / ({below})", reached / divisor
            steps.append(f"{name} at {value}: {work} = {reached}")
            value = reached
        return steps


def _slope(rng: Rng, limit: int) -> int:
    """Return a slope that changes something: neither 0 nor 1."""
    slope = nonzero(rng, limit)
    return limit if slope == 1 else slope


def _quotient(rng: Rng, limit: int) -> Function:
    """Return ``(ax + b)/(cx + d)`` that is not constant."""
    b, c = nonzero(rng, limit), nonzero(rng, limit)
    a, d = integers(rng, -limit, limit, 2)
    return Function((b, a), (d if a * d != b * c else d + 1, c)) if a else Function((b,), (d, c))


def _written(function: Function) -> str:
    top = polynomial(function.top)
    return top if function.bottom == (1,) else f"\\frac{{{top}}}{{{polynomial(function.bottom)}}}"


def _value(functions: tuple[Function, ...], argument: int) -> Fraction | None:
    """Return the value of the composition, or None if the point meets a pole."""
    value = Fraction(argument)
    for function in reversed(functions):
        below = evaluate(tuple(map(Fraction, function.bottom)), value)
        if not below:
            return None
        value = evaluate(tuple(map(Fraction, function.top)), value) / below
    return value


def _expanded(functions: tuple[Function, ...]) -> tuple[Fraction, ...]:
    total: tuple[int, ...] = (0, 1)
    for function in reversed(functions):
        total = compose(function.top, total)
    return tuple(map(Fraction, total))
