"""SuccessBand against SCALER's controller and curation."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Control, Curation, SuccessBand


def step(curriculum, task, *scores, n=1):
    for _ in range(n):
        curriculum.record(task, None, scores)
        curriculum.end_step()
    return curriculum.level(task)


def test_the_controller():
    curriculum = SuccessBand({"a": 3})
    assert step(curriculum, "a", 1, 1, 1, 0) == 0.5  # 2 * (0.75 - 0.5)
    assert step(curriculum, "a", 1, 1) == 1.5  # 2 * 0.5, as much as a step may
    assert step(curriculum, "a", 1, 0) == 1.5
    assert step(curriculum, "a", 0, 0, 0, 1) == 1.0
    assert step(curriculum, "a", 0, 0, n=3) == 0.0
    assert step(curriculum, "a", 1, n=9) == 3.0
    gentle = SuccessBand({"a": 3}, control=Control(target=0.25, gain=8, most=0.5))
    assert step(gentle, "a", 1) == 0.5


def test_a_step_is_judged_by_all_its_groups():
    curriculum = SuccessBand({"a": 3})
    curriculum.record("a", 0, [1, 1, 1])
    curriculum.record("a", 1, [0])
    curriculum.end_step()
    assert curriculum.level("a") == 0.5


def test_levels_mix_by_the_fraction():
    curriculum = SuccessBand({"a": 9})
    step(curriculum, "a", 1)
    step(curriculum, "a", 1, 1, 0, 1, 1, 0, 0, 1)  # 1 + 2 * (5/8 - 1/2) = 1.25
    drawn = [curriculum.propose().difficulty for _ in range(1000)]
    assert set(drawn) == {1, 2}
    assert 210 <= drawn.count(2) <= 290
    assert {SuccessBand({"a": 0}).propose().difficulty for _ in range(20)} == {0}


@pytest.mark.parametrize("stuck", ["failing", "exhausted", "flat"])
def test_a_task_that_stalls_makes_room(stuck):
    curriculum = SuccessBand(
        {"a": 1, "b": 1, "c": 1}, curation=Curation(active=2, patience=3, trend=4)
    )
    scores, steps = {"failing": ([0], 3), "exhausted": ([1], 3), "flat": ([1, 0], 4)}[stuck]
    step(curriculum, "a", *scores, n=steps - 1)
    assert curriculum.active == ("a", "b")
    step(curriculum, "a", *scores)
    assert curriculum.active == ("c", "b")


def test_a_failure_must_be_in_a_row():
    curriculum = SuccessBand({"a": 99, "b": 99}, curation=Curation(active=1, patience=3, trend=50))
    for _ in range(4):
        step(curriculum, "a", 0, n=2)
        step(curriculum, "a", 0, 1)
    assert curriculum.active == ("a",)


def test_progress_keeps_a_task():
    curriculum = SuccessBand({"a": 99, "b": 99}, curation=Curation(active=1, trend=4))
    step(curriculum, "a", 1, 1, 1, 0, n=30)
    assert curriculum.active == ("a",)
    assert curriculum.level("a") == 15.0


def test_it_holds_success_at_the_target_while_the_learner_grows(learner):
    """As the paper says: difficulty rises with the learner, success stays about the target."""
    curriculum = SuccessBand({"a": 50, "b": 50})
    pupil = learner({"a": 0.0, "b": 4.0}).train(curriculum, 120)
    for task, before in (("a", 0.0), ("b", 4.0)):
        assert pupil.skills[task] > before + 5
        assert abs(curriculum.level(task) - pupil.skills[task]) < 1.5


def test_curation_spends_nothing_on_tasks_that_teach_nothing(learner):
    skills = {"hopeless": -50.0, "easy": 50.0, "good": 0.0, "also good": 0.0}
    highest = {"hopeless": 30, "easy": 0, "good": 30, "also good": 30}

    def share(curation):
        pupil = learner(skills)
        pupil.train(SuccessBand(highest, curation=curation), 150)
        return sum("good" in task for task, _ in pupil.posed) / len(pupil.posed)

    assert 0.45 < share(None) < 0.55
    assert share(Curation(active=2)) > 0.7


def test_states(check_resumes):
    def made():
        return SuccessBand(
            {"a": 2, "b": 3, "c": 1}, curation=Curation(active=2, patience=2, trend=3), seed=1
        )

    seen = check_resumes(made, [("a", 0)], steps=25)
    assert {proposal.task for proposal in seen} == {"a", "b", "c"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: SuccessBand({}),
        lambda: SuccessBand({"a": -1}),
        lambda: SuccessBand({"a": 1}, curation=Curation(active=2)),
        lambda: Curation(active=0),
        lambda: Curation(patience=0),
        lambda: Curation(trend=1),
        lambda: Control(target=2.0),
        lambda: Control(gain=float("nan")),
    ],
)
def test_bands_that_cannot_work(make):
    with pytest.raises(ConfigError):
        make()
