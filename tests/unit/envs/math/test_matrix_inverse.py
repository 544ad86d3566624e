from fractions import Fraction
from itertools import product

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.matrix_inverse import (
    MatrixInverseConfig,
    MatrixInverseProblem,
    MatrixInverseTask,
)


def is_inverse(matrix, other):
    size = range(len(matrix))
    return all(
        sum(matrix[i][k] * other[k][j] for k in size) == (i == j) for i in size for j in size
    )


def written(rows):
    return (
        r"\begin{pmatrix}" + r"\\".join("&".join(map(str, row)) for row in rows) + r"\end{pmatrix}"
    )


@pytest.mark.parametrize("difficulty", [0, 4, 10, 20])
def test_the_inverse_times_the_matrix_is_the_identity(difficulty):
    task = MatrixInverseTask(MatrixInverseConfig.at(difficulty))
    for seed in range(15):
        problem = task.generate(stream("inverse", difficulty, seed))
        assert is_inverse(problem.matrix, problem.inverse)


def test_whole_small_world():
    task = MatrixInverseTask(MatrixInverseConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("inverse", seed))
        (a, b), (c, d) = problem.matrix
        base = Fraction(1, a * d - b * c)
        choices = [(v * base, -v * base, v * base + 1) for v in (d, -b, -c, a)]
        for p, q, r, s in product(*choices):
            guess = ((p, q), (r, s))
            right = is_inverse(problem.matrix, guess)
            assert (task.verify(problem, written(guess)).score == 1.0) == right


def test_equal_forms_pass_and_near_misses_fail():
    task = MatrixInverseTask(MatrixInverseConfig())
    half = Fraction(1, 2)
    problem = MatrixInverseProblem(
        ((1, 2), (3, 4)), ((Fraction(-2), Fraction(1)), (3 * half, -half))
    )
    for form in (
        r"\begin{bmatrix} -2 & 1 \\ 1.5 & -0.5 \end{bmatrix}",
        r"A^{-1} = \begin{pmatrix}-2&1\\\frac{6}{4}&-\frac{1}{2}\end{pmatrix}",
    ):
        assert task.verify(problem, form).score == 1.0
    for form in (
        r"\begin{pmatrix}-2&\frac{3}{2}\\1&-\frac{1}{2}\end{pmatrix}",
        r"\begin{pmatrix}-2&1\\1.5&-0.51\end{pmatrix}",
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        "-2, 1, 1.5, -0.5",
    ):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize("knobs", [{"size": 0}, {"max_entry": 0}, {"max_pivot": 0}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        MatrixInverseConfig(**knobs)


def test_effort_and_baseline_of_a_small_matrix():
    task = MatrixInverseTask(MatrixInverseConfig())
    half = Fraction(1, 2)
    problem = MatrixInverseProblem(
        ((2, 0), (0, 1)), ((half, Fraction(0)), (Fraction(0), Fraction(1)))
    )
    steps = task.explain(problem)
    assert steps[2] == "Divide row 1 by 2: [1, 0, 1/2, 0]"
    assert task.effort(problem) == sum(c.isdigit() for c in "".join(steps))
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 1.0
