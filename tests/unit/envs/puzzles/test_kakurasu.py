"""Kakurasu: every choice of cells on small grids, one solution by CP-SAT, forms, cheats."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import kakurasu as module
from rlvr_envs.envs.puzzles.kakurasu import KakurasuConfig, KakurasuProblem, KakurasuTask
from rlvr_envs.solvers import cp_sat

TASK = KakurasuTask(KakurasuConfig(size=3))


def fits(problem, rows):
    size = len(rows)
    for i, expected in enumerate(problem.across):
        if expected >= 0 and sum((c + 1) * int(rows[i][c]) for c in range(size)) != expected:
            return False
    for i, expected in enumerate(problem.down):
        if expected >= 0 and sum((r + 1) * int(rows[r][i]) for r in range(size)) != expected:
            return False
    flat = "".join("".join(row) for row in rows)
    return all(flat[cell] == "1" for cell in problem.chosen) and all(
        flat[cell] == "0" for cell in problem.others
    )


def grids(size):
    for cells in itertools.product("01", repeat=size**2):
        yield [cells[i : i + size] for i in range(0, size**2, size)]


def text(rows):
    return "\n".join(map(" ".join, rows))


def count(problem, limit=2):
    """How many solutions CP-SAT finds."""
    size = len(problem.across)
    model = cp_sat.new_model()
    chosen = [[model.new_bool_var("") for _ in range(size)] for _ in range(size)]
    for i in range(size):
        if problem.across[i] >= 0:
            model.add(sum((c + 1) * chosen[i][c] for c in range(size)) == problem.across[i])
        if problem.down[i] >= 0:
            model.add(sum((r + 1) * chosen[r][i] for r in range(size)) == problem.down[i])
    for cells, value in ((problem.chosen, 1), (problem.others, 0)):
        for cell in cells:
            model.add(chosen[cell // size][cell % size] == value)
    return cp_sat.count_solutions(
        model, [x for row in chosen for x in row], limit=limit, budget=5.0
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("percent", [0, 100])
def test_whole_small_world(seed, percent):
    task = KakurasuTask(KakurasuConfig(size=3, total_percent=percent))
    problem = task.generate(stream("Kakurasu", seed))
    right = 0
    for rows in grids(3):
        expected = fits(problem, rows)
        right += expected
        assert task.verify(problem, text(rows)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8, 10])
def test_one_solution_by_another_solver(level):
    pytest.importorskip("ortools.sat.python.cp_model", reason="CP-SAT is the other solver")
    for seed in range(2):
        problem = KakurasuTask(KakurasuConfig.at(level)).generate(stream("Kakurasu", level, seed))
        assert fits(problem, problem.solution)
        assert count(problem) == 1


def test_no_total_is_left_without_need():
    problem = KakurasuTask(KakurasuConfig(total_percent=0)).generate(stream("Kakurasu", "need"))
    totals = (*problem.across, *problem.down)
    assert -1 in totals
    for i, total in enumerate(totals):
        if total >= 0:
            fewer = (*totals[:i], -1, *totals[i + 1 :])
            changed = KakurasuProblem(
                fewer[:6], fewer[6:], problem.chosen, problem.others, problem.solution
            )
            assert count(changed) == 2


def test_cells_are_given_where_totals_do_not_settle_it(monkeypatch):
    monkeypatch.setattr(module, "_CHANGES", 0)
    task = KakurasuTask(KakurasuConfig(size=8))
    drawn = [task.generate(stream("Kakurasu", "given", seed)) for seed in range(30)]
    problem = next(each for each in drawn if each.chosen and each.others)
    prompt = task.prompt(problem)
    assert "Cells that are chosen, as" in prompt
    assert "Cells that are not chosen, as" in prompt
    assert count(problem) == 1
    for cell in (problem.chosen[0], problem.others[0]):
        marks = list("".join(problem.solution))
        marks[cell] = "01"[marks[cell] == "0"]
        rows = [marks[i : i + 8] for i in range(0, 64, 8)]
        assert task.verify(problem, text(rows)).detail == "a given cell was changed"


BOARD = KakurasuProblem((3, 3, -1), (-1, -1, -1), (), (), ())
GOOD = "1 1 0\n0 0 1\n1 0 1"
LINES = GOOD.split("\n")


def test_any_solution_is_right():
    right = [rows for rows in grids(3) if fits(BOARD, rows)]
    assert len(right) == 2 * 2 * 8
    for rows in right:
        assert TASK.verify(BOARD, text(rows)).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        GOOD.replace(" ", ""),
        GOOD.replace(" ", ", "),
        f"```\n{GOOD}\n```",
        "\n".join(f"| {line.replace(' ', ' | ')} |" for line in LINES),
        "[[1, 1, 0], [0, 0, 1], [1, 0, 1]]",
        "\n".join(f"Row {i}: {line}" for i, line in enumerate(LINES, 1)),
        r"\begin{bmatrix} 1 & 1 & 0 \\ 0 & 0 & 1 \\ 1 & 0 & 1 \end{bmatrix}",
    ],
)
def test_forms_of_a_right_answer(answer):
    assert TASK.verify(BOARD, answer).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "1",
        "0 0 0\n0 0 0\n0 0 0",
        "1 1 1\n1 1 1\n1 1 1",
        "1 0 0\n0 0 1\n1 0 1",
        "1 1 1\n0 0 1\n1 0 1",
        "1 1 0\n0 1 1\n1 0 1",
        "0 0 1\n1 0 1\n0 0 0",
        "0 1 1\n1 0 0\n1 0 1",
        "3 3 0\n0 0 3\n1 0 1",
        "1 1 0\n0 0 1",
        "1 1 0\n0 0 1\n1 0 1\n0 0 0",
        "1 1 0 0\n0 0 1 0\n1 0 1 0",
        "1 1\n0 0\n1 0",
        "1 1 2\n0 0 1\n1 0 1",
        "1 1 -0\n0 0 1\n1 0 1",
        "1 1 ?\n0 0 1\n1 0 1",
        "X X .\n. . X\nX . X",
        f"{GOOD}\nor so",
        f"{GOOD}\n\n{GOOD}",
        f"The grid:\n{GOOD}",
        f"not\n{GOOD}",
        "(1, 1), (1, 2), (2, 3), (3, 1), (3, 3)",
        "1 1 0 0 0 1 1 0 1",
        "9" * 5_000,
        "1 0 1\n" * 20_000,
        "\u0661 \u0661 \u0660\n0 0 1\n1 0 1",
        TASK.prompt(BOARD),
        "3, 3, ?",
        "NaN",
        "True True False\nFalse False True\nTrue False True",
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(BOARD, answer).score == 0.0


def test_effort_rises_with_the_level():
    means = []
    for level in (0, 1, 3, 5):
        task = KakurasuTask(KakurasuConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(12)]
        means.append(sum(found) / len(found))
    assert means == sorted(set(means))


def test_the_baseline_takes_the_largest_columns():
    problem = KakurasuProblem((5, 6, 2), (-1, -1, -1), (), (), ())
    assert TASK.baseline(stream("kakurasu"), problem) == "0 1 1\n1 1 1\n0 1 0"


@pytest.mark.parametrize("level", [0, 3, 6])
def test_the_worked_solution_tells_every_chosen_cell(level):
    task = KakurasuTask(KakurasuConfig.at(level))
    for seed in range(4):
        problem = task.generate(stream("Kakurasu", "steps", level, seed))
        told = " ".join(
            step.rpartition(" So ")[2].rpartition(", so ")[2] for step in task.explain(problem)
        ).lower()
        for cell, mark in enumerate("".join(problem.solution)):
            name = f"row {cell // len(problem.across) + 1}, column {cell % len(problem.across) + 1}"
            assert name in told or cell in problem.chosen or cell in problem.others
            if mark == "0":
                assert f"{name} is chosen" not in told


@pytest.mark.parametrize("knob", [{"size": 2}, {"size": 13}, {"total_percent": 101}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        KakurasuConfig(**knob)
