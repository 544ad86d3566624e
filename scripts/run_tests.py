"""Runs pytest; in pieces where the machine limits the CPU time of a process.

    python scripts/run_tests.py -n 2 -m "not slow"
    python scripts/run_tests.py -n 2 tests/unit/core

Usually this is ``pytest`` with the same arguments. Under a limit (``ulimit -t``, as login nodes of
clusters have) a long run would be killed half-way. Then every test file is run by one short pytest
after another, each from the test at which the last one stopped, and as many files at a time as
``-n`` says. A test that twice needs more CPU time than the machine allows counts as failed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPARE = 3.0  # CPU seconds left to the test that runs when a piece is long enough
LONG = ("conformance", "golden")  # folders whose files have tests of every task
ENDED = (0, 1, 5)  # pytest's exit statuses of a run that came to its end


@dataclass
class State:
    """How far a piece has come; kept on disk, since the process may be killed at any time."""

    next: int  # the number of the first test that has not ended
    total: int = 0
    stopped: bool = False  # before the machine would have done so
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


class Piece:
    """The plugin of one piece: runs tests from ``start`` until the CPU time is used up."""

    def __init__(self, start: int, cpu_s: float, path: Path) -> None:
        self.cpu_s, self.path, self.state = cpu_s, path, State(start)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what earlier pieces ran."""
        self.state.total = len(items)
        del items[: self.state.next]
        self.write()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count as pytest does: a failed setup or teardown fails the test."""
        if report.failed:
            self.count("failed")
            self.state.failures.append(f"{report.nodeid}\n{report.longreprtext}")
        elif report.skipped:
            self.count("xfailed" if hasattr(report, "wasxfail") else "skipped")
        elif report.when == "call":
            self.count("passed")

    def count(self, outcome: str) -> None:
        """Count one test."""
        self.state.counts[outcome] = self.state.counts.get(outcome, 0) + 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> object:
        """Note the test as done, and stop before the machine stops the process."""
        done = yield
        self.state.next += 1
        if nextitem is not None and time.process_time() > self.cpu_s:
            self.state.stopped = True
            item.session.shouldstop = "the piece is long enough"
        self.write()
        return done

    def write(self) -> None:
        """Keep the state on disk."""
        self.path.write_text(json.dumps(asdict(self.state)), encoding="utf-8")


def run_file(path: Path, options: list[str], cpu_s: float) -> Counter[str]:
    """Run one file piece by piece; return how many tests passed, failed and so on."""
    counts: Counter[str] = Counter()
    start, tried = 0, -1
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "piece.json"
        while True:
            kept.unlink(missing_ok=True)
            piece = [str(start), str(cpu_s), str(kept)]
            command = [sys.executable, __file__, "--piece", *piece, str(path), *options]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            state = State(start)
            if kept.exists():
                state = State(**json.loads(kept.read_text(encoding="utf-8")))
            in_first = state.next == start and state.total > 0
            ended_here = done.returncode < 0 and (in_first or not state.total)
            if ended_here and tried != start:
                tried = start  # on a busy machine the same work takes more CPU time
                continue
            if ended_here:
                what = f"test {start} of {state.total}" if in_first else "the collection"
                state.failures.append(f"{path}: {what} ended by signal {-done.returncode}")
                counts["failed"] += 1
                state.next += 1
            elif not (done.returncode < 0 or state.stopped or done.returncode in ENDED):
                state.failures.append(f"{path}\n{done.stdout}{done.stderr}")
                counts["failed"] += 1
            counts.update(state.counts)
            for failure in state.failures:
                print(f"FAILED {failure}", flush=True)
            start = state.next
            if start >= state.total:
                return counts


def in_pieces(arguments: list[str], limit_s: int) -> int:
    """Run the suite in pieces; return the exit status."""
    paths, options, jobs = split(arguments)
    found_in = [[path] if path.is_file() else path.rglob("test_*.py") for path in paths]
    # the longest first, so that nothing waits for them alone at the end
    files = sorted(set(chain(*found_in)), key=lambda file: (file.parent.name not in LONG, file))
    print(f"a process may use {limit_s} s of CPU here: {len(files)} files in pieces", flush=True)
    counts: Counter[str] = Counter()
    cpu_s = max(1.0, limit_s - SPARE)
    with ThreadPoolExecutor(jobs) as pool:
        for file, found in zip(
            files, pool.map(lambda f: run_file(f, options, cpu_s), files), strict=True
        ):
            print(f"{os.path.relpath(file, ROOT)}: {dict(found)}", flush=True)
            counts.update(found)
    print(", ".join(f"{counts[what]} {what}" for what in ("passed", "failed", "skipped")))
    if counts["xfailed"]:
        print(f"and {counts['xfailed']} failed as expected")
    return 1 if counts["failed"] or not counts["passed"] else 0


def split(arguments: list[str]) -> tuple[list[Path], list[str], int]:
    """Return the paths, the options for pytest, and how many files to run at a time."""
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
    """Run one piece, all pieces, or simply pytest."""
    if arguments[:1] == ["--piece"]:
        start, cpu_s, report, *rest = arguments[1:]
        return int(
            pytest.main(["-q", *rest], plugins=[Piece(int(start), float(cpu_s), Path(report))])
        )
    limit_s = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if limit_s != resource.RLIM_INFINITY:
        return in_pieces(arguments, limit_s)
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
