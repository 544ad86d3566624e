"""Rewards that do not say whether an answer is right."""

import pickle

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers import Flips, RandomFlips, ReasoningPattern, ToolCost, vector


def play(env, action, **reset):
    env.reset(**reset)
    _, reward, _, _, info = env.step(action)
    assert sum(info["reward_parts"].values()) == pytest.approx(reward)
    return reward, info


@pytest.mark.parametrize(("score", "flipped"), [(1.0, 0.0), (0.0, 1.0), (0.25, 0.75)])
def test_a_flip(scripted, ending, score, flipped):
    reward, info = play(RandomFlips(gym.make(scripted), p=1.0), ending(score), seed=0)
    assert reward == pytest.approx(flipped)
    assert info["verdict"].score == score
    reward, info = play(RandomFlips(gym.make(scripted), p=0.0), ending(score), seed=0)
    assert reward == score
    assert info["reward_parts"] == {"environment": score, "random_flips": 0.0}


def test_problems_are_flipped_whole(scripted, ending):
    env = RandomFlips(gym.make(scripted), p=0.4)
    flipped = 0
    for problem in range(300):
        options = {"problem_seed": problem}
        twice = {play(env, ending(), seed=s, options=options)[0] for s in (0, 1)}
        assert len(twice) == 1
        flipped += twice == {0.0}
    assert flipped / 300 == pytest.approx(0.4, abs=0.12)


def test_another_seed_flips_other_problems(scripted, ending):
    def chosen(seed):
        env = RandomFlips(gym.make(scripted), p=0.5, seed=seed)
        return [play(env, ending(), options={"problem_seed": n})[0] for n in range(40)]

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


def test_episodes_are_flipped_one_by_one(scripted, ending):
    env = RandomFlips(gym.make(scripted), p=0.4, by="episode")
    options = {"problem_seed": 3}
    rewards = [play(env, ending(), seed=s, options=options)[0] for s in range(300)]
    assert rewards.count(0.0) / 300 == pytest.approx(0.4, abs=0.12)


def test_a_group_shares_the_flip_of_its_problem(scripted, ending):
    envs = gym.make_vec(scripted, num_envs=40, group_size=4)
    envs = vector.EpisodeReward(envs, Flips(p=0.5))
    envs.reset(seed=0)
    rewards = envs.step([ending()] * 40)[1].reshape(10, 4)
    assert (rewards == rewards[:, :1]).all()
    assert set(rewards[:, 0]) == {0.0, 1.0}


def test_a_shaped_reward_cannot_be_flipped(scripted, ending):
    env = RandomFlips(ToolCost(gym.make(scripted), per_call=0.1, charge="always"), p=1.0)
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="inside of the wrappers"):
        env.step(ending(0.0))


def test_phrases_pay_whatever_the_answer(scripted, ending):
    env = ReasoningPattern(gym.make(scripted), ("First, I need to", "hence"), each=0.3)
    env.reset(seed=0)
    env.step("FIRST, I need to look. First, I need to look again.")
    _, reward, _, _, info = env.step(ending(0.0))
    assert reward == pytest.approx(0.3)  # once, however often it is said
    assert play(env, ending(1.0), seed=0)[0] == 0.0
    assert info["verdict"].score == 0.0


def test_phrases_beside_the_outcome(scripted, ending):
    env = ReasoningPattern(gym.make(scripted), ("em", "f1"), each=0.5, weight=0.25)
    reward, info = play(env, ending(0.5), seed=0)
    assert reward == pytest.approx(0.75 * 0.5 + 0.25)
    assert info["reward_parts"] == {"environment": 0.5, "reasoning_pattern": 0.125}
    assert play(env, "fault", seed=0)[0] == 0.0


def test_all_phrases_earn_no_more_than_one(scripted, ending):
    env = ReasoningPattern(gym.make(scripted), tuple("abcdefsco"), each=1.0)
    assert play(env, ending(0.0), seed=0)[0] == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda env: RandomFlips(env, p=1.1),
        lambda env: RandomFlips(env, by="group"),
        lambda env: ReasoningPattern(env, "because"),
        lambda env: ReasoningPattern(env, ()),
        lambda env: ReasoningPattern(env, ("",)),
        lambda env: ReasoningPattern(env, each=0.0),
        lambda env: ReasoningPattern(env, weight=0.0),
    ],
)
def test_arguments_out_of_range(scripted, make):
    with pytest.raises(ConfigError):
        make(gym.make(scripted))


@pytest.mark.parametrize("wrapper", [RandomFlips, ReasoningPattern])
def test_a_spec_and_a_pickle_make_the_same(scripted, wrapper):
    env = wrapper(gym.make(scripted))
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.get_wrapper_attr("scheme") == env.scheme
