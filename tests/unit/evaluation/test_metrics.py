"""The statistics, against hand-worked numbers, brute force and simulation."""

import math
from itertools import combinations

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.evaluation.metrics import (
    Estimate,
    clustered_mean,
    is_comparable,
    majority_at_k,
    naive_binomial,
    paired_difference,
    pass_at_k,
    quantiles,
    t_cdf,
    t_quantile,
)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_pass_at_k_is_the_share_of_subsets_with_a_right_sample(n):
    for c in range(n + 1):
        right = [i < c for i in range(n)]
        for k in range(1, n + 1):
            subsets = list(combinations(right, k))
            share = sum(map(any, subsets)) / len(subsets)
            assert pass_at_k(n, c, k) == pytest.approx(share, abs=1e-12)


def test_pass_at_k_survives_large_counts():
    assert pass_at_k(100_000, 1, 1) == pytest.approx(1e-5)
    assert pass_at_k(100_000, 50_000, 20) == pytest.approx(1 - 0.5**20, rel=1e-6)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 2, 0), (4, 2, 5), (0, 0, 1)])
def test_pass_at_k_refuses_impossible_counts(n, c, k):
    with pytest.raises(ConfigError, match=r"pass@k needs"):
        pass_at_k(n, c, k)


def test_majority_of_all_samples():
    answers = ["7", "8", "7", None, "9"]
    assert majority_at_k(answers, [1, 0, 1, 0, 0], 5) == 1.0
    assert majority_at_k(["8", "7", "8"], [0, 1, 0], 3) == 0.0


def test_majority_shares_ties_and_ignores_missing_answers():
    assert majority_at_k(["7", "8"], [1, 0], 2) == 0.5
    assert majority_at_k([None, None, "7"], [0, 0, 1], 3) == 1.0
    assert majority_at_k([None, None], [0, 0], 2) == 0.0


def test_majority_of_one_is_the_mean_score_and_is_averaged_over_subsets():
    answers, scores = ["7", "8", "7", "9"], [1.0, 0.0, 1.0, 0.0]
    assert majority_at_k(answers, scores, 1) == pytest.approx(0.5)
    # Of the four triples two hold both sevens; the two others tie three ways with one seven.
    assert majority_at_k(answers, scores, 3) == pytest.approx((1 + 1 + 1 / 3 + 1 / 3) / 4)


def test_majority_takes_the_first_samples_where_subsets_are_too_many():
    answers = ["7"] * 10 + ["8"] * 20
    scores = [1.0] * 10 + [0.0] * 20
    assert math.comb(30, 15) > 1000
    assert majority_at_k(answers, scores, 15) == 1.0


@pytest.mark.parametrize(
    ("df", "quantile"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (10, 2.22814), (29, 2.04523), (120, 1.97993)],
)
def test_t_quantile_agrees_with_the_tables(df, quantile):
    assert t_quantile(0.975, df) == pytest.approx(quantile, abs=1e-5)
    assert t_cdf(quantile, df) == pytest.approx(0.975, abs=1e-6)


def test_t_quantile_has_no_jump_where_the_expansion_begins():
    assert t_quantile(0.975, 200) - t_quantile(0.975, 201) == pytest.approx(6.0e-5, abs=1e-6)
    assert t_quantile(0.975, 10**7) == pytest.approx(1.959964, abs=1e-5)


def test_clustered_error_of_single_samples_is_the_usual_one():
    scores = [0.0, 1.0, 1.0, 0.5]
    estimate = clustered_mean([[score] for score in scores])
    usual = np.std(scores, ddof=1) / 2
    assert estimate.mean == pytest.approx(0.625)
    assert estimate.se == pytest.approx(usual)
    assert estimate.high == 1.0  # clipped: a score cannot be higher
    assert estimate.low == pytest.approx(max(0.0, 0.625 - 3.18245 * usual), abs=1e-4)


def test_copies_of_a_sample_add_no_certainty():
    once = clustered_mean([[0.0], [1.0], [1.0]])
    copied = clustered_mean([[0.0] * 50, [1.0] * 50, [1.0] * 50])
    assert copied.se == pytest.approx(once.se)


def test_hand_worked_clusters_of_different_size():
    # Mean 2/3; cluster sums of the deviations: 2/3 - 0... (1-2/3)*2 = 2/3 and (0-2/3) = -2/3.
    estimate = clustered_mean([[1.0, 1.0], [0.0]])
    assert estimate.se == pytest.approx(math.sqrt(2 * (4 / 9 + 4 / 9)) / 3)


def test_no_problem_or_one_gives_no_interval():
    assert clustered_mean([]).mean is None
    assert clustered_mean([[]]).mean is None
    one = clustered_mean([[1.0, 0.0]])
    assert (one.mean, one.se, one.low, one.high) == (0.5, None, None, None)


def test_equal_scores_do_not_claim_certainty():
    solved = clustered_mean([[1.0, 1.0]] * 20)
    assert solved.high == 1.0
    # Exact bound of Clopper and Pearson for 20 of 20.
    assert solved.low == pytest.approx(0.025 ** (1 / 20))
    failed = clustered_mean([[0.0]] * 20)
    assert (failed.low, failed.high) == (0.0, pytest.approx(1 - solved.low))


def test_clustered_intervals_hold_the_truth_and_naive_ones_do_not():
    rng = np.random.default_rng(20241)
    runs, problems, samples, truth = 1500, 60, 8, 0.5
    clustered = naive = 0
    for _ in range(runs):
        # Problems differ: most are solved nearly always or nearly never.
        rates = rng.beta(0.5, 0.5, problems)
        scores = (rng.random((problems, samples)) < rates[:, None]).astype(float)
        estimate = clustered_mean(scores.tolist())
        clustered += estimate.low <= truth <= estimate.high
        low, high = naive_binomial(int(scores.sum()), scores.size)
        naive += low <= truth <= high
    assert 0.92 <= clustered / runs <= 0.97
    assert naive / runs < 0.75


def test_paired_difference_ignores_what_both_share():
    difference = paired_difference([0.1, 0.5, 0.9], [0.0, 0.4, 0.8])
    assert difference.mean == pytest.approx(0.1)
    assert difference.se == pytest.approx(0.0, abs=1e-12)
    assert paired_difference([], []).mean is None
    assert paired_difference([1.0], [0.0]).se is None
    with pytest.raises(ConfigError, match="pairs"):
        paired_difference([1.0], [])


def test_quantiles_agree_with_numpy():
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]
    marks = (0.05, 0.25, 0.5, 0.9, 1.0)
    assert quantiles(values, marks) == pytest.approx(np.quantile(values, marks).tolist())
    with pytest.raises(ConfigError):
        quantiles([], marks)


@pytest.mark.parametrize(
    ("low", "high", "comparable"),
    [(0.25, 0.75, True), (0.2, 0.75, False), (0.0, 0.5, True), (None, None, False)],
)
def test_an_interval_over_half_of_the_scale_compares_nothing(low, high, comparable):
    assert is_comparable(Estimate(0.4, 0.1, low, high)) is comparable


@pytest.mark.parametrize(("problems", "comparable"), [(4, False), (10, False), (25, True)])
def test_how_many_problems_a_score_of_a_half_needs(problems, comparable):
    scores = [[float(i % 2)] for i in range(problems)]
    assert is_comparable(clustered_mean(scores)) is comparable
