"""Systems of linear equations with a unique solution."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integers
from rlvr_envs.core.task import Variant
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import Rational, in_parentheses, linear, number, point
from rlvr_envs.generators.mathematics.steps import ascii_math, eliminate, operand
from rlvr_envs.verifiers.symbolic import judge_math

_JOINT = re.compile(
    r"(?:[,;]|\\text\{\s*(?:,\s*)?and\s*\}|\band\b|\\quad|\\\\)(?:\s|\\[,; ]|and\b)*"
)
_PLAIN_NAME = re.compile(r"[^a-z0-9]")  # what x_{10} and x_10 differ by
_PRIME = 2**31 - 1  # a matrix that is regular modulo a prime is regular


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSystemConfig(TaskConfig):
    """The number of unknowns and the size of the numbers."""

    n_variables: int = knob(3, "number of unknowns and of equations", low=2)
    max_coefficient: int = knob(
        9, "coefficients are drawn from -max_coefficient..max_coefficient", low=1
    )
    max_solution: int = knob(
        20, "numerators of the solution lie in -max_solution..max_solution", low=1
    )
    max_denominator: int = knob(
        1, "denominators of the solution are drawn from 1..max_denominator", low=1
    )

    @classmethod
    def at(cls, difficulty: int) -> "LinearSystemConfig":
        """One more unknown every second level, larger numbers, and fractions from level 4."""
        return cls(
            n_variables=2 + difficulty // 2,
            max_coefficient=3 + 2 * difficulty,
            max_solution=6 + 6 * difficulty,
            max_denominator=max(1, difficulty - 2),
        )


@dataclass(frozen=True, slots=True)
class LinearSystemProblem:
    """Coefficients and right-hand sides row by row, and the solution."""

    coefficients: tuple[tuple[int, ...], ...]
    constants: tuple[Fraction, ...]
    solution: tuple[Fraction, ...] = hidden()


@register("LinearSystem-v0", domain="math")
class LinearSystemTask(WorkedTask[LinearSystemConfig, LinearSystemProblem]):
    """Solve a system of linear equations.

    Description:
        As many equations as unknowns, with a regular integer matrix and a rational solution. A
        singular matrix is drawn again. After eight draws, its diagonal is enlarged so that it
        is regular.

    Observation:
        The equations in x and y, in x, y and z, or in numbered unknowns.

    Action:
        The tuple of the values of the unknowns, in order.

    Reward:
        1 for the solution, otherwise 0.

    Verification:
        Exact, on rationals, value by value. No known gaps.

    Difficulty:
        The number of unknowns, the coefficients, and the solution's numerators and denominators
        grow.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (algebra modules).
    """

    def generate(self, rng: Rng) -> LinearSystemProblem:
        config, n = self.config, self.config.n_variables
        tops = integers(rng, -config.max_solution, config.max_solution, n)
        bottoms = integers(rng, 1, config.max_denominator, n)
        solution = tuple(Fraction(top, low) for top, low in zip(tops, bottoms, strict=True))
        matrix = self._matrix(rng)
        constants = tuple(
            Fraction(sum(a * x for a, x in zip(row, solution, strict=True))) for row in matrix
        )
        return LinearSystemProblem(matrix, constants, solution)

    def _matrix(self, rng: Rng) -> tuple[tuple[int, ...], ...]:
        n, limit = self.config.n_variables, self.config.max_coefficient
        rows: tuple[tuple[int, ...], ...] = ()
        for _ in range(8):
            draws = integers(rng, -limit, limit, n * n)
            rows = tuple(draws[i * n : (i + 1) * n] for i in range(n))
            if is_regular(rows):
                return rows
        return tuple(
            tuple(a + n * limit + 1 if i == j else a for j, a in enumerate(row))
            for i, row in enumerate(rows)
        )

    def prompt(self, problem: LinearSystemProblem) -> str:
        names = _names(len(problem.constants))
        lines = " \\\\\n".join(
            f"{linear(row, names)} &= {number(constant)}"
            for row, constant in zip(problem.coefficients, problem.constants, strict=True)
        )
        return (
            f"Solve the system of equations:\n\n$$\\begin{{aligned}}\n{lines}\n"
            "\\end{aligned}$$\n\n"
            f"Give the exact solution as the ordered tuple $({', '.join(names)})$."
        )

    def verify(self, problem: LinearSystemProblem, answer: str) -> Verdict:
        ordered = _ordered(problem, answer)
        if ordered is None:
            return Verdict.wrong("the answer must give exactly one value for each unknown")
        return judge_math(point(problem.solution), ordered, answer_type="tuple", exact=True)

    def solve(self, problem: LinearSystemProblem) -> str:
        return point(problem.solution)

    def variant(self, problem: LinearSystemProblem, rng: Rng) -> Variant[LinearSystemProblem]:
        """Exchange the unknowns' names, change signs of equations, and list these otherwise."""
        n = len(problem.constants)
        columns, rows = rng.permutation(n).tolist(), rng.permutation(n).tolist()
        signs = [1 - 2 * int(i) for i in rng.integers(0, 2, n).tolist()]

        def answer(text: str) -> str:
            inner = text.removeprefix("\\left(").removesuffix("\\right)")
            values = [value.strip() for value in inner.split(",")]
            return in_parentheses(", ".join(values[j] for j in columns))

        changed = LinearSystemProblem(
            tuple(tuple(signs[i] * problem.coefficients[i][j] for j in columns) for i in rows),
            tuple(signs[i] * problem.constants[i] for i in rows),
            tuple(problem.solution[j] for j in columns),
        )
        return Variant(changed, answer, ("names", "order", "negation"))

    def explain(self, problem: LinearSystemProblem) -> list[str]:
        names = _names(len(problem.constants))

        def show(row: Sequence[Rational]) -> str:
            return f"{ascii_math(linear(row[:-1], names))} = {row[-1]}"

        pairs = zip(problem.coefficients, problem.constants, strict=True)
        rows: list[tuple[Rational, ...]] = [(*row, b) for row, b in pairs]
        found = eliminate(rows, show, noun="equation", width=len(rows))
        steps = [f"Equation {i}: {show(row)}" for i, row in enumerate(rows, 1)] + found.steps
        steps.append("Solve from the last equation to the first.")
        for k in range(len(rows) - 1, -1, -1):
            row = found.rows[k]
            known = [(row[j], problem.solution[j]) for j in range(k + 1, len(rows)) if row[j]]
            work = "".join(f" - {operand(a)} * {operand(x)}" for a, x in known)
            steps.append(
                f"{ascii_math(linear(row[:-1], names))} = {row[-1]} gives {names[k]} as "
                f"({row[-1]}{work}) / {operand(row[k])} = {problem.solution[k]}"
            )
        return steps

    def baseline(self, rng: Rng, problem: LinearSystemProblem) -> str:
        """Find each unknown from its own equation, as if the others were 0."""
        rows = enumerate(zip(problem.coefficients, problem.constants, strict=True))
        return point([constant / (row[i] or 1) for i, (row, constant) in rows])


