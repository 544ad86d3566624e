"""What the plots of training runs show: which numbers, of which runs, averaged over what."""

import json
import math
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from rlvr_envs.agents.grpo.tracking.metrics import METRICS, read
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.evaluation.metrics import t_quantile

Points = dict[int, float]

_MOST_CELLS = 24  # scores by task and difficulty, if there are more, are put together by task


@dataclass(frozen=True, slots=True)
class Panel:
    """A small plot.

    Attributes:
        title: what it shows.
        unit: what its vertical axis says.
        names: the metric, or two, of which the second is drawn dotted.
        steady: drawn as it is, since it is no random sample of a step.
        share: between 0 and 1, and drawn so.
        pooled: drawn is the mean of the metrics, of those that a step has.
        band: the ends of an interval that each run has measured itself.
    """

    title: str
    unit: str
    names: tuple[str, ...]
    steady: bool = False
    share: bool = False
    pooled: bool = False
    band: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A run, or several that differ only in their seeds: step → name → value of each."""

    name: str
    runs: tuple[dict[int, dict[str, float]], ...]

    def lines(self, panel: Panel) -> list[list[Points]]:
        """Return the lines of a panel, each run by run; runs without a value are left out."""
        together = [panel.names] if panel.pooled else [(name,) for name in panel.names]
        return [[points for run in self.runs if (points := _mean(run, n))] for n in together]


def _mean(run: dict[int, dict[str, float]], names: Sequence[str]) -> Points:
    values = {step: [row[name] for name in names if name in row] for step, row in run.items()}
    return {step: fmean(known) for step, known in values.items() if known}


_SECTIONS: dict[str, tuple[Panel, ...]] = {
    "Learning": (
        Panel("Reward", "mean of a step", ("reward/mean",)),
        Panel("Score", "mean of a step", ("score/mean",), share=True),
        Panel(
            "Held-out score (dotted: greedy)",
            "mean score",
            ("held_out/score", "held_out/greedy"),
            steady=True,
            share=True,
            band=("held_out/low", "held_out/high"),
        ),
        Panel("Length of episodes", "tokens, mean", ("length/mean",)),
        Panel(
            "Length of right answers (dotted: wrong)", "tokens", ("length/right", "length/wrong")
        ),
        Panel("Longest episode", "tokens", ("length/max",)),
        Panel("Turns", "actions an episode", ("turns/mean",)),
        Panel("Length of a turn", "tokens, mean", ("turn_length/mean",)),
    ),
    "Optimisation": (
        Panel("Entropy (dotted: exact)", "nats a token", ("entropy", "entropy/exact")),
        Panel("Distance from the reference", "KL, nats a token", ("kl",)),
        Panel("Clipped tokens", "share", ("clip_fraction",)),
        Panel("Largest importance ratio", "new / old", ("ratio/max",)),
        Panel("Sampler against trainer", "nats a token, mean", ("mismatch/mean",)),
        Panel("Sampler against trainer, worst", "nats a token", ("mismatch/max",)),
        Panel("Gradient", "norm before clipping", ("grad_norm",)),
        Panel("Staleness of samples", "versions of the weights", ("staleness",)),
        Panel("Learning rate", "step size", ("learning_rate",), steady=True),
    ),
    "Episodes without a signal": (
        Panel("Groups with equal rewards", "share", ("zero_variance",), share=True),
        Panel(
            "Solved throughout (dotted: failed)",
            "share of groups",
            ("groups/solved", "groups/failed"),
            share=True,
        ),
        Panel("Cut off at a limit", "share of episodes", ("truncated",), share=True),
        Panel("Not scored", "share of episodes", ("unscored",), share=True),
    ),
    "Time": (
        Panel("Sampling", "seconds a step", ("time/sample_s",)),
        Panel("Training", "seconds a step", ("time/train_s",)),
        Panel("Evaluation", "seconds", ("time/evaluate_s",)),
        Panel("Throughput", "tokens a second", ("tokens/s",)),
    ),
}


def load(runs: Sequence[Path], *, seeds: bool = False, each: bool = False) -> list[Series]:
    """Return what is drawn in a colour of its own.

    Runs whose configurations differ in the seed alone belong together.

    Args:
        runs: folders of runs; one that holds runs stands for a run with several seeds.
        seeds: all runs are one with several seeds.
        each: every run is drawn by itself.

    Raises:
        ConfigError: there is no run.
    """
    if not runs:
        raise ConfigError("a plot needs at least one run")
    if each:
        runs = [path for run in runs for path in _repeats(run)]
    found = [tuple(read(path) for path in _repeats(run)) for run in runs]
    if seeds:
        everything = tuple(run for group in found for run in group)
        return [Series(f"{len(everything)} seeds", everything)]
    paths = [run.resolve() for run in runs]
    alike = len({path.name for path in paths}) < len(paths)
    names = [f"{path.parent.name}/{path.name}" if alike else path.name for path in paths]
    series = []
    for places in _repeated(runs) if not each else [[place] for place in range(len(runs))]:
        group = tuple(run for place in places for run in found[place])
        name = names[places[0]]
        if len(group) > 1:
            begun = name if len(places) == 1 else _common([names[place] for place in places])
            name = f"{begun}, {len(group)} seeds".removeprefix(", ")
        series.append(Series(name, group))
    return series


def _repeated(runs: Sequence[Path]) -> list[list[int]]:
    """Return the places of runs, those together that differ in the seed alone."""
    groups: dict[str, dict[Any, int]] = {}
    for place, run in enumerate(runs):
        seed, rest = _settings(run)
        alike = groups.setdefault(rest or str(place), {})
        if seed in alike:  # the same again is another run
            alike = groups.setdefault(f"{place}", {})
        alike[seed] = place
    return sorted(list(alike.values()) for alike in groups.values())


def _settings(run: Path) -> tuple[Any, str]:
    """Return the seed of a run, and what else says what it computed; empty if nothing does."""
    try:
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))["config"]
        seed = config.pop("seed")
        config.pop("output", None)
        config.get("policy", {}).pop("threads", None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, ""
    return seed, json.dumps(config, sort_keys=True)


def _common(names: Sequence[str]) -> str:
    """Return what the names of runs begin with, without what numbers them."""
    begun = os.path.commonprefix(list(names))  # noqa: RUF071 - of letters, not of folders
    return re.sub(r"((^|[-_. ]+)(seed|run|s))?[-_. ]*\d*$", "", begun)


def _repeats(run: Path) -> list[Path]:
    if run.is_dir() and not (run / METRICS).exists():
        return sorted(path.parent for path in run.glob(f"*/{METRICS}")) or [run]
    return [run]


def sections(series: Sequence[Series]) -> dict[str, list[Panel]]:
    """Return title → panels, of those for which there is something to draw."""
    logged = {name for s in series for run in s.runs for row in run.values() for name in row}
    fixed = {t: [p for p in panels if logged & set(p.names)] for t, panels in _SECTIONS.items()}
    learning = fixed.pop("Learning")
    tries = sorted((n for n in logged if n.startswith("held_out/pass@")), key=_tries)
    if tries:
        title = f"Held-out pass@{_tries(tries[-1])}"
        learning.append(Panel(title, "share of problems", (tries[-1],), steady=True, share=True))
    found = {"Learning": learning, **_by_cell(logged), **fixed}
    return {title: panels for title, panels in found.items() if panels}


def _tries(name: str) -> int:
    return int(name.partition("@")[2])


def _by_cell(logged: Iterable[str]) -> dict[str, list[Panel]]:
    """Return the sections of scores by task and difficulty."""
    cells = sorted((name for name in logged if name.count("/") == 2), key=_order)
    found = {}
    for kind, title, unit in (
        ("solve", "Solve rate by task and difficulty", "share of full marks"),
        ("held_out", "Held-out score by task and difficulty", "mean score"),
    ):
        steady = kind == "held_out"
        tasks: dict[str, dict[str, str]] = {}  # task → difficulty → name
        for name in cells:
            if name.startswith(f"{kind}/"):
                _, task, level = name.split("/")
                tasks.setdefault(task, {})[level] = name
        if sum(map(len, tasks.values())) <= _MOST_CELLS:
            found[title] = [
                Panel(f"{task}, difficulty {level}", unit, (name,), steady, share=True)
                for task, levels in tasks.items()
                for level, name in levels.items()
            ]
        else:
            found[title] = [
                Panel(
                    f"{task}, all difficulties",
                    unit,
                    tuple(levels.values()),
                    steady,
                    share=True,
                    pooled=True,
                )
                for task, levels in tasks.items()
            ]
    return found


def _order(name: str) -> tuple[str, int, str]:
    _, task, level = name.split("/")
    return task, int(level) if level.isdecimal() else -1, level


def smooth(points: Points, window: int, steps: Iterable[int] | None = None) -> Points:
    """Return at each step the mean of what was logged at it and at the ``window - 1`` before.

    Args:
        points: step → value.
        window: in steps, from 1.
        steps: where to look; None for where there is a value.
    """
    known = sorted(points)
    found = {}
    for step in known if steps is None else steps:
        inside = known[bisect_right(known, step - window) : bisect_right(known, step)]
        if inside:
            found[step] = fmean(points[at] for at in inside)
    return found


def spread(runs: Sequence[Points], window: int) -> dict[int, tuple[float, float, float]]:
    """Return step → mean of the smoothed runs and its 95 % interval, where all have a value.

    The interval is Student's t of the runs, which are independent where their seeds differ; of one
    run it is its value. They end with the shortest run.

    Returns:
        Low end, mean and high end.
    """
    if not runs:
        return {}
    last = min(max(points) for points in runs)
    steps = sorted({step for points in runs for step in points if step <= last})
    lines = [smooth(points, window, steps) for points in runs]
    reach = t_quantile(0.975, len(runs) - 1) / math.sqrt(len(runs)) if len(runs) > 1 else 0.0
    found = {}
    for step in steps:
        values = [line[step] for line in lines if step in line]
        if len(values) == len(runs):
            half = reach * stdev(values) if reach else 0.0
            found[step] = (fmean(values) - half, fmean(values), fmean(values) + half)
    return found
