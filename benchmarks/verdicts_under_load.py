"""Whether verdicts depend on how busy the machine is: the same answers, judged idle and under load.

The answers come from all domains: right ones, near misses, hostile ones, honest programs that work
for half of their CPU limit, and formulas that only the second reader of mathematics can judge.
They are judged as `rlvr verify --workers` does it, then once more while busy processes compete with
the judging. A verdict is its status, its score and whether it is scored. The exit status is 1 if
one differs.

    python benchmarks/verdicts_under_load.py
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import results_file

import rlvr_envs
from rlvr_envs.core.instance import Row
from rlvr_envs.core.parallel import Response
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.datasets.score import Sample, judge
from rlvr_envs.executors import open_executor

PACKAGES = ("numpy", "sympy", "math-verify", "latex2sympy2_extended", "pyosys")
SHARES = {
    "math": 125,
    "second reader": 40,
    "code": 80,
    "slow programs": 5,
    "np_hard": 60,
    "puzzles": 70,
    "search": 40,
    "verilog": 80,
}
TOTAL = sum(SHARES.values())
# They need a file or a server of the user's, or are themselves about who is slower.
LEFT_OUT = re.compile(r"Dataset|SearchCorpus|(?:Search|Corpus)Proposer|Rewrite")
# Their programs may use 2 s of CPU time, or what the problem says.
SLOW = ("FunctionSynthesis-v0", "StringFunctionCode-v0", "ProgramRepair-v0", "StdioProgram-v0")
BURN = "import time as _t\n_end = _t.process_time() + {:g}\nwhile _t.process_time() < _end: pass\n"
BUSY = """
import os, sys, threading
def end():
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=end).start()
while True:
    pass
