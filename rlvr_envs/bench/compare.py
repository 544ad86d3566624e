"""Which algorithms differ: aggregates with intervals, pairs, and experiments one by one.

An order is claimed only where the intervals bear it out: an algorithm's rank is a range, and two
algorithms are called better and worse only if the interval of the probability of improvement
leaves out one half.
"""

from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from rlvr_envs.bench import statistics
from rlvr_envs.bench.entries import TRACKS, Entries, Track, gather
from rlvr_envs.bench.results import Run
from rlvr_envs.bench.statistics import AGGREGATES, BOOTSTRAP, Bootstrap, Scores
from rlvr_envs.bench.suite import Suite
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.evaluation.metrics import Estimate, clustered_mean
from rlvr_envs.evaluation.table import Table, estimate_text

VERDICTS = {1: "better", 0: "not separated", -1: "worse"}  # by `_side` of one half


@dataclass(frozen=True, slots=True)
class Standing:
    """An algorithm on a track.

    Attributes:
        algorithm: its name.
        ranks: the best and the worst rank by IQM that its interval allows: 1 and 3 if two others'
            intervals overlap its own and all the rest are lower.
        iqm: the interquartile mean of the normalised scores, and so on.
    """

    algorithm: str
    ranks: tuple[int, int]
    iqm: Estimate
    mean: Estimate
    median: Estimate
    optimality_gap: Estimate


@dataclass(frozen=True, slots=True)
class Pair:
    """Two algorithms on a track."""

    x: str  # the one with the higher IQM
    y: str  # the other one
    probability: Estimate  # that a run of X scores more than one of Y
    verdict: str  # whether X is better or worse than Y, or not separated from it
    higher: list[str]  # the experiments where X scores more, see `_differences`
    lower: list[str]  # those where it scores less


