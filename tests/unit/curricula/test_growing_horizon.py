"""GrowingHorizon against its formula, and its state."""

import json

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Curriculum, GrowingHorizon, Proposal, SuccessBand


def step(curriculum: Curriculum, *scores, n=1):
    for _ in range(n):
        if scores:
            curriculum.record("a task", 2, scores)
        curriculum.end_step()


@pytest.mark.parametrize("stages", [(10, 20, 30), (3,), (1, 2, 5, 9)])
@pytest.mark.parametrize("steps_per_stage", [1, 7])
def test_the_published_schedule(stages, steps_per_stage):
    curriculum = GrowingHorizon(stages, steps_per_stage=steps_per_stage)
    for t in range(6 * steps_per_stage):
        expected = stages[min(t // steps_per_stage, len(stages) - 1)]
        assert curriculum.horizon() == expected
        assert curriculum.propose() == Proposal(horizon=expected)
        step(curriculum, 0.0)


def test_scores_change_nothing_in_the_published_schedule():
    with_scores, without = GrowingHorizon(steps_per_stage=3), GrowingHorizon(steps_per_stage=3)
    for t in range(12):
        step(with_scores, float(t % 2))
        step(without)
        assert with_scores.horizon() == without.horizon()


def test_success_ends_a_stage_when_its_window_is_full():
    curriculum = GrowingHorizon((2, 4, 8), steps_per_stage=None, promote_at=0.75, window=3)
    step(curriculum, 1.0, n=2)
    assert curriculum.stage == 0
    step(curriculum, 0.0)  # mean 2/3
    assert curriculum.stage == 0
    step(curriculum, 1.0, n=2)  # the window is 0, 1, 1
    assert curriculum.stage == 0
    step(curriculum, 0.5, 1.0)  # 1, 1, 0.75
    assert curriculum.stage == 1
    step(curriculum, 1.0, n=2)  # the window of a new stage begins empty
    assert curriculum.stage == 1
    step(curriculum, 1.0)
    assert curriculum.stage == 2
    step(curriculum, 1.0, n=10)
    assert curriculum.horizon() == 8


def test_the_mean_of_a_step_is_over_all_of_its_groups():
    curriculum = GrowingHorizon((2, 4), steps_per_stage=None, promote_at=0.5, window=1)
    curriculum.record("a task", 0, [1.0, 1.0])
    curriculum.record("another", None, [0.0, 0.0, 0.0])
    curriculum.end_step()
    assert curriculum.stage == 0  # 2/5
    step(curriculum, 1.0, 0.0)
    assert curriculum.stage == 1


def test_steps_without_scores_do_not_count_into_the_window():
    curriculum = GrowingHorizon((2, 4), steps_per_stage=None, promote_at=1.0, window=2)
    step(curriculum, 1.0)
    step(curriculum, n=5)
    assert curriculum.stage == 0
    step(curriculum, 1.0)
    assert curriculum.stage == 1


def test_time_ends_a_stage_that_success_does_not():
    curriculum = GrowingHorizon((2, 4), steps_per_stage=5, promote_at=0.9, window=2)
    step(curriculum, 0.1, n=4)
    assert curriculum.stage == 0
    step(curriculum, 0.1)
    assert curriculum.stage == 1


def test_a_state_goes_through_json_at_any_moment():
    def made():
        return GrowingHorizon((2, 4, 8), steps_per_stage=9, promote_at=0.6, window=4)

    rng = np.random.default_rng(0)
    curriculum = made()
    for _ in range(30):
        scores = rng.random(3).tolist()
        curriculum.record("a task", 1, scores)
        resumed = made()
        resumed.load_state_dict(json.loads(json.dumps(curriculum.state_dict())))
        assert resumed.state_dict() == curriculum.state_dict()
        resumed.end_step()
        curriculum.end_step()
        assert resumed.state_dict() == curriculum.state_dict()
        curriculum = resumed
    assert curriculum.stage == 2


LEARNT = {"stage": 1, "steps": 1, "scores": [], "means": [1.0]}


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {}},
        {"learnt": LEARNT | {"stage": 3}},
        {"learnt": LEARNT | {"stage": -1}},
        {"learnt": LEARNT | {"steps": "2"}},
        {"learnt": LEARNT | {"means": ["x"]}},
        {"learnt": LEARNT | {"means": [float("nan")]}},
        {"learnt": LEARNT | {"scores": None}},
    ],
)
def test_a_state_of_something_else_is_refused_and_changes_nothing(change):
    curriculum = GrowingHorizon((2, 4, 8), steps_per_stage=2)
    step(curriculum, 1.0, n=3)
    before = curriculum.state_dict()
    with pytest.raises(ConfigError):
        curriculum.load_state_dict(before | change)
    with pytest.raises(ConfigError, match="not the state"):
        curriculum.load_state_dict({})
    assert curriculum.state_dict() == before


@pytest.mark.parametrize(
    ("stages", "options"),
    [
        ((), {}),
        ((0, 1), {}),
        ((2, 2), {}),
        ((4, 2), {}),
        ((2, 4.0), {}),
        ((2, 4), {"steps_per_stage": 0}),
        ((2, 4), {"steps_per_stage": None}),
        ((2, 4), {"promote_at": 0.0}),
        ((2, 4), {"promote_at": 1.5}),
        ((2, 4), {"window": 0}),
    ],
)
def test_schedules_that_cannot_work(stages, options):
    with pytest.raises(ConfigError):
        GrowingHorizon(stages, **options)


def test_tasks_are_those_of_the_curriculum_around_which_it_goes():
    inner = SuccessBand({"a task": 5})
    curriculum = GrowingHorizon((2, 4), steps_per_stage=1, over=inner)
    assert curriculum.propose() == Proposal(task="a task", difficulty=0, horizon=2)
    step(curriculum, 1.0)
    assert curriculum.propose().horizon == 4
    assert inner.step == 1
    other = GrowingHorizon((2, 4), steps_per_stage=1, over=SuccessBand({"a task": 5}))
    other.load_state_dict(json.loads(json.dumps(curriculum.state_dict())))
    assert other.propose() == curriculum.propose()
    wrong = GrowingHorizon((2, 4), steps_per_stage=1, over=SuccessBand({"b": 5}))
    before = wrong.state_dict()
    with pytest.raises(ConfigError):
        wrong.load_state_dict(curriculum.state_dict())
    assert wrong.state_dict() == before


@pytest.mark.parametrize("score", [-0.5, 1.2, float("nan")])
def test_rewards_are_not_scores(score):
    with pytest.raises(ConfigError, match="shaped"):
        GrowingHorizon().record("a task", 1, [0.5, score])
