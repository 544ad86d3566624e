"""Primes, and integers made from known primes: shared by the number theory tasks."""

from rlvr_envs.core.seeding import Rng, integer

_SMALL = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79)

Factors = tuple[tuple[int, int], ...]


def is_prime(value: int) -> bool:
    """Whether an integer is prime: proven below 3.3e24, beyond that a strong probable prime."""
    if value < 2:
        return False
    for prime in _SMALL:
        if value % prime == 0:
            return value == prime
    odd = value - 1
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    return all(_passes(value, base, odd, twos) for base in _SMALL[:13])


def _passes(value: int, base: int, odd: int, twos: int) -> bool:
    """Whether the Miller-Rabin test of one base finds no sign that the value is composite."""
    power = pow(base, odd, value)
    if power in (1, value - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % value
        if power == value - 1:
            return True
    return False


def draw_prime(rng: Rng, low: int, high: int) -> int:
    """Draw a prime in [low, high]: the first one from a random start, going round.

    The range must hold a prime; one with ``high >= 2 * low`` does, by Bertrand's postulate.
    """
    start = integer(rng, low, high)
    value = start
    while not is_prime(value):
        value = value + 1 if value < high else low
        if value == start:
            raise ValueError(f"no prime lies between {low} and {high}")
    return value


def factor_small(value: int) -> dict[int, int]:
    """Return prime → exponent by trial division; for values whose primes are known to be small."""
    found: dict[int, int] = {}
    prime = 2
    while prime * prime <= value:
        while value % prime == 0:
            found[prime] = found.get(prime, 0) + 1
            value //= prime
        prime += 1
    if value > 1:
        found[value] = found.get(value, 0) + 1
    return found


def draw_factors(rng: Rng, max_cofactor: int, max_prime: int, n_primes: int) -> Factors:
    """Draw an integer by its factorisation: a cofactor of at least 2, times random primes.

    The primes come from the upper half of 2..max_prime, so that they are as large as asked for.
    """
    found = factor_small(integer(rng, 2, max_cofactor))
    for _ in range(n_primes):
        prime = draw_prime(rng, max(2, max_prime // 2), max_prime)
        found[prime] = found.get(prime, 0) + 1
    return tuple(sorted(found.items()))
