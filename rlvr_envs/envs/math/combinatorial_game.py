"""Impartial games with a known winning strategy, asked for numbers that only the strategy gives."""

from dataclasses import dataclass
from functools import cache, reduce
from math import comb, isqrt
from operator import xor

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.words import listed

_RULES = "Two players move in turn and play as well as possible."
_LAST_WINS = "The player who takes the last stone wins."
_LAST_LOSES = "The player who takes the last stone loses."
_KAYLES = (12, 72)  # the period of the Grundy values, and from where on they have it
_DAWSON = (34, 53)


def _bound(size: int) -> int:
    """Return the largest pile of a question."""
    bound: int = 100 * 5**size
    return bound


def _binary(values: list[int]) -> str:
    return ", ".join(f"{value:b}" for value in values)


# Takes of 1..cap stones; numbers: stones, cap, whether the last stone loses.


def _draw_first_move(rng: Rng, size: int) -> Numbers:
    cap, misere = integer(rng, 5, 20 + 10 * size), integer(rng, 0, 1)
    stones = integer(rng, 3 * cap, 3 * cap + _bound(size))
    return stones + int((stones - misere) % (cap + 1) == 0), cap, misere  # a won position


def _state_first_move(stones: int, cap: int, misere: int) -> Question:
    move = (stones - misere) % (cap + 1)
    target = f"a multiple of {cap + 1}" + (", plus 1" if misere else "")
    return Question(
        f"A pile has {stones} stones. {_RULES} A move takes at least 1 and at most {cap} stones. "
        f"{_LAST_LOSES if misere else _LAST_WINS} The first player has exactly one winning first "
        "move. How many stones does it take?",
        move,
        [
            f"Whoever leaves {target}, wins: a take of t is answered by {cap + 1} - t.",
            f"{stones - misere} = {(stones - misere) // (cap + 1)} * {cap + 1} + {move}",
            f"So the first move takes {move}.",
        ],
        stones % cap,
    )


def _draw_lost_piles(rng: Rng, size: int) -> Numbers:
    cap = integer(rng, 2, 9 + size)
    return integer(rng, 20 * cap, 20 * cap + _bound(size)), cap, integer(rng, 0, 1)


def _state_lost_piles(most: int, cap: int, misere: int) -> Question:
    lost = (most - misere) // (cap + 1) + misere
    rest = "1" if misere else "0"
    return Question(
        f"A pile has n stones. {_RULES} A move takes at least 1 and at most {cap} stones. "
        f"{_LAST_LOSES if misere else _LAST_WINS} For how many n from 1 to {most} does the first "
        "player lose?",
        lost,
        [
            f"A take of t is answered by {cap + 1} - t.",
            f"So the first player loses where n leaves the remainder {rest} modulo {cap + 1}.",
            f"From 1 to {most} there are {lost} such n.",
        ],
        most // cap,
    )


# Takes that are powers of a base; numbers: the largest pile, the base.


def _draw_power_takes(rng: Rng, size: int) -> Numbers:
    odd = integer(rng, 0, 5) == 0
    return integer(rng, 50, 50 + 9 * _bound(size)), 2 * integer(rng, 1, 6 + size) + int(odd)


