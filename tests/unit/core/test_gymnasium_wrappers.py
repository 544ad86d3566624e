"""Every wrapper of Gymnasium around a text environment: it works, or says why not.

docs/wrappers.md has the same table for readers, and is compared with this one.
"""

import importlib
import re
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import vector

import rlvr_envs  # noqa: F401  (registers the ids)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "wrappers.md"
ROW = re.compile(r"^\| (`.*?) \| (works|error) \| (.*?) \|$", re.MULTILINE)
WRONG = r"\boxed{-1}"


def upper_all(texts):
    return tuple(map(str.upper, texts))


def negative(reward):
    return -reward


def lazily(module, name):
    """Return a wrapper that Gymnasium imports when it is named."""

    def wrap(env):
        return getattr(module, name)(env)

    return wrap


# How each is put around an environment.
SINGLE = {
    "AddRenderObservation": wrappers.AddRenderObservation,
    "AddWhiteNoise": partial(wrappers.AddWhiteNoise, probability_of_noise_per_pixel=0.5),
    "ArrayConversion": lambda env: wrappers.ArrayConversion(env, np, np),
    "AtariPreprocessing": wrappers.AtariPreprocessing,
    "Autoreset": wrappers.Autoreset,
    "ClipAction": wrappers.ClipAction,
    "ClipReward": partial(wrappers.ClipReward, min_reward=0, max_reward=1),
    "DelayObservation": partial(wrappers.DelayObservation, delay=1),
    "DiscretizeAction": partial(wrappers.DiscretizeAction, bins=3),
    "DiscretizeObservation": partial(wrappers.DiscretizeObservation, bins=3),
    "DtypeObservation": partial(wrappers.DtypeObservation, dtype=np.float32),
    "FilterObservation": partial(wrappers.FilterObservation, filter_keys=["obs"]),
    "FlattenObservation": wrappers.FlattenObservation,
    "FrameStackObservation": partial(wrappers.FrameStackObservation, stack_size=3),
    "GrayscaleObservation": wrappers.GrayscaleObservation,
    "HumanRendering": wrappers.HumanRendering,
    "JaxToNumpy": lazily(wrappers, "JaxToNumpy"),
    "JaxToTorch": lazily(wrappers, "JaxToTorch"),
    "MaxAndSkipObservation": partial(wrappers.MaxAndSkipObservation, skip=2),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "NormalizeReward": wrappers.NormalizeReward,
    "NumpyToTorch": lazily(wrappers, "NumpyToTorch"),
    "ObstructView": partial(
        wrappers.ObstructView, obstructed_pixels_ratio=0.5, obstruction_width=2
    ),
    "OrderEnforcing": wrappers.OrderEnforcing,
    "PassiveEnvChecker": wrappers.PassiveEnvChecker,
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "RecordVideo": partial(wrappers.RecordVideo, video_folder="unused"),
    "RenderCollection": wrappers.RenderCollection,
    "RepeatAction": partial(wrappers.RepeatAction, num_repeats=2),
    "RescaleAction": partial(wrappers.RescaleAction, min_action=0, max_action=1),
    "RescaleObservation": partial(wrappers.RescaleObservation, min_obs=0, max_obs=1),
    "ReshapeObservation": partial(wrappers.ReshapeObservation, shape=(3, 3)),
    "ResizeObservation": partial(wrappers.ResizeObservation, shape=(3, 3)),
    "StickyAction": partial(wrappers.StickyAction, repeat_action_probability=0.5),
    "TimeAwareObservation": lambda env: wrappers.TimeAwareObservation(wrappers.TimeLimit(env, 5)),
    "TimeLimit": partial(wrappers.TimeLimit, max_episode_steps=3),
    "TransformAction": lambda env: wrappers.TransformAction(env, str.upper, env.action_space),
    "TransformObservation": lambda env: wrappers.TransformObservation(
        env, str.upper, env.observation_space
    ),
    "TransformReward": partial(wrappers.TransformReward, func=negative),
}
MANY = {
    "ArrayConversion": lambda envs: vector.ArrayConversion(envs, np, np),
    "ClipAction": vector.ClipAction,
    "ClipReward": partial(vector.ClipReward, min_reward=0, max_reward=1),
    "DictInfoToList": vector.DictInfoToList,
    "DtypeObservation": partial(vector.DtypeObservation, dtype=np.float32),
    "FilterObservation": partial(vector.FilterObservation, filter_keys=["obs"]),
    "FlattenObservation": vector.FlattenObservation,
    "GrayscaleObservation": vector.GrayscaleObservation,
    "HumanRendering": vector.HumanRendering,
    "JaxToNumpy": lazily(vector, "JaxToNumpy"),
    "JaxToTorch": lazily(vector, "JaxToTorch"),
    "NormalizeObservation": vector.NormalizeObservation,
    "NormalizeReward": vector.NormalizeReward,
    "NumpyToTorch": lazily(vector, "NumpyToTorch"),
    "RecordEpisodeStatistics": vector.RecordEpisodeStatistics,
    "RecordVideo": partial(vector.RecordVideo, video_folder="unused"),
    "RescaleAction": partial(vector.RescaleAction, min_action=0, max_action=1),
    "RescaleObservation": partial(vector.RescaleObservation, min_obs=0, max_obs=1),
    "ReshapeObservation": partial(vector.ReshapeObservation, shape=(3, 3)),
    "ResizeObservation": partial(vector.ResizeObservation, shape=(3, 3)),
    "TransformAction": lambda envs: vector.TransformAction(envs, upper_all, envs.action_space),
    "TransformObservation": lambda envs: vector.TransformObservation(
        envs, upper_all, envs.observation_space
    ),
    "TransformReward": partial(vector.TransformReward, func=negative),
    "VectorizeTransformAction": lambda envs: vector.VectorizeTransformAction(
        envs, wrappers.TransformAction, func=str.upper, action_space=envs.single_action_space
    ),
    "VectorizeTransformObservation": lambda envs: vector.VectorizeTransformObservation(
        envs,
        wrappers.TransformObservation,
        func=str.upper,
        observation_space=envs.single_observation_space,
    ),
    "VectorizeTransformReward": lambda envs: vector.VectorizeTransformReward(
        envs, wrappers.TransformReward, func=negative
    ),
}
# What a wrapper has to have before it looks at an environment at all.
NEEDS = {
    "AtariPreprocessing": "cv2",
    "ArrayConversion": "array_api_compat",
    "HumanRendering": "pygame",
    "JaxToNumpy": "jax",
    "JaxToTorch": "jax",
    "NumpyToTorch": "array_api_compat",
    "RecordVideo": "moviepy",
}


