"""Futoshiki: the whole small world, one solution by another solver, forms of answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.futoshiki import FutoshikiConfig, FutoshikiProblem, FutoshikiTask

TASK = FutoshikiTask(FutoshikiConfig(size=3, n_givens=2, n_signs=3))
# 1 2 3 / 2 3 1 / 3 1 2, known by its first row and r2c1 < r2c2
SMALL = FutoshikiProblem(3, (1, 2, 3, 0, 0, 0, 0, 0, 0), ((3, 4),), (1, 2, 3, 2, 3, 1, 3, 1, 2))


def latin_squares(size, rows=()):
    if len(rows) == size:
        yield tuple(itertools.chain(*rows))
    else:
        for row in itertools.permutations(range(1, size + 1)):
            if all(value not in column for value, *column in zip(row, *rows, strict=True)):
                yield from latin_squares(size, (*rows, row))


def fits(problem, cells):
    given = all(g in (0, c) for g, c in zip(problem.givens, cells, strict=True))
    return given and all(cells[a] < cells[b] for a, b in problem.less)


@pytest.mark.parametrize("seed", range(3))
def test_whole_small_world(seed):
    """All 19,683 fillings of a 3x3 square, the Latin ones among them found apart."""
    problem = TASK.generate(stream("Futoshiki", seed))
    right = {cells for cells in latin_squares(3) if fits(problem, cells)}
    assert right == {problem.solution}
    for cells in itertools.product((1, 2, 3), repeat=9):
        answer = "{} {} {}\n{} {} {}\n{} {} {}".format(*cells)
        assert TASK.verify(problem, answer).score == (cells in right)


@pytest.mark.parametrize(("level", "seed"), [(0, 0), (1, 1), (2, 2)])
def test_one_solution_among_all_squares(level, seed):
    problem = FutoshikiTask(FutoshikiConfig.at(level)).generate(stream("Futoshiki", "all", seed))
    assert [c for c in latin_squares(4) if fits(problem, c)] == [problem.solution]


@pytest.mark.parametrize(("level", "seed"), [(5, 0), (7, 1), (10, 2)])
def test_one_solution_by_another_solver(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = FutoshikiTask(FutoshikiConfig.at(level)).generate(stream("Futoshiki", "cp", seed))
    size = problem.size
    model = cp_model.CpModel()
    cells = [model.new_int_var(g or 1, g or size, "") for g in problem.givens]
    for i in range(size):
        model.add_all_different(cells[i * size : (i + 1) * size])
        model.add_all_different(cells[i::size])
    for a, b in problem.less:
        model.add(cells[a] < cells[b])
    assert cp_model.CpSolver().solve(model) == cp_model.OPTIMAL
    model.add_forbidden_assignments(cells, [problem.solution])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1 2 3\n2 3 1\n3 1 2", 1.0),
        ("123\n231\n312", 1.0),
        ("[[1,2,3],[2,3,1],[3,1,2]]", 1.0),
        ("1 2 3\n3 1 2\n2 3 1", 0.0),  # against the inequality
        ("1 2 3\n2 3 1\n3 1 3", 0.0),
        ("2 1 3\n1 3 2\n3 2 1", 0.0),  # givens changed
        ("1 2 3\n2 3 1\n. . .", 0.0),
        ("1 2 3\n2 < 3 1\n3 1 2", 0.0),
        ("1 2 3\n2 3 1\n3 1 2\n3 1 2", 0.0),
        ("1 2 3 2 3 1 3 1 2", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_the_prompt_lists_what_is_checked():
    problem = FutoshikiTask(FutoshikiConfig.at(6)).generate(stream("Futoshiki", "prompt"))
    assert TASK.prompt(problem).count(" < ") == len(problem.less)
    assert TASK.prompt(SMALL).count("r2c1 < r2c2") == 1


def test_effort_grows_and_guessing_fails():
    easy, hard = (
        [
            FutoshikiTask(FutoshikiConfig.at(level)).generate(stream("Futoshiki", s))
            for s in range(10)
        ]
        for level in (0, 8)
    )
    assert max(map(TASK.effort, easy)) < min(map(TASK.effort, hard))
    rng = stream("Futoshiki", "guess")
    assert sum(TASK.verify(p, TASK.baseline(rng, p)).score for p in hard) == 0.0
    assert all(TASK.verify(p, TASK.baseline(rng, p)).status != "unparsable" for p in easy)


@pytest.mark.parametrize("knob", [{"size": 1}, {"size": 41}, {"n_givens": 25}, {"n_signs": 41}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        FutoshikiConfig(**knob)


def test_effort_is_the_cells_that_are_settled():
    for givens, less, steps in (((1, 0, 0, 0), (), 3), ((0, 0, 0, 0), ((0, 1),), 4)):
        square = FutoshikiProblem(2, givens, less, (1, 2, 2, 1))
        assert TASK.effort(square) == steps + 1  # and the position that is left


def test_the_baseline_does_not_look_at_the_signs():
    turned = FutoshikiProblem(3, SMALL.givens, ((4, 3),), (1, 2, 3, 3, 1, 2, 2, 3, 1))
    for problem in (SMALL, turned):
        assert TASK.baseline(stream("futoshiki"), problem) == "1 2 3\n2 1 1\n3 1 2"
