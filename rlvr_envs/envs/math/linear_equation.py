"""Linear equations in one unknown, with parentheses and fractions on both sides."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, nonzero
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.evaluation import operations
from rlvr_envs.generators.mathematics.latex import appended, in_parentheses, number, signed_sum
from rlvr_envs.generators.mathematics.steps import ascii_math, operand, polynomial
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearEquationConfig(TaskConfig):
    """The depth of the parentheses and the size of the numbers."""

    depth: int = knob(
        2, "levels of nested parentheses on the left; the right has half as many", low=0
    )
    max_coefficient: int = knob(
        9, "coefficients are drawn from -max_coefficient..max_coefficient", low=2
    )
    max_solution: int = knob(
        20, "the solution's numerator lies in -max_solution..max_solution", low=2
    )
    max_denominator: int = knob(
        1,
        "the largest denominator of the solution and of quotients; 1 means integers",
        low=1,
    )
    n_products: int = knob(
        0, "products of two linear factors on each side, whose squares cancel", low=0, high=20
    )

    @classmethod
    def at(cls, difficulty: int) -> "LinearEquationConfig":
        """Deeper parentheses every third level, larger numbers, and fractions from level 2.

        From level 4 on, products of linear factors stand on both sides; their squares cancel.
        """
        return cls(
            depth=(2 + difficulty) // 3,
            max_coefficient=5 + 2 * difficulty,
            max_solution=10 + 10 * difficulty,
            max_denominator=max(1, difficulty),
            n_products=min(difficulty // 4, 20),
        )


@dataclass(frozen=True, slots=True)
class LinearEquationProblem:
    """The two sides in LaTeX, and the unique solution.

    The products belong to the left and to the right in turn, each as the slope and the constant of
    its two factors; ``left`` and ``right`` are without them.
    """

    left: str
    right: str
    solution: Fraction = hidden()
    products: tuple[tuple[int, int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """An expression as written, and its slope and constant."""

    text: str
    slope: Fraction
    constant: Fraction

    def at(self, x: Fraction) -> Fraction:
        return self.slope * x + self.constant


_NOTHING = _Side("", Fraction(0), Fraction(0))


@register("LinearEquation-v0", domain="math")
class LinearEquationTask(WorkedTask[LinearEquationConfig, LinearEquationProblem]):
    """Solve a linear equation in x.

    Description:
        Each side nests sums of a multiple (or a quotient) of an expression in parentheses, a
        multiple of x and a constant. The solution is drawn first, and a last constant on the
        right makes the equation true for it. The slopes of the two sides differ, so the solution
        is unique. Products of two linear factors may stand on both sides, with the same squares.

    Observation:
        The equation.

    Action:
        The value of x, alone or as ``x = ...``.

    Reward:
        1 for the solution, otherwise 0.

    Verification:
        Exact, on rationals. No known gaps.

    Difficulty:
        The depth of the parentheses, the coefficients, and the solution's numerator and
        denominator grow; products whose squares cancel come in.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (algebra modules).
    """

    def generate(self, rng: Rng) -> LinearEquationProblem:
        config = self.config
        bottom = integer(rng, 1, config.max_denominator)
        solution = Fraction(nonzero(rng, config.max_solution), bottom)
        left = self._side(rng, config.depth)
        right = self._side(rng, config.depth // 2, constant=0) if config.depth else _NOTHING
        products = tuple(p for _ in range(config.n_products) for p in self._products(rng))
        constant, slope, _ = _balance(products)
        if left.slope + slope == right.slope:
            sign = -1 if left.slope < 0 else 1
            text = appended(left.text, signed_sum([(sign, "x")]))
            left = _Side(text, left.slope + sign, left.constant)
        rest = left.at(solution) - right.at(solution) + slope * solution + constant
        right_text = appended(right.text, number(rest))
        return LinearEquationProblem(left.text, right_text, solution, products)

    def _products(self, rng: Rng) -> list[tuple[int, int, int, int]]:
        """Return a product for either side, with the same square."""
        limit = min(9, self.config.max_coefficient)
        one, two = integer(rng, 1, 3), integer(rng, 1, 3)
        tops = [(one, two), (one * two, 1) if integer(rng, 0, 1) else (two, one)]
        return [(a, nonzero(rng, limit), c, nonzero(rng, limit)) for a, c in tops]

    def _side(self, rng: Rng, depth: int, constant: int | None = None) -> _Side:
        """Return a sum of a multiple of x, a constant and, unless flat, a nested part."""
        slope = nonzero(rng, self.config.max_coefficient)
        if constant is None:
            constant = nonzero(rng, self.config.max_coefficient)
        flat = _Side(signed_sum([(slope, "x"), (constant, "")]), *map(Fraction, (slope, constant)))
        if not depth:
            return flat
        inner = self._side(rng, depth - 1)
        factor = Fraction(self._factor(rng))
        nested = signed_sum([(factor, in_parentheses(inner.text))])
        if self.config.max_denominator > 1 and integer(rng, 0, 1):
            factor = Fraction(1 if factor > 0 else -1, integer(rng, 2, self.config.max_denominator))
            nested = f"{'-' if factor < 0 else ''}\\frac{{{inner.text}}}{{{factor.denominator}}}"
        outer = _Side(
            appended(nested, flat.text),
            factor * inner.slope + slope,
            factor * inner.constant + constant,
        )
        return outer if outer.slope else _Side(f"{outer.text} + x", Fraction(1), outer.constant)

    def _factor(self, rng: Rng) -> int:
        """Return a factor other than 0 and 1, so all parentheses are necessary."""
        value = nonzero(rng, self.config.max_coefficient)
        return value if value != 1 else self.config.max_coefficient

    def prompt(self, problem: LinearEquationProblem) -> str:
        left, right = (
            "".join([text, *(f" + {_product(p)}" for p in problem.products[side::2])])
            for side, text in enumerate((problem.left, problem.right))
        )
        equation = f"{left} = {right}"
        return f"Solve for $x$:\n\n$${equation}$$\n\nGive the exact value of $x$."

    def verify(self, problem: LinearEquationProblem, answer: str) -> Verdict:
        return judge_math(number(problem.solution), answer, answer_type="rational", exact=True)

    def solve(self, problem: LinearEquationProblem) -> str:
        return number(problem.solution)

    def explain(self, problem: LinearEquationProblem) -> list[str]:
        """Return both sides simplified, the terms in x collected, and the division."""
        steps = []
        sides: list[tuple[Fraction, Fraction]] = []
        for name, text in (("left", problem.left), ("right", problem.right)):
            lines, (constant, slope) = operations(text, "x")
            for product in problem.products[len(sides) :: 2]:
                expanded = _expanded(product)
                lines.append(f"{ascii_math(_product(product))} = {polynomial(expanded)}")
                constant, slope = constant + expanded[0], slope + expanded[1]
            sides.append((constant, slope))
            if lines:
                steps += [f"Simplify the {name} side.", *lines]
        if problem.products:
            steps.append("The squares on both sides are the same and cancel.")
        (a, m), (b, n) = sides
        shown = [polynomial(side) for side in sides]
        if steps:
            steps.append(f"The equation is now {shown[0]} = {shown[1]}.")
        if n:
            verb, size = ("Subtract", polynomial((0, n))) if n > 0 else ("Add", polynomial((0, -n)))
            steps.append(
                f"{verb} {size} on both sides: {polynomial((a, m - n))} = {polynomial((b,))}"
            )
        if a:
            verb = "Subtract" if a > 0 else "Add"
            steps.append(f"{verb} {abs(a)} on both sides: {polynomial((0, m - n))} = {b - a}")
        if m - n != 1:
            steps.append(
                f"Divide both sides by {m - n}: x = {operand(b - a)} / {operand(m - n)} = "
                f"{problem.solution}"
            )
        return steps

    def baseline(self, rng: Rng, problem: LinearEquationProblem) -> str:
        """Divide the last number of the equation by the first, as if nothing were between."""
        numbers = re.findall("[0-9]+", f"{problem.left} {problem.right}")
        return f"{numbers[-1]}/{numbers[0]}"


def _expanded(product: tuple[int, int, int, int]) -> tuple[int, int, int]:
    """Return the coefficients of a product of two linear factors, constant first."""
    a, b, c, d = product
    return b * d, a * d + b * c, a * c


def _balance(products: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int]:
    """Return the coefficients of the products on the left minus those on the right."""
    rows = [_expanded(product) for product in products]
    constant, slope, square = (
        sum(row[k] for row in rows[::2]) - sum(row[k] for row in rows[1::2]) for k in range(3)
    )
    return constant, slope, square


def _product(product: tuple[int, int, int, int]) -> str:
    a, b, c, d = product
    return f"({signed_sum([(a, 'x'), (b, '')])})({signed_sum([(c, 'x'), (d, '')])})"
