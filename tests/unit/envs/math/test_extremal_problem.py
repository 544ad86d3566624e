"""ExtremalProblem: every family against a search of all cases, wrong answers, configuration."""

from functools import cache
from itertools import combinations, permutations, product
from math import gcd

import pytest

from rlvr_envs.envs.math.extremal_problem import (
    FAMILIES,
)


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def largest(items, clash):
    """Return the size of the largest choice without two items that clash."""
    near = [sum(1 << j for j, b in enumerate(items) if a != b and clash(a, b)) for a in items]

    @cache
    def best(left):
        if not left:
            return 0
        chosen = max(
            (i for i in range(len(items)) if left >> i & 1),
            key=lambda i: (near[i] & left).bit_count(),
        )
        if not near[chosen] & left:
            return left.bit_count()
        without = left & ~(1 << chosen)
        return max(best(without), 1 + best(without & ~near[chosen]))

    return best((1 << len(items)) - 1)


def chosen_numbers(n, clash):
    return largest(range(1, n + 1), clash)


def graphs(n):
    """Return all graphs as tuples of edges."""
    edges = list(combinations(range(n), 2))
    return ([e for i, e in enumerate(edges) if g >> i & 1] for g in range(1 << len(edges)))


def parts(n, edges):
    mark = list(range(n))
    for a, b in edges:
        mark = [mark[a] if m == mark[b] else m for m in mark]
    return len(set(mark))


def has_clique(n, edges, size):
    return any(
        all(pair in edges for pair in combinations(group, 2))
        for group in combinations(range(n), size)
    )


def matching(edges):
    if not edges:
        return 0
    (a, b), *rest = edges
    return max(matching(rest), 1 + matching([e for e in rest if not {a, b} & set(e)]))


@pytest.mark.parametrize("n", range(4, 23, 3))
def test_numbers_without_a_difference_a_multiple_or_a_sum(n):
    for k in range(2, 9):
        expected = chosen_numbers(n, lambda a, b, k=k: abs(a - b) == k)
        assert answer("no_difference", n, k) == expected
        expected = chosen_numbers(n, lambda a, b, k=k: a == k * b or b == k * a)
        assert answer("no_multiple", n, k) == expected
        expected = chosen_numbers(n, lambda a, b, k=k: (a + b) % k == 0)
        assert answer("divisible_sums", n, k) == expected
    for wanted in range(3, 2 * n):
        expected = chosen_numbers(n, lambda a, b, wanted=wanted: a + b == wanted)
        assert answer("no_sum", n, wanted) == expected


def test_socks():
    for wanted, *counts in product((2, 3, 4), range(1, 6), range(1, 6), range(4, 6)):
        takes = product(*(range(count + 1) for count in counts))
        worst = max(sum(take) for take in takes if max(take) < wanted)
        assert answer("socks", wanted, *counts) == worst + 1


def test_pieces_with_a_reach():
    for rows, columns, reach in product(range(1, 7), range(1, 6), (1, 2, 3)):
        board = list(product(range(rows), range(columns)))
        expected = largest(
            board, lambda a, b, r=reach: max(abs(a[0] - b[0]), abs(a[1] - b[1])) <= r
        )
        assert answer("reach", rows, columns, reach) == expected


def longest(terms, rises):
    best = []
    for i, term in enumerate(terms):
        best.append(1 + max((best[j] for j in range(i) if (terms[j] < term) == rises), default=0))
    return max(best)


@pytest.mark.parametrize(("up", "down"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 3), (5, 2)])
def test_monotone_subsequences(up, down):
    n = answer("monotone", up, down)

    def avoided(length):
        return any(
            longest(terms, True) < up and longest(terms, False) < down
            for terms in permutations(range(length))
        )

    assert not avoided(n)
    assert avoided(n - 1)


