"""Two series are compared on the problems that both answered."""

import re

import pytest
from fakes.run_folders import old, record, trained, write_run, write_training

from rlvr_envs.core.errors import UsageError
from rlvr_envs.evaluation.compare import common_difference, compare, read_series
from rlvr_envs.evaluation.metrics import paired_difference


def compared(tmp_path, first, second, seeds=(0, 0)):
    runs = [
        write_run(tmp_path / name, records, seed=seed)
        for name, records, seed in zip("ab", (first, second), seeds, strict=True)
    ]
    return compare(*read_series(map(str, runs)))


def test_the_difference_is_over_the_means_of_common_problems():
    first = {"p": [0.0, 1.0], "q": [1.0], "only": [0.0], "unscored": []}
    second = {"q": [0.0], "p": [1.0, 1.0], "unscored": [1.0]}
    common, found = common_difference(first, second)
    assert common == ["p", "q"]
    assert found == paired_difference([1.0, 0.0], [0.5, 1.0])


def test_means_counts_and_groups(tmp_path):
    first = [record(seed=s, level=s % 2, score=x) for s, x in enumerate([0.0, 0.5, 1.0, 1.0])]
    second = [record(seed=s, level=s % 2, score=x) for s, x in enumerate([1.0, 1.0, 0.5, 1.0])]
    second.append(record(seed=9))
    found = compared(tmp_path, first, second)
    (whole,) = found.groups["overall"]
    assert (whole.problems, whole.first, whole.second) == (4, 0.625, 0.875)
    assert (whole.won, whole.tied, whole.lost) == (2, 1, 1)
    assert whole.difference == paired_difference([1, 1, 0.5, 1], [0, 0.5, 1, 1])
    assert [(g.by, g.problems) for g in found.groups["difficulty"]] == [
        ({"difficulty": 0}, 2),
        ({"difficulty": 1}, 2),
    ]
    assert [g.by for g in found.groups["task"]] == [{"task": "rlvr/Gcd-v0"}]
    assert (found.only_first, found.only_second, found.note) == (0, 1, "")
    assert [(c.question[-1], c.first, c.second) for c in found.changes] == [
        ("0", 0.0, 1.0),
        ("1", 0.5, 1.0),
        ("2", 1.0, 0.5),
    ]
    assert found.changes[0].first_statuses == {"wrong": 1}


def test_samples_are_averaged_and_unscored_ones_left_out(tmp_path):
    first = [record(sample=s, score=x) for s, x in enumerate([1.0, 0.0, None])]
    found = compared(tmp_path, first, [record()])
    assert found.groups["overall"][0].first == 0.5
    assert found.changes[0].first_statuses == {"correct": 1, "wrong": 1, "policy_error": 1}


def test_the_later_record_of_an_episode_counts(tmp_path):
    found = compared(tmp_path, [record(score=None), record(score=0.0)], [record()])
    assert found.groups["overall"][0].first == 0.0


def test_old_and_new_runs_are_compared(tmp_path):
    found = compared(tmp_path, [old(record())], [record(score=0.0)])
    assert found.groups["overall"][0].lost == 1


@pytest.mark.parametrize(
    ("first", "second", "seeds", "why"),
    [
        ({}, {"task": "rlvr/Lcm-v0"}, (0, 0), r"other tasks \(rlvr/Gcd-v0; rlvr/Lcm-v0\)"),
        ({"level": 2}, {"level": None}, (0, 0), r"other levels of the same tasks \(2; default\)"),
        ({}, {"seed": 5}, (0, 3), r"other problem seeds \(--seed 0; --seed 3\); evaluate both"),
        ({}, {"seed": 5}, (0, 0), "other problem seeds; evaluate both"),
        ({}, {"fingerprint": "another"}, (0, 0), "their problems of the same seeds differ"),
    ],
)
def test_why_no_problem_is_shared(tmp_path, first, second, seeds, why):
    found = compared(tmp_path, [record(**first)], [record(**second)], seeds)
    assert found.groups == {"overall": [], "domain": [], "task": [], "difficulty": []}
    assert found.changes == []
    assert re.match(f"they share no problem: {why}", found.note)


def test_problems_that_cannot_be_compared_are_counted(tmp_path):
    first = [record(), record(seed=2)]
    found = compared(tmp_path, first, [record(), record(seed=2, fingerprint="another")])
    assert found.note.startswith("1 of the problems with the same seed differ")
    unscored = compared(tmp_path, first, [record(score=None)])
    assert unscored.note == "none of the problems that they share (1) is scored in both"


def test_an_unknown_fingerprint_agrees_with_any(tmp_path):
    assert compared(tmp_path, [record(fingerprint=None)], [record()]).groups["overall"]


def test_one_of_several_policies_has_to_be_named(tmp_path):
    a = write_run(tmp_path / "a", [record("x"), record("y")])
    b = write_run(tmp_path / "b", [record("x")])
    with pytest.raises(UsageError, match=r"has several policies \(x, y\): name one of them"):
        read_series([str(a), str(b)])
    assert [s.label for s in read_series([str(a)])] == ["x", "y"]
    assert [s.label for s in read_series([f"{a}:x", str(b)])] == ["a", "b"]


def test_samples_of_training_are_not_compared(tmp_path):
    runs = write_run(tmp_path / "a", [record()]), write_training(tmp_path / "grpo", [trained(1)])
    with pytest.raises(UsageError, match=r"grpo is a training run, .* evaluate its checkpoints"):
        read_series(map(str, runs))
