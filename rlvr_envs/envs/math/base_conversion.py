"""Converting integers between bases, and calculating in a base."""

import re
import string
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
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

    n_digits: int = knob(4, "digits of each number, written in its own base", low=1)
    max_base: int = knob(16, "bases are drawn from 2..max_base", low=3, high=len(DIGITS))
    n_numbers: int = knob(
        1, "how many numbers; if more than one, they are added or multiplied", low=1
    )

    @classmethod
    def at(cls, difficulty: int) -> "BaseConversionConfig":
        """One more digit a level; bases up to 36 at level 9; more numbers from level 4."""
        return cls(
            n_digits=3 + difficulty,
            max_base=min(9 + 3 * difficulty, len(DIGITS)),
            n_numbers=1 + max(0, difficulty - 1) // 3,
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
        The number of digits, the bases and the count of numbers grow.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.4.
    """

    def generate(self, rng: Rng) -> BaseConversionProblem:
        config = self.config
        bases = tuple(self._base(rng) for _ in range(config.n_numbers))
        values = [
            integer(rng, base ** (config.n_digits - 1), base**config.n_digits - 1) for base in bases
        ]
        operators = tuple("+*"[draw] for draw in integers(rng, 0, 1, config.n_numbers - 1))
        target = self._base(rng)
        while target in bases and len(set(bases)) == 1:
            target = self._base(rng)
        result = _calculate(values, operators)
        return BaseConversionProblem(
            tuple(written(value, base) for value, base in zip(values, bases, strict=True)),
            bases,
            operators,
            target,
            written(result, target),
        )

    def _base(self, rng: Rng) -> int:
        """Return a base; half of the time one of those in daily use."""
        if integer(rng, 0, 1):
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


def _calculate(values: list[int], operators: tuple[str, ...]) -> int:
    """Return the result by the usual precedence: products before sums."""
    total, product = 0, values[0]
    for operator, value in zip(operators, values[1:], strict=True):
        if operator == "*":
            product *= value
        else:
            total, product = total + product, value
    return total + product
