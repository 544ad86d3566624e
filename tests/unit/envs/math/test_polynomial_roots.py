from fractions import Fraction
from itertools import combinations

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.polynomial_roots import (
    PolynomialRootsConfig,
    PolynomialRootsProblem,
    PolynomialRootsTask,
)
from rlvr_envs.generators.mathematics.effort import written


@pytest.mark.parametrize("difficulty", [0, 3, 6, 9])
def test_the_roots_are_all_of_the_real_ones(difficulty):
    task = PolynomialRootsTask(PolynomialRootsConfig.at(difficulty))
    for seed in range(6):
        problem = task.generate(stream("roots", difficulty, seed))
        shown = sympy.Poly(problem.coefficients[::-1], sympy.Symbol("x"))
        found = [
            Fraction(int(root.p), int(root.q)) for root in sorted(set(sympy.real_roots(shown)))
        ]
        assert found == list(problem.roots)


def test_whole_small_world():
    task = PolynomialRootsTask(PolynomialRootsConfig(n_roots=2, max_root=4, n_repeats=1))
    for seed in range(20):
        problem = task.generate(stream("roots", seed))
        zeros = {
            x
            for x in range(-4, 5)
            if sum(c * x**k for k, c in enumerate(problem.coefficients)) == 0
        }
        for size in (1, 2, 3):
            for guess in combinations(range(-4, 5), size):
                text = "\\{" + ", ".join(map(str, guess)) + "\\}"
                assert (task.verify(problem, text).score == 1.0) == (set(guess) == zeros)


def test_equal_forms_pass_and_near_misses_do_not():
    task = PolynomialRootsTask(PolynomialRootsConfig())
    problem = PolynomialRootsProblem((-3, -5, 2), (Fraction(-1, 2), Fraction(3)))
    for form in (r"\{3, -\frac{1}{2}\}", "{-0.5, 3}", "-1/2, 3", "x = 3, x = -1/2"):
        assert task.verify(problem, form).score == 1.0
    for form in (r"\{3\}", r"\{3, \frac{1}{2}\}", r"\{3, -\frac{1}{2}, 0\}", r"\emptyset", "x"):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_roots": 0},
        {"n_roots": 5, "max_root": 4},
        {"max_denominator": 0},
        {"n_repeats": -1},
        {"n_quadratics": -1},
    ],
)
def test_bad_knobs_are_refused(knobs):
    with pytest.raises(ConfigError):
        PolynomialRootsConfig(**knobs)


def test_effort_and_baseline_of_a_small_equation():
    task = PolynomialRootsTask(PolynomialRootsConfig())
    problem = PolynomialRootsProblem((6, -5, 1), (Fraction(2), Fraction(3)))
    # 6 and 1 allow 1, 2, 3 and 6 with either sign.
    assert task.effort(problem) == 8 + written(task.explain(problem))
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    easy = PolynomialRootsProblem((6, -7, 1), (Fraction(1), Fraction(6)))
    assert task.verify(easy, task.baseline(stream("b"), easy)).score == 1.0
