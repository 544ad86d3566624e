"""Inverse of an integer matrix, with rational entries."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, nonzero
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex, matrices
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.steps import eliminate, show_row
from rlvr_envs.verifiers.symbolic import judge_math

_DRAWS = 8  # how often a matrix that is its own inverse is redrawn


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixInverseConfig(TaskConfig):
    """Size of the matrix and of the factors that it is built from."""

    size: int = knob(2, "rows and columns", low=1)
    max_entry: int = knob(4, "largest absolute entry of the triangular factors", low=1)
    max_pivot: int = knob(4, "largest absolute entry of the diagonal factor", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "MatrixInverseConfig":
        """Every fourth level adds a row and a column, up to 12; the factors' entries keep growing.

        Larger inverses would exceed the length limit of answers.
        """
        return cls(
            size=min(2 + (difficulty + 1) // 4, 12),
            max_entry=3 + difficulty // 3,
            max_pivot=2 + difficulty,
        )


@dataclass(frozen=True, slots=True)
class MatrixInverseProblem:
    """The matrix, and its inverse."""

    matrix: tuple[tuple[int, ...], ...]
    inverse: tuple[tuple[Fraction, ...], ...] = hidden()


@register("MatrixInverse-v0", domain="math")
class MatrixInverseTask(WorkedTask[MatrixInverseConfig, MatrixInverseProblem]):
    """Invert a matrix.

    Description:
        The matrix is a product of a lower triangular, a diagonal and an upper triangular matrix
        of small integers, with its rows in random order. So the inverse exists and has entries
        of moderate size.

    Observation:
        A square matrix of integers.

    Action:
        A matrix of rational numbers.

    Reward:
        1 for the inverse, otherwise 0.

    Verification:
        Exact, entry by entry, on rational numbers. A scalar times a matrix is not accepted, as
        the prompt says.

    Difficulty:
        The size of the matrix and the entries of its factors grow.

    References:
        Strang, Introduction to Linear Algebra, chapter 2.
    """

    def generate(self, rng: Rng) -> MatrixInverseProblem:
        problem = self._drawn(rng)
        for _ in range(_DRAWS):
            if problem.matrix != problem.inverse:
                break
            problem = self._drawn(rng)
        return problem

    def prompt(self, problem: MatrixInverseProblem) -> str:
        return (
            f"Find the inverse of the matrix $${latex.matrix(problem.matrix)}.$$ "
            "Answer with one matrix whose entries are integers or fractions, without a scalar "
            "factor in front."
        )

    def verify(self, problem: MatrixInverseProblem, answer: str) -> Verdict:
        return judge_math(latex.matrix(problem.inverse), answer, answer_type="matrix", exact=True)

    def solve(self, problem: MatrixInverseProblem) -> str:
        return latex.matrix(problem.inverse)

    def explain(self, problem: MatrixInverseProblem) -> list[str]:
        """Return the elimination in the matrix with the identity beside it."""
        size = len(problem.matrix)
        rows = [(*a, *b) for a, b in zip(problem.matrix, matrices.identity(size), strict=True)]
        return [
            "Write the identity beside the matrix: " + ", ".join(map(show_row, rows)),
            "Row operations that make the left half the identity make the right half the inverse.",
            *eliminate(rows, show_row, width=size, upwards=True).steps,
        ]

    def _drawn(self, rng: Rng) -> MatrixInverseProblem:
        size, limit = self.config.size, self.config.max_entry
        lower = matrices.unit_lower(rng, size, size, limit)
        upper = matrices.unit_lower(rng, size, size, limit)
        pivots = [nonzero(rng, self.config.max_pivot) for _ in range(size)]
        order = rng.permutation(size).tolist()
        scaled = tuple(
            tuple(pivot * value for value in row)
            for pivot, row in zip(pivots, matrices.transpose(upper), strict=True)
        )
        straight = matrices.product(lower, scaled)
        # (L D U)^-1 = U^-1 (D^-1 L^-1), and swapped rows become swapped columns.
        divided = tuple(
            tuple(Fraction(value, pivot) for value in row)
            for pivot, row in zip(pivots, matrices.unit_lower_inverse(lower), strict=True)
        )
        left = tuple(
            tuple(map(Fraction, row))
            for row in matrices.transpose(matrices.unit_lower_inverse(upper))
        )
        inverse = matrices.product(left, divided)
        return MatrixInverseProblem(
            tuple(straight[i] for i in order),
            tuple(tuple(row[i] for i in order) for row in inverse),
        )

    def baseline(self, rng: Rng, problem: MatrixInverseProblem) -> str:
        """Invert every entry alone, which is right for diagonal matrices."""
        return latex.matrix([[Fraction(1, a) if a else 0 for a in row] for row in problem.matrix])
