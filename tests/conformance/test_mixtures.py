"""The environments that mix tasks: Gymnasium's checker, the oracle, and no stray warning."""

import warnings
from collections import Counter

import gymnasium as gym
import gymnasium.utils.env_checker
import pytest

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.seeding import stream

MIXTURES = [env_id for env_id in registry.all_ids() if env_id in registry.mixture_ids()]


@pytest.mark.parametrize("env_id", MIXTURES)
def test_passes_gymnasiums_checker_without_a_warning(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(env_id, difficulty=(0, 5), render_mode="ansi")
        gymnasium.utils.env_checker.check_env(env.unwrapped)


@pytest.mark.parametrize("env_id", MIXTURES)
def test_what_is_served_is_solved(env_id, thorough):
    env = gym.make(env_id, difficulty=(0, 6))
    for seed in range(400 if thorough else 40):
        env.reset(seed=seed)
        solution = env.unwrapped.instance.solution()
        for action in [solution] if isinstance(solution, str) else solution:
            _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated) == (1.0, True), (info, seed)


@pytest.mark.parametrize("env_id", MIXTURES)
def test_every_task_is_served_as_often_as_its_weight_says(env_id):
    source = gym.make(env_id).unwrapped.source
    count = 20_000
    served = Counter(source._pick(stream("share", seed)).id for seed in range(count))
    for task_id, weight in zip(source.task_ids, source.weights, strict=True):
        error = (weight * (1 - weight) / count) ** 0.5
        assert abs(served[task_id] / count - weight) <= 5 * error, task_id
    weighted = {i for i in source.task_ids if registry.find(i).weight > 0}
    assert set(served) == weighted


def test_every_id_is_registered_with_gymnasium():
    assert set(registry.all_ids()) <= set(gym.registry)
    assert set(rlvr_envs.list_tasks()) <= set(gym.registry)
