"""Mixtures: which tasks they serve, and in which shares."""

from collections import Counter

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source


def shares(count=2000, **kwargs):
    source = open_source("rlvr/Puzzle-v0", **kwargs)
    counts = Counter(source.draw(seed).spec.id for seed in range(count))
    return {task_id.removeprefix("rlvr/"): n / count for task_id, n in counts.items()}


ONLY = ["TestSum-v0", "TestProduct-v0", "TestRows-v0"]


def test_registered_weights_are_the_shares():
    found = shares(tasks=ONLY)
    assert set(found) == {"TestSum-v0", "TestProduct-v0"}
    assert found["TestProduct-v0"] == pytest.approx(0.75, abs=0.05)


def test_weights_can_be_changed():
    found = shares(
        tasks=ONLY, weights={"rlvr/TestSum-v0": 1, "TestProduct-v0": 1, "TestRows-v0": 2}
    )
    assert found["TestRows-v0"] == pytest.approx(0.5, abs=0.05)


def test_an_instance_names_its_own_task_and_comes_back_from_its_problem_seed():
    env = gym.make("rlvr/Puzzle-v0", tasks=ONLY, difficulty=2)
    for _ in range(10):
        prompt, info = env.reset()
        assert info["task"] != "rlvr/Puzzle-v0"
        alone = gym.make(info["task"], difficulty=2)
        assert alone.reset(options={"problem_seed": info["problem_seed"]})[0] == prompt


def test_each_task_keeps_its_answer_format():
    env = gym.make("rlvr/Puzzle-v0", tasks=ONLY)
    seen = {env.reset()[0].rsplit("\n\n", 1)[1] for _ in range(40)}
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"tasks": ["TestSm-v0"]}, "did you mean 'rlvr/TestSum-v0'"),
        ({"weights": {"TestSum-v0": -1}}, "finite number from 0"),
        ({"weights": {"TestSum-v0": float("nan")}}, "finite number from 0"),
        ({"tasks": ["TestRows-v0"]}, "no task"),
        ({"knobs": {"dificulty": 2}}, "did you mean 'difficulty'"),
    ],
)
def test_bad_mixtures_say_what_is_wrong(kwargs, message):
    with pytest.raises(ConfigError, match=message):
        open_source("rlvr/Puzzle-v0", **kwargs)
