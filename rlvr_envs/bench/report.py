"""The report of a benchmark: a page of HTML that needs nothing else, and a table in Markdown."""

import html
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rlvr_envs.bench.compare import Comparison, aggregates, experiments, pairs
from rlvr_envs.bench.entries import TRACKS, Entries, Track
from rlvr_envs.bench.plots import Plots
from rlvr_envs.bench.statistics import COLLAPSE
from rlvr_envs.bench.suite import Suite
from rlvr_envs.core.files import replaced
from rlvr_envs.core.version import __version__
from rlvr_envs.evaluation.page import (
    document,
    facts,
    folded,
    grid,
    heading,
    require_plotly,
    section,
    table,
)
from rlvr_envs.evaluation.table import Table

_FEW_AXES = 3  # fewer make no radar
_FEW_RUNS = 5

_TRACK_NAMES: dict[Track, str] = {"samples": "Equal samples", "tokens": "Equal tokens"}


def write_report(comparison: Comparison, entries: Entries, out: Path) -> Path:
    """Write the page that compares algorithms, and return its path.

    Args:
        comparison: of the entries.
        entries: the runs of each algorithm; one algorithm alone has a page too.
        out: the file.

    Raises:
        DependencyError: plotly is missing.
    """
    require_plotly()
    return _written(out, page(comparison, entries))


def write_table(comparison: Comparison, out: Path) -> Path:
    """Write the aggregates of both tracks as tables in Markdown, and return the file's path."""
    return _written(out, "\n".join(markdown(aggregates(comparison, track)) for track in TRACKS))


