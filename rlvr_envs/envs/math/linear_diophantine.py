"""Linear Diophantine equations in two unknowns."""

import math
import re
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, nonzero
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.generators.mathematics.steps import euclid, operand

# A number has at most 1,000 digits, far more than any problem calls for.
_NUMBER = r"([+-]?[0-9]{1,1000})"
_PAIR = re.compile(
    rf"(?:\(x,y\)=)?(?:{_NUMBER}[,;]{_NUMBER}|\({_NUMBER}[,;]{_NUMBER}\))"
    rf"|x={_NUMBER}(?:[,;]|,?and|,?\\text\{{and\}})y={_NUMBER}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearDiophantineConfig(TaskConfig):
    """The size of the coefficients and of the hidden solution."""

    max_coefficient: int = knob(
        100, "coefficients of x and y have absolute values 2..max_coefficient", low=3
    )
    max_solution: int = knob(
        100, "the largest absolute value of x and y in the hidden solution", low=2
    )
    least: bool = knob(False, "whether the solution with the smallest positive x is asked for")

    @classmethod
    def at(cls, difficulty: int) -> "LinearDiophantineConfig":
        """Coefficients and solution grow fivefold each level; x must be the least one from 4 on."""
        return cls(
            max_coefficient=9 * 5**difficulty,
            max_solution=6 * 5**difficulty,
            least=difficulty > 3,
        )


@dataclass(frozen=True, slots=True)
class LinearDiophantineProblem:
    """The equation ``a x + b y = c``, and one of its solutions: the asked one if only one is."""

    a: int
    b: int
    c: int
    least: bool
    witness: tuple[int, int] = hidden()


@register("LinearDiophantine-v0", domain="math")
class LinearDiophantineTask(Task[LinearDiophantineConfig, LinearDiophantineProblem]):
    """Find an integer solution of a linear equation in two unknowns.

    Description:
        The right side is computed from a hidden solution, so there are infinitely many
        solutions. No coefficient is 1 or -1 and the right side is not 0, so most problems have
        no obvious solution. Any solution is asked for or, at higher levels, the one with the
        smallest positive x.

    Observation:
        The equation.

    Action:
        Two integers, as ``(x, y)`` or ``x = 3, y = -5``.

    Reward:
        1 for an integer solution of the kind that is asked for, otherwise 0.

    Verification:
        The pair is put into the equation, in exact integers. Numbers must be written in decimal,
        with at most 1,000 digits; products and powers are not evaluated.

    Difficulty:
        The coefficients and the hidden solution grow, and then x must be the smallest one.

    References:
        Niven, Zuckerman and Montgomery, An Introduction to the Theory of Numbers, section 5.1.
    """

    def generate(self, rng: Rng) -> LinearDiophantineProblem:
        most, far = self.config.max_coefficient, self.config.max_solution
        a, b = _coefficient(rng, most), _coefficient(rng, most)
        x, y = nonzero(rng, far), nonzero(rng, far)
        if a * x + b * y == 0:
            y = -y  # the two terms then have one sign
        c = a * x + b * y
        if self.config.least:
            period = abs(b) // math.gcd(a, b)
            x = (x - 1) % period + 1
            y = (c - a * x) // b
        return LinearDiophantineProblem(a, b, c, self.config.least, (x, y))

    def prompt(self, problem: LinearDiophantineProblem) -> str:
        sign = "+" if problem.b > 0 else "-"
        wanted = (
            "Of all solutions, give the one with the smallest positive $x$"
            if problem.least
            else "Any integer solution is accepted. Give one solution"
        )
        return (
            f"Find integers $x$ and $y$ such that ${problem.a}x {sign} {abs(problem.b)}y = "
            f"{problem.c}$. {wanted} as an ordered pair $(x, y)$."
        )

    def verify(self, problem: LinearDiophantineProblem, answer: str) -> Verdict:
        pair = _read_pair(answer)
        if pair is None:
            return Verdict.unparsable("expected a pair of integers such as (3, -5)")
        if problem.a * pair[0] + problem.b * pair[1] != problem.c:
            return Verdict.wrong("the pair does not satisfy the equation")
        if problem.least and pair[0] != problem.witness[0]:
            return Verdict.wrong("this is a solution, but x is not the smallest positive one")
        return Verdict.correct()

    def solve(self, problem: LinearDiophantineProblem) -> str:
        return f"({problem.witness[0]}, {problem.witness[1]})"

    def effort(self, problem: LinearDiophantineProblem) -> int:
        """Count the digit operations of Euclid's algorithm, forth and back, and of scaling."""
        a, b, c = problem.a, problem.b, problem.c
        scaling = effort.multiplying(c, a) + effort.multiplying(c, b)
        lowering = effort.dividing(b * c, b) + effort.multiplying(a, c) if problem.least else 0
        return 3 * effort.euclid(a, b) + scaling + lowering

    def baseline(self, rng: Rng, problem: LinearDiophantineProblem) -> str:
        """Set x to 1 and divide for y, whether or not a remainder is left."""
        return f"(1, {(problem.c - problem.a) // problem.b})"

    def explain(self, problem: LinearDiophantineProblem) -> list[str]:
        """Return Euclid's divisions, Bezout's numbers from them, and the way to a solution."""
        a, b, c = problem.a, problem.b, problem.c
        divisions = euclid(abs(a), abs(b))
        steps = [f"{division}." for division in divisions]
        high, low = max(abs(a), abs(b)), min(abs(a), abs(b))
        rows = [(1, 0), (0, 1)]  # each remainder as a sum of multiples of high and low
        for division in divisions[:-1]:
            (s, t), (u, v) = rows[-2:]
            rows.append((s - division.quotient * u, t - division.quotient * v))
            left = f"{operand(rows[-1][0])} * {high} + {operand(rows[-1][1])} * {low}"
            steps.append(f"Going back, {division.remainder} = {left}.")
        s, t = rows[-1] if abs(a) >= abs(b) else rows[-1][::-1]
        common = divisions[-1].divisor
        factor = c // common
        x, y = (s if a > 0 else -s) * factor, (t if b > 0 else -t) * factor
        steps.append(
            f"{c} is {operand(factor)} * {common}, so multiply by {factor}; mind the signs."
        )
        steps.append(f"This gives {operand(a)} * {operand(x)} + {operand(b)} * {operand(y)} = {c}.")
        if (x, y) != problem.witness:
            right, down = b // common, a // common
            steps.append(
                f"Adding k * {operand(right)} to x and k * {operand(-down)} to y keeps it right."
            )
            k = (problem.witness[0] - x) // right
            steps.append(
                f"With k = {k}: {x} + {operand(k)} * {operand(right)} = {problem.witness[0]} and "
                f"{y} + {operand(k)} * {operand(-down)} = {problem.witness[1]}."
            )
        return steps


def _coefficient(rng: Rng, limit: int) -> int:
    size = integer(rng, 2, limit)
    return size if integer(rng, 0, 1) else -size


def _read_pair(answer: str) -> tuple[int, int] | None:
    text = squeeze(answer)
    match = _PAIR.fullmatch(text) if text is not None else None
    if match is None:
        return None
    x, y = (number for number in match.groups() if number is not None)
    return int(x), int(y)
