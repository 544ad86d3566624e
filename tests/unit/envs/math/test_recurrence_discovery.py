"""RecurrenceDiscovery: every family against listing or searching all cases, wrong answers."""

from collections import deque
from functools import cache
from itertools import pairwise, permutations, product

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.recurrence_discovery import (
    FAMILIES,
)

BIG = 10**40  # a modulus that changes nothing


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def euler(vertices, edges):
    """Return the number of faces of a connected plane graph on the sphere."""
    return edges - vertices + 2


@pytest.mark.parametrize("n", range(2, 30))
def test_regions_by_the_formula_of_euler(n):
    pairs = n * (n - 1) // 2
    # Lines meet in one more vertex far away; each has n - 1 crossings and so n pieces.
    assert answer("regions", 0, n) == euler(pairs + 1, n * n)
    # Each circle has 2(n - 1) crossings and as many arcs.
    assert answer("regions", 1, n) == euler(2 * pairs, n * 2 * (n - 1))
    # A V-shape is a path through its tip, with 4(n - 1) crossings and both ends far away.
    assert answer("regions", 2, n) == euler(4 * pairs + n + 1, n * (4 * (n - 1) + 2))


def test_regions_of_planes_by_signs():
    """The planes of cubics t^3 + at^2 + bt + c with the root 1, 2, ... are in general position.

    A region has one pattern of signs at 1, 2, ..., n, and a cubic changes its sign at most thrice.
    """
    for n in range(1, 11):
        patterns = ((-1, *signs, 1) for signs in product((-1, 1), repeat=n))
        changes = (sum(a != b for a, b in pairwise(pattern)) for pattern in patterns)
        assert answer("regions", 3, n) == sum(change <= 3 for change in changes)


@pytest.mark.parametrize("kinds", [(1, 1), (2, 3), (1, 0, 2), (2, 1, 1), (1, 1, 1, 3)])
def test_tiles(kinds):
    @cache
    def coverings(length):
        if length == 0:
            return 1
        return sum(
            coverings(length - size)
            for size in range(1, min(length, len(kinds)) + 1)
            for _ in range(kinds[size - 1])
        )

    for n in range(20):
        assert answer("tiles", n, BIG, *kinds) == coverings(n)
        assert answer("tiles", n, 97, *kinds) == coverings(n) % 97


@pytest.mark.parametrize("step", [2, 3])
def test_the_circle_of_josephus(step):
    for people in range(3, 200):
        circle = deque(range(1, people + 1))
        while len(circle) > 1:
            circle.rotate(1 - step)
            circle.popleft()
        assert answer("josephus", people, step) == circle[0]


def fewest_moves(rule, n):
    """Search the positions of the towers: for each disc, from small to large, its peg."""
    discs = [i // 2 for i in range(2 * n)] if rule == 1 else list(range(n))
    start, goal = (0,) * len(discs), ((1 if rule == 2 else 2),) * len(discs)
    seen, queue = {start: 0}, deque([start])
    while queue:
        at = queue.popleft()
        if at == goal:
            return seen[at]
        for i, source in enumerate(at):
            if any(at[j] == source for j in range(i) if discs[j] < discs[i]):
                continue
            for target in range(3):
                allowed = {0: abs(target - source) == 1, 1: target != source}
                allowed[2] = target == (source + 1) % 3
                blocked = any(at[j] == target for j in range(i) if discs[j] < discs[i])
                after = (*at[:i], target, *at[i + 1 :])
                if allowed[rule] and not blocked and after not in seen:
                    seen[after] = seen[at] + 1
                    queue.append(after)
    raise AssertionError("the goal cannot be reached")


@pytest.mark.parametrize("rule", [0, 1, 2])
def test_towers(rule):
    for n in range(1, 5 if rule == 1 else 7):
        assert answer("towers", rule, n, BIG) == fewest_moves(rule, n)


def test_strings_without_long_runs():
    for letters, longest in product((2, 3), (1, 2, 3)):
        for n in range(9):
            found = sum(
                "A" * (longest + 1) not in "".join(s) for s in product("ABC"[:letters], repeat=n)
            )
            assert answer("runs", n, BIG, letters, longest) == found


def compositions(n):
    if n == 0:
        yield ()
    for first in range(1, n + 1):
        for rest in compositions(n - first):
            yield (first, *rest)


def test_compositions():
    for n in range(1, 13):
        listed = list(compositions(n))
        for k in range(2, 6):
            assert answer("compositions", n, BIG, 0, k) == sum(min(c) >= k for c in listed)
            assert answer("compositions", n, BIG, 1, k) == sum(max(c) <= k for c in listed)
            assert answer("compositions", n, BIG, 2, k) == sum(k not in c for c in listed)


def test_strings_without_forbidden_neighbours():
    for seed in range(25):
        _, _, letters, *flat = FAMILIES["neighbours"].draw(stream("neighbours", seed), seed % 8)
        banned = list(zip(flat[::2], flat[1::2], strict=True))
        for n in range(1, 7):
            strings = product(range(letters), repeat=n)
            found = sum(not any(pair in banned for pair in pairwise(s)) for s in strings)
            assert answer("neighbours", n, BIG, letters, *flat) == found


PIECES = {
    0: [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 0), (0, 1), (1, 0), (1, 1))],
    1: [((0, 0), (0, 1)), ((0, 0), (1, 0))],
    2: [
        *[((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 0), (0, 1), (1, 0)), ((0, 0), (0, 1), (1, 1))],
        *[((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 0), (1, -1))],
    ],
}


def coverings(which, rows, columns, covered=frozenset()):
    """Cover the first free cell, column by column, in every way."""
    free = ((c, r) for c in range(columns) for r in range(rows) if (c, r) not in covered)
    cell = next(free, None)
    if cell is None:
        return 1
    found = 0
    for piece in PIECES[which]:
        cells = {(cell[0] + a, cell[1] + b) for a, b in piece}
        if cells & covered or any(not (0 <= c < columns and 0 <= r < rows) for c, r in cells):
            continue
        found += coverings(which, rows, columns, covered | cells)
    return found


@pytest.mark.parametrize("which", [0, 1, 2])
def test_coverings(which):
    for n in range(1, 5 if which == 1 else 8):
        rows, columns = (3, 2 * n) if which == 1 else (2, n)
        assert answer("coverings", which, n, BIG) == coverings(which, rows, columns)


def test_permutations_that_move_nothing_far():
    for n in range(1, 8):
        rows = list(permutations(range(n)))
        for most in (1, 2, 3):
            found = sum(all(abs(i - p) <= most for i, p in enumerate(row)) for row in rows)
            assert answer("near_permutations", n, BIG, most) == found


def test_one_recurrence_at_the_value_of_another():
    for which, n, kinds in product(range(4), (3, 5, 6), ((1, 1), (2, 3))):
        m = answer("regions", which, n)
        assert answer("composed", which, n, 997, *kinds) == answer("tiles", m, 997, *kinds)
        text = FAMILIES["composed"].state(which, n, 997, *kinds).text
        assert text.count("?") == 1
        assert "length m" in text
        assert f"length {m} " not in text
