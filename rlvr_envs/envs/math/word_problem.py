"""Word problems generated from a graph of operations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Variant
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.steps import operand, polynomial
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True)
class Fact:
    """The definition of one quantity.

    Attributes:
        subject: the index of the quantity.
        relation: ``given``, or one of `UNARY` and `BINARY`.
        sources: the quantities it is derived from.
        amount: the given number, the number added or subtracted, the factor, the divisor, the
            percentage, or the numerator of a fraction; unused by `BINARY` relations.
        divisor: the denominator of a fraction, otherwise 1.
        wording: index of the sentence for this relation.
    """

    subject: int
    relation: str
    sources: tuple[int, ...] = ()
    amount: int = 0
    divisor: int = 1
    wording: int = 0


_LINE = re.compile(r"\s*([^:]{1,80}):(?:.{0,200}=)?\s*([0-9]{1,18})\s*$", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Context:
    opening: str
    place: str  # template for the phrase of a named place
    items: tuple[str, ...]


_CONTEXTS = {
    "school": _Context(
        "A school counts its supplies.",
        "in the {} classroom",
        ("red pencils", "rulers", "notebooks", "erasers", "glue sticks", "blue pens", "crayons"),
    ),
    "zoo": _Context(
        "A country counts the animals in its zoos.",
        "in the {} zoo",
        ("flamingos", "lemurs", "tortoises", "zebras", "otters", "parrots", "meerkats"),
    ),
    "orchard": _Context(
        "A farmer counts the trees in several orchards.",
        "in the {} orchard",
        ("apple trees", "pear trees", "plum trees", "cherry trees", "fig trees", "quince trees"),
    ),
    "library": _Context(
        "A city counts the books in its libraries.",
        "in the {} library",
        ("novels", "atlases", "comics", "dictionaries", "cookbooks", "biographies", "poetry books"),
    ),
    "space_station": _Context(
        "The crew of a space station counts the supplies in its modules.",
        "in the {} module",
        ("oxygen tanks", "ration packs", "spare fuses", "space suits", "batteries", "air filters"),
    ),
    "bakery": _Context(
        "A chain of bakeries counts the goods on its shelves.",
        "in the {} bakery",
        ("rye loaves", "bagels", "croissants", "muffins", "pretzels", "cheese rolls"),
    ),
}
CONTEXTS = tuple(_CONTEXTS)
_PLACES = (
    *("Amber", "Birch", "Cedar", "Delta", "Ember", "Falcon", "Garnet", "Harbor", "Iris", "Juniper"),
    *("Kestrel", "Lotus", "Maple", "Nova", "Olive", "Pebble", "Quartz", "River", "Saffron"),
    *("Thistle", "Umber", "Violet", "Willow", "Zephyr"),
)
_FRACTIONS = {2: "half", 3: "one third", 4: "one quarter"}
# Two sentences for each relation; X is the quantity defined, Y and Z are its sources.
_SENTENCES = {
    "given": ("There are {n} {X}.", "The number of {X} is {n}."),
    "more": (
        "There are {n} more {X} than {Y}.",
        "The number of {X} is {n} more than the number of {Y}.",
    ),
    "fewer": (
        "There are {n} fewer {X} than {Y}.",
        "The number of {X} is {n} less than the number of {Y}.",
    ),
    "times": (
        "There are {n} times as many {X} as {Y}.",
        "The number of {X} is {n} times the number of {Y}.",
    ),
    "share": (
        "There are {part} as many {X} as {Y}.",
        "The number of {X} is the number of {Y} divided by {n}.",
    ),
    "percent": (
        "There are {n}% as many {X} as {Y}.",
        "The number of {X} is {n}% of the number of {Y}.",
    ),
    "fraction": (
        "There are {n}/{d} as many {X} as {Y}.",
        "The number of {X} is {n}/{d} of the number of {Y}.",
    ),
    "sum": (
        "There are as many {X} as {Y} and {Z} together.",
        "The number of {X} is the number of {Y} plus the number of {Z}.",
    ),
    "difference": (
        "The number of {X} is the number of {Y} minus the number of {Z}.",
        "Subtract the number of {Z} from the number of {Y} to get the number of {X}.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WordProblemConfig(TaskConfig):
    """The size of the graph of operations, its numbers, and the story."""

    n_operations: int = knob(4, "steps that the answer needs", low=1)
    n_distractors: int = knob(2, "quantities that the answer does not need", low=0)
    max_value: int = knob(1_000, "no quantity is larger than this")
    max_addend: int = knob(60, "given and added numbers are at most this", low=4)
    max_factor: int = knob(6, "factors, divisors and denominators are at most this", low=2)
    context: str | None = knob(
        None, "setting of the story; drawn at random if None", choices=_CONTEXTS
    )
    shuffle: bool = knob(True, "give the facts in random order")
    backward_share: float = knob(
        0.0, "share of stories that give the last number and ask for a first one", low=0, high=1
    )

    def check(self) -> None:
        if self.max_value < 2 * self.max_addend:
            raise ConfigError(f"need max_value >= 2 * max_addend, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "WordProblemConfig":
        """Two operations a level, one from level 4 on, and a distractor; shuffled from level 2 on.

        From level 4 on, part of the stories run backward: the last number is given, and a first
        one is asked for, which takes an equation.
        """
        return cls(
            n_operations=1 + difficulty + min(difficulty, 3),
            n_distractors=difficulty,
            max_value=200 * (1 + difficulty),
            max_addend=60 + 10 * difficulty,
            max_factor=3 + difficulty // 2,
            shuffle=difficulty >= 2,
            backward_share=min(max(0, difficulty - 3) / 4, 1.0),
        )


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is counted, and where."""

    item: str
    place: str


