"""MinesweeperGame: what actions do, how it ends, and that nothing has to be guessed."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.puzzles import minesweeper_game
from rlvr_envs.envs.puzzles.minesweeper_game import (
    MinesweeperGameConfig,
    MinesweeperGameProblem,
    MinesweeperGameTask,
)
from rlvr_envs.generators.grids.minesweeper import around, show

TASK = MinesweeperGameTask(MinesweeperGameConfig.at(0))
# One mine at (2, 2); the corner at (1, 1) is what is left to open.
PROBLEM = MinesweeperGameProblem(("??10", "??10", "1110", "0000"), 1, 3, "", (5,))


def say(*actions, problem=PROBLEM):
    session = TASK.begin(problem)
    return [session.reply(action) for action in actions]


def boxed(text):
    return f"\\boxed{{{text}}}"


def test_opening_shows_numbers_and_the_last_safe_cell_wins():
    one, two = say(boxed("open (1, 2)"), boxed("open (2, 1) open (1, 1)"))
    assert one.text == "? 1 1 0\n? ? 1 0\n1 1 1 0\n0 0 0 0\n\n2 messages left."
    assert two.verdict.score == 1.0
    assert two.verdict.parts == {"turns": 2.0, "opened": 1.0}


def test_a_mine_ends_the_game_at_once():
    (reply,) = say(boxed("open (1, 2), open (2, 2), open (2, 1), open (1, 1)"))
    assert reply.verdict.status is Status.WRONG
    assert "(2, 2)" in reply.verdict.detail
    assert reply.verdict.parts["opened"] == pytest.approx(1 / 3)
    assert reply.text == ""


def test_a_flag_keeps_its_cell_shut_and_can_be_taken_away():
    replies = say(
        boxed("flag (2, 2), open (2, 2)"),
        boxed("unflag (2, 2), flag (1, 1), flag (4, 4)"),
        boxed("unflag (1, 1), open (1, 1), open (1, 2), open (2, 1)"),
    )
    assert "? F 1 0" in replies[0].text
    assert "(2, 2) has a flag and was not opened." in replies[0].text
    assert replies[1].text.startswith("F ? 1 0\n? ? 1 0")
    assert "(4, 4) is open already." in replies[1].text
    assert replies[2].verdict.score == 1.0


@pytest.mark.parametrize(
    "action",
    [
        "",
        "open (1, 1)",
        boxed(""),
        boxed("(1, 1)"),
        boxed("open (0, 1)"),
        boxed("open (5, 1)"),
        boxed("open (1, 1) and go on"),
        boxed("open 1 1"),
        boxed("open (1, 1)" * 101),
        boxed("open (" * 50_000),
        boxed("peek (2, 2)"),
    ],
)
def test_what_is_no_action_costs_a_message_and_opens_nothing(action):
    (reply,) = say(action)
    assert reply.verdict is None
    assert reply.text.startswith("? ? 1 0\n? ? 1 0")
    assert "There were no valid actions in your message" in reply.text
    assert "2 messages left" in reply.text


def test_the_messages_run_out():
    *_, last = say(*[boxed("flag (2, 2)")] * 3)
    assert last.verdict.status is Status.WRONG
    assert "3 messages" in last.verdict.detail


def test_cells_around_a_0_are_opened_too():
    mines = 1 << 0 | 1 << 24
    problem = MinesweeperGameProblem(show(mines, 1 << 1, 5, 5), 2, 20, "", (0, 24))
    (reply,) = say(boxed("open (3, 3)"), problem=problem)
    assert reply.verdict.score == 1.0


def every_arrangement(rows, n_cells):
    """The mines of all arrangements that agree with the numbers, by trying all."""
    marks = "".join(rows)
    near = around(len(rows), len(rows[0]))
    covered = [cell for cell in range(n_cells) if marks[cell] == "?"]
    found = []
    for k in range(len(covered) + 1):
        for cells in itertools.combinations(covered, k):
            mines = sum(1 << cell for cell in cells)
            if all(
                mark == "?" or (near[cell] & mines).bit_count() == int(mark)
                for cell, mark in enumerate(marks)
            ):
                found.append(mines)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_oracle_opens_only_what_is_proven(seed):
    task = MinesweeperGameTask(MinesweeperGameConfig(n_rows=4, n_columns=4, mine_percent=25))
    problem = task.generate(stream("MinesweeperGame", "proof", seed))
    session, rows = task.begin(problem), list(problem.rows)
    for action in task.play(problem):
        opened = minesweeper_game._read(action.removeprefix("\\boxed{").rstrip("}"), 4, 4)
        arrangements = every_arrangement(rows, 16)
        for _, cell in opened:
            assert not any(mines >> cell & 1 for mines in arrangements)
        reply = session.reply(action)
        rows = reply.text.split("\n\n")[0].replace(" ", "").split("\n")
    assert reply.verdict.score == 1.0


@pytest.mark.parametrize(("level", "n_seeds"), [(0, 30), (3, 10), (7, 3)])
def test_there_is_something_to_open_and_no_guess_to_make(level, n_seeds):
    task = MinesweeperGameTask(MinesweeperGameConfig.at(level))
    for seed in range(n_seeds):
        problem = task.generate(stream("MinesweeperGame", level, seed))
        actions = task.play(problem)
        assert task.replay(problem, actions).score == 1.0
        assert 2 * len(actions) == problem.n_turns
        assert problem.n_mines == len(problem.mines) > 0


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_at_first_few_cells_are_left_to_open(level):
    config = MinesweeperGameConfig.at(level)
    for seed in range(20):
        problem = MinesweeperGameTask(config).generate(stream("MinesweeperGame", "few", seed))
        covered = sum(row.count("?") for row in problem.rows) - problem.n_mines
        assert 1 <= covered < config.n_left + 15


def test_effort_and_baseline_on_a_small_board():
    """Five numbers are looked at, some again, for two cells, and three for the corner."""
    assert TASK.effort(PROBLEM) > 5
    (first, *_) = TASK.baseline(stream("policy"), PROBLEM)
    assert first == boxed("open (1, 2)")
    assert len(TASK.baseline(stream("policy"), PROBLEM)) <= PROBLEM.n_turns


def test_mines_are_taken_away_where_boards_need_guesses():
    config = MinesweeperGameConfig(n_rows=8, n_columns=8, mine_percent=40)
    for seed in range(5):
        problem = MinesweeperGameTask(config).generate(stream("MinesweeperGame", "dense", seed))
        assert problem.n_mines < 25
        assert TASK.replay(problem, TASK.play(problem)).score == 1.0


def test_the_board_of_last_resort(monkeypatch):
    monkeypatch.setattr(minesweeper_game, "_BOARDS", 0)
    small = MinesweeperGameTask(MinesweeperGameConfig(n_rows=4, n_columns=4))
    problem = small.generate(stream("MinesweeperGame", "last"))
    assert problem.rows == PROBLEM.rows
    assert problem.n_turns == 4
    assert TASK.replay(problem, TASK.play(problem)).score == 1.0


@pytest.mark.parametrize("knob", [{"n_rows": 3}, {"n_columns": 5000}, {"mine_percent": 60}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MinesweeperGameConfig(**knob)
