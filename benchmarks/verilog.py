"""What a check of the Verilog verifier costs, beside Icarus and Verilator.

For each family, designs are drawn and an answer to each is judged: the alternative source (right),
a mutant that a short simulation refutes (wrong), or a source with an error of syntax. Each is
judged once while nothing is known of the reference, and then again, as the further answers of a
group are. The first check of each process is the cold one: it starts the sandbox. CPU time is that
of this process and of the jobs in the sandbox; "with slots" is that of all processes below, from
/proc. The wall-clock time depends on what else runs.

Icarus simulates the golden design and the answer in one bench of 1,000 input vectors, whose making
is not counted. Verilator compiles for seconds, so it does that for some designs alone.

    python benchmarks/verilog.py

A family is measured in a process of its own, so that each has a cold check and a memory of its own.
"""

import os
import statistics
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fresh_process
import results_file
from verilog_variants import (
    Meter,
    drawn,
    family_names,
    has,
    inverted_output,
    simulated,
    simulators,
    some_mutants,
)

from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.sandboxes.base import Job, Result
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.verifiers.hdl.equivalence import decide, pair
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.source import Refusal

DIFFICULTY = 4
VECTORS = 1000
AGAIN = 2  # checks of an answer after the first
SEEDS = 2  # designs for each kind of answer
KINDS = ("right", "wrong", "compile error")
VERILATED = ("UpDownCounter", "Fifo")
MEASURED = (
    f"CPU seconds of checks of designs at difficulty {DIFFICULTY}, beside a simulation of "
    f"{VECTORS:,} vectors; new and known are about the reference"
)
TICK = os.sysconf("SC_CLK_TCK")

# What the design promises: measure, bound (at most).
TARGETS = (
    ("right, new reference, CPU s p50", 0.15),
    ("wrong, known reference, CPU s p50", 0.03),
    ("memory of a slot, MiB", 150.0),
)

Row = dict[str, Any]


