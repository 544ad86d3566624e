"""Sums of arithmetic, geometric, telescoping and other series, with exact rational values."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import latex
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.polynomials import add, compose, evaluate
from rlvr_envs.generators.mathematics.steps import (
    operand,
    polynomial,
    read_polynomial,
    total,
    value_parts,
    worked,
)
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSumConfig(TaskConfig):
    """Which kinds of series occur, and how large they are."""

    first_kind: int = knob(0, "the simplest kind of series that may occur, 0 to 9")
    last_kind: int = knob(4, "the hardest kind that may occur, at most 9")
    max_terms: int = knob(
        20, "largest number of terms of a finite sum without a geometric factor", low=4
    )
    degree: int = knob(2, "largest degree of the polynomials", low=1)
    max_coefficient: int = knob(9, "largest absolute coefficient", low=2)

    def check(self) -> None:
        last = len(_KINDS) - 1
        if not 0 <= self.first_kind <= self.last_kind <= last:
            raise ConfigError(f"need 0 <= first_kind <= last_kind <= {last}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "SeriesSumConfig":
        """Kinds get harder up to level 9; lengths double, degrees and coefficients grow."""
        return cls(
            first_kind=min(2 * difficulty // 3, len(_KINDS) - 4),
            last_kind=min(difficulty, len(_KINDS) - 1),
            max_terms=8 * 2**difficulty,
            degree=1 + difficulty // 3,
            max_coefficient=6 + difficulty,
        )


@dataclass(frozen=True, slots=True)
class SeriesSumProblem:
    """A sum in LaTeX, and its value."""

    series: str
    value: Fraction = hidden()


@register("SeriesSum-v0", domain="math")
class SeriesSumTask(WorkedTask[SeriesSumConfig, SeriesSumProblem]):
    """Find the sum of a series.

    Description:
        Arithmetic and geometric sums, finite and infinite; sums of polynomials; telescoping
        sums of fractions; polynomials times the terms of a geometric series; sums of rounded
        quotients; and linear terms times binomial coefficients and powers.

    Observation:
        A finite sum or a convergent series.

    Action:
        One rational number.

    Reward:
        1 for the sum, otherwise 0.

    Verification:
        Exact, on rational numbers, in any equivalent form. No known gaps.

    Difficulty:
        The kinds of series, the number of terms, the degrees and the coefficients grow.

    References:
        Graham, Knuth, Patashnik, Concrete Mathematics, chapters 2 and 5.
    """

    def generate(self, rng: Rng) -> SeriesSumProblem:
        config = self.config
        kind = _KINDS[integer(rng, config.first_kind, config.last_kind)]
        return kind(rng, config)

    def prompt(self, problem: SeriesSumProblem) -> str:
        name = "sum" if problem.series.startswith("\\sum") else "arithmetic series"
        return f"Find the exact value of the {name} $${problem.series}.$$"

    def verify(self, problem: SeriesSumProblem, answer: str) -> Verdict:
        return judge_math(latex.number(problem.value), answer, answer_type="rational", exact=True)

    def solve(self, problem: SeriesSumProblem) -> str:
        return latex.number(problem.value)

    def explain(self, problem: SeriesSumProblem) -> list[str]:
        return series_steps(problem.series)

    def baseline(self, rng: Rng, problem: SeriesSumProblem) -> str:
        """Multiply the first number by the last one."""
        numbers = re.findall("[0-9]+", problem.series)
        return str(int(numbers[0]) * int(numbers[-1]))


def _sigma(low: int, high: int | None, term: str) -> str:
    end = "\\infty" if high is None else str(high)
    return f"\\sum_{{k={low}}}^{{{end}}} {term}"


def _polynomial(rng: Rng, config: SeriesSumConfig) -> list[int]:
    limit = config.max_coefficient
    degree = integer(rng, 1, config.degree)
    return [*integers(rng, -limit, limit, degree), nonzero(rng, limit)]


def _differences(coefficients: Sequence[int], start: int) -> list[int]:
    """Return the leading differences of a polynomial's values at start, start + 1, ..."""
    values = [
        sum(value * k**i for i, value in enumerate(coefficients))
        for k in range(start, start + len(coefficients))
    ]
    leading = []
    while values:
        leading.append(values[0])
        values = [b - a for a, b in pairwise(values)]
    return leading


