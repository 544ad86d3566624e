"""Moves and pieces whose limits an invariant or a colouring gives."""

from dataclasses import dataclass
from math import comb, factorial, gcd, prod

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.primes import draw_prime
from rlvr_envs.generators.mathematics.steps import times
from rlvr_envs.generators.mathematics.words import listed


def _bound(size: int) -> int:
    """Return the largest n of a question."""
    bound: int = 60 * 4**size
    return bound


# Numbers on a board that become one; numbers: how many, what a move adds.


def _draw_board_sum(rng: Rng, size: int) -> Numbers:
    return integer(rng, 8, _bound(size)), nonzero(rng, 12 + 3 * size)


def _state_board_sum(n: int, added: int) -> Question:
    whole = n * (n + 1) // 2
    told = f"a + b + {added}" if added > 0 else f"a + b - {-added}"
    answer = whole + added * (n - 1)
    return Question(
        f"The integers from 1 to {n} are on a board. A move erases two of the numbers, a and b, "
        f"and writes ${told}$. After {n - 1} moves one number is left. Which one?",
        answer,
        [
            f"Each move changes the sum of all numbers by {added}.",
            f"At first the sum is {n} * {n + 1} / 2 = {whole}.",
            f"{whole} + ({added}) * {n - 1} = {answer}",
        ],
        whole + added * n,
    )


# Totals that two jugs can hold; numbers: their sizes.


def _draw_jugs(rng: Rng, size: int) -> Numbers:
    shared = integer(rng, 2, 9 + 3 * size)
    first = integer(rng, 2, 20 * 3**size)
    second = integer(rng, 2, 20 * 3**size)
    return shared * first, shared * (second + (first == second))


def _state_jugs(first: int, second: int) -> Question:
    shared = gcd(first, second)
    answer = (first + second) // shared
    return Question(
        f"You have two empty jugs that hold {first} and {second} litres, and a tap. You may fill a "
        "jug to the top, empty it, or pour from one jug into the other until one is empty or the "
        "other is full. How many different positive totals can the two jugs hold together at "
        "some time?",
        answer,
        [
            f"gcd({first}, {second}) = {shared} divides both amounts at any time.",
            (
                "Filling one jug and pouring it into the other again and again gives all its "
                "multiples as totals."
            ),
            f"({first} + {second}) / {shared} = {answer}",
        ],
        first + second,
    )


# Swaps of neighbours; numbers: length, block, and whether each block is reversed.


def _draw_blocks(rng: Rng, size: int) -> Numbers:
    n = integer(rng, 9, _bound(size))
    return (n, integer(rng, 2, n - 2), *integers(rng, 0, 1, 2))


def _state_blocks(n: int, block: int, first: int, second: int) -> Question:
    rest = n - block
    parts = [block * rest] + [comb(block, 2)] * first + [comb(rest, 2)] * second
    shown = [
        f"{rest} books from {n} down to {block + 1}" if second else f"{block + 1} to {n} in order",
        f"{block} books from {block} down to 1" if first else f"1 to {block} in order",
    ]
    shown[0] = f"the {shown[0]}" if second else f"the books {shown[0]}"
    shown[1] = f"the {shown[1]}" if first else f"the books {shown[1]}"
    return Question(
        f"{n} books stand in a row in the order 1, 2, ..., {n}. A move exchanges two neighbours. "
        f"In the end the row should have, from left to right, first {shown[0]}, then {shown[1]}. "
        "What is the smallest number of moves?",
        sum(parts),
        [
            (
                "A move changes the number of pairs in the wrong order by 1, and as long as "
                "there is such a pair, two neighbours form one."
            ),
            f"Pairs with one book of each part: {block} * {rest} = {block * rest}",
            *([f"Pairs within the second part: {comb(block, 2)}"] if first else []),
            *([f"Pairs within the first part: {comb(rest, 2)}"] if second else []),
            f"In all {sum(parts)}",
        ],
        block * rest + n,
    )


# Numbers on a board with products; numbers: the factor of the product, then the numbers.


