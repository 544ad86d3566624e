"""Polynomial division with remainder."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import steps as _steps
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import in_parentheses, polynomial
from rlvr_envs.generators.mathematics.polynomial_answers import items, polynomial_of
from rlvr_envs.generators.mathematics.polynomials import add, multiply, random_polynomial, trim


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialDivisionConfig(TaskConfig):
    """The degrees of quotient and divisor, and how large the coefficients are."""

    quotient_degree: int = knob(2, "degree of the quotient", low=1)
    divisor_degree: int = knob(2, "degree of the divisor", low=1)
    max_coefficient: int = knob(
        9, "largest absolute coefficient of quotient, divisor and remainder", low=1
    )
    max_leading: int = knob(
        3, "the divisor's leading coefficient is drawn from 1..max_leading", low=1
    )

    @classmethod
    def at(cls, difficulty: int) -> "PolynomialDivisionConfig":
        """The two degrees grow in turn, and the coefficients with them."""
        return cls(
            quotient_degree=1 + (1 + difficulty) // 2,
            divisor_degree=1 + difficulty // 2,
            max_coefficient=5 + 3 * difficulty,
            max_leading=1 + difficulty,
        )


@dataclass(frozen=True, slots=True)
class PolynomialDivisionProblem:
    """Dividend and divisor, quotient and remainder; coefficients with the constant first."""

    dividend: tuple[int, ...]
    divisor: tuple[int, ...]
    quotient: tuple[int, ...] = hidden()
    remainder: tuple[int, ...] = hidden()


@register("PolynomialDivision-v0", domain="math")
class PolynomialDivisionTask(WorkedTask[PolynomialDivisionConfig, PolynomialDivisionProblem]):
    """Find the quotient and the remainder of a polynomial division.

    Description:
        Quotient, divisor and remainder are drawn with integer coefficients, and the dividend is
        computed from them. Quotient and remainder are unique.

    Observation:
        Dividend and divisor.

    Action:
        The ordered pair of quotient and remainder.

    Reward:
        1 if both are right, otherwise 0.

    Verification:
        Exact, coefficient by coefficient after multiplying out. No known gaps.

    Difficulty:
        The degrees of quotient and divisor and the coefficients grow.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.6.1.
    """

    def generate(self, rng: Rng) -> PolynomialDivisionProblem:
        config, limit = self.config, self.config.max_coefficient
        quotient = random_polynomial(rng, config.quotient_degree, limit)
        leading = integer(rng, 1, config.max_leading)
        divisor = (
            nonzero(rng, limit),
            *integers(rng, -limit, limit, config.divisor_degree - 1),
            leading,
        )
        remainder = trim(integers(rng, -limit, limit, config.divisor_degree))
        dividend = add(multiply(quotient, divisor), remainder)
        return PolynomialDivisionProblem(dividend, divisor, quotient, remainder)

    def prompt(self, problem: PolynomialDivisionProblem) -> str:
        return (
            f"Divide ${polynomial(problem.dividend)}$ by ${polynomial(problem.divisor)}$. "
            "Find the quotient $q(x)$ and the remainder $r(x)$. The remainder is 0 or has a lower "
            "degree than the divisor. Answer with the pair $(q(x), r(x))$."
        )

    def verify(self, problem: PolynomialDivisionProblem, answer: str) -> Verdict:
        written = items(answer)
        if len(written) != 2:
            return Verdict.unparsable("expected a pair of polynomials in x")
        limit = len(problem.dividend) - 1
        quotient, remainder = (polynomial_of(node, "x", limit) for node in written)
        if quotient is None or remainder is None:
            return Verdict.unparsable("an item is not a polynomial in x, or its degree is too high")
        if quotient != problem.quotient:
            return Verdict.wrong("the quotient is wrong")
        if remainder != problem.remainder:
            return Verdict.wrong("the remainder is wrong")
        return Verdict.correct()

    def solve(self, problem: PolynomialDivisionProblem) -> str:
        return in_parentheses(f"{polynomial(problem.quotient)}, {polynomial(problem.remainder)}")

    def explain(self, problem: PolynomialDivisionProblem) -> list[str]:
        steps, *results = _steps.long_division(problem.dividend, problem.divisor)
        return [
            f"Divide leading terms while the degree is at least {len(problem.divisor) - 1}.",
            *steps,
            "The quotient is {}; the remainder is {}.".format(*map(_steps.polynomial, results)),
        ]

    def baseline(self, rng: Rng, problem: PolynomialDivisionProblem) -> str:
        """Divide the leading terms only, and the constants for the remainder."""
        top, low = problem.dividend, problem.divisor
        power = len(top) - len(low)
        lead = _steps.power_term(Fraction(top[-1], low[-1]), power)
        return in_parentheses(f"{polynomial(lead)}, {top[0] % abs(low[0])}")
