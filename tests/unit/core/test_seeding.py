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


def golden():
    return stream("golden", 1)


@pytest.mark.parametrize(
    ("high", "value"),
    [
        (-5, -5),
        (0, -1),
        (10, 7),
        (2**32 - 6, 3316181549),  # the last span that one fraction covers
        (2**32 - 5, 3316181550),
        (2**40, 848942477931),
        (2**62 - 6, 3560722830961306072),  # the last span that NumPy draws
        (2**62 - 5, 251619206509472322),
        (2**70, 1145471398858196510599),
        (10**30, 689894588166595170952887508651),
    ],
)
def test_an_integer_drawn_from_a_stream_never_changes(high, value):
    assert integer(golden(), -5, high) == value


def test_integers_drawn_from_a_stream_never_change():
    assert integers(golden(), -5, 5, 7) == (3, 4, -1, -3, 2, 0, 4)
    assert integers(golden(), -5, 5, 8) == (-1, 3, -4, 4, 0, -1, 3, -3)
    assert integers(golden(), 0, 2**62 - 1, 8)[:2] == (3560722830961306077, 4044988645002313683)
    assert integers(golden(), 0, 2**62, 8)[:2] == (251619206509472327, 4102359730162226452)


def test_other_draws_from_a_stream_never_change():
    rng = golden()
    assert [nonzero(rng, 3) for _ in range(8)] == [-2, -3, 3, 2, -2, 3, -2, 1]
    rng = golden()
    assert "".join(pick(rng, "abcde") for _ in range(12)) == "decbdceadaeb"
    rng = golden()
    assert [draw_seed(rng) for _ in range(2)] == [6954536779221300, 7900368447270143]
    assert fan_out(9, 3) == [9, 6857106746462810, 505496622318111]
    assert fan_out(9, 1) == [9]


def test_words_and_numbers_make_different_keys():
    keys = [("a", "b"), ("ab",), (12,), (1, 2), ("12",), ("1", 2), ("a", 1, "b")]
    drawn = [stream(*key).integers(0, 99, 3).tolist() for key in keys]
    assert drawn[:4] == [[16, 5, 79], [36, 47, 19], [5, 58, 14], [54, 11, 40]]
    assert len(set(map(tuple, drawn))) == len(keys)
