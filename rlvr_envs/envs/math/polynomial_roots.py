"""All real roots of a polynomial with planted rational roots."""

import math
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import root_candidates, written
from rlvr_envs.generators.mathematics.latex import number_set, polynomial
from rlvr_envs.generators.mathematics.polynomials import Poly, evaluate, multiply
from rlvr_envs.generators.mathematics.steps import divided_out, horner, operand
from rlvr_envs.generators.mathematics.steps import polynomial as plain
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialRootsConfig(TaskConfig):
    """How many roots there are, how large, and which other factors the polynomial has."""

    n_roots: int = knob(3, "distinct real roots", low=1)
    max_root: int = knob(20, "numerators of the roots lie in -max_root..max_root")
    max_denominator: int = knob(
        1, "denominators of the roots are drawn from 1..max_denominator", low=1
    )
    n_repeats: int = knob(0, "repeated linear factors", low=0)
    n_quadratics: int = knob(0, "quadratic factors without real roots", low=0)
    max_content: int = knob(1, "a common integer factor is drawn from 1..max_content", low=1)

    def check(self) -> None:
        if self.max_root < self.n_roots:
            raise ConfigError(f"need max_root >= n_roots, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "PolynomialRootsConfig":
        """A root every second level, larger roots; repeats, fractions and quadratics follow."""
        return cls(
            n_roots=2 + difficulty // 2,
            max_root=20 + 2 * difficulty,
            max_denominator=1 + difficulty // 3,
            n_repeats=difficulty // 3,
            n_quadratics=difficulty // 4,
            max_content=4,
        )


@dataclass(frozen=True, slots=True)
class PolynomialRootsProblem:
    """The coefficients, constant first, and the distinct real roots in rising order."""

    coefficients: tuple[int, ...]
    roots: tuple[Fraction, ...] = hidden()


@register("PolynomialRoots-v0", domain="math")
class PolynomialRootsTask(Task[PolynomialRootsConfig, PolynomialRootsProblem]):
    """Find all real roots of a polynomial.

    Description:
        The expanded product of linear factors with distinct planted roots, of repeats of some of
        them, of quadratic factors with negative discriminant, and of an integer.

    Observation:
        The equation that sets the polynomial to 0.

    Action:
        The set of all real solutions, each once, in any order.

    Reward:
        1 for exactly the real roots, otherwise 0.

    Verification:
        Exact, on rationals, as sets. No known gaps.

    Difficulty:
        The number of roots, their numerators and denominators, the repeats and the quadratics
        grow.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (polynomial roots).
    """

    def generate(self, rng: Rng) -> PolynomialRootsProblem:
        config = self.config
        roots: list[Fraction] = []
        while len(roots) < config.n_roots:
            # There are at least twice as many candidates as roots, so this ends soon.
            top = integer(rng, -config.max_root, config.max_root)
            root = Fraction(top, integer(rng, 1, config.max_denominator))
            if root not in roots:
                roots.append(root)
        repeats = [roots[i] for i in integers(rng, 0, config.n_roots - 1, config.n_repeats)]
        product: Poly = (integer(rng, 1, config.max_content),)
        for root in (*roots, *repeats):
            product = multiply(product, (-root.numerator, root.denominator))
        for _ in range(config.n_quadratics):
            product = multiply(product, _without_real_roots(rng))
        return PolynomialRootsProblem(product, tuple(sorted(roots)))

    def prompt(self, problem: PolynomialRootsProblem) -> str:
        return (
            "Find all real solutions of the equation\n\n"
            f"$${polynomial(problem.coefficients)} = 0$$\n\n"
            "Answer with the set of exact solutions. List each solution once, even if it is a "
            "multiple root."
        )

    def verify(self, problem: PolynomialRootsProblem, answer: str) -> Verdict:
        return judge_math(number_set(problem.roots), answer, answer_type="set", exact=True)

    def solve(self, problem: PolynomialRootsProblem) -> str:
        return number_set(problem.roots)

    def explain(self, problem: PolynomialRootsProblem) -> list[str]:
        """Return the roots found and divided out one by one, until a quadratic is left."""
        rest = problem.coefficients
        steps = []
        todo = list(problem.roots)
        while len(rest) > 3 and todo:
            root = min(todo, key=lambda r: (r.denominator, abs(r), r))
            factor = (-root.numerator, root.denominator)
            if evaluate(tuple(map(Fraction, rest)), root):
                todo.remove(root)
                continue
            steps.append(f"Try x = {root}: {horner(rest, root)}, so {root} is a root.")
            rest = divided_out(rest, factor)
            steps.append(f"Dividing by {plain(factor)} leaves {plain(rest)}.")
        left = [r for r in todo if not evaluate(tuple(map(Fraction, rest)), r)]
        if len(rest) == 3:
            return [*steps, *_quadratic(rest)]
        if len(rest) == 2:
            return [*steps, f"{plain(rest)} = 0 gives x = {left[0]}."]
        return [*steps, f"{plain(rest)} has no real root: it is positive or negative everywhere."]

    def effort(self, problem: PolynomialRootsProblem) -> int:
        """Count the rational roots that a search could try, and the worked solution's digits."""
        return written(self.explain(problem)) + root_candidates(problem.coefficients)

    def baseline(self, rng: Rng, problem: PolynomialRootsProblem) -> str:
        """Take 1 for a root, so that the quotient of the outer coefficients is the other."""
        return number_set(
            {Fraction(1), Fraction(problem.coefficients[0], problem.coefficients[-1])}
        )


def _without_real_roots(rng: Rng) -> Poly:
    """Return ``ax² + bx + c`` with ``b² < 4ac``."""
    first, middle = integer(rng, 1, 3), integer(rng, -5, 5)
    return (middle**2 // (4 * first) + integer(rng, 1, 5), middle, first)


def _quadratic(coefficients: Poly) -> list[str]:
    """Return the solution of a quadratic equation whose roots are rational, if it has any."""
    c, b, a = coefficients
    square = b * b - 4 * a * c
    work = f"{operand(b)}^2 - 4 * {operand(a)} * {operand(c)} = {square}"
    steps = [f"{plain(coefficients)} has the discriminant b^2 - 4ac: {work}"]
    if square < 0:
        return [*steps, "It is negative, so there are no more real roots."]
    root = math.isqrt(square)
    steps.append(f"Its square root is {root}, as {root}^2 = {square}.")
    signs = ("+", "-") if root else ("+",)
    for sign in signs:
        value = Fraction(-b + root if sign == "+" else -b - root, 2 * a)
        steps.append(f"x = ({-b} {sign} {root}) / (2 * {operand(a)}) = {value}")
    return steps
