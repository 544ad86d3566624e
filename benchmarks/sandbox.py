"""How fast a program runs in each sandbox, beside the usual ways of running one.

One run measures everything in turn and in rounds, so that the comparison holds although the speed
of the machine drifts. The Python program prints 42. A bare subprocess, bubblewrap and Docker start
an interpreter for it (``python3 -I -S``); ours fork one that is warm, and the rows marked "exec"
start one as the others do. A batch compiles once and runs the program once a test.

    scripts/docker_engine.sh python benchmarks/sandbox.py      # with a Docker engine of its own
    python benchmarks/sandbox.py --rounds 2 --jobs 20          # a quick look, without Docker

Whatever is not installed is left out, and said to be.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import results_file

from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.sandboxes import docker_engine, docker_image
from rlvr_envs.sandboxes.backend import SHOWN, interpreter
from rlvr_envs.sandboxes.base import Case, Job
from rlvr_envs.sandboxes.sandbox import Sandbox, make_backend, probe

MEASURED = (
    "a program that prints 42, and a batch of tests of a compiled program, in each sandbox; rates "
    "and batches are medians over the rounds"
)
SLOTS = 2
# Threads that call one pool at the same time, and how often each of them calls in a round.
CALLERS = (1, 8, 64)
CALLS = 10
EXPECTED = b"42\n"
PROGRAM = "print(6 * 7)"
PRODUCT_PY = b"a, b = map(int, input().split())\nprint(a * b)\n"
PRODUCT_CPP = b"""#include <cstdio>
int main() { long a, b; if (scanf("%ld %ld", &a, &b) == 2) printf("%ld\\n", a * b); }
"""

# On a machine that is busy with other work, `chrt -r 1` before the command puts the measured
# processes first; a container's cannot be, since the engine starts them.
SCHEDULING = {os.SCHED_OTHER: "ordinary", os.SCHED_RR: "real-time (chrt -r)"}

# What the design promises on two cores: measure, row, bound (at most, or at least for rates).
TARGETS = (
    ("latency p50 ms", "namespaces", 8.0),
    ("jobs a second", "namespaces", 250.0),
    ("latency p50 ms", "docker", 6.0),
    ("C++ ms a test", "namespaces", 3.0),
    ("C++ ms a test", "docker", 3.0),
    ("slot start ms", "namespaces", 50.0),
)


@dataclass
class Way:
    """A way of running programs: what is measured is the time of its calls."""

    name: str
    once: Callable[[], bytes]  # run the Python program, return its output
    batch: Callable[[str, int], float] | None = None  # language, tests → seconds a test
    start: Callable[[], float] | None = None  # seconds until a slot is ready
    many: int = 0  # runs a round, if not the usual number
    latencies: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    batches: dict[str, list[float]] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)
    pooled: bool = False  # whether callers wait for a slot
    waits: dict[int, list[float]] = field(default_factory=dict)

    def run(self) -> None:
        """Run the program once; a wrong output ends the benchmark."""
        output = self.once()
        if output != EXPECTED:
            raise SystemExit(f"{self.name} printed {output!r}, not {EXPECTED!r}")


def output_of(argv: list[str], **options: Any) -> bytes:
    """Return what a command prints."""
    return subprocess.run(argv, capture_output=True, check=True, **options).stdout


def inputs(count: int) -> list[bytes]:
    """Return standard inputs of a batch."""
    return [b"%d 7\n" % number for number in range(count)]


def one_process_a_test(prefix: list[str], folder: Path) -> Callable[[str, int], float]:
    """Return the batch measure of a way that has no batches: a process for every test."""
    (folder / "main.py").write_bytes(PRODUCT_PY)
    (folder / "main.cpp").write_bytes(PRODUCT_CPP)
    output_of(["g++", "-O1", "-o", str(folder / "main"), str(folder / "main.cpp")])
    programs = {
        "C++": [*prefix, str(folder / "main")],
        "Python": [*prefix, interpreter()[0], "-I", "-S", str(folder / "main.py")],
    }

    def batch(language: str, tests: int) -> float:
        begin = time.perf_counter()
        for number, text in enumerate(inputs(tests)):
            if output_of(programs[language], input=text) != b"%d\n" % (number * 7):
                raise SystemExit(f"a wrong answer from {prefix}")
        return (time.perf_counter() - begin) / tests

    return batch


def bare(folder: Path) -> Way:
    """A process without any sandbox."""
    argv = [interpreter()[0], "-I", "-S", "-c", PROGRAM]
    return Way("subprocess", lambda: output_of(argv), one_process_a_test([], folder))


def bubblewrap(folder: Path) -> Way:
    """Bubblewrap as it is usually called: every namespace, a read-only /usr, a private /tmp."""
    prefix = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    prefix += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    prefix += ["--tmpfs", "/tmp"]  # noqa: S108 - in its own root
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            prefix += ["--symlink", f"usr/{name}", f"/{name}"]
    prefix += ["--ro-bind", str(folder), str(folder)]
    argv = [*prefix, interpreter()[0], "-I", "-S", "-c", PROGRAM]
    return Way("bubblewrap", lambda: output_of(argv), one_process_a_test(prefix, folder))


class Engine:
    """Docker as it is usually used: a container a run, or a command in a running container."""

    def __init__(self, host: str) -> None:
        self.api = docker_engine.connect(host)
        self.image = docker_image.ensure_host_image(self.api)
        self.argv = [interpreter()[0], "-I", "-S", "-c", PROGRAM]
        self.warm = self._create(["sleep", "3600"])
        self.api.start(self.warm)

    def _create(self, command: list[str]) -> str:
        walls = self.api.create_host_config(
            network_mode="none",
            read_only=True,
            tmpfs={"/work": "size=64m", "/tmp": "size=64m"},  # noqa: S108 - in the container
            binds=[f"{path}:{path}:ro" for path in SHOWN if Path(path).exists()],
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            mem_limit="256m",
            memswap_limit="256m",
            pids_limit=64,
        )
        user = "65534:65534"
        container = self.api.create_container(self.image, command, user=user, host_config=walls)
        return str(container["Id"])

    def cold(self) -> bytes:
        """Run the program in a new container."""
        container = self._create(self.argv)
        self.api.start(container)
        self.api.wait(container)
        output: bytes = self.api.logs(container, stdout=True, stderr=False)
        self.api.remove_container(container, force=True)
        return output

    def exec(self) -> bytes:
        """Run the program in the warm container."""
        output: bytes = self.api.exec_start(self.api.exec_create(self.warm, self.argv)["Id"])
        return output

    def close(self) -> None:
        """Remove the warm container."""
        self.api.remove_container(self.warm, force=True)
        self.api.close()


def ours(name: str, stack: ExitStack) -> Iterator[Way]:
    """One of our backends: Python in a warm fork, and as a command."""
    backend = make_backend(name)
    probe(backend)
    sandbox = stack.enter_context(Sandbox(backend, slots=SLOTS, compile_cache_mib=0))
    warm = Job(script="main.py", files={"main.py": PROGRAM.encode()})
    exec_ = Job(argv=(interpreter()[0], "-I", "-S", "-c", PROGRAM))
    jobs = {
        "C++": Job(
            argv=("./main",),
            compile=("g++", "-O1", "-o", "main", "main.cpp"),
            files={"main.cpp": PRODUCT_CPP},
        ),
        "Python": Job(script="main.py", files={"main.py": PRODUCT_PY}),
    }

    def timed(job: Job, cases: list[Case]) -> float:
        begin = time.perf_counter()
        results = sandbox.run_batch(job, cases)
        seconds = time.perf_counter() - begin
        for number, result in enumerate(results):
            if result.stdout != b"%d\n" % (number * 7):
                raise SystemExit(f"a wrong answer from {name}: {result}")
        return seconds

    def batch(language: str, tests: int) -> float:
        """Compiling and the first test are in both of what is subtracted."""
        cases = [Case(stdin=text) for text in inputs(tests + 1)]
        alone = timed(jobs[language], cases[:1])
        return (timed(jobs[language], cases) - alone) / tests

    def start() -> float:
        begin = time.perf_counter()
        channel = backend.start()
        seconds = time.perf_counter() - begin
        channel.close()
        return seconds

    yield Way(name, lambda: sandbox.run(warm).stdout, batch, start, pooled=True)
    yield Way(f"{name}, exec", lambda: sandbox.run(exec_).stdout)


def every_way(folder: Path, stack: ExitStack) -> tuple[list[Way], dict[str, str]]:
    """Return what can be measured here, and what cannot with the reason."""
    ways, left_out = [bare(folder)], {}
    if shutil.which("bwrap"):
        ways.append(bubblewrap(folder))
    else:
        left_out["bubblewrap"] = "it is not installed"
    for name in ("namespaces", "landlock", "docker"):
        try:
            ways += ours(name, stack)
        except SandboxUnavailable as error:
            left_out[name] = str(error)
    if "docker" not in left_out:
        engine = Engine(docker_engine.usual_host())
        stack.callback(engine.close)
        ways.append(Way("docker exec", engine.exec, many=10))
        ways.append(Way("docker run", engine.cold, many=5))
    return ways, left_out


def measure(ways: list[Way], args: argparse.Namespace) -> None:
    """Measure every way in turn, several rounds."""
    with ThreadPoolExecutor(SLOTS) as pool:
        for turn in range(args.rounds):
            for way in ways:
                jobs = min(way.many or args.jobs, args.jobs)
                for _ in range(SLOTS):  # the slots of a pool start when they are needed
                    list(pool.map(lambda _, way=way: way.run(), range(SLOTS)))
                for _ in range(jobs):
                    begin = time.perf_counter()
                    way.run()
                    way.latencies.append(time.perf_counter() - begin)
                begin = time.perf_counter()
                list(pool.map(lambda _, way=way: way.run(), range(jobs)))
                way.rates.append(jobs / (time.perf_counter() - begin))
                if way.batch is not None:
                    for language in ("C++", "Python"):
                        found = way.batches.setdefault(language, [])
                        found.append(way.batch(language, args.tests))
                for callers in CALLERS if way.pooled else ():
                    way.waits.setdefault(callers, []).extend(waits(way, callers))
                if way.start is not None:
                    way.starts += [way.start() for _ in range(args.starts)]
            print(f"round {turn + 1} of {args.rounds}", file=sys.stderr)


def waits(way: Way, callers: int) -> list[float]:
    """Return how long each call takes, waiting for a slot included, in seconds."""

    def calls() -> list[float]:
        found = []
        for _ in range(CALLS):
            begin = time.perf_counter()
            way.run()
            found.append(time.perf_counter() - begin)
        return found

    with ThreadPoolExecutor(callers) as pool:
        futures = [pool.submit(calls) for _ in range(callers)]
        return [seconds for future in futures for seconds in future.result()]


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """Return the 50th and the 99th percentile in milliseconds."""
    hundredths = statistics.quantiles(seconds, n=100, method="inclusive")
    return hundredths[49] * 1e3, hundredths[98] * 1e3


def busy_pool(ways: list[Way]) -> dict[str, dict[str, float]]:
    """Return the latencies of each way that has a pool, by the number of callers."""
    found: dict[str, dict[str, float]] = {}
    for way in (way for way in ways if way.pooled):
        for callers, seconds in way.waits.items():
            p50, p99 = percentiles(seconds)
            found[f"{way.name}, {callers}"] = {
                "p50 ms": round(p50, 2),
                "p99 ms": round(p99, 2),
                "p99 of p50": round(p99 / p50, 2),
                "calls": len(seconds),
            }
    return found


def summary(way: Way) -> dict[str, float]:
    """Return the numbers of one way; rates and batches are medians over the rounds."""
    p50, p99 = percentiles(way.latencies)
    found = {
        "latency p50 ms": p50,
        "latency p99 ms": p99,
        "runs": len(way.latencies),
        "jobs a second": statistics.median(way.rates),
    }
    for language, values in way.batches.items():
        found[f"{language} ms a test"] = statistics.median(values) * 1e3
    if way.starts:
        found["slot start ms"] = statistics.median(way.starts) * 1e3
    return {name: round(value, 2) for name, value in found.items()}


def verdicts(rows: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Return each target with what was measured and whether it is met."""
    found = []
    for measured, row, bound in TARGETS:
        value = rows.get(row, {}).get(measured)
        if value is not None:
            met = value >= bound if measured == "jobs a second" else value <= bound
            found.append(
                {"row": row, "measure": measured, "bound": bound, "value": value, "met": met}
            )
    return found


