"""Light Up: every choice of lamps on small grids, one solution by CP-SAT, forms, cheats."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.light_up import LightUpConfig, LightUpProblem, LightUpTask
from rlvr_envs.solvers import cp_sat

TASK = LightUpTask(LightUpConfig(size=4))
SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def sight(rows, place):
    """The white cells that a lamp lights, besides its own, by walking in four directions."""
    found = []
    for down, right in SIDES:
        r, c = place[0] + down, place[1] + right
        while 0 <= r < len(rows) and 0 <= c < len(rows) and rows[r][c] == ".":
            found.append((r, c))
            r, c = r + down, c + right
    return found


def white_cells(rows):
    return [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "."]


def fits(rows, lamps):
    for place in white_cells(rows):
        lit = len(lamps & set(sight(rows, place)))
        if (place in lamps and lit) or (place not in lamps and not lit):
            return False
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            count = sum((r + down, c + right) in lamps for down, right in SIDES)
            if mark.isdigit() and count != int(mark):
                return False
    return True


def text(rows, lamps):
    return "\n".join(
        " ".join("L" if (r, c) in lamps else mark for c, mark in enumerate(row))
        for r, row in enumerate(rows)
    )


def count(rows, limit=2):
    """How many solutions CP-SAT finds."""
    model = cp_sat.new_model()
    lamp = {place: model.new_bool_var("") for place in white_cells(rows)}
    for place in lamp:
        seen = [lamp[other] for other in sight(rows, place)]
        model.add(lamp[place] + sum(seen) >= 1)
        for other in seen:
            model.add(lamp[place] + other <= 1)
    for r, row in enumerate(rows):
        for c, mark in enumerate(row):
            if mark.isdigit():
                beside = [(r + down, c + right) for down, right in SIDES]
                model.add(sum(lamp[place] for place in beside if place in lamp) == int(mark))
    return cp_sat.count_solutions(model, list(lamp.values()), limit=limit, budget=5.0)


@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("LightUp", seed))
    places, right = white_cells(problem.rows), 0
    for chosen in itertools.product((False, True), repeat=len(places)):
        lamps = set(itertools.compress(places, chosen))
        expected = fits(problem.rows, lamps)
        right += expected
        assert TASK.verify(problem, text(problem.rows, lamps)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8, 10])
def test_one_solution_by_another_solver(level):
    pytest.importorskip("ortools.sat.python.cp_model", reason="CP-SAT is the other solver")
    for seed in range(3):
        problem = LightUpTask(LightUpConfig.at(level)).generate(stream("LightUp", level, seed))
        assert count(problem.rows) == 1


def test_numbers_that_fix_cells_at_once_go_first():
    def easy(percent):
        config = LightUpConfig(size=7, number_percent=percent)
        found = 0
        for seed in range(12):
            rows = LightUpTask(config).generate(stream("LightUp", "easy", seed)).rows
            white = set(white_cells(rows))
            for r, row in enumerate(rows):
                for c, mark in enumerate(row):
                    beside = sum((r + down, c + right) in white for down, right in SIDES)
                    found += mark.isdigit() and int(mark) in (0, beside)
        return found

    assert 2 * easy(40) < easy(100)


def test_no_number_is_left_without_need():
    problem = LightUpTask(LightUpConfig(number_percent=0)).generate(stream("LightUp", "need"))
    for r, row in enumerate(problem.rows):
        for c, mark in enumerate(row):
            if mark.isdigit():
                rows = [list(each) for each in problem.rows]
                rows[r][c] = "#"
                assert count(rows) == 2


ROWS = ("..#.", ".#..", "...0", "#...")
BOARD = LightUpProblem(ROWS, ())
RIGHT = [
    lamps
    for n in range(6)
    for lamps in itertools.combinations(white_cells(ROWS), n)
    if fits(ROWS, set(lamps))
]


@pytest.mark.parametrize("lamps", RIGHT)
def test_any_solution_is_right(lamps):
    assert TASK.verify(BOARD, text(ROWS, set(lamps))).score == 1.0


def test_this_board_has_several_solutions():
    assert len(RIGHT) > 1


GOOD = text(ROWS, set(RIGHT[0]))
LINES = GOOD.split("\n")


@pytest.mark.parametrize(
    "answer",
    [
        GOOD.replace(" ", ""),
        GOOD.replace(" ", ", "),
        GOOD.replace("0", "#"),
        f"```\n{GOOD}\n```",
        "\n".join(f"| {line.replace(' ', ' | ')} |" for line in LINES),
        f"[{', '.join(str(line.split()) for line in LINES)}]",
        f"\n{GOOD}\n\n",
        "\n".join(f"Row {i}: {line}" for i, line in enumerate(LINES, 1)),
    ],
)
def test_forms_of_a_right_answer(answer):
    assert TASK.verify(BOARD, answer).score == 1.0


def changed(row, column, mark):
    rows = [line.split() for line in LINES]
    rows[row][column] = mark
    return "\n".join(map(" ".join, rows))


LAMP = RIGHT[0][0]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "L",
        text(ROWS, set()),
        text(ROWS, set(white_cells(ROWS))),
        changed(*LAMP, "."),
        changed(*LAMP, "#"),
        changed(1, 1, "L"),
        changed(1, 1, "."),
        changed(1, 1, "9"),
        changed(2, 3, "2"),
        changed(0, 2, "3"),
        changed(2, 3, "1"),
        "\n".join(LINES[:3]),
        "\n".join([*LINES, LINES[0]]),
        "\n".join(LINES[::-1]),
        "\n".join(line[::-1] for line in LINES),
        GOOD.replace("L", "*"),
        GOOD.lower(),
        f"{GOOD}\nor so",
        f"{GOOD}\n\n{text(ROWS, set())}",
        f"The lamps:\n{GOOD}",
        ", ".join(f"({r + 1}, {c + 1})" for r, c in RIGHT[0]),
        "L . . .\n" * 4,
        "L" * 16,
        "9" * 5_000,
        "L ." * 60_000,
        TASK.prompt(BOARD),
        TASK.solve(TASK.generate(stream("LightUp", "another"))),
        "\n".join(ROWS),
        "Л . # .\n" * 4,
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(BOARD, answer).score == 0.0


def test_effort_rises_with_the_level():
    means = []
    for level in (0, 2, 5, 8):
        task = LightUpTask(LightUpConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(12)]
        means.append(sum(found) / len(found))
    assert means == sorted(set(means))


@pytest.mark.parametrize("level", [0, 3, 6])
def test_the_worked_solution_is_true(level):
    task = LightUpTask(LightUpConfig.at(level))
    for seed in range(4):
        problem = task.generate(stream("LightUp", "steps", level, seed))
        for step in task.explain(problem):
            conclusion = step.rpartition(" So ")[2].rpartition(", so ")[2].rpartition(" and ")[2]
            row, column = (int("".join(filter(str.isdigit, word))) for word in place_in(conclusion))
            expected = "a lamp" if problem.solution[row - 1][column - 1] == "L" else "empty"
            assert conclusion.partition(":")[0].rstrip(".").endswith(expected)


def place_in(conclusion):
    words = conclusion.lower().split()
    at = words.index("row")
    return words[at + 1], words[at + 3]


@pytest.mark.parametrize(
    "knob", [{"size": 3}, {"size": 21}, {"wall_percent": 5}, {"number_percent": 101}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        LightUpConfig(**knob)