"""

HEAVY = r"\sum_{k=1}^{\infty} \frac{\sin(k)}{k^3+k+1}"  # sympy needs more than 10 s
SECOND_READER = (  # gold and answer; seconds of CPU time where it is a good part of the limit
    (r"\int_0^{\pi} \frac{x \sin(x)}{1+\cos^2(x)} dx", r"\frac{\pi^2}{4}"),  # 1.8 s
    (r"\int_0^{\pi} \frac{x \sin(x)}{1+\cos^2(x)} dx", r"\frac{\pi^2}{5}"),
    (r"\int_0^1 \frac{\ln(1+x)}{1+x^2} dx", r"\frac{\pi \ln 2}{8}"),  # 0.7 s
    (r"\int_0^1 \sqrt{1+x^4} dx", "1"),  # 0.6 s
    (r"\sum_{k=1}^{\infty} \frac{1}{k^2}", r"\frac{\pi^2}{6}"),  # 0.5 s
    (r"\sum_{k=1}^{n} k", r"\sum_{k=1}^{n} \frac{\sin(k) \cos(k)}{k^3+k+1}"),  # 0.6 s
    (r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}"),
    (r"\sum_{k=1}^{n} k", r"\frac{n(n-1)}{2}"),
    (r"\sum_{k=1}^{n} k^2", r"\frac{n(n+1)(2n+1)}{6}"),
    (r"\sum_{k=1}^{n} k^2", r"\frac{n(n+1)(2n+1)}{7}"),
    (r"\sum_{k=1}^{n} k", r"\sum_{k=1}^{n} \sqrt{k}"),
    (r"\int_0^{\pi} \sin(x) dx", "2"),
    (r"\int_0^{\pi} \sin(x) dx", "3"),
    (r"\lim_{x \to 0} \frac{\sin(x)}{x}", "1"),
    (r"\prod_{k=1}^{n} k^2", "x"),
    (r"\sum_{k=1}^{n} k", "9^{9^{9}}"),
    (r"\sum_{k=1}^{n} k", r"\sum_{k=1}^{n} k^{9}\cdot\left(k+n\right)^{99}"),  # takes too long
    (r"\int_0^1 \frac{\ln(1+x)}{1+x^2} dx", r"\frac{\pi \ln 2}{9}"),  # takes too long
    (HEAVY, "1"),  # the gold alone takes too long
)
_TOWER = "9^{9^{9^{9}}}"
_CODE = ("while True:\n    pass", "import time\ntime.sleep(600)", "x = [0] * 10**12", "def f(:")
HOSTILE = {
    "math": (rf"\boxed{{{_TOWER}}}", rf"\boxed{{\binom{{10^9}}{{5}}+{_TOWER}}}", "(" * 5000, ""),
    "code": tuple(f"```python\n{code}\n```" for code in _CODE),
    "np_hard": (f"<answer>{_TOWER}</answer>", f"<answer>{'0, ' * 20_000}</answer>", ""),
    "puzzles": (
        f"<answer>{_TOWER}</answer>",
        f"<answer>{'0 ' * 20_000}</answer>",
        rf"\boxed{{{_TOWER}}}",
    ),
    "search": (f"<answer>{_TOWER}</answer>", "<search>" + "a " * 5000 + "</search>"),
    "verilog": (
        "```verilog\nmodule TopModule (\n```",
        "```verilog\nmodule TopModule;\n  integer i;\ninitial while (1) i = i + 1;\nendmodule\n```",
        (
            "```verilog\nmodule TopModule (input [511:0] a, output [511:0] y);\n"
            "  assign y = a * a * a % 777;\nendmodule\n```"
        ),
    ),
}
SWAPS = ((" + ", " - "), (" < ", " <= "), (" == ", " != "), (" & ", " | "), ("1", "2"), ("a", "b"))


@dataclass(frozen=True, slots=True)
class Answer:
    """A response to a row, and why it is here."""

    kind: str
    row: Row
    response: Response


def near_miss(response: str, rng: np.random.Generator) -> str:
    """Return a response with one small change: another digit of its answer, another operator."""
    digits = [found.start() for found in re.finditer(r"\d", response)]
    if digits and "```" not in response:
        at = digits[-1 - int(rng.integers(min(3, len(digits))))]
        return f"{response[:at]}{(int(response[at]) + 1) % 10}{response[at + 1 :]}"
    swaps = [(old, new) for old, new in SWAPS if old in response]
    if not swaps:
        return f"{response} 0"
    old, new = swaps[int(rng.integers(len(swaps)))]
    places = [found.start() for found in re.finditer(re.escape(old), response)]
    at = places[int(rng.integers(len(places)))]
    return response[:at] + new + response[at + len(old) :]


def of_domain(domain: str) -> Iterator[Answer]:
    """Yield answers to the tasks of a domain in turn: right ones, near misses and hostile ones.

    Hostile programs cost their limit each, so there are only as many as there are different ones.
    """
    rng = np.random.default_rng(sum(map(ord, domain)))
    tasks = [name for name in rlvr_envs.list_tasks(domain) if not LEFT_OUT.search(name)]
    hostile = iter(HOSTILE[domain])
    for number, (seed, task) in enumerate((seed, task) for seed in count() for task in tasks):
        row = rlvr_envs.make_problem(task, seed=seed, difficulty=(0, 2)[seed % 2])
        interactive = not isinstance(right := rlvr_envs.solve(row), str)
        *turns, last = [right] if isinstance(right, str) else right
        kind = ("right", "near miss", "right", "near miss", "right", "hostile")[number % 6]
        if kind == "near miss":
            last = near_miss(last, rng)
        elif kind == "hostile":
            last = next(hostile, "no answer")
        yield Answer(f"{domain}, {kind}", row, [*turns, last] if interactive else last)


def slow_programs() -> Iterator[Answer]:
    """Yield right programs that first work for half of the CPU time that they may use."""
    for seed in count():
        for task in SLOW:
            row = rlvr_envs.make_problem(task, seed=seed, difficulty=0)
            response = rlvr_envs.solve(row)
            burn = BURN.format(0.5 * row["problem"].get("cpu_s", 2.0))
            if isinstance(response, str) and response.startswith("```python\n"):
                slow = response.replace("```python\n", f"```python\n{burn}", 1)
                yield Answer("slow programs", row, slow)


def second_reader(folder: Path) -> Iterator[Answer]:
    """Yield answers that only the second reader of mathematics judges; the folder gets a file."""
    golds = list(dict.fromkeys(gold for gold, _ in SECOND_READER))
    path = folder / "golds.jsonl"
    lines = [json.dumps({"question": f"Formula {n}", "answer": g}) for n, g in enumerate(golds)]
    path.write_text("\n".join(lines) + "\n")
    rows: dict[str, Row] = {}
    for seed in count():
        row = rlvr_envs.make_problem("MathDataset-v0", seed=seed, path=str(path))
        rows.setdefault(row["problem"]["answer"], row)
        if len(rows) == len(golds):
            break
    costly = 3  # the last ones cost their limit, so each is judged once
    yield from (
        Answer("second reader", rows[gold], rf"\boxed{{{answer}}}")
        for gold, answer in (*SECOND_READER, *islice(cycle(SECOND_READER[:-costly]), TOTAL))
    )


def recorded(total: int, folder: Path, kinds: Sequence[str] = tuple(SHARES)) -> list[Answer]:
    """Return about ``total`` answers of some kinds, the same at every call."""
    sources: dict[str, Callable[[], Iterator[Answer]]] = {
        "second reader": lambda: second_reader(folder),
        "slow programs": slow_programs,
    }
    scale = total / sum(SHARES[kind] for kind in kinds)
    found: list[Answer] = []
    for kind in kinds:
        answers = sources[kind]() if kind in sources else of_domain(kind)
        found += islice(answers, max(1, round(scale * SHARES[kind])))
    return found


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep processes busy; they end with this block, or with this process however it ends.

    Each has a session of its own: Linux may share the processor among sessions, and workers and
    sandboxes have theirs.
    """
    command = [sys.executable, "-c", BUSY]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        for _ in range(processes)
    ]
    try:
        yield
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.communicate()