def tools() -> dict[str, str]:
    """Return the versions of what is no Python package."""
    python = output_of([interpreter()[0], "-c", "import sys; print(sys.version)"]).decode()
    versions = {"python of the programs": python.split()[0]}
    for name, argv in {
        "bubblewrap": ["bwrap", "--version"],
        "g++": ["g++", "-dumpversion"],
    }.items():
        if shutil.which(argv[0]):
            versions[name] = output_of(argv).decode().split()[-1]
    if os.environ.get("RLVR_DOCKER_HOST"):
        api = docker_engine.connect(docker_engine.usual_host())
        versions["docker engine"] = api.version()["Version"]
        api.close()
    return versions


def table(rows: dict[str, dict[str, float]]) -> str:
    """Return the rows as text."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = [f"{'':18}" + "".join(f"{name:>17}" for name in columns)]
    for way, row in rows.items():
        cells = (f"{row[name]:17g}" if name in row else f"{'-':>17}" for name in columns)
        lines.append(f"{way:18}" + "".join(cells))
    return "\n".join(lines)


def main() -> int:
    """Measure, print the table and store everything."""
    parser = results_file.parser(__doc__, "sandbox")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=60, help="runs a round, of what is fast")
    parser.add_argument("--tests", type=int, default=60, help="of a batch")
    parser.add_argument("--starts", type=int, default=3, help="of slots, a round")
    args = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ways, left_out = every_way(folder, stack)
        measure(ways, args)
        rows = {way.name: summary(way) for way in ways}
        alone = rows["subprocess"]["latency p50 ms"]
        for row in rows.values():
            row["of a subprocess"] = round(row["latency p50 ms"] / alone, 2)
    scheduling = SCHEDULING.get(os.sched_getscheduler(0), "another")
    head = results_file.head(MEASURED, "docker", scheduling=scheduling)
    head["versions"] |= tools()
    figures = {
        "slots": SLOTS,
        "left out": left_out,
        "rows": results_file.table(rows),
        "callers of a pool": results_file.table(busy_pool(ways)),
        "targets": verdicts(rows),
    }
    raw = {
        way.name: {
            "latencies s": way.latencies,
            "jobs a second": way.rates,
            "batches, s a test": way.batches,
            "slot starts s": way.starts,
            "waits by callers s": way.waits,
        }
        for way in ways
    }
    results_file.store(args, head, figures, raw)
    print(table(rows))
    print(table(busy_pool(ways)))
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}")
    for target in figures["targets"]:
        met = "met" if target["met"] else "MISSED"
        print(f"{met}: {target['row']} {target['measure']} {target['value']} ({target['bound']})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