@dataclass(frozen=True, slots=True)
class WordProblem:
    """The story as data: the quantities, the facts in prompt order, and the quantity to find.

    In a backward story no fact has the quantity to find as its subject, and two have the last.
    """

    context: str
    quantities: tuple[Quantity, ...]
    facts: tuple[Fact, ...]
    asked: int
    answer: int = hidden()


@register("WordProblem-v0", domain="math")
class WordProblemTask(WorkedTask[WordProblemConfig, WordProblem]):
    """Work out a quantity from a story that defines quantities by one another.

    Description:
        A directed acyclic graph of operations (more and fewer than, times, equal shares,
        percentages, fractions, sums, differences) is written as a story in one of several
        settings.
        Every operation counted by ``n_operations`` is needed for the answer; distractors are not.
        In backward stories the last quantity is given instead of a first one, which is asked for.
        `explain` gives the solution step by step, and `step_credit` reads one.

    Observation:
        One sentence for each quantity, and the question.

    Action:
        One integer.

    Reward:
        1 for the right number, otherwise 0.

    Verification:
        Exact, on integers. Only the final number is judged, not the steps.

    Difficulty:
        The operations, the distractors and the numbers grow; stories that are solved backward, by
        an equation, come in.

    References:
        Zhang et al., On the Interplay of Pre-Training, Mid-Training, and RL on Reasoning
        Language Models, 2025; Ye et al., Physics of Language Models 2.1, 2024.
    """

    def generate(self, rng: Rng) -> WordProblem:
        config = self.config
        context = pick(rng, CONTEXTS) if config.context is None else config.context
        limits = Limits(config.max_value, config.max_addend, config.max_factor)
        facts = draw_graph(rng, config.n_operations, config.n_distractors, limits)
        asked = len(facts) - 1 - config.n_distractors
        quantities = _quantities(rng, context, len(facts))
        answer = trace(facts, asked)[-1].value
        if rng.random() < config.backward_share:
            facts, asked, answer = _turned(rng, facts, asked, answer)
        if config.shuffle:
            facts = [facts[i] for i in rng.permutation(len(facts)).tolist()]
        return WordProblem(context, quantities, tuple(facts), asked, answer)

    def prompt(self, problem: WordProblem) -> str:
        asked = problem.quantities[problem.asked]
        return " ".join(
            [
                _CONTEXTS[problem.context].opening,
                *(_sentence(problem, fact) for fact in problem.facts),
                f"How many {asked.item} are there {asked.place}?",
            ]
        )

    def verify(self, problem: WordProblem, answer: str) -> Verdict:
        return judge_math(str(problem.answer), answer, answer_type="integer")

    def solve(self, problem: WordProblem) -> str:
        return str(problem.answer)

    def variant(self, problem: WordProblem, rng: Rng) -> Variant[WordProblem]:
        """Tell the facts in another order."""
        order = rng.permutation(len(problem.facts)).tolist()
        changed = replace(problem, facts=tuple(problem.facts[i] for i in order))
        return Variant(changed, lambda text: text, ("order",))

    def explain(self, problem: WordProblem) -> list[str]:
        """Return the solution, one line for each quantity that the answer needs.

        A line reads ``rulers in the Nova classroom: 3 + 4 = 7``, or just the number if it is given.
        A backward story is first followed with a letter for the number that is asked for.
        """
        facts, last = _forward(problem)
        lines = [] if last == problem.asked else self._equation(problem, facts, last)
        for subject, calculation, value in trace(facts, last):
            worked = "" if calculation == str(value) else f"{calculation} = "
            lines.append(f"{_name(problem.quantities[subject])}: {worked}{value}")
        return lines

    def _equation(self, problem: WordProblem, facts: Sequence[Fact], last: int) -> list[str]:
        """Return the last quantity as a sum with the unknown one, and the solution for it."""
        lines = [f"Let k be the number of {_name(problem.quantities[problem.asked])}."]
        forms = _linear(facts, last, problem.asked)
        for subject, (constant, slope) in forms.items():
            if slope and subject != problem.asked:
                shown = polynomial((constant, slope), "k")
                lines.append(f"The number of {_name(problem.quantities[subject])} is {shown}.")
        constant, slope = forms[last]
        total = constant + slope * problem.answer
        work = f"({total} - {operand(constant)}) / {operand(slope)} = {problem.answer}"
        return [*lines, f"The last one is {total}, so k is {work}."]

    def step_credit(self, problem: WordProblem, solution: str) -> float:
        """Return the share of the needed quantities that a solution computes correctly.

        Lines as `explain` writes them count, in any order; of several lines on one quantity, the
        last. This is a process score for training experiments, never part of a verdict.
        """
        stated = {
            match[1]: int(match[2])
            for line in solution.splitlines()
            if (match := _LINE.match(line))
        }
        steps = trace(*_forward(problem))
        right = sum(stated.get(_name(problem.quantities[s.subject])) == s.value for s in steps)
        return right / len(steps)

    def baseline(self, rng: Rng, problem: WordProblem) -> str:
        """Add up all numbers that are given, whatever they are for."""
        return str(sum(fact.amount for fact in problem.facts))


