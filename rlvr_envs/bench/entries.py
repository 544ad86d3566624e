"""Entries side by side: the runs of several algorithms on one suite, as arrays of scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

import numpy as np

from rlvr_envs.bench.results import Run
from rlvr_envs.bench.statistics import Scores, normalised, score_at
from rlvr_envs.bench.suite import Suite
from rlvr_envs.core.errors import ConfigError

# What algorithms are given equally much of: of samples, a run's last score counts; of tokens, its
# score when they were used up.
Track = Literal["samples", "tokens"]
TRACKS: tuple[Track, ...] = get_args(Track)

Spent = Literal["samples", "tokens", "device_s"]

_NAMED = 5  # so many missing runs of an entry are named


@dataclass(frozen=True, slots=True)
class Entries:
    """The runs of all algorithms, each with the same experiments and seeds.

    Attributes:
        suite: that all of them are of.
        split: of the problems that they were evaluated on.
        runs: by algorithm and experiment, in the order of seeds.
        start: the score of the start checkpoint in each experiment: the mean of all runs' first
            evaluations, the same for all algorithms.
        missing: experiments and seeds of the suite, or of some entry, that are left out because
            not every entry has them; empty unless the common part was asked for.
    """

    suite: Suite
    split: str
    runs: dict[str, dict[str, list[Run]]]
    start: dict[str, float]
    missing: list[tuple[str, int]]

    @property
    def algorithms(self) -> list[str]:
        """The names of the algorithms."""
        return list(self.runs)

    def of(self, algorithm: str) -> list[Run]:
        """Return all runs of an algorithm."""
        return [run for runs in self.runs[algorithm].values() for run in runs]

    def scores(self, algorithm: str, track: Track) -> Scores:
        """Return an algorithm's scores on a track, as they were measured."""
        if track == "samples":
            return {
                name: np.array([run.points[-1].score for run in runs])
                for name, runs in self.runs[algorithm].items()
            }
        return {name: curve[0] for name, curve in self.curves(algorithm, track, [1.0]).items()}

    def curves(self, algorithm: str, spent: Spent, budgets: Sequence[float]) -> Scores:
        """Return an algorithm's scores (budgets, seeds) when it had spent each of the budgets.

        These are seconds, or shares of the experiment's budget of samples or tokens.
        """
        found = {}
        for name, runs in self.runs[algorithm].items():
            experiment = self.suite.experiment(name)
            whole = 1 if spent == "device_s" else getattr(experiment, spent)
            rows = [
                score_at(
                    [getattr(point, spent) / whole for point in run.points],
                    [point.score for point in run.points],
                    budgets,
                )
                for run in runs
            ]
            found[name] = np.array(rows).T
        return found

    def normalised(self, scores: Scores) -> Scores:
        """Return scores where 0 is the start's in the experiment and 1 full marks."""
        return {name: normalised(values, self.start[name]) for name, values in scores.items()}


def gather(suite: Suite, entries: Sequence[Sequence[Run]], *, common: bool = False) -> Entries:
    """Put the runs of algorithms side by side.

    Args:
        suite: that they must be of.
        entries: the runs of each algorithm, see `read_runs`.
        common: whether to leave out what not every algorithm has, instead of an error.

    Raises:
        ConfigError: entries are of other suites or splits, have the same name, or lack runs.
    """
    _check_kinds(suite, entries)
    by_name = {runs[0].algorithm.name: {run.key: run for run in runs} for runs in entries}
    if len(by_name) < len(entries):
        raise ConfigError(f"two entries have the same name, among {', '.join(by_name)}: rename one")
    split = entries[0][0].split
    wanted = {key for runs in by_name.values() for key in runs}
    if split == "test":
        wanted |= {(each.name, seed) for each in suite.experiments for seed in suite.seeds}
    shared = wanted.intersection(*by_name.values())
    if shared < wanted and not common:
        raise ConfigError(
            f"{_lacking(by_name, wanted)}; complete the entries, or ask for their common part"
        )
    if not shared:
        raise ConfigError(f"{', '.join(by_name)} have no experiment and seed in common")
    runs: dict[str, dict[str, list[Run]]] = {}
    for name, found in by_name.items():
        order = [each.name for each in suite.experiments]
        keys = sorted(shared, key=lambda key: (order.index(key[0]), key[1]))
        runs[name] = {}
        for key in keys:
            runs[name].setdefault(key[0], []).append(found[key])
    return Entries(suite, split, runs, _start(runs), sorted(wanted - shared))


def _check_kinds(suite: Suite, entries: Sequence[Sequence[Run]]) -> None:
    if not entries or not all(entries):
        raise ConfigError("a comparison needs at least one entry, and each entry at least one run")
    first, wanted = entries[0][0], suite.hash
    for run in (run for runs in entries for run in runs):
        suite.experiment(run.experiment)
        if run.suite_hash != wanted:
            raise ConfigError(
                f"{run.algorithm.name} is of {run.suite} {run.suite_hash:.12}, not of {suite.name} "
                f"{wanted:.12}: only results of the same suite can be compared"
            )
        if run.split != first.split:
            raise ConfigError(
                f"{run.algorithm.name} was evaluated on the {run.split} problems, "
                f"{first.algorithm.name} on the {first.split} problems: compare like with like"
            )
        if run.points[0].samples:
            raise ConfigError(
                f"{run.algorithm.name}, {run.experiment} with seed {run.seed}: the first "
                f"evaluation is after {run.points[0].samples} samples, not of the start"
            )


def _lacking(by_name: dict[str, dict[tuple[str, int], Run]], wanted: set[tuple[str, int]]) -> str:
    told = []
    for name, runs in by_name.items():
        gone = [f"{experiment} with seed {seed}" for experiment, seed in sorted(wanted - set(runs))]
        if gone:
            more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
            told.append(f"{name} lacks {', '.join(gone[:_NAMED])}{more}")
    return "; ".join(told)


def _start(runs: dict[str, dict[str, list[Run]]]) -> dict[str, float]:
    """Return the mean of the first evaluations of each experiment, over all algorithms."""
    first: dict[str, list[float]] = {}
    for by_experiment in runs.values():
        for name, found in by_experiment.items():
            first.setdefault(name, []).extend(run.points[0].score for run in found)
    return {name: fmean(scores) for name, scores in first.items()}
