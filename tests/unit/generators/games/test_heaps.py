"""Heap games: Grundy values against a brute force over whole games, and known sequences."""

from functools import cache

import pytest

from rlvr_envs.core.games import OVER
from rlvr_envs.generators.games.heaps import HeapGame, HeapRules, Heaps, HeapValues

RULES = {
    "nim": HeapRules(),
    "misere": HeapRules(misere=True),
    "subtraction": HeapRules((1, 2, 3)),
    "sparse": HeapRules((2, 5)),
    "kayles": HeapRules((1, 2), splits=True),
    "dawson": HeapRules((2,), splits=True),
    "octal": HeapRules((2, 3), splits=True),
}


def brute(takes, splits, misere):
    """Return a function that tells whether the player to move wins, by playing everything."""

    @cache
    def wins(heaps):
        following = set()
        for i, size in enumerate(heaps):
            rest = heaps[:i] + heaps[i + 1 :]
            for take in takes or range(1, size + 1):
                left = size - take
                if left < 0:
                    continue
                parts = [(left, 0)] + [(a, left - a) for a in range(1, left) if splits]
                following |= {tuple(sorted(h for h in (*rest, *pair) if h)) for pair in parts}
        if not following:
            return misere
        return any(not wins(each) for each in following)

    return wins


@pytest.mark.parametrize("name", RULES)
def test_values_are_those_of_a_brute_force(name):
    rules = RULES[name]
    wins, values = brute(rules.takes, rules.splits, rules.misere), HeapValues(rules)
    compared = 0
    for a in range(8):
        for b in range(a, 8):
            for c in range(b, 8):
                sizes = tuple(size for size in (a, b, c) if size)
                expected = 1 if wins(sizes) else -1
                assert values.value(Heaps(sizes)) == expected, sizes
                assert values.value(Heaps(sizes, 1)) == -expected
                compared += 1
    assert compared == 120


def test_the_values_of_kayles_and_of_dawsons_kayles():
    # Winning Ways, chapter 4
    kayles, dawson = (HeapValues(RULES[name]) for name in ("kayles", "dawson"))
    assert [kayles.grundy(n) for n in range(12)] == [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6]
    assert [dawson.grundy(n) for n in range(12)] == [0, 0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3]


@pytest.mark.parametrize(("misere", "returns"), [(False, (1.0, -1.0)), (True, (-1.0, 1.0))])
def test_the_end_of_a_game(misere, returns):
    game = HeapGame(HeapRules(misere=misere), (2,))
    state = game.after(game.start(), "1: 0")
    assert game.mover(state) == OVER
    assert game.returns(state) == returns


def test_a_heap_that_is_split():
    game = HeapGame(RULES["kayles"], (5, 1))
    assert game.actions(game.start()) == (
        "1: 4", "1: 1 3", "1: 2 2", "1: 3", "1: 1 2", "2: 0",
    )  # fmt: skip
    state = game.after(game.start(), "1: 1 3")
    assert state == Heaps((1, 3, 1), 1)
    assert game.view(state, 0) == "Heaps: heap 1 has 1, heap 2 has 3, heap 3 has 1."
