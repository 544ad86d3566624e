"""Verdicts are the same however busy the machine is; see benchmarks/verdicts_under_load.py."""

import importlib
import os
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest

from rlvr_envs.core.verdict import Status, Verdict

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CORES = len(os.sched_getaffinity(0))
RIGHT_BY_SECOND_READER = (0, 2, 4, 6, 8)  # of SECOND_READER; the first three take the most work
needs_verilog = pytest.mark.skipif(
    find_spec("pyosys") is None, reason='needs pip install "pyosys" (the extra verilog)'
)


@pytest.fixture(scope="module")
def load():
    """Import the benchmark, which is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("verdicts_under_load")


def test_right_answers_stay_right_under_load(load, tmp_path):
    """Those of the second reader need up to 2 s of CPU time, and here get a fraction of a core."""
    answers = list(islice(load.second_reader(tmp_path), 9))
    answers = [answers[number] for number in RIGHT_BY_SECOND_READER]
    answers += load.recorded(20, tmp_path, ["math"])
    for domain in ("code", "np_hard", "puzzles", "search"):
        answers += load.recorded(1, tmp_path, [domain])
    with load.busy(2 * CORES):
        verdicts = load.verdicts(answers, CORES)[0]
    right = [n for n, answer in enumerate(answers) if "right" in answer.kind or n < 5]
    assert len(right) > 15
    assert {answers[n].kind: verdicts[n].status for n in right if verdicts[n].score != 1.0} == {}
    assert Status.WRONG in {verdict.status for verdict in verdicts}


@needs_verilog
@pytest.mark.slow
def test_verdicts_of_all_domains_are_the_same_under_load(load, tmp_path):
    found = load.compare(load.recorded(150, tmp_path), CORES, 8 * CORES)
    assert found["differences"] == []
    assert len(found["kinds"]) >= 20
    assert {"correct", "wrong", "unparsable"} <= set(found["statuses"])


def test_the_recorded_answers_are_the_same_at_every_call(load, tmp_path):
    kinds = [kind for kind in load.SHARES if kind != "verilog"]
    first, second = (load.recorded(60, tmp_path, kinds) for _ in range(2))
    assert first == second
    assert {answer.kind.partition(",")[0] for answer in first} == set(kinds)
    assert sum(load.SHARES.values()) == 500


def test_a_verdict_that_changes_is_reported(load, monkeypatch, tmp_path):
    answers = load.recorded(3, tmp_path, ["math"])
    passes = iter([[Verdict.correct()] * 3, [Verdict.correct(), Verdict.timeout("slow")] * 2])
    monkeypatch.setattr(load, "verdicts", lambda answers, workers: (next(passes)[:3], {}))
    (difference,) = load.compare(answers, 1, 0)["differences"]
    assert difference["answer"] == f"1: {answers[1].kind}, {answers[1].row['id']}"
    assert difference["idle"] == {"status": "correct", "score": 1.0, "scored": True}
    assert difference["loaded"] == {"status": "timeout", "score": 0.0, "scored": True}


def test_the_busy_processes_work_and_end(load, monkeypatch):
    started = []
    popen = load.subprocess.Popen

    def start(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(load.subprocess, "Popen", start)
    with load.busy(2):
        assert [child.poll() for child in started] == [None, None]
    assert [child.returncode for child in started] == [-9, -9]
