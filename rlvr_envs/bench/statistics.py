"""Statistics of many runs: pure functions on arrays of scores, each with the source of its formula.

`Scores` are one algorithm's: an array for each experiment, whose last axis is that of the seeds.
Axes before it are kept: every statistic here takes 2,000 resamples, or the points of a curve, in
one call. The aggregates are those of Agarwal et al. 2021 (arXiv 2108.13264) and equal rliable's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng
from rlvr_envs.evaluation.metrics import Estimate, t_quantile

Array = npt.NDArray[np.float64 | np.bool_]  # scores, or whether they are above a threshold
Scores = Mapping[str, Array]  # by experiment, (..., seeds)
Statistic = Callable[..., Array]  # from the scores of one algorithm, or of several, to (...)

# A run has collapsed if it ends with so much less than the start had.
COLLAPSE = 0.05

_NO_SPREAD = 1e-12  # a standard error below it is rounding


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are computed.

    Attributes:
        resamples: how many times the seeds of each experiment are drawn again.
        confidence: the share of intervals that contain the truth.
        fewer: how many seeds fewer than there are a resample has. With as many as there are
            (0, as rliable does), an interval is too narrow by ``sqrt((n - 1) / n)`` for ``n``
            seeds; with one fewer, the variance of a mean is unbiased (Rao and Wu 1988,
            Resampling inference with complex survey data, JASA 83).
    """

    resamples: int = 2000
    confidence: float = 0.95
    fewer: int = 1

    def __post_init__(self) -> None:
        if self.resamples < 2 or not 0 < self.confidence < 1 or self.fewer not in (0, 1):
            raise ConfigError(
                "a bootstrap needs resamples >= 2, 0 < confidence < 1 and fewer of 0 or 1, "
                f"got {self}"
            )


BOOTSTRAP = Bootstrap()


def normalised(scores: Array, start: float) -> Array:
    """Return scores on a scale where the start checkpoint has 0 and full marks are 1.

    Raises:
        ConfigError: the start has full marks already.
    """
    if not 0 <= start < 1:
        raise ConfigError(f"scores need a start in [0, 1) to be normalised with, got {start}")
    return np.asarray((scores - start) / (1 - start))