def documented():
    """Return wrapper → works or error, as the page says."""
    return {
        name: state for names, state, _ in ROW.findall(PAGE.read_text()) for name in names_in(names)
    }


def names_in(cell):
    return re.findall(r"`(\w+)`", cell)


def make(**options):
    return gym.make("rlvr/Gcd-v0", difficulty=0, render_mode="ansi", **options)


def play(env):
    """Play an episode; everything has to be in its space."""
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space
    observation, reward, *_ = env.step(WRONG)
    assert observation in env.observation_space
    assert reward == 0.0
    env.render()
    env.close()


def play_many(envs):
    observations, _ = envs.reset(seed=1)
    assert observations in envs.observation_space
    observations, rewards, *_ = envs.step((WRONG,) * 2)
    assert observations in envs.observation_space
    assert [float(each) for each in rewards] == [0.0, 0.0]
    envs.close()


def expect(name, work):
    """Do the work, and see that it goes as the page says."""
    if documented()[name] == "works":
        work()
        return
    # Gymnasium has no common error for this. What counts is that nothing goes on silently.
    with pytest.raises(Exception) as error:  # noqa: PT011
        work()
    assert error.traceback[-1].path != Path(__file__)
    needed = NEEDS.get(name)
    missing = needed and importlib.util.find_spec(needed) is None
    if missing and isinstance(error.value, ImportError | gym.error.DependencyNotInstalled):
        pytest.skip(f"{name} needs {needed}, which is not installed")


def test_the_page_and_the_tables_have_every_wrapper():
    single = set(wrappers.__all__) - {"vector"}
    many = set(vector.__all__)
    assert single == set(SINGLE)
    assert many == set(MANY)
    assert set(documented()) == single | many


@pytest.mark.parametrize("name", sorted(SINGLE))
def test_around_an_environment(name):
    expect(name, lambda: play(SINGLE[name](make())))


@pytest.mark.parametrize("name", sorted(MANY))
@pytest.mark.parametrize("kind", ["ours", "sync"])
def test_around_many_environments(name, kind):
    def work():
        ours = kind == "ours"
        envs = gym.make_vec("rlvr/Gcd-v0", num_envs=2) if ours else SyncVectorEnv([make] * 2)
        play_many(MANY[name](envs))

    expect(name, work)


def stacked():
    return wrappers.FrameStackObservation(make(), 3)


def delayed():
    return wrappers.DelayObservation(make(), 1)


def timed():
    return wrappers.TimeAwareObservation(wrappers.TimeLimit(make(), 5))


def test_a_stack_is_a_tuple_of_texts():
    prompt, _ = make().reset(seed=1)
    env = stacked()
    assert env.reset(seed=1)[0] == (prompt,) * 3
    assert env.step(WRONG)[0] == (prompt, prompt, "")
    env = wrappers.FrameStackObservation(make(), 3, padding_type="zero")
    assert env.reset(seed=1)[0] == ("", "", prompt)


def test_a_delay_begins_with_the_empty_text():
    prompt, _ = make().reset(seed=1)
    env = delayed()
    assert env.reset(seed=1)[0] == ""
    assert env.step(WRONG)[0] == prompt


def test_time_stands_beside_the_text():
    prompt, _ = make().reset(seed=1)
    observation, _ = timed().reset(seed=1)
    assert observation["obs"] == prompt
    assert observation["time"].tolist() == [0]


@pytest.mark.parametrize("wrapped", [stacked, delayed, timed])
@pytest.mark.parametrize("shared", [True, False])
def test_wrapped_environments_in_processes(wrapped, shared):
    one = SyncVectorEnv([wrapped] * 2)
    other = AsyncVectorEnv([wrapped] * 2, shared_memory=shared)
    try:
        for envs in (one, other):
            envs.seen = [envs.reset(seed=1)[0], envs.step((WRONG,) * 2)[0]]
            assert all(each in envs.observation_space for each in envs.seen)
        assert repr(one.seen) == repr(other.seen)
    finally:
        one.close()
        other.close()