def markdown(found: Table) -> str:
    """Return a table in Markdown."""
    lines = [found.header, ["---", *["--:"] * (len(found.header) - 1)], *found.rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _written(out: Path, text: str) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    with replaced(out) as file:
        # A lone surrogate, which settings may hold, has no place in UTF-8.
        file.write(text.encode("utf-8", "replace"))
    return out


def page(comparison: Comparison, entries: Entries) -> str:
    """Return the whole page."""
    suite = entries.suite
    plots = Plots(comparison, entries)
    body = (
        _facts(comparison, entries),
        _warnings(comparison, entries),
        _aggregates(comparison),
        _pairs(comparison, plots),
        _curves(plots),
        _radar(plots),
        *(_experiments(comparison, suite, track) for track in TRACKS),
        _accounts(comparison, entries),
        f"<footer>Written by rlvr_envs {__version__}.</footer>\n",
    )
    return document(f"{suite.name}: {suite.title}", "".join(body))


def _facts(comparison: Comparison, entries: Entries) -> str:
    suite = entries.suite
    seeds = sorted({run.seed for name in entries.algorithms for run in entries.of(name)})
    return facts(
        {
            "suite": suite.name,
            "hash": suite.hash[:12],
            "status": f"draft {suite.draft}" if suite.status == "draft" else "frozen",
            "protocol": suite.protocol,
            "problems": comparison.split,
            "experiments": len(entries.start),
            "seeds": ", ".join(map(str, seeds)),
            "algorithms": len(entries.algorithms),
        }
    )


def _warnings(comparison: Comparison, entries: Entries) -> str:
    found = []
    if entries.suite.status == "draft":
        found.append("The suite is a draft: it may still change, and its results with it.")
    if comparison.split != "test":
        found.append("These are validation problems, with which settings are chosen.")
    if comparison.missing:
        named = ", ".join(f"{name} with seed {seed}" for name, seed in comparison.missing)
        found.append(
            "Only the runs that all entries have are compared. Left out are "
            f"{len(comparison.missing)} of each: {named}."
        )
    if any(account.runs < _FEW_RUNS for account in comparison.accounts.values()):
        found.append(
            f"An algorithm has fewer than {_FEW_RUNS} runs: its intervals are too narrow, and a "
            "single seed has none."
        )
    return "".join(f'<p class="card warning">{html.escape(text)}</p>\n' for text in found)


def _aggregates(comparison: Comparison) -> str:
    note = (
        "Scores are normalised: 0 is the start checkpoint's in the experiment, 1 full marks. "
        f"Brackets are {100 * comparison.how.confidence:g} % intervals (stratified bootstrap over "
        f"seeds, {comparison.how.resamples} resamples). A rank is a range where intervals of the "
        f"IQM overlap. Collapsed: runs that failed or ended more than {COLLAPSE} below the start. "
        "CPU minutes are the mean of a run."
    )
    parts = [heading("Aggregates", note)]
    for track in TRACKS:
        found = aggregates(comparison, track)
        parts.append(table(found.header, found.rows))
    return "".join(parts)


def _pairs(comparison: Comparison, plots: Plots) -> str:
    note = (
        "At equal samples, a run's last score counts; at equal tokens, its score when the "
        "experiment's budget of tokens was used up."
    )
    parts = [grid("Interquartile mean", note, _each_track(plots.iqm))]
    if len(plots.names) > 1:
        note = (
            "The chance that a run of the row's algorithm scores more than one of the column's, "
            "averaged over experiments, with its interval. A star: the interval leaves out 0.5. "
            "Each pair is judged alone, so among many equal pairs 1 in 20 has a star by chance."
        )
        parts.append(grid("Probability of improvement", note, _each_track(plots.improvement)))
        parts += [_pair_table(comparison, track) for track in TRACKS]
    return "".join(parts)


def _pair_table(comparison: Comparison, track: Track) -> str:
    found = pairs(comparison, track)
    inside = table(found.header, found.rows, texts=1)
    return folded(f"Pairs, {_TRACK_NAMES[track].lower()}", f"· {len(found.rows)}", inside)


def _each_track(draw: Callable[[Track], str]) -> dict[str, str]:
    return {_TRACK_NAMES[track]: draw(track) for track in TRACKS}


def _curves(plots: Plots) -> str:
    note = (
        "The interquartile mean over all runs, linear between evaluations; a run that ended early "
        "keeps its last score. Bands are pointwise intervals."
    )
    curves = {
        "By samples": plots.efficiency("samples"),
        "By tokens": plots.efficiency("tokens"),
        "By time on the device": plots.efficiency("device_s"),
    }
    above = "The share of runs that score more than τ. Bands are pointwise intervals."
    return grid("Sample efficiency", note, curves) + grid(
        "Performance profiles", above, _each_track(plots.profile)
    )


def _radar(plots: Plots) -> str:
    if len(plots.axes) < _FEW_AXES:
        return ""
    note = "The mean normalised score of the experiments of each axis, at equal samples."
    return section("Abilities", note, plots.radar("samples"))


def _experiments(comparison: Comparison, suite: Suite, track: Track) -> str:
    found = experiments(comparison, track)
    about = [suite.experiment(row[0]) for row in found.rows]
    rows = [
        [row[0], each.axis, each.question, *row[1:]]
        for row, each in zip(found.rows, about, strict=True)
    ]
    note = (
        "Mean scores as they were measured, with 95 % intervals (Student's t over the seeds). "
        "The tables of pairs say where two differ (Welch's t test, Bonferroni over experiments)."
    )
    header = ["experiment", "axis", "question", *found.header[1:]]
    title = f"Experiments, {_TRACK_NAMES[track].lower()}"
    return heading(title, note) + table(header, rows, texts=3)


def _accounts(comparison: Comparison, entries: Entries) -> str:
    """Return what was run: trust, settings, machines and versions of each algorithm."""
    note = (
        "Trust: plug-in results were counted by the agent of rlvr_envs, metered ones by a server, "
        "self-reported ones by their authors alone."
    )
    parts = [heading("Algorithms", note)]
    for name, account in comparison.accounts.items():
        runs = entries.of(name)
        algorithm = asdict(runs[0].algorithm)
        algorithm["machines"] = _distinct([dict(run.machine) for run in runs])
        algorithm["versions"] = _distinct([dict(run.versions) for run in runs])
        algorithm["failed"] = {
            f"{run.experiment}, seed {run.seed}": run.failed for run in runs if run.failed
        }
        text = json.dumps(algorithm, indent=2, ensure_ascii=False)
        told = f"· {account.trust}, runs: {account.runs}"
        parts.append(folded(name, told, f"<pre>{html.escape(text)}</pre>"))
    return "".join(parts)


def _distinct(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for place, each in enumerate(found) if each not in found[:place]]
