"""Converting integers between bases, and calculating in a base."""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.expressions import SIGNS

DIGITS = string.digits + string.ascii_uppercase
MAX_TEXT = 2_000

_NOISE = re.compile(
    r"\\left(?![a-zA-Z])|\\right(?![a-zA-Z])|\\[,;:! ()\[\]]|\\displaystyle(?![a-zA-Z])|[$]"
)
_WRAPPED = re.compile(r"\\(?:text|mathrm|texttt|mathtt|operatorname)\s*+\{([^{}]*+)\}")
_BASE = re.compile(
    r"(?:_\s*+(?:\{\s*+([0-9]{1,2})\s*+\}|([0-9]{1,2}))"
    r"|(?<![0-9A-Za-z])\(?(?:in )?base[ -]?([0-9]{1,2})\)?)\s*+\Z"
)
_DIGITS = re.compile(r"-?[0-9A-Za-z]++(?:[ ,][0-9A-Za-z]{3,4}+)*")
_PREFIXES = {2: "0B", 8: "0O", 16: "0X"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseConversionConfig(TaskConfig):
    """The length of the numbers, the bases, and whether there is a calculation."""

    n_digits: int = knob(4, "digits of each number, as it would be written in base 10", low=1)
    max_base: int = knob(16, "bases are drawn from 2..max_base", low=3, high=len(DIGITS))
    n_numbers: int = knob(
        1, "how many numbers; if more than one, they are added or multiplied", low=1
    )
    through_ten: bool = knob(False, "whether a single number has base 10 before or afterwards")

    def check(self) -> None:
        if self.through_ten and (self.n_numbers > 1 or self.max_base < 10):
            raise ConfigError(f"through_ten needs n_numbers=1 and max_base >= 10, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "BaseConversionConfig":
        """To or from base 10 up to level 1, then between any two bases; calculations from level 3.

        Numbers get a digit each level, and one more number is added every second level from 3 on.
        """
        return cls(
            n_digits=2 + difficulty,
            max_base=min(16 + 2 * difficulty, len(DIGITS)),
            n_numbers=1 + max(0, difficulty - 1) // 2,
            through_ten=difficulty < 2,
        )


@dataclass(frozen=True, slots=True)
class BaseConversionProblem:
    """The numbers with their bases and the operators between them, and the result."""

    numbers: tuple[str, ...]
    bases: tuple[int, ...]
    operators: tuple[str, ...]
    target: int
    result: str = hidden()


@register("BaseConversion-v0", domain="math")
class BaseConversionTask(Task[BaseConversionConfig, BaseConversionProblem]):
    """Write a number, or the result of a calculation, in a given base.

    Description:
        Convert a number from one base to another. At higher levels, first calculate a sum or
        product of several numbers, each in its own base. Digits above 9 are the letters from A.

    Observation:
        The numbers with their bases, and the base of the answer.

    Action:
        The digits. The base may follow as a subscript or in words.

    Reward:
        1 for the right number in the right base, otherwise 0.

    Verification:
        Exact, on integers. Upper and lower case letters and leading zeros are accepted; a
        number in any other base is not. No known gaps.

    Difficulty:
        The number of digits, the bases and the count of numbers grow. Base 10 is on one side at
        first; later numbers in several bases are added and multiplied.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.4.
    """

    def generate(self, rng: Rng) -> BaseConversionProblem:
        config = self.config
        bases = tuple(self._base(rng) for _ in range(config.n_numbers))
        values = integers(
            rng, 10 ** (config.n_digits - 1), 10**config.n_digits - 1, config.n_numbers
        )
        operators = tuple("+*"[draw] for draw in integers(rng, 0, 1, config.n_numbers - 1))
        target = self._base(rng)
        while set(bases) == {target}:
            target = self._base(rng)
        if config.through_ten:
            other = bases[0] if bases[0] != 10 else target
            bases, target = ((other,), 10) if integer(rng, 0, 1) else ((10,), other)
        result = _calculate(values, operators)
        return BaseConversionProblem(
            tuple(written(value, base) for value, base in zip(values, bases, strict=True)),
            bases,
            operators,
            target,
            written(result, target),
        )

    def _base(self, rng: Rng) -> int:
        """Return a base; half of the time, without base 10 alone, one of those in daily use."""
        if not self.config.through_ten and integer(rng, 0, 1):
            return pick(rng, [base for base in (2, 8, 10, 16) if base <= self.config.max_base])
        return integer(rng, 2, self.config.max_base)

    def prompt(self, problem: BaseConversionProblem) -> str:
        shown = [
            f"\\text{{{digits}}}_{{{base}}}"
            for digits, base in zip(problem.numbers, problem.bases, strict=True)
        ]
        text = shown[0] + "".join(
            SIGNS[operator] + number
            for operator, number in zip(problem.operators, shown[1:], strict=True)
        )
        if problem.operators:
            request = (
                f"Calculate ${text}$. The subscript of each number is its base. "
                f"Write the result in base {problem.target}."
            )
        else:
            request = f"Convert ${text}$ from base {problem.bases[0]} to base {problem.target}."
        if max(*problem.bases, problem.target) <= 10:
            return request
        return f"{request} Letters are the digits above 9: A is 10, B is 11, and so on."

    def verify(self, problem: BaseConversionProblem, answer: str) -> Verdict:
        found = read_digits(answer, problem.target)
        if found is None:
            return Verdict.unparsable(f"expected the digits of a number in base {problem.target}")
        if found == int(problem.result, problem.target):
            return Verdict.correct()
        return Verdict.wrong("the number is wrong")

    def solve(self, problem: BaseConversionProblem) -> str:
        return problem.result

    def effort(self, problem: BaseConversionProblem) -> int:
        """Count the digit operations in base 10: reading, calculating, and dividing again."""
        cost, values = 0, []
        for number, base in zip(problem.numbers, problem.bases, strict=True):
            values.append(int(number, base))
            places = [DIGITS.index(digit) for digit in reversed(number)]
            cost += effort.evaluating(places, base) if base != 10 else 0
        for operator, left, right in zip(problem.operators, values, values[1:], strict=False):
            # A number is as long as itself in a sum, and as all before it together in a product.
            pay = effort.multiplying if operator == "*" else effort.adding
            cost += pay(left, right)
        rest = int(problem.result, problem.target)
        while rest and problem.target != 10:
            cost += effort.dividing(rest, problem.target)
            rest //= problem.target
        return cost

    def baseline(self, rng: Rng, problem: BaseConversionProblem) -> str:
        """Calculate with the first digit of each number, all others being taken for 0."""
        values = [
            DIGITS.index(number[0]) * base ** (len(number) - 1)
            for number, base in zip(problem.numbers, problem.bases, strict=True)
        ]
        return written(_calculate(values, problem.operators), problem.target)

    def explain(self, problem: BaseConversionProblem) -> list[str]:
        """Return the numbers in base 10, the calculation, and the divisions by the target base."""
        steps, values = [], []
        for digits, base in zip(problem.numbers, problem.bases, strict=True):
            values.append(int(digits, base))
            if base != 10:
                powers = [
                    f"{DIGITS.index(digit)} * {base}^{place}"
                    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True)
                ]
                steps.append(f"{digits} in base {base}: {' + '.join(powers)} = {values[-1]}")
        value = _calculate(values, problem.operators)
        if problem.operators:
            pairs = zip(problem.operators, values[1:], strict=True)
            text = "".join(f" {sign} {number}" for sign, number in pairs)
            steps.append(f"{values[0]}{text} = {value}")
        if problem.target == 10:
            return [*steps, "This is in base 10 already."]
        steps.append(f"Divide by {problem.target} again and again and note the remainders.")
        while value:
            rest, digit = divmod(value, problem.target)
            name = f", the digit {DIGITS[digit]}" if digit > 9 else ""
            steps.append(f"{value} = {rest} * {problem.target} + {digit}{name}")
            value = rest
        return [*steps, "Read the remainders from the last one to the first."]


def written(value: int, base: int) -> str:
    """Return the digits of a natural number."""
    digits = []
    while value:
        value, digit = divmod(value, base)
        digits.append(DIGITS[digit])
    return "".join(reversed(digits)) or "0"


def read_digits(answer: str, base: int) -> int | None:
    """Return the integer that an answer writes in this base, or None if it writes none in it."""
    if len(answer) > MAX_TEXT:
        return None
    text = _NOISE.sub("", _WRAPPED.sub(r"\1", answer)).strip().rstrip(".").replace("\u2212", "-")
    stated = _BASE.search(text)
    if stated is not None:
        text = text[: stated.start()].strip()
        if int(stated[1] or stated[2] or stated[3]) != base:
            return None
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    if not _DIGITS.fullmatch(text):
        return None
    digits = text.lstrip("-").replace(" ", "").replace(",", "").upper()
    digits = digits.removeprefix(_PREFIXES.get(base, " "))
    if not digits or any(DIGITS.index(digit) >= base for digit in digits):
        return None
    return int(digits, base) * (-1 if text.startswith("-") else 1)


def _calculate(values: Sequence[int], operators: tuple[str, ...]) -> int:
    """Return the result by the usual precedence: products before sums."""
    total, product = 0, values[0]
    for operator, value in zip(operators, values[1:], strict=True):
        if operator == "*":
            product *= value
        else:
            total, product = total + product, value
    return total + product
