"""How often the 95 % intervals hold the truth, in simulation."""

import numpy as np
import pytest

from rlvr_envs.evaluation.metrics import clustered_mean, paired_difference

RUNS = 400
LEAST = 0.92  # of 400 runs; the standard error of 0.95 is 0.011

SCORES = {
    "never": (lambda rng, n: np.zeros(n), 0.0),
    "share 0.005": (lambda rng, n: (rng.random(n) < 0.005) * 1.0, 0.005),
    "share 0.03": (lambda rng, n: (rng.random(n) < 0.03) * 1.0, 0.03),
    "share 0.2": (lambda rng, n: (rng.random(n) < 0.2) * 1.0, 0.2),
    "share 0.5": (lambda rng, n: (rng.random(n) < 0.5) * 1.0, 0.5),
    "share 0.98": (lambda rng, n: (rng.random(n) < 0.98) * 1.0, 0.98),
    "rare and small": (lambda rng, n: (rng.random(n) < 1 / 120) * 0.018, 0.018 / 120),
    "rare and partial": (lambda rng, n: (rng.random(n) < 0.03) * rng.random(n) / 2, 0.0075),
    "mostly small": (
        lambda rng, n: np.where(rng.random(n) < 0.03, 1.0, rng.random(n) / 100),
        0.03485,
    ),
    "skewed": (lambda rng, n: rng.beta(0.2, 2.0, n), 1 / 11),
    "even": (lambda rng, n: rng.beta(5.0, 5.0, n), 0.5),
}


@pytest.mark.parametrize("n", [10, 30, 120])
@pytest.mark.parametrize("name", SCORES)
def test_an_interval_of_a_mean_holds_the_truth(name, n):
    draw, truth = SCORES[name]
    rng = np.random.default_rng([n, len(name)])
    held = 0
    for _ in range(RUNS):
        found = clustered_mean([[score] for score in draw(rng, n)])
        held += found.low <= truth <= found.high
    assert held / RUNS >= LEAST


@pytest.mark.parametrize("samples", [1, 8])
def test_samples_of_a_problem_are_not_independent(samples):
    rng = np.random.default_rng(samples)
    held = 0
    for _ in range(RUNS):
        rates = rng.beta(0.3, 0.7, 40)
        scores = (rng.random((40, samples)) < rates[:, None]).astype(float)
        found = clustered_mean(scores.tolist())
        held += found.low <= 0.3 <= found.high
    assert held / RUNS >= LEAST


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.4])
def test_an_interval_of_a_difference_holds_the_truth(rate):
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(RUNS):
        first = (rng.random(60) < rate).astype(float)
        second = np.where(rng.random(60) < 0.5, first, (rng.random(60) < rate / 2).astype(float))
        found = paired_difference(first.tolist(), second.tolist())
        held += found.low <= rate - (rate / 2 + rate / 4) <= found.high
    assert held / RUNS >= LEAST


def test_rare_scores_do_not_make_an_interval_vanish():
    none = clustered_mean([[0.0]] * 60)
    assert none.low == 0.0
    assert none.high == pytest.approx(0.0596, abs=1e-3)
    rare = clustered_mean([[0.018]] + [[0.0]] * 119)
    assert rare.high > 0.03
    assert rare.low <= 0.018 / 120
