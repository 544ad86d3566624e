"""Tents: every choice of cells on small grids, one solution by CP-SAT, forms, cheats."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import tents as module
from rlvr_envs.envs.puzzles.tents import TentsConfig, TentsProblem, TentsTask, paired
from rlvr_envs.solvers import cp_sat

TASK = TentsTask(TentsConfig(size=4))


def places(rows, mark):
    return [(r, c) for r, row in enumerate(rows) for c, each in enumerate(row) if each == mark]


def near(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1


def touching(one, other):
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) == 1


def fits(problem, tents):
    """The rules; the pairs are looked for among all orders of the tents."""
    trees = places(problem.rows, "T")
    size = len(problem.rows)
    if len(tents) != len(trees) or not {divmod(cell, size) for cell in problem.given} <= set(tents):
        return False
    if any(touching(one, other) for one, other in itertools.combinations(tents, 2)):
        return False
    for axis, numbers in enumerate((problem.across, problem.down)):
        for i, number in enumerate(numbers):
            if number >= 0 and sum(tent[axis] == i for tent in tents) != number:
                return False
    return any(all(map(near, trees, order)) for order in itertools.permutations(tents))


def text(rows, tents):
    return "\n".join(
        " ".join("A" if (r, c) in tents else mark for c, mark in enumerate(row))
        for r, row in enumerate(rows)
    )


def count(problem, limit=2):
    """How many choices of tents CP-SAT finds; a variable pairs each tree with a cell beside it."""
    size = len(problem.rows)
    trees = places(problem.rows, "T")
    model = cp_sat.new_model()
    tent = {cell: model.new_bool_var("") for cell in places(problem.rows, ".")}
    pair = {
        (tree, cell): model.new_bool_var("") for tree in trees for cell in tent if near(tree, cell)
    }
    for tree in trees:
        model.add(sum(x for (one, _), x in pair.items() if one == tree) == 1)
    for cell in tent:
        model.add(sum(x for (_, other), x in pair.items() if other == cell) == tent[cell])
    for one, other in itertools.combinations(tent, 2):
        if touching(one, other):
            model.add(tent[one] + tent[other] <= 1)
    for axis, numbers in enumerate((problem.across, problem.down)):
        for i, number in enumerate(numbers):
            if number >= 0:
                model.add(sum(x for cell, x in tent.items() if cell[axis] == i) == number)
    for cell in problem.given:
        model.add(tent[divmod(cell, size)] == 1)
    return cp_sat.count_solutions(model, list(tent.values()), limit=limit, budget=5.0)


@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Tents", seed))
    free, right = places(problem.rows, "."), 0
    for n_tents in range(5):
        for tents in itertools.combinations(free, n_tents):
            expected = fits(problem, tents)
            right += expected
            assert TASK.verify(problem, text(problem.rows, tents)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8, 10])
def test_one_solution_by_another_solver(level):
    pytest.importorskip("ortools.sat.python.cp_model", reason="CP-SAT is the other solver")
    for seed in range(3):
        problem = TentsTask(TentsConfig.at(level)).generate(stream("Tents", level, seed))
        assert count(problem) == 1


def test_no_number_is_left_without_need():
    task = TentsTask(TentsConfig(number_percent=0))
    problem = task.generate(stream("Tents", "need"))
    numbers = (*problem.across, *problem.down)
    assert -1 in numbers
    for i, number in enumerate(numbers):
        if number >= 0:
            fewer = [*numbers[:i], -1, *numbers[i + 1 :]]
            changed = TentsProblem(
                problem.rows, tuple(fewer[:7]), tuple(fewer[7:]), problem.given, problem.solution
            )
            assert count(changed) == 2


def test_tents_are_given_where_numbers_do_not_settle_it(monkeypatch):
    monkeypatch.setattr(module, "_MOVES", 0)
    task = TentsTask(TentsConfig(size=9, number_percent=100))
    drawn = (task.generate(stream("Tents", "given", seed)) for seed in range(50))
    problem = next(each for each in drawn if each.given)
    assert "already pitched" in task.prompt(problem)
    assert count(problem) == 1
    without = task.solve(problem).split()
    without[problem.given[0]] = "."
    rows = "\n".join(" ".join(without[i : i + 9]) for i in range(0, 81, 9))
    assert "already pitched is missing" in task.verify(problem, rows).detail


@pytest.mark.parametrize(
    ("trees", "tents", "expected"),
    [
        ({1, 4}, {0, 2}, False),
        ({1, 5}, {0, 2}, True),
        ({1, 3}, {0}, False),
        ({1}, {8}, False),
        ({1, 3, 4}, {2, 5, 6}, True),
        ({1, 3, 8}, {0, 2, 4}, False),
    ],
)
def test_pairs(trees, tents, expected):
    assert paired(3, trees, tents) == expected


ROWS = (".T..", "....", "..T.", "T...")
BOARD = TentsProblem(ROWS, (1, -1, -1, -1), (-1, -1, -1, -1), (), ())
RIGHT = [t for t in itertools.combinations(places(ROWS, "."), 3) if fits(BOARD, t)]


def test_this_board_has_several_solutions_and_each_is_right():
    assert len(RIGHT) > 1
    for tents in RIGHT:
        assert TASK.verify(BOARD, text(ROWS, tents)).score == 1.0


GOOD = text(ROWS, RIGHT[0])
LINES = GOOD.split("\n")


@pytest.mark.parametrize(
    "answer",
    [
        GOOD.replace(" ", ""),
        GOOD.replace(" ", ", "),
        f"```\n{GOOD}\n```",
        "\n".join(f"| {line.replace(' ', ' | ')} |" for line in LINES),
        f"[{', '.join(str(line.split()) for line in LINES)}]",
        "\n".join(f"Row {i}: {line}" for i, line in enumerate(LINES, 1)),
        f"\n{GOOD}\n\n",
    ],
)
def test_forms_of_a_right_answer(answer):
    assert TASK.verify(BOARD, answer).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "A",
        text(ROWS, []),
        text(ROWS, places(ROWS, ".")),
        text(ROWS, RIGHT[0][:2]),
        text(ROWS, RIGHT[0][1:]),
        text(ROWS, [(0, 0), (1, 1), (2, 1)]),
        text(ROWS, [(0, 0), (0, 2), (2, 0)]),
        text(ROWS, [(0, 0), (1, 3), (2, 0)]),
        GOOD.replace("T", "."),
        GOOD.replace("T", "#"),
        GOOD.replace("A", "T"),
        GOOD.replace(".", "A"),
        GOOD.replace("A", "t"),
        GOOD.lower(),
        "\n".join(LINES[:3]),
        "\n".join([*LINES, LINES[0]]),
        "\n".join(LINES[::-1]),
        "\n".join(line[::-1] for line in LINES),
        f"{GOOD}\nor so",
        f"{GOOD}\n\n{text(ROWS, RIGHT[1])}",
        f"The tents:\n{GOOD}",
        ", ".join(f"({r + 1}, {c + 1})" for r, c in RIGHT[0]),
        "A A A A\n" * 4,
        "9" * 5_000,
        "A ." * 60_000,
        TASK.prompt(BOARD),
        TASK.solve(TASK.generate(stream("Tents", "another"))),
        "\n".join(ROWS),
        "\u0422 \u0410 . .\n" * 4,
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(BOARD, answer).score == 0.0


def test_effort_rises_with_the_level():
    means = []
    for level in (0, 2, 5, 8):
        task = TentsTask(TentsConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(12)]
        means.append(sum(found) / len(found))
    assert means == sorted(set(means))


@pytest.mark.parametrize("level", [0, 3, 6])
def test_the_worked_solution_finds_the_tents(level):
    task = TentsTask(TentsConfig.at(level))
    for seed in range(4):
        problem = task.generate(stream("Tents", "steps", level, seed))
        concluded = [
            step.rpartition(" So ")[2].rpartition(", so ")[2] for step in task.explain(problem)
        ]
        told = " ".join(concluded).lower()
        for r, c in places(problem.solution, "A"):
            if r * len(problem.rows) + c not in problem.given:
                assert f"row {r + 1}, column {c + 1}" in told


@pytest.mark.parametrize(
    "knob", [{"size": 3}, {"size": 21}, {"tree_percent": 30}, {"number_percent": 101}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        TentsConfig(**knob)