def below(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += below(int(child))
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return found
    return found


def cpu_of_all() -> float:
    """Return CPU seconds of this process, of those below it and of those that ended there."""
    total = 0
    for pid in below(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return total / TICK


def memory() -> dict[str, float]:
    """Return MiB of this process and of the largest below it: resident, and its fair share."""
    rows = []
    for pid in below(os.getpid()):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n")
        except (FileNotFoundError, ProcessLookupError):  # a job that is just ending
            continue
        kib = {line.split()[0]: float(line.split()[1]) for line in lines[1:] if line}
        rows.append((kib["Rss:"] / 1024, kib["Pss:"] / 1024))
    slots = rows[1:] or [(0.0, 0.0)]
    return {
        "own_rss_mib": round(rows[0][0], 1),
        "slot_rss_mib": round(max(row[0] for row in slots), 1),
        "slots_pss_mib": round(sum(row[1] for row in slots), 1),
    }


def wrong_answer(design: Design, seed: int) -> str:
    """Return a mutant that a short simulation refutes."""
    rng = stream("verilog", "wrong", seed)
    for mutant in some_mutants(design, rng, 30):
        found = pair(mutant.source, design.reference)
        if not isinstance(found, Refusal) and decide(found).engine == "simulation":
            return mutant.source
    raise SystemExit(f"{design.title}: no mutant is refuted by simulation")


def answer(design: Design, kind: str, seed: int) -> str:
    """Return an answer of a kind."""
    if kind == "right":
        return design.alternative
    if kind == "wrong":
        return wrong_answer(design, seed)
    return design.golden.replace("endmodule", "assign = ;\nendmodule", 1)


def checked(design: Design, source: str, kind: str, meter: Meter) -> Row:
    """Return what one check costs; a verdict that is not the expected one ends the benchmark."""
    meter.start()
    verdict = judge(source, design.reference)
    row: Row = dict(meter.read())
    expected = Status.CORRECT if kind == "right" else Status.WRONG
    if verdict.status is not expected or ("compile" in kind) == bool(verdict.parts["compiles"]):
        raise SystemExit(f"{design.title}, {kind}: {verdict}")
    return row | {"cpu_s": round(row["jobs_cpu_s"] + row["own_cpu_s"], 5)}


def family(name: str) -> Row:
    """Measure a family."""
    meter, peak = Meter(), Peak()
    found: Row = {"cold": cold(name, meter)}
    for kind in KINDS:
        new: list[Row] = []
        known: list[Row] = []
        with_slots: list[float] = []
        for seed in range(1, SEEDS + 1):
            design = drawn(name, DIFFICULTY, 10 * seed + KINDS.index(kind))
            other = drawn(name, DIFFICULTY, 10 * seed + 100 + KINDS.index(kind))
            source = answer(design, kind, seed)
            if kind != "wrong":  # whose making has judged it already
                new.append(checked(design, source, kind, meter))
            else:
                new.append(unknown_reference(other, meter))
            before = cpu_of_all()
            known += [checked(design, source, kind, meter) for _ in range(AGAIN)]
            with_slots.append((cpu_of_all() - before) / AGAIN)
            if kind != "compile error":
                found.setdefault("icarus", []).append(beside(design, source, kind, "icarus"))
            if name in VERILATED and kind == "right" and seed == 1 and has("verilator"):
                found["verilator"] = [beside(design, source, kind, "verilator")]
        found[kind] = {"new": new, "known": known, "with slots": with_slots}
    return found | {"memory": memory() | {"job_peak_mib": peak.mib}}


class Peak:
    """The most memory that a job of a sandbox took."""

    def __init__(self) -> None:
        self.mib = 0.0
        run = Sandbox.run

        def watched(sandbox: Sandbox, job: Job) -> Result:
            result = run(sandbox, job)
            self.mib = max(self.mib, round(result.peak_memory_mib, 1))
            return result

        Sandbox.run = watched  # type: ignore[method-assign, assignment]


def cold(name: str, meter: Meter) -> Row:
    """Return what the first check of a process costs, the start of the sandbox included."""
    design = drawn(name, DIFFICULTY, 0)
    begin = cpu_of_all()
    row = checked(design, design.alternative, "right", meter)
    return row | {"cpu_s": round(cpu_of_all() - begin, 3)}


def unknown_reference(design: Design, meter: Meter) -> Row:
    """Return what it costs to refute a wrong answer to a problem that was not judged before.

    Which mutant a simulation refutes is not known before it is judged, so the golden design with
    an output inverted stands for one.
    """
    return checked(design, inverted_output(design), "wrong", meter)


def beside(design: Design, source: str, kind: str, tool: str) -> Row:
    """Return what a simulator costs and says."""
    seen = simulated(source, design.reference, runs=1, cycles=VECTORS, tool=tool)
    agrees = seen.read and (bool(seen.different) == (kind == "wrong"))
    return {
        "kind": kind,
        "cpu_s": round(seen.cpu_s, 5),
        "compile_cpu_s": round(seen.compiled_s, 5),
        "wall_s": round(seen.wall_s, 5),
        "read": seen.read,
        "agrees": agrees,
    }


# --- the summary ----------------------------------------------------------------------------


def spread(rows: list[Row]) -> Row:
    """Return percentiles of CPU and wall-clock time, and checks a second of CPU."""
    found: Row = {"checks": len(rows)}
    for key, told in (("cpu_s", "CPU s"), ("wall_s", "wall s")):
        values = sorted(row[key] for row in rows)
        found[f"{told} p50"] = round(statistics.median(values), 4)
        found[f"{told} p90"] = round(values[min(len(values) - 1, int(0.9 * len(values)))], 4)
    found["checks a CPU second"] = round(len(rows) / max(sum(r["cpu_s"] for r in rows), 1e-9), 1)
    found["CPU s of this process p50"] = round(
        statistics.median(row.get("own_cpu_s", 0.0) for row in rows), 4
    )
    return found


def checks(families: dict[str, Row]) -> Row:
    """Return the spread of each kind of check over all families."""
    every = list(families.values())
    found = {"right, cold": spread([family["cold"] for family in every])}
    for kind in KINDS:
        rows: list[Row] = []
        for age in ("new", "known"):
            rows = [row for family in every for row in family[kind][age]]
            found[f"{kind}, {age} reference"] = spread(rows)
        spent = [seconds for family in every for seconds in family[kind]["with slots"]]
        row = found[f"{kind}, known reference"]
        row["CPU s mean"] = round(statistics.fmean(r["cpu_s"] for r in rows), 4)
        row["CPU s mean with slots"] = round(statistics.fmean(spent), 4)
    for tool in ("icarus", "verilator"):
        rows = [row for family in every for row in family.get(tool, [])]
        for kind in KINDS[:2]:
            read = [row for row in rows if row["read"] and row["kind"] == kind]
            if read:
                asked = sum(row["kind"] == kind for row in rows)
                agrees = sum(row["agrees"] for row in read)
                found[f"{tool}, {kind}"] = spread(read) | {"asked": asked, "agrees": agrees}
    return found


def memories(families: dict[str, Row]) -> Row:
    """Return the largest of each figure of memory."""
    rows = [family["memory"] for family in families.values()]
    return {key: max(row[key] for row in rows) for key in rows[0]}


def targets(every: Row, largest: Row) -> Row:
    """Return for each target what was measured and whether that is within it."""
    found = {}
    for name, bound in TARGETS:
        if name.startswith("memory"):
            value = largest["slot_rss_mib"]
        else:
            row, _, measure = name.rpartition(", ")
            value = every[row][measure]
        found[name] = {"bound": bound, "measured": value, "within": value <= bound}
    return found


def figures_of(families: dict[str, Row]) -> Row:
    """Return what the families have in common, and the median of each for some checks."""
    every, largest = checks(families), memories(families)
    return {
        "checks": results_file.table(every),
        "largest memory": largest,
        "targets": targets(every, largest),
        "CPU s p50 by family": {
            f"{kind}, {age} reference": {
                name: round(statistics.median(row["cpu_s"] for row in found[kind][age]), 4)
                for name, found in sorted(families.items())
            }
            for kind, age in (("right", "new"), ("wrong", "known"), ("compile error", "known"))
        },
    }


def main() -> int:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "verilog")
    parser.add_argument("--families", nargs="*", help="names (default: every family)")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    args = parser.parse_args()
    names = args.families or family_names()
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda name: fresh_process.measured(__file__, name), names))
    found = dict(zip(names, rows, strict=True))
    families = {name: row for name, row in found.items() if "fault" not in row}
    faults = {name: row["fault"] for name, row in found.items() if "fault" in row}
    if not families:
        raise SystemExit(f"no family could be measured: {faults}")
    head = results_file.head(MEASURED, "pyosys")
    head["versions"] |= simulators()
    figures = figures_of(families) | {"faults": faults}
    print(results_file.as_text(figures))
    results_file.store(args, head, figures, found, whole=not args.families)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(0 if fresh_process.asked(family) else main())
