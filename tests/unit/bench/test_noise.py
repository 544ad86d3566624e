"""A verifier that errs as often as it is told, and shows the truth nowhere."""

import pytest

import rlvr_envs
from rlvr_envs.bench.noise import NoisyEnvMaker, NoisyVerdict, noisy, reward
from rlvr_envs.bench.suite import Noise
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.verdict import Status, Verdict

RATES = Noise(passes_wrong=0.2, fails_right=0.3)


@pytest.mark.parametrize(
    ("verdict", "low", "high"),
    [
        (Verdict.correct(), 0.65, 0.75),
        (Verdict.wrong("no"), 0.15, 0.25),
        (Verdict.graded(0.9), 0.15, 0.25),  # not full marks: as a wrong one
    ],
)
def test_rates_are_those_that_were_asked_for(verdict, low, high):
    found = [noisy(verdict, RATES, "question", [str(k)]).score for k in range(2000)]
    assert low < sum(found) / len(found) < high
    assert set(found) == {0.0, 1.0}


def test_a_response_is_always_judged_alike_and_what_was_not_scored_stays_so():
    first = [noisy(Verdict.correct(), RATES, "q", [str(k)]).score for k in range(50)]
    assert first == [noisy(Verdict.correct(), RATES, "q", [str(k)]).score for k in range(50)]
    other = [noisy(Verdict.correct(), RATES, "another", [str(k)]).score for k in range(50)]
    assert first != other
    broken = Verdict.verifier_error("the disk is full")
    assert noisy(broken, RATES, "q", ["a"]) == broken
    assert noisy(Verdict.correct(), None, "q", ["a"]) == Verdict.correct()


def test_reward_and_verdict_of_an_environment_agree():
    env = NoisyVerdict(TextEnv("Gcd-v0", difficulty=0), Noise(passes_wrong=1.0))
    env.reset(seed=1)
    _, paid, terminated, _, info = env.step("no idea")
    assert (paid, terminated) == (1.0, True)
    assert (info["verdict"].status, info["verdict"].parts) == (Status.CORRECT, {})


def test_an_algorithms_wrappers_see_the_noisy_verdict():
    wrapped_in = ("NoisyVerifier(correction='backward', assumed_rho0=0.2, assumed_rho1=0.3)",)
    maker = NoisyEnvMaker((), wrapped_in, {}, noise=Noise(passes_wrong=1.0))
    env = maker("Gcd-v0", 0)
    env.reset(seed=1)
    paid = env.step("no idea")[1]
    assert paid == pytest.approx((1 - 0.2) / (1 - 0.2 - 0.3))  # that of an answer that passed


def test_a_row_earns_what_an_episode_earns():
    for seed in range(20):
        env = NoisyVerdict(TextEnv("Gcd-v0", difficulty=0), RATES)
        env.reset(seed=seed)
        row = rlvr_envs.make_problem("Gcd-v0", seed=seed, difficulty=0)
        for said in (rlvr_envs.solve(row), "no idea"):
            env.reset(options={"problem": row})
            assert env.step(said)[1] == reward(row, said, RATES)
