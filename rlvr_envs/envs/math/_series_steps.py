"""Steps to the sum of a series, read from the way in which `SeriesSum` writes it."""

import re
from collections.abc import Sequence
from fractions import Fraction

from rlvr_envs.generators.mathematics.polynomials import add, compose, evaluate
from rlvr_envs.generators.mathematics.steps import (
    operand,
    polynomial,
    read_polynomial,
    total,
    value_parts,
    worked,
)

_DOTS = re.compile(r"([0-9]+) \+ ([0-9]+) \+ [0-9]+ \+ (?:\\cdots \+ )?([0-9]+)")
_SIGMA = re.compile(r"\\sum_\{k=([0-9]+)\}\^\{(\\infty|[0-9]+)\} (.*)")
_FRACTION = re.compile(r"\\frac\{(-?[0-9]+)\}\{(.*)\}")
_PAIR = re.compile(r"\(([^()]*)\)\(([^()]*)\)")
_POWER = re.compile(r"(?:(.*) \\cdot )?([^ ]+)\^k")
_NUMBER = re.compile(r"(-?)(?:\\frac\{([0-9]+)\}\{([0-9]+)\}|([0-9]+))")


def series_steps(series: str) -> list[str]:
    """Return the steps to the sum."""
    dots = _DOTS.fullmatch(series)
    if dots is not None:
        return _arithmetic(*map(int, dots.groups()))
    sigma = _SIGMA.fullmatch(series)
    if sigma is None:
        raise ValueError(f"not a series as this task writes it: {series!r:.80}")
    low, term = int(sigma[1]), sigma[3]
    high = None if sigma[2] == r"\infty" else int(sigma[2])
    fraction = _FRACTION.fullmatch(term)
    if fraction is not None:
        pair = _PAIR.fullmatch(fraction[2])
        if pair is None:
            return _falling(int(fraction[1]), fraction[2].count("k") - 1, low)
        return _telescoping(int(fraction[1]), pair[1], pair[2], high)
    power = _POWER.fullmatch(term)
    if power is None:
        return _powers(read_polynomial(_bare(term)), high or 0)
    ratio = _number(_bare(power[2]))
    factor = read_polynomial(_bare(power[1] or "1"))
    if len(factor) == 1:
        return _geometric(factor[0], ratio, low, high)
    return _listed(factor, ratio, high) if high else _weighted(factor, ratio, low)[0]


def _bare(text: str) -> str:
    return text.removeprefix(r"\left(").removesuffix(r"\right)")


def _number(text: str) -> Fraction:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a number as this task writes it: {text!r:.80}")
    value = Fraction(int(match[4])) if match[4] else Fraction(int(match[2]), int(match[3]))
    return -value if match[1] else value


def _arithmetic(first: int, second: int, last: int) -> list[str]:
    step = second - first
    count = (last - first) // step + 1
    value = Fraction((first + last) * count, 2)
    return [
        f"Neighbours differ by {second} - {first} = {step}.",
        f"The number of terms is ({last} - {first}) / {step} + 1 = {count}.",
        "The sum is that number times the mean of the first and the last term.",
        f"{count} * ({first} + {last}) / 2 = {value}",
    ]


def _geometric(factor: int, ratio: Fraction, low: int, high: int | None) -> list[str]:
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


def _powers(coefficients: Sequence[int], high: int) -> list[str]:
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


def _telescoping(factor: int, near: str, far: str, high: int | None) -> list[str]:
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


def _falling(factor: int, gap: int, low: int) -> list[str]:
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


def _listed(coefficients: Sequence[int], ratio: Fraction, high: int) -> list[str]:
    steps, parts = [], []
    for k in range(1, high + 1):
        work, value = value_parts(coefficients, k)
        parts.append(value * ratio**k)
        steps.append(f"k = {k}: ({work}) * {operand(ratio)}^{k} = {parts[-1]}")
    return [*steps, f"{worked(total(parts), sum(parts))}"]


def _weighted(coefficients: Sequence[int], ratio: Fraction, low: int) -> tuple[list[str], Fraction]:
    """Return the sum of ``P(k) r^k`` from that of the differences of P, of a lower degree."""
    first = evaluate(tuple(map(Fraction, coefficients)), Fraction(low)) * ratio**low
    if len(coefficients) == 1:
        value = first / (1 - ratio)
        work = f"{operand(first)} / (1 - {operand(ratio)}) = {value}"
        return [f"This one is geometric and starts with {first}: {work}"], value
    shifted = compose(tuple(coefficients), (-1, 1))
    slower = add(tuple(coefficients), tuple(-value for value in shifted))
    inner, rest = _weighted(slower, ratio, low + 1)
    value = (first + rest) / (1 - ratio)
    here, there = (polynomial(part, "k") for part in (coefficients, slower))
    return [
        f"Let S be the sum of ({here}) * r^k from k = {low} on.",
        f"S - r * S is its first term, {first}, plus the sum of ({there}) * r^k from there on.",
        *inner,
        f"So the sum with {here} is {first} plus that, over 1 - r.",
        f"({first} + {operand(rest)}) / (1 - {operand(ratio)}) = {value}",
    ], value
