"""Aggregates against hand-worked numbers, laws of the intervals, and how often they are right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_envs.bench import statistics
from rlvr_envs.bench.statistics import Bootstrap, estimate, estimates
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream

FEW = Bootstrap(resamples=200)


def scores(**experiments):
    return {name: np.array(values, dtype=float) for name, values in experiments.items()}


score = st.integers(0, 20).map(lambda twentieths: twentieths / 20)  # so that ties are common
experiments = st.dictionaries(
    st.sampled_from("abcd"), st.lists(score, min_size=2, max_size=6), min_size=1
).map(lambda found: scores(**found))


def test_normalised_scores():
    assert statistics.normalised(np.array([0.2, 0.6, 1.0, 0.0]), 0.2).tolist() == [
        0.0,
        pytest.approx(0.5),
        1.0,
        -0.25,
    ]
    for start in (1.0, -0.1, float("nan")):
        with pytest.raises(ConfigError, match="start"):
            statistics.normalised(np.array([0.5]), start)


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end():
    assert statistics.iqm(scores(a=[0, 7, 2, 5], b=[4, 3, 6, 1])) == 3.5  # of 2, 3, 4, 5
    assert statistics.iqm(scores(a=[10, 0, 0, 1, 2, 0])) == 0.75  # of 0, 0, 1, 2
    assert statistics.iqm(scores(a=[0.25])) == 0.25


def test_mean_median_and_gap_are_of_the_experiments():
    found = scores(a=[0, 1], b=[0.2, 0.2], c=[0.9, 1.5])
    assert statistics.mean(found) == pytest.approx((0.5 + 0.2 + 1.2) / 3)
    assert statistics.median(found) == 0.5
    assert statistics.optimality_gap(found) == pytest.approx((0.5 + 0.8 + 0.05) / 3)
    assert statistics.optimality_gap(found, gamma=0.5) == pytest.approx((0.25 + 0.3 + 0) / 3)


def test_the_probability_of_improvement_counts_ties_half():
    x, y = scores(a=[1, 2, 3], b=[1]), scores(b=[0], a=[2, 2])
    # a: 1 loses twice, 2 ties twice, 3 wins twice; b: 1 wins
    assert statistics.probability_of_improvement(x, y) == 0.75
    assert statistics.probability_of_improvement(y, x) == 0.25


def test_a_profile_is_the_share_of_runs_above():
    found = statistics.performance_profile(
        scores(a=[0, 0.5], b=[0.5, 1]), [-0.1, 0, 0.5, 1], stream("profile")
    )
    assert [each.mean for each in found] == [1.0, 0.75, 0.25, 0.0]
    assert (found[0].low, found[0].high) == (1.0, 1.0)
    assert found[1].low < 0.75 < found[1].high


def test_scores_between_evaluations():
    spent, got = [0, 100, 300], [0.1, 0.3, 0.9]
    found = statistics.score_at(spent, got, [0, 50, 100, 200, 300, 500])
    assert found.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.6, 0.9, 0.9])


@pytest.mark.parametrize("spent", [[0, 2, 1], [0, 1], []])
def test_evaluations_out_of_order_are_an_error(spent):
    with pytest.raises(ConfigError, match="in the order of what was spent"):
        statistics.score_at(spent, [0.1, 0.2, 0.3], [1])


def test_runs_that_failed_or_fell_have_collapsed():
    final = scores(a=[0.5, 0.4, 0.46], b=[0.9, 0.1])
    start = {"a": 0.5, "b": 0.1}
    failed = {"a": np.array([False, False, False]), "b": np.array([True, False])}
    assert statistics.collapse_rate(final, start, failed) == 0.4  # 0.4 fell, 0.9 failed


@pytest.mark.parametrize("bad", [{}, {"a": []}, {"a": [0.5, float("nan")]}, {"a": 0.5}])
def test_missing_scores_are_an_error(bad):
    for aggregate in statistics.AGGREGATES.values():
        with pytest.raises(ConfigError, match="at least one score"):
            estimate(aggregate, scores(**bad), rng=stream("missing"))


def test_different_experiments_are_an_error_that_names_them():
    with pytest.raises(ConfigError, match=r"X lacks b, d; Y lacks a"):
        statistics.probability_of_improvement(scores(a=[1], c=[1]), scores(b=[1], c=[1], d=[1]))


@pytest.mark.parametrize("settings", [{"resamples": 1}, {"confidence": 1.0}, {"fewer": 2}])
def test_a_senseless_bootstrap_is_refused(settings):
    with pytest.raises(ConfigError, match="a bootstrap needs"):
        Bootstrap(**settings)


def test_a_single_seed_has_no_interval():
    found = estimate(statistics.iqm, scores(a=[0.1, 0.2], b=[0.5]), rng=stream("single"))
    assert (found.se, found.low, found.high) == (None, None, None)
    assert found.mean == pytest.approx(0.8 / 3)


def test_the_points_of_a_curve_are_estimated_together():
    curve = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]])
    first, last = estimates(statistics.mean, {"a": curve}, rng=stream("curve"), how=FEW)
    assert (first.mean, first.low, first.high) == (0, 0, 0)
    assert last == estimate(statistics.mean, {"a": curve[1]}, rng=stream("curve"), how=FEW)


@given(experiments)
@settings(max_examples=50, deadline=None)
def test_the_order_of_seeds_and_experiments_does_not_matter(found):
    other = {name: values[::-1] for name, values in reversed(found.items())}
    for aggregate in statistics.AGGREGATES.values():
        assert aggregate(found) == pytest.approx(aggregate(other), abs=1e-12)


@given(experiments)
@settings(max_examples=50, deadline=None)
def test_an_algorithm_neither_improves_on_itself_nor_differs_from_it(found):
    itself = estimate(
        statistics.probability_of_improvement, found, found, rng=stream("self"), how=FEW
    )
    assert itself.mean == 0.5
    assert 0 <= itself.low <= itself.high <= 1


@given(experiments, experiments)
@settings(max_examples=50, deadline=None)
def test_the_probabilities_of_a_pair_add_up_to_one(x, y):
    shared = x.keys() & y.keys()
    x, y = ({name: each[name] for name in sorted(shared)} for each in (x, y))
    if shared:
        both = statistics.probability_of_improvement(x, y)
        assert both + statistics.probability_of_improvement(y, x) == pytest.approx(1)


@given(experiments, st.integers(1, 10))
@settings(max_examples=50, deadline=None)
def test_aggregates_move_with_the_scores(found, tenths):
    moved = {name: values + tenths / 10 for name, values in found.items()}
    for name in ("iqm", "mean", "median"):
        aggregate = statistics.AGGREGATES[name]
        assert aggregate(moved) == pytest.approx(aggregate(found) + tenths / 10)


def test_the_bootstraps_error_is_that_of_the_mean():
    """Drawing one seed fewer makes it unbiased: the textbook's standard error, s / sqrt(n)."""
    values = np.array([0.1, 0.4, 0.35, 0.8])
    found = estimate(
        statistics.mean, {"a": values}, rng=stream("error"), how=Bootstrap(resamples=50_000)
    )
    assert found.se == pytest.approx(values.std(ddof=1) / 2, rel=0.02)


