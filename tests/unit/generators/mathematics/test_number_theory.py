"""Number theory: every function against counting, on all small integers."""

import math

import pytest

from rlvr_envs.generators.mathematics import number_theory as nt

SMALL = range(1, 200)


def test_divisors_and_multiplicative_functions():
    for n in SMALL:
        found = [d for d in range(1, n + 1) if n % d == 0]
        assert nt.divisors(n) == found
        assert nt.totient(n) == sum(math.gcd(k, n) == 1 for k in range(1, n + 1))
        assert sum(nt.moebius(d) for d in found) == (n == 1)


def powers(base, n):
    value, count = base % n, 1
    while value != 1 % n:
        value, count = value * base % n, count + 1
    return count


def test_orders():
    for n in range(2, 150):
        units = [a for a in range(1, n) if math.gcd(a, n) == 1]
        orders = {a: powers(a, n) for a in units}
        assert {a: nt.order(a, n) for a in units} == orders
        assert nt.universal_exponent(n) == max(orders.values())
        if n % 2:
            for k in range(1, 13):
                roots = sum(pow(a, k, n) == 1 for a in range(n))
                assert nt.roots_of_unity(k, n) == roots
    with pytest.raises(ValueError, match="6 and 9 have a common factor"):
        nt.order(6, 9)


@pytest.mark.parametrize("prime", [2, 3, 5, 7])
def test_valuations(prime):
    for n in SMALL:
        power = nt.valuation(prime, n)
        assert n % prime**power == 0
        assert n % prime ** (power + 1) != 0
        assert nt.factorial_valuation(prime, n) == nt.valuation(prime, math.factorial(n))


def test_fibonacci_numbers():
    found = [0, 1]
    while len(found) < 700:
        found.append(found[-1] + found[-2])
    assert [nt.fibonacci(n) for n in range(100)] == found[:100]
    for m in range(2, 60):
        assert [nt.fibonacci(n, m) for n in range(80)] == [f % m for f in found[:80]]
        period = next(k for k in range(1, 600) if found[k] % m == 0 and found[k + 1] % m == 1 % m)
        assert nt.fibonacci_period(m) == period


@pytest.mark.parametrize("modulus", [1, 2, 7, 12, 32, 36, 64, 97, 100, 128, 360])
def test_towers(modulus):
    for base in (1, 2, 3, 6, 10, 14):
        assert nt.tower(base, (), modulus) == base % modulus
        for first in (1, 2, 3, 10, 70):
            assert nt.tower(base, (first,), modulus) == base**first % modulus
            for second in (1, 2, 3):
                if first**second < 10**4:
                    assert (
                        nt.tower(base, (first, second), modulus)
                        == base ** (first**second) % modulus
                    )
        assert nt.tower(base, (2, 2, 3), modulus) == pow(base, 2**8, modulus)
        assert nt.tower(base, (3, 2, 2), modulus) == pow(base, 3**4, modulus)
        assert nt.tower(base, (2, 3, 2), modulus) == pow(base, 2**9, modulus)


def test_digits():
    for base in (2, 3, 10, 16):
        for n in range(500):
            found = nt.base_digits(n, base)
            assert sum(d * base**k for k, d in enumerate(found)) == n
            assert all(0 <= d < base for d in found)
            assert len(found) == 1 or found[-1]
