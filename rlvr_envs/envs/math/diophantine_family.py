"""Families of equations in integers whose solutions are counted, or found, by a closed form."""

from dataclasses import dataclass
from functools import cache
from math import gcd, isqrt, prod

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
from rlvr_envs.generators.mathematics.primes import Factors, factor_small, is_prime
from rlvr_envs.generators.mathematics.steps import times, worked
from rlvr_envs.generators.mathematics.words import listed

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
_LARGEST_PELL = 10**6  # larger smallest solutions would only test patience
_ATTEMPTS = 100


def _draw_exponents(rng: Rng, size: int) -> tuple[int, ...]:
    """Return exponents of the first primes."""
    return integers(rng, 1, 7 + 3 * size, min(4 + size // 4, len(_PRIMES)))


def _factors(exponents: Numbers) -> Factors:
    return tuple(zip(_PRIMES, exponents, strict=False))


def _named(factors: Factors) -> str:
    powers = [str(p) if e == 1 else f"{p}^{{{e}}}" for p, e in factors if e]
    product = " \\cdot ".join(powers)
    return f"$n = {product}$"


# Amounts that two coins cannot pay; numbers: whether they are counted, the coins.


def _draw_frobenius(rng: Rng, size: int) -> Numbers:
    first, second = integers(rng, 5, 60 * 3**size, 2)
    while gcd(first, second) > 1:
        second += 1
    return integer(rng, 0, 1), first, second


def _state_frobenius(counted: int, first: int, second: int) -> Question:
    largest = first * second - first - second
    count = (first - 1) * (second - 1) // 2
    asked = (
        "How many positive amounts can you not"
        if counted
        else "What is the largest amount you cannot"
    )
    steps = [
        (
            f"Let a = {first} and b = {second}. Each amount has exactly one form a * i + b * j "
            "with 0 <= i < b. It cannot be paid where j < 0."
        ),
        (
            f"The largest such has i = {second - 1} and j = -1: "
            f"{first} * {second - 1} - {second} = {largest}"
        ),
    ]
    if counted:
        steps += [
            (
                f"Of n and {largest} - n exactly one can be paid, so half of the numbers from 0 to "
                f"{largest} cannot."
            ),
            f"({largest} + 1) / 2 = {count}",
        ]
    return Question(
        f"You have any number of coins of the values {first} and {second}. {asked} pay exactly, "
        "without change?",
        count if counted else largest,
        steps,
        largest // 2 if counted else first * second,
    )


# Sums of consecutive integers; numbers: exponents of 2, 3, 5, ...


def _state_consecutive(*exponents: int) -> Question:
    return _count_consecutive(_factors(exponents), _named(_factors(exponents)))


def _count_consecutive(factors: Factors, told: str) -> Question:
    odd = [e + 1 for p, e in factors if p > 2]
    count = prod(odd) - 1
    return Question(
        f"Let {told}. In how many ways can n be written as a sum of two or more consecutive "
        "positive integers? The order of the terms does not matter.",
        count,
        [
            (
                "A sum of k terms from a on is k * (2a + k - 1) / 2. The two factors have "
                "different parity and the product 2n, and k is the smaller one."
            ),
            "So each odd divisor of n gives one way, and the way with one term does not count.",
            f"{times(odd)} - 1 = {count}",
        ],
        prod(e + 1 for _, e in factors) - 1,
    )


# Tuples with a least common multiple; numbers: length, whether coprime too, exponents.


def _draw_lcm(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 2, 4 + size // 4), integer(rng, 0, 1), *_draw_exponents(rng, size)[:4])


def _state_lcm(length: int, coprime: int, *exponents: int) -> Question:
    def ways(e: int) -> int:
        found: int = (e + 1) ** length - e**length
        return found - (e**length - (e - 1) ** length) if coprime else found

    count = prod(map(ways, exponents))
    letters = [f"x_{i}" for i in range(1, length + 1)]
    extra = " and the greatest common divisor 1" if coprime else ""
    rule = f"(e + 1)^{length} - e^{length}"
    if coprime:
        rule = f"(e + 1)^{length} - 2 * e^{length} + (e - 1)^{length}"
    return Question(
        f"Let {_named(_factors(exponents))}. How many tuples $({', '.join(letters)})$ of positive "
        f"integers have the least common multiple n{extra}? The order in a tuple counts.",
        count,
        [
            "Each prime p^e of n can be looked at alone: the largest exponent must be e"
            + (", the smallest one 0." if coprime else "."),
            f"That is {rule} ways, by inclusion and exclusion.",
            f"{times([ways(e) for e in exponents])} = {count}",
        ],
        prod((e + 1) ** length for e in exponents),
    )


# xy - px - qy = r; numbers: p, q, then the exponents of r + pq.


def _draw_hyperbola(rng: Rng, size: int) -> Numbers:
    exponents = integers(rng, 0, 4 + size // 2, 4 + size // 5)
    return (integer(rng, 2, 30), integer(rng, 2, 30), *exponents)


def _state_hyperbola(p: int, q: int, *exponents: int) -> Question:
    factors = _factors(exponents)
    whole = prod(prime**e for prime, e in factors)
    rest = whole - p * q
    divisors = prod(e + 1 for _, e in factors)
    return Question(
        f"How many pairs (x, y) of integers, positive, negative or 0, satisfy "
        f"$xy - {p}x - {q}y = {rest}$?",
        2 * divisors,
        [
            f"Add {p} * {q} = {p * q} on both sides: (x - {q}) * (y - {p}) = {whole}.",
            (
                f"{whole} has {worked(times([e + 1 for _, e in factors if e]), divisors)} positive "
                "divisors, and each divisor with either sign gives one pair."
            ),
            f"2 * {divisors} = {2 * divisors}",
        ],
        divisors,
    )


# x^2 - y^2 = n; numbers: exponents of 2, 3, 5, ...


def _draw_squares(rng: Rng, size: int) -> Numbers:
    exponents = _draw_exponents(rng, size)
    return (exponents[0] - (exponents[0] == 1), *exponents[1:])  # 2 alone has no solution


def _state_squares(*exponents: int) -> Question:
    return _count_squares(_factors(exponents), _named(_factors(exponents)))


def _count_squares(factors: Factors, told: str) -> Question:
    twos = dict(factors).get(2, 0)
    halves = [e + 1 for p, e in factors if p > 2]
    if twos:
        halves.insert(0, twos - 1)
    count = prod(halves) // 2
    return Question(
        f"Let {told}. How many pairs (x, y) of positive integers satisfy $x^2 - y^2 = n$?",
        count,
        [
            "n = (x - y) * (x + y), where both factors are even or both are odd.",
            "n is odd, so they are any two divisors with the product n."
            if not twos
            else "n is even, so they are twice two divisors with the product n / 4.",
            (
                f"The number of divisors is {worked(times(halves), prod(halves))}. Two different "
                "factors give one pair; two equal ones would give y = 0."
            ),
            f"So there are {count} pairs.",
        ],
        prod(e + 1 for _, e in factors) // 2,
    )


# x^a = y^b; numbers: the largest x and y, the exponents.


def _draw_powers(rng: Rng, size: int) -> Numbers:
    shared, low = integer(rng, 2, 3 + size // 3), integer(rng, 1, 2 + size // 6)
    high = low + 1 + integer(rng, 0, size // 8)
    while gcd(low, high) > 1:
        high += 1
    root = integer(rng, 40, 300 * (2 + size))
    exponents = [shared * low, shared * high]
    if integer(rng, 0, 1):
        exponents.reverse()
    return (root**high + integer(rng, 0, root), *exponents)


def _root(value: int, degree: int) -> int:
    """Return the integer part of a root."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle)
    return low


def _state_powers(most: int, first: int, second: int) -> Question:
    shared = gcd(first, second)
    a, b = first // shared, second // shared
    degree = max(a, b)
    count = _root(most, degree)
    return Question(
        f"How many pairs (x, y) of integers from 1 to {most} satisfy $x^{{{first}}} = "
        f"y^{{{second}}}$?",
        count,
        [
            (
                f"gcd({first}, {second}) = {shared}, and roots of positive numbers are unique, so "
                f"x^{a} = y^{b}."
            ),
            f"Every prime's exponent shows that x = t^{b} and y = t^{a} for an integer t.",
            f"So t^{degree} <= {most}, and t goes from 1 to {count}.",
        ],
        _root(most, max(first, second)),
    )


# 1/x + 1/y = 1/n; numbers: whether order counts, exponents.


def _draw_reciprocals(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 0, 1), *_draw_exponents(rng, size))


def _state_reciprocals(ordered: int, *exponents: int) -> Question:
    return _count_reciprocals(_factors(exponents), _named(_factors(exponents)), ordered)


def _count_reciprocals(factors: Factors, told: str, ordered: int = 1) -> Question:
    odd = [2 * e + 1 for _, e in factors]
    divisors = prod(odd)
    count = divisors if ordered else (divisors + 1) // 2
    rule = "" if ordered else " and $x \\le y$"
    return Question(
        f"Let {told}. How many pairs (x, y) of positive integers satisfy "
        f"$\\frac{{1}}{{x}} + \\frac{{1}}{{y}} = \\frac{{1}}{{n}}${rule}?",
        count,
        [
            "The equation says (x - n) * (y - n) = n^2, and both factors are positive.",
            f"So each divisor of n^2 gives one pair: {worked(times(odd), divisors)}",
            *([] if ordered else [f"With x <= y: ({divisors} + 1) / 2 = {count}"]),
        ],
        prod(e + 1 for _, e in factors),
    )


# Coins in arithmetic progression; numbers: the first, the difference, how many after the first.


def _draw_progression(rng: Rng, size: int) -> Numbers:
    first, more = integer(rng, 12, 60 * 2**size), integer(rng, 2, 5)
    step = integer(rng, 2, 20 + 5 * size)
    while gcd(first, step) > 1:
        step += 1
    return first, step, more


def _state_progression(first: int, step: int, more: int) -> Question:
    answer = (first - 2) // more * first + step * (first - 1)
    coins = [str(first + i * step) for i in range(more + 1)]
    return Question(
        f"You have any number of coins of the values {listed(coins)}. What is the largest amount "
        "you cannot pay exactly, without change?",
        answer,
        [
            f"s coins pay {first} * s + {step} * t, for every t from 0 to {more} * s.",
            (
                f"For each t from 0 to {first - 1}, the remainder of {step} * t modulo {first} is "
                f"new, and the smallest amount with it needs s = t / {more}, rounded up."
            ),
            f"The largest of these has t = {first - 1}, and {first} less cannot be paid.",
            f"{(first - 2) // more} * {first} + {step} * {first - 1} = {answer}",
        ],
        first * (first + step) - first - (first + step),
    )


# x^2 + y^2 = n; numbers: exponents of 2, of 3, 7, 11 halved, and of 5, 13, 17, 29.


def _draw_two_squares(rng: Rng, size: int) -> Numbers:
    return (
        *(integer(rng, 0, 9 + size), *integers(rng, 0, 2 + size // 2, 2)),
        *integers(rng, 1, 7 + 2 * size, min(3 + size // 5, 4)),
    )


def _state_two_squares(twos: int, threes: int, sevens: int, *others: int) -> Question:
    good = tuple(zip((5, 13, 17, 29), others, strict=False))
    factors = tuple(sorted(((2, twos), (3, 2 * threes), (7, 2 * sevens), *good)))
    count = 4 * prod(e + 1 for e in others)
    return Question(
        f"Let {_named(factors)}. How many pairs (x, y) of integers, positive, negative or 0, "
        "satisfy $x^2 + y^2 = n$?",
        count,
        [
            (
                "Jacobi: there are 4 times as many as the divisors of the form 4k + 1 exceed those "
                "of the form 4k + 3."
            ),
            "Primes of the form 4k + 3 have even exponents and add a factor 1; 2 adds none.",
            (
                f"A prime of the form 4k + 1 adds the factor e + 1: 4 * "
                f"{times([e + 1 for e in others])} = {count}"
            ),
        ],
        4 * prod(e + 1 for _, e in factors),
    )


# Right triangles with a given side; numbers: which side, exponents of 2, 3, 5, 13, 17.


def _draw_triangles(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 0, 2), *integers(rng, 1, 6 + 2 * size, 4 + min(size // 6, 1)))


def _state_triangles(which: int, *exponents: int) -> Question:
    factors = tuple(zip((2, 3, 5, 13, 17), exponents, strict=False))
    legs = [2 * e - 1 if p == 2 else 2 * e + 1 for p, e in factors if p > 2 or e]
    hypotenuses = [2 * e + 1 for p, e in factors if p % 4 == 1]
    as_leg, as_hypotenuse = (prod(legs) - 1) // 2, (prod(hypotenuses) - 1) // 2
    count = (as_leg, as_hypotenuse, as_leg + as_hypotenuse)[which]
    side = ("a leg", "the hypotenuse", "a leg or the hypotenuse")[which]
    steps = []
    if which != 1:
        steps += [
            (
                "Leg: n^2 = (c - b) * (c + b) with two different factors of the same parity; where "
                "n is even, halve both."
            ),
            f"({times(legs)} - 1) / 2 = {as_leg}",
        ]
    if which != 0:
        steps += [
            (
                "Hypotenuse: n^2 = a^2 + b^2 has 4 * (2e + 1) * ... pairs of integers, with a "
                "factor for each prime of the form 4k + 1; 4 of them have a 0, and 8 give one "
                "triangle."
            ),
            f"({times(hypotenuses)} - 1) / 2 = {as_hypotenuse}",
        ]
    if which == 2:
        steps.append(f"{as_leg} + {as_hypotenuse} = {count}")
    return Question(
        f"Let {_named(factors)}. How many right triangles with integer side lengths have n as "
        f"{side}? Congruent triangles count once.",
        count,
        steps,
        (prod(2 * e + 1 for _, e in factors) - 1) // 2 + (which == 2),
    )


# Pell's equation; numbers: D, which solution, modulus.


@cache
def _pell(d: int) -> tuple[int, int]:
    """Return the smallest positive solution of x^2 - d y^2 = 1, by the continued fraction."""
    root = isqrt(d)
    m, q, a = 0, 1, root
    x, before, y, y_before = root, 1, 1, 0
    while x * x - d * y * y != 1:
        m = q * a - m
        q = (d - m * m) // q
        a = (root + m) // q
        x, before = a * x + before, x
        y, y_before = a * y + y_before, y
    return x, y


def _draw_pell_number(rng: Rng, most: int, factor: int = 1) -> int:
    """Return an integer whose product with the factor has a short smallest solution."""
    for _ in range(_ATTEMPTS):
        d = integer(rng, 2, most)
        if isqrt(factor * d) ** 2 != factor * d and _pell(factor * d)[0] < _LARGEST_PELL:
            return d
    return 3  # x = 2, or 5 where the factor is 8


def _term(first: int, second: int, factor: int, k: int, modulus: int) -> int:
    """Return term k, modulo a number, of a(0), a(1) and a(i + 1) = factor * a(i) - a(i - 1)."""
    # With t^2 = factor * t - 1, the power t^k = a + b t gives a(k) = a * a(0) + b * a(1).
    a, b, p, q = 1, 0, 0, 1
    while k:
        if k & 1:
            a, b = (a * p - b * q) % modulus, (a * q + b * p + factor * b * q) % modulus
        p, q, k = (p * p - q * q) % modulus, (2 * p * q + factor * q * q) % modulus, k >> 1
    return (a * first + b * second) % modulus


def _draw_pell(rng: Rng, size: int) -> Numbers:
    d = _draw_pell_number(rng, 40 + 10 * size)
    return d, integer(rng, 3, 10 * 4**size), integer(rng, 500, 1_000 * (1 + size))


def _state_pell(d: int, k: int, modulus: int) -> Question:
    x, y = _pell(d)
    answer = _term(1, x, 2 * x, k, modulus)
    return Question(
        f"The pairs (x, y) of positive integers with $x^2 - {d}y^2 = 1$ are sorted by x, the "
        f"smallest first. Pair number 1 has the smallest x. Take the x of pair number {k}. What is "
        f"its remainder when it is divided by {modulus}?",
        answer,
        [
            f"The first pair is ({x}, {y}), from the continued fraction of sqrt({d}).",
            f"Pair number k comes from ({x} + {y} * sqrt({d}))^k.",
            f"So x_0 = 1, x_1 = {x}, and x_(k+1) = {2 * x} * x_k - x_(k-1).",
            f"By repeated squaring modulo {modulus}, x_{k} leaves {answer}.",
        ],
        pow(x, k, modulus),
    )


# Three coins; numbers: d, a, b and the third coin; the others are d times a and b.


def _draw_three_coins(rng: Rng, size: int) -> Numbers:
    shared = integer(rng, 2, 6 + size)
    first, second = integers(rng, 3, 20 * 2**size, 2)
    while gcd(first, second) > 1:
        second += 1
    third = first + second
    while gcd(third, shared) > 1:  # one of the two is odd, and so on for every prime
        third = first * integer(rng, 1, 6) + second * integer(rng, 1, 6)
    return shared, first, second, third


def _state_three_coins(shared: int, first: int, second: int, third: int) -> Question:
    two = first * second - first - second
    answer = shared * two + third * (shared - 1)
    coins = sorted((shared * first, shared * second, third))
    return Question(
        f"You have any number of coins of the values {listed([*map(str, coins)])}. What is the "
        "largest amount you cannot pay exactly, without change?",
        answer,
        [
            (
                f"{shared} divides the values {shared * first} and {shared * second}. With r coins "
                f"of {third}, r < {shared}, the rest must be {shared} times an amount that "
                f"{first}, {second} and {third} pay."
            ),
            (
                f"{third} is itself a sum of {first}s and {second}s, so the largest amount that "
                f"these cannot pay is {first} * {second} - {first} - {second} = {two}."
            ),
            f"The largest in all: {shared} * {two} + {shared - 1} * {third} = {answer}",
        ],
        coins[0] * coins[1] - coins[0] - coins[1],
    )


# Triangular numbers that are c squares; numbers: c, which solution, modulus.


def _draw_triangular(rng: Rng, size: int) -> Numbers:
    c = _draw_pell_number(rng, 30 + 3 * size, factor=8)
    return c, integer(rng, 3, 10 * 4**size), integer(rng, 500, 1_000 * (1 + size))


def _state_triangular(c: int, k: int, modulus: int) -> Question:
    x, y = _pell(8 * c)
    power = _term(1, x, 2 * x, k, 2 * modulus)
    answer = (power - 1) // 2 % modulus
    square = "the square" if c == 1 else f"{c} times the square"
    return Question(
        f"The positive integers n for which $1 + 2 + \\dots + n$ is {square} of an integer are "
        f"sorted, the smallest first. What is the remainder of number {k} of them when it is "
        f"divided by {modulus}?",
        answer,
        [
            (
                f"n(n + 1) / 2 = {c} y^2 says (2n + 1)^2 - {8 * c} y^2 = 1, and x is odd in every "
                f"solution of x^2 - {8 * c} y^2 = 1."
            ),
            (
                f"The smallest solution is ({x}, {y}), so x_0 = 1, x_1 = {x}, and "
                f"x_(k+1) = {2 * x} * x_k - x_(k-1)."
            ),
            f"By repeated squaring modulo {2 * modulus}, x_{k} leaves {power}.",
            f"({power} - 1) / 2 = {(power - 1) // 2}",
        ],
        power % modulus,
    )


# Vieta jumping; numbers: the quotient, which pair, modulus.


def _draw_vieta(rng: Rng, size: int) -> Numbers:
    return integer(rng, 3, 40), integer(rng, 3, 10 * 4**size), integer(rng, 500, 1_000 * (1 + size))


def _state_vieta(factor: int, k: int, modulus: int) -> Question:
    answer = _term(0, 1, factor, k + 1, modulus)
    return Question(
        f"The pairs (x, y) of positive integers with $x < y$ and $x^2 + y^2 = {factor}xy + 1$ are "
        f"sorted by y, the smallest first. What is the remainder of the y of pair number {k} when "
        f"it is divided by {modulus}?",
        answer,
        [
            (
                f"For a fixed x, both roots y add up to {factor}x, so (x, y) leads to the pair "
                f"({factor}x - y, x), which is smaller and not negative."
            ),
            (
                f"The descent ends at (0, 1). So all pairs are neighbours in 0, 1, {factor}, "
                f"{factor * factor - 1}, ... with a_(i+1) = {factor} * a_i - a_(i-1)."
            ),
            f"y of pair {k} is a_{k + 1}; by repeated squaring, its remainder is {answer}.",
        ],
        pow(factor, k, modulus),
    )


def _draw_square_quotient(rng: Rng, size: int) -> Numbers:
    return integer(rng, 2, 30), integer(rng, 3, 10 * 4**size), integer(rng, 500, 1_000 * (1 + size))


def _state_square_quotient(root: int, k: int, modulus: int) -> Question:
    answer = _term(0, root, root * root, k + 1, modulus)
    return Question(
        f"The pairs (x, y) of positive integers with $x < y$ and "
        f"$\\frac{{x^2 + y^2}}{{xy + 1}} = {root * root}$ are sorted by y, the smallest first. "
        f"What is the remainder of the y of pair number {k} when it is divided by {modulus}?",
        answer,
        [
            (
                f"For a fixed x, both roots y add up to {root * root} * x, so (x, y) leads to the "
                f"pair ({root * root} * x - y, x), which is smaller and not negative."
            ),
            (
                f"The descent ends where one number is 0, and then the other is {root}. So all "
                f"pairs are neighbours in 0, {root}, {root**3}, ... with "
                f"a_(i+1) = {root * root} * a_i - a_(i-1)."
            ),
            f"y of pair {k} is a_{k + 1}; by repeated squaring, its remainder is {answer}.",
        ],
        pow(root, 2 * k + 1, modulus),
    )


# A product of a Pell solution in a counting question; numbers: question, D, exponents.


_COUNTS = (_count_reciprocals, _count_consecutive, _count_squares)


def _draw_composed(rng: Rng, size: int) -> Numbers:
    d = _draw_pell_number(rng, 60 + 10 * size)
    while is_prime(_pell(d)[1]) or _pell(d)[1] == 1:  # factors are worth finding
        d = _draw_pell_number(rng, 60 + 10 * size)
    return (integer(rng, 0, 2), d, *integers(rng, 2, 9 + 2 * size, 2))


def _state_composed(which: int, d: int, first: int, second: int) -> Question:
    x, y = _pell(d)
    powers = {prime: first * e for prime, e in factor_small(x).items()}
    powers |= {prime: second * e for prime, e in factor_small(y).items()}
    factors = tuple(sorted(powers.items()))
    told = f"$n = p^{{{first}}} q^{{{second}}}$"
    then = _COUNTS[which](factors, told)
    hurried = _COUNTS[which](((3, first), (5, second)), told)  # as if p and q were odd primes
    return Question(
        f"Let (p, q) be the pair of positive integers with $p^2 - {d}q^2 = 1$ and the smallest "
        f"possible q. {then.text}",
        then.answer,
        [
            f"The continued fraction of sqrt({d}) gives p = {x} and q = {y}.",
            f"In primes: {_named(factors).strip('$')}.",
            *then.steps,
        ],
        hurried.answer,
    )


FAMILIES = {
    "two_coins": Family(1, _draw_frobenius, _state_frobenius),
    "consecutive_sums": Family(1, _draw_exponents, _state_consecutive),
    "hyperbola": Family(2, _draw_hyperbola, _state_hyperbola),
    "square_differences": Family(2, _draw_squares, _state_squares),
    "least_multiples": Family(2, _draw_lcm, _state_lcm),
    "equal_powers": Family(2, _draw_powers, _state_powers),
    "reciprocals": Family(3, _draw_reciprocals, _state_reciprocals),
    "coins_in_progression": Family(3, _draw_progression, _state_progression),
    "two_squares": Family(4, _draw_two_squares, _state_two_squares),
    "pell": Family(4, _draw_pell, _state_pell),
    "right_triangles": Family(4, _draw_triangles, _state_triangles),
    "three_coins": Family(5, _draw_three_coins, _state_three_coins),
    "triangular_numbers": Family(5, _draw_triangular, _state_triangular),
    "vieta_pairs": Family(5, _draw_vieta, _state_vieta),
    "square_quotients": Family(6, _draw_square_quotient, _state_square_quotient),
    "composed": Family(6, _draw_composed, _state_composed),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiophantineFamilyConfig(TaskConfig):
    """The families of equations, and the size of their numbers."""

    kinds: tuple[str, ...] = knob(KINDS, "families; each problem has one of them", choices=KINDS)
    size: int = knob(0, "how large the numbers are", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "DiophantineFamilyConfig":
        """Four neighbouring families of the list; exponents and numbers grow with the level.

        From level 10 on it is the last four: a Pell equation in disguise, two descents, and a
        count that starts from the solution of a Pell equation.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("DiophantineFamily-v0", domain="math")
class DiophantineFamilyTask(FamilyTask[DiophantineFamilyConfig]):
    """Count or find the solutions of an equation in integers by its closed form.

    Description:
        Sixteen families: amounts that two coins, three coins or coins in progression cannot pay;
        sums of consecutive integers; tuples with a least common multiple; products of shifted
        unknowns; differences and sums of two squares; equal powers; sums of reciprocals; right
        triangles; Pell's equation; triangular numbers; descent between the roots of a quadratic;
        and a count whose number comes from a Pell equation. The numbers are too large to try.

    Observation:
        The equation, and what to count or to find.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        Each level asks four families. Higher ones join more ideas: divisors, parity, sums of
        squares, recurrences of solutions, descent. Exponents and numbers grow.

    References:
        Niven, Zuckerman and Montgomery, An Introduction to the Theory of Numbers, chapters 5 and
        7. Ramírez Alfonsín, The Diophantine Frobenius Problem, chapters 2 and 3.
    """

    Config = DiophantineFamilyConfig
    families = FAMILIES
    answer_type = "integer"
    form = "Answer with an integer."
