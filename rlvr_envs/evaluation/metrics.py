"""Statistics of evaluations: pure functions on numbers, each with the source of its formula.

Nothing here knows of tasks, files or episodes; `rlvr_envs.evaluation.summary` applies these to
the records of a run.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist

from rlvr_envs.core.errors import ConfigError

# Above this many subsets, the majority vote is taken over the first k samples alone.
MAX_SUBSETS = 1000

# Of an interval that says something about a score, which lies between 0 and 1.
MAX_WIDTH = 0.5

# From these degrees of freedom on, an asymptotic expansion replaces the exact t distribution.
_ASYMPTOTIC_DF = 200


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its standard error and confidence interval.

    ``se``, ``low`` and ``high`` are None where a single problem (or none) leaves no way to know.
    """

    mean: float | None
    se: float | None
    low: float | None
    high: float | None


def is_comparable(estimate: Estimate) -> bool:
    """Return whether an interval is narrow enough for its mean to be compared with others.

    One that is wider than `MAX_WIDTH` holds over half of all possible scores: it cannot tell a
    weak policy (0.25) from a strong one (0.75). A single problem has no interval at all.
    """
    if estimate.low is None or estimate.high is None:
        return False
    return estimate.high - estimate.low <= MAX_WIDTH


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that one of ``k`` samples is right, from ``c`` right ones among ``n``.

    The unbiased estimator ``1 - C(n - c, k) / C(n, k)`` of Chen et al. 2021 (arXiv 2107.03374,
    section 2.1), in the form of a product that never overflows.

    Raises:
        ConfigError: not ``0 <= c <= n`` or not ``1 <= k <= n``.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ConfigError(f"pass@k needs 0 <= c <= n and 1 <= k <= n, got n={n}, c={c}, k={k}")
    if n - c < k:
        return 1.0
    missed = 1.0
    for i in range(n - c + 1, n + 1):
        missed *= 1.0 - k / i
    return 1.0 - missed


def majority_at_k(answers: Sequence[str | None], scores: Sequence[float], k: int) -> float:
    """Return the expected score of the answer that most of ``k`` samples give.

    The self-consistency vote of Wang et al. 2022 (arXiv 2203.11171), averaged over every subset
    of ``k`` of the samples where there are at most `MAX_SUBSETS`, and taken over the first ``k``
    otherwise. Answers that tie share the vote. A sample without an answer (None) does not vote;
    where nobody votes, the score is 0.

    Raises:
        ConfigError: the lengths differ, or not ``1 <= k <= n``.
    """
    n = len(answers)
    if len(scores) != n or not 1 <= k <= n:
        raise ConfigError(f"maj@k needs as many scores as answers and 1 <= k <= n={n}, got k={k}")
    earned: dict[str, list[float]] = {}
    for answer, score in zip(answers, scores, strict=True):
        if answer is not None:
            earned.setdefault(answer, []).append(score)
    worth = {answer: math.fsum(got) / len(got) for answer, got in earned.items()}
    if math.comb(n, k) > MAX_SUBSETS:
        return _vote(answers[:k], worth)
    votes = [_vote(chosen, worth) for chosen in combinations(answers, k)]
    return math.fsum(votes) / len(votes)


def _vote(answers: Sequence[str | None], worth: dict[str, float]) -> float:
    counts = Counter(answer for answer in answers if answer is not None)
    if not counts:
        return 0.0
    most = max(counts.values())
    winners = [worth[answer] for answer, count in counts.items() if count == most]
    return math.fsum(winners) / len(winners)


def clustered_mean(clusters: Sequence[Sequence[float]], confidence: float = 0.95) -> Estimate:
    """Return the mean of scores in [0, 1] with an interval that knows which share a problem.

    The cluster-robust standard error of Miller 2024 (arXiv 2411.00640, section 2.2)::

        se = sqrt(G / (G - 1) * sum over problems of (sum of (score - mean))**2) / n

    with the usual correction for few clusters, and the interval of `bounded_interval` for ``G``
    problems. Treating the samples of one problem as independent is far too sure of
    itself: such a "95 %" interval holds the truth about 69 % of the time with 8 samples a problem.
    """
    filled = [list(cluster) for cluster in clusters if len(cluster)]
    n = sum(len(cluster) for cluster in filled)
    if n == 0:
        return Estimate(None, None, None, None)
    mean = math.fsum(score for cluster in filled for score in cluster) / n
    groups = len(filled)
    if groups < 2:
        return Estimate(mean, None, None, None)
    spread = math.fsum(math.fsum(s - mean for s in cluster) ** 2 for cluster in filled)
    se = math.sqrt(groups / (groups - 1) * spread) / n
    return Estimate(mean, se, *bounded_interval(mean, se, groups, confidence))


