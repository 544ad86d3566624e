"""Products of integer matrices, some of them raised to a power."""

from dataclasses import dataclass
from itertools import pairwise

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex, matrices
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.steps import times
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixProductConfig(TaskConfig):
    """How many matrices are multiplied, and how large they are."""

    n_factors: int = knob(2, "matrices in the product", low=1)
    max_size: int = knob(3, "rows and columns are drawn from max_size - 1 and max_size", low=1)
    max_entry: int = knob(9, "entries are drawn from -max_entry..max_entry", low=1)
    max_power: int = knob(1, "square factors are raised to a power from 1..max_power", low=1)
    high_power: int = knob(
        0, "exponent of a single matrix with small integer eigenvalues; 0 for none", low=0, high=60
    )
    high_share: float = knob(0.0, "share of questions on such a high power", low=0, high=1)

    @classmethod
    def at(cls, difficulty: int) -> "MatrixProductConfig":
        """Entries grow every level; sizes (up to 12), powers (up to 4) and factors more slowly.

        Larger products would exceed the length limit of answers. From level 4 on, half of the
        questions ask for a high power of one matrix, which its eigenvalues give.
        """
        return cls(
            n_factors=2 + (difficulty >= 2) + difficulty // 10,
            max_size=min(2 + (difficulty + 1) // 4, 12),
            max_entry=5 + difficulty,
            max_power=min(1 + difficulty // 5, 4),
            high_power=min(4 + difficulty, 60),
            high_share=0.0 if difficulty < 4 else 0.5,
        )


@dataclass(frozen=True, slots=True)
class MatrixProductProblem:
    """The factors with their powers, and the product."""

    factors: tuple[tuple[tuple[int, ...], ...], ...]
    powers: tuple[int, ...]
    product: tuple[tuple[int, ...], ...] = hidden()


@register("MatrixProduct-v0", domain="math")
class MatrixProductTask(WorkedTask[MatrixProductConfig, MatrixProductProblem]):
    """Multiply matrices.

    Description:
        Matrices of matching shapes, with entries drawn uniformly from a range around 0. At higher
        levels the square matrices may be raised to powers, or the question is on a high power of
        one matrix, which is similar to a diagonal one with small integers.

    Observation:
        The product, written out.

    Action:
        A matrix of integers.

    Reward:
        1 for the product, otherwise 0.

    Verification:
        Exact, entry by entry. No known gaps.

    Difficulty:
        The number of factors, their sizes, entries and powers grow; high powers come in.

    References:
        Strang, Introduction to Linear Algebra, chapter 2.
    """

    def generate(self, rng: Rng) -> MatrixProductProblem:
        config = self.config
        if config.high_power and rng.random() < config.high_share:
            return _high_power(rng, 2 + (config.high_power >= 12), config.high_power)
        low = max(1, config.max_size - 1)
        # One row is enough, but a factor of one number would make the product a copy.
        sizes = [integer(rng, low, config.max_size)]
        for _ in range(config.n_factors):
            sizes.append(integer(rng, min(max(2, low), config.max_size), config.max_size))
        factors = []
        powers = []
        result = matrices.identity(sizes[0])
        for n_rows, n_columns in pairwise(sizes):
            factor = matrices.random_matrix(rng, n_rows, n_columns, config.max_entry)
            exponent = integer(rng, 1, config.max_power) if n_rows == n_columns else 1
            raised = matrices.power(factor, exponent) if exponent > 1 else factor
            result = matrices.product(result, raised)
            factors.append(factor)
            powers.append(exponent)
        return MatrixProductProblem(tuple(factors), tuple(powers), result)

    def prompt(self, problem: MatrixProductProblem) -> str:
        parts = [
            latex.power(latex.matrix(factor), exponent)
            for factor, exponent in zip(problem.factors, problem.powers, strict=True)
        ]
        return f"Compute the matrix product $${' '.join(parts)}.$$ Answer with a matrix."

    def verify(self, problem: MatrixProductProblem, answer: str) -> Verdict:
        return judge_math(latex.matrix(problem.product), answer, answer_type="matrix", exact=True)

    def solve(self, problem: MatrixProductProblem) -> str:
        return latex.matrix(problem.product)

    def explain(self, problem: MatrixProductProblem) -> list[str]:
        """Return the products from left to right, a line a row; powers factor by factor."""
        single = [
            factor
            for factor, exponent in zip(problem.factors, problem.powers, strict=True)
            for _ in range(exponent)
        ]
        steps = ["Each entry is a row of the left matrix times a column of the right one."]
        result = single[0]
        for place, factor in enumerate(single[1:], 2):
            product = matrices.product(result, factor)
            if len(single) > 2:
                steps.append(f"Multiply by factor {place} of {len(single)}.")
            for i, (row, values) in enumerate(zip(result, product, strict=True), 1):
                entries = [
                    f"{' + '.join(times(pair) for pair in zip(row, column, strict=True))} = {value}"
                    for column, value in zip(matrices.transpose(factor), values, strict=True)
                ]
                steps.append(f"Row {i}: {', '.join(entries)}")
            result = product
        return steps

    def baseline(self, rng: Rng, problem: MatrixProductProblem) -> str:
        """Multiply only the first column of the first matrix by the first row of the last one."""
        first, last = problem.factors[0], problem.factors[-1]
        return latex.matrix([[row[0] * entry for entry in last[0]] for row in first])


def _high_power(rng: Rng, size: int, exponent: int) -> MatrixProductProblem:
    """Return a power of a matrix that is similar to a diagonal one with different small entries."""
    values = [value - 2 for value in rng.permutation(6).tolist()[:size]]
    diagonal = tuple(tuple(v if i == j else 0 for j in range(size)) for i, v in enumerate(values))
    factor = matrices.mixed(rng, diagonal, 3 * size)
    return MatrixProductProblem((factor,), (exponent,), matrices.power(factor, exponent))
