"""The learning rate by step: warm-up, the schedules' shapes, and supervised steps before them."""

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from rlvr_envs.agents.grpo.learner import set_learning_rate
from rlvr_envs.agents.grpo.presets import preset


def rates(**settings):
    """The learning rate of every step."""
    config = preset(tasks=("Gcd-v0",), learning_rate=1.0, **settings)
    optimizer = SimpleNamespace(param_groups=[{"lr": 0.0}, {"lr": 0.0}])
    learner = SimpleNamespace(config=config, optimizer=optimizer)
    found = []
    for step in range(config.optimiser.warm_start + config.optimiser.steps):
        set_learning_rate(learner, step)
        first, second = (group["lr"] for group in optimizer.param_groups)
        assert first == second
        found.append(first)
    return found


def test_constant_after_the_warm_up():
    assert rates(steps=6, warmup=3) == [0.25, 0.5, 0.75, 1, 1, 1]
    assert rates(steps=3, warmup=0) == [1, 1, 1]


def test_linear_falls_in_equal_parts():
    assert rates(steps=4, warmup=0, schedule="linear") == pytest.approx([1, 0.75, 0.5, 0.25])
    found = rates(steps=6, warmup=1, schedule="linear", final_rate=0.5)
    assert found == pytest.approx([0.5, 1, 0.9, 0.8, 0.7, 0.6])


def test_cosine_falls_slowly_at_both_ends():
    found = rates(steps=4, warmup=0, schedule="cosine", final_rate=0.1)
    half = 2**-0.5
    assert found == pytest.approx([1, 0.1 + 0.9 * (1 + half) / 2, 0.55, 0.1 + 0.9 * (1 - half) / 2])


def test_supervised_steps_have_a_rate_and_a_warm_up_of_their_own():
    found = rates(steps=3, warmup=1, warm_start=3, warm_start_learning_rate=8.0, schedule="linear")
    assert found == pytest.approx([4, 8, 8, 0.5, 1, 0.5])


def test_a_warm_up_longer_than_the_run_only_rises():
    assert rates(steps=3, warmup=9, schedule="cosine") == pytest.approx([0.1, 0.2, 0.3])