def bounded_interval(
    mean: float, se: float, groups: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval for the mean of numbers in [0, 1] that rare ones do not narrow to nothing.

    It is the hull of three, each of which is too narrow where another is not:

    - Student's t with ``groups - 1`` degrees of freedom;
    - the same with a variance that grows with m (1 - m) as that of a share does, so that it is
      Wilson's interval (1927) for shares, and reaches further on the side of rarer values;
    - what a share of exceptions that may have gone unseen can do, each of them 0 or 1 (Clopper and
      Pearson 1934 with no exception among ``groups``): after 20 solved problems of 20, the rate
      may well be 0.85.

    Simulated coverage of the 95 % interval is in tests/unit/evaluation/test_coverage.py.
    """
    unseen = 1.0 - ((1.0 - confidence) / 2) ** (1.0 / groups)
    low, high = mean * (1.0 - unseen), mean * (1.0 - unseen) + unseen
    if se >= 1e-12 and 0.0 < mean < 1.0:
        reach = t_quantile(0.5 + confidence / 2, groups - 1) * se
        share = reach**2 / (mean * (1.0 - mean))
        middle = (2 * mean + share) / (2 * (1 + share))
        spread = math.sqrt(max(0.0, middle**2 - mean**2 / (1 + share)))
        low = min(low, mean - reach, middle - spread)
        high = max(high, mean + reach, middle + spread)
    return max(0.0, low), min(1.0, high)


def naive_binomial(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the textbook interval ``p ± z sqrt(p (1 - p) / n)``, which ignores clusters.

    Here only for comparison: see `clustered_mean` for why it is not used.
    """
    p = successes / n
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(p * (1 - p) / n)
    return p - reach, p + reach


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    confidence: float = 0.95,
    *,
    clusters: Sequence[str] | None = None,
) -> Estimate:
    """Return the mean difference of two policies' problem means, problem by problem.

    Comparing on the same problems removes the variance between problems (Miller 2024, section
    4.2); the interval is that of `bounded_interval` for half of one and the difference. Where
    several values belong together, ``clusters`` names for each what it belongs to, and the standard
    error is that of `clustered_mean`.

    Raises:
        ConfigError: the lengths differ.
    """
    if len(first) != len(second):
        raise ConfigError(f"pairs are needed, got {len(first)} and {len(second)} values")
    differences = [a - b for a, b in zip(first, second, strict=True)]
    n = len(differences)
    if n == 0:
        return Estimate(None, None, None, None)
    mean = math.fsum(differences) / n
    together: dict[object, list[float]] = {}
    for name, difference in zip(clusters or range(n), differences, strict=True):
        together.setdefault(name, []).append(difference - mean)
    groups = len(together)
    if groups < 2:
        return Estimate(mean, None, None, None)
    spread = math.fsum(math.fsum(each) ** 2 for each in together.values())
    se = math.sqrt(groups / (groups - 1) * spread) / n
    low, high = bounded_interval((1.0 + mean) / 2, se / 2, groups, confidence)
    return Estimate(mean, se, 2 * low - 1.0, 2 * high - 1.0)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: int) -> float:
    """Return the quantile of Student's t distribution for ``0.5 <= p < 1``.

    Bisection on the exact distribution; for many degrees of freedom the expansion of Abramowitz
    and Stegun 26.7.5.

    Raises:
        ConfigError: ``p`` or ``df`` is out of range.
    """
    if not 0.5 <= p < 1.0 or df < 1:
        raise ConfigError(f"need 0.5 <= p < 1 and df >= 1, got p={p}, df={df}")
    if df > _ASYMPTOTIC_DF:
        x = NormalDist().inv_cdf(p)
        second = (5 * x**5 + 16 * x**3 + 3 * x) / 96
        return x + (x**3 + x) / (4 * df) + second / df**2
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        high *= 2.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def t_cdf(t: float, df: int) -> float:
    """Return Student's t distribution function, from its finite series for whole ``df``.

    Abramowitz and Stegun 26.7.3 (odd) and 26.7.4 (even).
    """
    angle = math.atan(t / math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    start, term = (1, cosine) if df % 2 else (0, 1.0)
    total = 0.0
    for j in range(start, df - 1, 2):
        total += term
        term *= cosine * cosine * (j + 1) / (j + 2)
    inner = 2 / math.pi * (angle + sine * total) if df % 2 else sine * total
    return 0.5 + inner / 2


def quantiles(values: Sequence[float], probabilities: Sequence[float]) -> list[float]:
    """Return quantiles by linear interpolation (type 7 of Hyndman and Fan 1996).

    Raises:
        ConfigError: there are no values.
    """
    if not values:
        raise ConfigError("quantiles need at least one value")
    ordered = sorted(values)
    found = []
    for p in probabilities:
        place = p * (len(ordered) - 1)
        below = math.floor(place)
        above = min(below + 1, len(ordered) - 1)
        found.append(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
    return found
