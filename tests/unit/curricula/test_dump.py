"""Dump against its formula."""

from math import exp, log, sqrt

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Dump, Fixed, Proposal

ARMS = [("a", 0), ("b", 2)]


def test_advantages_by_hand():
    curriculum = Dump(ARMS)
    curriculum.record("a", 0, [1, 0, 0, 0])  # mean 1/4, deviation 1/2: 1.5, -0.5, -0.5, -0.5
    curriculum.record("b", 2, [1, 1, 1, 1])
    bonus = sqrt(2 * log(9) / 5)
    assert curriculum.scores() == pytest.approx([0.75 + bonus, bonus], abs=1e-5)
    curriculum.end_step()
    high, low = exp(7.5), exp(0.0)
    assert curriculum.chances() == pytest.approx(
        [high / (high + low), low / (high + low)], abs=1e-5
    )


def test_the_bonus_counts_every_episode_but_the_mean_only_the_window():
    curriculum = Dump(ARMS, window=4)
    curriculum.record("a", 0, [1, 0, 0, 0])
    curriculum.record("a", 0, [1, 1, 1, 1])
    expected = [sqrt(2 * log(9) / 9), sqrt(2 * log(9))]
    assert curriculum.scores() == pytest.approx(expected, abs=1e-6)


def test_before_anything_is_known_and_for_groups_of_one():
    curriculum = Dump(ARMS)
    assert curriculum.chances() == [0.5, 0.5]
    assert curriculum.scores() == pytest.approx([sqrt(2 * log(2))] * 2)
    curriculum.record("a", 0, [1.0])
    assert curriculum.scores()[0] == pytest.approx(sqrt(log(2)))


def test_chances_hold_for_a_step():
    curriculum = Dump(ARMS)
    curriculum.record("a", 0, [1, 0])
    assert curriculum.chances() == [0.5, 0.5]
    curriculum.end_step()
    tried, untried = sqrt(0.5) + sqrt(2 * log(3) / 3), sqrt(2 * log(3))
    expected = 1 / (1 + exp((tried - untried) / 0.1))
    assert curriculum.chances()[1] == pytest.approx(expected, abs=1e-5)


def test_arms_of_any_level():
    curriculum = Dump([("a", None), ("a", 3)])
    curriculum.record("a", 5, [0, 1])
    curriculum.record("a", 3, [0, 0])
    curriculum.record("a", None, [0, 0])
    assert curriculum.state_dict()["learnt"]["counts"] == [4, 2]
    with pytest.raises(ConfigError, match="no arm"):
        curriculum.record("b", 3, [0])


def test_it_leaves_what_is_mastered_and_what_is_too_hard(learner):
    """The paper: arms whose advantages are small are drawn seldom, once they have been tried."""
    skills = {"mastered": 50.0, "hopeless": -50.0, "middling": 0.0}
    pupil = learner(skills, rate=0.01).train(Dump([(task, 0) for task in skills]), 150)
    late = [task for task, _ in pupil.posed[300:]]
    assert late.count("middling") / len(late) > 0.8
    assert {"mastered", "hopeless"} <= set(late)  # the bonus looks at them again


def test_the_same_steps_reach_further_than_with_an_even_mixture(learner):
    arms = [("a", level) for level in range(9)]
    even = Fixed([Proposal(task=task, difficulty=level) for task, level in arms])
    for seed in range(3):
        bandit = learner({"a": 1.0}, seed=seed).train(Dump(arms, window=64), 120)
        plain = learner({"a": 1.0}, seed=seed).train(even, 120)
        assert bandit.skills["a"] > plain.skills["a"] + 0.5


def test_states(check_resumes):
    seen = check_resumes(lambda: Dump(ARMS, window=5, temperature=0.5, seed=9), ARMS)
    assert len(seen) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"arms": []},
        {"arms": [("a", 1), ("a", 1)]},
        {"arms": [("a", -1)]},
        {"arms": [(3, 1)]},
        {"window": 0},
        {"temperature": 0.0},
    ],
)
def test_bandits_that_cannot_work(options):
    with pytest.raises(ConfigError):
        Dump(**({"arms": ARMS} | options))
