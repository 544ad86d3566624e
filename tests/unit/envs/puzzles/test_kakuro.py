"""Kakuro: the whole small world, one solution by another solver, layouts, forms of answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.kakuro import KakuroConfig, KakuroProblem, KakuroTask, layout, runs_of

TASK = KakuroTask(KakuroConfig(side=2, given_percent=50))
# 9 8 #
# 7 9 1
# # 3 2
SMALL = KakuroProblem(
    rows=("..#", "...", "#.."),
    across=(17, 17, 5),
    down=(16, 20, 3),
    solution=("98#", "791", "#32"),
)


def segments(rows):
    """The maximal lines of white cells, found by splitting text at black cells."""
    size = len(rows)
    lines = [[(r, c) for c in range(size)] for r in range(size)]
    for group in (lines, [list(column) for column in zip(*lines, strict=True)]):
        found = []
        for line in group:
            text = "".join("#" if rows[r][c] == "#" else "x" for r, c in line)
            start = 0
            for piece in text.split("#"):
                if piece:
                    found.append(tuple(line[start : start + len(piece)]))
                start += len(piece) + 1
        yield found


def is_connected(rows):
    """Whether the white cells are one area, found by walking from one of them."""
    white = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "#"}
    found, waiting = set(), [min(white)]
    while waiting:
        r, c = cell = waiting.pop()
        if cell in white - found:
            found.add(cell)
            waiting += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
    return found == white


def right(problem, grid):
    across, down = segments(problem.rows)
    for run, total in zip((*across, *down), (*problem.across, *problem.down), strict=True):
        digits = [int(grid[r][c]) for r, c in run]
        if sum(digits) != total or len(set(digits)) != len(digits):
            return False
    return True


@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Kakuro", seed))
    found = []
    for digits in itertools.product("123456789", repeat=4):
        rows = ("".join(digits[:2]), "".join(digits[2:]))
        kept = all(g in (".", d) for g, d in zip("".join(problem.rows), digits, strict=True))
        expected = kept and right(problem, rows)
        if expected:
            found.append(rows)
        assert TASK.verify(problem, "\n".join(rows)).score == expected
    assert found == [problem.solution]


@pytest.mark.parametrize(("level", "seed"), [(2, 0), (5, 1), (7, 2), (10, 3)])
def test_one_solution_by_another_solver(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = KakuroTask(KakuroConfig.at(level)).generate(stream("Kakuro", "cp", seed))
    model = cp_model.CpModel()
    cells, right_digits = {}, []
    for r, row in enumerate(problem.rows):
        for c, mark in enumerate(row):
            if mark != "#":
                low, high = (1, 9) if mark == "." else (int(mark), int(mark))
                cells[r, c] = model.new_int_var(low, high, "")
                right_digits.append(int(problem.solution[r][c]))
    across, down = segments(problem.rows)
    for run, total in zip((*across, *down), (*problem.across, *problem.down), strict=True):
        model.add_all_different([cells[cell] for cell in run])
        model.add(sum(cells[cell] for cell in run) == total)
    assert cp_model.CpSolver().solve(model) == cp_model.OPTIMAL
    model.add_forbidden_assignments(list(cells.values()), [right_digits])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("side", "longest"), [(3, 3), (4, 2), (6, 4), (9, 5), (12, 9)])
def test_layouts_have_runs_of_fair_length(seed, side, longest):
    rows = layout(stream("Kakuro", "layout", seed), side, longest)
    across, down = runs_of(rows)
    assert [across, down] == list(segments(rows))
    assert {len(row) for row in rows} == {side} == {len(rows)}
    assert is_connected(rows)
    assert all(2 <= len(run) <= longest for run in (*across, *down))


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("9 8 #\n7 9 1\n# 3 2", 1.0),
        ("98#\n791\n#32", 1.0),
        ('[["9","8","#"],["7","9","1"],["#","3","2"]]', 1.0),
        ("9 8 #\n7 9 1\n# 3 3", 0.0),
        ("8 9 #\n8 8 1\n# 3 2", 0.0),  # right sums with a digit twice
        ("9 8 1\n7 9 1\n# 3 2", 0.0),  # a black cell filled
        ("# 8 #\n7 9 1\n# 3 2", 0.0),  # a white cell blackened
        ("9 8 .\n7 9 1\n. 3 2", 0.0),
        ("9 8 #\n7 9 1", 0.0),
        ("9 8 #\n7 10 0\n# 3 2", 0.0),
        ("9 8 #\n7 9 1\n# 3 2\n# # #", 0.0),
        ("98\n791\n32", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_the_prompt_lists_every_sum():
    lines = TASK.prompt(SMALL).splitlines()
    for line in (
        "row 1, columns 1 to 2: 17",
        "row 2, columns 1 to 3: 17",
        "row 3, columns 2 to 3: 5",
    ):
        assert line in lines
    for line in ("column 1, rows 1 to 2: 16", "column 2, rows 1 to 3: 20"):
        assert line in lines


def test_few_digits_are_given():
    task = KakuroTask(KakuroConfig.at(5))
    problems = [task.generate(stream("Kakuro", "givens", seed)) for seed in range(6)]
    givens = [sum(mark.isdigit() for mark in "".join(p.rows)) for p in problems]
    assert givens.count(0) >= 4


def test_effort_is_less_where_more_is_given():
    empty, half, full = (
        KakuroProblem(rows, (3, 12), (4, 11), ("12", "39"))
        for rows in (("..", ".."), ("12", ".."), ("12", "39"))
    )
    assert TASK.effort(full) == 1  # the position that is left
    assert TASK.effort(full) < TASK.effort(half) < TASK.effort(empty)


def test_the_baseline_fills_rows_with_the_least_digits():
    assert TASK.baseline(stream("kakuro"), SMALL) == "8 9 #\n1 7 9\n# 1 4"


def test_effort_grows_and_guessing_fails():
    easy, hard = (
        [KakuroTask(KakuroConfig.at(level)).generate(stream("Kakuro", s)) for s in range(10)]
        for level in (0, 7)
    )
    assert max(map(TASK.effort, easy)) < min(map(TASK.effort, hard))
    rng = stream("Kakuro", "guess")
    assert sum(TASK.verify(p, TASK.baseline(rng, p)).score for p in hard) == 0.0
    assert all(TASK.verify(p, TASK.baseline(rng, p)).status != "unparsable" for p in (*easy, *hard))


@pytest.mark.parametrize(
    "knob", [{"side": 1}, {"max_run": 1}, {"max_run": 10}, {"given_percent": 100}, {"side": 10**30}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        KakuroConfig(**knob)
