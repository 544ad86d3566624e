"""The sigmoid over compute: known parameters come back, and what is not known is said."""

import numpy as np
import pytest

from rlvr_envs.agents.grpo.tracking.scaling import fit_runs, fit_sigmoid
from rlvr_envs.core.errors import ConfigError

STEPS = np.arange(0, 401, 5)


def sigmoid(steps, start, end, midpoint, exponent):
    found = np.full(len(steps), float(start))
    later = steps > 0
    found[later] += (end - start) / (1 + (midpoint / steps[later]) ** exponent)
    return found


@pytest.mark.parametrize(
    "known",
    [
        (0.2, 0.61, 80.0, 1.7),
        (0.0, 0.9, 20.0, 0.8),
        (0.35, 0.55, 150.0, 4.0),
        (0.6, 0.1, 50.0, 2.0),
    ],
)
def test_known_parameters_come_back(known):
    curve = fit_sigmoid(STEPS, sigmoid(STEPS, *known))
    found = (curve.start, curve.asymptote, curve.midpoint, curve.exponent)
    assert found == pytest.approx(known, rel=2e-3, abs=2e-3)
    assert curve.residual < 1e-4
    assert curve.determined
    assert curve(0) == pytest.approx(known[0], abs=1e-3)
    assert curve(known[2]) == pytest.approx((known[0] + known[1]) / 2, abs=2e-3)


def test_noise_leaves_them_near_and_is_measured():
    rng = np.random.default_rng(0)
    noisy = sigmoid(STEPS, 0.2, 0.7, 60.0, 1.5) + rng.normal(scale=0.03, size=len(STEPS))
    curve = fit_sigmoid(STEPS, noisy)
    assert curve.asymptote == pytest.approx(0.7, abs=0.06)
    assert curve.midpoint == pytest.approx(60, rel=0.3)
    assert curve.residual == pytest.approx(0.03, rel=0.25)


def test_the_first_half_tells_the_rest_as_it_was_published_for():
    curve = fit_sigmoid(STEPS[:41], sigmoid(STEPS[:41], 0.2, 0.7, 60.0, 1.5))
    assert curve(400) == pytest.approx(sigmoid(np.array([400]), 0.2, 0.7, 60.0, 1.5)[0], abs=5e-3)


def test_a_line_that_has_not_bent_is_not_determined():
    curve = fit_sigmoid(STEPS, 0.1 + 0.001 * STEPS)
    assert not curve.determined
    assert "not determined" in str(curve)


def test_a_mere_step_is_not_determined():
    assert not fit_sigmoid(STEPS, np.where(STEPS > 100, 0.5, 0.2)).determined


def test_no_asymptote_is_beyond_full_marks():
    rising = sigmoid(STEPS, 0.2, 1.6, 300.0, 2.0)
    assert fit_sigmoid(STEPS, rising).asymptote == 1.0
    assert fit_sigmoid(STEPS, rising, most=2.0).asymptote == pytest.approx(1.6, abs=0.01)


@pytest.mark.parametrize(
    ("compute", "reward"),
    [
        ([1, 2, 3, 4], [0, 0, 0, 0]),
        ([2] * 6, [0] * 6),
        (range(-1, 5), [0] * 6),
        (range(6), [0] * 5),
    ],
)
def test_too_little_is_refused(compute, reward):
    with pytest.raises(ConfigError, match="5 points or more, of different compute from 0"):
        fit_sigmoid(list(compute), list(reward))


def test_supervised_steps_are_no_compute():
    values = sigmoid(STEPS, 0.2, 0.6, 80.0, 1.7)
    begun = {step: {"imitation/loss": 1.0} for step in range(1, 51)}
    begun[0] = {"reward/mean": 0.0}
    late = {50 + int(s): {"reward/mean": v} for s, v in zip(STEPS, values, strict=True)}
    late[50]["imitation/loss"] = 1.0
    curve = fit_runs([begun | late], "reward/mean")
    assert (curve.start, curve.midpoint) == pytest.approx((0.2, 80), rel=5e-3)
    assert curve.points == len(STEPS)
    assert fit_runs([begun], "reward/mean") is None


def test_seeds_are_fitted_together():
    values = sigmoid(STEPS, 0.2, 0.6, 80.0, 1.7)
    runs = [
        {int(s): {"reward/mean": v + shift} for s, v in zip(STEPS, values, strict=True)}
        for shift in (-0.05, 0.05)
    ]
    curve = fit_runs(runs, "reward/mean")
    assert (curve.start, curve.asymptote) == pytest.approx((0.2, 0.6), abs=3e-3)
    assert curve.residual == pytest.approx(0.05, abs=1e-3)
