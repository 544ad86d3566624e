"""RisingWindow against RLVE's rule."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Fixed, Proposal, RisingWindow


def made(**options):
    return RisingWindow(["a", "b"], **({"least_scores": 4, "width": 2} | options))


def test_the_top_rises_when_enough_scores_reach_the_threshold():
    curriculum = made(promote_at=0.75)
    curriculum.record("a", 0, [1, 1, 1])
    curriculum.end_step()
    assert curriculum.window("a") == (0, 0)  # three are too few
    curriculum.record("a", 0, [0])
    assert curriculum.window("a") == (0, 0)  # decided at the end of the step
    curriculum.end_step()
    assert curriculum.window("a") == (0, 1)  # 3/4
    assert curriculum.window("b") == (0, 0)
    for _ in range(2):
        curriculum.record("a", curriculum.window("a")[1], [1] * 4)
        curriculum.end_step()
    assert curriculum.window("a") == (2, 3)


def test_a_failed_decision_begins_anew_and_lower_levels_do_not_count():
    curriculum = made(promote_at=0.75, start=1)
    curriculum.record("a", 1, [0, 0, 0, 0])
    curriculum.end_step()
    curriculum.record("a", 1, [1, 1, 1])
    curriculum.record("a", 0, [1] * 50)
    curriculum.end_step()
    assert curriculum.window("a") == (0, 1)
    curriculum.record("a", 1, [1])
    curriculum.end_step()
    assert curriculum.window("a") == (1, 2)


def test_levels_of_the_window_are_drawn_evenly():
    curriculum = made(start=5, width=3)
    drawn = [curriculum.propose() for _ in range(600)]
    for level in (3, 4, 5):
        assert 160 <= sum(each.difficulty == level for each in drawn) <= 240
    assert 240 <= sum(each.task == "a" for each in drawn) <= 360


def test_it_follows_a_learner_that_a_static_range_leaves_behind(learner):
    """The paper: problems of the reached range go on teaching, static ones become too easy."""
    curriculum = RisingWindow(["a"], least_scores=16, promote_at=0.8)
    adaptive = learner({"a": 0.5}).train(curriculum, 150)
    static = learner({"a": 0.5}).train(
        Fixed([Proposal(task="a", difficulty=d) for d in range(3)]), 150
    )
    assert adaptive.skills["a"] > static.skills["a"] + 2
    low, top = curriculum.window("a")
    assert adaptive.chance("a", low) > 0.8
    assert top - 2 < adaptive.skills["a"] < top + 2.5


def test_states(check_resumes):
    seen = check_resumes(lambda: made(promote_at=0.2, seed=4), [("a", 0), ("b", 0)])
    assert max(proposal.difficulty for proposal in seen) >= 2


def test_a_task_of_another():
    with pytest.raises(ConfigError, match="no arm"):
        made().record("c", 0, [1.0])


@pytest.mark.parametrize(
    "options",
    [
        {"width": 0},
        {"least_scores": 0},
        {"start": -1},
        {"promote_at": 1.1},
    ],
)
def test_windows_that_cannot_work(options):
    with pytest.raises(ConfigError):
        made(**options)