@pytest.mark.parametrize("n", range(2, 6))
def test_graphs(n):
    drawn = list(graphs(n))
    for k in range(1, n + 1):
        expected = max(len(edges) for edges in drawn if parts(n, edges) >= k)
        assert answer("separate_groups", n, k) == expected
    for clique in range(2, n):
        free = (len(edges) for edges in drawn if not has_clique(n, edges, clique + 1))
        assert answer("turan", n, clique) == max(free)
    for pairs in range(1, n // 2):
        expected = max(len(edges) for edges in drawn if matching(edges) <= pairs)
        assert answer("matchings", n, pairs) == expected


def test_graphs_of_six():
    most = dict.fromkeys(range(4), 0)
    free = 0
    for edges in graphs(6):
        size = len(edges)
        if size > min(most[1], most[2]):
            pairs = matching(edges)
            most[pairs] = max(most[pairs], size)
        if size > free and not has_clique(6, edges, 4):
            free = size
    assert answer("turan", 6, 3) == free
    assert [answer("matchings", 6, 1), answer("matchings", 6, 2)] == [
        most[1],
        max(most[1], most[2]),
    ]


def test_large_matchings_by_another_formula():
    """Tutte and Berge: with s hubs, the rest is odd cliques; one large clique is best."""
    for n in range(4, 40):
        for pairs in range(1, n // 2):
            best = 0
            for hubs in range(pairs + 1):
                clique = 2 * (pairs - hubs) + 1
                inside = hubs * (hubs - 1) // 2 + hubs * (n - hubs)
                best = max(best, inside + clique * (clique - 1) // 2)
            assert answer("matchings", n, pairs) == best


def test_eggs():
    @cache
    def drops(eggs, floors):
        if floors == 0 or eggs == 1:
            return floors
        return 1 + min(
            max(drops(eggs - 1, floor - 1), drops(eggs, floors - floor))
            for floor in range(1, floors + 1)
        )

    for eggs in range(1, 6):
        for allowed in range(1, 7):
            floors = answer("eggs", eggs, allowed)
            assert drops(eggs, floors) <= allowed < drops(eggs, floors + 1)


@pytest.mark.parametrize(
    ("n", "chosen", "common"),
    [
        (4, 2, 1),
        (5, 2, 1),
        (6, 2, 1),
        (6, 3, 1),
        (7, 3, 1),
        (6, 3, 2),
        (7, 3, 2),
        (8, 3, 2),
        (9, 4, 2),
    ],
)
def test_teams_that_meet(n, chosen, common):
    teams = [set(team) for team in combinations(range(n), chosen)]
    if len(teams) > 60:  # one team may be fixed, as all are alike
        first = teams[0]
        teams = [team for team in teams if len(team & first) >= common and team != first]
        expected = 1 + largest_clique(teams, common)
    else:
        expected = largest(teams, lambda a, b: len(a & b) < common)
    assert answer("meeting_teams", n, chosen, common) == expected


def largest_clique(teams, common):
    meets = [
        sum(1 << j for j, b in enumerate(teams) if a != b and len(a & b) >= common) for a in teams
    ]
    best = 0

    def grow(size, left):
        nonlocal best
        best = max(best, size)
        while left and size + left.bit_count() > best:
            i = left.bit_length() - 1
            left &= ~(1 << i)
            grow(size + 1, left & meets[i])

    grow(0, (1 << len(teams)) - 1)
    return best


def longest_trail(edges, closed):
    """Search all sets of edges for the largest one that Euler's condition allows."""
    best = 0
    for kept in range(1 << len(edges)):
        if kept.bit_count() > best:
            chosen = [e for i, e in enumerate(edges) if kept >> i & 1]
            degrees = {}
            for a, b in chosen:
                degrees[a] = degrees.get(a, 0) + 1
                degrees[b] = degrees.get(b, 0) + 1
            odd = sum(d % 2 for d in degrees.values())
            names = {v: i for i, v in enumerate(degrees)}
            linked = parts(len(names), [(names[a], names[b]) for a, b in chosen]) == 1
            if linked and odd in ((0,) if closed else (0, 2)):
                best = len(chosen)
    return best


@pytest.mark.parametrize("closed", [0, 1])
def test_trails(closed):
    for n in (3, 4, 5, 6):
        expected = longest_trail(list(combinations(range(n), 2)), closed)
        assert answer("trails", closed, n, 0) == expected
    for a, b in [(2, 2), (2, 3), (3, 3), (3, 4), (4, 3), (4, 4), (3, 5), (5, 3), (2, 5), (5, 2)]:
        edges = [(("a", i), ("b", j)) for i in range(a) for j in range(b)]
        if (closed, a, b) != (1, 2, 3):
            assert answer("trails", closed, a, b) == longest_trail(edges, closed)


def width(numbers):
    """Return the size of the largest antichain under divisibility, by Dilworth's theorem."""
    above = {a: [b for b in numbers if b != a and b % a == 0] for a in numbers}
    partner = {}

    def place(a, seen):
        for b in above[a]:
            if b not in seen:
                seen.add(b)
                if b not in partner or place(partner[b], seen):
                    partner[b] = a
                    return True
        return False

    return len(numbers) - sum(place(a, set()) for a in numbers)


def test_antichains_of_divisors():
    for exponents in product(range(4), range(3), range(3), range(2)):
        n = 2 ** exponents[0] * 3 ** exponents[1] * 5 ** exponents[2] * 7 ** exponents[3]
        divisors = [d for d in range(1, n + 1) if gcd(d, n) == d]
        assert answer("antichain", *exponents) == width(divisors)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_families_without_long_chains(n):
    below = [[b for b in range(a) if a & b == b] for a in range(1 << n)]
    best = [0] * (n + 2)
    for family in range(1 << (1 << n)):
        size = family.bit_count()
        if size <= min(best[1:n]):
            continue
        heights = {}
        for a in range(1 << n):
            if family >> a & 1:
                heights[a] = 1 + max((heights.get(b, 0) for b in below[a]), default=0)
        tallest = max(heights.values())
        best[tallest] = max(best[tallest], size)
    for tallest in range(1, n):
        assert answer("chains", n, tallest) == max(best[: tallest + 1])


@pytest.mark.parametrize(("n", "common"), [(3, 1), (4, 1), (4, 2), (5, 2), (5, 3), (6, 2), (6, 3)])
def test_families_with_common_elements(n, common):
    subsets = [s for s in range(1 << n) if s.bit_count() >= common]
    assert answer("common_elements", n, common) == largest(
        subsets, lambda a, b: (a & b).bit_count() < common
    )


def test_one_problem_in_another():
    for a, b, clique in product((7, 9), (2, 3), (2, 3)):
        m = chosen_numbers(a, lambda x, y, b=b: abs(x - y) == b)
        assert answer("composed", 0, a, b, clique) == answer("turan", m, clique)
        m = chosen_numbers(a, lambda x, y, b=b: x == b * y or y == b * x)
        assert answer("composed", 1, a, b, clique) == answer("turan", m, clique)
        assert answer("composed", 2, a, b, clique) == answer("turan", (a - 1) * (b - 1) + 1, clique)
    prompt = FAMILIES["composed"].state(2, 4, 7, 9).text
    assert prompt.count("?") == 1
