"""Streams are keyed, not counted."""

from itertools import pairwise

import numpy as np
import pytest

from rlvr_envs.core.seeding import draw_seed, fan_out, integer, integers, nonzero, pick, stream


def test_equal_keys_give_equal_streams():
    assert stream("a", 1).integers(0, 2**60) == stream("a", 1).integers(0, 2**60)


def test_different_keys_give_different_streams():
    keys = [
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("a", 0, 0),
        ("a", 2**32),
        ("a", 1, 2),
        ("a", 1 + 2 * 2**32),
    ]
    assert len({int(stream(*key).integers(0, 2**60)) for key in keys}) == len(keys)


def test_the_values_of_a_stream_never_change():
    # A change here breaks every stored row: it would need new versions of all ids.
    assert stream("rlvr/Gcd-v0", 7).integers(0, 1000, 5).tolist() == GOLDEN


GOLDEN = [440, 101, 565, 359, 437]


def test_neighbouring_fans_do_not_overlap():
    fans = [set(fan_out(seed, 100)) for seed in range(20)]
    assert fan_out(5, 3)[0] == 5
    assert all(len(fan) == 100 for fan in fans)
    assert all(not a & b for a, b in pairwise(fans))


@pytest.mark.parametrize("high", [0, 1, 9, 2**31, 2**62, 2**63, 2**64, 10**40])
def test_integers_of_any_size_stay_in_bounds_and_reach_far(high):
    rng = np.random.default_rng(0)
    drawn = [integer(rng, -3, high) for _ in range(200)]
    assert min(drawn) >= -3
    assert max(drawn) <= high
    assert max(drawn) >= high * 0.9
    many = integers(rng, -3, high, 50)
    assert all(-3 <= value <= high for value in many)
    assert all(type(value) is int for value in (*many, *drawn))


def test_small_ranges_are_even():
    rng = np.random.default_rng(0)
    counts = [0] * 4
    for _ in range(4000):
        counts[integer(rng, 0, 3)] += 1
    assert min(counts) > 850


def test_nonzero_and_pick():
    rng = np.random.default_rng(0)
    assert {nonzero(rng, 2) for _ in range(200)} == {-2, -1, 1, 2}
    assert {pick(rng, "abc") for _ in range(100)} == set("abc")


def test_problem_seeds_are_exact_in_json():
    assert all(0 <= draw_seed(stream("x", i)) < 2**53 for i in range(100))
