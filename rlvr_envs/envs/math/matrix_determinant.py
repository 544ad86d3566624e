"""Determinant of a square integer matrix."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex, matrices
from rlvr_envs.generators.mathematics.matrices import Matrix
from rlvr_envs.generators.mathematics.steps import eliminate, operand, show_row, times, total
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixDeterminantConfig(TaskConfig):
    """Size of the matrix and of its entries."""

    size: int = knob(3, "rows and columns", low=1)
    max_entry: int = knob(9, "entries are drawn from -max_entry..max_entry", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "MatrixDeterminantConfig":
        """Every second level adds a row and a column; entries grow by three a level."""
        return cls(size=2 + difficulty // 2, max_entry=5 + 3 * difficulty)


@dataclass(frozen=True, slots=True)
class MatrixDeterminantProblem:
    """The matrix, and its determinant."""

    matrix: tuple[tuple[int, ...], ...]
    determinant: int = hidden()


@register("MatrixDeterminant-v0", domain="math")
class MatrixDeterminantTask(Task[MatrixDeterminantConfig, MatrixDeterminantProblem]):
    """Compute the determinant of a matrix.

    Description:
        The entries are drawn uniformly from a range around 0, so the determinant varies widely
        and is rarely 0.

    Observation:
        A square matrix of integers.

    Action:
        One integer.

    Reward:
        1 for the determinant, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The size of the matrix and its entries grow.

    References:
        Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination,
        Mathematics of Computation 22 (1968).
    """

    def generate(self, rng: Rng) -> MatrixDeterminantProblem:
        size = self.config.size
        matrix: Matrix = matrices.random_matrix(rng, size, size, self.config.max_entry)
        return MatrixDeterminantProblem(matrix, matrices.determinant(matrix))

    def prompt(self, problem: MatrixDeterminantProblem) -> str:
        return f"Compute the determinant of the matrix $${latex.matrix(problem.matrix)}.$$"

    def verify(self, problem: MatrixDeterminantProblem, answer: str) -> Verdict:
        return judge_math(str(problem.determinant), answer, answer_type="integer")

    def solve(self, problem: MatrixDeterminantProblem) -> str:
        return str(problem.determinant)

    def explain(self, problem: MatrixDeterminantProblem) -> list[str]:
        """Return the rule for size 2, the expansion for size 3, else elimination."""
        rows = problem.matrix
        if len(rows) == 2:
            (a, b), (c, d) = rows
            work = f"{operand(a)} * {operand(d)} - {operand(b)} * {operand(c)}"
            return [
                "The determinant of a matrix with rows (a, b) and (c, d) is ad - bc.",
                f"Here a = {a}, b = {b}, c = {c} and d = {d}.",
                f"{work} = {a * d} - {operand(b * c)} = {problem.determinant}",
            ]
        if len(rows) == 3:
            return _expansion(rows)
        found = eliminate(rows, show_row)
        steps = ["Adding a multiple of a row to another one does not change it.", *found.steps]
        if found.swaps:
            steps.append(f"Each swap of rows changes the sign; there were {found.swaps}.")
        if len(found.pivots) < len(rows):
            return [*steps, "The last row is all zeros, so the determinant is 0."]
        diagonal = [row[i] for i, row in enumerate(found.rows)]
        sign = "-1 * " if found.swaps % 2 else ""
        return [
            *steps,
            f"The product of the diagonal: {sign}{times(diagonal)} = {problem.determinant}",
        ]


def _expansion(rows: Matrix) -> list[str]:
    """Return the expansion of a 3x3 determinant along its first row."""
    steps = ["Expand along the first row; the signs are +, -, +."]
    terms = []
    for j, value in enumerate(rows[0]):
        (a, b), (c, d) = ([row[k] for k in range(3) if k != j] for row in rows[1:])
        minor = a * d - b * c
        steps.append(
            f"Without row 1 and column {j + 1}: "
            f"{operand(a)} * {operand(d)} - {operand(b)} * {operand(c)} = {minor}"
        )
        sign = "-1 * " if j == 1 else ""
        terms.append((-value if j == 1 else value) * minor)
        steps.append(
            f"Times its entry and sign: {sign}{operand(value)} * {operand(minor)} = {terms[-1]}"
        )
    return [*steps, f"{total(terms)} = {sum(terms)}"]
