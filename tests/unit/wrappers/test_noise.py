"""Noisy verifiers and their corrections, against the algebra and against counts."""

import pickle

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import AppealRate, NoisyVerifier, backward_corrected, forward_corrected

RATES = [(0.0, 0.0), (0.1, 0.2), (0.3, 0.05), (0.0, 0.4), (0.45, 0.45)]


def episodes(env, action, count, seed=0):
    rewards = []
    for i in range(count):
        env.reset(seed=seed if i == 0 else None)
        rewards.append(env.step(action)[1])
    return rewards


@pytest.mark.parametrize(("rho0", "rho1"), RATES)
def test_the_mean_over_the_noise(rho0, rho1):
    """E[backward] is R*, and E[forward] is (1 - rho0 - rho1) * (R* - 1)."""
    for true, positive in ((1.0, 1 - rho1), (0.0, rho0)):
        backward, forward = (
            positive * f(1.0) + (1 - positive) * f(0.0)
            for f in (
                lambda r: backward_corrected(r, rho0, rho1),
                lambda r: forward_corrected(r, rho1),
            )
        )
        assert backward == pytest.approx(true)
        assert forward == pytest.approx((1 - rho0 - rho1) * (true - 1))


def test_hand_worked_corrections():
    assert backward_corrected(1.0, 0.1, 0.2) == pytest.approx(9 / 7)
    assert backward_corrected(0.0, 0.1, 0.2) == pytest.approx(-1 / 7)
    assert forward_corrected(1.0, 0.2) == pytest.approx(0.2)
    assert forward_corrected(0.0, 0.2) == pytest.approx(-0.8)


@pytest.mark.parametrize(("score", "expected"), [(1.0, 0.75), (0.0, 0.1), (0.5, 0.1)])
def test_the_rates_of_the_channel(scripted, ending, score, expected):
    env = NoisyVerifier(gym.make(scripted), rho0=0.1, rho1=0.25)
    rewards = episodes(env, ending(score), 800)
    assert set(rewards) == {0.0, 1.0}
    assert sum(rewards) / 800 == pytest.approx(expected, abs=0.06)  # four standard deviations


def test_the_seed_of_reset_decides(scripted, ending):
    def play(seed):
        return episodes(NoisyVerifier(gym.make(scripted), 0.5, 0.5), ending(), 60, seed)

    assert play(3) == play(3)
    assert play(3) != play(4)
    env = NoisyVerifier(gym.make(scripted), 0.5, 0.5)
    assert episodes(env, ending(), 60, 3) == play(3)
    assert episodes(env, ending(), 60, 4) == play(4)  # a new seed begins anew


def test_replies_of_a_group_meet_their_own_noise(scripted, ending):
    """Also where all are reset with one seed, as long as the replies differ."""

    def group():
        env = NoisyVerifier(gym.make(scripted), 0.5, 0.5)
        return [episodes(env, ending(calls=float(i)), 1, seed=5)[0] for i in range(200)]

    rewards = group()
    assert rewards == group()
    assert sum(rewards) / 200 == pytest.approx(0.5, abs=0.15)


def test_a_reply_of_any_text_has_noise(scripted):
    env = NoisyVerifier(gym.make(scripted, max_turns=1), 0.5, 0.5)
    assert episodes(env, "\ud800", 1)[0] in (0.0, 1.0)


def test_verdict_and_parts_stay_true(scripted, ending):
    env = NoisyVerifier(gym.make(scripted), rho0=1.0, rho1=0.0)
    env.reset(seed=0)
    _, reward, _, _, info = env.step(ending(0.0))
    assert (reward, info["reward_parts"]) == (1.0, {"noisy_verifier": 1.0})
    assert info["verdict"].status is Status.WRONG
    env.reset(seed=0)
    _, reward, _, _, info = env.step("fault")
    assert (reward, info["scored"]) == (0.0, False)
    assert sum(info["reward_parts"].values()) == 0.0


@pytest.mark.parametrize(
    ("correction", "right", "wrong"), [("backward", 9 / 7, -1 / 7), ("forward", 0.2, -0.8)]
)
def test_corrections_of_a_verifiers_own_errors(scripted, ending, correction, right, wrong):
    env = NoisyVerifier(
        gym.make(scripted), correction=correction, assumed_rho0=0.1, assumed_rho1=lambda: 0.2
    )
    assert episodes(env, ending(), 3) == pytest.approx([right] * 3)
    assert episodes(env, ending(0.0), 3) == pytest.approx([wrong] * 3)


def test_the_estimate_from_appeals():
    rate = AppealRate(decay=0.5)
    assert rate() == 0.0
    # 4 of 10 appealed negatives stand for 8 of 20; 8 / (8 + 32)
    assert rate.update(positives=32, negatives=20, appealed=10, overturned=4) == pytest.approx(0.2)
    assert rate.update(positives=9, negatives=1, appealed=1, overturned=1) == pytest.approx(0.15)
    assert rate.update(positives=9, negatives=1, appealed=0, overturned=0) == pytest.approx(0.15)
    assert rate.update(positives=0, negatives=5, appealed=5, overturned=0) == pytest.approx(0.15)
    assert rate.update(positives=5, negatives=0, appealed=0, overturned=0) == pytest.approx(0.075)


@pytest.mark.parametrize("counts", [(1, 1, 2, 0), (1, 2, 1, 2), (-1, 1, 1, 0), (1, 1, 1, -1)])
def test_counts_that_cannot_be(counts):
    names = ("positives", "negatives", "appealed", "overturned")
    with pytest.raises(ConfigError, match="overturned <= appealed"):
        AppealRate().update(**dict(zip(names, counts, strict=True)))


@pytest.mark.parametrize(
    "options",
    [
        {"rho0": -0.1},
        {"rho1": 1.5},
        {"rho0": float("nan")},
        {"rho0": 0.5, "rho1": 0.5, "correction": "backward"},
        {"correction": "sideways"},
        {"correction": "forward", "assumed_rho1": 2.0},
    ],
)
def test_arguments_out_of_range(scripted, options):
    with pytest.raises(ConfigError):
        NoisyVerifier(gym.make(scripted), **options)


def test_a_spec_and_a_pickle_make_the_same(scripted):
    env = NoisyVerifier(gym.make(scripted), 0.1, 0.2, correction="backward")
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.get_wrapper_attr("scheme") == env.scheme
