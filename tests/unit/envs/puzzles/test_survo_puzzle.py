"""Survo: every filling of small tables, one solution by CP-SAT, sums, forms, cheats."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.survo_puzzle import (
    SurvoPuzzleConfig,
    SurvoPuzzleProblem,
    SurvoPuzzleTask,
)
from rlvr_envs.generators.grids.sums import Sum, choices
from rlvr_envs.solvers import cp_sat

TASK = SurvoPuzzleTask(SurvoPuzzleConfig(n_rows=2, n_columns=3, given_percent=0))


def table(numbers, n_columns):
    return [numbers[i : i + n_columns] for i in range(0, len(numbers), n_columns)]


def text(numbers, n_columns=3):
    return "\n".join(" ".join(map(str, row)) for row in table(numbers, n_columns))


def fits(problem, numbers):
    rows = table(numbers, len(problem.down))
    return (
        tuple(map(sum, rows)) == problem.across
        and tuple(map(sum, zip(*rows, strict=True))) == problem.down
        and all(given in (0, n) for given, n in zip(problem.givens, numbers, strict=True))
    )


def count(problem, limit=2):
    """How many solutions CP-SAT finds."""
    n_columns, n_cells = len(problem.down), len(problem.givens)
    model = cp_sat.new_model()
    cells = [model.new_int_var(given or 1, given or n_cells, "") for given in problem.givens]
    model.add_all_different(cells)
    rows = table(cells, n_columns)
    for line, total in zip(
        (*rows, *zip(*rows, strict=True)), (*problem.across, *problem.down), strict=True
    ):
        model.add(sum(line) == total)
    return cp_sat.count_solutions(model, cells, limit=limit, budget=10.0)


@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("SurvoPuzzle", seed))
    right = 0
    for numbers in itertools.permutations(range(1, 7)):
        expected = fits(problem, numbers)
        right += expected
        assert TASK.verify(problem, text(numbers)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8, 10])
def test_one_solution_by_another_solver(level):
    pytest.importorskip("ortools.sat.python.cp_model", reason="CP-SAT is the other solver")
    for seed in range(2):
        task = SurvoPuzzleTask(SurvoPuzzleConfig.at(level))
        problem = task.generate(stream("SurvoPuzzle", level, seed))
        assert fits(problem, problem.solution)
        assert count(problem) == 1


@pytest.mark.parametrize(("length", "most"), [(2, 6), (3, 7), (4, 12)])
def test_sets_of_numbers_by_their_sums(length, most):
    found = choices(length, most)
    listed = [
        (total, tuple(n for n in range(most + 1) if bits >> n & 1))
        for total, sets in found.items()
        for bits in sets
    ]
    expected = [(sum(c), c) for c in itertools.combinations(range(1, most + 1), length)]
    assert sorted(listed) == sorted(expected)


def test_a_sum_takes_away_only_what_no_filling_has():
    rng = stream("Sum")
    for _ in range(200):
        masks = [int(rng.integers(1, 64)) << 1 for _ in range(3)]
        total = int(rng.integers(5, 17))
        fillings = [
            numbers
            for numbers in itertools.permutations(range(1, 7), 3)
            if sum(numbers) == total
            and all(mask >> n & 1 for mask, n in zip(masks, numbers, strict=True))
        ]
        left = list(masks)
        changed = Sum((0, 1, 2), total, 6).narrow(left)
        if changed is None:
            assert not fillings
        for numbers in fillings:
            assert all(mask >> n & 1 for mask, n in zip(left, numbers, strict=True))


BOARD = SurvoPuzzleProblem((0, 0, 3, 0, 0, 0), (6, 15), (5, 7, 9), ())
RIGHT = [n for n in itertools.permutations(range(1, 7)) if fits(BOARD, n)]
GOOD = text(RIGHT[0])
LINES = GOOD.split("\n")


def test_any_solution_is_right():
    wide = SurvoPuzzleProblem((0,) * 6, (10, 11), (7, 7, 7), ())
    right = [numbers for numbers in itertools.permutations(range(1, 7)) if fits(wide, numbers)]
    assert len(right) > 1
    for numbers in right:
        assert TASK.verify(wide, text(numbers)).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        GOOD.replace(" ", ""),
        GOOD.replace(" ", ", "),
        f"```\n{GOOD}\n```",
        "\n".join(f"| {line.replace(' ', ' | ')} |" for line in LINES),
        str([list(row) for row in table(RIGHT[0], 3)]),
        "\n".join(f"Row {i}: {line}" for i, line in enumerate(LINES, 1)),
        GOOD.replace(" ", "   "),
    ],
)
def test_forms_of_a_right_answer(answer):
    assert TASK.verify(BOARD, answer).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "6",
        text((1, 2, 3, 4, 5, 6)[::-1]),
        text((1, 3, 2, 4, 5, 6)),
        text((2, 1, 3, 5, 4, 6)),
        text((2, 1, 3, 4, 5, 6)),
        text((1, 2, 3, 5, 4, 6)),
        text((1, 2, 3, 4, 6, 5)),
        text((1, 2, 3, 4, 4, 7)),
        text((1, 2, 3, 4, 5, 5)),
        text((2, 2, 2, 3, 5, 7)),
        text((0, 3, 3, 5, 4, 6)),
        text((-1, 4, 3, 6, 3, 6)),
        "6 15\n5 7 9",
        "1 2 3 6\n4 5 6 15",
        "1 2 3\n4 5 6\n5 7 9",
        "1 2 3 = 6\n4 5 6 = 15",
        "1 2 3",
        "1 2\n3 4\n5 6",
        GOOD.replace("6", "."),
        GOOD.replace("6", "6.5"),
        GOOD.replace("6", "\u0666"),
        f"{GOOD}\nor so",
        f"{GOOD}\n\n{GOOD}",
        f"The table:\n{GOOD}",
        "1, 2, 3, 4, 5, 6",
        "9" * 5_000,
        "1 2 3\n" * 20_000,
        TASK.prompt(BOARD),
        TASK.solve(TASK.generate(stream("SurvoPuzzle", "another"))),
        text(BOARD.givens),
        "NaN NaN NaN\nNaN NaN NaN",
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(BOARD, answer).score == 0.0


def test_effort_rises_with_the_level():
    means = []
    for level in (0, 2, 4, 6, 8, 10):
        task = SurvoPuzzleTask(SurvoPuzzleConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(12)]
        means.append(sum(found) / len(found))
    assert means == sorted(set(means))


def test_the_baseline_completes_rows():
    problem = SurvoPuzzleProblem((1, 2, 0, 4, 0, 6), (6, 15), (5, 7, 9), ())
    assert TASK.baseline(stream("survo"), problem) == "1 2 3\n4 5 6"


@pytest.mark.parametrize("level", [0, 3, 6, 9])
def test_the_worked_solution_tells_every_open_cell(level):
    task = SurvoPuzzleTask(SurvoPuzzleConfig.at(level))
    problem = task.generate(stream("SurvoPuzzle", "steps", level))
    told = " ".join(step.rpartition(" So ")[2] for step in task.explain(problem)).lower()
    for cell, number in enumerate(problem.solution):
        row, column = divmod(cell, len(problem.down))
        if not problem.givens[cell]:
            assert f"row {row + 1}, column {column + 1} is {number}" in told


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_rows": 1},
        {"n_columns": 7},
        {"n_rows": 2, "n_columns": 2},
        {"n_rows": 6, "n_columns": 5},
        {"given_percent": 91},
    ],
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        SurvoPuzzleConfig(**knobs)
