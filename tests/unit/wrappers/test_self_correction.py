"""SelfCorrection: two answers always, the same words in between, and what they earn."""

import itertools

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import SelfCorrection, ShapedReward, VerbalRetry
from rlvr_envs.wrappers.self_correction import REVISE

ID = "rlvr/Gcd-v0"
WRONG = r"\boxed{90001}"


def play(env, *answers):
    env.reset(seed=3)
    right = env.unwrapped.instance.solution()
    return [env.step(right if answer == "right" else answer) for answer in answers]


class Tenth:
    """A scheme that gives right answers 1 and others 0.1."""

    name, adds, needs = "tenth", False, ()

    def reward(self, verdict, earned):
        return max(earned, 0.1)

    def cut_off(self, earned):
        return 0.0


@pytest.mark.parametrize(
    ("first", "second", "earned"),
    [
        ("right", "right", 1.0),
        (WRONG, "right", 1.0 + 2.0),
        ("right", WRONG, -2.0),
        (WRONG, WRONG, 0.0),
        ("I give up", "right", 3.0),
        ("right", "", -2.0),
    ],
)
def test_the_rewards_of_score(first, second, earned):
    steps = play(SelfCorrection(gym.make(ID), alpha=2.0), first, second)
    assert [step[1] for step in steps] == [0.0, earned]
    assert [step[2] for step in steps] == [False, True]
    info = steps[1][4]
    assert info["reward_parts"] == {
        "second": float(second == "right"),
        "progress": pytest.approx(earned - (second == "right")),
    }
    assert info["attempt_scores"] == (float(first == "right"), float(second == "right"))
    assert "reward_parts" not in steps[0][4]


def test_without_a_bonus_the_second_answer_is_all():
    for first, second in itertools.product(("right", WRONG), repeat=2):
        earned = play(SelfCorrection(gym.make(ID), alpha=0.0), first, second)[1][1]
        assert earned == float(second == "right")


def test_rewards_of_a_wrapper_inside():
    env = SelfCorrection(ShapedReward(gym.make(ID), Tenth()), alpha=2.0)
    assert play(env, WRONG, "right")[1][1] == pytest.approx(1.0 + 2.0 * 0.9)


def test_nothing_tells_whether_the_first_was_right():
    shown = [
        play(SelfCorrection(gym.make(ID)), first)[0]
        for first in ("right", WRONG, "", "no idea", "x" * 1_000_001)
    ]
    assert {step[0] for step in shown} == {REVISE}
    assert {step[1] for step in shown} == {0.0}
    assert [step[4].pop("void_turn") for step in shown] == [False, False, True, True, True]
    assert all(step[4] == shown[0][4] for step in shown)


def test_the_verdict_is_that_of_the_second_answer():
    for first, second in itertools.product(("right", WRONG), repeat=2):
        env = SelfCorrection(gym.make(ID))
        info = play(env, first, second)[1][4]
        status = Status.CORRECT if second == "right" else Status.WRONG
        assert (info["verdict"].status, info["scored"]) == (status, True)


def test_tasks_of_several_turns_have_no_second_answer(scripted):
    with pytest.raises(ConfigError, match="TestScripted-v0 has several turns"):
        SelfCorrection(gym.make(scripted)).reset(seed=0)


@pytest.mark.parametrize("alpha", [-1.0, float("nan"), "1"])
def test_arguments_out_of_range(alpha):
    with pytest.raises(ConfigError, match="alpha"):
        SelfCorrection(gym.make(ID), alpha=alpha)
    with pytest.raises(ConfigError, match="inside of"):
        SelfCorrection(VerbalRetry(gym.make(ID)))
