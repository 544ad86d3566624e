from itertools import product

import pytest
import sympy
from sympy.polys.matrices import DomainMatrix

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.matrix_rank import MatrixRankConfig, MatrixRankProblem, MatrixRankTask


@pytest.mark.parametrize("difficulty", [0, 2, 5, 9])
def test_the_rank_is_the_planted_one(difficulty):
    task = MatrixRankTask(MatrixRankConfig.at(difficulty))
    for seed in range(8):
        problem = task.generate(stream("rank", difficulty, seed))
        if problem.prime:
            field = sympy.GF(problem.prime)
            matrix = DomainMatrix.from_Matrix(sympy.Matrix(problem.matrix)).convert_to(field)
            assert matrix.rank() == problem.rank
        else:
            assert sympy.Matrix(problem.matrix).rank() == problem.rank


def test_whole_small_world():
    task = MatrixRankTask(MatrixRankConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("rank", seed))
        matrix = sympy.Matrix(problem.matrix)
        right = (matrix.rank(), len(matrix.nullspace()), len(matrix.T.nullspace()))
        for triple in product(range(7), range(6), range(6)):
            assert (task.verify(problem, str(triple)).score == 1.0) == (triple == right)


@pytest.mark.parametrize("difficulty", [0, 1, 3, 6])
def test_constant_answers_earn_little(difficulty):
    task = MatrixRankTask(MatrixRankConfig.at(difficulty))
    answers = [task.solve(task.generate(stream("constant", seed))) for seed in range(400)]
    assert max(answers.count(answer) for answer in set(answers)) <= 24


def test_the_triple_is_ordered_and_complete():
    task = MatrixRankTask(MatrixRankConfig())
    problem = MatrixRankProblem(((1, 2, 3), (2, 4, 6)), 1)
    for form in ("(1, 2, 1)", "1, 2, 1", r"\left(1, 2, 1\right)"):
        assert task.verify(problem, form).score == 1.0
    for form in ("(2, 1, 1)", "1", "(1, 2)", "121", "(1, 1, 2)", ""):
        assert task.verify(problem, form).score == 0.0


def test_effort_counts_written_digits_and_the_baseline_takes_full_rank():
    task = MatrixRankTask(MatrixRankConfig())
    problem = MatrixRankProblem(((1, 2), (12, 24)), 1)
    steps = task.explain(problem)
    assert steps[1] == "Subtract 12 times row 1 from row 2: [0, 0]"
    assert task.effort(problem) == 6 + sum(c.isdigit() for c in "".join(steps))
    assert task.baseline(stream("b"), problem) == "(2, 0, 0)"


@pytest.mark.parametrize("knobs", [{"min_size": 1}, {"max_size": 2}, {"max_entry": 0}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        MatrixRankConfig(**knobs)
