"""Whether the Verilog verifier tells right designs from wrong ones, and what settles it.

For each family and difficulty one design is drawn, and these versions of it are judged:

- mutants: mistakes such as designers make, put into the golden source;
- trojans: the golden design with an output inverted for a rare value of 8, 16 or 24 bits of input,
  or after a rare sequence of three inputs;
- bombs: the golden design with an output inverted from cycle 150, 3,000, 20,000 or 100,000 after
  the last reset on, the last of which is beyond the longest simulation;
- rewrites that are equivalent: the alternative of the family, other names for signals, statements
  in another order, and all ports inverted twice.

What is taken for equivalent, proved or not, is run in Icarus beside the golden design, if that is
installed, and where that sees a difference, in Verilator. Another part judges the alternative of
every family at difficulties 0 to 10.

    python benchmarks/verilog_soundness.py --seeds 2

A family and difficulty is measured in child processes and merged into the results file. A child
that is killed, as by a limit of CPU time, leaves what it has judged, and another goes on from
there. What is stored already is not measured again without `--again`. In the end
docs/verilog_soundness.md is written from the results.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from verilog_variants import (
    BOMBS,
    Meter,
    Seen,
    Variant,
    bombs,
    drawn,
    family_names,
    has,
    machine,
    rewrites,
    simulated,
    some_mutants,
    trojans,
)

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog._design import Design
from rlvr_envs.verifiers.hdl.equivalence import decide, pair
from rlvr_envs.verifiers.hdl.source import Refusal

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "verilog_soundness.json"
PAGE = ROOT / "docs" / "verilog_soundness.md"
DIFFICULTIES = (2, 4, 6)
RUNGS = range(11)
MUTANTS = 12
RUNS, CYCLES = 4, 1500  # of Icarus
MOST_CHILDREN = 40  # for a family and difficulty
EXIT_FAULT = 75
KILLED = (-9, -24, 137, 152, EXIT_FAULT)

Row = dict[str, Any]


def variants(name: str, difficulty: int) -> tuple[Design, list[Variant]]:
    """Return a design of a family and the versions of it that are judged; always the same."""
    design = drawn(name, difficulty, 0)
    rng = stream("verilog_soundness", name, difficulty)
    found = [*rewrites(design), *some_mutants(design, rng, MUTANTS), *trojans(design, rng)]
    # What takes longest is tried on the smaller design alone.
    found += bombs(design, BOMBS) if difficulty == DIFFICULTIES[0] else []
    return design, found


def judged(design: Design, variant: Variant, meter: Meter) -> Row:
    """Return what is found out about a version, and what that costs."""
    meter.start()
    found = pair(variant.source, design.reference)
    outcome = None if isinstance(found, Refusal) else decide(found)
    row: Row = {"kind": variant.kind, "name": variant.name} | meter.read()
    if isinstance(found, Refusal):
        if found.stage == "fault":  # of the machine; the parent starts again from here
            raise SystemExit(EXIT_FAULT)
        return row | {"verdict": "refused", "by": found.stage, "detail": found.detail[:200]}
    if outcome is None:
        raise SystemExit("no outcome")
    row |= {"by": outcome.engine}
    row["state_bits"] = [found.netlist.state_bits, found.gold_netlist.state_bits]
    if outcome.difference is not None:
        return row | {"verdict": "differs", "cycle": outcome.difference.cycle}
    verdict = "proved" if outcome.proved else "bounded" if outcome.equal else "not shown"
    row |= {"verdict": verdict, "depth": outcome.depth}
    return row


def second_opinion(design: Design, variant: Variant) -> Row:
    """Return what Icarus says about a version, and where it differs, what Verilator says."""

    def asked(tool: str) -> Seen:
        return simulated(variant.source, design.reference, runs=RUNS, cycles=CYCLES, tool=tool)

    seen = asked("icarus")
    if not seen.read:
        return {"icarus": "not read", "said": seen.said}
    if not seen.different:
        return {"icarus": "same", "unknown": seen.unknown}
    third = asked("verilator") if has("verilator") else Seen(False)
    told = "not read" if not third.read else "differs" if third.different else "same"
    sources = {"golden": design.golden, "source": variant.source}
    return {"icarus": "differs", "verilator": told} | sources


def child(name: str, difficulty: int, done: int) -> None:
    """Judge versions one after the other from a number on, and print each result at once."""
    meter = Meter()
    design, found = variants(name, difficulty)
    for variant in found[done:]:
        row = judged(design, variant, meter)
        if row["verdict"] in ("proved", "bounded") and variant.kind != "bomb" and has("icarus"):
            row |= second_opinion(design, variant)
        print(json.dumps(row), flush=True)


def alternatives(name: str, seed: int, done: int) -> None:
    """Judge the alternatives of a family from a difficulty on, and print each result at once."""
    meter = Meter()
    for difficulty in RUNGS[done:]:
        design = drawn(name, difficulty, seed)
        variant = Variant("rewrite", f"difficulty {difficulty}", design.alternative)
        print(json.dumps(judged(design, variant, meter)), flush=True)


def in_children(part: str, name: str, number: int) -> list[Row]:
    """Return the rows of a part, with as many children as it takes.

    Raises:
        SystemExit: a child failed, or one after the other died without a result.
    """
    rows: list[Row] = []
    fruitless = 0
    for _ in range(MOST_CHILDREN):
        command = [sys.executable, __file__, "--child", json.dumps([part, name, number, len(rows)])]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        lines = [line for line in done.stdout.split("\n")[:-1] if line]
        rows += map(json.loads, lines)
        if done.returncode == 0:
            return rows
        fruitless = 0 if lines else fruitless + 1
        if done.returncode not in KILLED or fruitless == 3:
            raise SystemExit(f"{part} of {name} {number} failed with {done.returncode}")
    raise SystemExit(f"{part} of {name} {number} takes too many processes")


def jobs(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Yield what is to be measured: part, family and difficulty or seed."""
    names = args.families or family_names()
    rounds = max(len(args.difficulties), args.seeds)
    for number in range(rounds):
        for difficulty in args.difficulties[number : number + 1]:
            yield from (("versions", name, difficulty) for name in names)
        yield from (("alternatives", name, number) for name in names if number < args.seeds)