def _state_power_takes(most: int, base: int) -> Question:
    if base % 2:
        lost = most // 2
        reason = [
            f"All powers of {base} are odd, and 1 can always be taken.",
            "So the first player loses exactly where n is even.",
        ]
    else:
        whole, rest = divmod(most, base + 1)
        # A period holds the remainders 0, 2, ..., base - 2; the count leaves out n = 0.
        lost = whole * (base // 2) + min(rest, base - 2) // 2
        reason = [
            f"Modulo {base + 1}, every power of {base} is 1 or -1.",
            (
                f"The first player loses where n leaves an even remainder below {base}, which a "
                f"check of n up to {base + 1} shows."
            ),
            f"{most} = {whole} * {base + 1} + {rest}; each full period has {base // 2} of them.",
        ]
    return Question(
        f"A pile has n stones. {_RULES} A move takes {base}^k stones for some integer k from 0 on, "
        f"so 1, {base}, {base**2} and so on, but no more than are there. {_LAST_WINS} For how many "
        f"n from 1 to {most} does the first player lose?",
        lost,
        [*reason, f"In all there are {lost}."],
        most // base,
    )


# Nim with an unknown pile; numbers: the other piles.


def _draw_nim(rng: Rng, size: int) -> Numbers:
    return integers(rng, 10, _bound(size), 2 + size // 3)


def _state_nim(*piles: int) -> Question:
    return Question(
        f"A game has {len(piles) + 1} piles of stones: {listed([*map(str, piles), 'x'])} stones. "
        f"{_RULES} A move takes one or more stones from one pile. {_LAST_WINS} For which x does "
        "the first player lose?",
        reduce(xor, piles),
        [
            "In Nim the first player loses where the binary sum without carries of all piles is 0.",
            f"So x is that sum of the others. In binary they are {_binary([*piles])}.",
            f"The sum without carries is {reduce(xor, piles):b}, which is {reduce(xor, piles)}.",
        ],
        abs(2 * max(piles) - sum(piles)),
    )


# Piles with caps; numbers: the last pile's range and cap, then pile and cap of the others.


def _draw_capped(rng: Rng, size: int) -> Numbers:
    cap = 2 ** integer(rng, 3, 4 + size // 4) - 1  # so that any smaller sum can be met
    others = [(integer(rng, 20, _bound(size)), integer(rng, 2, cap)) for _ in range(2 + size // 4)]
    most = integer(rng, 20 * cap, 20 * cap + _bound(size))
    return (most, cap, *(value for pile in others for value in pile))


def _state_capped(most: int, cap: int, *flat: int) -> Question:
    piles = list(zip(flat[::2], flat[1::2], strict=True))
    values = [stones % (limit + 1) for stones, limit in piles]
    wanted = reduce(xor, values)
    count = most // (cap + 1) + int(0 < wanted <= most % (cap + 1)) if wanted <= cap else 0
    named = listed(
        [*(f"{stones} stones (cap {limit})" for stones, limit in piles), f"x stones (cap {cap})"]
    )
    return Question(
        f"A game has {len(piles) + 1} piles: {named}. {_RULES} A move "
        "takes at least one stone from one pile, and at most as many as the cap of that pile. "
        f"{_LAST_WINS} For how many x from 1 to {most} does the first player lose?",
        count,
        [
            "A pile of n stones with cap c has the Grundy value n mod (c + 1).",
            f"The given piles have {', '.join(map(str, values))}.",
            f"Their binary sum without carries is {wanted}, so x leaves {wanted} modulo {cap + 1}.",
            f"From 1 to {most} there are {count} such x.",
        ],
        most // cap,
    )


# Staircase Nim; numbers: the odd step asked for, then the coins of the other steps upwards.


def _draw_staircase(rng: Rng, size: int) -> Numbers:
    steps = 5 + size // 2
    asked = 2 * integer(rng, 0, (steps - 1) // 2) + 1
    return (asked, *integers(rng, 5, _bound(size) // 2, steps - 1))


def _state_staircase(asked: int, *coins: int) -> Question:
    steps = [*coins[: asked - 1], None, *coins[asked - 1 :]]
    told = listed(
        [f"{'x' if c is None else c} on step {i}" for i, c in enumerate(steps, 1)],
    )
    odd = [c for c in steps[::2] if c is not None]
    answer = reduce(xor, odd, 0)
    return Question(
        f"A staircase has {len(steps)} steps, numbered from 1 at the bottom. There are coins on "
        f"the steps: {told}. {_RULES} A move takes one or more coins from one step and puts them "
        "on the next lower step; from step 1 they go to the ground and stay there. The player who "
        "moves the last coin to the ground wins. For which x does the first player lose?",
        answer,
        [
            "Coins that come down from an even step can be moved on at once by the other player.",
            "So only the odd steps count, and they are the piles of a game of Nim.",
            f"The other odd steps hold {', '.join(map(str, odd))}; in binary {_binary(odd)}.",
            f"Their sum without carries is {answer:b}, which is {answer}.",
        ],
        reduce(xor, coins),
    )


# Wythoff's game; number: the pile that is known.


def _draw_wythoff(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 20, 10 * _bound(size)),)


def _golden(n: int) -> int:
    """Return the integer part of n times the golden ratio."""
    return (n + isqrt(5 * n * n)) // 2


def _state_wythoff(pile: int) -> Question:
    index = _golden(pile) - pile  # close to pile / golden ratio
    index += _golden(index) < pile
    if _golden(index) == pile:
        other, sign = pile + index, "+"
    else:
        index = pile - _golden(pile - _golden(pile) + pile)  # pile / golden ratio ** 2
        while _golden(index) + index < pile:
            index += 1
        other, sign = pile - index, "-"
    return Question(
        f"There are two piles: one with {pile} stones, the other with x stones. {_RULES} A move "
        "takes one or more stones from one pile, or the same number of stones, at least one, from "
        f"both piles. {_LAST_WINS} For which x does the first player lose?",
        other,
        [
            (
                "The lost positions of Wythoff's game are the pairs (floor(k * phi), floor(k * "
                "phi) + k), where phi = (1 + sqrt(5)) / 2."
            ),
            f"For k = {index} the pair is ({min(pile, other)}, {max(pile, other)}).",
            f"So x = {pile} {sign} {index} = {other}.",
        ],
        round(pile * 1.618),
    )


# Euclid's game; number: the smaller integer.


def _draw_euclid(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 20, 10 * _bound(size)),)


def _state_euclid(small: int) -> Question:
    answer = _golden(small) - small
    return Question(
        f"Two numbers a = {small} and b are on a board, and b > a. {_RULES} A move subtracts a "
        "positive multiple of the smaller number from the larger one, and the result may not be "
        "negative. The player who makes a number 0 wins. For how many integers b does the first "
        "player lose?",
        answer,
        [
            (
                "If b is at least 2a, the first player chooses which of (a, b mod a) and (a, a + b "
                "mod a) the other one gets, so they win."
            ),
            (
                "Below 2a the move is forced. By induction, the first player loses exactly where "
                "b < phi * a with phi = (1 + sqrt(5)) / 2."
            ),
            f"floor(phi * {small}) = {_golden(small)}",
            f"{_golden(small)} - {small} = {answer}",
        ],
        small,
    )


# Fibonacci Nim; number: the stones.


def _draw_fibonacci(rng: Rng, size: int) -> Numbers:
    low = integer(rng, 5, 12 + size)
    stones, index = 0, low
    for _ in range(3 + size // 3):
        stones += _fibonacci(index)
        index += integer(rng, 2, 4)
    return (stones,)


def _fibonacci(index: int) -> int:
    a, b = 0, 1
    for _ in range(index):
        a, b = b, a + b
    return a


def _zeckendorf(value: int) -> list[int]:
    """Return the Fibonacci numbers, no two neighbours, that add up to a value; largest first."""
    terms = [1, 2]
    while terms[-1] <= value:
        terms.append(terms[-1] + terms[-2])
    found = []
    for term in reversed(terms):
        if term <= value:
            found.append(term)
            value -= term
    return found


def _state_fibonacci(stones: int) -> Question:
    parts = _zeckendorf(stones)
    return Question(
        f"A pile has {stones} stones. {_RULES} The first move takes at least one stone, but not "
        "all. Each later move takes at least one stone, and at most twice as many as the move "
        f"before it took. {_LAST_WINS} What is the smallest number of stones that the first player "
        "can take in the first move and still win?",
        parts[-1],
        [
            "Write the pile as a sum of Fibonacci numbers, no two of them neighbours.",
            f"{stones} = {' + '.join(map(str, parts))}",
            (
                "Taking the smallest part wins: the next part is more than twice as large, so the "
                "other player cannot take it whole."
            ),
            (
                "With fewer stones taken, the other player can take the smallest part of what is "
                "left of that part."
            ),
        ],
        stones - parts[0],
    )


# Lasker's Nim; numbers: the other piles.


def _draw_lasker(rng: Rng, size: int) -> Numbers:
    piles = integers(rng, 10, _bound(size), 2 + size // 5)
    while _lasker(reduce(xor, map(_lasker, piles))) == reduce(xor, piles):
        piles = integers(rng, 10, _bound(size), len(piles))  # the answer of plain Nim will not do
    return piles


def _lasker(stones: int) -> int:
    """Return the Grundy value of a pile in Lasker's Nim; it is a permutation of order 2."""
    return stones + {3: 1, 0: -1}.get(stones % 4, 0) if stones else 0


def _state_lasker(*piles: int) -> Question:
    values = [_lasker(pile) for pile in piles]
    wanted = reduce(xor, values)
    return Question(
        f"A game has {len(piles) + 1} piles of stones: {listed([*map(str, piles), 'x'])} stones. "
        f"{_RULES} A move either takes one or more stones from one pile, or splits one pile into "
        f"two piles with at least one stone each. {_LAST_WINS} For which x does the first player "
        "lose?",
        _lasker(wanted),
        [
            (
                "Grundy values: a pile of 4k + 3 stones has 4k + 4, a pile of 4k + 4 has 4k + 3, "
                "and every other pile has its own number."
            ),
            f"The given piles have {', '.join(map(str, values))}; in binary {_binary(values)}.",
            (
                f"The sum without carries is {wanted:b}, which is {wanted}. The pile with this "
                f"value has {_lasker(wanted)} stones."
            ),
        ],
        reduce(xor, piles),
    )


# Moore's Nim; numbers: piles, piles that a move may touch, bits of a pile.


def _draw_moore(rng: Rng, size: int) -> Numbers:
    size = min(size, 40)  # numbers of a thousand digits teach nothing
    touched = integer(rng, 2, 3 + size // 4)
    return touched + integer(rng, 2, 5 + size // 2), touched, integer(rng, 2, 4 + size // 3)


def _state_moore(piles: int, touched: int, bits: int) -> Question:
    columns = [comb(piles, ones) for ones in range(0, piles + 1, touched + 1)]
    answer: int = sum(columns) ** bits
    return Question(
        f"A game has {piles} piles in a row. {_RULES} A move takes stones from at least one and at "
        f"most {touched} piles, any number (at least one) from each of them. {_LAST_WINS} A "
        f"position gives each pile a number of stones from 0 to {2**bits - 1}; the order of the "
        "piles counts. In how many of these positions does the player to move lose? (Where no "
        "stone is left, the player to move has lost.)",
        answer,
        [
            (
                f"Moore's Nim: write the piles in binary. The player to move loses where each of "
                f"the {bits} columns has a number of ones that {touched + 1} divides."
            ),
            f"One column: {' + '.join(map(str, columns))} = {sum(columns)} ways.",
            f"{bits} columns: {sum(columns)}^{bits} = {answer}",
        ],
        2 ** (bits * (piles - 1)),
    )


# Kayles and Dawson's Kayles; numbers: whether one pin alone may go, the row, the largest other row.


def _draw_kayles(rng: Rng, size: int) -> Numbers:
    return integer(rng, 0, 1), integer(rng, 8, 30 + 3 * size), integer(rng, 100, 100 + _bound(size))


@cache
def _row_values(single: int) -> tuple[int, ...]:
    """Return the Grundy values of rows of pins, far enough to see the period."""
    values: list[int] = [0]
    for pins in range(1, sum(_KAYLES if single else _DAWSON)):
        options = set()
        for gone in (1, 2) if single else (2,):
            rest = pins - gone
            options |= {values[left] ^ values[rest - left] for left in range(rest // 2 + 1)}
        values.append(next(g for g in range(len(options) + 1) if g not in options))
    return tuple(values)


def _row_value(single: int, pins: int) -> int:
    period, start = _KAYLES if single else _DAWSON
    return _row_values(single)[pins if pins < start else start + (pins - start) % period]


def _state_kayles(single: int, pins: int, most: int) -> Question:
    period, start = _KAYLES if single else _DAWSON
    wanted = _row_value(single, pins)
    early = sum(_row_value(single, x) == wanted for x in range(1, min(start, most + 1)))
    length = max(most + 1 - start, 0)
    cycle = [_row_value(single, x) == wanted for x in range(start, start + period)]
    count = early + length // period * sum(cycle) + sum(cycle[: length % period])
    takes = (
        "one pin, or two pins that stand side by side"
        if single
        else ("two pins that stand side by side")
    )
    return Question(
        f"There are two rows of pins: one with {pins} pins, the other with x pins. {_RULES} A move "
        f"removes {takes}. Pins do not move, so a gap stays between the pins left and right of it: "
        "they are not side by side. The player who cannot move loses. For how many x from 1 to "
        f"{most} does the first player lose?",
        count,
        [
            (
                "The first player loses where both rows have the same Grundy value. A move splits "
                "a row into two, so its options are binary sums without carries of two smaller "
                "rows."
            ),
            f"The row of {pins} has the value {wanted}.",
            (
                f"From {start} pins on, the values repeat with the period {period}; {sum(cycle)} "
                f"of them are {wanted}."
            ),
            f"Below {start}, {early} of the rows have it. In all there are {count}.",
        ],
        most // 2,
    )


# A sum of games; numbers: pile and cap, Lasker pile, Kayles row, stair coins upwards.


def _draw_sum(rng: Rng, size: int) -> Numbers:
    pile, split = integers(rng, 20, _bound(size), 2)
    split += -split % 4 - integer(rng, 0, 1)  # where Lasker's Nim differs from Nim
    cap, row = integer(rng, 6, 30), integer(rng, 8, 40)
    return (pile, cap, split, row, *integers(rng, 5, _bound(size), 3))


def _state_sum(pile: int, cap: int, split: int, row: int, *stairs: int) -> Question:
    values = [pile % (cap + 1), _lasker(split), _row_value(1, row), reduce(xor, stairs[::2])]
    answer = reduce(xor, values)
    coins = listed([f"{c} coins on step {i}" for i, c in enumerate(stairs, 1)])
    return Question(
        f"A game has five parts. {_RULES} A move is a move in one of the parts. "
        f"(A) A pile of {pile} stones: a move takes 1 to {cap} stones. "
        f"(B) {split} stones in one pile: a move takes one or more stones from a pile of this "
        "part, or splits a pile of this part into two piles. "
        f"(C) A row of {row} pins: a move removes one pin, or two pins with no gap between them. "
        f"(D) A staircase with {coins}: a move takes one or more coins from one step to the next "
        "lower step, from step 1 to the ground, where they stay. "
        "(E) A pile of x stones: a move takes one or more stones. "
        "The player who cannot move in any part loses. For which x does the first player lose?",
        answer,
        [
            f"(A) has the Grundy value {pile} mod {cap + 1}, which is {values[0]}.",
            f"(B) is Lasker's Nim: 4k + 3 and 4k + 4 change places, so {split} has {values[1]}.",
            f"(C) is Kayles, and a row of {row} has the value {values[2]}.",
            f"(D) is Nim on the odd steps: {values[3]}.",
            f"x is their binary sum without carries: {_binary(values)} give {answer:b} = {answer}.",
        ],
        reduce(xor, (pile, split, row, *stairs)),
    )


FAMILIES = {
    "first_move": Family(1, _draw_first_move, _state_first_move),
    "lost_piles": Family(1, _draw_lost_piles, _state_lost_piles),
    "power_takes": Family(2, _draw_power_takes, _state_power_takes),
    "nim": Family(2, _draw_nim, _state_nim),
    "capped_piles": Family(3, _draw_capped, _state_capped),
    "staircase": Family(3, _draw_staircase, _state_staircase),
    "wythoff": Family(3, _draw_wythoff, _state_wythoff),
    "euclid": Family(4, _draw_euclid, _state_euclid),
    "fibonacci_nim": Family(4, _draw_fibonacci, _state_fibonacci),
    "lasker": Family(4, _draw_lasker, _state_lasker),
    "moore": Family(5, _draw_moore, _state_moore),
    "kayles": Family(5, _draw_kayles, _state_kayles),
    "sum_of_games": Family(6, _draw_sum, _state_sum),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinatorialGameConfig(TaskConfig):
    """The games, and the size of their piles."""

    kinds: tuple[str, ...] = knob(KINDS, "games; each problem has one of them", choices=KINDS)
    size: int = knob(0, "how large the piles are", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "CombinatorialGameConfig":
        """Four neighbouring games of the list; the piles grow fivefold a level.

        From level 10 on it is the last four: Lasker's Nim, Moore's Nim, Kayles and a sum of games.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("CombinatorialGame-v0", domain="math")
class CombinatorialGameTask(FamilyTask[CombinatorialGameConfig]):
    """Find a number that the winning strategy of a two-player game gives.

    Description:
        Thirteen impartial games: takes up to a cap, takes of powers, Nim, Nim with caps,
        staircase Nim, the games of Wythoff and Euclid, Fibonacci Nim, the Nim of Lasker and of
        Moore, Kayles, Dawson's Kayles, and a sum of several games. The piles are too large to try
        all positions.

    Observation:
        The rules of the game, and the question: the winning first move, the pile that makes a
        position lost, or how many lost positions there are.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        Each level asks four games. Higher ones have strategies that take more ideas: remainders,
        binary sums, the golden ratio, Grundy values with a period, and sums of games. The piles
        grow fivefold a level.

    References:
        Berlekamp, Conway and Guy, Winning Ways for Your Mathematical Plays, volume 1, chapters
        3 and 4. Moore, "A generalization of the game called Nim", Annals of Mathematics 11 (1910).
    """

    Config = CombinatorialGameConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with an integer."
