"""Schemes of whole episodes, for one environment and for many in every autoreset mode."""

from dataclasses import dataclass
from typing import ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers import EpisodeReward, Noise, ToolCost, vector

MODES = list(AutoresetMode)


@dataclass(frozen=True)
class Words:
    """Ten for each message, and a hundredth for each character of the last one."""

    adds: bool = True
    name: ClassVar[str] = "words"

    def parts(self, played):
        return {"messages": 10.0 * len(played.actions), "last": 0.01 * len(played.actions[-1])}


def sync(env_id, mode):
    return SyncVectorEnv([lambda: gym.make(env_id)] * 4, autoreset_mode=mode)


def asynchronous(env_id, mode):
    make = [lambda: gym.make(env_id)] * 4
    return AsyncVectorEnv(make, autoreset_mode=mode, context="fork", shared_memory=False)


def grouped(env_id, mode):
    return gym.make_vec(env_id, num_envs=4, group_size=2, autoreset_mode=mode)


@pytest.mark.parametrize("adds", [True, False])
def test_one_environment(scripted, ending, adds):
    env = EpisodeReward(gym.make(scripted), Words(adds))
    action = ending(0.5)
    for _ in range(2):  # nothing is left of an episode before
        env.reset(seed=0)
        _, reward, _, _, info = env.step("hm")
        assert (reward, "reward_parts" in info) == (0.0, False)
        _, reward, _, _, info = env.step(action)
        parts = {"messages": 20.0, "last": pytest.approx(0.01 * len(action))}
        assert info["reward_parts"] == ({"environment": 0.5} if adds else {}) | parts
        assert reward == pytest.approx(sum(info["reward_parts"].values()))
        assert info["verdict"].score == 0.5


def test_the_same_scheme_twice_adds_up(scripted, ending):
    env = EpisodeReward(EpisodeReward(gym.make(scripted), Words()), Words())
    env.reset(seed=0)
    _, reward, _, _, info = env.step(ending(0.5))
    assert info["reward_parts"]["messages"] == 20.0
    assert reward == pytest.approx(sum(info["reward_parts"].values()))


def test_what_is_not_scored_stays_so(scripted):
    env = EpisodeReward(ToolCost(gym.make(scripted), charge="always"), Words())
    env.reset(seed=0)
    _, reward, _, _, info = env.step("fault")
    assert (reward, info["reward_parts"], info["scored"]) == (0.0, {"words": 0.0}, False)


def test_other_environments_are_refused():
    with pytest.raises(ConfigError, match="of this package"):
        EpisodeReward(gym.make("CartPole-v1"), Words())


@pytest.mark.parametrize("make", [grouped, sync, asynchronous])
@pytest.mark.parametrize("mode", MODES)
def test_many_environments(make, mode, scripted, ending):
    envs = vector.EpisodeReward(vector.ToolCost(make(scripted, mode), per_call=0.1), Words())
    try:
        envs.reset(seed=0)
        first = envs.step(["hm", ending(), "hm", "fault"])
        if mode is AutoresetMode.DISABLED:
            envs.reset(options={"reset_mask": np.array([False, True, False, True])})
        actions = [ending(0.5), "hm", "hm", "hm"]
        second = envs.step(actions)
    finally:
        envs.close()
    assert first[1].tolist() == pytest.approx([0, 0.7 + 10 + 0.01 * len(ending()), 0, 0])
    assert second[1].tolist() == pytest.approx([0.35 + 20 + 0.01 * len(actions[0]), 0, 0, 0])
    final = second[4].get("final_info", second[4])
    assert final["_reward_parts"].tolist() == [True, False, False, False]
    assert vector._parts(final, 0) == {
        "environment": 0.5,
        "tool_cost": pytest.approx(-0.15),
        "messages": 20.0,
        "last": pytest.approx(0.01 * len(actions[0])),
    }


@pytest.mark.parametrize("mode", MODES)
def test_an_episode_begins_with_its_own_first_message(mode, scripted, ending):
    envs = vector.EpisodeReward(grouped(scripted, mode), Words())
    envs.reset(seed=0)
    envs.step([ending()] * 4)
    if mode is AutoresetMode.DISABLED:
        mask = np.array([True, True, False, False])
        envs.reset(options={"reset_mask": mask})
    elif mode is AutoresetMode.NEXT_STEP:
        envs.step(["of no account"] * 4)
    rewards = envs.step([ending(0.0)] * 4)[1]
    own = 10 + 0.01 * len(ending(0.0))
    waiting = 0.0 if mode is AutoresetMode.DISABLED else own
    assert rewards.tolist() == pytest.approx([own, own, waiting, waiting])


@dataclass(frozen=True)
class CutOff:
    adds: ClassVar[bool] = False
    name: ClassVar[str] = "cut_off"

    def parts(self, played):
        return {"cut_off": float(played.truncated), "right": 2 * played.verdict.score}


def test_what_was_cut_off_is_known(scripted, ending):
    env = EpisodeReward(gym.make(scripted, max_turns=1), CutOff())
    envs = vector.EpisodeReward(gym.make_vec(scripted, num_envs=2, max_turns=1), CutOff())
    env.reset(seed=0)
    assert env.step("hm")[1] == 1.0
    env.reset(seed=0)
    assert env.step(ending())[1] == 2.0
    envs.reset(seed=0)
    assert envs.step([ending(), "hm"])[1].tolist() == [2.0, 1.0]


@pytest.mark.parametrize("seed", [7, [7, 8], [7, 8, 9, 10]])
def test_members_of_a_group_have_noise_of_their_own(scripted, ending, seed):
    def play():
        envs = vector.EpisodeReward(
            grouped(scripted, AutoresetMode.SAME_STEP), Noise(rho0=0.5, rho1=0.5)
        )
        envs.reset(seed=seed)
        return np.array([envs.step([ending()] * 4)[1] for _ in range(40)])

    rewards = play()
    assert (rewards == play()).all()
    columns = {tuple(column) for column in rewards.T.tolist()}
    assert len(columns) == 4
    assert 0.3 < rewards.mean() < 0.7