@dataclass(frozen=True, slots=True)
class Ranking:
    """All algorithms on a track.

    Attributes:
        standings: the highest IQM first.
        pairs: each pair once.
        experiments: by experiment and algorithm, the mean score as it was measured, with
            Student's t interval over the seeds.
    """

    standings: list[Standing]
    pairs: list[Pair]
    experiments: dict[str, dict[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Account:
    """What an algorithm's runs came to, whatever the track."""

    runs: int  # how many there are
    trust: str  # how far its results can be trusted; several words if its runs differ
    collapsed: float  # the share of runs that failed or ended well below the start
    unscored: float  # the share of the final responses that no verdict could be had for
    cpu_min: float  # CPU minutes, the mean of a run


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`."""

    suite: str  # its name
    suite_hash: str  # its hash
    split: str  # of the problems
    how: Bootstrap  # the settings of the intervals
    start: dict[str, float]  # the score of the start checkpoint, by experiment
    missing: list[tuple[str, int]]  # experiments and seeds that were left out, see `Entries`
    accounts: dict[str, Account]  # by algorithm
    rankings: dict[Track, Ranking]  # by track

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON can hold it."""
        return asdict(self)


def compare(
    suite: Suite,
    entries: Sequence[Sequence[Run]],
    *,
    common: bool = False,
    how: Bootstrap = BOOTSTRAP,
) -> Comparison:
    """Compare algorithms by their runs on a suite.

    An algorithm's own numbers depend on the others only through the start's score, which is the
    mean over all runs compared.

    Args:
        suite: that all runs must be of.
        entries: the runs of each algorithm.
        common: whether to compare what all have in common where some lack runs.
        how: the settings of the intervals.

    Raises:
        ConfigError: entries cannot be compared; the message says which and why.
    """
    return compared(gather(suite, entries, common=common), how)


def compared(entries: Entries, how: Bootstrap = BOOTSTRAP) -> Comparison:
    """Return the comparison of entries that were gathered."""
    return Comparison(
        suite=entries.suite.name,
        suite_hash=entries.suite.hash,
        split=entries.split,
        how=how,
        start=entries.start,
        missing=entries.missing,
        accounts={name: _account(entries, name) for name in entries.algorithms},
        rankings={track: _ranking(entries, track, how) for track in TRACKS},
    )


def draws(*key: str) -> Rng:
    """Return the stream of an interval; it depends on nothing but what the interval is of."""
    return stream("rlvr bench", *key)


def _account(entries: Entries, algorithm: str) -> Account:
    runs = entries.of(algorithm)
    failed = {
        name: np.array([bool(run.failed) for run in found])
        for name, found in entries.runs[algorithm].items()
    }
    return Account(
        runs=len(runs),
        trust=" and ".join(sorted({run.trust for run in runs})),
        collapsed=statistics.collapse_rate(
            entries.scores(algorithm, "samples"), entries.start, failed
        ),
        unscored=fmean(run.points[-1].unscored for run in runs),
        cpu_min=fmean(run.cpu_s for run in runs) / 60,
    )


def _ranking(entries: Entries, track: Track, how: Bootstrap) -> Ranking:
    raw = {name: entries.scores(name, track) for name in entries.algorithms}
    scores = {name: entries.normalised(found) for name, found in raw.items()}
    found = {
        name: {
            aggregate: statistics.estimate(
                AGGREGATES[aggregate], own, rng=draws(aggregate, track, name), how=how
            )
            for aggregate in AGGREGATES
        }
        for name, own in scores.items()
    }
    order = sorted(found, key=lambda name: (-(found[name]["iqm"].mean or 0.0), name))
    iqms = [found[name]["iqm"] for name in order]
    return Ranking(
        [Standing(name, _ranks(found[name]["iqm"], iqms), **found[name]) for name in order],
        [_pair(x, y, scores, track, how) for x, y in combinations(order, 2)],
        {
            name: {each: clustered_mean(raw[each][name][:, None].tolist()) for each in order}
            for name in entries.start
        },
    )


def _ranks(own: Estimate, every: Sequence[Estimate]) -> tuple[int, int]:
    """Return the best and the worst rank that the intervals allow."""
    above = sum(_is_less(own, other) for other in every)
    below = sum(_is_less(other, own) for other in every)
    return 1 + above, len(every) - below


def _is_less(a: Estimate, b: Estimate) -> bool:
    """Whether a whole interval is below another."""
    return a.high is not None and b.low is not None and a.high < b.low


def _pair(x: str, y: str, scores: dict[str, Scores], track: Track, how: Bootstrap) -> Pair:
    probability = statistics.estimate(
        statistics.probability_of_improvement,
        scores[x],
        scores[y],
        rng=draws("improvement", track, x, y),
        how=how,
    )
    signs = _differences(scores[x], scores[y], how.confidence)
    return Pair(
        x,
        y,
        probability,
        VERDICTS[_side(probability, 0.5)],
        [name for name, sign in signs.items() if sign > 0],
        [name for name, sign in signs.items() if sign < 0],
    )


def _differences(x: Scores, y: Scores, confidence: float) -> dict[str, int]:
    """Return for each experiment whether X scores more (1) or less (-1), or that is open (0).

    Welch's t test in each, at a level that is shared out among the experiments (Bonferroni): two
    equal algorithms have a false alarm anywhere in at most 5 % of comparisons.
    """
    level = 1 - (1 - confidence) / len(x)
    return {name: _side(statistics.difference(x[name], y[name], level), 0.0) for name in x}


def _side(estimate: Estimate, value: float) -> int:
    """Return whether the whole interval is above a value (1) or below it (-1), or neither (0)."""
    if estimate.low is None or estimate.high is None:
        return 0
    return int(estimate.low > value) - int(estimate.high < value)


def tables(comparison: Comparison) -> list[Table]:
    """Return what to read at a glance: the aggregates, pairs and experiments of each track."""
    found = []
    for track, ranking in comparison.rankings.items():
        found.append(aggregates(comparison, track, intervals=("iqm",)))
        if ranking.pairs:
            found.append(pairs(comparison, track))
        found.append(experiments(comparison, track))
    return found


def aggregates(
    comparison: Comparison, track: Track, intervals: Container[str] = tuple(AGGREGATES)
) -> Table:
    """Return the table of the algorithms on a track, by IQM; which aggregates have intervals."""
    header = [f"equal {track}", "rank", "IQM", "mean", "median", "optimality gap"]
    header += ["collapsed", "unscored", "CPU min", "runs"]
    rows = []
    for each in comparison.rankings[track].standings:
        account = comparison.accounts[each.algorithm]
        first, last = each.ranks
        values: dict[str, Estimate] = {name: getattr(each, name) for name in AGGREGATES}
        rows.append(
            [
                each.algorithm,
                str(first) if first == last else f"{first} to {last}",
                *(
                    estimate_text(value) if name in intervals else f"{value.mean:.3f}"
                    for name, value in values.items()
                ),
                f"{account.collapsed:.1%}",
                f"{account.unscored:.1%}",
                f"{account.cpu_min:.1f}",
                str(account.runs),
            ]
        )
    return Table(header, rows)


def pairs(comparison: Comparison, track: Track) -> Table:
    """Return the table of the pairs on a track."""
    rows = [
        [
            f"{pair.x} > {pair.y}",
            estimate_text(pair.probability),
            pair.verdict,
            ", ".join(pair.higher) or "–",
            ", ".join(pair.lower) or "–",
        ]
        for pair in comparison.rankings[track].pairs
    ]
    return Table([f"pair, equal {track}", "probability", "verdict", "higher in", "lower in"], rows)


def experiments(comparison: Comparison, track: Track) -> Table:
    """Return the table of the mean scores in each experiment, as they were measured."""
    names = [each.algorithm for each in comparison.rankings[track].standings]
    rows = [
        [
            experiment,
            f"{comparison.start[experiment]:.3f}",
            *(estimate_text(means[name]) for name in names),
        ]
        for experiment, means in comparison.rankings[track].experiments.items()
    ]
    return Table([f"score, equal {track}", "start", *names], rows)
