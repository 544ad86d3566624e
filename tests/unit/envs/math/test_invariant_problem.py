"""InvariantProblem: every family against a search of all positions, wrong answers, knobs."""

from functools import cache
from itertools import combinations, pairwise, product
from math import gcd

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.invariant_problem import (
    FAMILIES,
)

BIG = 10**40  # a modulus that changes nothing


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def distances(start, moves):
    """Return the fewest moves to each position that can be reached."""
    seen, layer = {start: 0}, [start]
    while layer:
        following = []
        for position in layer:
            for after in moves(position):
                if after not in seen:
                    seen[after] = seen[position] + 1
                    following.append(after)
        layer = following
    return seen


def last_numbers(numbers, join):
    """Return all numbers that can be left at the end."""

    def moves(board):
        for i, j in combinations(range(len(board)), 2):
            rest = [x for k, x in enumerate(board) if k not in (i, j)]
            yield tuple(sorted([*rest, join(board[i], board[j])]))

    return {board[0] for board in distances(tuple(sorted(numbers)), moves) if len(board) == 1}


def test_numbers_on_a_board():
    for n, added in product(range(2, 7), (-4, -1, 2, 5)):
        left = last_numbers(range(1, n + 1), lambda a, b, c=added: a + b + c)
        assert left == {answer("board_sum", n, added)}
    for factor, values in product((1, 2, 3), ((1, 2), (3, 3, 5), (2, 7, 1, 4))):
        left = last_numbers(values, lambda a, b, k=factor: a + b + k * a * b)
        assert left == {answer("board_product", factor, *values)}


def test_jugs():
    for a, b in product(range(1, 13), repeat=2):

        def moves(jugs, a=a, b=b):
            x, y = jugs
            yield from [(a, y), (x, b), (0, y), (x, 0)]
            over, back = min(x, b - y), min(y, a - x)
            yield from [(x - over, y + over), (x + back, y - back)]

        totals = {x + y for x, y in distances((0, 0), moves)} - {0}
        assert answer("jugs", a, b) == len(totals)


def swaps(pairs):
    def moves(row):
        for i, j in pairs:
            after = list(row)
            after[i], after[j] = row[j], row[i]
            yield tuple(after)

    return moves


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_rows_that_are_sorted(n):
    start = tuple(range(n))
    near = distances(start, swaps(list(pairwise(range(n)))))
    free = distances(start, swaps(list(combinations(range(n), 2))))
    for block in range(1, n):
        for first, second in product((0, 1), repeat=2):
            left = range(n - 1, block - 1, -1) if second else range(block, n)
            right = range(block - 1, -1, -1) if first else range(block)
            assert answer("neighbour_swaps", n, block, first, second) == near[(*left, *right)]
        shifted = tuple((i - block) % n for i in range(n))
        assert answer("shifted_row", n, block) == free[shifted]


def test_swaps_at_given_distances():
    for first, second in product(range(1, 6), repeat=2):
        for n in range(first + second - gcd(first, second), 8):
            pairs = [(i, j) for i, j in combinations(range(n), 2) if j - i in (first, second)]
            if n > 1:
                reached = distances(tuple(range(n)), swaps(pairs))
                assert answer("distant_swaps", n, first, second) == len(reached)
    for seed in range(100):
        n, first, second = FAMILIES["distant_swaps"].draw(stream("swaps", seed), seed % 9)
        assert n >= first + second - gcd(first, second)


def test_coins():
    for n in range(2, 15):
        for k in range(1, n):
            if n % 2 and k % 2 == 0:
                continue  # the number of tails stays even

            def moves(tails, n=n, k=k):
                for back in range(max(0, k - (n - tails)), min(k, tails) + 1):
                    yield tails + k - 2 * back

            assert answer("coins", n, k) == distances(0, moves)[n]


@cache
def most_pieces(rows, columns, length):
    """Go cell by cell; what matters is how far pieces from above reach down in each column."""
    best = {(0,) * columns: 0}
    for r in range(rows):
        for c in range(columns):
            after = {}

            def note(state, count, after=after):
                after[state] = max(after.get(state, -1), count)

            for state, count in best.items():
                if state[c]:
                    note((*state[:c], state[c] - 1, *state[c + 1 :]), count)
                    continue
                note(state, count)
                if r + length <= rows:
                    note((*state[:c], length - 1, *state[c + 1 :]), count + 1)
                if c + length <= columns and not any(state[c : c + length]):
                    # The first cell is done; the others count as taken when the row gets there.
                    note((*state[:c], 0, *[1] * (length - 1), *state[c + length :]), count + 1)
            best = after
    return max(best.values())


@pytest.mark.parametrize("length", [2, 3, 4])
def test_straight_pieces(length):
    for rows, columns in product(range(length, length + 5), range(length, 7)):
        assert answer("straight_pieces", rows, columns, length) == most_pieces(
            rows, columns, length
        )


def test_lamps_in_a_circle():
    for n in range(3, 15):
        for k in range(2, n):
            basis = []
            for start in range(n):
                move = sum(1 << (start + i) % n for i in range(k))
                for other in basis:
                    move = min(move, move ^ other)
                if move:
                    basis.append(move)
            assert answer("lamps", n, k, BIG) == 2 ** len(basis)
            assert answer("lamps", n, k, 97) == 2 ** len(basis) % 97


def test_leapers_on_a_torus():
    for n in range(2, 16):
        for a, b in product(range(1, 7), repeat=2):
            jumps = [(s * x, t * y) for x, y in ((a, b), (b, a)) for s in (1, -1) for t in (1, -1)]

            def moves(at, n=n, jumps=jumps):
                return [((at[0] + x) % n, (at[1] + y) % n) for x, y in jumps]

            assert answer("leaper", n, a, b) == len(distances((0, 0), moves))


def test_the_number_of_lamps_is_a_number_of_pieces():
    for rows, columns, length, k in product((5, 6, 7), (6, 7), (3, 4), (2, 3, 4)):
        lamps = most_pieces(rows, columns, length)
        assert answer("composed", rows, columns, length, k, 997) == answer("lamps", lamps, k, 997)
    text = FAMILIES["composed"].state(11, 26, 6, 4, 599).text
    assert text.count("?") == 1
    assert "m lamps" in text


def test_drawn_positions_make_sense():
    for seed in range(200):
        n, k = FAMILIES["coins"].draw(stream("coins", seed), seed % 9)
        assert 0 < k < n
        rows, columns, length = FAMILIES["straight_pieces"].draw(stream("pieces", seed), seed % 9)
        assert length <= min(rows, columns)
        n, k, _ = FAMILIES["lamps"].draw(stream("lamps", seed), seed % 9)
        assert k < n
        *board, k, _ = FAMILIES["composed"].draw(stream("composed", seed), seed % 9)
        assert k < answer("straight_pieces", *board)
