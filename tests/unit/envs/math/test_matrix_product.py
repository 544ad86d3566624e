from functools import reduce
from itertools import product

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.matrix_product import (
    MatrixProductConfig,
    MatrixProductProblem,
    MatrixProductTask,
)


def multiplied(problem):
    arrays = []
    for factor, exponent in zip(problem.factors, problem.powers, strict=True):
        arrays += [np.array(factor, dtype=object)] * exponent
    return reduce(np.dot, arrays).tolist()


def written(rows):
    return (
        r"\begin{bmatrix}" + r"\\".join("&".join(map(str, row)) for row in rows) + r"\end{bmatrix}"
    )


@pytest.mark.parametrize("difficulty", [0, 5, 10, 25])
def test_the_product_is_that_of_numpy(difficulty):
    task = MatrixProductTask(MatrixProductConfig.at(difficulty))
    for seed in range(15):
        problem = task.generate(stream("product", difficulty, seed))
        assert [list(row) for row in problem.product] == multiplied(problem)


def test_whole_small_world():
    task = MatrixProductTask(MatrixProductConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("product", seed))
        right = multiplied(problem)
        width = len(right[0])
        flat = [value for row in right for value in row]
        for guess in product(*((value, value + 1, -value) for value in flat)):
            rows = [list(guess[i : i + width]) for i in range(0, len(flat), width)]
            assert (task.verify(problem, written(rows)).score == 1.0) == (rows == right)


def test_shapes_and_order_matter():
    task = MatrixProductTask(MatrixProductConfig())
    problem = MatrixProductProblem((((1, 2), (3, 4)), ((0, 1), (1, 0))), (1, 1), ((2, 1), (4, 3)))
    assert task.verify(problem, r"AB = \begin{pmatrix}2&1\\4&3\end{pmatrix}").score == 1.0
    assert task.verify(problem, r"\left[\begin{array}{cc}2&1\\4&3\end{array}\right]").score == 1.0
    for form in (
        r"\begin{pmatrix}3&4\\1&2\end{pmatrix}",
        r"\begin{pmatrix}2&4\\1&3\end{pmatrix}",
        r"\begin{pmatrix}2&1&4&3\end{pmatrix}",
        "2, 1, 4, 3",
    ):
        assert task.verify(problem, form).score == 0.0


def test_powers_are_shown():
    problem = MatrixProductProblem((((1, 1), (0, 1)),), (3,), ((1, 3), (0, 1)))
    assert r"\end{pmatrix}^3" in MatrixProductTask(MatrixProductConfig()).prompt(problem)


@pytest.mark.parametrize("knob", ["n_factors", "max_size", "max_entry", "max_power"])
def test_impossible_configurations_are_refused(knob):
    with pytest.raises(ConfigError):
        MatrixProductConfig(**{knob: 0})


def test_high_powers_have_small_integer_eigenvalues():
    config = MatrixProductConfig(high_power=9, high_share=1.0)
    for seed in range(15):
        problem = MatrixProductTask(config).generate(stream("high", seed))
        assert problem.powers == (9,)
        assert [list(row) for row in problem.product] == multiplied(problem)
        values = np.linalg.eigvals(np.array(problem.factors[0], dtype=float))
        assert np.allclose(np.sort(values.real), np.sort(np.round(values.real)), atol=1e-4)
        assert np.abs(values).max() < 3.5


def test_effort_and_baseline_of_a_small_product():
    task = MatrixProductTask(MatrixProductConfig())
    problem = MatrixProductProblem((((12, 3),), ((2,), (5,))), (1, 1), ((39,),))
    # Row 1: 12 * 2 + 3 * 5 = 39: eight digits, and products of two and of one digit.
    assert task.effort(problem) == 8 + 2 + 1
    assert task.baseline(stream("b"), problem) == r"\begin{pmatrix} 24 \end{pmatrix}"
