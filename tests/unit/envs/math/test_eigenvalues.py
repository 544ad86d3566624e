from itertools import combinations

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.eigenvalues import EigenvaluesConfig, EigenvaluesProblem, EigenvaluesTask


@pytest.mark.parametrize("difficulty", [0, 3, 8])
def test_the_eigenvalues_are_the_roots_of_the_characteristic_polynomial(difficulty):
    task = EigenvaluesTask(EigenvaluesConfig.at(difficulty))
    for seed in range(8):
        problem = task.generate(stream("eigenvalues", difficulty, seed))
        found = sympy.roots(sympy.Matrix(problem.matrix).charpoly())
        assert tuple(sorted(found)) == problem.eigenvalues


def test_higher_levels_hide_the_triangular_shape():
    task = EigenvaluesTask(EigenvaluesConfig.at(4))
    problems = [task.generate(stream("shape", seed)) for seed in range(40)]
    diagonals = [{row[i] for i, row in enumerate(problem.matrix)} for problem in problems]
    shown = sum(set(p.eigenvalues) == seen for p, seen in zip(problems, diagonals, strict=True))
    assert shown < 10


def test_whole_small_world():
    task = EigenvaluesTask(EigenvaluesConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("eigenvalues", seed))
        (a, b), (c, d) = problem.matrix
        right = {v for v in range(-6, 7) if (a - v) * (d - v) == b * c}
        for size in (1, 2):
            for guess in combinations(range(-6, 7), size):
                text = ", ".join(map(str, guess))
                score = task.verify(problem, f"\\{{{text}\\}}").score
                assert (score == 1.0) == (set(guess) == right)


def test_equal_forms_pass_and_near_misses_fail():
    task = EigenvaluesTask(EigenvaluesConfig())
    problem = EigenvaluesProblem(((1, 4), (0, 3)), (1, 3))
    for form in (r"\{1, 3\}", "3, 1", "{3,1}", "1 and 3", r"\lambda = 1, 3"):
        assert task.verify(problem, form).score == 1.0
    for form in ("1", "3", "1, 3, 4", "1, 2, 3", "-1, -3", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize("knobs", [{"size": 0}, {"max_eigenvalue": 0}, {"n_mixes": -1}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        EigenvaluesConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = EigenvaluesTask(EigenvaluesConfig())
    triangular = EigenvaluesProblem(((1, 2), (0, 3)), (1, 3))
    assert task.effort(triangular) == 2
    assert task.baseline(stream("baseline"), triangular) == r"\{1, 3\}"
    full = EigenvaluesProblem(((1, 2), (2, 1)), (-1, 3))
    # The square takes 8 products; x^2 - 2x - 3 takes 2 products and 2 sums for each value.
    assert task.effort(full) == 8 + 2 * 4
    assert task.baseline(stream("baseline"), full) == r"\{1\}"
