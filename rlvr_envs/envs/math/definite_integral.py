"""Definite integrals with exact values, built by differentiating an antiderivative."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import antiderivatives
from rlvr_envs.generators.mathematics.antiderivatives import Pair
from rlvr_envs.generators.mathematics.calculus import (
    PI,
    ZERO,
    Node,
    X,
    add,
    latex,
    mul,
    neg,
    num,
    substitute,
)
from rlvr_envs.generators.mathematics.calculus_steps import from_text
from rlvr_envs.generators.mathematics.effort import symbols
from rlvr_envs.generators.mathematics.integration_steps import hurried_integral, integral_steps
from rlvr_envs.verifiers.symbolic import judge_math

_ANGLES = tuple(Fraction(k, n) for n, k in ((1, 1), (2, 1), (3, 1), (3, 2), (4, 1), (6, 1)))
_DRAWS = 8  # how often the bounds of an integral that vanishes are drawn anew

_LAST_KIND = len(antiderivatives.KINDS) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DefiniteIntegralConfig(TaskConfig):
    """The parts of the integrand, and the bounds."""

    first_kind: int = knob(0, "the simplest kind of integral that may occur, from 0")
    last_kind: int = knob(4, "the hardest kind of integral that may occur, up to 7")
    n_terms: int = knob(1, "number of integrals that are added", low=1)
    degree: int = knob(2, "degree of the polynomials in the antiderivative", low=1)
    max_coefficient: int = knob(9, "the largest absolute value of their coefficients", low=2)
    max_bound: int = knob(3, "bounds are integers from 0 to max_bound, or multiples of pi", low=1)

    def check(self) -> None:
        if not 0 <= self.first_kind <= self.last_kind <= _LAST_KIND:
            raise ConfigError(f"need 0 <= first_kind <= last_kind <= {_LAST_KIND}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "DefiniteIntegralConfig":
        """Kinds get harder up to level 9; terms grow up to level 12; degrees, coefficients always.

        Bounds stop at 5: with larger ones, one end of an integral of exponentials would be
        negligible beside the other.
        """
        return cls(
            first_kind=min(difficulty // 3, 3),
            last_kind=min(difficulty, _LAST_KIND),
            n_terms=min(1 + difficulty // 4, 4),
            degree=1 + (difficulty + 2) // 4,
            max_coefficient=9 + 2 * difficulty,
            max_bound=min(4 + difficulty // 4, 5),
        )


@dataclass(frozen=True, slots=True)
class DefiniteIntegralProblem:
    """An integrand and bounds in LaTeX, and the exact value."""

    integrand: str
    low: str
    high: str
    value: str = hidden()


@register("DefiniteIntegral-v0", domain="math")
class DefiniteIntegralTask(Task[DefiniteIntegralConfig, DefiniteIntegralProblem]):
    """Find the exact value of a definite integral.

    Description:
        The integrand is a sum of derivatives of chosen functions: polynomials, sines and
        exponentials, logarithms, compositions (substitution), products (by parts), rational
        functions (partial fractions), and exponentials times sines. From level 1, some problems
        integrate polynomials times sines and cosines between multiples of pi.

    Observation:
        The integral with its bounds.

    Action:
        An exact number, which may contain pi, e, roots, logarithms and other function values.

    Reward:
        1 for the value of the integral, otherwise 0.

    Verification:
        The answer is compared as a real number with the exact value, in any form. A rounded
        decimal does not pass.

    Difficulty:
        The kinds of integral, the number of terms, the degrees, coefficients and bounds grow.

    References:
        Spivak, Calculus, chapters 14 and 19.
    """

    def generate(self, rng: Rng) -> DefiniteIntegralProblem:
        config = self.config
        circular = config.last_kind > 0 and int(rng.integers(4)) == 0
        pair = self._circular(rng) if circular else self._general(rng)
        antiderivative = pair.antiderivative
        low: Node = ZERO
        high: Node = ZERO
        value: Node = ZERO
        for _ in range(_DRAWS):
            low, high = self._angles(rng) if circular else self._bounds(rng)
            start, end = (substitute(antiderivative, X, bound) for bound in (low, high))
            value = add(end, neg(start))
            if value != ZERO:
                break
        return DefiniteIntegralProblem(latex(pair.integrand), latex(low), latex(high), latex(value))

    def prompt(self, problem: DefiniteIntegralProblem) -> str:
        bounds = f"\\int_{{{problem.low}}}^{{{problem.high}}}"
        return (
            f"Evaluate the definite integral $${bounds} \\left( {problem.integrand} \\right) dx.$$ "
            "Give the exact value, not a rounded decimal."
        )

    def verify(self, problem: DefiniteIntegralProblem, answer: str) -> Verdict:
        return judge_math(problem.value, answer, answer_type="real", exact=True)

    def solve(self, problem: DefiniteIntegralProblem) -> str:
        return problem.value

    def effort(self, problem: DefiniteIntegralProblem) -> int:
        """Count the symbols of the integrand, three times, and of the value.

        The antiderivative is about as long as the integrand, and both bounds are put into it.
        """
        return 3 * symbols(problem.integrand) + symbols(problem.value)

    def baseline(self, rng: Rng, problem: DefiniteIntegralProblem) -> str:
        """Integrate powers of x, take everything else for constant, and put the bounds in."""
        whole = hurried_integral(from_text(problem.integrand))
        low, high = (substitute(whole, X, from_text(at)) for at in (problem.low, problem.high))
        return latex(add(high, neg(low)))

    def explain(self, problem: DefiniteIntegralProblem) -> list[str]:
        found = integral_steps(from_text(problem.integrand))
        if found is None:
            return []
        steps, whole = found
        values = []
        for bound in (problem.high, problem.low):
            values.append(substitute(whole, X, from_text(bound)))
            steps.append(f"At {bound} this is {latex(values[-1])}.")
        return [*steps, f"Upper minus lower: {latex(add(values[0], neg(values[1])))}"]

    def _general(self, rng: Rng) -> Pair:
        config = self.config
        return antiderivatives.draw(
            rng,
            (config.first_kind, config.last_kind),
            config.n_terms,
            config.degree,
            config.max_coefficient,
        )

    def _circular(self, rng: Rng) -> Pair:
        """Return polynomials times sines and cosines, whose values at multiples of pi are short."""
        config = self.config
        limit = config.max_coefficient
        pairs = []
        for _ in range(config.n_terms):
            degree = integer(rng, 0, config.degree - 1)
            first, second = (
                (*integers(rng, -limit, limit, degree), nonzero(rng, limit)) for _ in range(2)
            )
            pairs.append(antiderivatives.circular(rng, integer(rng, 1, 6), first, second))
        return antiderivatives.total(pairs)

    def _bounds(self, rng: Rng) -> tuple[Node, Node]:
        low = integer(rng, 0, self.config.max_bound - 1)
        return num(low), num(integer(rng, low + 1, self.config.max_bound))

    def _angles(self, rng: Rng) -> tuple[Node, Node]:
        low, high = sorted((pick(rng, (Fraction(0), *_ANGLES)), pick(rng, _ANGLES)))
        if low == high:
            low = Fraction(0)
        return mul(num(low), PI), mul(num(high), PI)
