"""Questions about the digits of integers."""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.primes import factor_small
from rlvr_envs.generators.mathematics.steps import total, worked
from rlvr_envs.verifiers.symbolic import judge_math


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


def in_range(low: int, high: int, digit: int) -> int:
    """Return how often a digit occurs in the integers of a range."""
    return occurrences(high, digit) - occurrences(low - 1, digit)


def range_digit_sum(low: int, high: int) -> int:
    """Return the sum of all digits of the integers of a range."""
    return sum(digit * in_range(low, high, digit) for digit in range(1, 10))


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


Numbers = tuple[int, ...]
_QUESTIONS = {
    "product_digit_sum": "What is the sum of the base-10 digits of the product ${} \\times {}$?",
    "base_digit_sum": (
        "Write the base-10 number {} in base {}. What is the sum of the values of its new digits? "
        "Give this sum in base 10."
    ),
    "power_last_digits": "What is the remainder when ${}^{{{}}}$ is divided by {}?",
    "factorial_zeros": "How many trailing zeros does ${}!$ have when it is written in base {}?",
    "digit_occurrences": (
        "You write all integers from {} to {} (inclusive) in base 10, without leading zeros. How "
        "many times do you write the digit {}?"
    ),
    "range_digit_sum": (
        "You write all integers from {} to {} (inclusive) in base 10. What is the sum of all the "
        "digits that you write?"
    ),
    "given_digit_sum": (
        "How many integers from 1 to {} (inclusive) have digits in base 10 that add up to {}?"
    ),
}
KINDS = tuple(_QUESTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitProblemConfig(TaskConfig):
    """The kinds of questions and the size of their numbers."""

    kinds: tuple[str, ...] = knob(
        KINDS, "kinds of questions; each problem has one of them", choices=KINDS
    )
    max_value: int = knob(1_000, "the largest number in a question, apart from bases", low=12)
    max_base: int = knob(12, "bases are drawn from 2..max_base", low=10, high=36)
    n_last_digits: int = knob(2, "the largest number of last digits of a power", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "DigitProblemConfig":
        """Numbers grow fourfold a level, bases up to 36, last digits by one every second level.

        The digit sums of a product and in another base leave after level 5.
        """
        return cls(
            kinds=KINDS if difficulty < 6 else KINDS[2:],
            max_value=240 * 4**difficulty,
            max_base=min(12 + 2 * difficulty, 36),
            n_last_digits=2 + difficulty // 2,
        )


@dataclass(frozen=True, slots=True)
class DigitProblem:
    """The kind of question, the numbers in it, and the answer."""

    kind: str
    numbers: tuple[int, ...]
    answer: int = hidden()


@register("DigitProblem-v0", domain="math")
class DigitProblemTask(WorkedTask[DigitProblemConfig, DigitProblem]):
    """Answer a question about digits: their sum, their number, or the last ones.

    Description:
        Seven kinds: the digit sum of a product; the digit sum in another base; the last digits
        of a power; the trailing zeros of a factorial in some base; the number of times a digit
        occurs in a range; the sum of all digits in a range; how many numbers have a given digit
        sum.

    Observation:
        One question in words.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The numbers, the bases and the count of last digits grow, so listing all numbers soon
        becomes impossible.

    References:
        Legendre, Essai sur la theorie des nombres, 1830 (primes in a factorial).
    """

    def generate(self, rng: Rng) -> DigitProblem:
        kind = pick(rng, self.config.kinds)
        draw, count = _KINDS[kind]
        numbers = draw(rng, self.config)
        return DigitProblem(kind, numbers, count(*numbers))

    def prompt(self, problem: DigitProblem) -> str:
        return _QUESTIONS[problem.kind].format(*problem.numbers)

    def verify(self, problem: DigitProblem, answer: str) -> Verdict:
        return judge_math(str(problem.answer), answer, answer_type="integer")

    def solve(self, problem: DigitProblem) -> str:
        return str(problem.answer)

    def baseline(self, rng: Rng, problem: DigitProblem) -> str:
        """Answer with a rule of thumb, such as a tenth of all numbers for one digit."""
        return str(_HURRIED[problem.kind](*problem.numbers))

    def explain(self, problem: DigitProblem) -> list[str]:
        return STEPS[problem.kind](*problem.numbers)


def _two_factors(rng: Rng, config: DigitProblemConfig) -> Numbers:
    return integer(rng, 2, config.max_value), integer(rng, 2, config.max_value)


def _number_and_base(rng: Rng, config: DigitProblemConfig) -> Numbers:
    base = pick(rng, [base for base in range(2, config.max_base + 1) if base != 10])
    return integer(rng, 10, config.max_value), base


def _power(rng: Rng, config: DigitProblemConfig) -> Numbers:
    base = integer(rng, 2, config.max_value)
    if base % 10 == 0:
        base += 1  # a multiple of 10 ends in zeros alone
    exponent = integer(rng, 2, config.max_value)
    n_digits = integer(rng, (config.n_last_digits + 1) // 2, config.n_last_digits)
    return base, exponent, 10**n_digits


def _factorial(rng: Rng, config: DigitProblemConfig) -> Numbers:
    base = 10 if integer(rng, 0, 1) else integer(rng, 2, config.max_base)
    return integer(rng, 5, config.max_value), base


def _interval(rng: Rng, config: DigitProblemConfig) -> Numbers:
    one, two = integer(rng, 1, config.max_value - 1), integer(rng, 1, config.max_value - 1)
    return min(one, two), max(one, two) + 1


def _interval_and_digit(rng: Rng, config: DigitProblemConfig) -> Numbers:
    return (*_interval(rng, config), integer(rng, 0, 9))


def _limit_and_sum(rng: Rng, config: DigitProblemConfig) -> Numbers:
    limit = integer(rng, 10, config.max_value)
    return limit, digit_sum(integer(rng, 1, limit))


_Draw = Callable[[Rng, DigitProblemConfig], Numbers]
_KINDS: dict[str, tuple[_Draw, Callable[..., int]]] = {
    "product_digit_sum": (_two_factors, lambda a, b: digit_sum(a * b)),
    "base_digit_sum": (_number_and_base, digit_sum),
    "power_last_digits": (_power, pow),
    "factorial_zeros": (_factorial, factorial_zeros),
    "digit_occurrences": (_interval_and_digit, in_range),
    "range_digit_sum": (_interval, range_digit_sum),
    "given_digit_sum": (_limit_and_sum, given_digit_sum),
}


_HURRIED: dict[str, Callable[..., int]] = {
    "product_digit_sum": lambda a, b: digit_sum(a) * digit_sum(b),
    "base_digit_sum": lambda value, base: digit_sum(value),
    "power_last_digits": lambda base, exponent, modulus: base % modulus,
    "factorial_zeros": lambda n, base: n // max(factor_small(base)),
    "digit_occurrences": lambda low, high, digit: (high - low + 1) // 10,
    "range_digit_sum": lambda low, high: 9 * (high - low + 1) // 2,
    "given_digit_sum": lambda limit, wanted: limit // 10,
}


# Counting digits of integers, and the steps of doing so.


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


def strings(length: int, total: int) -> int:
    """Return how many strings of so many decimal digits have the given digit sum."""
    if length == 0:
        return int(total == 0)
    return sum(
        (-1) ** over * comb(length, over) * comb(total - 10 * over + length - 1, length - 1)
        for over in range(total // 10 + 1)
    )


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


def _power_steps(base: int, exponent: int, modulus: int) -> list[str]:
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
    "power_last_digits": _power_steps,
    "factorial_zeros": _zeros,
    "digit_occurrences": _occurrences,
    "range_digit_sum": _range_sum,
    "given_digit_sum": _given_sum,
}
