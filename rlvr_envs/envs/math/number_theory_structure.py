"""Number theory by structure: orders, valuations, residues, towers, Fibonacci numbers."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.mathematics import number_theory as nt
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.primes import draw_prime, factor_small
from rlvr_envs.generators.mathematics.steps import prime_powers, times, total


def _factored(n: int) -> str:
    return prime_powers(tuple(sorted(factor_small(n).items())))


def _listed(values: list[int]) -> str:
    return ", ".join(map(str, values))


def _two_primes(rng: Rng, low: int, high: int) -> tuple[int, int]:
    while True:
        p, q = draw_prime(rng, low, high), draw_prime(rng, low, high)
        if p != q:
            return p, q


# The remainder of a power; numbers: base, exponent, modulus.


def _draw_power(rng: Rng, size: int) -> Numbers:
    while True:
        base, modulus = integer(rng, 2, 20 + size), integer(rng, 30, 120 + 5 * size)
        if math.gcd(base, modulus) == 1:
            return base, integer(rng, 50, 1_000 + 100 * size), modulus


def _power(base: int, exponent: int, modulus: int) -> Question:
    period = nt.order(base, modulus)
    rest = exponent % period
    answer = pow(base, exponent, modulus)
    return Question(
        f"What is the remainder when ${base}^{{{exponent}}}$ is divided by {modulus}?",
        answer,
        [
            f"The powers of {base} modulo {modulus} repeat with period {period}.",
            f"{exponent} leaves the remainder {rest} when it is divided by {period}.",
            f"{base}^{rest} leaves the remainder {answer}.",
        ],
        pow(base, exponent % 10 or 10, modulus),
    )


# Zeros of a factorial in base ten; numbers: n.


def _draw_zeros(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 100, 5_000 + 500 * size),)


def _zeros(n: int) -> Question:
    answer = nt.factorial_valuation(5, n)
    parts = [n // 5**k for k in range(1, 12) if n // 5**k]
    return Question(
        f"How many zeros are at the end of ${n}!$ in decimal notation?",
        answer,
        [
            "There are more factors 2 than 5, so the zeros are the factors 5.",
            f"The multiples of 5, 25, ... up to {n}: {' + '.join(map(str, parts))} = {answer}",
        ],
        answer,
    )


# The greatest common divisor of two numbers like 2^n - 1; numbers: base, both exponents.


def _draw_mersenne(rng: Rng, size: int) -> Numbers:
    while True:
        shared = integer(rng, 3, 7 + size // 4)
        one, two = integer(rng, 2, 20 + size), integer(rng, 2, 20 + size)
        if math.gcd(one, two) == 1:
            return integer(rng, 2, 9), shared * one, shared * two


def _mersenne(base: int, one: int, two: int) -> Question:
    shared = math.gcd(one, two)
    answer = base**shared - 1
    return Question(
        f"What is the greatest common divisor of ${base}^{{{one}}} - 1$ and ${base}^{{{two}}} - "
        "1$?",
        answer,
        [
            "Euclid's algorithm on the numbers a^m - 1 and a^n - 1 follows that on m and n.",
            f"The greatest common divisor of {one} and {two} is {shared}.",
            f"{base}^{shared} - 1 = {answer}",
        ],
        answer,
    )


# Wilson; numbers: prime, how far below p - 1, factor.


def _draw_wilson(rng: Rng, size: int) -> Numbers:
    prime = draw_prime(rng, 41, 199 + 20 * size)
    return prime, integer(rng, 2, 4), integer(rng, 2, 30)


def _wilson(prime: int, below: int, factor: int) -> Question:
    product = math.factorial(below)
    sign = -1 if below % 2 == 0 else 1
    answer = sign * factor * pow(product, -1, prime) % prime
    return Question(
        f"What is the remainder when ${factor} \\cdot {prime - 1 - below}!$ is divided by the "
        f"prime {prime}?",
        answer,
        [
            f"By Wilson's theorem {prime - 1}! is -1 modulo {prime}.",
            (
                f"The factors from {prime - below} to {prime - 1} are -{below}, ..., -1, with the "
                f"product {-product if below % 2 else product}."
            ),
            (
                f"So {prime - 1 - below}! is {sign} divided by {product}. The inverse of {product} "
                f"is {pow(product, -1, prime)}."
            ),
            f"{sign * factor} * {pow(product, -1, prime)} is {answer} modulo {prime}.",
        ],
        -factor % prime,
    )


# Zeros of a factorial in another base; numbers: n, base.

_BASES = (12, 18, 20, 24, 28, 40, 45, 48, 50, 54, 56, 60, 63, 72, 75, 80, 90, 98, 108, 144)


def _draw_base(rng: Rng, size: int) -> Numbers:
    return integer(rng, 100, 3_000 + 300 * size), pick(rng, _BASES)


def _base(n: int, base: int) -> Question:
    factors = sorted(factor_small(base).items())
    counts = [nt.factorial_valuation(p, n) for p, _ in factors]
    shares = [count // e for count, (_, e) in zip(counts, factors, strict=True)]
    told = "; ".join(
        f"{p} divides it {count} times, so {p}^{e} does {share} times"
        for (p, e), count, share in zip(factors, counts, shares, strict=True)
    )
    return Question(
        f"How many zeros are at the end of ${n}!$ when it is written in base {base}?",
        min(shares),
        [
            f"The zeros are the factors {base} = {_factored(base)} in {n}!.",
            f"By Legendre's formula: {told}.",
            f"The smallest of these is {min(shares)}.",
        ],
        n // factors[-1][0],
    )


# The order of a number modulo a prime; numbers: base, prime.


def _draw_order(rng: Rng, size: int) -> Numbers:
    return integer(rng, 2, 20 + size), draw_prime(rng, 53, 400 + 40 * size)


def _order(base: int, prime: int) -> Question:
    answer = nt.order(base, prime)
    primes = [q for q in factor_small(prime - 1) if (prime - 1) % q == 0]
    return Question(
        f"What is the smallest positive integer $k$ such that {prime} divides ${base}^k - 1$?",
        answer,
        [
            f"By Fermat's theorem k divides {prime} - 1 = {prime - 1} = {_factored(prime - 1)}.",
            f"Take the primes {_listed(primes)} out of {prime - 1} as long as the power stays 1.",
            f"What is left is {answer}.",
        ],
        prime - 1,
    )


# The period of a decimal; numbers: the denominator.


def _draw_period(rng: Rng, size: int) -> Numbers:
    p, q = _two_primes(rng, 7, 60 + 5 * size)
    return (p * q * pick(rng, (1, 2, 4, 5, 8, 20)),)


def _period(n: int) -> Question:
    rest = n
    for p in (2, 5):
        rest //= p ** nt.valuation(p, n)
    orders = [nt.order(10, p**e) for p, e in sorted(factor_small(rest).items())]
    return Question(
        f"What is the length of the shortest period in the decimal expansion of "
        f"$\\frac{{1}}{{{n}}}$?",
        math.lcm(*orders),
        [
            f"Factors 2 and 5 do not change the period, so take {rest} = {_factored(rest)}.",
            f"The orders of 10 modulo these prime powers are {_listed(orders)}.",
            f"Their least common multiple is {math.lcm(*orders)}.",
        ],
        rest - 1,
    )


# The greatest common divisor of Fibonacci numbers; numbers: both indices.


def _draw_fibonacci_gcd(rng: Rng, size: int) -> Numbers:
    while True:
        shared = integer(rng, 9, 24 + size)
        one, two = integer(rng, 2, 40 + size), integer(rng, 2, 40 + size)
        if math.gcd(one, two) == 1:
            return shared * one, shared * two


def _fibonacci_gcd(one: int, two: int) -> Question:
    shared = math.gcd(one, two)
    answer = nt.fibonacci(shared)
    return Question(
        f"Let $F_1 = F_2 = 1$ and $F_{{k+2}} = F_{{k+1}} + F_k$. What is the greatest common "
        f"divisor of $F_{{{one}}}$ and $F_{{{two}}}$?",
        answer,
        [
            "The greatest common divisor of F_m and F_n is F_d, where d is that of m and n.",
            f"For {one} and {two} it is d = {shared}.",
            f"F_{shared} = {answer}",
        ],
        shared,
    )


# Binomial coefficients modulo a prime; numbers: prime, n, k.


def _draw_lucas(rng: Rng, size: int) -> Numbers:
    prime, places = draw_prime(rng, 23, 61 + 2 * size), 2 + size // 5
    tops = [integer(rng, 2, prime - 1) for _ in range(places)]
    n = k = 0
    for top in tops:
        n, k = n * prime + top, k * prime + integer(rng, 1, top - 1)
    return prime, n, k


def _lucas(prime: int, n: int, k: int) -> Question:
    tops, lows = nt.base_digits(n, prime), nt.base_digits(k, prime)
    parts = [math.comb(a, b) % prime for a, b in zip(tops, lows, strict=True)]
    answer = math.prod(parts) % prime
    return Question(
        f"What is the remainder when $\\binom{{{n}}}{{{k}}}$ is divided by {prime}?",
        answer,
        [
            (
                f"In base {prime} the digits of {n} are {_listed(tops[::-1])}, and those of {k} "
                f"are {_listed(lows[::-1])}."
            ),
            (
                "By Lucas' theorem the coefficient is the product of those of the digits, which "
                f"leave the remainders {_listed(parts[::-1])}."
            ),
            f"The product leaves {answer}.",
        ],
        parts[0],
    )


# The sum of the quadratic residues; numbers: prime, factor.


def _draw_residues(rng: Rng, size: int) -> Numbers:
    while True:
        prime = draw_prime(rng, 101, 2_000 + 200 * size)
        if prime % 4 == 1:
            return (prime,)


def _residues(prime: int) -> Question:
    answer = prime * (prime - 1) // 4
    return Question(
        f"What is the sum of all integers $r$ with $0 < r < {prime}$ for which $x^2 - r$ is "
        f"divisible by the prime {prime} for some integer $x$?",
        answer,
        [
            f"{prime} leaves 1 when it is divided by 4, so -1 is a square modulo {prime}.",
            (
                f"So with r also {prime} - r is a square: the ({prime} - 1) / 2 = "
                f"{(prime - 1) // 2} squares form pairs of the sum {prime}."
            ),
            f"{(prime - 1) // 2} / 2 * {prime} = {answer}",
        ],
        prime * (prime - 1) // 2,
    )


# Roots of unity; numbers: exponent, modulus.


def _draw_roots(rng: Rng, size: int) -> Numbers:
    while True:
        p, q = _two_primes(rng, 5, 60 + 4 * size)
        exponent = integer(rng, 6, 60 + 2 * size)
        modulus = p * q * pick(rng, (1, 7, 9, 13, 27))
        if modulus % p**2 and modulus % q**2 and nt.roots_of_unity(exponent, modulus) > 16:
            return exponent, modulus


def _roots(exponent: int, modulus: int) -> Question:
    factors = sorted(factor_small(modulus).items())
    counts = [math.gcd(exponent, (p - 1) * p ** (e - 1)) for p, e in factors]
    return Question(
        f"How many integers $x$ with $0 \\le x < {modulus}$ are there such that $x^{{{exponent}}} "
        f"- 1$ is divisible by {modulus}?",
        math.prod(counts),
        [
            (
                f"{modulus} = {_factored(modulus)}. The units modulo each prime power form a "
                "cyclic group, of the sizes "
                f"{_listed([(p - 1) * p ** (e - 1) for p, e in factors])}."
            ),
            (
                f"In a cyclic group of size s there are gcd({exponent}, s) solutions: "
                f"{_listed(counts)}."
            ),
            (
                "By the Chinese remainder theorem they combine freely: the product is "
                f"{math.prod(counts)}."
            ),
        ],
        exponent,
    )


# Repunits; numbers: the divisor.


def _draw_repunit(rng: Rng, size: int) -> Numbers:
    p, q = _two_primes(rng, 7, 50 + 4 * size)
    return (p * q * pick(rng, (1, 3, 3, 9, 27)),)


def _repunit(n: int) -> Question:
    answer = nt.order(10, 9 * n)
    return Question(
        f"What is the smallest number of digits of a positive integer that is written with ones "
        f"only and is divisible by {n}?",
        answer,
        [
            (
                f"The integer with k ones is (10^k - 1) / 9, so 9 * {n} = {9 * n} must divide 10^k "
                "- 1."
            ),
            (
                f"{9 * n} = {_factored(9 * n)}, and the orders of 10 modulo these prime powers are "
                f"{_listed([nt.order(10, p**e) for p, e in sorted(factor_small(9 * n).items())])}."
            ),
            f"Their least common multiple is {answer}.",
        ],
        nt.totient(n),
    )


# Binomial coefficients without a prime; numbers: prime, n.


def _draw_row(rng: Rng, size: int) -> Numbers:
    prime = pick(rng, (5, 7, 11, 13))
    places = 4 + size // 4
    n = 0
    for _ in range(places):
        n = n * prime + integer(rng, 1, prime - 1)
    return prime, n


def _row(prime: int, n: int) -> Question:
    digits = nt.base_digits(n, prime)
    answer = math.prod(digit + 1 for digit in digits)
    return Question(
        f"How many of the binomial coefficients $\\binom{{{n}}}{{0}}, \\binom{{{n}}}{{1}}, \\dots, "
        f"\\binom{{{n}}}{{{n}}}$ are not divisible by {prime}?",
        answer,
        [
            (
                "By Lucas' theorem a coefficient is not divisible by the prime if and only if no "
                "digit below is greater than the digit above it."
            ),
            (
                f"In base {prime} the digits of {n} are {_listed(digits[::-1])}. A digit d leaves "
                "d + 1 choices."
            ),
            f"{' * '.join(str(d + 1) for d in digits[::-1])} = {answer}",
        ],
        n + 1 - n // prime,
    )


# A tower of powers; numbers: base, two exponents, modulus.


def _draw_tower(rng: Rng, size: int) -> Numbers:
    while True:
        base, first, second = (integer(rng, 3, 30 + size) for _ in range(3))
        modulus = integer(rng, 60, 600 + 50 * size)
        if math.gcd(base, modulus) == 1 and math.gcd(first, nt.totient(modulus)) > 1:
            return base, first, second, modulus


def _tower(base: int, first: int, second: int, modulus: int) -> Question:
    period = nt.order(base, modulus)
    rest = pow(first, second, period)
    answer = pow(base, rest, modulus)
    return Question(
        f"What is the remainder when ${base}^{{{first}^{{{second}}}}}$ is divided by {modulus}? "
        f"The exponent is ${first}^{{{second}}}$.",
        answer,
        [
            (
                f"The powers of {base} modulo {modulus} = {_factored(modulus)} repeat with period "
                f"{period}."
            ),
            f"{first}^{second} leaves the remainder {rest} when it is divided by {period}.",
            f"{base}^{rest} leaves the remainder {answer}.",
        ],
        pow(base, first * second, modulus),
    )


# The exponent of all units; numbers: the modulus.


def _draw_universal(rng: Rng, size: int) -> Numbers:
    p, q = _two_primes(rng, 5, 40 + 3 * size)
    return (p * q * pick(rng, (4, 8, 9, 12, 16, 24, 27, 32)),)


def _universal(n: int) -> Question:
    answer = nt.universal_exponent(n)
    parts = [nt.universal_exponent(p**e) for p, e in sorted(factor_small(n).items())]
    return Question(
        f"What is the smallest positive integer $k$ such that {n} divides $a^k - 1$ for every "
        f"integer $a$ that is coprime to {n}?",
        answer,
        [
            (
                f"{n} = {_factored(n)}. Modulo an odd prime power p^e the units are cyclic, of "
                "size (p - 1) p^(e - 1); modulo 2, 4, 8, 16, ... the largest order is 1, 2, 2, 4, "
                "..."
            ),
            f"The largest orders are {_listed(parts)}.",
            f"Their least common multiple is {answer}.",
        ],
        nt.totient(n),
    )


# Lifting the exponent; numbers: prime, both bases, n.


def _draw_lifted(rng: Rng, size: int) -> Numbers:
    prime = pick(rng, (2, 3, 5, 7))
    while True:
        a, b = integer(rng, 2, 60 + size), integer(rng, 1, 40 + size)
        if a > b and (a - b) % prime == 0 and a % prime:
            return prime, a, b, integer(rng, 50, 1_000 + 100 * size)


def _lifted(prime: int, a: int, b: int, n: int) -> Question:
    inner, outer = nt.valuation(prime, a - b), nt.factorial_valuation(prime, n)
    answer = inner + outer
    if prime == 2:
        extra = nt.valuation(2, a + b)
        answer += extra - 1
        rule = (
            "For p = 2 and an even exponent m, the exponent of 2 in a^m - b^m is that in a - b "
            "plus that in a + b plus that in m, less 1."
        )
        last = f"{inner} + {extra} + {outer} - 1 = {answer}"
    else:
        rule = "The exponent of an odd p in a^m - b^m is that in a - b plus that in m."
        last = f"{inner} + {outer} = {answer}"
    return Question(
        f"What is the largest integer $k$ such that ${prime}^k$ divides ${a}^{{{n}!}} - "
        f"{b}^{{{n}!}}$?",
        answer,
        [
            (
                f"{prime} divides {a} - {b} = {a - b}, but neither {a} nor {b}, so the exponent "
                "can be lifted."
            ),
            rule,
            f"In {n}! the prime {prime} has the exponent {outer}, by Legendre's formula.",
            last,
        ],
        outer,
    )


# Values of powers; numbers: exponent, primes.


def _primes(rng: Rng, size: int, low: int, high: int) -> tuple[int, ...]:
    """Return two different primes, from size 12 on three, and so on."""
    found = set[int]()
    while len(found) < 2 + size // 12:
        found.add(draw_prime(rng, low, high))
    return tuple(sorted(found))


def _draw_values(rng: Rng, size: int) -> Numbers:
    while True:
        primes = _primes(rng, size, 7, 90 + 5 * size)
        exponent = integer(rng, 4, 30 + size)
        if all(math.gcd(exponent, p - 1) > 2 for p in primes[:2]):
            return exponent, *primes


def _values(exponent: int, *primes: int) -> Question:
    modulus = math.prod(primes)
    counts = [1 + (p - 1) // math.gcd(exponent, p - 1) for p in primes]
    answer = math.prod(counts)
    told = ", ".join(f"1 + {p - 1} / {math.gcd(exponent, p - 1)}" for p in primes)
    return Question(
        f"How many different remainders are there when the numbers $x^{{{exponent}}}$, for all "
        f"integers $x$, are divided by {modulus}?",
        answer,
        [
            f"{modulus} = {_factored(modulus)}, and remainders modulo these primes combine freely.",
            (
                f"Modulo a prime p the units are cyclic of size p - 1, and gcd({exponent}, p - 1) "
                "units have the same power."
            ),
            f"With the remainder 0 there are {told} values: {_listed(counts)}.",
            f"{times(counts)} = {answer}",
        ],
        math.prod(count - 1 for count in counts),
    )


# How many have an order; numbers: the order, primes.


def _draw_of_order(rng: Rng, size: int) -> Numbers:
    while True:
        primes = _primes(rng, size, 11, 80 + 5 * size)
        orders = [d for d in nt.divisors(math.lcm(*(p - 1 for p in primes))) if d > 5]
        wanted = pick(rng, orders)
        if _of_order(wanted, *primes).answer not in (nt.totient(wanted), 2, 3):
            return wanted, *primes


def _of_order(wanted: int, *primes: int) -> Question:
    modulus = math.prod(primes)
    kept = [d for d in nt.divisors(wanted) if nt.moebius(wanted // d)]
    roots = [math.prod(math.gcd(d, p - 1) for p in primes) for d in kept]
    signs = [nt.moebius(wanted // d) for d in kept]
    terms = [sign * count for sign, count in zip(signs, roots, strict=True)]
    common = " * ".join(f"gcd(d, {p - 1})" for p in primes)
    return Question(
        f"How many integers $x$ with $0 < x < {modulus}$ are there such that {wanted} is the "
        f"smallest positive integer $k$ for which {modulus} divides $x^k - 1$?",
        sum(terms),
        [
            (
                f"{modulus} = {_factored(modulus)}. For each d there are {common} solutions of x^d "
                "= 1, by the Chinese remainder theorem."
            ),
            (
                f"By Moebius inversion over the divisors d of {wanted} those of the exact order "
                "are the sum of mu(order / d) times these counts."
            ),
            f"The divisors with a sign are {_listed(kept)}: {total(terms)} = {sum(terms)}",
        ],
        nt.totient(wanted),
    )


# Fibonacci numbers modulo an integer; numbers: index, modulus.


def _draw_fibonacci(rng: Rng, size: int) -> Numbers:
    primes = _primes(rng, size, 3, 30 + 2 * size)
    return integer(rng, 10**6, 10 ** (7 + size // 3)), math.prod(primes)


def _fibonacci(index: int, modulus: int) -> Question:
    periods = [nt.fibonacci_period(p) for p in sorted(factor_small(modulus))]
    period = math.lcm(*periods)
    rest = index % period
    answer = nt.fibonacci(rest, modulus)
    return Question(
        f"Let $F_1 = F_2 = 1$ and $F_{{k+2}} = F_{{k+1}} + F_k$. What is the remainder when "
        f"$F_{{{index}}}$ is divided by {modulus}?",
        answer,
        [
            (
                f"Modulo the primes of {modulus} = {_factored(modulus)} the sequence has the "
                f"periods {_listed(periods)}, which divide p - 1 or 2(p + 1) for p other than 2 "
                "and 5."
            ),
            f"So modulo {modulus} it has the period {period}.",
            f"{index} leaves {rest} when it is divided by {period}.",
            f"F_{rest} leaves the remainder {answer}.",
        ],
        nt.fibonacci(index % modulus, modulus),
    )


FAMILIES = {
    "factorial_zeros": Family(1, _draw_zeros, _zeros),
    "power_remainder": Family(1, _draw_power, _power),
    "power_gcd": Family(1, _draw_mersenne, _mersenne),
    "wilson": Family(2, _draw_wilson, _wilson),
    "base_zeros": Family(2, _draw_base, _base),
    "order": Family(2, _draw_order, _order),
    "fibonacci_gcd": Family(2, _draw_fibonacci_gcd, _fibonacci_gcd),
    "decimal_period": Family(3, _draw_period, _period),
    "lucas": Family(3, _draw_lucas, _lucas),
    "residue_sum": Family(3, _draw_residues, _residues),
    "roots_of_unity": Family(3, _draw_roots, _roots),
    "repunit": Family(4, _draw_repunit, _repunit),
    "binomial_row": Family(4, _draw_row, _row),
    "tower": Family(4, _draw_tower, _tower),
    "universal_exponent": Family(4, _draw_universal, _universal),
    "power_values": Family(5, _draw_values, _values),
    "lifted_exponent": Family(5, _draw_lifted, _lifted),
    "exact_order": Family(5, _draw_of_order, _of_order),
    "fibonacci_remainder": Family(5, _draw_fibonacci, _fibonacci),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTheoryStructureConfig(TaskConfig):
    """Which questions are asked, and how large their numbers are."""

    kinds: tuple[str, ...] = knob(KINDS, "kinds of questions to draw from", choices=KINDS)
    size: int = knob(5, "size of the integers", low=0, high=100)

    @classmethod
    def at(cls, difficulty: int) -> "NumberTheoryStructureConfig":
        """Each level drops the easiest of four kinds for a harder one or two; numbers grow a bit.

        One theorem comes first (Legendre, Fermat, Wilson); then orders by the Chinese remainder
        theorem and digits in a prime base, and at the end cyclic groups of units, lifting of
        exponents, Moebius inversion and periods of the Fibonacci numbers.
        """
        return cls(kinds=window(KINDS, difficulty), size=min(difficulty, 100))


@register("NumberTheoryStructure-v0", domain="math")
class NumberTheoryStructureTask(FamilyTask[NumberTheoryStructureConfig]):
    """Answer a question on integers too large to compute, by their structure.

    Description:
        Nineteen kinds: zeros of factorials in any base, remainders of powers and towers, orders,
        periods of decimals, repunits, common divisors of numbers like 2^n - 1 and of Fibonacci
        numbers, Wilson's and Lucas' theorems, quadratic residues, roots of unity and values of
        powers modulo an integer, the exponent of all units, how many units have an order, lifted
        exponents, and remainders of Fibonacci numbers.

    Observation:
        One question.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. An expression that is still to be evaluated earns nothing.

    Difficulty:
        The kinds need more theorems at once from level to level; the numbers grow a little.
        Beyond level 10 only numbers grow.

    References:
        Hardy and Wright, An Introduction to the Theory of Numbers, chapters 5 to 8 and 10; Niven,
        Zuckerman and Montgomery, An Introduction to the Theory of Numbers, chapters 2 and 4.
    """

    Config = NumberTheoryStructureConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with one integer."
