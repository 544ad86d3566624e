"""The game of Sokoban: turns, moves taken back, what is told, limits."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.sokoban_game import (
    SokobanGameConfig,
    SokobanGameProblem,
    SokobanGameTask,
)

TASK = SokobanGameTask(SokobanGameConfig())
STRICT = SokobanGameTask(SokobanGameConfig(optimal_only=True))
CORRIDOR = SokobanGameProblem("######\n#@$_.#\n######", 5, 2, "RR")


def test_a_whole_game():
    session = TASK.begin(CORRIDOR)
    first = session.reply(r"To the right. \boxed{R}")
    assert first.text == "######\n#_@$.#\n######\n\n(4 turns left.)"
    last = session.reply(r"\boxed{r}")
    assert (last.verdict.score, last.text) == (1.0, "######\n#__@*#\n######\n\nSolved.")


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("R", "no complete"),
        (r"\boxed{RR}", "a move is U, D, L, R or undo"),
        (r"\boxed{right}", "a move is U, D, L, R or undo"),
        (r"\boxed{U}", "blocks U"),
        (r"\boxed{undo}", "no move to take back"),
    ],
)
def test_a_mistake_is_explained_and_costs_a_turn(mistake, told):
    reply = TASK.begin(CORRIDOR).reply(mistake)
    assert told in reply.text
    assert reply.text.endswith(f"{CORRIDOR.board}\n\n(4 turns left.)")
    assert TASK.replay(CORRIDOR, [mistake] * 3 + TASK.play(CORRIDOR)).score == 1.0
    assert TASK.replay(CORRIDOR, [mistake] * 4 + TASK.play(CORRIDOR)).score == 0.0
    assert STRICT.replay(CORRIDOR, [mistake] * 2 + TASK.play(CORRIDOR)).score == 0.5


def test_moves_are_taken_back_one_by_one():
    start = "#####\n#@_.#\n#_$_#\n#___#\n#####"
    problem = SokobanGameProblem(start, 20, 7, "")
    session = TASK.begin(problem)
    shown = [session.reply(rf"\boxed{{{letter}}}").text.split("\n\n")[0] for letter in "RDRU"]
    assert shown[1] == "#####\n#__.#\n#_@_#\n#_$_#\n#####"
    for earlier in [*reversed(shown[:-1]), start]:
        assert session.reply(r"\boxed{\text{Undo}}").text.split("\n\n")[0] == earlier


@pytest.mark.parametrize("difficulty", [0, 5, 10, 30])
def test_the_oracle_has_twice_the_turns_it_needs(difficulty):
    task = SokobanGameTask(SokobanGameConfig.at(difficulty))
    for seed in range(2):
        problem = task.generate(stream("SokobanGame", seed))
        assert len(task.play(problem)) == problem.shortest == task.effort(problem)
        assert 0 <= problem.n_turns - 2 * problem.shortest <= 2
        assert task.replay(problem, task.play(problem)).score == 1.0
        assert task.replay(problem, task.play(problem)[:-1]).score == 0.0


def test_the_baseline_never_goes_back_and_pushes_when_it_can_win():
    assert TASK.baseline(stream("policy"), CORRIDOR) == [r"\boxed{R}", r"\boxed{R}"]


@pytest.mark.parametrize(
    "knob",
    [{"n_boxes": 0}, {"n_turns": 1}, {"n_turns": 10_001}, {"max_states": 0}, {"least_moves": 0}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SokobanGameConfig(**knob)
