"""Suites: what ships is whole and unchanged, and whatever is changed is noticed."""

import json
from dataclasses import replace

import pytest

from rlvr_envs.bench import starts
from rlvr_envs.bench.draw import draw, rows_of
from rlvr_envs.bench.freeze import freeze
from rlvr_envs.bench.suite import SPLITS, Split, load, read, suite_names, write
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.version import __version__

EXPERIMENTS = [(name, each.name) for name in suite_names() for each in load(name).experiments]
ON_A_CPU = ("tiny-v1", "diagnostics-v1")  # the others' problems take minutes to draw


@pytest.mark.parametrize(("name", "experiment"), EXPERIMENTS)
def test_a_shipped_suite_has_the_problems_it_was_made_with(name, experiment, thorough):
    if name not in ON_A_CPU and not thorough:
        pytest.skip(f"drawing the problems of {name} takes minutes: run with --thorough")
    experiment = load(name).experiment(experiment)
    found = {split: rows_of(experiment, split) for split in SPLITS}  # checks the digests
    prints = {split: {row["fingerprint"] for row in rows} for split, rows in found.items()}
    for split, rows in found.items():
        assert len(prints[split]) == len(rows) == experiment.splits[split].problems
    assert not prints["train"] & prints["test"]
    assert not prints["train"] & prints["validation"]
    assert not prints["validation"] & prints["test"]


@pytest.mark.parametrize("name", suite_names())
def test_a_shipped_suite_has_its_starts(name):
    suite = load(name)
    for experiment in suite.experiments:
        starts.folder_of(suite, experiment)
    # A release has no drafts.
    assert suite.status == "frozen" or __version__.startswith("0.1.0") or "dev" in __version__


def test_a_suite_is_read_as_it_was_written(suite):
    assert read(write(suite)) == suite


@pytest.mark.parametrize(
    ("key", "value"), [("seeds", [0]), ("temperature", 0.5), ("fractions", [0.0, 1.0])]
)
def test_a_changed_suite_is_refused(suite, key, value):
    data = json.loads(write(suite)) | {key: value}
    with pytest.raises(ConfigError, match="was altered"):
        read(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fractions": [0.5, 1.0]}, "from 0 to 1"),
        ({"experiments": []}, "different names"),
        ({"seeds": "0"}, "seeds"),
        ({"more": 1}, "more"),
    ],
)
def test_what_is_no_suite_is_refused_with_the_reason(suite, tmp_path, change, words):
    data = json.loads(write(suite)) | change
    del data["hash"]
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=words):
        load(str(path))


def test_an_unknown_suite_or_experiment_is_named_with_a_suggestion(suite):
    with pytest.raises(ConfigError, match="did you mean 'tiny-v1'"):
        load("tiny-v2")
    with pytest.raises(ConfigError, match="it has: "):
        suite.experiment("none")


def test_other_problems_than_the_suites_are_refused(suite):
    experiment = suite.experiments[0]
    splits = experiment.splits | {"test": Split(problems=6, digest="0" * 64)}
    with pytest.raises(ConfigError, match="a task has changed since"):
        rows_of(replace(experiment, splits=splits), "test")


def test_too_few_problems_are_an_error(suite):
    experiment = suite.experiments[0]
    splits = experiment.splits | {"test": Split(problems=2_000)}
    with pytest.raises(ConfigError, match="too few problems"):
        draw(replace(experiment, splits=splits), "test")


def test_a_changed_start_is_refused(suite, tmp_path, monkeypatch):
    (name,) = suite.starts
    folder = tmp_path / name
    folder.mkdir()
    for path in (starts.STARTS / name).iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(starts, "STARTS", tmp_path)
    starts.folder_of(suite, suite.experiments[0])
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    with pytest.raises(ConfigError, match="SHA-256"):
        starts.folder_of(suite, suite.experiments[0])


def test_freezing_again_changes_nothing_and_a_change_makes_the_next_draft(suite):
    assert freeze(suite) == suite
    changed = replace(suite.experiments[0], splits={**suite.experiments[0].splits})
    changed.splits["test"] = Split(problems=8)
    again = freeze(replace(suite, experiments=(changed,)))
    assert again.draft == suite.draft + 1
    assert again.hash != suite.hash


def test_a_frozen_suite_is_never_made_again(suite):
    with pytest.raises(ConfigError, match="mini-v2"):
        freeze(replace(suite, status="frozen"))
