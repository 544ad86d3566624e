"""Eigenvalues of an integer matrix whose eigenvalues are integers."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort, latex, matrices
from rlvr_envs.generators.mathematics.polynomials import Poly, evaluate
from rlvr_envs.generators.mathematics.steps import divided_out, horner, operand, polynomial, total
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class EigenvaluesConfig(TaskConfig):
    """Size of the matrix and of its eigenvalues, and how well they are hidden."""

    size: int = knob(3, "number of rows and of columns", low=1)
    max_eigenvalue: int = knob(
        9, "eigenvalues are drawn from -max_eigenvalue..max_eigenvalue", low=1
    )
    n_mixes: int = knob(
        4, "number of elementary similarity transformations that hide the triangular form", low=0
    )

    @classmethod
    def at(cls, difficulty: int) -> "EigenvaluesConfig":
        """Triangular at level 0; the similarities, the eigenvalues and the size grow."""
        return cls(
            size=2 + difficulty // 3,
            max_eigenvalue=5 + 2 * difficulty,
            n_mixes=2 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class EigenvaluesProblem:
    """The matrix, and its distinct eigenvalues in increasing order."""

    matrix: tuple[tuple[int, ...], ...]
    eigenvalues: tuple[int, ...] = hidden()


@register("Eigenvalues-v0", domain="math")
class EigenvaluesTask(Task[EigenvaluesConfig, EigenvaluesProblem]):
    """Find the eigenvalues of a matrix.

    Description:
        A triangular integer matrix with chosen eigenvalues is disguised by elementary
        similarity transformations, which keep its entries integer. Eigenvalues may repeat.

    Observation:
        A square matrix of integers.

    Action:
        The set of distinct eigenvalues, in any order.

    Reward:
        1 for exactly the eigenvalues, otherwise 0.

    Verification:
        Exact, as sets of integers, without multiplicities.

    Difficulty:
        The size, the eigenvalues and the number of similarities grow.

    References:
        Strang, Introduction to Linear Algebra, chapter 6.
    """

    def generate(self, rng: Rng) -> EigenvaluesProblem:
        config = self.config
        values = integers(rng, -config.max_eigenvalue, config.max_eigenvalue, config.size)
        triangular = tuple(
            tuple(
                value if i == j else (integer(rng, -5, 5) if j > i else 0)
                for j in range(config.size)
            )
            for i, value in enumerate(values)
        )
        matrix = matrices.mixed(rng, triangular, config.n_mixes)
        return EigenvaluesProblem(matrix, tuple(sorted(set(values))))

    def prompt(self, problem: EigenvaluesProblem) -> str:
        return (
            f"Find all eigenvalues of the matrix $${latex.matrix(problem.matrix)}.$$ "
            "Answer with the set of its distinct eigenvalues: in braces, separated by commas."
        )

    def verify(self, problem: EigenvaluesProblem, answer: str) -> Verdict:
        return judge_math(
            latex.number_set(problem.eigenvalues), answer, answer_type="set", exact=True
        )

    def solve(self, problem: EigenvaluesProblem) -> str:
        return latex.number_set(problem.eigenvalues)

    def effort(self, problem: EigenvaluesProblem) -> int:
        """Count the digit operations of the powers of the matrix and of trying its eigenvalues.

        The powers give the characteristic polynomial; a triangular matrix is only read.
        """
        rows, size = problem.matrix, len(problem.matrix)
        if not any(rows[i][j] for i in range(size) for j in range(i)):
            return size
        cost, raised = 0, rows
        for _ in range(size - 1):
            cost += sum(
                effort.multiplying(raised[i][k], rows[k][j])
                for i in range(size)
                for j in range(size)
                for k in range(size)
            )
            raised = matrices.product(raised, rows)
        _, rest = _characteristic(rows)
        return cost + sum(effort.evaluating(rest, value) for value in problem.eigenvalues)

    def baseline(self, rng: Rng, problem: EigenvaluesProblem) -> str:
        """Answer the entries on the diagonal, as if the matrix were triangular."""
        return latex.number_set(row[i] for i, row in enumerate(problem.matrix))

    def explain(self, problem: EigenvaluesProblem) -> list[str]:
        """Return the characteristic polynomial and its roots."""
        rows, size = problem.matrix, len(problem.matrix)
        if not any(rows[i][j] for i in range(size) for j in range(i)):
            return [
                "All entries below the diagonal are 0.",
                "The eigenvalues of a triangular matrix are the entries on its diagonal.",
                f"The diagonal: {', '.join(str(rows[i][i]) for i in range(size))}",
            ]
        steps, rest = _characteristic(rows)
        steps.append(f"The characteristic polynomial is {polynomial(rest)}. Find its roots.")
        for value in problem.eigenvalues:
            while len(rest) > 1 and not evaluate(rest, value):
                steps.append(f"x = {value}: {horner(rest, value)}, so {value} is an eigenvalue.")
                rest = divided_out(rest, (-value, 1))
                if len(rest) > 1:
                    steps.append(
                        f"Dividing by {polynomial((-value, 1))} leaves {polynomial(rest)}."
                    )
        return steps


def _characteristic(rows: matrices.Matrix) -> tuple[list[str], Poly]:
    """Return the steps to ``det(xI - A)``, from the traces of powers by Newton's identities."""
    size = len(rows)
    if size == 2:
        (a, b), (c, d) = rows
        work = f"{operand(a)} * {operand(d)} - {operand(b)} * {operand(c)}"
        return [
            f"The trace is {total((a, d))} = {a + d}.",
            f"The determinant is {work} = {a * d - b * c}.",
        ], (a * d - b * c, -a - d, 1)
    traces = []
    raised: Sequence[Sequence[int]] = rows
    for k in range(size):
        traces.append(sum(raised[i][i] for i in range(size)))
        raised = matrices.product(raised, rows) if k + 1 < size else raised
    steps = [f"The traces of A^k for k from 1 to {size}: {', '.join(map(str, traces))}"]
    sums = [1]  # elementary symmetric sums of the eigenvalues, e_0 = 1
    for k in range(1, size + 1):
        terms = [(-1) ** (i - 1) * sums[k - i] * traces[i - 1] for i in range(1, k + 1)]
        sums.append(sum(terms) // k)
        steps.append(f"Coefficient {k} by Newton's identity: ({total(terms)}) / {k} = {sums[k]}")
    steps.append("They enter the polynomial with alternating signs.")
    return steps, tuple((-1) ** k * value for k, value in enumerate(sums))[::-1]
