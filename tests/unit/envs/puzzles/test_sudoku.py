"""Sudoku: the whole small world, one solution by another solver, forms of answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.sudoku import SudokuConfig, SudokuProblem, SudokuTask

GIVENS = (1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 0, 0)
TINY = SudokuProblem(2, 2, GIVENS, (*GIVENS[:-2], 2, 1))
RIGHT = "1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1"
TASK = SudokuTask(SudokuConfig.at(0))


def obeys_the_rules(rows, height, width):
    size = height * width
    boxes = [
        [rows[top + r][left + c] for r in range(height) for c in range(width)]
        for top in range(0, size, height)
        for left in range(0, size, width)
    ]
    return all(len(set(unit)) == size for unit in (*rows, *zip(*rows, strict=True), *boxes))


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Sudoku", seed))
    free = [cell for cell, given in enumerate(problem.givens) if not given]
    right = 0
    for values in itertools.product((1, 2, 3, 4), repeat=len(free)):
        cells = list(problem.givens)
        for cell, value in zip(free, values, strict=True):
            cells[cell] = value
        rows = [cells[i : i + 4] for i in range(0, 16, 4)]
        expected = obeys_the_rules(rows, 2, 2)
        right += expected
        answer = "\n".join(" ".join(map(str, row)) for row in rows)
        assert TASK.verify(problem, answer).score == expected
    assert right == 1


@pytest.mark.parametrize(("level", "seed"), [(2, 0), (4, 1), (7, 2), (8, 3)])
def test_there_is_one_solution(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = SudokuTask(SudokuConfig.at(level)).generate(stream("Sudoku", "unique", seed))
    height, width = problem.box_height, problem.box_width
    size = height * width
    model = cp_model.CpModel()
    grid = [[model.new_int_var(1, size, "") for _ in range(size)] for _ in range(size)]
    for unit in (*grid, *zip(*grid, strict=True)):
        model.add_all_different(unit)
    for top, left in itertools.product(range(0, size, height), range(0, size, width)):
        box = [grid[top + r][left + c] for r in range(height) for c in range(width)]
        model.add_all_different(box)
    cells = [cell for row in grid for cell in row]
    for cell, given in zip(cells, problem.givens, strict=True):
        if given:
            model.add(cell == given)
    model.add_forbidden_assignments(cells, [problem.solution])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (RIGHT, 1.0),
        ("1234\n3412\n2143\n4321", 1.0),
        ("[[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]", 1.0),
        ("1 2 | 3 4\n3 4 | 1 2\n----+----\n2 1 | 4 3\n4 3 | 2 1", 1.0),
        (RIGHT.replace("4 3 2 1", "4 3 1 2"), 0.0),  # columns repeat
        ("1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 . .", 0.0),
        ("2 1 3 4\n3 4 1 2\n1 2 4 3\n4 3 2 1", 0.0),  # givens changed
        (RIGHT + "\n" + RIGHT, 0.0),
        ("The solution is\n" + RIGHT, 0.0),
        (RIGHT.replace("1", "1.0"), 0.0),
        (RIGHT.replace("1", "¹"), 0.0),
        ("1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1", 0.0),
        ("", 0.0),
        ("1 " * 50_000, 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(TINY, answer).score == score


def test_a_grid_of_two_digit_numbers():
    task = SudokuTask(SudokuConfig.at(10))
    problem = task.generate(stream("Sudoku", "large"))
    assert task.verify(problem, task.solve(problem)).score == 1.0
    assert " 16" in task.prompt(problem)


@pytest.mark.parametrize("level", [9, 10, 16])
def test_large_grids_obey_the_rules(level):
    problem = SudokuTask(SudokuConfig.at(level)).generate(stream("Sudoku", "rules", level))
    size = problem.box_height * problem.box_width
    rows = [problem.solution[i : i + size] for i in range(0, size * size, size)]
    assert obeys_the_rules(rows, problem.box_height, problem.box_width)
    assert set(rows[0]) == set(range(1, size + 1))


def test_effort_grows_and_guessing_fails():
    easy, hard = (
        [SudokuTask(SudokuConfig.at(level)).generate(stream("Sudoku", s)) for s in range(10)]
        for level in (0, 8)
    )
    assert max(map(TASK.effort, easy)) < min(map(TASK.effort, hard))
    rng = stream("Sudoku", "guess")
    assert sum(TASK.verify(p, TASK.baseline(rng, p)).score for p in hard) == 0.0
    assert all(TASK.verify(p, TASK.baseline(rng, p)).status != "unparsable" for p in easy)


@pytest.mark.parametrize(
    "knob",
    [
        {"box_width": 1},
        {"box_height": 0},
        {"n_clues": 81},
        {"box_height": 10**30},
        {"box_width": 10**30},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SudokuConfig(**knob)
