"""What compiling costs a job: again and again, from the cache, and with a precompiled header.

One run measures every way in turn and in rounds, so that the comparison holds although the speed of
the machine drifts. A job is a C++ program, new in each round, that is compiled and run once by a
sandbox that has a slot ready: by one that does everything each time, by one with the precompiled
header and the compile cache, and by that one again. The processor's time is that of the compile
command and all its processes, run as a command in the same sandbox.

    python benchmarks/compile.py                # some minutes
    python benchmarks/compile.py --rounds 2     # a quick look

The precompiled header is made before anything is measured.
"""

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable

import results_file
from sandbox import tools

from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.sandboxes import headers, languages
from rlvr_envs.sandboxes.base import Job, RunStatus
from rlvr_envs.sandboxes.sandbox import Sandbox, make_backend, probe

MEASURED = (
    "jobs that compile a C++ program and run it once: plainly, with the precompiled header, and "
    "again from the compile cache; medians over the rounds"
)
PROGRAMS = {
    "a few headers": "#include <algorithm>\n#include <iostream>\n#include <vector>\n",
    "bits/stdc++.h": "#include <bits/stdc++.h>\n",
    "does not compile": "#include <bits/stdc++.h>\nint count() { return undeclared; }\n",
}
BODY = """
int main() {
    std::vector<int> v{%d, 2, 3};
    std::sort(v.begin(), v.end());
    std::cout << v.back() << std::endl;
}
"""
Samples = dict[str, dict[str, list[float]]]


def job_of(kind: str, number: int) -> Job:
    """Return a job that no round before has had."""
    return languages.find("cpp").job(PROGRAMS[kind] + BODY % -number)


def timed(sandbox: Sandbox, job: Job, kind: str) -> float:
    """Return the milliseconds of a job; a wrong result ends the benchmark."""
    begin = time.perf_counter()
    result = sandbox.run(job)
    seconds = time.perf_counter() - begin
    right = result.stdout == b"3\n"
    if kind == "does not compile":
        right = result.status is RunStatus.COMPILE_ERROR
    if not right:
        raise SystemExit(f"a wrong result: {result}")
    return seconds * 1e3


def compiler_cpu(sandbox: Sandbox, job: Job, more: dict[str, str]) -> float:
    """Return the milliseconds of processor time that a job's compile command takes."""
    limits = job.compile_limits
    step = Job(
        argv=job.compile,
        files=job.files,
        env=more,
        limits=limits,
        limit_address_space=False,
    )
    result = sandbox.run(step)
    if not result.ok:
        raise SystemExit(f"it did not compile: {result}")
    return result.cpu_s * 1e3


def make_header(place: Callable[[str], str]) -> dict[str, str]:
    """Have the header precompiled if it is not, and return the variables that lead to it."""
    user = headers.PrecompiledHeaders()
    job = job_of("bits/stdc++.h", 0)
    found = [user.variables(job, place) for _ in range(headers.WORTH)]
    if not found[-1]:
        raise SystemExit("no header can be precompiled here: is g++ installed?")
    return found[-1]


def measure(backend: str, args: argparse.Namespace) -> Samples:
    """Return the samples of one backend: row, measure, milliseconds."""
    samples: Samples = {f"{backend}, {kind}": defaultdict(list) for kind in PROGRAMS}
    with (
        Sandbox(backend, slots=1, compile_cache_mib=0, precompiled_headers=False) as plain,
        Sandbox(backend, slots=1) as full,
    ):
        more = make_header(plain._pool.backend.headers_at)
        for sandbox in (plain, full):  # a slot, and what is checked once
            timed(sandbox, job_of("bits/stdc++.h", 0), "bits/stdc++.h")
        for number in range(1, args.rounds + 1):
            for kind in PROGRAMS:
                job, row = job_of(kind, number), samples[f"{backend}, {kind}"]
                row["plainly ms"].append(timed(plain, job, kind))
                row["with the header ms"].append(timed(full, job, kind))
                row["again ms"].append(timed(full, job, kind))
                if kind == "bits/stdc++.h":
                    row["compiler CPU ms, plainly"].append(compiler_cpu(plain, job, {}))
                    row["compiler CPU ms, header"].append(compiler_cpu(plain, job, more))
            print(f"{backend}: round {number} of {args.rounds}", file=sys.stderr)
    return samples


def main() -> int:
    """Measure, print the table and store everything."""
    parser = results_file.parser(__doc__, "compile")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    samples: Samples = {}
    left_out = {}
    for backend in ("namespaces", "landlock", "docker"):
        try:
            probe(make_backend(backend))
        except SandboxUnavailable as error:
            left_out[backend] = str(error)
        else:
            samples |= measure(backend, args)
    rows = {
        row: {name: round(statistics.median(values), 1) for name, values in found.items()}
        for row, found in samples.items()
    }
    head = results_file.head(MEASURED)
    head["versions"] |= tools()
    figures = {"rounds": args.rounds, "left out": left_out, "rows": results_file.table(rows)}
    results_file.store(args, head, figures, samples)
    for row, found in rows.items():
        print(f"{row:32}", "  ".join(f"{name} {value:g}" for name, value in found.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
