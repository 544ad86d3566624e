"""Factoring a polynomial completely over the integers."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import root_candidates, written
from rlvr_envs.generators.mathematics.latex import in_parentheses, polynomial, power
from rlvr_envs.generators.mathematics.polynomial_answers import factors_of, polynomial_of, sides
from rlvr_envs.generators.mathematics.polynomials import Poly, compose, content, multiply
from rlvr_envs.generators.mathematics.steps import divided_out, horner, operand
from rlvr_envs.generators.mathematics.steps import polynomial as plain
from rlvr_envs.verifiers.mathtext.nodes import Call, Sym

_PRIMES = (2, 3, 5, 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialFactorizationConfig(TaskConfig):
    """How many factors there are, of what degree, and how large."""

    n_factors: int = knob(3, "irreducible factors, counted with multiplicity", low=2)
    max_degree: int = knob(2, "largest degree of a factor", low=1)
    max_leading: int = knob(
        2, "leading coefficients of the factors are drawn from 1..max_leading", low=1
    )
    max_coefficient: int = knob(
        9, "largest absolute value of the other coefficients of linear and quadratic factors", low=2
    )
    max_content: int = knob(1, "a common integer factor is drawn from 1..max_content", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "PolynomialFactorizationConfig":
        """A factor every second level, a degree every third; coefficients and content grow too."""
        return cls(
            n_factors=2 + difficulty // 2,
            max_degree=1 + (difficulty + 1) // 3,
            max_leading=1 + difficulty // 2,
            max_coefficient=20 + 2 * difficulty,
            max_content=3 + difficulty // 3,
        )


@dataclass(frozen=True, slots=True)
class PolynomialFactorizationProblem:
    """The coefficients, constant first; the common integer factor; the irreducible factors."""

    coefficients: tuple[int, ...]
    content: int = hidden()
    factors: tuple[tuple[int, ...], ...] = hidden()


@register("PolynomialFactorization-v0", domain="math")
class PolynomialFactorizationTask(
    Task[PolynomialFactorizationConfig, PolynomialFactorizationProblem]
):
    """Write a polynomial as a product of irreducible polynomials with integer coefficients.

    Description:
        The expanded product of planted irreducible factors and an integer. Linear factors are
        primitive, quadratic ones have a discriminant that is not a square, and those of higher
        degree satisfy Eisenstein's criterion up to a shift of the variable.

    Observation:
        The expanded polynomial.

    Action:
        The product, as an expression; an equation with the polynomial on one side also works.

    Reward:
        1 for a complete factorisation, otherwise 0.

    Verification:
        Each written factor must be, up to its sign, one of the irreducible factors, and integers
        must multiply to the common factor; order, signs and grouping are free. By unique
        factorisation nothing else is complete. A polynomial factor with a common integer is
        wrong. No known gaps.

    Difficulty:
        The number of factors, their degrees and coefficients, and the common integer grow.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (algebra modules).
    """

    def generate(self, rng: Rng) -> PolynomialFactorizationProblem:
        config = self.config
        degrees = integers(rng, 1, config.max_degree, config.n_factors)
        factors = [self._irreducible(rng, degree) for degree in degrees]
        if config.n_factors > 2 and integer(rng, 0, 3) == 0:
            factors[-1] = factors[0]
        common = integer(rng, 1, config.max_content)
        product: Poly = (common,)
        for factor in factors:
            product = multiply(product, factor)
        return PolynomialFactorizationProblem(product, common, tuple(sorted(factors)))

    def _irreducible(self, rng: Rng, degree: int) -> Poly:
        leading = integer(rng, 1, self.config.max_leading)
        limit = self.config.max_coefficient
        if degree == 1:
            constant = nonzero(rng, limit)
            common = math.gcd(constant, leading)
            return (constant // common, leading // common)
        if degree == 2:
            for _ in range(20):
                constant, middle = nonzero(rng, limit), integer(rng, -limit, limit)
                found = (constant, middle, leading)
                if content(found) == 1 and not _is_square(middle**2 - 4 * leading * constant):
                    return found
        return _eisenstein(rng, degree, leading, limit)

    def prompt(self, problem: PolynomialFactorizationProblem) -> str:
        common = (
            " Write the greatest common divisor of the coefficients as a separate integer factor."
            if content(problem.coefficients) > 1
            else ""
        )
        return (
            "Factor the polynomial completely over the integers:\n\n"
            f"$${polynomial(problem.coefficients)}$$\n\n"
            "Answer with a product of polynomials that have integer coefficients and are "
            f"irreducible over the integers.{common}"
        )

    def verify(self, problem: PolynomialFactorizationProblem, answer: str) -> Verdict:
        written = sides(answer)
        if not written:
            return Verdict.unparsable("expected a product of polynomials in x")
        degree = len(problem.coefficients) - 1
        for side in written[:-1]:
            if isinstance(side, Call) or (isinstance(side, Sym) and side.name != "x"):
                continue  # a name for the polynomial
            if polynomial_of(side, "x", degree) != tuple(map(Fraction, problem.coefficients)):
                return Verdict.wrong("a side of the equation is not the polynomial")
        factors = factors_of(written[-1], "x", degree)
        if factors is None:
            return Verdict.wrong(
                "the answer is not a product of integer polynomials, or its degree is too high"
            )
        return _judge_factors(problem, factors)

    def solve(self, problem: PolynomialFactorizationProblem) -> str:
        counts = Counter(problem.factors)
        product = "".join(
            power(in_parentheses(polynomial(factor)), count)
            for factor, count in sorted(counts.items())
        )
        return product if problem.content == 1 else f"{problem.content}{product}"

    def explain(self, problem: PolynomialFactorizationProblem) -> list[str]:
        """Return the common integer, then the factors divided out one by one."""
        steps = []
        rest: Poly = tuple(value // problem.content for value in problem.coefficients)
        if problem.content > 1:
            steps.append(f"{problem.content} divides all coefficients. This leaves {plain(rest)}.")
        factors = sorted(problem.factors, key=lambda factor: (len(factor), factor[-1], factor))
        if len(factors) == 2 and len(rest) == 3 and rest[-1] == 1:
            (p, _), (q, _) = factors
            steps.append(f"Look for two numbers with the product {p * q} and the sum {p + q}.")
            steps.append(f"{operand(p)} * {operand(q)} = {p * q} and {p} + {operand(q)} = {p + q}")
            return [*steps, f"So the factors are {plain((p, 1))} and {plain((q, 1))}."]
        for factor in factors[:-1]:
            if len(factor) == 2:
                root = Fraction(-factor[0], factor[1])
                steps.append(
                    f"Try x = {root}: {horner(rest, root)}, so {plain(factor)} is a factor."
                )
            else:
                steps.append(f"The factor {plain(factor)} has no rational root to find it by.")
                steps.append(_irreducible(factor))
            rest = divided_out(rest, factor)
            steps.append(f"Dividing by {plain(factor)} leaves {plain(rest)}.")
        return [*steps, _irreducible(factors[-1])]

    def effort(self, problem: PolynomialFactorizationProblem) -> int:
        """Count the rational roots that a search could try, and the worked solution's digits."""
        return written(self.explain(problem)) + root_candidates(problem.coefficients)

    def baseline(self, rng: Rng, problem: PolynomialFactorizationProblem) -> str:
        """Take out the common integer, and leave the rest as it is."""
        common = content(problem.coefficients)
        rest = tuple(value // common for value in problem.coefficients)
        return f"{common}{in_parentheses(polynomial(rest))}"


def _judge_factors(
    problem: PolynomialFactorizationProblem, factors: Iterable[tuple[Poly, int]]
) -> Verdict:
    planted = Counter(problem.factors)
    found: Counter[Poly] = Counter()
    constant = 1
    for factor, count in factors:
        sign = -1 if factor[-1] < 0 else 1
        if len(factor) > 1:
            unsigned = tuple(sign * value for value in factor)
            if unsigned not in planted:
                return Verdict.wrong(
                    "a polynomial factor is reducible or does not divide the polynomial"
                )
            found[unsigned] += count
            constant *= sign**count
        elif abs(factor[0]) > problem.content:  # also keeps the power below small
            return Verdict.wrong("an integer factor does not divide the polynomial")
        else:
            constant *= factor[0] ** count
    if found != planted or constant != problem.content:
        return Verdict.wrong("the factors do not multiply to the polynomial")
    return Verdict.correct()


def _is_square(value: int) -> bool:
    return value >= 0 and math.isqrt(value) ** 2 == value


def _eisenstein(rng: Rng, degree: int, leading: int, limit: int) -> Poly:
    """Return an irreducible polynomial by Eisenstein's criterion, its variable shifted.

    All coefficients but the first are divisible by a prime, the constant not by its square.
    """
    prime = pick(rng, _PRIMES)
    while leading % prime == 0:
        leading //= prime
    bound = max(1, limit // prime)
    constant = nonzero(rng, bound)
    while constant % prime == 0:
        constant //= prime
    middle = [prime * value for value in integers(rng, -bound, bound, degree - 1)]
    found: Poly = (prime * constant, *middle, leading)
    common = content(found)
    found = tuple(value // common for value in found)
    return compose(found, (integer(rng, -1, 1), 1))


def _irreducible(factor: Poly) -> str:
    """Return why a factor cannot be split further."""
    if len(factor) == 2:
        return f"{plain(factor)} is linear, so this is all."
    if len(factor) > 3:
        return f"{plain(factor)} cannot be factored further over the integers."
    c, b, a = factor
    work = f"{operand(b)}^2 - 4 * {operand(a)} * {operand(c)} = {b * b - 4 * a * c}"
    return f"{plain(factor)} does not factor: its discriminant {work} is no square."
