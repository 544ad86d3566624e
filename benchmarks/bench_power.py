"""What the suites of `rlvr bench` tell apart, and what they rightly do not.

    python benchmarks/bench_power.py [--splits 250]

Power: pairs of algorithms with one difference, on the diagnostic experiment that is about it. False
alarms: each algorithm against itself, its seeds split at random into two halves, and the share of
splits whose halves are called different. All of it is computed from the runs in `leaderboard/`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import results_file

from rlvr_envs.bench import statistics
from rlvr_envs.bench.compare import draws
from rlvr_envs.bench.entries import Entries, gather
from rlvr_envs.bench.results import read_runs
from rlvr_envs.bench.statistics import Scores, difference, probability_of_improvement
from rlvr_envs.bench.suite import load
from rlvr_envs.evaluation.metrics import Estimate

LEADERBOARD = Path(__file__).resolve().parent.parent / "leaderboard"
SUITES = ("tiny-v1", "diagnostics-v1")

# What is compared on which experiment: the second lacks one thing of the first, or has one more.
PAIRS = (
    ("stale_samples", "default", "unclipped"),
    ("stale_samples", "default", "no_baseline"),
    ("imbalance", "default", "no_baseline"),
    ("noisy_verifier", "default", "no_baseline"),
    ("noisy_verifier", "backward_correction", "no_baseline"),
    ("partial_credit", "backward_correction", "no_baseline"),
)


def main() -> None:
    """Compute both, print them, and store them."""
    parser = results_file.parser(__doc__, "bench_power")
    parser.add_argument("--splits", type=int, default=250, help="of each algorithm's seeds")
    args = parser.parse_args()
    entries = {name: found for name in SUITES if (found := entries_of(name)) is not None}
    if len(entries) < len(SUITES):
        raise SystemExit(f"the leaderboard needs whole entries of {' and '.join(SUITES)}")
    figures = {
        "power": [power(entries["diagnostics-v1"], *pair) for pair in PAIRS],
        "false_alarms": {name: alarms(found, args.splits) for name, found in entries.items()},
    }
    for row in figures["power"]:
        print(row)
    print(figures["false_alarms"])
    head = results_file.head("what the suites of rlvr bench tell apart, from stored runs", "numpy")
    results_file.store(args, head, figures, [])


def entries_of(suite: str) -> Entries | None:
    """Return the algorithms that have all runs; None if none has."""
    chosen = load(suite)
    count = len(chosen.experiments) * len(chosen.seeds)
    folder = LEADERBOARD / suite
    found = map(read_runs, sorted(folder.iterdir() if folder.is_dir() else ()))
    whole = [runs for runs in found if len(runs) == count]
    return gather(chosen, whole) if whole else None


def power(entries: Entries, experiment: str, x: str, y: str) -> dict[str, Any]:
    """Return how much X scores over Y in an experiment, and how probable an improvement is."""
    scores = {name: entries.scores(name, "samples")[experiment] for name in (x, y)}
    likely = improvement({experiment: scores[x]}, {experiment: scores[y]}, experiment, x, y)
    return {
        "experiment": experiment,
        "x": x,
        "y": y,
        "difference": told(difference(scores[x], scores[y])),
        "p_improvement": told(likely),
        "seeds": len(scores[x]),
    }


def alarms(entries: Entries, splits: int) -> dict[str, Any]:
    """Return how often two halves of an algorithm's own seeds are called different."""
    called = [
        not ends(likely)[0] <= 0.5 <= ends(likely)[1]
        for algorithm in entries.algorithms
        for likely in _of_halves(entries.scores(algorithm, "samples"), algorithm, splits)
    ]
    return {
        "algorithms": len(entries.algorithms),
        "splits": splits,
        "share": float(np.mean(called)),
    }


def _of_halves(scores: Scores, algorithm: str, splits: int) -> Iterator[Estimate]:
    for number in range(splits):
        rng = draws("halves", algorithm, str(number))
        mixed = {name: rng.permutation(found) for name, found in scores.items()}
        x = {name: found[: len(found) // 2] for name, found in mixed.items()}
        y = {name: found[len(found) // 2 :] for name, found in mixed.items()}
        yield improvement(x, y, algorithm, str(number))


def improvement(x: Scores, y: Scores, *key: str) -> Estimate:
    """Return the probability of improvement as `rlvr bench compare` computes it."""
    return statistics.estimate(probability_of_improvement, x, y, rng=draws("power", *key))


def told(estimate: Estimate) -> list[float]:
    """Return a mean and the ends of its interval."""
    return [round(value, 3) for value in (estimate.mean or 0.0, *ends(estimate))]


def ends(estimate: Estimate) -> tuple[float, float]:
    """Return the ends of an interval.

    Raises:
        ValueError: there is none, because there are too few seeds.
    """
    if estimate.low is None or estimate.high is None:
        raise ValueError("an interval needs two seeds or more")
    return estimate.low, estimate.high


if __name__ == "__main__":
    main()
