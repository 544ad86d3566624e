"""Word problems on ratios, proportions, mixtures, scales and rates of work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.steps import operand, total, worked
from rlvr_envs.generators.mathematics.words import counted, listed
from rlvr_envs.verifiers.symbolic import judge_math

# Kinds of questions on ratios and proportions: their numbers, text and solution.


@dataclass(frozen=True, slots=True)
class Proportion:
    """A kind of question: its numbers from (rng, terms, size), its text, answer and steps."""

    draw: Callable[[Rng, int, int], tuple[int, ...]]
    text: Callable[[Sequence[int]], str]
    value: Callable[[Sequence[int]], Fraction]
    explain: Callable[[Sequence[int]], list[str]]


def _draw_share(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    return integer(rng, top, 10 * top), integer(rng, 1, n_terms), *integers(rng, 1, top, n_terms)


def _tell_share(numbers: Sequence[int]) -> str:
    total, asked, *parts = numbers
    tanks = "tanks 1 and 2" if len(parts) == 2 else f"tanks 1 to {len(parts)}"
    return (
        f"A total of {total} litres of water is divided among {tanks} in the ratio "
        f"{' : '.join(map(str, parts))}, in this order. How many litres does tank {asked} get?"
    )


def _solve_share(numbers: Sequence[int]) -> Fraction:
    total, asked, *parts = numbers
    return Fraction(total * parts[asked - 1], sum(parts))


def _draw_chain(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    return integer(rng, 2, 5 * top), *_different_pairs(rng, n_terms - 1, top)


def _tell_chain(numbers: Sequence[int]) -> str:
    amount, *links = numbers
    ratios = " ".join(
        f"The ratio of powder {i} to powder {i + 1} is {a} : {b} by weight."
        for i, (a, b) in enumerate(_pairs(links), start=1)
    )
    last = len(links) // 2 + 1
    powders = "powders 1 and 2" if last == 2 else f"powders 1 to {last}"
    return (
        f"A recipe mixes {powders}. {ratios} The mixture contains {amount} grams of powder 1. "
        f"How many grams of powder {last} does it contain?"
    )


def _solve_chain(numbers: Sequence[int]) -> Fraction:
    amount, *links = numbers
    result = Fraction(amount)
    for a, b in _pairs(links):
        result *= Fraction(b, a)
    return result


def _draw_crew(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    asked = integer(rng, 0, 3)
    work = (integer(rng, 2, top), integer(rng, 2, top), integer(rng, 2, 12))
    other = (integer(rng, 2, top), integer(rng, 2, top), integer(rng, 2, 12))
    walls = integers(rng, 2, top * n_terms, 2)
    return asked, *work, walls[0], *other, walls[1]


_CREW_QUESTIONS = (
    "How many workers does it take to build {4} walls in {2} days, working {3} hours a day?",
    "How many days do {1} workers take to build {4} walls, working {3} hours a day?",
    "How many hours a day do {1} workers have to work to build {4} walls in {2} days?",
    "How many walls do {1} workers build in {2} days, working {3} hours a day?",
)


def _tell_crew(numbers: Sequence[int]) -> str:
    asked, workers, days, hours, walls, *other = numbers
    return (
        f"All workers work at the same constant rate. Working {hours} hours a day, {workers} "
        f"workers build {walls} walls in {days} days. {_CREW_QUESTIONS[asked].format(None, *other)}"
    )


def _solve_crew(numbers: Sequence[int]) -> Fraction:
    asked, workers, days, hours, walls, *other = numbers
    rate = Fraction(walls, workers * days * hours)
    if asked == 3:
        return rate * other[0] * other[1] * other[2]
    known = [value for i, value in enumerate(other[:3]) if i != asked]
    return other[3] / (rate * known[0] * known[1])


def _draw_pipes(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    """Draw the pipes' hours, negative for a drain; all together they fill the tank."""
    pipes = list(integers(rng, 2, 2 + top, n_terms))
    for i in range(1, n_terms):
        # A drain empties more slowly than the pipe before it fills.
        if pipes[i - 1] > 0 and rng.random() < 0.4:
            pipes[i] = -(pipes[i - 1] + integer(rng, 1, top))
    return tuple(pipes[i] for i in rng.permutation(n_terms).tolist())


