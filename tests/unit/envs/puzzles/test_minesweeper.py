"""Minesweeper: what all arrangements say, for every small answer; generation, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import minesweeper
from rlvr_envs.envs.puzzles.minesweeper import (
    MinesweeperConfig,
    MinesweeperProblem,
    MinesweeperTask,
)
from rlvr_envs.generators.grids.minesweeper import around, clues_of, prove
from rlvr_envs.solvers import cp_sat

TASK = MinesweeperTask(MinesweeperConfig.at(0))
CORNER = MinesweeperProblem(("1?1", "?2?", "0??"), (3, 5, 7))


def arrangements(rows):
    """The covered cells, and every set of them that agrees with the numbers, by trying all."""
    marks = {(r, c): mark for r, line in enumerate(rows) for c, mark in enumerate(line)}
    covered = [cell for cell, mark in marks.items() if mark == "?"]
    numbers = {cell: int(mark) for cell, mark in marks.items() if mark != "?"}
    found = []
    for chosen in itertools.product((False, True), repeat=len(covered)):
        mines = {cell for cell, mined in zip(covered, chosen, strict=True) if mined}
        if all(
            sum((r + i, c + j) in mines for i in (-1, 0, 1) for j in (-1, 0, 1)) == number
            for (r, c), number in numbers.items()
        ):
            found.append(mines)
    return covered, found


def text(cells):
    return ", ".join(f"({r + 1}, {c + 1})" for r, c in cells)


@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Minesweeper", seed))
    covered, found = arrangements(problem.rows)
    safe = [cell for cell in covered if not any(cell in mines for mines in found)]
    assert safe
    for k in range(1, len(covered) + 1):
        for cells in itertools.combinations(covered, k):
            assert TASK.verify(problem, text(cells)).score == float(list(cells) == safe)


def covered_and_clues(problem):
    n_columns = len(problem.rows[0])
    near = around(len(problem.rows), n_columns)
    return [i for i, mark in enumerate("".join(problem.rows)) if mark == "?"], clues_of(
        problem.rows, near
    )


@pytest.mark.parametrize("level", [2, 5])
def test_what_is_proven_agrees_with_another_solver(level):
    task = MinesweeperTask(MinesweeperConfig.at(level))
    for seed in range(2):
        problem = task.generate(stream("Minesweeper", "other", level, seed))
        covered, _ = covered_and_clues(problem)
        safe = [i for i in covered if not solvable_with_mine(problem.rows, i)]
        assert tuple(safe) == problem.safe


def solvable_with_mine(rows, mined):
    """Whether CP-SAT finds an arrangement with a mine in a cell."""
    model, width = cp_sat.new_model(), len(rows[0])
    zero = model.new_constant(0)
    mine = {
        (r, c): model.new_bool_var("")
        for r, line in enumerate(rows)
        for c, mark in enumerate(line)
        if mark == "?"
    }
    for r, line in enumerate(rows):
        for c, mark in enumerate(line):
            if mark != "?":
                beside = [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
                model.add(sum(mine[cell] for cell in beside if cell in mine) - int(mark) == zero)
    model.add(mine[divmod(mined, width)] == 1)
    return cp_sat.count_solutions(model, list(mine.values()), limit=1, budget=5.0) == 1


def test_cases_are_needed_from_the_fourth_level():
    at_once = 0
    for seed in range(12):
        task = MinesweeperTask(MinesweeperConfig.at(4))
        problem = task.generate(stream("Minesweeper", "cases", seed))
        _, clues = covered_and_clues(problem)
        at_once += prove(clues).at_once > 0
        assert prove(clues).safe.bit_count() == len(problem.safe) > 0
    assert at_once == 0


@pytest.mark.parametrize("seed", range(6))
def test_mines_go_where_nothing_is_proven(seed, monkeypatch):
    monkeypatch.setattr(minesweeper, "_DRAWS", 1)
    config = MinesweeperConfig(n_rows=4, n_columns=4, mine_percent=70, opened_percent=13)
    problem = MinesweeperTask(config).generate(stream("Minesweeper", "dense", seed))
    covered, found = arrangements(problem.rows)
    safe = [r * 4 + c for r, c in covered if not any((r, c) in mines for mines in found)]
    assert tuple(safe) == problem.safe
    assert safe


def test_a_search_that_gives_up_says_so():
    problem = MinesweeperTask(MinesweeperConfig.at(6)).generate(stream("Minesweeper", "long"))
    _, clues = covered_and_clues(problem)
    assert prove(clues).complete
    assert not prove(clues, nodes=2).complete


def test_clues_that_clash_are_an_error():
    with pytest.raises(ValueError, match="contradict"):
        prove([(0b11, 2), (0b01, 0)])


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("(2, 1), (2, 3), (3, 2)", 1.0),
        ("[(3,2) (2,1) (2,3)]", 1.0),
        ("(2, 1), (3, 2)", 0.0),
        ("(2, 1), (2, 3), (3, 2), (3, 3)", 0.0),
        ("(2, 1), (2, 3), (3, 2), (3, 2)", 0.0),
        ("(2, 1), (2, 3), (3, 2), (1, 1)", 0.0),
        ("(2, 1), (2, 3), (3, 2), (4, 1)", 0.0),
        ("2, 1, 2, 3, 3, 2", 0.0),
        ("{(2, 1), (2, 3), (3, 2)} - set()", 0.0),
        ("(2, 1), (2, 3), (3, 2)" + ", (2, 1)" * 9_000, 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    covered, found = arrangements(CORNER.rows)
    safe = [3 * r + c for r, c in covered if not any((r, c) in mines for mines in found)]
    assert tuple(safe) == CORNER.safe
    assert TASK.verify(CORNER, answer).score == score


@pytest.mark.parametrize(
    "knob",
    [
        {"n_rows": 2},
        {"n_columns": 1},
        {"mine_percent": 5},
        {"opened_percent": 70},
        {"n_rows": 10**30},
        {"n_columns": 65},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MinesweeperConfig(**knob)


def test_a_guess_is_readable():
    for level in (1, 5):
        problem = MinesweeperTask(MinesweeperConfig.at(level)).generate(
            stream("Minesweeper", level)
        )
        guess = TASK.baseline(stream("guess", level), problem)
        assert TASK.verify(problem, guess).status != "unparsable"


def test_effort_counts_the_numbers_looked_at():
    # One number settles the only covered cell, and is looked at again.
    assert TASK.effort(MinesweeperProblem(("0?0",), (1,))) == 3
    # Either cell may have the mine: at once, and twice in each of two cases.
    assert TASK.effort(MinesweeperProblem(("?1?",), ())) == 1 + 2 + 2


def test_the_baseline_names_what_single_numbers_settle():
    assert TASK.baseline(stream("mines"), CORNER) == "(2, 1), (2, 3), (3, 2)"
