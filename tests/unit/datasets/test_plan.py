"""Plans: exact shares, splits by fingerprint, and what is refused before anything is drawn."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.core.errors import ConfigError, RlvrEnvsError
from rlvr_envs.datasets.plan import Plan, read_difficulties
from rlvr_envs.datasets.split import read_splits, split_of

HALVING = "rlvr/TestHalving-v0"


def test_difficulties():
    assert read_difficulties(None) == ((None, 1),)
    assert read_difficulties("3") == ((3, 1),)
    assert read_difficulties("0-2") == tuple((n, Fraction(1, 3)) for n in range(3))
    assert dict(read_difficulties("0:0.5,1:.3, 2-3:0.2")) == {
        0: Fraction(1, 2),
        1: Fraction(3, 10),
        2: Fraction(1, 10),
        3: Fraction(1, 10),
    }
    assert dict(read_difficulties("0:2,0:1,5:1,7:0")) == {0: Fraction(3, 4), 5: Fraction(1, 4)}


@pytest.mark.parametrize(
    "text", ["", "a", "-1", "3-1", "0:-1", "0:0", "0:1e3", "1;2", "0:1:2", "²"]
)
def test_difficulties_that_mean_nothing(text):
    with pytest.raises(ConfigError):
        read_difficulties(text)


@given(st.integers(1, 500), st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_counts_add_up_and_are_off_by_less_than_one(count, weights):
    text = ",".join(f"{level}:{weight}" for level, weight in enumerate(weights))
    cells = Plan(sources=(("Gcd-v0", count),), difficulty=text).cells()
    assert sum(cell.count for cell in cells) == count
    for cell, weight in zip(cells, weights, strict=True):
        assert abs(cell.count - count * weight / sum(weights)) < 1


def test_the_order_mixes_the_cells_and_follows_the_seed():
    orders = [
        Plan(sources=(("Gcd-v0", 30), (HALVING, 20)), seed=seed).order().tolist()
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert Counter(orders[0]) == {0: 30, 1: 20}
    assert len(set(orders[0][:10])) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"sources": ()},
        {"sources": ((HALVING, 0),)},
        {"sources": ((HALVING, 5), ("TestHalving-v0", 5))},
        {"sources": (("TestHalvng-v0", 5),)},
        {"seed": -1},
        {"shard_rows": 0},
        {"file_format": "csv"},
        {"difficulty": "easy"},
        {"knobs": {"largst": 5}},
        {"answer_format": "xml"},
        {"sources": (("Math-v0", 5),), "knobs": {"largest": 5}},
    ],
)
def test_what_cannot_be_planned(change):
    with pytest.raises(RlvrEnvsError):
        Plan(**({"sources": ((HALVING, 5),)} | change))


def test_splits_are_shares_of_the_fingerprints():
    splits = read_splits("train=8,test=1,validation=1")
    sizes = Counter(split_of(f"{n:032x}", splits) for n in range(4000))
    assert sizes["train"] == pytest.approx(3200, abs=120)
    assert sizes["test"] == pytest.approx(400, abs=90)
    assert sizes["validation"] == pytest.approx(400, abs=90)


def test_a_larger_train_split_takes_nothing_else_into_it():
    small, large = read_splits("train=0.5,test=0.5"), read_splits("train=0.9,test=0.1")
    names = [f"{n:032x}" for n in range(500)]
    assert all(
        split_of(name, large) == "train" for name in names if split_of(name, small) == "train"
    )


@pytest.mark.parametrize("text", ["", "train", "train=0", "train=1,train=2", "Train=1", "a=1,,b=2"])
def test_splits_that_mean_nothing(text):
    with pytest.raises(ConfigError):
        read_splits(text)
