"""LearningProgress: which arms are drawn."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import LearningProgress

ARMS = [("rises", 0), ("falls", 0), ("stays", 0)]


def taught(means, **options):
    curriculum = LearningProgress(ARMS, **options)
    for arm, values in zip(ARMS, means, strict=True):
        for value in values:
            curriculum.record(*arm, [value])
    return curriculum


def test_progress_is_the_change_between_halves_either_way():
    curriculum = taught([[0, 0, 0.5, 1], [1, 0.5], [0.5] * 4])
    assert curriculum.progress() == [0.75, 0.5, 0.0]
    assert curriculum.chances() == pytest.approx(
        [0.8 * 0.6 + 0.2 / 3, 0.8 * 0.4 + 0.2 / 3, 0.2 / 3]
    )


def test_an_odd_group_in_the_middle_belongs_to_neither_half():
    assert taught([[0, 1, 1], [], [1]]).progress() == [1.0, 0.0, 0.0]


def test_old_groups_are_forgotten():
    assert taught([[0, 0, 1, 1], [], []], window=2).progress() == [0.0, 0.0, 0.0]


def test_while_nothing_changes_the_shares_hold():
    curriculum = taught([[], [1], [0.5] * 4], weights=(1, 2, 1))
    assert curriculum.chances() == [0.25, 0.5, 0.25]


def test_shares_multiply_the_progress():
    curriculum = taught([[0, 1], [1, 0], []], weights=(3, 1, 1), floor=0.0)
    assert curriculum.chances() == pytest.approx([0.75, 0.25, 0.0])


def test_it_goes_where_something_is_learnt(learner):
    skills = {"never": -8.0, "soon": 0.0, "mastered": 20.0}
    pupil = learner(skills, rate=0.1)
    pupil.train(LearningProgress([(task, 0) for task in skills]), 60)
    posed = [task for task, _ in pupil.posed]
    assert posed.count("soon") > 0.5 * len(posed)


def test_states(check_resumes):
    check_resumes(lambda: LearningProgress(ARMS, window=3), ARMS)


@pytest.mark.parametrize(
    "options",
    [{"arms": []}, {"window": 1}, {"floor": 1.5}, {"weights": (1, 2)}, {"weights": (1, 0, 1)}],
)
def test_settings_that_cannot_work(options):
    with pytest.raises(ConfigError):
        LearningProgress(**({"arms": ARMS} | options))
