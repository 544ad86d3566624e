"""The pairs of tasks whose speed is compared, and the clock that times them."""

import importlib
import itertools
import sys
from pathlib import Path

import pytest

from rlvr_envs.core.env import TextEnv

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


sys.path.append(str(BENCHMARKS))  # which are no part of the package
throughput = importlib.import_module("throughput")

PAIRS = importlib.import_module("throughput_pairs").PAIRS
NAMED = [(domain, label) for domain, pairs in PAIRS.items() for label in pairs]


@pytest.mark.parametrize(("domain", "label"), NAMED)
def test_our_side_of_a_pair_takes_its_knobs(domain: str, label: str) -> None:
    pair = PAIRS[domain][label]
    env = TextEnv(pair.task, **(pair.ours or {"difficulty": 1}))
    assert env.source.draw(1).prompt() != env.source.draw(2).prompt()


def test_labels_name_one_pair_each() -> None:
    """A pair written twice would lose one of its results."""
    source = (BENCHMARKS / "throughput_pairs.py").read_text("utf-8")
    written = source.count("    Pair(\n")
    assert written == len(PAIRS["puzzles"]) + len(PAIRS["np_hard"])


def test_a_rate_is_calls_by_the_time_they_took(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    done: list[int] = []
    # Every reading of the clock is a second later, however many calls came before it.
    monkeypatch.setattr(throughput.time, "process_time", lambda: next(clock))
    found = throughput.rate([lambda: done.append(0), lambda: done.append(1)], 30)
    assert found == len(done) / 30
    assert len(done) > 100  # blocks grow while they are short
    assert set(done) == {0, 1}
