"""Graphs of quantities, each given or derived from earlier ones: drawing, evaluating, tracing.

The words around the quantities belong to the task; here a quantity is a number with an index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, pick

UNARY = ("more", "fewer", "times", "share", "percent", "fraction")
BINARY = ("sum", "difference")
_PERCENTS = (10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 120, 125, 150)


@dataclass(frozen=True, slots=True)
class Fact:
    """One quantity's definition.

    Attributes:
        subject: the index of the quantity.
        relation: ``given``, or one of `UNARY` and `BINARY`.
        sources: the quantities it is derived from.
        amount: the given number, the number added, the factor, the divisor or the percentage;
            for a fraction its numerator; unused by `BINARY` relations.
        divisor: the denominator of a fraction, otherwise 1.
        wording: which of the sentences for this relation states it.
    """

    subject: int
    relation: str
    sources: tuple[int, ...] = ()
    amount: int = 0
    divisor: int = 1
    wording: int = 0


class Limits(NamedTuple):
    """Bounds on the numbers: values, what is added or given, and factors."""

    max_value: int
    max_addend: int
    max_factor: int


class Step(NamedTuple):
    """One line of a solution: the quantity, the calculation in plain text, and its value."""

    subject: int
    calculation: str
    value: int


def draw_graph(rng: Rng, n_operations: int, n_distractors: int, limits: Limits) -> list[Fact]:
    """Draw facts in which the answer, the quantity before the distractors, needs every operation.

    The facts come sources first, and quantity ``i`` is the subject of ``facts[i]``. Each
    distractor is one fact at the end, which nothing needs.
    """
    drawing = _Drawing(rng, limits)
    unused: list[int] = []
    for left in range(n_operations, 0, -1):
        drawing.extend(unused, left)
    for _ in range(n_distractors):
        drawing.distract()
    return drawing.facts


def needed(facts: Sequence[Fact], target: int) -> list[Fact]:
    """Return the facts that the target depends on, sources before what is derived from them."""
    by_subject = {fact.subject: fact for fact in facts}
    found: dict[int, Fact] = {}
    stack = [target]
    while stack:
        fact = by_subject[stack[-1]]
        open_sources = [source for source in fact.sources if source not in found]
        if open_sources:
            stack.extend(open_sources)
        else:
            found.setdefault(stack.pop(), fact)
    return list(found.values())


def trace(facts: Sequence[Fact], target: int) -> list[Step]:
    """Return the calculation of the target, one step for each quantity that it needs."""
    values: dict[int, int] = {}
    steps = []
    for fact in needed(facts, target):
        value = evaluate(fact, values)
        steps.append(Step(fact.subject, _calculation(fact, values), value))
        values[fact.subject] = value
    return steps


def evaluate(fact: Fact, values: Mapping[int, int]) -> int:
    """Return the value of a fact's quantity from those of its sources."""
    sources = [values[source] for source in fact.sources]
    if fact.relation == "given":
        return fact.amount
    if fact.relation == "sum":
        return sources[0] + sources[1]
    if fact.relation == "difference":
        return sources[0] - sources[1]
    if fact.relation == "more":
        return sources[0] + fact.amount
    if fact.relation == "fewer":
        return sources[0] - fact.amount
    return int(sources[0] * _scale(fact))


def _scale(fact: Fact) -> Fraction:
    if fact.relation == "times":
        return Fraction(fact.amount)
    if fact.relation == "share":
        return Fraction(1, fact.amount)
    if fact.relation == "percent":
        return Fraction(fact.amount, 100)
    return Fraction(fact.amount, fact.divisor)


_CALCULATIONS = {
    "given": "{amount}",
    "sum": "{0} + {1}",
    "difference": "{0} - {1}",
    "more": "{0} + {amount}",
    "fewer": "{0} - {amount}",
    "times": "{amount} * {0}",
    "share": "{0} / {amount}",
    "percent": "{amount} / 100 * {0}",
    "fraction": "{amount} / {divisor} * {0}",
}


