import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.matrix_rank import MatrixRankConfig, MatrixRankProblem, MatrixRankTask


@pytest.mark.parametrize("difficulty", [0, 2, 5, 9])
def test_the_rank_is_the_planted_one(difficulty):
    task = MatrixRankTask(MatrixRankConfig.at(difficulty))
    for seed in range(8):
        problem = task.generate(stream("rank", difficulty, seed))
        assert sympy.Matrix(problem.matrix).rank() == problem.rank


def test_whole_small_world():
    task = MatrixRankTask(MatrixRankConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("rank", seed))
        matrix = sympy.Matrix(problem.matrix)
        right = (matrix.rank(), len(matrix.nullspace()))
        for rank in range(5):
            for nullity in range(5):
                score = task.verify(problem, f"({rank}, {nullity})").score
                assert (score == 1.0) == ((rank, nullity) == right)


@pytest.mark.parametrize("difficulty", [1, 2, 3, 6])
def test_constant_answers_earn_little(difficulty):
    task = MatrixRankTask(MatrixRankConfig.at(difficulty))
    answers = [task.solve(task.generate(stream("constant", seed))) for seed in range(400)]
    assert max(answers.count(answer) for answer in set(answers)) <= 100


def test_the_pair_is_ordered_and_complete():
    task = MatrixRankTask(MatrixRankConfig())
    problem = MatrixRankProblem(((1, 2, 3), (2, 4, 6)), 1)
    for form in ("(1, 2)", "1, 2", r"\left(1, 2\right)"):
        assert task.verify(problem, form).score == 1.0
    for form in ("(2, 1)", "1", "(1, 2, 3)", "12", "(1, 1)", ""):
        assert task.verify(problem, form).score == 0.0


@pytest.mark.parametrize("knobs", [{"min_size": 1}, {"max_size": 2}, {"max_entry": 0}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        MatrixRankConfig(**knobs)
