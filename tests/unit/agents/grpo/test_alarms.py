"""Warnings on made-up histories: what fires, what does not, what it says."""

import json

import pytest

pytest.importorskip("torch")

from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.tracking.alarms import (
    WINDOW,
    Alarms,
    collapses,
    shortage,
    silence,
)

NAN = float("nan")
USUAL = {
    "entropy": 0.4,
    "truncated": 0.0,
    "reward/mean": 0.3,
    "score/mean": 0.3,
    "unscored": 0.0,
    "zero_variance": 0.5,
    "groups/drawn": 16.0,
    "groups/kept": 16.0,
    "groups/solved": 0.25,
    "groups/failed": 0.25,
    "groups/equal": 0.0,
    "groups/unscored": 0.0,
    "grad_norm": 0.5,
}
SILENT = USUAL | {"zero_variance": 1.0, "grad_norm": NAN, "groups/solved": 0.0}
HOPELESS = SILENT | {"groups/failed": 1.0, "reward/mean": 0.0, "score/mean": 0.0}


def told(history, **settings):
    """Step → what is said, of those that say anything."""
    alarms = Alarms(preset(tasks=("Gcd-v0",), **settings))
    said = {step: alarms.look(numbers) for step, numbers in enumerate(history, 1)}
    return {step: texts for step, texts in said.items() if texts}


def said(history, **settings):
    return [name for texts in told(history, **settings).values() for name in texts]


def course(steps, **ends):
    """Steps over which numbers go from the usual ones to others in equal parts."""
    return [
        USUAL | {k: USUAL[k] + (end - USUAL[k]) * i / (steps - 1) for k, end in ends.items()}
        for i in range(steps)
    ]


def test_a_run_that_learns_is_left_alone():
    assert said(course(200, **{"reward/mean": 0.9, "score/mean": 0.9, "entropy": 0.15})) == []


def test_a_collapse_over_several_turns_is_said():
    """The history that once went by unseen: entropy 0.39 to 0.90, cut off 0 to 0.81."""
    history = [USUAL | {"entropy": 0.39, "truncated": 0.0}] * 10
    for i in range(40):
        share = min(1.0, (i + 1) / 20)
        history.append(USUAL | {"entropy": 0.39 + 0.51 * share, "truncated": 0.81 * share})
    found = told(history)
    assert sorted(name for texts in found.values() for name in texts) == [
        "entropy_high",
        "truncated",
    ]
    assert max(found) <= 30, "long before the end"
    (text,) = (texts["truncated"] for texts in found.values() if "truncated" in texts)
    assert "0% were at the start" in text


@pytest.mark.parametrize(
    ("now", "name"),
    [
        ({"entropy": 0.03}, "entropy_low"),
        ({"entropy": 0.75}, "entropy_high"),
        ({"truncated": 0.6}, "truncated"),
        ({"reward/mean": 0.05}, "reward"),
        ({"unscored": 0.3}, "unscored"),
    ],
)
def test_each_extreme_has_its_warning(now, name):
    assert list(collapses(USUAL, USUAL | now, 0.4)) == [name]


@pytest.mark.parametrize(
    "now",
    [
        {"entropy": 0.05},
        {"entropy": 0.01, "score/mean": 0.98, "reward/mean": 0.98},  # solved: all answers are right
        {"entropy": 0.65},
        {"truncated": 0.45},
        {"reward/mean": 0.15},
        {"unscored": 0.1},
        {"entropy": NAN, "reward/mean": NAN},
    ],
)
def test_what_is_not_extreme_has_none(now):
    assert collapses(USUAL, USUAL | now, 0.4) == {}


def test_small_rises_of_a_small_entropy_are_none():
    assert collapses(USUAL | {"entropy": 0.01}, USUAL | {"entropy": 0.1}, 0.3) == {}


def test_what_is_cut_off_from_the_start_has_another_remedy():
    start = USUAL | {"truncated": 0.8}
    assert "--max-tokens" in collapses(start, start, 0.3)["truncated"]
    assert "from the start" in collapses(start, start, 0.3)["truncated"]


def test_one_bad_step_is_no_collapse():
    history = [USUAL] * 30
    history[20] = USUAL | {"truncated": 1.0, "entropy": 3.0, "reward/mean": 0.0}
    assert said(history) == []


