"""The vector wrappers give what the wrappers for one environment give, in every autoreset mode."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from rlvr_envs import wrappers
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.curricula import GrowingHorizon
from rlvr_envs.wrappers import vector

MODES = list(AutoresetMode)
SCHEMES = [
    ("SearchR1Reward", {}),
    ("SearchR1Reward", {"structure": 0.2, "final": 0.1, "retrieval": 0.1}),
    ("ASearcherReward", {"decline_penalty": 0.5}),
    ("ToolCost", {"per_call": 0.1, "per_result_char": 1e-4, "charge": "always"}),
]
SEARCH = "rlvr/ChainSearch-v0"


def sync(env_id, mode):
    return SyncVectorEnv([lambda: gym.make(env_id)] * 4, autoreset_mode=mode)


def grouped(env_id, mode):
    return gym.make_vec(env_id, num_envs=4, autoreset_mode=mode)


def alone(wrapper, options, env_id, action):
    env = getattr(wrappers, wrapper)(gym.make(env_id), **options)
    env.reset(seed=0)
    _, reward, _, _, info = env.step(action)
    return reward, info.get("reward_parts", {})


@pytest.mark.parametrize(("wrapper", "options"), SCHEMES)
@pytest.mark.parametrize("make", [grouped, sync])
@pytest.mark.parametrize("mode", MODES)
def test_rewards_and_their_parts(wrapper, options, make, mode, scripted, ending):
    envs = getattr(vector, wrapper)(make(scripted, mode), **options)
    envs.reset(seed=0)
    actions = [ending(), "hm", ending(0.5, malformed=1.0, declined=1.0), "fault"]
    _, rewards, terminated, _, infos = envs.step(actions)
    assert terminated.tolist() == [True, False, True, True]
    final = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    assert final["_reward_parts"].tolist() == [True, False, True, True]
    for i, action in enumerate(actions):
        reward, parts = alone(wrapper, options, scripted, action)
        assert rewards[i] == pytest.approx(reward)
        assert vector._parts(final, i) == (pytest.approx(parts) if parts else None)
    assert final["verdict"][2].score == 0.5
    assert final["scored"].tolist() == [True, False, True, False]


@pytest.mark.parametrize("mode", MODES)
def test_they_compose(mode, scripted, ending):
    inner = vector.ToolCost(vector.ASearcherReward(grouped(scripted, mode)), per_call=0.1)
    outer = vector.SearchR1Reward(inner)
    for envs, expected in (
        (inner, {"asearcher": 0.6, "tool_cost": pytest.approx(-0.18)}),
        (outer, {"search_r1": 0.0}),
    ):
        envs.reset(seed=0)
        _, rewards, _, _, infos = envs.step([ending(0.5, f1=0.6)] * 4)
        final = infos.get("final_info", infos)
        assert vector._parts(final, 3) == expected
        assert rewards[3] == pytest.approx(sum(vector._parts(final, 3).values()))


def test_members_that_wait_get_nothing_again(scripted, ending):
    envs = vector.SearchR1Reward(grouped(scripted, AutoresetMode.DISABLED))
    envs.reset(seed=0)
    assert envs.step([ending(), "hm", "hm", "hm"])[1].tolist() == [1, 0, 0, 0]
    _, rewards, _, _, infos = envs.step([ending(), ending(), "hm", "hm"])
    assert rewards.tolist() == [0, 1, 0, 0]
    assert infos["_reward_parts"].tolist() == [False, True, False, False]


def test_tasks_without_the_parts_are_refused_and_overlong_messages_earn_nothing(scripted):
    envs = vector.SearchR1Reward(gym.make_vec("rlvr/Gcd-v0", num_envs=2))
    envs.reset(seed=0)
    with pytest.raises(ConfigError, match="rlvr/Gcd-v0"):
        envs.step(["1", "2"])
    envs = vector.SearchR1Reward(gym.make_vec(scripted, num_envs=2))
    envs.reset(seed=0)
    assert envs.step(["x" * (MAX_RESPONSE_CHARS + 1), "hm"])[1].tolist() == [0, 0]


def lengths(envs, steps):
    """Play one action; return for each member how long its episodes were, and why they ended."""
    envs.reset(seed=0)
    found = [[] for _ in range(envs.num_envs)]
    for _ in range(steps):
        infos = envs.step(["hm"] * envs.num_envs)[4]
        final = infos.get("final_info", infos)
        for i in range(envs.num_envs):
            if final.get("_verdict", np.zeros(envs.num_envs))[i]:
                reason = final["truncated_by"][i] if "truncated_by" in final else None
                found[i].append((final["turn"][i], final["horizon"][i], reason))
    return found


@pytest.mark.parametrize("make", [grouped, sync])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_horizon_with_autoreset(make, mode, scripted):
    envs = vector.Horizon(make(scripted, mode), 3)
    assert lengths(envs, 8) == [[(3, 3, "horizon")] * 2] * 4
    envs.horizon = 2
    episodes = 3 if mode is AutoresetMode.SAME_STEP else 2  # NEXT_STEP spends a step on a reset
    assert lengths(envs, 6)[0] == [(2, 2, "horizon")] * episodes
    envs.horizon = 50
    assert lengths(envs, 8) == [[(6, 6, None)]] * 4


def test_a_change_waits_for_the_next_episode_of_each_member(scripted, ending):
    envs = vector.Horizon(grouped(scripted, AutoresetMode.DISABLED), 3, announce=True)
    texts, infos = envs.reset(seed=0)
    assert all("You have 3 messages" in text for text in texts)
    assert infos["horizon"].tolist() == [3] * 4
    envs.step([ending(), "hm", "hm", "hm"])
    envs.horizon = 5
    mask = np.array([True, False, False, False])
    texts, infos = envs.reset(options={"reset_mask": mask})
    assert "You have 5 messages" in texts[0]
    assert infos["_horizon"].tolist() == mask.tolist()
    envs.step(["hm"] * 4)
    _, _, _, truncated, infos = envs.step(["hm"] * 4)
    assert truncated.tolist() == [False, True, True, True]
    assert infos["horizon"].tolist() == [5, 3, 3, 3]


def test_horizon_follows_a_curriculum_for_a_group(scripted):
    curriculum = GrowingHorizon((1, 3, 5), steps_per_stage=1)
    envs = vector.Horizon(gym.make_vec(scripted, num_envs=4, group_size=2), curriculum.horizon)
    for expected in (1, 3, 5, 5):
        found = lengths(envs, 6)
        assert found == [[(expected, expected, "horizon")]] * 4
        curriculum.end_step()


def wrapped():
    env = gym.make(SEARCH, difficulty=0)
    return wrappers.Horizon(wrappers.ToolCost(wrappers.SearchR1Reward(env), per_call=0.1), 2)


@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_in_worker_processes(context):
    envs = AsyncVectorEnv([wrapped] * 2, context=context, shared_memory=False)
    try:
        envs.reset(seed=[3, 3])
        envs.step(["<search>was</search>"] * 2)
        _, rewards, _, truncated, infos = envs.step(["<search>was</search>"] * 2)
        assert rewards.tolist() == [0.0, 0.0]
        assert truncated.all()
        assert infos["truncated_by"].tolist() == ["horizon"] * 2
        envs.set_attr("horizon", 9)
        assert envs.get_attr("horizon") == (9, 9)
        with pytest.raises(ConfigError, match="set_attr"):
            vector.Horizon(envs, 3)
    finally:
        envs.close()