def coverage(seeds, how, repetitions=500):
    """The share of intervals of the mean that hold the truth, over six experiments."""
    rng, hits = stream("coverage", seeds), 0
    for _ in range(repetitions):
        sample = {str(e): rng.beta(2, 3, seeds) for e in range(6)}
        found = estimate(statistics.mean, sample, rng=rng, how=how)
        hits += found.low <= 0.4 <= found.high
    return hits / repetitions


def test_intervals_of_ten_seeds_hold_the_truth_as_often_as_they_say():
    assert 0.93 <= coverage(10, Bootstrap(resamples=400)) <= 0.97  # 0.945 in 3,000 repetitions


def test_drawing_one_seed_fewer_mends_much_of_what_few_seeds_leave_out():
    narrow, mended = (coverage(3, Bootstrap(resamples=400, fewer=fewer)) for fewer in (0, 1))
    assert narrow < 0.88 < mended < 0.95  # 0.848 and 0.915 in 3,000 repetitions


def test_welchs_interval_of_a_difference():
    x, y = np.array([0.0, 0.2, 0.4]), np.array([0.5, 0.5, 0.5, 0.7])
    found = statistics.difference(x, y)
    # variances 0.04 / 3 and 0.01 / 4; 2.6 degrees of freedom, so those of t are 2: 4.3027
    assert found.mean == pytest.approx(-0.35)
    assert found.se == pytest.approx(np.sqrt(0.04 / 3 + 0.01 / 4))
    assert found.high == pytest.approx(-0.35 + 4.302653 * found.se, abs=1e-6)
    same = statistics.difference(y[:3], y[:3])
    assert (same.mean, same.low, same.high) == (0, 0, 0)
    assert statistics.difference(x[:1], y).low is None