def verdicts(answers: Sequence[Answer], workers: int) -> tuple[list[Verdict], dict[str, float]]:
    """Return the verdicts, and what judging cost."""
    samples = [Sample(n, answer.row, 0, answer.response) for n, answer in enumerate(answers)]
    began = time.perf_counter()
    with open_executor(workers=workers) as executor:
        found = [verdict for _, verdict in judge(samples, executor=executor)]
    return found, {"wall_s": round(time.perf_counter() - began, 1)}


def told(verdict: Verdict) -> dict[str, Any]:
    """Return what must not depend on the machine."""
    return {"status": verdict.status.value, "score": verdict.score, "scored": verdict.scored}


def compare(answers: Sequence[Answer], workers: int, processes: int) -> dict[str, Any]:
    """Judge idle, then under load; return counts and every difference."""
    idle, idle_cost = verdicts(answers, workers)
    with busy(processes):
        loaded, loaded_cost = verdicts(answers, workers)
    differences = [
        {
            "answer": f"{number}: {answer.kind}, {answer.row['id']}",
            "idle": told(one),
            "loaded": told(other),
            "detail": f"{one.detail:.80} / {other.detail:.80}",
        }
        for number, (answer, one, other) in enumerate(zip(answers, idle, loaded, strict=True))
        if told(one) != told(other)
    ]
    return {
        "answers": len(answers),
        "kinds": dict(sorted(Counter(answer.kind for answer in answers).items())),
        "statuses": dict(sorted(Counter(verdict.status.value for verdict in idle).items())),
        "idle": idle_cost,
        "loaded": {"busy_processes": processes, **loaded_cost},
        "differences": differences,
    }


def main() -> int:
    """Run the comparison, store the result, and return the exit status."""
    parser = results_file.parser(__doc__, "verdicts_under_load")
    parser.add_argument(
        "--answers", type=int, default=TOTAL, help="how many answers (default: 500)"
    )
    parser.add_argument("--kinds", nargs="+", choices=SHARES, default=list(SHARES))
    parser.add_argument("--per-core", type=int, default=8, help="busy processes for each core")
    arguments = parser.parse_args()
    head = results_file.head(
        "verdicts (status, score, scored) of the same answers idle and under load", *PACKAGES
    )
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        answers = recorded(arguments.answers, Path(folder), arguments.kinds)
        found = compare(answers, cores, arguments.per_core * cores)
    for difference in found["differences"]:
        print(difference)
    print(f"{len(found['differences'])} of {found['answers']} verdicts differ")
    whole = arguments.answers == TOTAL and arguments.kinds == list(SHARES)
    results_file.store(arguments, head, found, found["differences"], whole=whole)
    return 1 if found["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
