"""DiophantineFamily: every family against plain enumeration, wrong answers, configuration."""

from itertools import product
from math import gcd, isqrt, lcm, prod

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.diophantine_family import (
    FAMILIES,
)

BIG = 10**30  # a modulus that changes nothing
EXPONENTS = list(product(range(4), range(3), range(3)))


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def number(exponents, primes=(2, 3, 5, 7, 11)):
    return prod(p**e for p, e in zip(primes, exponents, strict=False))


def is_square(value):
    return value >= 0 and isqrt(value) ** 2 == value


def unpayable(*coins):
    bound = max(coins) * min(coins) * 3
    can = [True] + [False] * bound
    for amount in range(1, bound + 1):
        can[amount] = any(coin <= amount and can[amount - coin] for coin in coins)
    return [amount for amount, payable in enumerate(can) if not payable]


def consecutive_sums(n):
    found = 0
    for start in range(1, n // 2 + 1):
        total, term = start, start
        while total < n:
            term += 1
            total += term
        found += total == n
    return found


def square_differences(n):
    return sum(is_square(n + y * y) for y in range(1, n + 1))


def reciprocals(n):
    return sum((n * x) % (x - n) == 0 for x in range(n + 1, n * n + n + 1))


def test_two_coins():
    for a, b in product(range(2, 14), repeat=2):
        if gcd(a, b) == 1:
            found = unpayable(a, b)
            assert answer("two_coins", 0, a, b) == (max(found) if found else -1)
            assert answer("two_coins", 1, a, b) == len(found)


def test_coins_in_progression():
    for first, step, more in product(range(3, 15), range(1, 9), range(2, 6)):
        if gcd(first, step) == 1 and more < first:
            coins = [first + i * step for i in range(more + 1)]
            assert answer("coins_in_progression", first, step, more) == max(unpayable(*coins))


def test_three_coins():
    seen = 0
    for shared, a, b in product(range(2, 5), range(2, 7), range(2, 7)):
        for i, j in product(range(3), repeat=2):
            third = i * a + j * b
            if gcd(a, b) == 1 and third and gcd(third, shared) == 1:
                expected = max(unpayable(shared * a, shared * b, third))
                assert answer("three_coins", shared, a, b, third) == expected
                seen += 1
    assert seen > 100


def test_drawn_coins_meet_the_conditions():
    for seed in range(300):
        shared, a, b, third = FAMILIES["three_coins"].draw(stream("coins", seed), seed % 4)
        assert gcd(a, b) == gcd(shared, third) == 1
        assert any((third - i * a) % b == 0 for i in range(third // a + 1))
        first, step, more = FAMILIES["coins_in_progression"].draw(stream("coins", seed), 0)
        assert gcd(first, step) == 1
        assert more < first


@pytest.mark.parametrize("exponents", EXPONENTS)
def test_divisor_counts(exponents):
    n = number(exponents)
    assert answer("consecutive_sums", *exponents) == consecutive_sums(n)
    if exponents[0] != 1:
        assert answer("square_differences", *exponents) == square_differences(n)
    if n <= 200:
        assert answer("reciprocals", 1, *exponents) == reciprocals(n)
        unordered = sum((n * x) % (x - n) == 0 for x in range(n + 1, 2 * n + 1))
        assert answer("reciprocals", 0, *exponents) == unordered


def test_twice_an_odd_number_is_no_difference_of_squares():
    for exponents in product((1,), range(3), range(3)):
        assert (
            square_differences(number(exponents)) == answer("square_differences", *exponents) == 0
        )


def test_tuples_with_a_least_common_multiple():
    for length, exponents in product((2, 3), product(range(1, 4), range(1, 3))):
        n = number(exponents)
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        tuples = [t for t in product(divisors, repeat=length) if lcm(*t) == n]
        assert answer("least_multiples", length, 0, *exponents) == len(tuples)
        coprime = sum(gcd(*t) == 1 for t in tuples)
        assert answer("least_multiples", length, 1, *exponents) == coprime


def test_the_hyperbola():
    for p, q, *exponents in product(range(2, 5), range(2, 6), range(3), range(3), range(2)):
        whole = number(exponents)
        rest = whole - p * q
        found = sum(
            x != q and (rest + p * x) % (x - q) == 0 for x in range(q - whole, q + whole + 1)
        )
        assert answer("hyperbola", p, q, *exponents) == found


def test_equal_powers():
    for most, a, b in product((1, 5, 8, 9, 26, 27, 40), range(1, 7), range(1, 7)):
        if a != b:
            pairs = product(range(1, most + 1), repeat=2)
            assert answer("equal_powers", most, a, b) == sum(x**a == y**b for x, y in pairs)


def test_two_squares():
    for twos, threes, sevens, fives, thirteens in product(
        range(3), (0, 1), (0, 1), range(3), (0, 1)
    ):
        n = 2**twos * 9**threes * 49**sevens * 5**fives * 13**thirteens
        half = isqrt(n)
        found = sum(1 + (x * x < n) for x in range(-half, half + 1) if is_square(n - x * x))
        assert answer("two_squares", twos, threes, sevens, fives, thirteens) == found


def test_right_triangles():
    for exponents in product(range(4), range(3), range(3), range(2)):
        n = number(exponents, (2, 3, 5, 13))
        if n > 250:
            continue
        legs = sum(is_square(n * n + b * b) for b in range(1, n * n // 2 + 1))
        hypotenuses = sum(is_square(n * n - b * b) for b in range(1, n)) // 2
        assert answer("right_triangles", 0, *exponents) == legs
        assert answer("right_triangles", 1, *exponents) == hypotenuses
        assert answer("right_triangles", 2, *exponents) == legs + hypotenuses


@pytest.mark.parametrize("d", [2, 3, 5, 6, 7, 8, 10, 11, 12, 14, 15, 20, 24, 27, 33])
def test_the_equation_of_pell(d):
    found = [isqrt(1 + d * y * y) for y in range(1, 20_000) if is_square(1 + d * y * y)]
    assert found
    assert [answer("pell", d, k, BIG) for k in range(1, len(found) + 1)] == found
    assert [answer("pell", d, k, 97) for k in range(1, len(found) + 1)] == [x % 97 for x in found]


@pytest.mark.parametrize("c", [1, 3, 4, 5, 6, 7, 10, 12])
def test_triangular_numbers(c):
    values = ((n, n * (n + 1) // 2) for n in range(1, 60_000))
    found = [n for n, t in values if t % c == 0 and is_square(t // c)]
    assert found
    assert [answer("triangular_numbers", c, k, BIG) for k in range(1, len(found) + 1)] == found


def partners(b, c):
    """Return the integers y > x with y^2 - b x y + x^2 = c, for small x."""
    found = set()
    for x in range(1, 3_000):
        square = (b * x) ** 2 - 4 * (x * x - c)
        if is_square(square):
            roots = (b * x + sign * isqrt(square) for sign in (1, -1))
            found |= {(x, root // 2) for root in roots if root % 2 == 0 and root // 2 > x}
    return [y for _, y in sorted(found)]


def test_pairs_by_descent():
    for factor in range(3, 9):
        found = partners(factor, 1)
        assert len(found) > 2
        assert [answer("vieta_pairs", factor, k + 1, BIG) for k in range(len(found))] == found
    for root in range(2, 6):
        found = partners(root * root, root * root)
        assert len(found) > 1
        assert [answer("square_quotients", root, k + 1, BIG) for k in range(len(found))] == found


@pytest.mark.parametrize(("d", "p", "q"), [(2, 3, 2), (5, 9, 4), (6, 5, 2), (7, 8, 3), (12, 7, 2)])
def test_counts_that_start_from_an_equation(d, p, q):
    for first, second in product((1, 2), repeat=2):
        n = p**first * q**second
        assert answer("composed", 1, d, first, second) == consecutive_sums(n)
        if n % 4 != 2:
            assert answer("composed", 2, d, first, second) == square_differences(n)
        if n < 400:
            assert answer("composed", 0, d, first, second) == reciprocals(n)
