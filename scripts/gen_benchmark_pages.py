"""Write docs/results/: tables and a report page for each suite of `rlvr bench` with results."""

import shutil
from pathlib import Path

from rlvr_envs.bench.compare import Comparison, aggregates, compare, compared
from rlvr_envs.bench.entries import gather
from rlvr_envs.bench.report import markdown, write_report
from rlvr_envs.bench.results import Run, read_runs
from rlvr_envs.bench.suite import Suite, load
from rlvr_envs.evaluation.table import Table

ROOT = Path(__file__).resolve().parents[1]
LEADERBOARD = ROOT / "leaderboard"
FOLDER = ROOT / "docs" / "results"
BESIDE = "default"  # the algorithm that entries of some experiments are compared with


def main() -> None:
    """Write every page anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    suites: list[Suite] = []
    for folder in sorted(path for path in LEADERBOARD.iterdir() if path.is_dir()):
        suite = load(folder.name)
        entries = [read_runs(path.parent) for path in sorted(folder.glob("*/runs.jsonl"))]
        gathered = gather(suite, whole(suite, entries))
        comparison = compared(gathered)
        text = page(suite, entries, comparison)
        (FOLDER / f"{suite.name}.md").write_text(text, encoding="utf-8")
        write_report(comparison, gathered, FOLDER / f"{suite.name}-report.html")
        suites.append(suite)
    (FOLDER / "index.md").write_text(index(suites), encoding="utf-8")
    print(f"wrote the results of {len(suites)} suites")


def index(suites: list[Suite]) -> str:
    """Return the page that leads to those of the suites."""
    lines = [f"- [{suite.name}]({suite.name}.md): {suite.title}" for suite in suites]
    found = "\n".join(lines) or "The suites of this version have no results yet."
    about = "[Benchmarking algorithms](../benchmark.md) explains how they are measured."
    return f"# Results of the benchmark\n\n{found}\n\n{about}\n"


def whole(suite: Suite, entries: list[list[Run]]) -> list[list[Run]]:
    """Return the entries that have all experiments with all seeds."""
    return [each for each in entries if len(each) == len(suite.experiments) * len(suite.seeds)]


def page(suite: Suite, entries: list[list[Run]], comparison: Comparison) -> str:
    """Return the page of a suite in Markdown, with the comparison of its complete entries."""
    complete = whole(suite, entries)
    parts = [
        f"# Results on {suite.name}",
        about(suite, entries),
        f"## Algorithms\n\n{standings(comparison)}",
        f"## Experiments\n\nMean scores as they were measured.\n\n{by_experiment(comparison)}",
    ]
    partial = [each for each in entries if each not in complete]
    if partial:
        parts.append(f"## Trainers of others\n\n{beside(suite, complete, partial)}")
    return "\n\n".join(parts) + "\n"


def about(suite: Suite, entries: list[list[Run]]) -> str:
    """Return what was run, and what it cost."""
    runs = [run for entry in entries for run in entry]
    minutes = sum(run.cpu_s or 0 for run in runs) / 60
    memory = max(run.memory_mib or 0 for run in runs) / 1024
    state = f"draft {suite.draft}" if suite.status == "draft" else "frozen"
    return (
        f"{suite.title} ({state}, hash `{suite.hash:.12}`). {len(runs):,} runs of {len(entries)} "
        f"algorithms took {minutes:,.0f} CPU minutes; the largest process took {memory:.1f} GiB. "
        f"[The report]({suite.name}-report.html) has curves, pairs, profiles and all settings. The "
        "entries are in `leaderboard/`, each with its responses; "
        "[the protocol](../benchmark.md) says how they were made."
    )


def standings(comparison: Comparison) -> str:
    """Return the aggregates of a comparison on both tracks."""
    return "\n\n".join(
        markdown(aggregates(comparison, track, ("iqm",))) for track in comparison.rankings
    )


def by_experiment(comparison: Comparison) -> str:
    """Return the mean score of each algorithm in each experiment, at equal samples."""
    ranking = comparison.rankings["samples"]
    rows = [["*start*", *(f"{score:.3f}" for score in comparison.start.values())]]
    for each in ranking.standings:
        means = (ranking.experiments[name][each.algorithm].mean for name in comparison.start)
        rows.append([each.algorithm, *(f"{mean:.3f}" for mean in means)])
    return markdown(Table(["equal samples", *comparison.start], rows))


def beside(suite: Suite, complete: list[list[Run]], partial: list[list[Run]]) -> str:
    """Return entries that have some runs only, beside ours on the runs that all of them have."""
    ours = [each for each in complete if each[0].algorithm.name == BESIDE]
    comparison = compare(suite, [*ours, *partial], common=True)
    named = ", ".join(comparison.start)
    return f"On the runs that all of them have, of {named}.\n\n{standings(comparison)}"


if __name__ == "__main__":
    main()
