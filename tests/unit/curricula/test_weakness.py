"""Weakness against its formula."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Fixed, Proposal, Weakness

ARMS = [("a", 0), ("b", 0), ("c", None)]


def test_chances_by_hand():
    curriculum = Weakness(ARMS, survey_steps=1, floor=0.1, window=4)
    for scores in ([0, 0], [1, 0], [1, 1], [0, 1, 0]):
        curriculum.record("a", 0, scores)  # two of four are below one half
    curriculum.record("b", 0, [0])
    curriculum.record("c", 5, [1])
    assert curriculum.failures() == [0.5, 1.0, 0.0]
    assert curriculum.chances() == [1 / 3] * 3
    curriculum.end_step()
    expected = [0.9 / 3 + 0.1 / 3, 0.9 * 2 / 3 + 0.1 / 3, 0.1 / 3]
    assert curriculum.chances() == pytest.approx(expected)
    curriculum.record("a", 0, [1, 1])  # the oldest failure is forgotten
    assert curriculum.failures() == [0.25, 1.0, 0.0]


def test_without_a_failure_it_is_even():
    curriculum = Weakness(ARMS, survey_steps=0)
    curriculum.record("a", 0, [1])
    assert curriculum.chances() == [1 / 3] * 3


def test_weak_kinds_get_more_and_catch_up(learner):
    """The paper: allocation follows failures, and the weakest kinds gain over an even mixture."""
    skills = {"weak": -0.8} | {f"strong {i}": 2.5 for i in range(7)}
    arms = [(task, 0) for task in skills]
    even = Fixed([Proposal(task=task, difficulty=level) for task, level in arms])
    for seed in range(3):
        curriculum = Weakness(arms, survey_steps=10)
        focused = learner(skills, seed=seed, rate=0.05).train(curriculum, 80)
        plain = learner(skills, seed=seed, rate=0.05).train(even, 80)
        late = [task for task, _ in focused.posed[60:120]]
        assert late.count("weak") > 30
        assert focused.chance("weak", 0) > plain.chance("weak", 0) + 0.2


def test_states(check_resumes):
    seen = check_resumes(lambda: Weakness(ARMS, survey_steps=2, window=3, seed=8), ARMS)
    assert {proposal.task for proposal in seen} == {"a", "b", "c"}


@pytest.mark.parametrize(
    "options",
    [{"arms": []}, {"survey_steps": -1}, {"threshold": 1.5}, {"window": 0}, {"floor": -0.1}],
)
def test_settings_that_cannot_work(options):
    with pytest.raises(ConfigError):
        Weakness(**({"arms": ARMS, "survey_steps": 1} | options))
