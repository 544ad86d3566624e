"""Runs pytest; in pieces where the machine limits the CPU time of a process.

    python scripts/run_tests.py -n 2 -m "not slow"
    python scripts/run_tests.py -n 2 tests/unit/core

Usually this is ``pytest`` with the same arguments. Under a limit (``ulimit -t``, as login nodes of
clusters have) a long run would be killed half-way. Then a few files at a time have a pytest of
their own, which collects once and forks a process for the tests until that has used its time,
another one from there on, and so forth; ``-n`` says how many of them run side by side. A test that
twice needs more CPU time than the machine allows counts as failed.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import chain, groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPARE = 3.0  # CPU seconds left to the test that runs when a piece is long enough
LONG = ("conformance", "golden")  # folders whose files have tests of every task
BATCH = 8  # files that are collected together
ENDED = (0, 1, 5)  # pytest's exit statuses of a run that came to its end


@dataclass
class State:
    """How far a piece has come; kept on disk, since the process may be killed at any time."""

    next: int = 0  # the number of the first test that has not ended
    stopped: bool = False  # before the machine would have done so
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def count(self, outcome: str) -> None:
        """Count one test."""
        self.counts[outcome] = self.counts.get(outcome, 0) + 1

    def fail(self, why: str) -> None:
        """Count one test as failed."""
        self.count("failed")
        self.failures.append(why)

    def write(self, path: Path) -> None:
        """Keep it on disk."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "State":
        """Return what was kept."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))


class Pieces:
    """The plugin of a batch's process: forks one for each piece, and adds up what they say."""

    def __init__(self, cpu_s: float, path: Path) -> None:
        self.cpu_s, self.path, self.whole = cpu_s, path, State()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all tests; in a forked process, leave the rest of its piece to pytest."""
        if session.testsfailed:
            return None  # of what could not be collected
        tried, total = -1, len(session.items)
        gc.freeze()  # what is there already is neither searched nor copied in each piece
        kept = self.path.with_suffix(".piece")
        while (start := self.whole.next) < total:
            State(start).write(kept)
            sys.stdout.flush()
            child = os.fork()
            if not child:
                del session.items[:start]
                session.config.pluginmanager.register(Piece(start, self.cpu_s, kept))
                return None
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            state = State.read(kept)
            if code < 0 and state.next == start:
                if tried != start:
                    tried = start  # on a busy machine the same work takes more CPU time
                    continue
                state.fail(f"test {start} of {total} ended by signal {-code}")
                state.next += 1
            elif code >= 0 and not state.stopped and (code not in ENDED or state.next < total):
                state.fail(f"a piece ended with status {code} at test {state.next}")
                state.next = total
            self.add(state)
        return True

    def add(self, state: State) -> None:
        """Add what a piece said."""
        self.whole.next = state.next
        self.whole.failures += state.failures
        self.whole.counts = dict(Counter(self.whole.counts) + Counter(state.counts))
        self.whole.write(self.path)


class Piece:
    """The plugin of one piece: runs tests from ``start`` until the CPU time is used up."""

    def __init__(self, start: int, cpu_s: float, path: Path) -> None:
        self.cpu_s, self.path, self.state = cpu_s, path, State(start)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count as pytest does: a failed setup or teardown fails the test."""
        if report.failed:
            self.state.fail(f"{report.nodeid}\n{report.longreprtext}")
        elif report.skipped:
            self.state.count("xfailed" if hasattr(report, "wasxfail") else "skipped")
        elif report.when == "call":
            self.state.count("passed")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> object:
        """Note the test as done, and stop before the machine stops the process."""
        done = yield
        self.state.next += 1
        if nextitem is not None and time.process_time() > self.cpu_s:
            self.state.stopped = True
            item.session.shouldstop = "the piece is long enough"
        self.state.write(self.path)
        return done


def run_batch(files: list[Path], options: list[str], cpu_s: float) -> Counter[str]:
    """Run some files in pieces; return how many tests passed, failed and so on."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "batch.json"
        State().write(kept)
        command = [sys.executable, __file__, "--batch", str(cpu_s), str(kept), *options]
        command += map(str, files)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        state = State.read(kept)
    if done.returncode not in ENDED:
        if len(files) > 1 and not state.next:  # they could not be collected: find out which
            return sum((run_batch([file], options, cpu_s) for file in files), Counter())
        state.fail(f"it ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    name = os.path.relpath(files[0], ROOT)
    if len(files) > 1:
        name += f" and {len(files) - 1} after it"
    for failure in state.failures:
        print(f"FAILED {name}: {failure}", flush=True)
    print(f"{name}: {state.counts} in {time.perf_counter() - began:.0f} s", flush=True)
    return Counter(state.counts)


def in_pieces(arguments: list[str], limit_s: int) -> int:
    """Run the suite in pieces; return the exit status."""
    paths, options, jobs = split(arguments)
    found_in = [[path] if path.is_file() else path.rglob("test_*.py") for path in paths]
    batches = batched(set(chain(*found_in)))
    print(f"a process may use {limit_s} s of CPU here: tests in {len(batches)} batches", flush=True)
    cpu_s = max(1.0, limit_s - SPARE)
    with ThreadPoolExecutor(jobs) as pool:
        counts = sum(pool.map(lambda batch: run_batch(batch, options, cpu_s), batches), Counter())
    print(", ".join(f"{counts[what]} {what}" for what in ("passed", "failed", "skipped")))
    if counts["xfailed"]:
        print(f"and {counts['xfailed']} failed as expected")
    return 1 if counts["failed"] or not counts["passed"] else 0


def batched(files: Iterable[Path]) -> list[list[Path]]:
    """Return what to run together: the longest alone and first, lest all wait for it at the end."""
    batches = []
    ordered = sorted(files, key=lambda file: (file.parent.name not in LONG, file))
    for folder, group in groupby(ordered, key=lambda file: file.parent):
        inside = list(group)
        size = 1 if folder.name in LONG else BATCH
        batches += [inside[i : i + size] for i in range(0, len(inside), size)]
    return batches


def split(arguments: list[str]) -> tuple[list[Path], list[str], int]:
    """Return the paths, the options for pytest, and how many batches to run at a time."""
    jobs, options, paths = 1, [], []
    left = iter(arguments)
    for argument in left:
        if argument == "-n":
            jobs = int(next(left))
        elif not argument.startswith("-") and (ROOT / argument).exists():
            paths.append(ROOT / argument)
        else:
            options.append(argument)
    return paths or [ROOT / "tests"], options, jobs


def main(arguments: list[str]) -> int:
    """Run one batch, all in pieces, or simply pytest."""
    if arguments[:1] == ["--batch"]:
        cpu_s, kept, *rest = arguments[1:]
        return int(pytest.main(["-q", *rest], plugins=[Pieces(float(cpu_s), Path(kept))]))
    limit_s = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if limit_s != resource.RLIM_INFINITY:
        return in_pieces(arguments, limit_s)
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