def _polynomial_sum(coefficients: Sequence[int], low: int, high: int) -> int:
    """Return the sum of a polynomial's values, by Newton's forward differences."""
    count = high - low + 1
    return sum(
        difference * math.comb(count, i + 1)
        for i, difference in enumerate(_differences(coefficients, low))
    )


def _infinite_sum(coefficients: Sequence[int], ratio: Fraction, low: int) -> Fraction:
    """Return the sum of P(k) r^k over k >= low, from that of C(j, i) r^j over j >= 0."""
    terms = (
        difference * ratio**i / (1 - ratio) ** (i + 1)
        for i, difference in enumerate(_differences(coefficients, low))
    )
    return ratio**low * sum(terms, Fraction(0))


def _arithmetic(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    first, step = integer(rng, 1, 50), integer(rng, 1, 2 * config.max_coefficient)
    count = integer(rng, 4, config.max_terms)
    last = first + (count - 1) * step
    shown = " + ".join(str(first + i * step) for i in range(3))
    dots = f"{shown} + {last}" if count == 4 else f"{shown} + \\cdots + {last}"
    return SeriesSumProblem(dots, Fraction((first + last) * count, 2))


def _geometric(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    factor = nonzero(rng, config.max_coefficient)
    ratio = _ratio(rng, config)
    if integer(rng, 0, 1):
        ratio = 1 / ratio
    high = integer(rng, 2, 3 + config.max_terms.bit_length())
    value = factor * (1 - ratio ** (high + 1)) / (1 - ratio)
    return SeriesSumProblem(_sigma(0, high, _power_term(str(factor), ratio)), value)


def _geometric_infinite(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    factor, ratio = nonzero(rng, config.max_coefficient), _ratio(rng, config)
    low = integer(rng, 0, config.degree + 1)
    value = factor * ratio**low / (1 - ratio)
    return SeriesSumProblem(_sigma(low, None, _power_term(str(factor), ratio)), value)


def _powers(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    coefficients = _polynomial(rng, config)
    high = integer(rng, 4, config.max_terms)
    term = latex.in_parentheses(latex.polynomial(coefficients, "k"))
    return SeriesSumProblem(_sigma(1, high, term), Fraction(_polynomial_sum(coefficients, 1, high)))


def _telescoping(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    """Return a sum of c / ((pk + q)(pk + q + mp)), which leaves m terms at either end."""
    step, shift = integer(rng, 1, 3), integer(rng, 1, config.max_coefficient)
    gap, factor = integer(rng, 1, 1 + config.degree), integer(rng, 1, config.max_coefficient)
    high = integer(rng, 4, config.max_terms) if integer(rng, 0, 1) else None
    ends = sum((Fraction(1, step * k + shift) for k in range(1, gap + 1)), Fraction(0))
    if high is not None:
        ends -= sum(Fraction(1, step * k + shift) for k in range(high + 1, high + gap + 1))
    low, far = (latex.polynomial([shift + more, step], "k") for more in (0, gap * step))
    term = f"\\frac{{{factor}}}{{({low})({far})}}"
    return SeriesSumProblem(_sigma(1, high, term), factor * ends / (gap * step))


def _falling(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    """Return the sum of c / (k(k+1)...(k+m)) from k = low on."""
    low, gap = integer(rng, 1, config.max_coefficient), integer(rng, 2, 2 + config.degree)
    factor = integer(rng, 1, config.max_coefficient)
    parts = "".join("k" if i == 0 else f"(k+{i})" for i in range(gap + 1))
    value = Fraction(factor, gap * math.prod(range(low, low + gap)))
    return SeriesSumProblem(_sigma(low, None, f"\\frac{{{factor}}}{{{parts}}}"), value)


def _weighted_infinite(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    coefficients, ratio = _polynomial(rng, config), _ratio(rng, config)
    low = integer(rng, 0, 3)
    factor = latex.in_parentheses(latex.polynomial(coefficients, "k"))
    value = _infinite_sum(coefficients, ratio, low)
    return SeriesSumProblem(_sigma(low, None, _power_term(factor, ratio)), value)


def _weighted(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    coefficients, ratio = _polynomial(rng, config), _ratio(rng, config)
    if integer(rng, 0, 1):
        ratio = 1 / ratio
    high = integer(rng, 4, 4 + config.max_terms.bit_length())
    factor = latex.in_parentheses(latex.polynomial(coefficients, "k"))
    value = sum(
        (sum(c * k**i for i, c in enumerate(coefficients)) * ratio**k for k in range(1, high + 1)),
        Fraction(0),
    )
    return SeriesSumProblem(_sigma(1, high, _power_term(factor, ratio)), value)


def _rounded(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    """Return a sum of the integer parts of a k / m, whose remainders repeat."""
    bottom = integer(rng, 3, 3 + config.max_coefficient)
    top = integer(rng, 1, bottom - 1)
    high = integer(rng, max(4, config.max_terms // 2), config.max_terms)
    term = f"\\left\\lfloor \\frac{{{latex.polynomial([0, top], 'k')}}}{{{bottom}}} \\right\\rfloor"
    value = (top * high * (high + 1) // 2 - _remainders(top, bottom, high)) // bottom
    return SeriesSumProblem(_sigma(1, high, term), Fraction(value))


def _remainders(top: int, bottom: int, high: int) -> int:
    """Return the sum of the remainders of top * k by bottom for k from 1 to high."""
    whole, rest = divmod(high, bottom)
    one = sum(top * k % bottom for k in range(1, bottom + 1))
    return whole * one + sum(top * k % bottom for k in range(1, rest + 1))


def _binomial(rng: Rng, config: SeriesSumConfig) -> SeriesSumProblem:
    """Return a sum of C(n, k) (a k + b) r^k, from the derivative of the binomial theorem."""
    high = integer(rng, 4, 4 + config.max_terms.bit_length())
    slope, constant = nonzero(rng, config.max_coefficient), nonzero(rng, config.max_coefficient)
    ratio = integer(rng, 2, max(3, config.max_coefficient // 3)) * (1 if integer(rng, 0, 1) else -1)
    factor = latex.in_parentheses(latex.polynomial([constant, slope], "k"))
    value = constant * (1 + ratio) ** high + slope * high * ratio * (1 + ratio) ** (high - 1)
    term = f"\\binom{{{high}}}{{k}} {_power_term(factor, Fraction(ratio))}"
    return SeriesSumProblem(_sigma(0, high, term), Fraction(value))


def _ratio(rng: Rng, config: SeriesSumConfig) -> Fraction:
    """Return a ratio strictly between -1 and 1, not 0."""
    bottom = integer(rng, 2, max(3, config.max_coefficient // 2))
    return Fraction(nonzero(rng, bottom - 1), bottom)


def _power_term(factor: str, ratio: Fraction) -> str:
    base = latex.number(ratio)
    raised = f"{base}^k" if base.isdigit() else f"{latex.in_parentheses(base)}^k"
    return raised if factor == "1" else f"{factor} \\cdot {raised}"


# From the simplest to the hardest.
_KINDS: tuple[Callable[[Rng, SeriesSumConfig], SeriesSumProblem], ...] = (
    _arithmetic,
    _geometric_infinite,
    _geometric,
    _powers,
    _telescoping,
    _falling,
    _weighted_infinite,
    _weighted,
    _rounded,
    _binomial,
)


# Steps to the sum of a series, read from the way in which `SeriesSum` writes it.


_DOTS = re.compile(r"([0-9]+) \+ ([0-9]+) \+ [0-9]+ \+ (?:\\cdots \+ )?([0-9]+)")
_SIGMA = re.compile(r"\\sum_\{k=([0-9]+)\}\^\{(\\infty|[0-9]+)\} (.*)")
_FRACTION = re.compile(r"\\frac\{(-?[0-9]+)\}\{(.*)\}")
_PAIR = re.compile(r"\(([^()]*)\)\(([^()]*)\)")
_POWER = re.compile(r"(?:(.*) \\cdot )?([^ ]+)\^k")
_FLOOR = re.compile(r"\\left\\lfloor \\frac\{([0-9]*)k\}\{([0-9]+)\} \\right\\rfloor")
_BINOMIAL = re.compile(r"\\binom\{[0-9]+\}\{k\} (.*)")
_NUMBER = re.compile(r"(-?)(?:\\frac\{([0-9]+)\}\{([0-9]+)\}|([0-9]+))")


def series_steps(series: str) -> list[str]:
    """Return the steps to the sum."""
    dots = _DOTS.fullmatch(series)
    if dots is not None:
        return _arithmetic_steps(*map(int, dots.groups()))
    sigma = _SIGMA.fullmatch(series)
    if sigma is None:
        raise ValueError(f"not a series as this task writes it: {series!r:.80}")
    low, term = int(sigma[1]), sigma[3]
    high = None if sigma[2] == r"\infty" else int(sigma[2])
    fraction, floor = _FRACTION.fullmatch(term), _FLOOR.fullmatch(term)
    if fraction is not None:
        return _fraction_steps(int(fraction[1]), fraction[2], low, high)
    if floor is not None:
        return _rounded_steps(int(floor[1] or 1), int(floor[2]), high or 0)
    if "^k" in term:
        return _exponential_steps(term, low, high)
    return _powers_steps(read_polynomial(_bare(term)), high or 0)


def _fraction_steps(factor: int, below: str, low: int, high: int | None) -> list[str]:
    pair = _PAIR.fullmatch(below)
    if pair is None:
        return _falling_steps(factor, below.count("k") - 1, low)
    return _telescoping_steps(factor, pair[1], pair[2], high)


def _exponential_steps(term: str, low: int, high: int | None) -> list[str]:
    binomial = _BINOMIAL.fullmatch(term)
    power = _POWER.fullmatch(term if binomial is None else binomial[1])
    if power is None:
        raise ValueError(f"not a term as this task writes it: {term!r:.80}")
    factor, ratio = read_polynomial(_bare(power[1] or "1")), _number(_bare(power[2]))
    if binomial is not None:
        return _binomial_steps(factor, ratio, high or 0)
    if len(factor) == 1:
        return _geometric_steps(factor[0], ratio, low, high)
    return _listed(factor, ratio, high) if high else _weighted_steps(factor, ratio, low)[0]


def _bare(text: str) -> str:
    return text.removeprefix(r"\left(").removesuffix(r"\right)")


def _number(text: str) -> Fraction:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a number as this task writes it: {text!r:.80}")
    value = Fraction(int(match[4])) if match[4] else Fraction(int(match[2]), int(match[3]))
    return -value if match[1] else value


def _arithmetic_steps(first: int, second: int, last: int) -> list[str]:
    step = second - first
    count = (last - first) // step + 1
    value = Fraction((first + last) * count, 2)
    return [
        f"Neighbours differ by {second} - {first} = {step}.",
        f"The number of terms is ({last} - {first}) / {step} + 1 = {count}.",
        "The sum is that number times the mean of the first and the last term.",
        f"{count} * ({first} + {last}) / 2 = {value}",
    ]


def _geometric_steps(factor: int, ratio: Fraction, low: int, high: int | None) -> list[str]:
    first = factor * ratio**low
    steps = [f"The first term is {operand(factor)} * {operand(ratio)}^{low} = {first}."]
    steps.append(f"Each term is {ratio} times the one before it.")
    if high is None:
        steps.append("The sum of all is the first term divided by 1 minus the ratio.")
        return [*steps, f"{operand(first)} / (1 - {operand(ratio)}) = {first / (1 - ratio)}"]
    count = high - low + 1
    raised = ratio**count
    value = first * (1 - raised) / (1 - ratio)
    return [
        *steps,
        f"There are {count} terms: {operand(ratio)}^{count} = {raised}",
        f"{operand(first)} * (1 - {operand(raised)}) / (1 - {operand(ratio)}) = {value}",
    ]


# The sum of a power of k for k from 1 to n, where m is n + 1.
_SUMS = {
    1: "{n} * {m} / 2 = ",
    2: "{n} * {m} * (2 * {n} + 1) / 6 = ",
    3: "({n} * {m} / 2)^2 = ",
}


def _powers_steps(coefficients: Sequence[int], high: int) -> list[str]:
    steps = ["Add the powers of k one by one, each with its factor."]
    parts = []
    for power in range(len(coefficients) - 1, -1, -1):
        if not coefficients[power]:
            continue
        value = sum(k**power for k in range(1, high + 1))
        work = _SUMS.get(power, "").format(n=high, m=high + 1)
        name = {0: "1", 1: "k"}.get(power, f"k^{power}")
        steps.append(f"The sum of {name} for k from 1 to {high}: {work}{value}")
        parts.append((coefficients[power], value))
    work = " + ".join(f"{operand(factor)} * {value}" for factor, value in parts)
    return [*steps, f"{work} = {sum(factor * value for factor, value in parts)}"]


def _telescoping_steps(factor: int, near: str, far: str, high: int | None) -> list[str]:
    one, two = read_polynomial(near), read_polynomial(far)
    shift, step = one
    gap = two[0] - shift
    steps = [
        f"The two factors below differ by {gap}.",
        f"So each term is {factor} / {gap} times the difference of 1/({near}) and 1/({far}).",
        f"{far} is what {near} becomes {gap // step} terms later, so all between cancel.",
    ]
    left = [Fraction(1, step * k + shift) for k in range(1, gap // step + 1)]
    steps.append(f"At the start remain {total(left)} = {sum(left)}.")
    value = sum(left, Fraction(0))
    if high is not None:
        right = [Fraction(1, step * k + shift) for k in range(high + 1, high + gap // step + 1)]
        steps.append(f"At the end {total(right)} = {sum(right)} is taken away.")
        steps.append(f"{value} - {sum(right)} = {value - sum(right)}")
        value -= sum(right)
    return [*steps, f"{factor} / {gap} * {operand(value)} = {factor * value / gap}"]


def _falling_steps(factor: int, gap: int, low: int) -> list[str]:
    numbers = range(low, low + gap)
    product = 1
    for number in numbers:
        product *= number
    return [
        f"The last and the first factor below differ by {gap}.",
        f"It is {factor} / {gap} times 1 over the first {gap} minus 1 over the last {gap} factors.",
        "Neighbouring terms cancel, and only the very first part remains.",
        f"{factor} / {gap} / ({' * '.join(map(str, numbers))}) = {Fraction(factor, gap * product)}",
    ]


def _rounded_steps(top: int, bottom: int, high: int) -> list[str]:
    whole, rest = divmod(high, bottom)
    one = [top * k % bottom for k in range(1, bottom + 1)]
    left, numbers = sum(one[:rest]), top * high * (high + 1) // 2
    every = whole * sum(one) + left
    return [
        f"Each term is {top}k minus its remainder by {bottom}, divided by {bottom}.",
        f"The sum of {top}k: {top} * {high} * {high + 1} / 2 = {numbers}",
        f"The remainders repeat after {bottom} terms: {total(one)} = {sum(one)}",
        f"There are {whole} whole rounds, and {rest} more terms with {total(one[:rest])} = {left}.",
        f"All remainders: {whole} * {sum(one)} + {left} = {every}",
        f"({numbers} - {every}) / {bottom} = {(numbers - every) // bottom}",
    ]


def _binomial_steps(factor: Sequence[int], ratio: Fraction, high: int) -> list[str]:
    constant, slope = factor
    base = 1 + ratio
    plain, weighted = base**high, high * ratio * base ** (high - 1)
    parts = f"{operand(constant)} * {operand(plain)} + {operand(slope)} * {operand(weighted)}"
    return [
        "Without the factor, the sum is (1 + r)^n by the binomial theorem.",
        f"{operand(base)}^{high} = {plain}",
        "With k for a factor, it is n * r * (1 + r)^(n - 1), by the derivative.",
        f"{high} * {operand(ratio)} * {operand(base)}^{high - 1} = {weighted}",
        f"{parts} = {constant * plain + slope * weighted}",
    ]


def _listed(coefficients: Sequence[int], ratio: Fraction, high: int) -> list[str]:
    steps, parts = [], []
    for k in range(1, high + 1):
        work, value = value_parts(coefficients, k)
        parts.append(value * ratio**k)
        steps.append(f"k = {k}: ({work}) * {operand(ratio)}^{k} = {parts[-1]}")
    return [*steps, f"{worked(total(parts), sum(parts))}"]


def _weighted_steps(
    coefficients: Sequence[int], ratio: Fraction, low: int
) -> tuple[list[str], Fraction]:
    """Return the sum of ``P(k) r^k`` from that of the differences of P, of a lower degree."""
    first = evaluate(tuple(map(Fraction, coefficients)), Fraction(low)) * ratio**low
    if len(coefficients) == 1:
        value = first / (1 - ratio)
        work = f"{operand(first)} / (1 - {operand(ratio)}) = {value}"
        return [f"This one is geometric and starts with {first}: {work}"], value
    shifted = compose(tuple(coefficients), (-1, 1))
    slower = add(tuple(coefficients), tuple(-value for value in shifted))
    inner, rest = _weighted_steps(slower, ratio, low + 1)
    value = (first + rest) / (1 - ratio)
    here, there = (polynomial(part, "k") for part in (coefficients, slower))
    return [
        f"Let S be the sum of ({here}) * r^k from k = {low} on.",
        f"S - r * S is its first term, {first}, plus the sum of ({there}) * r^k from there on.",
        *inner,
        f"So the sum with {here} is {first} plus that, over 1 - r.",
        f"({first} + {operand(rest)}) / (1 - {operand(ratio)}) = {value}",
    ], value
