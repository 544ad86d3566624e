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

In the end docs/verilog_soundness.md is written from the summary, which for that has a line for each
family.
"""

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import results_file
from verilog_variants import (
    BOMBS,
    Meter,
    Seen,
    Variant,
    bombs,
    drawn,
    family_names,
    has,
    rewrites,
    simulated,
    simulators,
    some_mutants,
    trojans,
)

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.verifiers.hdl.equivalence import decide, pair
from rlvr_envs.verifiers.hdl.source import Refusal

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "verilog_soundness.md"
DIFFICULTIES = (2, 4, 6)
LEVELS = range(11)
MUTANTS = 12
RUNS, CYCLES = 4, 1500  # of Icarus
MEASURED = (
    "wrong and right versions of designs of every family, judged by the Verilog verifier, and what "
    "Icarus says of those taken for equivalent"
)

Row = dict[str, Any]


def variants(name: str, difficulty: int) -> tuple[Design, list[Variant]]:
    """Return a design of a family and the versions of it that are judged; always the same."""
    design = drawn(name, difficulty, 0)
    rng = stream("verilog_soundness", name, difficulty)
    found = [*rewrites(design), *some_mutants(design, rng, MUTANTS), *trojans(design, rng)]
    # What takes longest is tried on the smaller design alone.
    found += bombs(design, BOMBS) if difficulty == DIFFICULTIES[0] else []
    return design, found


@cache
def meter() -> Meter:
    """Return this process's meter."""
    return Meter()


def judged(design: Design, variant: Variant) -> Row:
    """Return what is found out about a version, and what that costs."""
    meter().start()
    found = pair(variant.source, design.reference)
    outcome = None if isinstance(found, Refusal) else decide(found)
    row: Row = {"kind": variant.kind, "name": variant.name} | meter().read()
    if isinstance(found, Refusal):
        verdict = "fault" if found.stage == "fault" else "refused"  # of the machine, or the text
        return row | {"verdict": verdict, "by": found.stage, "detail": found.detail[:200]}
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


def versions(name: str, difficulty: int) -> list[Row]:
    """Judge the versions of a design."""
    rows = []
    design, found = variants(name, difficulty)
    for variant in found:
        row = judged(design, variant)
        if row["verdict"] in ACCEPTED and variant.kind != "bomb" and has("icarus"):
            row |= second_opinion(design, variant)
        rows.append(row)
    return rows


def alternatives(name: str, seed: int) -> list[Row]:
    """Judge the alternatives of a family at all difficulties."""
    rows = []
    for difficulty in LEVELS:
        design = drawn(name, difficulty, seed)
        variant = Variant("rewrite", f"difficulty {difficulty}", design.alternative)
        rows.append(judged(design, variant))
    return rows


PARTS = {"versions": versions, "alternatives": alternatives}


def measured(job: tuple[str, str, int]) -> list[Row]:
    """Return the rows of a part."""
    part, name, number = job
    rows = PARTS[part](name, number)
    counts = dict(Counter(row["verdict"] for row in rows))
    print(part, name, number, counts, "contradictions", contradictions(rows), flush=True)
    return rows


def jobs(names: list[str], difficulties: list[int], seeds: int) -> Iterator[tuple[str, str, int]]:
    """Yield what is to be measured: part, family and difficulty or seed."""
    for name in names:
        yield from (("versions", name, difficulty) for difficulty in difficulties)
        yield from (("alternatives", name, seed) for seed in range(seeds))


# --- the summary ----------------------------------------------------------------------------

ACCEPTED = ("proved", "bounded")
STAGES = {
    "simulation": ("simulation",),
    "all inputs": ("all inputs",),
    "proof": ("hashing", "sweep", "iprove", "sat", "pdr", "bmc"),
    "long simulation": ("long simulation",),
}


def counted(rows: list[Row]) -> Row:
    """Return the counts of versions that are no rewrites."""
    differing = [row for row in rows if row["verdict"] == "differs"]
    found: Row = {"do not compile": sum(row["verdict"] == "refused" for row in rows)}
    for stage, engines in STAGES.items():
        found[stage] = sum(row["by"] in engines for row in differing)
    names = {"proved": "equal, proved", "bounded": "equal, bounded"}
    for verdict in ("proved", "bounded", "not shown"):
        found[names.get(verdict, verdict)] = sum(row["verdict"] == verdict for row in rows)
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


