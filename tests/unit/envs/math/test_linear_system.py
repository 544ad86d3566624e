from fractions import Fraction
from itertools import product

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.linear_system import (
    LinearSystemConfig,
    LinearSystemProblem,
    LinearSystemTask,
    is_regular,
)


@pytest.mark.parametrize("difficulty", [0, 4, 10])
def test_the_solution_is_the_only_one(difficulty):
    task = LinearSystemTask(LinearSystemConfig.at(difficulty))
    for seed in range(5):
        problem = task.generate(stream("system", difficulty, seed))
        matrix = sympy.Matrix(problem.coefficients)
        assert matrix.det() != 0
        right = sympy.Matrix(
            [sympy.Rational(c.numerator, c.denominator) for c in problem.constants]
        )
        found = [Fraction(int(x.p), int(x.q)) for x in matrix.LUsolve(right)]
        assert found == list(problem.solution)


def test_whole_small_world():
    task = LinearSystemTask(LinearSystemConfig(n_variables=2, max_coefficient=3, max_solution=4))
    for seed in range(20):
        problem = task.generate(stream("system", seed))
        for x, y in product(range(-4, 5), repeat=2):
            solves = all(
                a * x + b * y == c
                for (a, b), c in zip(problem.coefficients, problem.constants, strict=True)
            )
            assert (task.verify(problem, f"({x}, {y})").score == 1.0) == solves


def test_equal_forms_pass_and_near_misses_do_not():
    task = LinearSystemTask(LinearSystemConfig())
    problem = LinearSystemProblem(
        ((2, 1), (1, -1)), (Fraction(0), Fraction(3, 2)), (Fraction(1, 2), Fraction(-1))
    )
    for form in ("(1/2, -1)", r"\left(\frac{1}{2}, -1\right)", "(0.5, -1)", "(x, y) = (1/2, -1)"):
        assert task.verify(problem, form).score == 1.0
    for form in ("(-1, 1/2)", "(1/2, 1)", "(1/2)", "(1/2, -1, 0)", "1/2", "(x, y)", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "x = 1/2, y = -1",
        "y = -1, x = 1/2",
        r"x = \frac{1}{2} \text{ and } y = -1",
        "y = -1 and x = 0.5",
        r"x=\frac12,\; y=-1",
        r"y = -1 \quad x = \frac{1}{2}",
    ],
)
def test_assignments_pass_in_any_order(text):
    task = LinearSystemTask(LinearSystemConfig())
    problem = LinearSystemProblem(
        ((2, 1), (1, -1)), (Fraction(0), Fraction(3, 2)), (Fraction(1, 2), Fraction(-1))
    )
    assert task.verify(problem, text).score == 1.0
    for wrong in (text.replace("-1", "1"), text.replace("x", "z"), text.replace("y", "x")):
        assert task.verify(problem, wrong).score == 0.0


def test_numbered_unknowns_are_matched_by_their_numbers():
    task = LinearSystemTask(LinearSystemConfig())
    solution = tuple(map(Fraction, range(11)))
    problem = LinearSystemProblem(((0,) * 11,) * 11, solution, solution)
    texts = [f"x_{{{i + 1}}} = {i}" for i in range(11)]
    assert task.verify(problem, ", ".join(reversed(texts))).score == 1.0
    assert task.verify(problem, ", ".join([*texts[:-1], "x_1 = 10"])).score == 0.0


def test_regular_matrices_are_told_from_singular_ones():
    assert is_regular(((0, 1), (1, 0)))
    assert not is_regular(((2, 4), (3, 6)))
    assert not is_regular(((1, 2, 3), (4, 5, 6), (7, 8, 9)))


def test_coefficients_of_one_value_still_give_a_regular_matrix():
    task = LinearSystemTask(LinearSystemConfig(n_variables=6, max_coefficient=1))
    for seed in range(30):
        assert is_regular(task.generate(stream("tight", seed)).coefficients)


@pytest.mark.parametrize(
    "knobs",
    [{"n_variables": 1}, {"max_coefficient": 0}, {"max_solution": 0}, {"max_denominator": 0}],
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        LinearSystemConfig(**knobs)


def test_effort_and_baseline_of_a_small_system():
    task = LinearSystemTask(LinearSystemConfig())
    rows, constants = ((2, 0), (0, 4)), (Fraction(6), Fraction(4))
    problem = LinearSystemProblem(rows, constants, (Fraction(3), Fraction(1)))
    steps = task.explain(problem)
    assert steps[-1] == "2x = 6 gives x as (6) / 2 = 3"
    # the digits, and two quotients of single digits
    assert task.effort(problem) == sum(c.isdigit() for c in "".join(steps)) + 2
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 1.0