def _calculation(fact: Fact, values: Mapping[int, int]) -> str:
    sources = [values[source] for source in fact.sources]
    return _CALCULATIONS[fact.relation].format(*sources, amount=fact.amount, divisor=fact.divisor)


class _Drawing:
    """Facts drawn so far, with their values."""

    def __init__(self, rng: Rng, limits: Limits) -> None:
        self.rng = rng
        self.limits = limits
        self.facts: list[Fact] = []
        self.values: dict[int, int] = {}

    def add(
        self, relation: str, sources: tuple[int, ...], amount: int = 0, divisor: int = 1
    ) -> int:
        subject = len(self.facts)
        fact = Fact(subject, relation, sources, amount, divisor, integer(self.rng, 0, 1))
        self.facts.append(fact)
        self.values[subject] = evaluate(fact, self.values)
        return subject

    def extend(self, unused: list[int], left: int) -> None:
        """Add one operation, keeping the unused results few enough to be merged by the rest."""
        branch = self.rng.random()
        second: int | None
        if len(unused) >= 2 and (branch < 0.4 or len(unused) >= left):
            first = unused.pop(integer(self.rng, 0, len(unused) - 1))
            second = unused.pop(integer(self.rng, 0, len(unused) - 1))
        elif unused and not (branch < 0.25 and len(unused) + 1 < left):
            first = unused.pop(integer(self.rng, 0, len(unused) - 1))
            second = self._other(first) if branch > 0.7 else None
        else:
            first = self._given()
            second = self._given() if branch > 0.7 or (branch < 0.1) else None
        unused.append(self._unary(first) if second is None else self._binary(first, second))

    def distract(self) -> None:
        """Add a quantity that the ones before it do not need."""
        if self.rng.random() < 0.5:
            self._given()
        else:
            self._unary(integer(self.rng, 0, len(self.facts) - 1))

    def _given(self) -> int:
        return self.add("given", (), integer(self.rng, 2, self.limits.max_addend))

    def _other(self, first: int) -> int:
        if self.rng.random() < 0.5 or first == 0:
            return self._given()
        return integer(self.rng, 0, first - 1)

    def _binary(self, first: int, second: int) -> int:
        low, high = sorted((first, second), key=lambda index: self.values[index])
        fits = self.values[low] + self.values[high] <= self.limits.max_value
        equal = self.values[low] == self.values[high]
        if equal or (fits and self.rng.random() < 0.5):
            return self.add("sum", (first, second))
        return self.add("difference", (high, low))

    def _unary(self, source: int) -> int:
        """Derive a quantity by a relation that keeps it whole, positive and within bounds."""
        value, limits, rng = self.values[source], self.limits, self.rng
        relation = pick(rng, UNARY)
        if relation == "times" and 2 * value <= limits.max_value:
            top = min(limits.max_factor, limits.max_value // value)
            return self.add("times", (source,), integer(rng, 2, top))
        if relation == "share":
            divisors = [k for k in range(2, limits.max_factor + 1) if value % k == 0]
            if divisors:
                return self.add("share", (source,), pick(rng, divisors))
        if relation == "percent":
            percents = [p for p in _PERCENTS if value * p % 100 == 0]
            if percents:
                return self.add("percent", (source,), pick(rng, percents))
        if relation == "fraction":
            parts = [b for b in range(3, limits.max_factor + 1) if value % b == 0]
            if parts:
                whole = pick(rng, parts)
                part = Fraction(integer(rng, 2, whole - 1), whole)
                if part.numerator > 1:
                    return self.add("fraction", (source,), part.numerator, part.denominator)
        # Numbers told are 2 or more, so that every noun stands in the plural.
        room = limits.max_value - value
        if value > 2 and (relation == "fewer" or room < 2):
            return self.add("fewer", (source,), integer(rng, 2, min(value - 1, limits.max_addend)))
        return self.add("more", (source,), integer(rng, 2, max(2, min(room, limits.max_addend))))