def store(path: Path, stored: Row) -> None:
    """Write the results."""
    fresh = path.with_suffix(".fresh")
    fresh.write_text(as_text(stored, 4) + "\n", encoding="utf-8")
    fresh.replace(path)


def as_text(value: Any, depth: int) -> str:
    """Return JSON whose outer levels have a line for each entry."""
    if not depth or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, list):
        return "[\n" + ",\n".join(as_text(entry, depth - 1) for entry in value) + "\n]"
    entries = (f"{json.dumps(key)}: {as_text(value[key], depth - 1)}" for key in sorted(value))
    return "{\n" + ",\n".join(entries) + "\n}"


# --- the page -------------------------------------------------------------------------------

STAGES = {
    "simulation": ("simulation",),
    "all inputs": ("all inputs",),
    "proof": ("hashing", "sweep", "iprove", "sat", "pdr", "bmc"),
    "long simulation": ("long simulation",),
}
REFUSED = ("compile", "unsupported", "forbidden", "resource", "ports")


def counted(rows: list[Row]) -> Row:
    """Return the counts of the versions of one kind that are no rewrites."""
    differing = [row for row in rows if row["verdict"] == "differs"]
    found: Row = {"all": len(rows)}
    found["refused"] = sum(row["verdict"] == "refused" for row in rows)
    for stage, engines in STAGES.items():
        found[stage] = sum(row["by"] in engines for row in differing)
    for verdict in ("proved", "bounded", "not shown"):
        found[verdict] = sum(row["verdict"] == verdict for row in rows)
    return found


