"""The game of Hanoi: turns, what is told, what a mistake costs, limits."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.tower_of_hanoi_game import (
    TowerOfHanoiGameConfig,
    TowerOfHanoiGameProblem,
    TowerOfHanoiGameTask,
)

TASK = TowerOfHanoiGameTask(TowerOfHanoiGameConfig())
STRICT = TowerOfHanoiGameTask(TowerOfHanoiGameConfig(optimal_only=True))
# Both discs from peg 1 to peg 3, with one turn to spare.
TOWER = TowerOfHanoiGameProblem(3, (0, 0), (2, 2), 4, 3, ((0, 1), (0, 2), (1, 2)))


def test_a_whole_game():
    session = TASK.begin(TOWER)
    first = session.reply(r"The small disc first: \boxed{1-2}")
    assert first.verdict is None
    assert first.text == "Peg 1: 2\nPeg 2: 1\nPeg 3: empty\n\n(3 turns left.)"
    session.reply(r"\boxed{1->3}")
    assert session.reply(r"\boxed{2-3}").verdict.score == 1.0


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("1-2", "no complete"),
        (r"\boxed{1-2, 1-3}", "a move is between two of the pegs 1 to 3"),
        (r"\boxed{4-1}", "a move is between two of the pegs 1 to 3"),
        (r"\boxed{undo}", "a move is between two of the pegs 1 to 3"),
        (r"\boxed{2-1}", "peg 2 is empty"),
        (r"\boxed{1-1}", "already on peg 1"),
        ("<think>" + r"\boxed{1-2}", "no complete"),
        ("\ud800" * 10_000, "no complete"),
    ],
)
def test_a_mistake_is_explained_and_costs_a_turn(mistake, told):
    session = TASK.begin(TOWER)
    reply = session.reply(mistake)
    assert told in reply.text
    assert reply.text.endswith("Peg 1: 2, 1\nPeg 2: empty\nPeg 3: empty\n\n(3 turns left.)")
    assert TASK.replay(TOWER, [mistake, *TASK.play(TOWER)]).score == 1.0
    assert STRICT.replay(TOWER, [mistake, *TASK.play(TOWER)]).score == 0.75
    verdict = TASK.replay(TOWER, [mistake, mistake, *TASK.play(TOWER)])
    assert (verdict.score, verdict.detail) == (0.0, "not solved within 4 turns")


def test_a_larger_disc_stays_off_a_smaller_one():
    session = TASK.begin(TOWER)
    session.reply(r"\boxed{1-3}")
    assert "disc 2 must not be put on disc 1" in session.reply(r"\boxed{1-3}").text


def test_the_goal_moves_away_with_each_level():
    levels = [TowerOfHanoiGameConfig.at(level) for level in range(31)]
    moves = [config.n_moves for config in levels]
    assert moves[:25] == sorted(set(moves[:25]))
    for level in (0, 4, 9):
        problem = TowerOfHanoiGameTask(levels[level]).generate(stream("Hanoi", level))
        assert problem.shortest == levels[level].n_moves
        assert problem.n_turns == 1 + problem.shortest * (100 + levels[level].spare_percent) // 100


def test_effort_and_baseline():
    assert TASK.effort(TOWER) == 3
    actions = TASK.baseline(stream("policy"), TOWER)
    assert 1 <= len(actions) <= TOWER.n_turns
    assert TASK.replay(TOWER, actions[:1]).detail.startswith("the episode was not over")


@pytest.mark.parametrize("difficulty", [0, 7, 30])
def test_the_oracle_has_turns_enough(difficulty):
    task = TowerOfHanoiGameTask(TowerOfHanoiGameConfig.at(difficulty))
    for seed in range(3):
        problem = task.generate(stream("TowerOfHanoiGame", seed))
        assert len(task.play(problem)) == problem.shortest <= problem.n_turns
        assert task.replay(problem, task.play(problem)).score == 1.0
        assert task.replay(problem, task.play(problem)[:-1]).score == 0.0


@pytest.mark.parametrize(
    "knob", [{"n_discs": 0}, {"n_discs": 10}, {"n_pegs": 5}, {"spare_percent": -1}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        TowerOfHanoiGameConfig(**knob)
