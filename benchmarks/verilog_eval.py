"""VerilogEval 2: references and mutants, judged by equivalence, Icarus and the testbenches.

    python benchmarks/verilog_eval.py --data ../shared/data/verilog/FILE.jsonl [--mutants 6]

The testbenches are run as the benchmark runs them, and
their printed count of mismatches is believed, which is right only because nobody wrote these
answers to deceive. Without Icarus, its columns stay empty.
"""

import json
import random
import re
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

import results_file
from verilog_variants import simulators

from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.envs.verilog.verilog_dataset import PATIENT
from rlvr_envs.generators.hardware.mutations import mutants
from rlvr_envs.generators.published.verilog_references import Unusable, reference_of
from rlvr_envs.generators.published.verilog_rows import NotARow, VerilogRow, read_row
from rlvr_envs.sandboxes.base import Job, Limits, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.hdl import icarus
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge

MEASURED = (
    "references of VerilogEval 2 and mutants of them, judged by equivalence, Icarus and the "
    "benchmark's testbenches; seconds of a verdict by the clock"
)
_COUNT = re.compile(r"Mismatches: (\d+) in (\d+) samples")


def candidates(row: VerilogRow, count: int) -> list[tuple[str, str]]:
    """Return what is judged, each with a word on it: the reference, then mutants of it."""
    found = list(mutants(row.reference))
    chosen = random.Random(row.name).sample(found, min(count, len(found)))  # noqa: S311
    return [("reference", row.reference), *((m.description, m.source) for m in chosen)]


def testbench(data: dict[str, Any], answer: str) -> str:
    """Return what a testbench says: pass, fail, compile, or timeout (no mismatch so far)."""
    files = {"test.sv": data["test"], "ref.sv": data["ref"], "answer.sv": answer}
    command = ("iverilog", "-g2012", "-Wno-timescale", "-s", "tb", "-o", "a.vvp", *files)
    limits = Limits(cpu_s=20.0, memory_mib=512, file_mib=64, disk_mib=128)
    job = Job(
        compile=command,
        argv=("vvp", "-n", "a.vvp"),
        files={name: text.encode() for name, text in files.items()},
        limits=limits,
    )
    result = shared_sandbox().run(job)
    if result.status is RunStatus.COMPILE_ERROR:
        return "compile"
    text = result.stdout.decode(errors="replace")
    told = _COUNT.findall(text)
    if not told:
        return "timeout"
    mismatches, samples = map(int, told[-1])
    if mismatches or not samples:
        return "fail"
    return "timeout" if "TIMEOUT" in text else "pass"


def measure(data: dict[str, Any], count: int) -> dict[str, Any]:
    """Return what is found about each candidate of a problem."""
    try:
        row = read_row(data, {})
        reference = reference_of(row.reference, row.top)
    except (NotARow, Unusable) as error:
        return {"name": data["task_id"], "refused": str(error)}
    with_icarus = icarus.available()
    lines: list[dict[str, Any]] = []
    for what, source in candidates(row, count):
        begin = time.perf_counter()
        verdict = judge(source, reference, deep=PATIENT)
        found = {"what": what, "seconds": round(time.perf_counter() - begin, 3), **told(verdict)}
        if with_icarus:
            found["testbench"] = testbench(data, source)
            found["icarus"] = second_opinion(source, reference, verdict)
        lines.append(found)
    return {"name": data["task_id"], "candidates": lines}


def told(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict in a few words."""
    if verdict.status is Status.CORRECT:
        return {"ours": "equal" if verdict.parts["proved"] else "bounded"}
    if verdict.status is Status.VERIFIER_ERROR:
        return {"ours": "error", "detail": verdict.detail[:200]}
    if not verdict.parts.get("ports"):
        return {"ours": "refused", "detail": verdict.detail[:200]}
    return {"ours": "differs"}


def second_opinion(source: str, reference: Reference, verdict: Verdict) -> str:
    """Return what Icarus says of a candidate that was taken for equivalent."""
    if verdict.status is not Status.CORRECT:
        return ""
    again = icarus.cosimulate(source, reference, verdict)
    if again.status is not Status.CORRECT:
        return f"differs: {again.detail[:200]}"
    return "agrees" if again.parts["icarus"] else "cannot tell"


def summary(problems: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the table of all problems."""
    posed = [found for found in problems if "candidates" in found]
    own = [found["candidates"][0] for found in posed]
    changed = [line for found in posed for line in found["candidates"][1:]]
    pairs = Counter((line["ours"], line.get("testbench", "")) for line in changed)
    seconds = sorted(line["seconds"] for line in own + changed)
    contradictions = [
        {"problem": found["name"], **line}
        for found in posed
        for line in found["candidates"]
        if (line["ours"] in ("equal", "bounded")) != (line.get("testbench") == "pass")
        and line.get("testbench") in ("pass", "fail")
    ]
    return {
        "problems": len(problems),
        "refused": {f["name"]: f["refused"] for f in problems if "refused" in f},
        "mutants_judged": len(changed),
        "references": dict(Counter(line["ours"] for line in own)),
        "references_by_testbench": dict(Counter(line.get("testbench", "") for line in own)),
        "references_by_icarus": dict(Counter(line.get("icarus", "").split(":")[0] for line in own)),
        "mutants": {
            f"{ours}, testbench {theirs}": n for (ours, theirs), n in sorted(pairs.items())
        },
        "equal_mutants_by_icarus": dict(
            Counter(line.get("icarus", "").split(":")[0] for line in changed if line.get("icarus"))
        ),
        "median_s": round(statistics.median(seconds), 3),
        "p95_s": round(seconds[len(seconds) * 95 // 100], 3),
        "contradictions": contradictions,
    }


def main() -> None:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "verilog_eval")
    parser.add_argument("--data", type=Path, required=True, help="JSONL of VerilogEval 2")
    parser.add_argument("--mutants", type=int, default=6, help="of each reference")
    parser.add_argument("--most", type=int, help="problems (default: all of the file)")
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.data.read_text("utf-8").splitlines() if line]
    problems = []
    for row in rows[: args.most]:
        problems.append(measure(row, args.mutants))
        print(row["task_id"], flush=True)
    head = results_file.head(MEASURED, "pyosys", data=args.data.name, mutants_of_each=args.mutants)
    head["versions"] |= simulators()
    figures = summary(problems)
    print(results_file.as_text(figures))
    results_file.store(args, head, figures, problems, whole=args.most is None)


if __name__ == "__main__":
    main()