def test_a_hopeless_task_under_dynamic_sampling_is_said_after_two_steps():
    history = [HOPELESS | {"groups/drawn": 128.0, "groups/kept": 0.0}] * 30
    found = told(history, dynamic_sampling=True)
    assert list(found) == [2]
    text = found[2]["no_signal_failed"]
    assert "of 256 groups 256 failed throughout" in text
    for remedy in ("--difficulty", "--warm-start", "HintOnFailure"):
        assert remedy in text


@pytest.mark.parametrize("why", ["solved", "failed", "equal", "unscored"])
def test_why_nothing_is_learned(why):
    one = SILENT | dict.fromkeys(("groups/solved", "groups/failed"), 0.0) | {f"groups/{why}": 1.0}
    found = told([one] * 20)
    assert next(iter(found)) == 2
    assert list(found[2]) == [f"no_signal_{why}"]


def test_reasons_are_counted_and_the_most_frequent_decides():
    counts = {"steps": 4, "groups": 40, "failed": 30, "solved": 10, "truncated": 0.75}
    (text,) = silence(counts).values()
    assert "30 failed throughout" in text
    assert "10 were solved throughout" in text
    assert "75% of answers are cut off" in text
    assert silence(counts | {"groups": 20, "failed": 15, "solved": 5}) == {}, "too few to say"
    assert silence({"steps": 10, "groups": 10, "failed": 10}), "but ten steps are enough"


def test_a_model_that_is_ruined_within_ten_steps_is_not_called_weak():
    history = [USUAL] * 2 + [HOPELESS | {"truncated": 1.0, "entropy": 1.5}] * 10
    found = {name: text for texts in told(history).values() for name, text in texts.items()}
    assert set(found) == {"no_signal_failed", "entropy_high", "truncated", "reward"}
    assert "mean score of 0.3" in found["no_signal_failed"]
    assert "0% were at the start" in found["truncated"]


def test_the_start_of_small_steps_is_longer():
    """Entropy of few episodes is noise: two steps of eight say nothing."""
    small = {"groups/drawn": 2.0, "groups/kept": 2.0}
    noisy = [0.15, 0.15, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    history = [USUAL | small | {"entropy": e} for e in noisy] + [USUAL | small] * 20
    assert said(history, group_size=4) == []
    assert said([{**row, "groups/drawn": 16.0} for row in history], group_size=4) != []


def test_a_step_with_a_signal_begins_the_count_anew():
    alone = HOPELESS | {"groups/drawn": 16.0}
    assert said([alone, USUAL] * 20) == []
    assert said([alone, alone, alone] + [USUAL] * 20) == ["no_signal_failed"]


def test_a_penalty_moves_weights_without_teaching_anything():
    history = [HOPELESS | {"grad_norm": 0.01}] * 5
    assert said(history, kl="k3") == ["no_signal_failed"]
    assert said(history) == [], "something moved them: demonstrations, for instance"


def test_updates_that_fail_are_not_blamed_on_the_task():
    history = [USUAL | {"grad_norm": NAN}] * 5
    assert said(history) == ["no_update"]


def test_dynamic_sampling_that_runs_out_of_rounds():
    short = {"groups/drawn": 100.0, "groups/kept": 4.0, "groups/failed": 0.9, "groups/solved": 0.06}
    (text,) = shortage([USUAL | short] * 3, wanted=16, rounds=8).values()
    assert "of 300 groups 12 had rewards that differ, 48 are wanted" in text
    assert "too hard" in text
    assert shortage([USUAL | short] * 2, wanted=16, rounds=8) == {}
    assert shortage([USUAL | short, USUAL, USUAL | short], wanted=16, rounds=8) == {}
    assert said([USUAL | short] * 5, dynamic_sampling=True) == ["out_of_rounds"]
    assert said([USUAL | short] * 5) == []


def test_supervised_steps_are_not_looked_at():
    assert said([{"imitation/loss": 1.0, "grad_norm": 1.0}] * 40) == []


def test_each_is_said_once_also_after_going_on():
    history = course(30, truncated=0.9) + [USUAL | {"truncated": 0.9}] * 30
    whole = Alarms(preset(tasks=("Gcd-v0",)))
    expected = [whole.look(numbers) for numbers in history]
    assert sum(map(bool, expected)) == 1
    for stop in (5, WINDOW, 20, 40):
        first = Alarms(preset(tasks=("Gcd-v0",)))
        found = [first.look(numbers) for numbers in history[:stop]]
        second = Alarms(preset(tasks=("Gcd-v0",)))
        second.load_state_dict(json.loads(json.dumps(first.state_dict(), allow_nan=False)))
        found += [second.look(numbers) for numbers in history[stop:]]
        assert found == expected
