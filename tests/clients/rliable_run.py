"""Runs in rliable's environment: its numbers and ours, on random scores with ties."""

import json

import numpy as np
from rliable import library, metrics

from rlvr_envs.bench import statistics
from rlvr_envs.bench.statistics import Bootstrap, estimate
from rlvr_envs.core.seeding import stream

TAUS = np.linspace(0, 1, 21)
REPETITIONS = 20_000
AS_RLIABLE = Bootstrap(resamples=REPETITIONS, fewer=0)
THEIRS = {
    "iqm": metrics.aggregate_iqm,
    "mean": metrics.aggregate_mean,
    "median": metrics.aggregate_median,
    "optimality_gap": metrics.aggregate_optimality_gap,
}


def drawn(rng, runs, tasks):
    """Scores as rliable takes them, runs × tasks; every second time rounded, so that some tie."""
    found = rng.beta(2, 1 + 3 * rng.random(tasks), (runs, tasks)) * 1.1 - 0.05
    return np.round(found, 1) if rng.random() < 0.5 else found


def by_experiment(matrix):
    """The same as we take them."""
    return {str(place): column for place, column in enumerate(matrix.T)}


def main():
    """Print both sides' numbers as JSON."""
    rng = stream("rliable")
    points, profiles = [], []
    for _ in range(50):
        runs_x, runs_y, tasks = rng.integers((1, 1, 1), (12, 12, 9)).tolist()
        x, y = drawn(rng, runs_x, tasks), drawn(rng, runs_y, tasks)
        for name, aggregate in THEIRS.items():
            ours = statistics.AGGREGATES[name](by_experiment(x))
            points.append([name, float(aggregate(x)), float(ours)])
        ours = statistics.probability_of_improvement(by_experiment(x), by_experiment(y))
        points.append(["probability", float(metrics.probability_of_improvement(x, y)), float(ours)])
        ours = statistics.performance_profile(by_experiment(x), TAUS, rng, Bootstrap(resamples=2))
        theirs = library.score_distributions(x, TAUS)
        profiles.append([theirs.tolist(), [each.mean for each in ours]])
    print(json.dumps({"points": points, "profiles": profiles, "intervals": intervals(rng)}))


def intervals(rng):
    """Both sides' ends of intervals, by statistic."""
    np.random.seed(0)  # noqa: NPY002, TID251 - rliable draws from it
    x, y = drawn(rng, 10, 6), drawn(rng, 8, 6)
    found = {}
    for name, aggregate in THEIRS.items():
        _, theirs = library.get_interval_estimates(
            {"x": x}, lambda scores, of=aggregate: np.array([of(scores)]), reps=REPETITIONS
        )
        ours = estimate(statistics.AGGREGATES[name], by_experiment(x), rng=rng, how=AS_RLIABLE)
        found[name] = [theirs["x"].ravel().tolist(), [ours.low, ours.high]]
    # Its Mann-Whitney test computes a p-value of each of the resamples, so there are fewer.
    _, theirs = library.get_interval_estimates(
        {"x,y": [x, y]},
        lambda x, y: np.array([metrics.probability_of_improvement(x, y)]),
        reps=2000,
    )
    ours = estimate(
        statistics.probability_of_improvement,
        by_experiment(x),
        by_experiment(y),
        rng=rng,
        how=AS_RLIABLE,
    )
    found["probability"] = [theirs["x,y"].ravel().tolist(), [ours.low, ours.high]]
    _, theirs = library.create_performance_profile({"x": x}, TAUS[8:10], reps=REPETITIONS)
    ours = statistics.performance_profile(by_experiment(x), TAUS[8:10], rng, AS_RLIABLE)
    ends = [*(each.low for each in ours), *(each.high for each in ours)]
    found["profile"] = [theirs["x"].ravel().tolist(), ends]
    return found


main()