def _quantities(rng: Rng, context: str, count: int) -> tuple[Quantity, ...]:
    """Draw different pairs of item and place; places are numbered once their names run out."""
    setting = _CONTEXTS[context]
    n_items = len(setting.items)
    n_places = max(4, -(-3 * count // (2 * n_items)))
    order = rng.permutation(len(_PLACES)).tolist()
    places = []
    for k in range(n_places):
        name = _PLACES[order[k % len(order)]]
        lap = k // len(order)
        places.append(setting.place.format(name if lap == 0 else f"{name} {lap + 1}"))
    cells = rng.permutation(n_items * n_places)[:count].tolist()
    return tuple(Quantity(setting.items[c % n_items], places[c // n_items]) for c in cells)


def _sentence(problem: WordProblem, fact: Fact) -> str:
    names = [_name(problem.quantities[i]) for i in (fact.subject, *fact.sources)]
    words = dict(zip("XYZ", names, strict=False))
    part = _FRACTIONS.get(fact.amount, f"1/{fact.amount}")
    text = _SENTENCES[fact.relation][fact.wording]
    return text.format(n=fact.amount, d=fact.divisor, part=part, **words)


def _name(quantity: Quantity) -> str:
    return f"{quantity.item} {quantity.place}"


# Graphs of quantities, each given or derived from earlier ones: drawing, evaluating, tracing.
#
# The words around the quantities belong to the task; here a quantity is a number with an index.


UNARY = ("more", "fewer", "times", "share", "percent", "fraction")
BINARY = ("sum", "difference")
_PERCENTS = (10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 120, 125, 150)


def _turned(rng: Rng, facts: Sequence[Fact], last: int, value: int) -> tuple[list[Fact], int, int]:
    """Return the facts with the last quantity given instead of a first one, that one, its value.

    The last quantity depends on it, so that an equation with one solution gives it. Where it
    depends on none, as in a difference of equals, the story stays as it is.
    """
    givens = [fact for fact in needed(facts, last) if fact.relation == "given"]
    usable = [fact for fact in givens if _linear(facts, last, fact.subject)[last][1]]
    if not usable:
        return list(facts), last, value
    chosen = pick(rng, usable)
    kept = [fact for fact in facts if fact.subject != chosen.subject]
    kept.append(Fact(last, "given", (), value, 1, integer(rng, 0, 1)))
    return kept, chosen.subject, chosen.amount


def _forward(problem: WordProblem) -> tuple[Sequence[Fact], int]:
    """Return the facts with the answer as a given number, and the quantity that comes last."""
    facts, asked = problem.facts, problem.asked
    if any(fact.subject == asked for fact in facts):
        return facts, asked
    subjects = [fact.subject for fact in facts]
    last = next(subject for subject in subjects if subjects.count(subject) > 1)
    kept = [fact for fact in facts if (fact.subject, fact.relation) != (last, "given")]
    return [*kept, Fact(asked, "given", (), problem.answer)], last


def _linear(
    facts: Sequence[Fact], target: int, unknown: int
) -> dict[int, tuple[Fraction, Fraction]]:
    """Return the constant and the slope, in the unknown quantity, of all that a target needs."""
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for fact in needed(facts, target):
        forms = [found[source] for source in fact.sources]
        constant, slope = Fraction(fact.amount), Fraction(0)
        if fact.subject == unknown:
            constant, slope = Fraction(0), Fraction(1)
        elif fact.relation in BINARY:
            sign = 1 if fact.relation == "sum" else -1
            constant, slope = (a + sign * b for a, b in zip(*forms, strict=True))
        elif fact.relation in ("more", "fewer"):
            constant = forms[0][0] + (fact.amount if fact.relation == "more" else -fact.amount)
            slope = forms[0][1]
        elif fact.relation != "given":
            constant, slope = (part * _scale(fact) for part in forms[0])
        found[fact.subject] = constant, slope
    return found


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
        # Numbers in the text are 2 or more, so every noun is in the plural.
        room = limits.max_value - value
        if value > 2 and (relation == "fewer" or room < 2):
            return self.add("fewer", (source,), integer(rng, 2, min(value - 1, limits.max_addend)))
        return self.add("more", (source,), integer(rng, 2, max(2, min(room, limits.max_addend))))
