"""What all game tasks share: prompts that give no move away, positions that luck does not win."""

from statistics import fmean

import pytest

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.registry import find
from rlvr_envs.core.seeding import stream

BOARDS = ["TicTacToe-v0", "ConnectFour-v0", "Hex-v0"]
BOXED = answer_format("boxed")


def drawn(name, level, seed):
    task_type = find(f"rlvr/{name}").task_type
    task = task_type(task_type.Config.at(level))
    return task, task.generate(stream("games", name, level, seed))


@pytest.mark.parametrize("name", [*BOARDS, "Nim-v0"])
@pytest.mark.parametrize("level", [0, 2, 7])
def test_the_form_of_a_move_in_the_prompt_is_no_legal_move(name, level):
    task, problem = drawn(name, level, 1)
    shown = BOXED.extract(task.prompt(problem)).answer
    assert shown
    assert task.read(shown, task.game(problem).actions(task.state(problem))) is None
    assert "counted from 1" in task.move_help(problem) or name == "Nim-v0"


@pytest.mark.parametrize("name", BOARDS)
def test_a_hurried_player_seldom_wins_from_level_4(name):
    scores = []
    for seed in range(8):
        task, problem = drawn(name, 4, seed)
        for again in range(3):
            actions = task.baseline(stream("hasty", seed, again), problem)
            scores.append(task.replay(problem, actions).score)
    assert fmean(scores) <= 0.3


@pytest.mark.parametrize("name", [*BOARDS, "Nim-v0"])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_seat_asked_for_is_the_agents(name, seat):
    task_type = find(f"rlvr/{name}").task_type
    task = task_type(task_type.Config(seat=seat))
    problem = task.generate(stream("seat", name, seat))
    assert problem.seat == seat
    assert task.game(problem).mover(task.state(problem)) == seat
    assert task.replay(problem, task.play(problem)).score == 1.0