def of_family(rows: list[Row], others: list[Row]) -> Row:
    """Return the counts of a family's versions, and of its alternatives with their CPU seconds."""
    wrong = [row for row in rows if row["kind"] != "rewrite"]
    right = [row for row in rows if row["kind"] == "rewrite"]
    kinds = Counter(row["kind"] for row in wrong)
    verdicts = Counter(row["verdict"] for row in others)
    spent = cpu(others) or [0.0]
    accepted = sum(verdicts[verdict] for verdict in ACCEPTED)
    return {
        **{f"{kind}s": kinds[kind] for kind in ("mutant", "trojan", "bomb")},
        **counted(wrong),
        "rewrites": len(right),
        "rewrites accepted": sum(row["verdict"] in ACCEPTED for row in right),
        "contradictions": contradictions(rows),
        "alternatives": len(others),
        "alternatives proved": verdicts["proved"],
        "alternatives bounded": verdicts["bounded"],
        "alternatives, anything else": len(others) - accepted,
        "CPU s median": round(quantile(spent, 0.5), 5),
        "CPU s p90": round(quantile(spent, 0.9), 5),
        "CPU s longest": round(max(spent), 5),
    }


def opinions(rows: list[Row]) -> Row:
    """Return what Icarus says about versions of each kind that were taken for equivalent."""
    found = {}
    for kind in ("mutant", "trojan", "rewrite"):
        asked = [row for row in rows if row["kind"] == kind and "icarus" in row]
        same = [row for row in asked if row["icarus"] == "same"]
        clean = sum(not row["unknown"] for row in same)
        found[kind] = {
            "taken for equivalent": len(asked),
            "the same in Icarus": clean,
            "x in Icarus, else the same": len(same) - clean,
            "not read by Icarus": sum(row["icarus"] == "not read" for row in asked),
            "differs in Icarus, the same in Verilator": sum(
                row.get("verilator") == "same" for row in asked
            ),
            "contradictions": contradictions(asked),
        }
    return results_file.table(found)


def late(rows: list[Row]) -> int:
    """Return how many wrong versions passed with more than twice the reference's state."""
    passed = [r for r in rows if r["kind"] in ("trojan", "bomb") and r["verdict"] in ACCEPTED]
    return sum(row["state_bits"][0] > 2 * row["state_bits"][1] for row in passed)


def summary(raw: dict[str, dict[str, dict[str, list[Row]]]]) -> Row:
    """Return the counts by kind of version, by family, and over all."""
    own, other = (
        {name: list(chain.from_iterable(found.values())) for name, found in raw[part].items()}
        for part in PARTS
    )
    names = sorted(own | other)
    rows = [row for name in raw["versions"] for row in own[name]]
    rest = [row for found in other.values() for row in found]
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] != "rewrite":
            name = "mutant" if row["kind"] == "mutant" else f"{row['kind']}: {row['name']}"
            kinds.setdefault(name, []).append(row)
    return {
        "faults": sum(row["verdict"] == "fault" for row in rows + rest),
        "passed with more than twice the state": late(rows),
        "Icarus": opinions(rows),
        "by kind": results_file.table(
            {k: {"judged": len(v), **counted(v)} for k, v in kinds.items()}
        ),
        "by family": results_file.table(
            {name: of_family(own.get(name, []), other.get(name, [])) for name in names}
            | {ALL: of_family(rows, rest)}
        ),
    }


# --- the page -------------------------------------------------------------------------------

ALL = "**all**"


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    """Return a Markdown table."""
    text = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *text]


def by_family(rows: dict[str, Row]) -> list[str]:
    """Return the table of mutants, trojans and bombs by family."""
    counts = ["do not compile", *STAGES, "equal, proved", "equal, bounded", "not shown"]
    head = ["family", "mutants, trojans, bombs", *counts, "rewrites accepted", "contradictions"]
    return table(
        head,
        [
            [
                name,
                ", ".join(str(row[kind]) for kind in ("mutants", "trojans", "bombs")),
                *(row[count] for count in counts),
                f"{row['rewrites accepted']} of {row['rewrites']}",
                row["contradictions"],
            ]
            for name, row in rows.items()
        ],
    )


