"""Exact arithmetic with decimals and percentages."""

import re
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.evaluation import left_to_right, operations, work
from rlvr_envs.generators.mathematics.expressions import Expression, grow
from rlvr_envs.generators.mathematics.latex import decimal, number
from rlvr_envs.generators.mathematics.stated_numbers import judge_rational

_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_CHANGE = re.compile(r"(rises|falls) by ([0-9.]+)%")
FORMS = ("expression", "percent_of", "percent_change", "percent_total", "percent_missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalArithmeticConfig(TaskConfig):
    """The number of terms, their length, and the kinds of questions."""

    n_terms: int = knob(
        4, "numbers in an expression; there are 1 + n_terms // 3 percentages", low=2
    )
    whole_digits: int = knob(2, "the largest number of digits before the decimal point", low=1)
    places: int = knob(2, "digits after the decimal point", low=1)
    forms: tuple[str, ...] = knob(
        FORMS, "the kinds of questions, each equally likely", choices=FORMS
    )

    @classmethod
    def at(cls, difficulty: int) -> "DecimalArithmeticConfig":
        """One more term a level; forms come in up to level 4; digits and percentages grow."""
        return cls(
            n_terms=2 + difficulty,
            whole_digits=1 + 2 * difficulty // 3,
            places=1 + difficulty // 3,
            forms=FORMS[: 1 + difficulty],
        )


@dataclass(frozen=True, slots=True)
class DecimalArithmeticProblem:
    """The question, whether its answer is a percentage, and the exact value."""

    question: str
    in_percent: bool
    value: Fraction = hidden()


@register("DecimalArithmetic-v0", domain="math")
class DecimalArithmeticTask(Task[DecimalArithmeticConfig, DecimalArithmeticProblem]):
    """Calculate exactly with decimals and percentages.

    Description:
        One of: an expression of decimals; a percentage of a percentage of a number; a quantity
        that changes by several percentages in turn, where the question is about its final value,
        the total change, or the last change. Every answer is a finite decimal.

    Observation:
        The question.

    Action:
        One decimal. A percent sign is allowed where the answer is a percentage.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        Exact, on rationals. A rounded value is wrong, and an expression that is not evaluated
        earns 0.

    Difficulty:
        The numbers of terms, of percentages and of digits grow.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (arithmetic modules).
    """

    def generate(self, rng: Rng) -> DecimalArithmeticProblem:
        form = pick(rng, self.config.forms)
        if form == "expression":
            return self._expression(rng)
        start = self._decimal(rng)
        count = 1 + self.config.n_terms // 3
        if form == "percent_of":
            parts = self._parts()
            drawn = integers(rng, 1 + parts, 99 * parts, count)
            percents = [Fraction(value, parts) for value in drawn]
            value = start
            for percent in percents:
                value *= percent / 100
            chain = " of ".join(f"{decimal(percent)}%" for percent in percents)
            return DecimalArithmeticProblem(f"What is {chain} of {decimal(start)}?", False, value)
        changes = [self._change(rng) for _ in range(count)]
        factor = Fraction(1)
        for change in changes:
            factor *= 1 + change / 100
        if form == "percent_missing":
            return _missing(start, factor, changes)
        story = f"A quantity of {decimal(start)} {_story(changes)}."
        if form == "percent_total":
            text = f"{story} By how many percent has it changed in total (negative for a fall)?"
            return DecimalArithmeticProblem(text, True, (factor - 1) * 100)
        return DecimalArithmeticProblem(
            f"{story} What is its exact value now?", False, start * factor
        )

    def _expression(self, rng: Rng) -> DecimalArithmeticProblem:
        count = self.config.n_terms
        values = [self._decimal(rng) for _ in range(count)]
        digits = self.config.whole_digits + self.config.places
        made = grow(
            rng, [Expression(decimal(v), v) for v in values], "+-*", 4 * digits * (count + 2)
        )
        text = f"Calculate the exact value, as a decimal:\n\n$${made.text}$$"
        return DecimalArithmeticProblem(text, False, made.value)

    def _parts(self) -> int:
        """Return into how many parts percentages split 1%: halves at first, then tenths and on."""
        return 2 if self.config.places == 1 else 10 ** (self.config.places - 1)

    def _change(self, rng: Rng) -> Fraction:
        """Return a change in percent: -95 to 100, never 0."""
        parts = self._parts()
        draw = integer(rng, -95 * parts, 100 * parts - 1)
        return Fraction(draw + (draw >= 0), parts)

    def _decimal(self, rng: Rng) -> Fraction:
        digits = 1 + integer(rng, 0, self.config.whole_digits - 1) + self.config.places
        draw = integer(rng, 1, 10**digits - 1)
        return Fraction(draw + (draw % 10 == 0), 10**self.config.places)

    def prompt(self, problem: DecimalArithmeticProblem) -> str:
        if "$$" in problem.question:
            return problem.question
        return f"{problem.question} Give the exact value as a decimal; do not round."

    def verify(self, problem: DecimalArithmeticProblem, answer: str) -> Verdict:
        return judge_rational(problem.value, answer, in_percent=problem.in_percent)

    def solve(self, problem: DecimalArithmeticProblem) -> str:
        return decimal(problem.value)

    def effort(self, problem: DecimalArithmeticProblem) -> int:
        """Count the digit operations of the calculation, one step after the other."""
        if "$$" in problem.question:
            return work(problem.question.split("$$")[1], size=_without_point)
        return effort.written(self.explain(problem))

    def baseline(self, rng: Rng, problem: DecimalArithmeticProblem) -> str:
        """Calculate from left to right, and add percentages up as if all were of the start."""
        question = problem.question
        if "$$" in question:
            return decimal(left_to_right(question.split("$$")[1])[0])
        found = [Fraction(text) for text in _DECIMAL.findall(question)]
        if question.startswith("What is"):
            return decimal(found[0] / 100 * found[-1])
        parts = _CHANGE.findall(question)
        change = sum(
            (Fraction(x) * (1 if verb == "rises" else -1) for verb, x in parts), Fraction(0)
        )
        if "changes to" in question:
            end = Fraction(_DECIMAL.findall(question.split("changes to")[1])[0])
            return number((end / found[0] - 1) * 100 - change)
        return decimal(change if problem.in_percent else found[0] * (1 + change / 100))

    def explain(self, problem: DecimalArithmeticProblem) -> list[str]:
        question = problem.question
        if "$$" in question:
            steps, _ = operations(question.split("$$")[1], show=decimal)
            return steps
        found = [Fraction(text) for text in _DECIMAL.findall(question)]
        if question.startswith("What is"):
            *percents, value = found
            steps = ["Divide each percentage by 100 and multiply, from the last one to the first."]
            for percent in reversed(percents):
                work = f"{decimal(percent)} / 100 * {decimal(value)}"
                value *= percent / 100
                steps.append(f"{work} = {decimal(value)}")
            return steps
        return _followed(question, found[0], problem.in_percent)


def _without_point(value: Fraction) -> int:
    return int(decimal(value).replace(".", ""))


def _story(changes: list[Fraction]) -> str:
    parts = [
        f"{'rises' if change > 0 else 'falls'} by {decimal(abs(change))}%" for change in changes
    ]
    return ", then ".join(parts)


def _missing(
    start: Fraction, factor: Fraction, changes: list[Fraction]
) -> DecimalArithmeticProblem:
    """Return the question for the last change, where its outcome is given."""
    last = f"changes to {decimal(start * factor)}"
    if len(changes) == 1:
        text = f"{last}. By how many percent does it change (negative for a fall)?"
    else:
        text = (
            f"{_story(changes[:-1])}, then {last}. "
            "By how many percent does the last step change it (negative for a fall)?"
        )
    return DecimalArithmeticProblem(f"A quantity of {decimal(start)} {text}", True, changes[-1])


def _followed(question: str, start: Fraction, in_percent: bool) -> list[str]:
    """Return the steps of a quantity that changes by one percentage after another."""
    total = in_percent and "in total" in question
    value = Fraction(1) if total else start
    steps = ["Follow 1 unit of the quantity, whatever its size."] if total else []
    for verb, percent in _CHANGE.findall(question):
        change = Fraction(percent) if verb == "rises" else -Fraction(percent)
        factor = 1 + change / 100
        sign = "+" if change > 0 else "-"
        steps.append(
            f"It {verb} by {percent}%, a factor of 1 {sign} {percent} / 100 = {decimal(factor)}."
        )
        steps.append(f"{decimal(value)} * {decimal(factor)} = {decimal(value * factor)}")
        value *= factor
    if not in_percent:
        return steps
    if not total:
        end = Fraction(_DECIMAL.findall(question.split("changes to")[1])[0])
        work = f"{decimal(end)} / {decimal(value)}"
        value = end / value
        steps.append(f"The last factor is {work} = {decimal(value)}.")
    steps.append("A factor of 1 means no change; the rest times 100 is the change in percent.")
    return [*steps, f"({decimal(value)} - 1) * 100 = {decimal((value - 1) * 100)}"]
