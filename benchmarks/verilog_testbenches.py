"""VerilogEval 2 as rows with a testbench alone, beside equivalence with the reference.

    python benchmarks/verilog_testbenches.py --data ../shared/data/verilog/FILE.jsonl [--mutants 3]

Each problem's testbench, with the reference that it compares with, is checked as the rows of a file
are, and judges the reference and mutants of it; equivalence judges them too. Needs Icarus.
"""

import json
import random
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

import results_file
from verilog_variants import simulators

from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.verilog.verilog_dataset import PATIENT
from rlvr_envs.generators.hardware.mutations import mutants
from rlvr_envs.generators.published.verilog_references import Unusable, reference_of
from rlvr_envs.generators.published.verilog_rows import renamed
from rlvr_envs.verifiers.hdl.bench_text import Bench, BenchRefused, read_bench
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.testbench import check_bench, judge_by_bench

MEASURED = (
    "problems of VerilogEval 2 as rows with a testbench alone: which are refused, and what the "
    "testbench says of the reference and of mutants, beside equivalence"
)
TOP = "TopModule"


def refusal(bench: Bench, reference: Reference) -> str:
    """Return why a row with this testbench would be refused; nothing where it would not."""
    try:
        check_bench(bench, TOP, reference.ports)
    except BenchRefused as error:
        return str(error)[:200]
    return ""


def measured(row: dict[str, Any], count: int) -> dict[str, Any]:
    """Return what is found about a problem."""
    source = renamed(row["ref"], {"RefModule": TOP})
    try:
        reference = reference_of(source, TOP)
    except Unusable as error:
        return {"id": row["task_id"], "refused": str(error)}
    bench = read_bench(f"{row['test']}\n{row['ref']}", TOP)
    started = time.perf_counter()
    refused = refusal(bench, reference)
    found: dict[str, Any] = {"id": row["task_id"], "refused": refused}
    found["check_s"] = round(time.perf_counter() - started, 2)
    if refused:
        return found

    def by_bench(answer: str) -> Verdict:
        return judge_by_bench(answer, bench, TOP, reference.ports)

    right = by_bench(source)
    found["reference"] = right.status.value
    found["says"] = "" if right.score else right.detail
    if not right.score:
        return found
    made = list(mutants(source))
    chosen = random.Random(row["task_id"]).sample(made, min(count, len(made)))  # noqa: S311
    found["mutants"] = [
        [judge(m.source, reference, deep=PATIENT).status.value, by_bench(m.source).status.value]
        for m in chosen
    ]
    return found


def summary(problems: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the counts of the document."""
    pairs = Counter(" / ".join(pair) for found in problems for pair in found.get("mutants", []))
    return {
        "problems": len(problems),
        "refused": {found["id"]: found["refused"][:120] for found in problems if found["refused"]},
        "references": dict(Counter(found.get("reference", "refused") for found in problems)),
        "check_median_s": statistics.median(f["check_s"] for f in problems if "check_s" in f),
        "mutants by equivalence / by testbench": dict(sorted(pairs.items())),
    }


def main() -> None:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "verilog_testbenches")
    parser.add_argument("--data", type=Path, required=True, help="JSONL of VerilogEval 2")
    parser.add_argument("--mutants", type=int, default=3, help="of each reference")
    parser.add_argument("--most", type=int, help="problems (default: all of the file)")
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.data.read_text("utf-8").splitlines() if line]
    problems = []
    for row in rows[: args.most]:
        problems.append(measured(row, args.mutants))
        print(row["task_id"], flush=True)
    head = results_file.head(MEASURED, "pyosys", data=args.data.name, mutants_of_each=args.mutants)
    head["versions"] |= simulators()
    figures = summary(problems)
    print(results_file.as_text(figures))
    results_file.store(args, head, figures, problems, whole=args.most is None)


if __name__ == "__main__":
    main()