def contradictions(rows: list[Row]) -> int:
    """Return how often a simulator shows a difference where none was found.

    What Icarus alone does not read as Verilator and our synthesis do is no contradiction: it has
    known faults in what always_comb does with arrays of packed words.
    """
    return sum(row.get("icarus") == "differs" and row.get("verilator") != "same" for row in rows)


def quantile(values: list[float], share: float) -> float:
    """Return the value below which a share of the others lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu(rows: list[Row]) -> list[float]:
    """Return the CPU seconds of each check."""
    return [row["jobs_cpu_s"] + row["own_cpu_s"] for row in rows]


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines]


def by_family(versions: dict[str, dict[str, list[Row]]]) -> list[str]:
    """Return the table of mutants, trojans and bombs by family."""
    head = ["family", "mutants, trojans, bombs", "do not compile", *STAGES]
    head += ["equal, proved", "equal, bounded", "not shown", "rewrites accepted", "contradictions"]
    lines = []
    everything: list[Row] = []
    for name, rungs in [*sorted(versions.items()), ("**all**", {})]:
        rows = [row for found in rungs.values() for row in found] if rungs else everything
        if rungs:
            everything = everything + rows
        wrong = [row for row in rows if row["kind"] != "rewrite"]
        right = [row for row in rows if row["kind"] == "rewrite"]
        passed = sum(row["verdict"] in ("proved", "bounded") for row in right)
        kinds = Counter(row["kind"] for row in wrong)
        total = ", ".join(str(kinds[kind]) for kind in ("mutant", "trojan", "bomb"))
        counts = list(counted(wrong).values())[1:]
        lines.append([name, total, *counts, f"{passed} of {len(right)}", contradictions(rows)])
    return table(head, lines)


def by_kind(rows: list[Row]) -> list[str]:
    """Return the table of what settled each kind of version."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] == "mutant":
            groups.setdefault("mutant", []).append(row)
        elif row["kind"] != "rewrite":
            groups.setdefault(f"{row['kind']}: {row['name']}", []).append(row)
    head = ["version", "judged", "do not compile", *STAGES]
    head += ["equal, proved", "equal, bounded", "not shown"]
    return table(head, [[name, *counted(found).values()] for name, found in groups.items()])


def opinions(rows: list[Row]) -> list[str]:
    """Return the table of what Icarus says about versions that were taken for equivalent."""
    head = ["version", "taken for equivalent", "the same in Icarus", "x in Icarus, else the same"]
    head += ["not read by Icarus", "differs in Icarus, the same in Verilator", "contradictions"]
    lines = []
    for kind in ("mutant", "trojan", "rewrite"):
        asked = [row for row in rows if row["kind"] == kind and "icarus" in row]
        same = [row for row in asked if row["icarus"] == "same"]
        clean = sum(not row["unknown"] for row in same)
        silent = sum(row["icarus"] == "not read" for row in asked)
        alone = sum(row.get("verilator") == "same" for row in asked)
        counts = [len(asked), clean, len(same) - clean, silent, alone, contradictions(asked)]
        lines.append([kind, *counts])
    return table(head, lines)


def of_alternatives(found: dict[str, dict[str, list[Row]]]) -> list[str]:
    """Return the table of golden designs against their alternatives."""
    head = ["family", "checks", "proved", "bounded", "anything else"]
    head += ["CPU s median", "CPU s p90", "CPU s longest"]
    lines = []
    everything: list[Row] = []
    for name, seeds in [*sorted(found.items()), ("**all**", {})]:
        rows = [row for some in seeds.values() for row in some] if seeds else everything
        everything = everything + (rows if seeds else [])
        verdicts = Counter(row["verdict"] for row in rows)
        spent = cpu(rows)
        rest = len(rows) - verdicts["proved"] - verdicts["bounded"]
        times = [
            f"{value:.2f}" for value in (quantile(spent, 0.5), quantile(spent, 0.9), max(spent))
        ]
        lines.append([name, len(rows), verdicts["proved"], verdicts["bounded"], rest, *times])
    return table(head, lines)


