"""The Horizon wrapper: when an episode ends, why, and how the number changes."""

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.verdict import Status
from rlvr_envs.curricula import GrowingHorizon
from rlvr_envs.wrappers import Horizon, ToolCost


def length(env, action="hm"):
    """Play one action until the episode ends; return the number of turns and the last info."""
    env.reset(seed=0)
    for turn in range(1, 100):
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return turn, truncated, info
    raise AssertionError("it never ended")


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_it_ends_the_episode_and_says_why(scripted, horizon):
    turns, truncated, info = length(Horizon(gym.make(scripted), horizon))
    assert (turns, truncated, info["horizon"]) == (horizon, True, horizon)
    assert info["truncated_by"] == "horizon"
    assert info["verdict"].status is Status.WRONG
    assert f"{horizon} turns" in info["verdict"].detail
    assert info["scored"] is True
    assert "reference" in info


@pytest.mark.parametrize(("own", "options"), [(6, {}), (3, {"max_turns": 3})])
def test_the_limit_of_the_environment_holds_too(scripted, own, options):
    turns, truncated, info = length(Horizon(gym.make(scripted, **options), 50))
    assert (turns, truncated, info["horizon"]) == (own, True, own)
    assert "truncated_by" not in info


def test_a_discarded_horizon_leaves_nothing_behind(scripted):
    base = gym.make(scripted)
    length(Horizon(base, 2))
    assert length(Horizon(base, 4))[0] == 4


def test_an_answer_on_the_last_turn_counts(scripted, ending):
    env = Horizon(gym.make(scripted), 2)
    env.reset(seed=0)
    env.step("hm")
    _, reward, terminated, truncated, info = env.step(ending())
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert "truncated_by" not in info


def test_nothing_can_be_played_after_the_horizon(scripted):
    env = Horizon(gym.make(scripted), 1)
    length(env)
    with pytest.raises(UsageError):
        env.step("hm")


def test_a_change_holds_from_the_next_episode(scripted):
    env = Horizon(gym.make(scripted), 2)
    env.reset(seed=0)
    env.horizon = 4
    env.step("hm")
    assert env.step("hm")[3]
    assert length(env)[0] == env.horizon == 4
    env.set_wrapper_attr("horizon", 1)
    assert length(env)[0] == 1
    env.horizon = 5
    assert length(env)[0] == 5


def test_it_follows_a_curriculum(scripted):
    curriculum = GrowingHorizon((1, 3, 5), steps_per_stage=2)
    env = ToolCost(Horizon(gym.make(scripted), curriculum.horizon))
    turns = []
    for _ in range(6):
        turns.append(length(env)[0])
        curriculum.end_step()
    assert turns == [1, 1, 3, 3, 5, 5]


def test_the_agent_is_told_only_where_asked_for(scripted):
    bare, _ = gym.make(scripted).reset(seed=0)
    assert Horizon(gym.make(scripted), 3).reset(seed=0)[0] == bare
    told, _ = Horizon(gym.make(scripted), 3, announce=True).reset(seed=0)
    assert told == f"{bare}\n\nYou have 3 messages in all, the last of which must be the answer."
    told, _ = Horizon(gym.make(scripted), 50, announce=True).reset(seed=0)
    assert "You have 6 messages" in told
    assert "single message" in Horizon(gym.make(scripted), 1, announce=True).reset(seed=0)[0]


@pytest.mark.parametrize("horizon", [0, -1, 2.5, True, "3", None])
def test_numbers_that_are_no_horizon(scripted, horizon):
    with pytest.raises(ConfigError, match="integer from 1"):
        Horizon(gym.make(scripted), horizon)
    env = Horizon(gym.make(scripted), 2)
    with pytest.raises(ConfigError, match="integer from 1"):
        env.horizon = horizon
    env.horizon = lambda: horizon
    with pytest.raises(ConfigError, match="integer from 1"):
        env.reset(seed=0)


def test_one_is_enough(scripted):
    with pytest.raises(ConfigError, match="inside already"):
        Horizon(ToolCost(Horizon(gym.make(scripted), 2)), 3)
