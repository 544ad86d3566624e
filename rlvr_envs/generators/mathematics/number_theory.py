"""Functions of elementary number theory: orders, valuations, residues, Fibonacci numbers.

All of them factor by trial division, so they are for integers of up to about ten digits.
"""

import math
from functools import reduce

from rlvr_envs.generators.mathematics.primes import factor_small


def divisors(n: int) -> list[int]:
    """Return the positive divisors of a positive integer, ascending."""
    found = [1]
    for prime, exponent in factor_small(n).items():
        found = [d * prime**k for d in found for k in range(exponent + 1)]
    return sorted(found)


def totient(n: int) -> int:
    """Return how many integers from 1 to n are coprime to n."""
    return math.prod((p - 1) * p ** (e - 1) for p, e in factor_small(n).items())


def moebius(n: int) -> int:
    """Return 0 if a square above 1 divides n, else 1 or -1 by the parity of its primes."""
    exponents = factor_small(n).values()
    return 0 if any(e > 1 for e in exponents) else (-1) ** len(exponents)


def universal_exponent(n: int) -> int:
    """Return the smallest k such that ``a**k`` is 1 modulo n for all a coprime to n."""
    parts = [
        2 ** (e - 2) if p == 2 and e > 2 else (p - 1) * p ** (e - 1)
        for p, e in factor_small(n).items()
    ]
    return math.lcm(*parts)


def order(base: int, modulus: int) -> int:
    """Return the smallest positive k such that ``base**k`` is 1 modulo an integer.

    Raises:
        ValueError: the base and the modulus have a common factor.
    """
    if math.gcd(base, modulus) != 1:
        raise ValueError(f"{base} and {modulus} have a common factor, so there is no order")
    exponent = universal_exponent(modulus)
    for prime in factor_small(exponent):
        while exponent % prime == 0 and pow(base, exponent // prime, modulus) == 1 % modulus:
            exponent //= prime
    return exponent


def valuation(prime: int, n: int) -> int:
    """Return the exponent of a prime in an integer that is not 0."""
    count = 0
    while n % prime == 0:
        n //= prime
        count += 1
    return count


def factorial_valuation(prime: int, n: int) -> int:
    """Return the exponent of a prime in n factorial (Legendre)."""
    total = 0
    while n := n // prime:
        total += n
    return total


def fibonacci(n: int, modulus: int | None = None) -> int:
    """Return the n-th Fibonacci number (0, 1, 1, 2, ...), or its remainder, by doubling."""
    low, high = 0, 1
    for bit in bin(n)[2:]:
        low, high = low * (2 * high - low), low * low + high * high
        if bit == "1":
            low, high = high, low + high
        if modulus is not None:
            low, high = low % modulus, high % modulus
    return low if modulus is None else low % modulus


def fibonacci_period(modulus: int) -> int:
    """Return the period of the Fibonacci numbers modulo an integer from 2."""
    low, high, steps = 1, 1, 1
    while (low, high) != (0, 1):
        low, high, steps = high, (low + high) % modulus, steps + 1
    return steps


def tower(base: int, exponents: tuple[int, ...], modulus: int) -> int:
    """Return the remainder of ``base ** (e1 ** (e2 ...))``; all numbers are positive."""
    if modulus == 1:
        return 0
    if not exponents:
        return base % modulus
    period = totient(modulus)
    exponent = tower(exponents[0], exponents[1:], period)
    # from the 32nd power on, the powers repeat with this period, whatever the common factors
    if _is_large(exponents):
        return pow(base, exponent + 32 * period, modulus)
    return pow(base, reduce(lambda e, b: b**e, reversed(exponents)), modulus)


def _is_large(exponents: tuple[int, ...]) -> bool:
    """Whether a tower of exponents is beyond 64."""
    value = 1
    for base in reversed(exponents):
        if base > 1 and value > 6:
            return True
        value = base**value
    return value > 64


def roots_of_unity(exponent: int, modulus: int) -> int:
    """Return how many residues have this power equal to 1, modulo an odd integer."""
    return math.prod(
        math.gcd(exponent, (p - 1) * p ** (e - 1)) for p, e in factor_small(modulus).items()
    )


def base_digits(n: int, base: int) -> list[int]:
    """Return the digits of a natural number in a base, the last one first."""
    found = []
    while n:
        n, digit = divmod(n, base)
        found.append(digit)
    return found or [0]