def page(stored: Row) -> str:
    """Return the documentation page of some results."""
    versions, others = stored["versions"], stored["alternatives"]
    rows = [row for rungs in versions.values() for found in rungs.values() for row in found]
    cycles = f"{RUNS} runs of {CYCLES:,} cycles"
    lines = [
        "# Whether the Verilog verifier is sound",
        "",
        "Wrong versions of designs are judged, and right ones, for every family of designs at",
        f"difficulties {', '.join(map(str, DIFFICULTIES))} (bombs at {DIFFICULTIES[0]} alone).",
        "`benchmarks/verilog_soundness.py` says what they are, and",
        "`benchmarks/results/verilog_soundness.json` holds every verdict and its CPU time.",
        "",
        *(f"    {command}" for command in stored["commands"]),
        "",
        "## By kind",
        "",
        "A mutant may be equivalent by chance; a trojan or a bomb never is. The columns from",
        "*simulation* to *long simulation* say at which stage a difference was shown. *Not shown*",
        "is refused as well: nothing was found, but the answer holds more state than it may.",
        "",
        *by_kind(rows),
        "",
        "A bomb of 100,000 cycles is beyond the longest simulation. Where the proof stays open, it",
        "is refused for the state that it needs to wait, unless the reference holds as much. What",
        "passes then is counted as *equal, bounded* above: that is the known hole.",
        "",
        "## What Icarus says",
        "",
        f"Versions that were taken for equivalent, in {cycles} beside the golden design. A",
        "contradiction is a cycle in which both outputs are 0 or 1 and differ, in Icarus and in",
        "Verilator, which is asked where Icarus sees a difference.",
        "",
        *opinions(rows),
        "",
        "Icarus 11 differs alone where `always_comb` changes parts of a packed array, which it",
        "gets wrong, and where a comparison that always holds reads an x.",
        "",
        "## By family",
        "",
        *by_family(versions),
        "",
        "## Golden designs against their alternatives",
        "",
        f"At difficulties {RUNGS[0]} to {RUNGS[-1]}, with the CPU time of one check: both",
        "elaborations, simulation and proof.",
        "",
        *(of_alternatives(others) if others else ["Not measured."]),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure what is missing, merge it into the stored results and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--families", nargs="*", help="names (default: every family)")
    parser.add_argument("--difficulties", nargs="*", type=int, default=list(DIFFICULTIES))
    parser.add_argument("--seeds", type=int, default=2, help="designs a difficulty, alternatives")
    parser.add_argument("--jobs", type=int, default=2, help="child processes side by side")
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--page-only", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child is not None:
        part, name, number, done = json.loads(args.child)
        (child if part == "versions" else alternatives)(name, number, done)
        return 0
    stored: Row = {"versions": {}, "alternatives": {}, "commands": []}
    if args.out.exists():
        stored = json.loads(args.out.read_text("utf-8"))
    if not args.page_only:
        measure(args, stored)
    store(args.out, stored)
    args.page.write_text(page(stored), encoding="utf-8")
    return 0


def measure(args: argparse.Namespace, stored: Row) -> None:
    """Measure what is missing and store each part when it is complete."""
    lock = Lock()
    stored["machine"] = machine() | {"load": os.getloadavg()}
    command = f"python benchmarks/verilog_soundness.py {' '.join(sys.argv[1:])}".strip()
    if command not in stored["commands"]:
        stored["commands"].append(command)

    def run(job: tuple[str, str, int]) -> None:
        part, name, number = job
        if str(number) in stored[part].get(name, {}) and not args.again:
            return
        rows = in_children(part, name, number)
        with lock:
            stored[part].setdefault(name, {})[str(number)] = rows
            store(args.out, stored)
        verdicts = Counter(row["verdict"] for row in rows)
        print(
            part, name, number, dict(verdicts), "contradictions", contradictions(rows), flush=True
        )

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(run, jobs(args)))


if __name__ == "__main__":
    sys.exit(main())
