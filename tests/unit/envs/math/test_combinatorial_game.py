"""CombinatorialGame: every game against a search of all its positions, wrong answers, knobs."""

from functools import cache
from itertools import product

import pytest

from rlvr_envs.envs.math.combinatorial_game import (
    FAMILIES,
)


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def searched(moves, misere=False):
    """Return whether the player to move loses, as a function of the position."""

    @cache
    def loses(position):
        options = moves(position)
        if not options:
            return not misere
        return not any(loses(option) for option in options)

    return loses


def grundy_of(moves):
    @cache
    def grundy(position):
        found = {grundy(option) for option in moves(position)}
        return min(set(range(len(found) + 1)) - found)

    return grundy


def changed(piles, at, *new):
    return tuple(sorted(pile for pile in (*piles[:at], *new, *piles[at + 1 :]) if pile))


def nim(piles):
    return [changed(piles, i, left) for i, pile in enumerate(piles) for left in range(pile)]


def lasker(piles):
    splits = [
        changed(piles, i, part, pile - part)
        for i, pile in enumerate(piles)
        for part in range(1, pile // 2 + 1)
    ]
    return nim(piles) + splits


def capped(piles):
    return [
        (*piles[:i], (pile - take, cap), *piles[i + 1 :])
        for i, (pile, cap) in enumerate(piles)
        for take in range(1, min(pile, cap) + 1)
    ]


def staircase(coins):
    found = []
    for i, there in enumerate(coins):
        for moved in range(1, there + 1):
            after = list(coins)
            after[i] -= moved
            if i:
                after[i - 1] += moved
            found.append(tuple(after))
    return found


def wythoff(piles):
    a, b = piles
    both = [(a - t, b - t) for t in range(1, min(a, b) + 1)]
    return [(x, b) for x in range(a)] + [(a, y) for y in range(b)] + both


def euclid(pair):
    low, high = sorted(pair)
    return [(low, high - low * k) for k in range(1, high // low + 1)] if low else []


def fibonacci(position):
    stones, most = position
    return [(stones - take, 2 * take) for take in range(1, min(stones, most) + 1)]


def moore(touched):
    def moves(piles):
        lower = product(*(range(pile + 1) for pile in piles))
        return [
            p for p in lower if 1 <= sum(a != b for a, b in zip(p, piles, strict=True)) <= touched
        ]

    return moves


def rows(gone):
    def moves(pins):
        """The rows of a position are sorted; removed pins split a row."""
        return [
            changed(pins, i, left, row - take - left)
            for i, row in enumerate(pins)
            for take in gone
            for left in range(row - take + 1)
        ]

    return moves


@pytest.mark.parametrize("misere", [0, 1])
@pytest.mark.parametrize("cap", range(2, 7))
def test_takes_up_to_a_cap(cap, misere):
    loses = searched(lambda n: range(max(0, n - cap), n), bool(misere))
    for stones in range(1, 45):
        winning = [take for take in range(1, min(cap, stones) + 1) if loses(stones - take)]
        assert winning == [take for take in [answer("first_move", stones, cap, misere)] if take]
        lost = sum(loses(n) for n in range(1, stones + 1))
        assert answer("lost_piles", stones, cap, misere) == lost


@pytest.mark.parametrize("base", range(2, 12))
def test_takes_of_powers(base):
    loses = searched(lambda n: [n - base**k for k in range(9) if base**k <= n])
    for most in range(1, 200):
        assert answer("power_takes", most, base) == sum(map(loses, range(1, most + 1)))


def test_nim():
    loses = searched(nim)
    for a, b in product(range(1, 8), repeat=2):
        lost = [x for x in range(17) if loses(changed((a, b, x), 2, x))]
        assert lost == [answer("nim", a, b)]


def test_piles_with_caps():
    loses = searched(capped)
    for a, b, cap in product([(1, 2), (4, 3), (5, 1), (7, 2), (9, 4)], [(2, 1), (5, 3)], (1, 3, 7)):
        for most in (3, 11, 12, 19):
            lost = sum(loses((a, b, (x, cap))) for x in range(1, most + 1))
            assert answer("capped_piles", most, cap, *a, *b) == lost


@pytest.mark.parametrize(("asked", "most", "steps"), [(1, 3, 3), (3, 3, 3), (3, 1, 5), (5, 2, 5)])
def test_the_staircase(asked, most, steps):
    loses = searched(staircase)
    for coins in product(range(most + 1), repeat=steps - 1):
        lost = [x for x in range(5) if loses((*coins[: asked - 1], x, *coins[asked - 1 :]))]
        assert lost == [answer("staircase", asked, *coins)]


def test_the_game_of_wythoff():
    loses = searched(wythoff)
    for pile in range(1, 30):
        assert [x for x in range(50) if loses((pile, x))] == [answer("wythoff", pile)]


def test_wythoff_pairs_fit_together_when_large():
    for pile in (*range(10**15, 10**15 + 200), *range(1, 2_000)):
        other = answer("wythoff", pile)
        assert answer("wythoff", other) == pile
        low, high = sorted((pile, other))
        k = high - low  # low = floor(k * phi) says (2 low - k)^2 < 5 k^2 < (2 low + 2 - k)^2
        assert (2 * low - k) ** 2 < 5 * k * k < (2 * low + 2 - k) ** 2


def test_the_game_of_euclid():
    loses = searched(euclid)
    for small in range(1, 40):
        lost = [b for b in range(small + 1, 4 * small + 9) if loses((small, b))]
        assert answer("euclid", small) == len(lost)


def test_fibonacci_nim():
    loses = searched(fibonacci)
    for stones in range(2, 130):
        winning = [take for take in range(1, stones) if loses((stones - take, 2 * take))]
        assert (
            winning == []
            if stones in (2, 3, 5, 8, 13, 21, 34, 55, 89)
            else (winning[0] == answer("fibonacci_nim", stones))
        )


def test_the_nim_of_lasker():
    loses = searched(lasker)
    for a, b in product(range(1, 8), repeat=2):
        lost = [x for x in range(9) if loses(changed((a, b), 2, x))]
        assert lost == [x for x in [answer("lasker", a, b)] if x < 9]
    for pile in range(1, 9):
        assert answer("lasker", pile) == pile


@pytest.mark.parametrize(
    ("piles", "touched", "bits"), [(3, 2, 1), (3, 2, 2), (4, 2, 2), (5, 2, 1), (4, 3, 2), (7, 2, 1)]
)
def test_the_nim_of_moore(piles, touched, bits):
    loses = searched(moore(touched))
    positions = product(range(2**bits), repeat=piles)
    assert answer("moore", piles, touched, bits) == sum(map(loses, positions))


@pytest.mark.parametrize("single", [0, 1])
def test_rows_of_pins(single):
    loses = searched(rows((1, 2) if single else (2,)))
    for pins in range(2, 8):
        for most in (3, 7):
            lost = sum(loses(changed((pins,), 1, x)) for x in range(1, most + 1))
            assert answer("kayles", single, pins, most) == lost


@pytest.mark.parametrize("single", [0, 1])
def test_rows_of_pins_have_a_period(single):
    values = [0]
    for row in range(1, 420):
        gone = [take for take in ((1, 2) if single else (2,)) if take <= row]
        found = {values[i] ^ values[row - take - i] for take in gone for i in range(row - take + 1)}
        values.append(min(set(range(len(found) + 1)) - found))
    for pins in range(1, 100):
        for most in (20, 53, 90, 200, 419):
            expected = values[1 : most + 1].count(values[pins])
            assert answer("kayles", single, pins, most) == expected


def test_sums_of_games():
    piles, split, row = grundy_of(capped), grundy_of(lasker), grundy_of(rows((1, 2)))
    stairs = grundy_of(staircase)
    for pile, cap, many, pins in product((5, 9), (3, 4), (3, 4, 7, 8), (4, 7, 9)):
        for coins in ((1, 2, 2), (3, 1, 1)):
            values = [piles(((pile, cap),)), split((many,)), row((pins,)), stairs(coins)]
            expected = values[0] ^ values[1] ^ values[2] ^ values[3]
            assert answer("sum_of_games", pile, cap, many, pins, *coins) == expected


def test_a_small_sum_of_games_by_search():
    def moves(position):
        pile, many, pins, coins, x = position
        return [
            *((p, many, pins, coins, x) for (p,) in capped((pile,))),
            *((pile, m, pins, coins, x) for m in lasker(many)),
            *((pile, many, p, coins, x) for p in rows((1, 2))(pins)),
            *((pile, many, pins, c, x) for c in staircase(coins)),
            *((pile, many, pins, coins, y) for y in range(x)),
        ]

    loses = searched(moves)
    lost = [x for x in range(9) if loses(((4, 2), (3,), (3,), (1, 1, 1), x))]
    assert lost == [answer("sum_of_games", 4, 2, 3, 3, 1, 1, 1)]
