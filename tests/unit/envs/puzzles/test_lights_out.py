"""LightsOut: every set of presses on a small board, shortest solutions, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.lights_out import LightsOutConfig, LightsOutProblem, LightsOutTask

TASK = LightsOutTask(LightsOutConfig(n_rows=3, n_columns=3, n_presses=4))
STRICT = LightsOutTask(LightsOutConfig(optimal_only=True))
CROSS = LightsOutProblem(("010", "111", "010"), (4,))


def dark_after(lights, cells):
    """Whether presses put out all lights, one press at a time on a list of lists."""
    board = [[light == "1" for light in row] for row in lights]
    for row, column in cells:
        for down, right in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]:
            r, c = row + down, column + right
            if 0 <= r < len(board) and 0 <= c < len(board[0]):
                board[r][c] = not board[r][c]
    return not any(map(any, board))


def text(cells):
    return ", ".join(f"({row + 1}, {column + 1})" for row, column in cells)


@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("LightsOut", seed))
    cells = list(itertools.product(range(3), repeat=2))
    solved = 0
    for k in range(1, 10):
        for chosen in itertools.combinations(cells, k):
            right = dark_after(problem.lights, chosen)
            solved += right
            assert TASK.verify(problem, text(chosen)).score == float(right)
    assert solved == 1  # the kernel of three by three holds nothing


@pytest.mark.parametrize("seed", range(5))
def test_the_known_solution_is_a_shortest(seed):
    task = LightsOutTask(
        LightsOutConfig(n_rows=4, n_columns=3, n_presses=9, optimal_only=True)
        if seed % 2
        else LightsOutConfig(n_rows=4, n_columns=4, n_presses=10, optimal_only=True)
    )
    problem = task.generate(stream("LightsOut", "shortest", seed))
    cells = list(itertools.product(range(4), range(len(problem.lights[0]))))
    shortest = next(
        k
        for k in range(1, 17)
        if any(dark_after(problem.lights, c) for c in itertools.combinations(cells, k))
    )
    assert len(problem.presses) == shortest


def test_longer_solutions_earn_less_where_the_shortest_is_wanted():
    problem = LightsOutProblem(("11000", "10000", "00000", "00000", "00000"), (0,))
    quiet = ["10101", "10101", "00000", "10101", "10101"]  # presses that change nothing
    cells = [(r, c) for r in range(5) for c in range(5) if (quiet[r][c] == "1") != (r == c == 0)]
    assert dark_after(problem.lights, cells)
    assert STRICT.verify(problem, "(1, 1)").score == 1.0
    assert STRICT.verify(problem, text(cells)).score == pytest.approx(1 / 11)
    assert LightsOutTask(LightsOutConfig()).verify(problem, text(cells)).score == 1.0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("(2, 2)", 1.0),
        ("[(2,2)]", 1.0),
        ("(2;2)", 0.0),
        ("2, 2", 0.0),
        ("(1, 1)", 0.0),
        ("(2, 2), (2, 2), (2, 2)", 0.0),
        ("(2, 2), (1, 1), (1, 1)", 0.0),
        ("(0, 0)", 0.0),
        ("(2, 2), (4, 1)", 0.0),
        ("(2, 2.0)", 0.0),
        ("(-2, 2)", 0.0),
        ("press (2, 2)", 0.0),
        ("(2, 2)," * 10_000, 0.0),
        ("[]", 0.0),
        ("P", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(CROSS, answer).score == score


def test_presses_that_change_nothing_are_never_the_position():
    task = LightsOutTask(LightsOutConfig(n_rows=2, n_columns=3, n_presses=6))
    quiet = LightsOutTask(LightsOutConfig(n_rows=4, n_columns=4, n_presses=4))
    for seed in range(60):
        for each in (task, quiet):
            problem = each.generate(stream("LightsOut", "kernel", seed))
            assert "1" in "".join(problem.lights)
            assert each.verify(problem, each.solve(problem)).score == 1.0


@pytest.mark.parametrize(
    "knob",
    [
        {"n_rows": 1},
        {"n_columns": 0},
        {"n_presses": 0},
        {"n_presses": 26},
        {"n_rows": 10**30},
        {"n_columns": 51},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        LightsOutConfig(**knob)


def test_the_shortest_is_not_sought_on_boards_too_wide_for_it():
    with pytest.raises(ConfigError, match="optimal_only"):
        LightsOutConfig(n_rows=17, n_columns=17, optimal_only=True)


def test_a_guess_is_readable():
    for seed in range(5):
        problem = LightsOutTask(LightsOutConfig.at(5)).generate(stream("LightsOut", seed))
        guess = TASK.baseline(stream("guess", seed), problem)
        assert TASK.verify(problem, guess).status != "unparsable"


def test_effort_counts_guesses_at_the_first_row():
    # The cross goes out without a press in the first row: one guess, nine cells.
    assert TASK.effort(CROSS) == 1 * 9
    # A press at (1, 3): the guesses nothing, (1, 3) from the lowest bit.
    corner = LightsOutProblem(("011", "001", "000"), (2,))
    assert TASK.effort(corner) == 2 * 9
    middle = LightsOutProblem(("111", "010", "000"), (1,))
    assert TASK.effort(middle) == 3 * 9


def test_the_baseline_presses_while_lights_go_out():
    assert TASK.baseline(stream("lights"), CROSS) == "(2, 2)"
    # A press puts out three lights and lights two; then nothing more is gained.
    line = LightsOutProblem(("000", "111", "000"), ())
    assert TASK.baseline(stream("lights"), line) == "(2, 2)"
    assert TASK.verify(line, "(2, 2)").score == 0.0