def _ordered(problem: LinearSystemProblem, answer: str) -> str | None:
    """Return assignments such as ``y = 2, x = 1`` in the order asked for, other answers as is.

    None if the assignments are to other names, or leave one out.
    """
    if "\\begin" in answer:
        return answer  # a system or a column, whose lines the verifier reads
    parts = [part.partition("=") for part in _JOINT.split(answer)]
    if not all(sign for _, sign, _ in parts) or len(parts) == 1:
        return answer
    values = {_PLAIN_NAME.sub("", name): value.strip() for name, _, value in parts}
    names = [_PLAIN_NAME.sub("", name) for name in _names(len(problem.constants))]
    if len(values) != len(parts) or sorted(values) != sorted(names):
        return None
    return "(" + ", ".join(values[name] for name in names) + ")"


def _names(count: int) -> tuple[str, ...]:
    if count <= 3:
        return ("x", "y", "z")[:count]
    return tuple(f"x_{i}" if i <= 9 else f"x_{{{i}}}" for i in range(1, count + 1))


def is_regular(rows: tuple[tuple[int, ...], ...]) -> bool:
    """Whether the matrix is regular modulo a large prime, and therefore regular."""
    left = [[a % _PRIME for a in row] for row in rows]
    while left:
        at = next((i for i, row in enumerate(left) if row[0]), None)
        if at is None:
            return False
        pivot = left.pop(at)
        inverse = pow(pivot[0], -1, _PRIME)
        for i, row in enumerate(left):
            factor = row[0] * inverse % _PRIME
            left[i] = [(a - factor * b) % _PRIME for a, b in zip(row[1:], pivot[1:], strict=True)]
    return True