def _draw_board_product(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 1, 3 + size), *integers(rng, 1, 9 + size, 4 + size // 2))


def _state_board_product(factor: int, *values: int) -> Question:
    factors = [factor * value + 1 for value in values]
    answer = (prod(factors) - 1) // factor
    told = "" if factor == 1 else str(factor)
    scaled = "x" if factor == 1 else f"{factor}x"
    return Question(
        f"The numbers {listed([*map(str, values)])} are on a board. A move erases two of the "
        f"numbers, a and b, and writes $a + b + {told}ab$. After {len(values) - 1} moves one "
        "number is left. Which one?",
        answer,
        [
            (
                f"The product of all {scaled} + 1 stays the same, as {factor}(a + b + "
                f"{factor}ab) + 1 = ({factor}a + 1)({factor}b + 1)."
            ),
            f"{times(factors)} = {prod(factors)}",
            f"({prod(factors)} - 1) / {factor} = {answer}",
        ],
        sum(values) + factor * prod(values),
    )


# Swaps of any two; numbers: length, how far the row is shifted.


def _draw_rotation(rng: Rng, size: int) -> Numbers:
    shared = integer(rng, 2, 9 + 2 * size)
    n = shared * integer(rng, 5, 10 + 9 * 4**size)
    return n, shared * integer(rng, 1, n // shared - 1)


def _state_rotation(n: int, shift: int) -> Question:
    cycles = gcd(n, shift)
    return Question(
        f"{n} books stand on the places 1 to {n} of a shelf. A move exchanges any two books. In "
        f"the end the book from each place i should stand on place i + {shift}, or, if that is "
        f"more than {n}, on place i + {shift} - {n}. What is the smallest number of moves?",
        n - cycles,
        [
            (
                "A move joins two cycles of the permutation that is still to do, or cuts one "
                "in two. At the end each book is a cycle of its own."
            ),
            f"A shift by {shift} of {n} places has gcd({n}, {shift}) = {cycles} cycles.",
            f"{n} - {cycles} = {n - cycles}",
        ],
        n - 1,
    )


# Swaps at given distances; numbers: length, both distances.


def _draw_distances(rng: Rng, size: int) -> Numbers:
    size = min(size, 60)
    shared = integer(rng, 2, 3 + size // 3)
    a, b = integers(rng, 1, 4, 2)
    while gcd(a, b) > 1 or a == b:
        b += 1
    return shared * (a + b) + integer(rng, 0, 9 + 2 * size), shared * a, shared * b


def _state_distances(n: int, first: int, second: int) -> Question:
    shared = gcd(first, second)
    whole, rest = divmod(n, shared)
    answer = factorial(whole + 1) ** rest * factorial(whole) ** (shared - rest)
    return Question(
        f"{n} different books stand on the places 1 to {n} of a shelf. A move exchanges two books "
        f"whose places differ by exactly {first} or exactly {second}. How many different orders "
        "can you reach by any number of moves (also none)?",
        answer,
        [
            (
                f"A book never leaves the places with the same remainder modulo gcd({first}, "
                f"{second}) = {shared}. As {n} is at least {first} + {second} - {shared}, "
                "moves link all of them, so every order within such a class can be reached."
            ),
            (
                f"{n} = {whole} * {shared} + {rest}: {rest} classes have {whole + 1} places, and "
                f"{shared - rest} have {whole}."
            ),
            f"{whole + 1}!^{rest} * {whole}!^{shared - rest} = {answer}",
        ],
        factorial(n),
    )


# Turning coins over; numbers: coins, how many a move turns.


def _draw_coins(rng: Rng, size: int) -> Numbers:
    # With an odd k close to an even n, the limit for even numbers of moves decides.
    n = 2 * integer(rng, 40, 10 * _bound(size))
    return n, n - 2 * integer(rng, 1, 5 + size) - 1


def _state_coins(n: int, k: int) -> Question:
    least = -(-n // k)
    moves = []
    if (n - k) % 2 == 0:
        moves.append(least + (least % 2 == 0))
    if n % 2 == 0:
        even = max(least, -(-n // (n - k)))
        moves.append(even + even % 2)
    return Question(
        f"{n} coins lie on a table, all heads up. A move turns over exactly {k} different coins. "
        "What is the smallest number of moves after which all coins can be tails up?",
        min(moves),
        [
            (
                f"After m moves, {k} * m turns were made. Each coin was turned an odd number "
                "of times, at most m times, and any such numbers with the right sum can be made."
            ),
            f"So {k} * m >= {n}, and {k} * m is even like {n}."
            + (f" An odd m needs no more: its smallest value is {moves[0]}." if k % 2 == 0 else ""),
            (
                f"An even m turns each coin at most m - 1 times, so {k} * m <= {n} * (m - 1), "
                f"which means m >= {n} / {n - k}: the smallest value is {moves[-1]}."
            ),
            f"The answer is {min(moves)}.",
        ],
        least,
    )


# Straight pieces; numbers: rows, columns, length of a piece.


def _draw_pieces(rng: Rng, size: int) -> Numbers:
    length = integer(rng, 4, 8 + size // 2)
    high, wide = integers(rng, 1, 5 * 3**size, 2)
    r, s = integers(rng, 1, length - 1, 2)
    while min(r * s, (length - r) * (length - s)) < length:  # room for more by area alone
        r, s = integers(rng, 1, length - 1, 2)
    return high * length + r, wide * length + s, length


def _state_pieces(rows: int, columns: int, length: int) -> Question:
    r, s = rows % length, columns % length
    spare = r * s if r + s <= length else (length - r) * (length - s)
    answer = (rows * columns - spare) // length
    return Question(
        f"How many straight pieces of 1 by {length} cells can be put on a board of {rows} by "
        f"{columns} cells at most? They lie along rows or columns and do not overlap.",
        answer,
        [
            f"Colour cell (i, j) with i + j modulo {length}. Each piece covers every colour once.",
            f"The remainders {rows} mod {length} = {r} and {columns} mod {length} = {s} show how "
            "often the rarest colour occurs. "
            + (f"As {r} + {s} <= {length}, " if r + s <= length else f"As {r} + {s} > {length}, ")
            + f"at least {spare} cells stay free, and a ring of pieces around the rest does it.",
            f"({rows} * {columns} - {spare}) / {length} = {answer}",
        ],
        rows * columns // length,
    )


# Lamps in a circle; numbers: lamps, how many a move switches, modulus.


def _draw_lamps(rng: Rng, size: int) -> Numbers:
    shared = integer(rng, 2, 12)
    k = shared * integer(rng, 2, 6)
    n = shared * integer(rng, k // shared + 1, k // shared + _bound(size))
    n += shared * (n % k == 0)
    return n, k, draw_prime(rng, 500, 1_000 * (1 + size))


def _twos(value: int) -> int:
    return (value & -value).bit_length() - 1


def _state_lamps(n: int, k: int, modulus: int) -> Question:
    shared = gcd(n, k)
    rank = n - shared + int(_twos(k) <= _twos(n))
    answer = pow(2, rank, modulus)
    return Question(
        f"{n} lamps stand in a circle, and all are off. A move switches {k} lamps that follow each "
        "other: those that are on go off, and those that are off go on. Take the number of "
        "different patterns of lamps that can be reached by any number of moves (also none). "
        f"What is the remainder of this number when it is divided by {modulus}?",
        answer,
        [
            (
                "Modulo 2, moves are the multiples of 1 + x + ... + x^(k - 1) modulo x^n - 1. The "
                "number of patterns is 2^(n - d), where d is the degree of the greatest common "
                "divisor of both polynomials."
            ),
            (
                f"x^{k} - 1 and x^{n} - 1 share x^{shared} - 1. The sum lacks one factor x - "
                f"1, which matters if 2 divides {k} no more often than {n}."
            ),
            f"{n} - d = {rank}",
            f"2^{rank} leaves {answer} modulo {modulus}.",
        ],
        pow(2, n - k + 1, modulus),
    )


# Leapers on a torus; numbers: side, both steps.


def _draw_leaper(rng: Rng, size: int) -> Numbers:
    shared = integer(rng, 2, 9 + size)
    n = shared * integer(rng, 5, _bound(size))
    a, b = integers(rng, 1, 9, 2)
    return n, shared * a, shared * (b + (a == b))


def _state_leaper(n: int, a: int, b: int) -> Question:
    step = gcd(a, b)
    odd = (a // step + b // step) % 2
    scale = gcd(step, n)
    side = n // scale
    halved = not odd and side % 2 == 0
    answer = side * side // 2 if halved else side * side
    steps = [
        f"Without the board's edges, sums of jumps are {step} times the vectors (x, y)"
        + ("." if odd else " with x + y even."),
        (
            f"Going round adds {n} to a coordinate. gcd({step}, {n}) = {scale}, so coordinates "
            f"change by multiples of {scale}: {side} values each."
        ),
    ]
    if not odd:
        steps.append(
            f"{side} is even, so the parity of x + y stays, and half of the squares are reached."
            if halved
            else f"{side} is odd, so going round changes the parity, and all are reached."
        )
    return Question(
        f"A board has {n} by {n} squares, and its opposite edges are joined: a piece that leaves "
        f"on one side comes in on the other. A piece jumps {a} squares along one direction (row or "
        f"column) and {b} squares along the other. How many squares can it reach by any number of "
        "jumps, the first square included?",
        answer,
        [*steps, f"The answer is {answer}."],
        n * n // 2,
    )


# The number of pieces is the number of lamps; numbers: the board, then switches and modulus.


def _draw_composed(rng: Rng, size: int) -> Numbers:
    return (*_draw_pieces(rng, size), integer(rng, 2, 9), draw_prime(rng, 500, 1_000 * (1 + size)))


def _state_composed(rows: int, columns: int, length: int, k: int, modulus: int) -> Question:
    inner = _state_pieces(rows, columns, length)
    n = int(inner.answer)  # type: ignore[arg-type]  # pieces are counted
    outer = _state_lamps(n, k, modulus)
    told = inner.text.replace("How many straight", "Let m be the largest number of straight")
    told = told.replace("cells can be put", "cells that can be put").replace(" at most?", ".")
    return Question(
        f"{told} {outer.text.replace(f'{n} lamps stand', 'Then m lamps stand', 1)}",
        outer.answer,
        [*inner.steps, f"So m = {n}.", *outer.steps],
        pow(2, rows * columns // length - k + 1, modulus),
    )


FAMILIES = {
    "board_sum": Family(1, _draw_board_sum, _state_board_sum),
    "jugs": Family(1, _draw_jugs, _state_jugs),
    "neighbour_swaps": Family(1, _draw_blocks, _state_blocks),
    "board_product": Family(2, _draw_board_product, _state_board_product),
    "shifted_row": Family(2, _draw_rotation, _state_rotation),
    "distant_swaps": Family(3, _draw_distances, _state_distances),
    "straight_pieces": Family(4, _draw_pieces, _state_pieces),
    "coins": Family(4, _draw_coins, _state_coins),
    "leaper": Family(5, _draw_leaper, _state_leaper),
    "lamps": Family(5, _draw_lamps, _state_lamps),
    "composed": Family(6, _draw_composed, _state_composed),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvariantProblemConfig(TaskConfig):
    """The families of problems, and the size of their numbers."""

    kinds: tuple[str, ...] = knob(KINDS, "families; each problem has one of them", choices=KINDS)
    size: int = knob(0, "how large the numbers are", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "InvariantProblemConfig":
        """Four neighbouring families of the list; the numbers grow with the level.

        From level 10 on it is the last four: turning coins, leapers on a torus, lamps in a circle,
        and lamps whose number is that of the pieces that fit on a board.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("InvariantProblem-v0", domain="math")
class InvariantProblemTask(FamilyTask[InvariantProblemConfig]):
    """Find what moves can reach, or how many pieces fit, by an invariant.

    Description:
        Eleven families: numbers on a board that are replaced by their sum or a product, jugs,
        rows sorted by swaps of neighbours, of any two books or at given distances, straight
        pieces on a board, coins that are turned over in groups, a leaper on a torus, lamps in a
        circle, and two of these in turn.

    Observation:
        The position, the moves, and the question.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        Each level asks four families. Higher ones need stronger invariants: sums, remainders,
        inversions, cycles, colourings, lattices and polynomials modulo 2. The numbers grow.

    References:
        Engel, Problem-Solving Strategies, chapters 1 and 2. Brualdi and Foregger, "Packing boxes
        with harmonic bricks", Journal of Combinatorial Theory B 17 (1974).
    """

    Config = InvariantProblemConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with an integer."
