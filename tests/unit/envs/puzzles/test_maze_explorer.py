"""MazeExplorer: what is seen, what moves do, how it ends, and that the oracle is honest."""

import dataclasses

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.puzzles.maze_explorer import (
    MazeExplorerConfig,
    MazeExplorerProblem,
    MazeExplorerTask,
)
from rlvr_envs.generators.moves.seals import seal
from rlvr_envs.generators.moves.turns import TURNS_AT_MOST

TASK = MazeExplorerTask(MazeExplorerConfig())
ROWS = ("S..", "##.", "G..")
PROBLEM = MazeExplorerProblem(3, 3, 0, ("###", "#@.", "###"), 7, seal(ROWS), ROWS, "RRDDLL")


def say(*moves):
    session = TASK.begin(PROBLEM)
    return [session.reply(move) for move in moves]


def test_the_surroundings_of_the_new_place_are_shown():
    (reply,) = say("\\boxed{RR}")
    assert reply.verdict is None
    assert reply.text == (
        "# # #\n. @ #\n# . #\n\nYou made 2 moves. You are at (1, 3). (6 messages left.)"
    )


def test_a_wall_and_the_border_stop_the_moves_of_a_message():
    wall, border = say("\\boxed{RDRR}", "\\boxed{UU}")
    assert "A wall was in the way after 1 move. You are at (1, 2)" in wall.text
    assert "A wall was in the way after 0 moves. You are at (1, 2)" in border.text


def test_the_goal_ends_the_episode_in_the_middle_of_a_message():
    (reply,) = say("\\boxed{RRDDLLRR}")
    assert reply.verdict.score == 1.0
    assert reply.verdict.parts == {"turns": 1.0, "moves": 6.0, "shortest": 6.0}


@pytest.mark.parametrize(
    "action",
    [
        "R",
        "",
        "\\boxed{}",
        "\\boxed{north}",
        "\\boxed{R2}",
        "\\boxed{" + "R" * 1001 + "}",
        "\ud800",
    ],
)
def test_a_message_without_moves_costs_a_turn_and_moves_nothing(action):
    (reply,) = say(action)
    assert "There were no moves in your message" in reply.text
    assert "at (1, 1). (6 messages left.)" in reply.text


def test_the_messages_run_out():
    *replies, last = say(*["\\boxed{U}"] * 7)
    assert all(reply.verdict is None for reply in replies)
    assert last.verdict.status is Status.WRONG
    assert last.text == ""


@pytest.mark.parametrize("rung", [0, 3, 8])
def test_there_are_twice_as_many_messages_as_the_oracle_needs(rung):
    task = MazeExplorerTask(MazeExplorerConfig.at(rung))
    for seed in range(8):
        problem = task.generate(stream("MazeExplorer", rung, seed))
        actions = task.play(problem)
        assert task.replay(problem, actions).score == 1.0
        assert 2 * len(actions) == problem.n_turns
        assert task.effort(problem) == len(actions)


def test_the_oracle_uses_only_what_it_was_shown():
    task = MazeExplorerTask(MazeExplorerConfig.at(6))
    changed = 0
    for seed in range(10):
        problem = task.generate(stream("MazeExplorer", "honest", seed))
        actions = task.play(problem)
        shown = set()
        session = task.begin(problem)
        places = [problem.start]
        for action in actions[:-1]:
            session.reply(action)
            places.append(session._cell)
        for place in places:
            r, c = divmod(place, problem.n_columns)
            shown |= {(r + dr, c + dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1)}
        rows = tuple(
            "".join(
                mark if (r, c) in shown or mark in "SG" else "#" if mark == "." else "."
                for c, mark in enumerate(line)
            )
            for r, line in enumerate(problem.rows)
        )
        changed += rows != problem.rows
        assert task.play(dataclasses.replace(problem, rows=rows, moves="")) == actions
    assert changed > 5


def test_a_player_may_have_to_keep_track_of_its_position():
    task = MazeExplorerTask(MazeExplorerConfig(tells_place=False))
    problem = task.generate(stream("MazeExplorer", "lost"))
    assert "numbered from 1" not in task.prompt(problem)
    assert "You are at" not in task.begin(problem).reply("\\boxed{UDLR}").text
    moved = dataclasses.replace(problem, start=0 if problem.start else 1)
    assert task.prompt(moved) == task.prompt(problem)
    assert task.replay(problem, task.play(problem)).score == 1.0


def test_the_baseline_runs_in_random_directions():
    actions = TASK.baseline(stream("policy"), PROBLEM)
    assert set(actions) <= {f"\\boxed{{{move * 3}}}" for move in "UDLR"}
    assert len(actions) <= PROBLEM.n_turns


def test_a_wider_view_shows_more():
    task = MazeExplorerTask(MazeExplorerConfig(view=2))
    problem = task.generate(stream("MazeExplorer", "view"))
    assert [len(line) for line in problem.surroundings] == [5] * 5
    assert "5 by 5 cells" in task.prompt(problem)
    assert task.replay(problem, task.play(problem)).score == 1.0


def test_games_differ_by_their_seals():
    seals = {TASK.generate(stream("MazeExplorer", seed)).seal for seed in range(30)}
    assert len(seals) == 30
    assert MazeExplorerConfig.at(10_000).n_rows ** 2 <= TURNS_AT_MOST


@pytest.mark.parametrize(
    "knob",
    [
        {"n_rows": 2},
        {"n_columns": 5000},
        {"path_length": 1},
        {"path_length": 21},
        {"n_turns": 0},
        {"n_turns": 12},
        {"n_loops": -1},
        {"view": 0},
        {"view": 10**30},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MazeExplorerConfig(**knob)
