"""Counting digits of integers, and the steps of doing so."""

from collections.abc import Callable
from math import comb

from rlvr_envs.generators.mathematics.primes import factor_small
from rlvr_envs.generators.mathematics.steps import total, worked


def digit_sum(value: int, base: int = 10) -> int:
    """Return the sum of a natural number's digits in a base."""
    total = 0
    while value:
        value, digit = divmod(value, base)
        total += digit
    return total


def factorial_zeros(n: int, base: int) -> int:
    """Return how often the base divides n!, by Legendre's formula for each of its primes."""
    return min(
        (n - digit_sum(n, prime)) // (prime - 1) // exponent
        for prime, exponent in factor_small(base).items()
    )


def occurrences(limit: int, digit: int) -> int:
    """Return how often a digit is written in the integers from 1 to the limit."""
    total, place = 0, 1
    while place <= limit:
        high, rest = divmod(limit, 10 * place)
        here, low = divmod(rest, place)
        blocks = high if digit else high - 1  # a zero may not lead
        if blocks >= 0:
            total += blocks * place
            if here > digit:
                total += place
            elif here == digit:
                total += low + 1
        place *= 10
    return total


def in_range(low: int, high: int, digit: int) -> int:
    return occurrences(high, digit) - occurrences(low - 1, digit)


def range_digit_sum(low: int, high: int) -> int:
    return sum(digit * in_range(low, high, digit) for digit in range(1, 10))


def strings(length: int, total: int) -> int:
    """Return how many strings of so many decimal digits have the given digit sum."""
    if length == 0:
        return int(total == 0)
    return sum(
        (-1) ** over * comb(length, over) * comb(total - 10 * over + length - 1, length - 1)
        for over in range(total // 10 + 1)
    )


def given_digit_sum(limit: int, total: int) -> int:
    """Return how many integers from 1 to the limit have a positive digit sum, digit by digit."""
    count = 0
    left = total
    text = str(limit)
    for position, character in enumerate(text):
        free = len(text) - position - 1
        digit = int(character)
        count += sum(strings(free, left - low) for low in range(min(digit, left + 1)))
        left -= digit
        if left < 0:
            return count
    return count + (left == 0)


def _product(a: int, b: int) -> list[str]:
    digits = list(map(int, str(a * b)))
    return [f"{a} * {b} = {a * b}", f"{total(digits)} = {sum(digits)}"]


def _base(value: int, base: int) -> list[str]:
    steps = [f"Divide by {base} again and again; the remainders are the digits."]
    digits = []
    while value:
        rest, digit = divmod(value, base)
        steps.append(f"{value} = {rest} * {base} + {digit}")
        digits.append(digit)
        value = rest
    return [*steps, f"{total(digits)} = {sum(digits)}"]


def _power(base: int, exponent: int, modulus: int) -> list[str]:
    """Return square and multiply, with the bits of the exponent from the highest on."""
    value = base % modulus
    steps = [f"{base} mod {modulus} = {value}", "Square, and multiply once more if it is needed."]
    done = 1
    for bit in bin(exponent)[3:]:
        steps.append(f"Power {2 * done}: {value}^2 mod {modulus} = {value * value % modulus}")
        value, done = value * value % modulus, 2 * done
        if bit == "1":
            work = f"{value} * {base % modulus} mod {modulus}"
            value, done = value * base % modulus, done + 1
            steps.append(f"Power {done}: {work} = {value}")
    return steps


def _zeros(n: int, base: int) -> list[str]:
    steps = []
    zeros = []
    for prime, exponent in factor_small(base).items():
        counts, power = [], prime
        while power <= n:
            counts.append(n // power)
            power *= prime
        steps.append(
            f"Up to {n}, multiples of {prime} and its powers: {', '.join(map(str, counts))}"
        )
        steps.append(
            f"So {prime} divides {n}! as often as {worked(total(counts), sum(counts))} times."
        )
        zeros.append(sum(counts) // exponent)
        if exponent > 1:
            steps.append(f"{base} needs {exponent} of them: enough for {zeros[-1]} times.")
    if len(zeros) > 1:
        steps.append(f"The smallest of {', '.join(map(str, zeros))} counts.")
    return steps


def _occurrences(low: int, high: int, digit: int) -> list[str]:
    steps = []
    for limit in (high, low - 1):
        here, place = [], 1
        while place <= limit:
            free, rest = divmod(limit, 10 * place)
            full = free * place if digit else max(free - 1, 0) * place
            part = min(max(rest - digit * place + 1, 0), place) if digit or free else 0
            here.append(full + part)
            place *= 10
        steps.append(
            f"From 1 to {limit}, in the ones, tens and so on: {worked(total(here), sum(here))}"
        )
    both = occurrences(high, digit), occurrences(low - 1, digit)
    return [*steps, f"{both[0]} - {both[1]} = {both[0] - both[1]}"]


def _range_sum(low: int, high: int) -> list[str]:
    counts = [in_range(low, high, digit) for digit in range(1, 10)]
    steps = [
        f"{digit} is written {occurrences(high, digit)} times up to {high} and "
        f"{occurrences(low - 1, digit)} times up to {low - 1}: {count} times."
        for digit, count in enumerate(counts, 1)
    ]
    work = " + ".join(f"{digit} * {count}" for digit, count in enumerate(counts, 1))
    return [*steps, f"{work} = {range_digit_sum(low, high)}"]


def _given_sum(limit: int, wanted: int) -> list[str]:
    """Return the counts by how long a number agrees with the limit."""
    text = str(limit)
    steps = [f"Compare with {limit} digit by digit; leading zeros fill shorter numbers."]
    counts = []
    left = wanted
    for position, digit in enumerate(map(int, text)):
        free = len(text) - position - 1
        parts = [strings(free, left - low) for low in range(min(digit, left + 1))]
        before = f"{text[:position]} first, then" if position else "First"
        if parts:
            steps.append(
                f"{before} a digit from 0 to {len(parts) - 1}; for each, the ways to reach the sum "
                f"with the other digits: {worked(total(parts), sum(parts))}"
            )
            counts.append(sum(parts))
        left -= digit
        if left < 0:
            break
    if left == 0:
        steps.append(f"{limit} itself has this digit sum too: 1 more.")
        counts.append(1)
    return [*steps, f"In all {worked(total(counts), sum(counts))}."]


STEPS: dict[str, Callable[..., list[str]]] = {
    "product_digit_sum": _product,
    "base_digit_sum": _base,
    "power_last_digits": _power,
    "factorial_zeros": _zeros,
    "digit_occurrences": _occurrences,
    "range_digit_sum": _range_sum,
    "given_digit_sum": _given_sum,
}
