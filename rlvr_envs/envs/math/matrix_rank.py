"""Rank and nullity of an integer matrix of planted rank."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex, matrices
from rlvr_envs.generators.mathematics.steps import eliminate, show_row
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRankConfig(TaskConfig):
    """How large the matrix is, and the factors that it is built from."""

    min_size: int = knob(3, "rows and columns are drawn from min_size..max_size")
    max_size: int = 5
    max_entry: int = knob(2, "largest absolute entry of the factors", low=1)

    def check(self) -> None:
        if not 2 <= self.min_size <= self.max_size:
            raise ConfigError(f"need 2 <= min_size <= max_size, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "MatrixRankConfig":
        """The matrix grows by a row and a column a level, the entries every fourth level."""
        return cls(
            min_size=2 + difficulty // 2,
            max_size=3 + difficulty,
            max_entry=2 + difficulty // 4,
        )


@dataclass(frozen=True, slots=True)
class MatrixRankProblem:
    """The matrix, and its rank."""

    matrix: tuple[tuple[int, ...], ...]
    rank: int = hidden()


@register("MatrixRank-v0", domain="math")
class MatrixRankTask(Task[MatrixRankConfig, MatrixRankProblem]):
    """Find the rank and the nullity of a matrix.

    Description:
        The matrix is a product of two factors of full rank, so its rank is the number of columns
        of the first: any number from 1 to the smaller dimension, each equally likely. The numbers
        of rows and columns vary, so no fixed pair is often right.

    Observation:
        A matrix of integers, usually not square.

    Action:
        The pair (rank, nullity).

    Reward:
        1 if both numbers are right, otherwise 0.

    Verification:
        Exact, as an ordered pair of integers. No known gaps.

    Difficulty:
        The size of the matrix and the entries of its factors grow.

    References:
        Strang, Introduction to Linear Algebra, chapter 3.
    """

    def generate(self, rng: Rng) -> MatrixRankProblem:
        config = self.config
        n_rows = integer(rng, config.min_size, config.max_size)
        n_columns = integer(rng, config.min_size, config.max_size)
        rank = integer(rng, 1, min(n_rows, n_columns))
        left = matrices.unit_lower(rng, n_rows, rank, config.max_entry)
        right = matrices.unit_lower(rng, n_columns, rank, config.max_entry)
        # Shuffled rows on both sides leave no triangular pattern to read the rank from.
        matrix = matrices.product(
            matrices.permuted(rng, left), matrices.transpose(matrices.permuted(rng, right))
        )
        return MatrixRankProblem(matrix, rank)

    def prompt(self, problem: MatrixRankProblem) -> str:
        return (
            f"Let $$A = {latex.matrix(problem.matrix)}.$$ Find the rank and the nullity of $A$. "
            "The nullity is the dimension of the null space, the set of vectors $x$ with "
            "$Ax = 0$. Answer with the pair (rank, nullity)."
        )

    def verify(self, problem: MatrixRankProblem, answer: str) -> Verdict:
        return judge_math(self.solve(problem), answer, answer_type="tuple")

    def solve(self, problem: MatrixRankProblem) -> str:
        return f"({problem.rank}, {len(problem.matrix[0]) - problem.rank})"

    def explain(self, problem: MatrixRankProblem) -> list[str]:
        found = eliminate(problem.matrix, show_row)
        columns, rank = len(problem.matrix[0]), problem.rank
        return [
            "Bring the matrix to row echelon form; row operations do not change the rank.",
            *found.steps,
            f"Rows that are not all zeros: {rank}. This is the rank.",
            f"The nullity is the number of columns minus it: {columns} - {rank} = {columns - rank}",
        ]
