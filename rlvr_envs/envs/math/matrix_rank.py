"""Rank and nullities of an integer matrix of planted rank, of rationals or modulo a prime."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex, matrices
from rlvr_envs.generators.mathematics.effort import written
from rlvr_envs.generators.mathematics.matrices import Matrix
from rlvr_envs.generators.mathematics.steps import eliminate, show_row
from rlvr_envs.verifiers.symbolic import judge_math

_PRIMES = (2, 3, 5, 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRankConfig(TaskConfig):
    """How large the matrix is, and the factors that it is built from."""

    min_size: int = knob(3, "rows and columns are drawn from min_size..max_size")
    max_size: int = 5
    max_entry: int = knob(2, "largest absolute entry of the factors", low=1)
    modular_share: float = knob(0.0, "share of questions modulo a prime", low=0, high=1)

    def check(self) -> None:
        if not 2 <= self.min_size <= self.max_size:
            raise ConfigError(f"need 2 <= min_size <= max_size, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "MatrixRankConfig":
        """The matrix grows by a row or a column a level, the entries every second level.

        From level 4 on, half of the questions are modulo a prime, where the rank is smaller.
        """
        return cls(
            min_size=2 + difficulty // 2,
            max_size=6 + (difficulty + 1) // 2,
            max_entry=2 + difficulty // 2,
            modular_share=0.0 if difficulty < 4 else 0.5,
        )


@dataclass(frozen=True, slots=True)
class MatrixRankProblem:
    """The matrix, its rank, and the prime modulo which it is asked for, 0 for none."""

    matrix: tuple[tuple[int, ...], ...]
    rank: int = hidden()
    prime: int = 0


@register("MatrixRank-v0", domain="math")
class MatrixRankTask(Task[MatrixRankConfig, MatrixRankProblem]):
    """Find the rank of a matrix, its nullity and that of its transpose.

    Description:
        The matrix is a product of two factors of full rank, so its rank is the number of columns
        of the first: any number from 1 to the smaller dimension, each equally likely. The numbers
        of rows and columns vary, so no fixed answer is often right. Modulo a prime, the rank is
        planted in the same way, and multiples of the prime are added to the entries.

    Observation:
        A matrix of integers, usually not square.

    Action:
        The triple (rank, nullity, nullity of the transpose).

    Reward:
        1 if all three numbers are right, otherwise 0.

    Verification:
        Exact, as an ordered triple of integers. No known gaps.

    Difficulty:
        The size of the matrix and the entries of its factors grow; questions modulo a prime come
        in.

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
        if rng.random() >= config.modular_share:
            return MatrixRankProblem(matrix, rank)
        prime = pick(rng, _PRIMES)
        shifts = matrices.random_matrix(rng, n_rows, n_columns, 1 + config.max_entry // 2)
        shifted = tuple(
            tuple(a % prime + prime * b for a, b in zip(*rows, strict=True))
            for rows in zip(matrix, shifts, strict=True)
        )
        return MatrixRankProblem(shifted, rank, prime)

    def prompt(self, problem: MatrixRankProblem) -> str:
        where = ""
        if problem.prime:
            where = (
                f" Regard its entries as elements of the field of integers modulo {problem.prime},"
                " and answer for the matrix over this field."
            )
        return (
            f"Let $$A = {latex.matrix(problem.matrix)}.$${where} Find the rank of $A$, the nullity "
            "of $A$ and the nullity of its transpose. The nullity of a matrix $M$ is the dimension "
            "of its null space, the set of vectors $x$ with $Mx = 0$. Answer with the triple "
            "(rank of $A$, nullity of $A$, nullity of the transpose)."
        )

    def verify(self, problem: MatrixRankProblem, answer: str) -> Verdict:
        return judge_math(self.solve(problem), answer, answer_type="tuple")

    def solve(self, problem: MatrixRankProblem) -> str:
        return self._answer(problem, problem.rank)

    def _answer(self, problem: MatrixRankProblem, rank: int) -> str:
        return f"({rank}, {len(problem.matrix[0]) - rank}, {len(problem.matrix) - rank})"

    def explain(self, problem: MatrixRankProblem) -> list[str]:
        columns, lines, rank = len(problem.matrix[0]), len(problem.matrix), problem.rank
        if problem.prime:
            steps = _modulo(problem.matrix, problem.prime)
        else:
            steps = eliminate(problem.matrix, show_row).steps
        return [
            "Bring the matrix to row echelon form; row operations do not change the rank.",
            *steps,
            f"Rows that are not all zeros: {rank}. This is the rank.",
            f"The nullity is the number of columns minus it: {columns} - {rank} = {columns - rank}",
            f"That of the transpose, by the rows: {lines} - {rank} = {lines - rank}",
        ]

    def effort(self, problem: MatrixRankProblem) -> int:
        """Count the digits of the matrix and of the worked elimination."""
        return written([*map(show_row, problem.matrix), *self.explain(problem)])

    def baseline(self, rng: Rng, problem: MatrixRankProblem) -> str:
        """Take the rank for full."""
        return self._answer(problem, min(len(problem.matrix), len(problem.matrix[0])))


def _modulo(matrix: Matrix, prime: int) -> list[str]:
    """Return the steps of elimination modulo a prime."""
    rows = [[value % prime for value in row] for row in matrix]
    steps = [f"Modulo {prime}, row {i} is {show_row(row)}." for i, row in enumerate(rows, 1)]
    top = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        if pivot != top:
            rows[top], rows[pivot] = rows[pivot], rows[top]
            steps.append(f"Swap rows {top + 1} and {pivot + 1}.")
        inverse = pow(rows[top][column], -1, prime)
        for i in range(top + 1, len(rows)):
            factor = rows[i][column] * inverse % prime
            if factor:
                pairs = zip(rows[i], rows[top], strict=True)
                rows[i] = [(a - factor * b) % prime for a, b in pairs]
                steps.append(
                    f"Subtract {factor} times row {top + 1} from row {i + 1}: {show_row(rows[i])}"
                )
        top += 1
    return steps