def of_alternatives(rows: dict[str, Row]) -> list[str]:
    """Return the table of golden designs against their alternatives."""
    counts = ["alternatives", "alternatives proved", "alternatives bounded"]
    counts.append("alternatives, anything else")
    times = ["CPU s median", "CPU s p90", "CPU s longest"]
    return table(
        ["family", "checks", "proved", "bounded", "anything else", *times],
        [
            [name, *(row[count] for count in counts), *(f"{row[time]:.2f}" for time in times)]
            for name, row in rows.items()
        ],
    )


def page(command: str, found: Row) -> str:
    """Return the documentation page of some figures."""
    families = results_file.rows_of(found["by family"])
    kinds = found["by kind"]
    cycles = f"{RUNS} runs of {CYCLES:,} cycles"
    text = [
        "# Whether the Verilog verifier is sound",
        "",
        "Wrong versions of designs are judged, and right ones, for every family of designs at",
        f"difficulties {', '.join(map(str, DIFFICULTIES))} (bombs at {DIFFICULTIES[0]} alone).",
        "`benchmarks/verilog_soundness.py` says what they are, and",
        "`benchmarks/results/verilog_soundness.json` holds these counts. A run also writes every",
        "verdict and its CPU time, to `verilog_soundness.raw.json` beside it.",
        "",
        f"    {command}",
        "",
        "## By kind",
        "",
        "A mutant may be equivalent by chance; a trojan or a bomb never is. The columns from",
        "*simulation* to *long simulation* say at which stage a difference was shown. *Not shown*",
        "earns nothing either: nothing was found, but the answer holds more state than it may.",
        "",
        *table(["version", *kinds["columns"]], [[k, *row] for k, row in kinds["rows"].items()]),
        "",
        "A bomb of 100,000 cycles is beyond the longest simulation. Where the proof stays open, it",
        "is left undecided, since its spare state counts further than the cycles that were",
        "simulated.",
        "",
        "## What Icarus says",
        "",
        f"Versions that were taken for equivalent, in {cycles} beside the golden design. A",
        "contradiction is a cycle in which both outputs are 0 or 1 and differ, in Icarus and in",
        "Verilator, which is asked where Icarus sees a difference.",
        "",
        *table(
            ["version", *found["Icarus"]["columns"]],
            [[kind, *row] for kind, row in found["Icarus"]["rows"].items()],
        ),
        "",
        "Icarus 11 differs alone where `always_comb` changes parts of a packed array, which it",
        "gets wrong, and where a comparison that always holds reads an x.",
        "",
        "## By family",
        "",
        *by_family(families),
        "",
        "## Golden designs against their alternatives",
        "",
        f"At difficulties {LEVELS[0]} to {LEVELS[-1]}, with the CPU time of one check: both",
        "elaborations, simulation and proof.",
        "",
        *of_alternatives(families),
    ]
    return "\n".join(text) + "\n"


def main() -> int:
    """Measure, store, and write the page."""
    parser = results_file.parser(__doc__, "verilog_soundness")
    parser.add_argument("--families", nargs="*", help="names (default: every family)")
    parser.add_argument("--difficulties", nargs="*", type=int, default=list(DIFFICULTIES))
    parser.add_argument("--seeds", type=int, default=2, help="designs a difficulty, alternatives")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--page", type=Path, help=f"default: {PAGE.name}, of a whole run alone")
    args = parser.parse_args()
    todo = list(jobs(args.families or family_names(), args.difficulties, args.seeds))
    raw: dict[str, dict[str, dict[str, list[Row]]]] = {"versions": {}, "alternatives": {}}
    with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        for (part, name, number), rows in zip(todo, pool.map(measured, todo), strict=True):
            raw[part].setdefault(name, {})[str(number)] = rows
    head = results_file.head(MEASURED, "pyosys")
    head["versions"] |= simulators()
    figures = summary(raw)
    whole = not args.families and tuple(args.difficulties) == DIFFICULTIES and args.seeds > 1
    results_file.store(args, head, figures, raw, whole=whole)
    target = args.page or (PAGE if whole and not args.out else None)
    if target:
        target.write_text(page(head["command"], figures), encoding="utf-8")
    return 1 if figures["faults"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
