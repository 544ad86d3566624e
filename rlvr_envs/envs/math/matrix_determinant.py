"""Determinant of a square integer matrix."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, nonzero, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex, matrices
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.matrices import Matrix
from rlvr_envs.generators.mathematics.steps import eliminate, operand, show_row, times, total
from rlvr_envs.verifiers.symbolic import judge_math

KINDS = ("listed", "band", "rank_one")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixDeterminantConfig(TaskConfig):
    """Which matrices there are, their size and that of their entries."""

    kinds: tuple[str, ...] = knob(
        ("listed",),
        "listed matrices have any entries, band and rank_one ones are given by a rule",
        choices=KINDS,
    )
    size: int = knob(3, "rows and columns of a listed matrix", low=1)
    rule_size: int = knob(8, "rows and columns of a matrix given by a rule", low=3, high=400)
    max_entry: int = knob(9, "entries are drawn from -max_entry..max_entry", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "MatrixDeterminantConfig":
        """Every second level adds a row and a column, from 6 on every fourth; entries grow too.

        From level 3 on, two thirds of the matrices are large and given by a rule.
        """
        return cls(
            kinds=KINDS if difficulty >= 3 else ("listed",),
            size=2 + min(difficulty, 6) // 2 + max(0, difficulty - 6) // 4,
            rule_size=min(4 + 2 * difficulty, 400),
            max_entry=5 + 3 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class MatrixDeterminantProblem:
    """The matrix, its determinant, and the kind and the numbers of the rule that gives it.

    The rule of a band is its size, the diagonal entry and those above and below it. That of
    ``rank_one`` is its size n, a, b, c, d and t: entry (i, j) is (ai + b)(cj + d), plus t if i = j.
    """

    matrix: tuple[tuple[int, ...], ...]
    determinant: int = hidden()
    kind: str = "listed"
    rule: tuple[int, ...] = ()


@register("MatrixDeterminant-v0", domain="math")
class MatrixDeterminantTask(WorkedTask[MatrixDeterminantConfig, MatrixDeterminantProblem]):
    """Compute the determinant of a matrix.

    Description:
        The entries are drawn uniformly from a range around 0, so the determinant varies widely
        and is rarely 0. At higher levels many matrices are too large to be written out: bands
        of three diagonals, and multiples of the identity plus a matrix of rank 1.

    Observation:
        A square matrix of integers, or the rule for its entries.

    Action:
        One integer.

    Reward:
        1 for the determinant, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The size of the matrix and its entries grow; large matrices, whose determinant follows
        from a recurrence or a formula, come in.

    References:
        Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination,
        Mathematics of Computation 22 (1968).
    """

    def generate(self, rng: Rng) -> MatrixDeterminantProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        rule: tuple[int, ...] = ()
        if kind == "listed":
            matrix = matrices.random_matrix(rng, config.size, config.size, config.max_entry)
        else:
            n = integer(rng, max(3, config.rule_size // 2), config.rule_size)
            rule = (n, *(nonzero(rng, 3 + n // 8) for _ in range(3 if kind == "band" else 5)))
            matrix = _RULES[kind](rule)
        return MatrixDeterminantProblem(matrix, matrices.determinant(matrix), kind, rule)

    def prompt(self, problem: MatrixDeterminantProblem) -> str:
        if problem.kind == "listed":
            return f"Compute the determinant of the matrix $${latex.matrix(problem.matrix)}.$$"
        n, *numbers = problem.rule
        if problem.kind == "band":
            entries = (
                "All entries on its main diagonal are {}, all entries directly above the diagonal "
                "are {}, all entries directly below it are {}, and all others are 0."
            ).format(*numbers)
        else:
            a, b, c, d, t = numbers
            row, column = latex.linear([a], ["i"], b), latex.linear([c], ["j"], d)
            entries = (
                f"The entry in row $i$ and column $j$ is $({row})({column})$ if $i \\neq j$, and "
                f"$({row})({column}) {'+' if t > 0 else '-'} {abs(t)}$ if $i = j$; rows and "
                "columns are counted from 1."
            )
        return f"Compute the determinant of the following ${n} \\times {n}$ matrix. {entries}"

    def verify(self, problem: MatrixDeterminantProblem, answer: str) -> Verdict:
        return judge_math(str(problem.determinant), answer, answer_type="integer")

    def solve(self, problem: MatrixDeterminantProblem) -> str:
        return str(problem.determinant)

    def explain(self, problem: MatrixDeterminantProblem) -> list[str]:
        """Return the rule for size 2, the expansion for size 3, else elimination."""
        if problem.kind != "listed":
            return _STEPS[problem.kind](problem.rule)
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

    def baseline(self, rng: Rng, problem: MatrixDeterminantProblem) -> str:
        """Take the product of one diagonal minus that of the other, which is right for size 2."""
        rows = problem.matrix  # the prompt gives each of its entries
        down = math.prod(row[i] for i, row in enumerate(rows))
        return str(down - math.prod(row[-1 - i] for i, row in enumerate(rows)))


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


def _band(rule: tuple[int, ...]) -> Matrix:
    n, *numbers = rule
    by_offset = dict(zip((0, 1, -1), numbers, strict=True))
    return tuple(tuple(by_offset.get(j - i, 0) for j in range(n)) for i in range(n))


def _rank_one(rule: tuple[int, ...]) -> Matrix:
    n, a, b, c, d, t = rule
    places = range(1, n + 1)
    return tuple(tuple((a * i + b) * (c * j + d) + t * (i == j) for j in places) for i in places)


def _band_steps(rule: tuple[int, ...]) -> list[str]:
    n, diagonal, above, below = rule
    product = above * below
    steps = [
        "Let D_k be the determinant of the first k rows and columns. Expand along the last row:",
        f"D_k = {operand(diagonal)} * D_(k-1) - {operand(product)} * D_(k-2), D_0 = 1.",
    ]
    older, newer = 1, diagonal
    for k in range(2, n + 1):
        value = diagonal * newer - product * older
        work = f"{operand(diagonal)} * {operand(newer)} - {operand(product)} * {operand(older)}"
        steps.append(f"D_{k}: {work} = {value}")
        older, newer = newer, value
    return steps


def _rank_one_steps(rule: tuple[int, ...]) -> list[str]:
    n, a, b, c, d, t = rule
    squares, numbers = n * (n + 1) * (2 * n + 1) // 6, n * (n + 1) // 2
    trace = a * c * squares + (a * d + b * c) * numbers + b * d * n
    parts = [(a * c, squares), (a * d + b * c, numbers), (b * d, n)]
    work = " + ".join(times(part) for part in parts)
    return [
        "A matrix t I + u v^T has the determinant t^(n-1) (t + the sum of the u_i v_i).",
        f"The sum of i^2 up to {n}: {n} * {n + 1} * (2 * {n} + 1) / 6 = {squares}",
        f"The sum of i up to {n}: {n} * {n + 1} / 2 = {numbers}",
        f"The sum of the products: {work} = {trace}",
        f"{operand(t)}^{n - 1} * ({t} + {operand(trace)}) = {t ** (n - 1) * (t + trace)}",
    ]


_RULES: dict[str, Callable[[tuple[int, ...]], Matrix]] = {"band": _band, "rank_one": _rank_one}
_STEPS: dict[str, Callable[[tuple[int, ...]], list[str]]] = {
    "band": _band_steps,
    "rank_one": _rank_one_steps,
}
