"""Questions about the digits of integers."""

from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._digits import (
    STEPS,
    digit_sum,
    factorial_zeros,
    given_digit_sum,
    in_range,
    range_digit_sum,
)
from rlvr_envs.verifiers.symbolic import judge_math

Numbers = tuple[int, ...]

_QUESTIONS = {
    "product_digit_sum": "What is the sum of the decimal digits of ${} \\times {}$?",
    "base_digit_sum": (
        "The number {} (in base 10) is written in base {}. What is the sum of its digits there, "
        "as a number in base 10?"
    ),
    "power_last_digits": "What is the remainder when ${}^{{{}}}$ is divided by {}?",
    "factorial_zeros": "With how many zeros does ${}!$ end when it is written in base {}?",
    "digit_occurrences": (
        "All integers from {} to {}, both included, are written down in decimal, without leading "
        "zeros. How many times is the digit {} written?"
    ),
    "range_digit_sum": (
        "All integers from {} to {}, both included, are written down in decimal. What is the sum "
        "of all the digits written?"
    ),
    "given_digit_sum": (
        "How many integers from 1 to {}, both included, have decimal digits that add up to {}?"
    ),
}
KINDS = tuple(_QUESTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitProblemConfig:
    """Which questions are asked, and how large their numbers are."""

    kinds: tuple[str, ...] = KINDS  # some of the keys of the table above
    max_value: int = 1_000  # every number in a question is at most this, apart from bases
    max_base: int = 12  # bases are 2..max_base
    n_last_digits: int = 2  # how many last digits of a power are asked for, at most

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}, got {self.kinds!r}")
        if self.max_value < 12 or not 10 <= self.max_base <= 36 or self.n_last_digits < 1:
            raise ConfigError(
                f"need max_value >= 12, 10 <= max_base <= 36 and n_last_digits >= 1, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "DigitProblemConfig":
        """Numbers grow fivefold a rung, bases up to 36, last digits by one every other rung."""
        return cls(
            max_value=20 * 5**difficulty,
            max_base=min(10 + 2 * difficulty, 36),
            n_last_digits=1 + difficulty // 2,
        )


@dataclass(frozen=True, slots=True)
class DigitProblem:
    """The kind of question, the numbers in it, and the answer."""

    kind: str
    numbers: tuple[int, ...]
    answer: int = hidden()


@register("DigitProblem-v0", domain="math")
class DigitProblemTask(Task[DigitProblemConfig, DigitProblem]):
    """Answer a question about digits: their sum, their number, the last ones.

    Description:
        Seven kinds: the digit sum of a product; the digit sum in another base; the last digits
        of a power; the zeros at the end of a factorial in some base; how often a digit occurs in
        a range; the sum of all digits of a range; how many numbers have a given digit sum.

    Observation:
        One question in words.

    Action:
        One integer.

    Reward:
        1 for the right integer, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The numbers, the bases and the count of last digits grow; listing the numbers in question
        soon becomes impossible.

    References:
        Legendre, Essai sur la theorie des nombres, 1830 (primes in a factorial).

    Version History:
        v0: first version.
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