def _tell_pipes(numbers: Sequence[int]) -> str:
    pipes = " ".join(
        f"Pipe {i} alone {'fills the empty' if hours > 0 else 'drains the full'} tank in "
        f"{abs(hours)} hours."
        for i, hours in enumerate(numbers, start=1)
    )
    together = "both pipes" if len(numbers) == 2 else f"all {len(numbers)} pipes"
    return f"{pipes} If {together} are open, how many hours does it take to fill the empty tank?"


def _solve_pipes(numbers: Sequence[int]) -> Fraction:
    return 1 / sum((Fraction(1, hours) for hours in numbers), Fraction(0))


def _draw_map(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    scale = integer(rng, 2, 5 * top) * 1000
    return scale, integer(rng, 2, top), *_different_pairs(rng, n_terms - 2, top)


def _tell_map(numbers: Sequence[int]) -> str:
    scale, length, *copies = numbers
    sheet, steps = "the map", ""
    for i, (a, b) in enumerate(_pairs(copies), start=1):
        steps += f" On copy {i}, every length is {a}/{b} of the corresponding length on {sheet}."
        sheet = f"copy {i}"
    return (
        f"A map has the scale 1 : {scale}.{steps} How many kilometres on the ground do {length} "
        f"centimetres on {sheet} represent?"
    )


def _solve_map(numbers: Sequence[int]) -> Fraction:
    scale, length, *copies = numbers
    result = Fraction(length * scale, 100_000)
    for a, b in _pairs(copies):
        result *= Fraction(b, a)
    return result


def _draw_dilution(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    volume = integer(rng, 4, 4 + 2 * top)
    removed = integers(rng, 1, volume - 1, n_terms - 1)
    return volume, 5 * integer(rng, 2, 19), *removed


def _tell_dilution(numbers: Sequence[int]) -> str:
    volume, percent, *removed = numbers
    if len(removed) == 1:
        steps = (
            f"You replace {counted(removed[0], 'litre')} of the liquid with the same amount of "
            "water and mix."
        )
    else:
        steps = (
            "You replace some of the liquid with the same amount of water and mix. You do this "
            f"{len(removed)} times, and the amounts are {listed(list(map(str, removed)))} litres, "
            "in this order."
        )
    return (
        f"A tank contains {volume} litres of a solution that is {percent}% acid by volume. {steps} "
        "What percentage of the solution is acid by volume now?"
    )


def _solve_dilution(numbers: Sequence[int]) -> Fraction:
    volume, percent, *removed = numbers
    result = Fraction(percent)
    for litres in removed:
        result *= Fraction(volume - litres, volume)
    return result


def _draw_alloy(rng: Rng, n_terms: int, top: int) -> tuple[int, ...]:
    return integers(rng, 1, top, 3 * n_terms)


def _tell_alloy(numbers: Sequence[int]) -> str:
    bars = " ".join(
        f"Bar {i + 1} weighs {numbers[3 * i]} kg and consists of copper and tin in the ratio "
        f"{numbers[3 * i + 1]} : {numbers[3 * i + 2]} by weight."
        for i in range(len(numbers) // 3)
    )
    together = "Both" if len(numbers) == 6 else "All"
    return (
        f"{bars} {together} bars are melted together. How many kilograms of copper does the result "
        "contain?"
    )


def _solve_alloy(numbers: Sequence[int]) -> Fraction:
    total = Fraction(0)
    for i in range(0, len(numbers), 3):
        weight, copper, tin = numbers[i : i + 3]
        total += Fraction(weight * copper, copper + tin)
    return total


def _explain_share(numbers: Sequence[int]) -> list[str]:
    total, asked, *parts = numbers
    one = Fraction(total, sum(parts))
    return [
        f"The parts add up to {' + '.join(map(str, parts))} = {sum(parts)}.",
        f"One part is {total} / {sum(parts)} = {one} litres.",
        f"Tank {asked} gets {parts[asked - 1]} parts.",
        f"{parts[asked - 1]} * {operand(one)} = {parts[asked - 1] * one}",
    ]


def _explain_chain(numbers: Sequence[int]) -> list[str]:
    amount, *links = numbers
    value = Fraction(amount)
    steps = ["From each powder to the next, multiply by the second number and divide by the first."]
    for i, (a, b) in enumerate(_pairs(links), start=2):
        work = f"{operand(value)} * {b} / {a}"
        value *= Fraction(b, a)
        steps.append(f"Powder {i}: {work} = {value} grams")
    return steps


def _explain_crew(numbers: Sequence[int]) -> list[str]:
    asked, workers, days, hours, walls, *other = numbers
    rate = Fraction(walls, workers * days * hours)
    steps = [
        f"The first crew works {workers} * {days} * {hours} = {workers * days * hours} hours.",
        f"In one hour, one worker builds {walls} / {workers * days * hours} = {rate} walls.",
    ]
    if asked == 3:
        product = other[0] * other[1] * other[2]
        return [
            *steps,
            f"The second crew works {other[0]} * {other[1]} * {other[2]} = {product} hours.",
            f"{product} * {operand(rate)} = {product * rate}",
        ]
    needed = other[3] / rate
    known = [value for i, value in enumerate(other[:3]) if i != asked]
    return [
        *steps,
        f"The second crew needs {other[3]} / {operand(rate)} = {needed} hours of work in all.",
        "Divide by the two numbers that are known.",
        f"{operand(needed)} / ({known[0]} * {known[1]}) = {needed / known[0] / known[1]}",
    ]


def _explain_pipes(numbers: Sequence[int]) -> list[str]:
    rate = sum((Fraction(1, hours) for hours in numbers), Fraction(0))
    ordered = sorted(numbers, reverse=True)  # the first is no drain, as the tank fills
    work = "".join(f" {'+' if hours > 0 else '-'} 1/{abs(hours)}" for hours in ordered)
    return [
        "A pipe that takes h hours fills or drains 1/h of the tank in an hour.",
        f"All together fill {work[3:]} = {rate} of the tank in an hour.",
        f"The whole tank takes 1 / {operand(rate)} = {1 / rate} hours.",
    ]


def _explain_map(numbers: Sequence[int]) -> list[str]:
    scale, length, *copies = numbers
    value = Fraction(length)
    steps = []
    for i, (a, b) in reversed(list(enumerate(_pairs(copies), start=1))):
        sheet = f"copy {i - 1}" if i > 1 else "the map"
        steps.append(f"{value} cm on copy {i} are {operand(value)} / ({a}/{b}) = ")
        value *= Fraction(b, a)
        steps[-1] += f"{value} cm on {sheet}."
    return [
        *steps,
        f"In the landscape these are {operand(value)} * {scale} = {value * scale} cm.",
        f"A kilometre has 100000 cm: {operand(value * scale)} / 100000 = {value * scale / 100_000}",
    ]


def _explain_dilution(numbers: Sequence[int]) -> list[str]:
    volume, percent, *removed = numbers
    value = Fraction(percent)
    steps = ["Each time, the acid left is the share of the old solution that stays."]
    for litres in removed:
        steps.append(f"{volume} - {litres} = {volume - litres} litres of {volume} stay: ")
        steps[-1] += f"{operand(value)} * {volume - litres} / {volume} = "
        value *= Fraction(volume - litres, volume)
        steps[-1] += str(value)
    return steps


def _explain_alloy(numbers: Sequence[int]) -> list[str]:
    parts: list[Fraction] = []
    steps = []
    for i in range(0, len(numbers), 3):
        weight, copper, tin = numbers[i : i + 3]
        parts.append(Fraction(weight * copper, copper + tin))
        steps.append(
            f"Bar {i // 3 + 1}: {copper} of {copper + tin} parts are copper: "
            f"{weight} * {copper} / {copper + tin} = {parts[-1]} kg"
        )
    return [*steps, f"{worked(total(parts), sum(parts))}"]


PROPORTIONS = {
    "share": Proportion(_draw_share, _tell_share, _solve_share, _explain_share),
    "chain": Proportion(_draw_chain, _tell_chain, _solve_chain, _explain_chain),
    "crew": Proportion(_draw_crew, _tell_crew, _solve_crew, _explain_crew),
    "pipes": Proportion(_draw_pipes, _tell_pipes, _solve_pipes, _explain_pipes),
    "map": Proportion(_draw_map, _tell_map, _solve_map, _explain_map),
    "dilution": Proportion(_draw_dilution, _tell_dilution, _solve_dilution, _explain_dilution),
    "alloy": Proportion(_draw_alloy, _tell_alloy, _solve_alloy, _explain_alloy),
}


def _pairs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _different_pairs(rng: Rng, count: int, top: int) -> list[int]:
    """Return the numbers of so many pairs of different coprime numbers, one after another."""
    numbers: list[int] = []
    for _ in range(count):
        a = integer(rng, 1, top)
        b = integer(rng, 1, top - 1)
        ratio = Fraction(a, b + (b >= a))
        numbers += [ratio.numerator, ratio.denominator]
    return numbers


KINDS = tuple(PROPORTIONS)
_LABELS = {("crew", 0), ("share", 1)}  # numbers that say what is asked, and are no quantities
UNKNOWN = 10**9 + 7  # no number that is drawn is so large; the text shows it as x


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioProportionConfig(TaskConfig):
    """The kinds of questions, how many terms or steps they have, and the size of the numbers."""

    kinds: tuple[str, ...] = knob(KINDS, "one is drawn for each problem", choices=KINDS)
    n_terms: int = knob(
        3, "parts of a ratio, links of a chain, pipes, copies, dilutions or alloys", low=2, high=200
    )
    max_number: int = knob(20, "rough size of the numbers", low=4)
    unknown_share: float = knob(
        0.0,
        "share of questions that give the result and ask for a number of the story",
        low=0,
        high=1,
    )

    @classmethod
    def at(cls, difficulty: int) -> "RatioProportionConfig":
        """Each level up to 4 adds a term, then every second one, up to 200; the numbers grow.

        From level 4 on, part of the questions give the result and ask for a number of the story.
        """
        return cls(
            n_terms=min(200, 2 + min(difficulty, 4) + max(0, difficulty - 4) // 2),
            max_number=6 + 6 * difficulty,
            unknown_share=min(max(0, difficulty - 3) / 6, 1.0),
        )


@dataclass(frozen=True, slots=True)
class RatioProportionProblem:
    """The kind of question and its numbers, in the order of ``numbers`` in its text function.

    If the result is given, one of the numbers is `UNKNOWN`, and the answer is that number.
    """

    kind: str
    numbers: tuple[int, ...]
    answer: Fraction = hidden()
    result: Fraction | None = None


@register("RatioProportion-v0", domain="math")
class RatioProportionTask(WorkedTask[RatioProportionConfig, RatioProportionProblem]):
    """Solve a word problem on ratios and proportions.

    Description:
        Seven kinds: sharing in a ratio of several parts; a chain of ratios; compound proportion
        of workers, days and hours; pipes that fill and drain; distances on a map copied several
        times; repeated dilution; alloys melted together. At higher levels the result is often
        given, and one number of the story is asked for.

    Observation:
        The question in words.

    Action:
        One exact number, an integer or a fraction.

    Reward:
        1 for the right number, otherwise 0.

    Verification:
        Exact rational arithmetic; the number may be written in any form.

    Difficulty:
        The parts, links, pipes, copies, dilutions or alloys and the numbers grow; for workers,
        where the quantities are fixed, only the numbers. Questions that have to be solved for a
        number of the story come in.

    References:
        Euclid, Elements, books V and VII.
    """

    def generate(self, rng: Rng) -> RatioProportionProblem:
        kind = pick(rng, self.config.kinds)
        numbers = PROPORTIONS[kind].draw(rng, self.config.n_terms, self.config.max_number)
        value = PROPORTIONS[kind].value(numbers)
        if rng.random() < self.config.unknown_share:
            places = [i for i in range(len(numbers)) if _form(kind, numbers, i) is not None]
            if places:
                place = pick(rng, places)
                shown = (*numbers[:place], UNKNOWN, *numbers[place + 1 :])
                return RatioProportionProblem(kind, shown, Fraction(numbers[place]), value)
        return RatioProportionProblem(kind, numbers, value)

    def prompt(self, problem: RatioProportionProblem) -> str:
        text = PROPORTIONS[problem.kind].text(problem.numbers).replace(str(UNKNOWN), "$x$")
        if problem.result is None:
            return f"{text} Answer with the exact number, as an integer or a fraction."
        return (
            f"One number in this question is unknown and called $x$. {text} The answer is "
            f"{problem.result}. Find $x$."
        )

    def verify(self, problem: RatioProportionProblem, answer: str) -> Verdict:
        return judge_math(number(problem.answer), answer, answer_type="rational", exact=True)

    def solve(self, problem: RatioProportionProblem) -> str:
        return number(problem.answer)

    def explain(self, problem: RatioProportionProblem) -> list[str]:
        if problem.result is not None:
            return _false_position(problem)
        return PROPORTIONS[problem.kind].explain(problem.numbers)

    def baseline(self, rng: Rng, problem: RatioProportionProblem) -> str:
        """Multiply the first known number by the last, and divide by the one between, or by 2."""
        first, *between, last = (n for n in problem.numbers if n != UNKNOWN)
        return number(Fraction(first * last, between[-1] if between else 2))


def _values(kind: str, numbers: Sequence[int], place: int) -> list[Fraction] | None:
    """Return the results with 1, 2, 3 and 4 in place of a number, None where there are none."""
    try:
        return [
            PROPORTIONS[kind].value((*numbers[:place], x, *numbers[place + 1 :]))
            for x in (1, 2, 3, 4)
        ]
    except (ZeroDivisionError, IndexError):
        return None


def _form(kind: str, numbers: Sequence[int], place: int) -> tuple[bool, bool] | None:
    """Return whether the result and a number have to be inverted to grow evenly with each other.

    None if the result does not depend on the number, or in another way; it then has no one
    solution, or none that this method finds.
    """
    values = _values(kind, numbers, place)
    if numbers[place] < 2 or values is None or 0 in values or (kind, place) in _LABELS:
        return None
    for result, unknown in product((False, True), repeat=2):
        xs = [Fraction(1, x) if unknown else Fraction(x) for x in (1, 2, 3, 4)]
        ys = [1 / value if result else value for value in values]
        slopes = {(b - a) / (y - x) for (a, x), (b, y) in pairwise(zip(ys, xs, strict=True))}
        if len(slopes) == 1 and slopes != {0}:
            return result, unknown
    return None


def _false_position(problem: RatioProportionProblem) -> list[str]:
    """Return the unknown number from the results with 1 and 2 in its place."""
    place = problem.numbers.index(UNKNOWN)
    numbers = (*problem.numbers[:place], problem.answer.numerator, *problem.numbers[place + 1 :])
    values, form = _values(problem.kind, numbers, place), _form(problem.kind, numbers, place)
    if values is None or form is None or problem.result is None:
        return []
    steps = [f"With x = 1 the answer would be {values[0]}, with x = 2 it would be {values[1]}."]
    low, high, wanted = (1 / v if form[0] else v for v in (*values[:2], problem.result))
    if form[0]:
        steps.append(f"Take 1 over each: {low}, {high}, and {wanted} for the given answer.")
    step = Fraction(-1, 2) if form[1] else Fraction(1)
    name, way = ("1 / x", "1 to 1/2") if form[1] else ("x", "1 to 2")
    slope = (high - low) / step
    found = 1 + (wanted - low) / slope
    steps += [
        f"This grows evenly with {name}.",
        f"From {way} it grows by {high} - {operand(low)} = {high - low}.",
        f"For each 1 that is {operand(high - low)} / {operand(step)} = {slope}.",
        f"{name} is 1 + ({wanted} - {operand(low)}) / {operand(slope)} = {found}",
    ]
    return [*steps, f"x = 1 / {operand(found)} = {1 / found}"] if form[1] else steps
