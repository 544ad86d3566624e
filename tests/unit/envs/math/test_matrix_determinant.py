import math
import re
from itertools import permutations

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.matrix_determinant import (
    MatrixDeterminantConfig,
    MatrixDeterminantProblem,
    MatrixDeterminantTask,
)
from rlvr_envs.generators.mathematics import matrices


def by_permutations(rows):
    """Leibniz's formula."""
    size = len(rows)
    total = 0
    for order in permutations(range(size)):
        swaps = sum(order[i] > order[j] for i in range(size) for j in range(i + 1, size))
        total += (-1) ** swaps * math.prod(rows[i][order[i]] for i in range(size))
    return total


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_elimination_agrees_with_permutations(size):
    for seed in range(30):
        # Entries this small bring singular matrices and zero pivots.
        rows = matrices.random_matrix(stream("determinant", size, seed), size, size, 1)
        assert matrices.determinant(rows) == by_permutations(rows)


def test_large_problems_agree_with_sympy():
    task = MatrixDeterminantTask(MatrixDeterminantConfig(size=9, max_entry=50))
    for seed in range(3):
        problem = task.generate(stream("determinant", seed))
        assert problem.determinant == sympy.Matrix(problem.matrix).det(method="berkowitz")


def test_whole_small_world():
    task = MatrixDeterminantTask(MatrixDeterminantConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("determinant", seed))
        (a, b), (c, d) = problem.matrix
        for guess in range(-55, 56):
            assert (task.verify(problem, str(guess)).score == 1.0) == (guess == a * d - b * c)


def test_the_words_of_a_rule_give_the_matrix():
    task = MatrixDeterminantTask(MatrixDeterminantConfig(kinds=("band", "rank_one"), rule_size=7))
    for seed in range(20):
        problem = task.generate(stream("rule", seed))
        text = task.prompt(problem)
        n = int(re.search(r"\$(\d+) \\times", text)[1])
        if problem.kind == "band":
            one, up, low = map(int, re.findall(r"are (-?\d+),", text))
            matrix = sympy.diag(*[one] * n)
            for i in range(n - 1):
                matrix[i, i + 1], matrix[i + 1, i] = up, low
        else:
            row, column, shift = re.search(
                r", and \$\((.+?)\)\((.+?)\) ([+-] \d+)\$", text
            ).groups()
            u, v = ([linear(part, k) for k in range(1, n + 1)] for part in (row, column))
            matrix = sympy.Matrix(n, 1, u) * sympy.Matrix(1, n, v)
            matrix += int(shift.replace(" ", "")) * sympy.eye(n)
        assert matrix == sympy.Matrix(problem.matrix)
        assert problem.determinant == matrix.det(method="berkowitz")
        assert task.explain(problem)[-1].endswith(f" = {problem.determinant}")


def linear(text, k):
    slope, constant = re.fullmatch(r"(-?\d*)[ij] ([+-] \d+)", text).groups()
    return int({"": "1", "-": "-1"}.get(slope, slope)) * k + int(constant.replace(" ", ""))


def test_effort_and_baseline_of_a_small_matrix():
    task = MatrixDeterminantTask(MatrixDeterminantConfig())
    problem = MatrixDeterminantProblem(((2, 3), (4, 50)), 88)
    # 2 digits in "rows", and those of the two lines; products of 1 by 2 and of 1 by 1 digits.
    steps = task.explain(problem)
    assert steps[-1] == "2 * 50 - 3 * 4 = 100 - 12 = 88"
    assert task.effort(problem) == sum(c.isdigit() for c in "".join(steps)) + 3
    assert task.baseline(stream("b"), problem) == "88"


def test_other_ways_of_writing_the_number():
    task = MatrixDeterminantTask(MatrixDeterminantConfig())
    problem = MatrixDeterminantProblem(((1, 2), (3, 4)), -2)
    for form in ("-2", "D = -2", "-2.0", "$-2$"):
        assert task.verify(problem, form).score == 1.0
    for form in ("2", "-2, 2", "(-2)^2", r"\begin{pmatrix}-2\end{pmatrix} 2", "minus"):
        assert task.verify(problem, form).score == 0.0


def test_singular_matrices_are_rare():
    task = MatrixDeterminantTask(MatrixDeterminantConfig.at(1))
    values = [task.generate(stream("rare", seed)).determinant for seed in range(300)]
    assert max(values.count(value) for value in set(values)) < 30


@pytest.mark.parametrize("knobs", [{"size": 0}, {"max_entry": 0}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        MatrixDeterminantConfig(**knobs)