def iqm(scores: Scores) -> Array:
    """Return the interquartile mean: of all runs, without the lowest and the highest quarter."""
    pooled = np.sort(np.concatenate(list(_checked(scores).values()), axis=-1), axis=-1)
    runs = pooled.shape[-1]
    return np.asarray(pooled[..., runs // 4 : runs - runs // 4].mean(axis=-1))


def mean(scores: Scores) -> Array:
    """Return the mean of the experiments' means."""
    return np.asarray(_means(scores).mean(axis=0), dtype=np.float64)


def median(scores: Scores) -> Array:
    """Return the median of the experiments' means."""
    return np.asarray(np.median(_means(scores), axis=0), dtype=np.float64)


def optimality_gap(scores: Scores, gamma: float = 1.0) -> Array:
    """Return how much is missing to ``gamma``, on average; what is above it counts as ``gamma``."""
    return np.asarray(
        gamma - mean({name: np.minimum(values, gamma) for name, values in scores.items()})
    )


AGGREGATES: Mapping[str, Statistic] = {
    "iqm": iqm,
    "mean": mean,
    "median": median,
    "optimality_gap": optimality_gap,
}


def probability_of_improvement(x: Scores, y: Scores) -> Array:
    """Return the chance that a run of X scores more than one of Y, averaged over experiments.

    A tie counts one half (Mann and Whitney's U over the number of pairs).

    Raises:
        ConfigError: X and Y are of different experiments.
    """
    _check_same(x, y)
    x, y = _checked(x), _checked(y)
    signs = [np.sign(x[name][..., :, None] - y[name][..., None, :]).mean((-2, -1)) for name in x]
    return np.asarray(0.5 + np.mean(signs, axis=0) / 2)


def difference(x: Array, y: Array, confidence: float = 0.95) -> Estimate:
    """Return how much more X scores than Y in one experiment, with Welch's t interval.

    For few seeds of a single experiment a bootstrap is too sure of itself (Colas et al. 2019,
    arXiv 1904.06979). Where no score varies, the interval is the difference alone.
    """
    gap = float(x.mean() - y.mean())
    if min(len(x), len(y)) < 2:
        return Estimate(gap, None, None, None)
    variances = [float(each.var(ddof=1)) / len(each) for each in (x, y)]
    se = math.sqrt(math.fsum(variances))
    if se < _NO_SPREAD:
        return Estimate(gap, 0.0, gap, gap)
    shares = (v**2 / (len(each) - 1) for v, each in zip(variances, (x, y), strict=True))
    # Rounded down, which makes the interval a little wider.
    freedom = max(1, math.floor(se**4 / math.fsum(shares)))
    reach = t_quantile(0.5 + confidence / 2, freedom) * se
    return Estimate(gap, se, gap - reach, gap + reach)


def performance_profile(
    scores: Scores, taus: Sequence[float], rng: Rng, how: Bootstrap = BOOTSTRAP
) -> list[Estimate]:
    """Return for each ``tau`` the share of runs that score more, with a pointwise interval."""
    levels = np.asarray(taus, dtype=float)[:, None]
    above = {name: np.asarray(values) > levels for name, values in scores.items()}
    return estimates(_share, above, rng=rng, how=how)


def score_at(spent: Sequence[float], scores: Sequence[float], budgets: Sequence[float]) -> Array:
    """Return a run's score when it had spent each budget, linear between its evaluations.

    Before its first evaluation and after its last one, a run has the score of that one.

    Raises:
        ConfigError: there are no evaluations, or they are not in the order of what was spent.
    """
    if not len(spent) == len(scores) > 0 or np.any(np.diff(spent) < 0):
        raise ConfigError(
            "a run needs evaluations in the order of what was spent, each with its score, "
            f"got spent={list(spent)} and {len(scores)} scores"
        )
    return np.interp(budgets, spent, scores)


def collapse_rate(
    final: Scores, start: Mapping[str, float], failed: Mapping[str, npt.NDArray[np.bool_]]
) -> float:
    """Return the share of runs that failed or ended more than `COLLAPSE` below the start."""
    collapsed = [failed[name] | (start[name] - final[name] > COLLAPSE) for name in final]
    return float(np.concatenate(collapsed).mean())


def estimate(
    statistic: Statistic, *samples: Scores, rng: Rng, how: Bootstrap = BOOTSTRAP
) -> Estimate:
    """Return a statistic of one algorithm's scores, or of several's, with its interval.

    The stratified bootstrap: the seeds of each experiment and each algorithm are drawn again with
    replacement, and the interval has the quantiles of the statistic of these resamples
    (percentiles). A single seed of an experiment leaves no way to know: then there is none.

    Raises:
        ConfigError: scores are missing or not finite, or the experiments differ.
    """
    (found,) = estimates(statistic, *samples, rng=rng, how=how)
    return found


def estimates(
    statistic: Statistic, *samples: Scores, rng: Rng, how: Bootstrap = BOOTSTRAP
) -> list[Estimate]:
    """Return what `estimate` does, for scores with an axis before that of the seeds.

    The points along this axis share their resamples, so a run stays whole.
    """
    arrays = [_checked(each) for each in samples]
    values = np.atleast_1d(statistic(*arrays)).tolist()
    if min(array.shape[-1] for each in arrays for array in each.values()) < 2:
        return [Estimate(value, None, None, None) for value in values]
    resampled = [{name: _resampled(a, rng, how) for name, a in each.items()} for each in arrays]
    draws = np.atleast_2d(statistic(*resampled))
    tail = (1 - how.confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=-1).tolist()
    errors = draws.std(axis=-1, ddof=1).tolist()
    return [Estimate(*found) for found in zip(values, errors, low, high, strict=True)]


def _resampled(array: Array, rng: Rng, how: Bootstrap) -> Array:
    seeds = array.shape[-1]
    return array[..., rng.integers(seeds, size=(how.resamples, seeds - how.fewer))]


def _share(above: Scores) -> Array:
    return np.asarray(np.concatenate(list(above.values()), axis=-1).mean(axis=-1))


def _means(scores: Scores) -> Array:
    return np.array([values.mean(axis=-1) for values in _checked(scores).values()])


def _checked(scores: Scores) -> dict[str, Array]:
    arrays = {name: np.asarray(values) for name, values in scores.items()}
    bad = [
        name
        for name, values in arrays.items()
        if not (values.ndim and values.shape[-1] and np.isfinite(values).all())
    ]
    if bad or not arrays:
        where = f"not so: {', '.join(bad)}" if bad else "there is no experiment"
        raise ConfigError(f"each experiment needs at least one score, all of them finite; {where}")
    return arrays


def _check_same(x: Scores, y: Scores) -> None:
    lacking = {"X": y.keys() - x.keys(), "Y": x.keys() - y.keys()}
    told = [f"{name} lacks {', '.join(sorted(gone))}" for name, gone in lacking.items() if gone]
    if told:
        raise ConfigError(
            f"X and Y are of different experiments: {'; '.join(told)}; compare those they share"
        )
