"""What all game tasks share: prompts that give no move away, positions that luck does not win."""

from dataclasses import replace
from statistics import fmean

import pytest

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
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


def in_match(name, level, side, seed, **knobs):
    task_type = find(f"rlvr/{name}").task_type
    config = replace(task_type.Config.at(level), match=side, **knobs)
    task = task_type(config)
    return task, task.generate(stream("match", name, level, seed))


@pytest.mark.parametrize("name", [*BOARDS, "Nim-v0"])
@pytest.mark.parametrize("level", [0, 4])
def test_both_sides_of_a_match_share_a_position_that_the_first_can_win(name, level):
    for seed in range(3):
        task, first = in_match(name, level, "first", seed, opponent="random")
        game, state = task.game(first), task.state(first)
        assert game.mover(state) == first.seat
        assert max(task.move_values(first, state).values()) > 0
        # The second one has a move to make, whatever the first one plays.
        assert all(game.mover(game.after(state, m)) == 1 - first.seat for m in game.actions(state))
        for opponent in ("random", "optimal"):
            task, second = in_match(name, level, "second", seed, opponent=opponent)
            assert second.opening[:-1] == first.opening
            assert second.opening[-1] in game.actions(state)
            assert (second.seat, second.seed) == (1 - first.seat, first.seed)
            assert task.state(second) == game.after(state, second.opening[-1])
            assert task.game(second).mover(task.state(second)) == second.seat
        # That opponent was the optimal one.
        assert max(task.move_values(second, task.state(second)).values()) < 0
        assert task.replay(second, task.play(second)).score == 0.0


@pytest.mark.parametrize("name", [*BOARDS, "Nim-v0"])
def test_a_match_says_what_a_result_earns_and_promises_no_win(name):
    for side in ("first", "second"):
        task, problem = in_match(name, 2, side, 1)
        prompt = task.prompt(problem)
        assert "force a win" not in prompt
        assert "You move first" not in prompt
        assert "A win earns 1" in prompt
        assert ("a draw 0.5" in prompt) == (name in ("TicTacToe-v0", "ConnectFour-v0"))
    task, problem = drawn(name, 2, 1)
    assert "you can force a win" in task.prompt(problem)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("side", ["first", "second"])
@pytest.mark.parametrize("name", ["Hex-v0", "Nim-v0"])
def test_the_seat_asked_for_is_the_agents_in_a_match_too(name, side, seat):
    _, problem = in_match(name, 1, side, 0, seat=seat, opponent="random")
    assert problem.seat == seat


def test_a_draw_earns_half_in_a_match_alone():
    half, none = 0, 0
    for seed in range(12):
        for side in ("first", "second"):
            task, problem = in_match("TicTacToe-v0", 3, side, seed, opponent="random")
            alone = type(task)(replace(task.config, match="none"))
            actions = task.baseline(stream("hasty", seed), problem)
            verdict = task.replay(problem, actions)
            assert verdict.parts["outcome"] == {1.0: 1.0, 0.5: 0.0, 0.0: -1.0}[verdict.score]
            if verdict.score == 0.5:
                half += verdict.status == "partial"
                none += alone.replay(problem, actions).score == 0.0
    assert half == none > 0


def test_a_match_is_not_judged_by_the_value_of_moves():
    task_type = find("rlvr/Nim-v0").task_type
    with pytest.raises(ConfigError, match="a match is judged by its outcome"):
        task_type.Config(match="first", judge="value")
