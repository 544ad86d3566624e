"""AdaptiveGroup against Reinforce-Ada's rules."""

import json

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.curricula import AdaptiveGroup


def filled(mode, *rounds, **options):
    group = AdaptiveGroup(mode, **({"batch": 4} | options))
    for scores in rounds:
        group.add(scores)
    return group


@pytest.mark.parametrize(
    ("mode", "rounds", "wanted"),
    [
        ("positive", [[0, 0, 0, 0]], 4),
        ("positive", [[0, 0, 0, 0], [0, 0, 0, 1]], 0),
        ("positive", [[1, 1, 1, 1]], 0),
        ("balanced", [[1, 1, 1, 1]], 4),
        ("balanced", [[1, 1, 1, 0]], 4),
        ("balanced", [[1, 1, 0, 0]], 0),
        ("balanced", [[1, 1, 1, 0], [1, 0, 1, 1]], 0),
        ("balanced", [[1, 1, 1, 1]] * 4, 0),
        ("positive", [[0.7, 0.7, 0.7, 0.7]], 4),
        ("positive", [[0.71, 0, 0, 0]], 0),
    ],
)
def test_when_sampling_stops(mode, rounds, wanted):
    assert filled(mode, *rounds).wanted() == wanted


def test_half_of_each_side_is_kept_and_all_make_the_baseline():
    group = filled("balanced", [0, 0, 0, 1], [0, 0, 1, 1])
    assert group.chosen() == [0, 1, 3, 6]
    assert group.advantages() == pytest.approx([-0.375, -0.375, 0.625, 0.625])
    deviation = (3 / 8 * 5 / 8) ** 0.5
    assert group.advantages(scaled=True) == pytest.approx(
        [each / deviation for each in group.advantages()], rel=1e-5
    )


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ([0, 0, 0, 0, 1], [0, 1, 2, 4]),
        ([1, 1, 1, 1, 0], [0, 1, 2, 4]),
        ([0] * 6, [0, 1, 2, 3]),
        ([1, 0], [0, 1]),
    ],
)
def test_the_other_side_fills_up(scores, chosen):
    assert filled("positive", scores).chosen() == chosen


def test_a_group_without_a_signal_teaches_nothing():
    assert filled("positive", [0] * 4, [0] * 4).advantages(scaled=True) == [0.0] * 4
    assert AdaptiveGroup().advantages() == []
    assert AdaptiveGroup().chosen() == []


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_more_groups_have_a_signal_than_at_a_fixed_size(chance):
    """The paper: groups whose scores are all alike nearly vanish, at a cost that fits the problem."""
    rng = np.random.default_rng(0)
    alike_fixed = alike_adaptive = spent = 0
    for _ in range(300):
        alike_fixed += len(set((rng.random(4) < chance).tolist())) == 1
        group = AdaptiveGroup("balanced")
        while group.wanted():
            group.add((rng.random(group.wanted()) < chance).astype(float).tolist())
        alike_adaptive += len({group.scores[index] for index in group.chosen()}) == 1
        spent += len(group.scores)
    assert alike_adaptive < 0.1 * alike_fixed + 15
    assert alike_adaptive < alike_fixed
    assert spent / 300 < (10 if chance == 0.5 else 24)


def test_a_state_goes_through_json():
    group, other = filled("balanced", [1, 1, 1, 1]), AdaptiveGroup(batch=4)
    other.load_state_dict(json.loads(json.dumps(group.state_dict())))
    for each in (group, other):
        each.add([0, 0, 0, 1])
    assert other.chosen() == group.chosen()
    assert other.wanted() == group.wanted() == 0
    for wrong in ({}, {"round": -1, "scores": []}, {"round": 1, "scores": [2]}, None):
        with pytest.raises(ConfigError):
            other.load_state_dict(wrong)
    assert other.state_dict() == group.state_dict()


def test_misuse():
    with pytest.raises(UsageError, match="finished"):
        filled("positive", [1, 0]).add([1])
    for options in (
        {"mode": "none"},
        {"keep": 3},
        {"batch": 0},
        {"rounds": 0},
        {"positive_above": 2},
    ):
        with pytest.raises(ConfigError):
            AdaptiveGroup(**options)
    with pytest.raises(ConfigError, match="shaped"):
        AdaptiveGroup().add([1.5])
