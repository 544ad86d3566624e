"""Published results of the benchmark: every score is computed again from its responses."""

from pathlib import Path

import pytest

from rlvr_envs.bench.results import read_runs
from rlvr_envs.bench.suite import load
from rlvr_envs.bench.verify import verify

LEADERBOARD = Path(__file__).resolve().parents[2] / "leaderboard"
ENTRIES = sorted(path.parent for path in LEADERBOARD.glob("*/*/runs.jsonl"))


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
