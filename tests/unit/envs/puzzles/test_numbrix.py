"""Numbrix: every filling of small grids, one solution by CP-SAT, random paths, forms, cheats."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.numbrix import NumbrixConfig, NumbrixProblem, NumbrixTask, draw_path
from rlvr_envs.solvers import cp_sat

TASK = NumbrixTask(NumbrixConfig(size=3, given_percent=30))


def text(numbers, size):
    return "\n".join(" ".join(map(str, numbers[i : i + size])) for i in range(0, size**2, size))


def is_path(numbers, size):
    places = [divmod(numbers.index(n), size) for n in range(1, size**2 + 1)]
    return all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in itertools.pairwise(places))


def fillings(problem):
    """Every way to put the missing numbers in the empty cells."""
    missing = sorted(set(range(1, problem.size**2 + 1)) - set(problem.givens))
    for order in itertools.permutations(missing):
        rest = iter(order)
        yield [given or next(rest) for given in problem.givens]


def count(problem, limit=2):
    """How many solutions CP-SAT finds, with a variable for each cell and number."""
    size, last = problem.size, problem.size**2
    model = cp_sat.new_model()
    cells = list(itertools.product(range(size), repeat=2))
    holds = {(cell, n): model.new_bool_var("") for cell in cells for n in range(1, last + 1)}
    for cell in cells:
        model.add_exactly_one(holds[cell, n] for n in range(1, last + 1))
    for n in range(1, last + 1):
        model.add_exactly_one(holds[cell, n] for cell in cells)
    for (r, c), n in itertools.product(cells, range(1, last)):
        beside = [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
        model.add_bool_or(
            [~holds[(r, c), n], *(holds[cell, n + 1] for cell in beside if cell in cells)]
        )
    for cell, given in zip(cells, problem.givens, strict=True):
        if given:
            model.add(holds[cell, given] == 1)
    return cp_sat.count_solutions(model, list(holds.values()), limit=limit, budget=10.0)


@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Numbrix", seed))
    right = 0
    for numbers in fillings(problem):
        expected = is_path(numbers, 3)
        right += expected
        assert TASK.verify(problem, text(numbers, 3)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize("level", [0, 2, 4, 6, 8, 10])
def test_one_solution_by_another_solver(level):
    pytest.importorskip("ortools.sat.python.cp_model", reason="CP-SAT is the other solver")
    for seed in range(2):
        problem = NumbrixTask(NumbrixConfig.at(level)).generate(stream("Numbrix", level, seed))
        assert count(problem) == 1


@pytest.mark.parametrize("size", [3, 4, 5, 8])
def test_random_paths_visit_every_cell(size):
    paths = {tuple(draw_path(stream("path", seed), size)) for seed in range(12)}
    assert len(paths) > 6
    for path in paths:
        assert sorted(path) == list(range(size**2))
        assert is_path([path.index(cell) + 1 for cell in range(size**2)], size)


SNAKE = (1, 2, 3, 6, 5, 4, 7, 8, 9)
BOARD = NumbrixProblem(3, (1, 0, 0, 0, 5, 0, 0, 0, 0), ())
GOOD = text(SNAKE, 3)
LINES = GOOD.split("\n")


def test_any_solution_is_right():
    right = [numbers for numbers in fillings(BOARD) if is_path(numbers, 3)]
    assert len(right) > 1
    for numbers in right:
        assert TASK.verify(BOARD, text(numbers, 3)).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        GOOD.replace(" ", ""),
        GOOD.replace(" ", ", "),
        f"```\n{GOOD}\n```",
        "\n".join(f"| {line.replace(' ', ' | ')} |" for line in LINES),
        f"[{', '.join(str(list(map(int, line.split()))) for line in LINES)}]",
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
        "5",
        text((1, 2, 3, 4, 5, 6, 7, 8, 9), 3),
        text((9, 8, 7, 4, 5, 6, 3, 2, 1), 3),
        text((1, 2, 3, 6, 5, 4, 7, 8, 8), 3),
        text((1, 2, 3, 6, 5, 4, 7, 9, 8), 3),
        text((1, 2, 3, 7, 5, 4, 6, 8, 9), 3),
        text((0, 1, 2, 5, 4, 3, 6, 7, 8), 3),
        text((2, 3, 4, 7, 6, 5, 8, 9, 10), 3),
        text((-1, 2, 3, 6, 5, 4, 7, 8, 9), 3),
        text((5, 4, 3, 6, 1, 2, 7, 8, 9), 3),
        text((1, 1, 1, 1, 5, 1, 1, 1, 1), 3),
        GOOD.replace("9", "."),
        GOOD.replace("9", "9.5"),
        GOOD.replace("9", "\u0669"),
        "\n".join(LINES[:2]),
        "\n".join([*LINES, LINES[0]]),
        "\n".join(LINES[::-1]),
        "\n".join(line[::-1] for line in LINES),
        f"{GOOD}\nor so",
        f"{GOOD}\n\n{GOOD}",
        f"The grid:\n{GOOD}",
        "1, 2, 3, 6, 5, 4, 7, 8, 9",
        " ".join(map(str, SNAKE)),
        "9" * 5_000,
        "1 2 3\n" * 20_000,
        TASK.prompt(BOARD),
        TASK.solve(TASK.generate(stream("Numbrix", "another", 1))),
        text(BOARD.givens, 3),
        "NaN NaN NaN\n" * 3,
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(BOARD, answer).score == 0.0


def test_few_numbers_are_given_at_high_levels():
    share = []
    for level in (0, 3, 6):
        task = NumbrixTask(NumbrixConfig.at(level))
        drawn = [task.generate(stream("few", level, seed)).givens for seed in range(5)]
        share.append(sum(map(bool, itertools.chain(*drawn))) / sum(map(len, drawn)))
    assert share[0] > 0.5
    assert share[0] > share[1] > share[2]


def test_effort_rises_with_the_level():
    means = []
    for level in (0, 2, 5, 8):
        task = NumbrixTask(NumbrixConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(8)]
        means.append(sum(found) / len(found))
    assert means == sorted(set(means))


@pytest.mark.parametrize("level", [0, 4, 7])
def test_the_worked_solution_tells_every_open_cell(level):
    task = NumbrixTask(NumbrixConfig.at(level))
    problem = task.generate(stream("Numbrix", "steps", level))
    told = " ".join(step.partition(" is ")[2] for step in task.explain(problem))
    for cell, number in enumerate(problem.solution):
        place = f"{number} in row {cell // problem.size + 1}, column {cell % problem.size + 1}"
        assert (f" {place}" in f" {told}") == (not problem.givens[cell])


@pytest.mark.parametrize("knob", [{"size": 2}, {"size": 13}, {"given_percent": 96}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        NumbrixConfig(**knob)
