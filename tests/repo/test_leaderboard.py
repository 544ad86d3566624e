"""Published results of the benchmark: every score is computed again from its responses."""

import importlib
import sys
from pathlib import Path

import pytest

from rlvr_envs.bench.results import read_runs
from rlvr_envs.bench.suite import load
from rlvr_envs.bench.verify import verify

ROOT = Path(__file__).resolve().parents[2]
LEADERBOARD = ROOT / "leaderboard"
ENTRIES = sorted(path.parent for path in LEADERBOARD.glob("*/*/runs.jsonl"))

sys.path.append(str(ROOT / "benchmarks"))  # which are no part of the package
bench_power = importlib.import_module("bench_power")


def test_entries_are_where_their_suite_and_name_say():
    for entry in ENTRIES:
        run = read_runs(entry)[0]
        assert (run.suite, run.algorithm.name) == (entry.parent.name, entry.name)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_entry_passes(entry):
    suite = load(entry.parent.name)
    # Results of a draft may be there in part; those of a frozen suite are whole.
    report = verify(suite, entry, partial=suite.status == "draft")
    assert report.faults == []
    assert report.rescored >= report.runs > 0


@pytest.mark.parametrize(
    ("experiment", "better", "worse"),
    [
        ("stale_samples", "default", "unclipped"),
        ("noisy_verifier", "backward_correction", "no_baseline"),
        ("imbalance", "no_baseline", "default"),
    ],
)
def test_diagnostics_tell_apart_what_differs(experiment, better, worse):
    entries = bench_power.entries_of("diagnostics-v1")
    if entries is None or not {better, worse} <= set(entries.algorithms):
        pytest.skip(f"the leaderboard has no whole entries of {better} and {worse} of this draft")
    found = bench_power.power(entries, experiment, better, worse)
    assert found["seeds"] >= 10
    assert found["p_improvement"][1] > 0.5
    assert found["difference"][1] > 0


@pytest.mark.parametrize("suite", bench_power.SUITES)
def test_halves_of_the_same_runs_are_rarely_called_different(suite):
    entries = bench_power.entries_of(suite)
    if entries is None:
        pytest.skip(f"the leaderboard has no whole entries of this draft of {suite}")
    found = bench_power.alarms(entries, splits=20)
    assert found["share"] < 0.1
