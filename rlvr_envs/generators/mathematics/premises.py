"""Short stories made of premises, each with a question that they answer and one that they do not.

A premise is data; `FORMS` has the sentence for each form. A story is drawn without regard to which
of its two questions will be asked, so nothing that can be counted in it tells them apart. The
numbers come from a known solution.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, nonzero, pick
from rlvr_envs.generators.mathematics.latex import linear
from rlvr_envs.generators.mathematics.words import listed


@dataclass(frozen=True, slots=True)
class Premise:
    """One fact: its form, the people or things it is about, and its numbers."""

    form: str
    names: tuple[str, ...]
    numbers: tuple[int, ...]

    def text(self) -> str:
        """Return the premise as a sentence."""
        if self.form == "equation":
            *coefficients, constant = self.numbers
            return f"${linear(coefficients, self.names)} = {constant}$."
        numbers = {f"n{i}": value for i, value in enumerate(self.numbers)}
        return FORMS[self.form].format(*self.names, **numbers)


class Story(NamedTuple):
    """Premises with two questions about them."""

    premises: list[Premise]  # all of them are true of the solution
    asked: tuple[str, ...]  # the names in the question that the premises answer
    answer: Fraction  # the number that answers it
    open: tuple[str, ...]  # the names in the question that several numbers could answer


FORMS = {
    "has": "{0} has {n0} stamps.",
    "together": "{0} and {1} have {n0} stamps together.",
    "more": "{0} has {n0} more stamps than {1}.",
    "times": "{0} has {n0} times as many stamps as {1}.",
    "older": "{0} is {n0} years older than {1}.",
    "sum_later": "In {n0} years, the ages of {0} and {1} will add up to {n1}.",
    "speed": "On day {0}, the bus travels at {n0} km/h.",
    "faster": "On day {0}, the bus travels {n0} km/h faster than on day {1}.",
    "hours": "On day {0}, the bus travels for {n0} hours.",
    "riders": "On day {0}, the bus carries {n0} people.",
    "perimeter": "The perimeter of plot {0} is {n0} metres.",
    "wider": "The perimeter of plot {0} is {n0} metres more than that of plot {1}.",
    "longer": "Plot {0} is {n0} metres longer than it is wide.",
    "trees": "There are {n0} trees on plot {0}.",
    "volume": "Jar {0} contains {n0} ml of syrup.",
    "fuller": "Jar {0} contains {n0} ml more syrup than jar {1}.",
    "strength": "The syrup in jar {0} is {n0}% sugar by volume.",
    "price": "The syrup in jar {0} costs {n0} cents.",
}
QUESTIONS = {
    "stamps": "How many stamps does {0} have?",
    "ages": "How old is {0} now, in years?",
    "journey": "How many kilometres does the bus travel in total on {0}?",
    "plots": "Every plot is a rectangle. What is the total area of {0}, in square metres?",
    "mixture": (
        "You pour all the syrup from {0} into one bowl. "
        "What percentage of the mixture is sugar by volume?"
    ),
    "equations": "What is the value of ${0}$?",
}
KINDS = tuple(QUESTIONS)

_FIRST = (
    *("Ana", "Ben", "Chloe", "Dario", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira"),
    *("Leo", "Mina", "Nils", "Olga", "Pablo", "Rosa", "Sami", "Tessa", "Uwe", "Vera", "Yusuf"),
    *("Aldo", "Bianca", "Cem", "Dana", "Emil", "Fiona", "Goran", "Hedda", "Ivo", "Jana", "Kofi"),
    *("Lena", "Marek", "Nora", "Otto", "Paula", "Quinn", "Rui", "Selma", "Timo", "Ulla", "Zoe"),
)
_LAST = ("Adler", "Brook", "Castro", "Dumont", "Ekman", "Fuchs", "Grau", "Holm", "Ivers", "Jung")
_PEOPLE = (*_FIRST, *(f"{first} {last}" for last in _LAST for first in _FIRST))


def tell(rng: Rng, kind: str, n_steps: int, n_extra: int, top: int) -> Story:
    """Draw a story of a kind, with up to ``n_extra`` premises that neither question needs.

    Args:
        rng: the source of randomness.
        kind: one of `KINDS`.
        n_steps: how many people, things or unknowns the answer involves.
        n_extra: how many extra premises there may be.
        top: about how large the numbers are.
    """
    if kind in ("stamps", "ages"):
        return _people(rng, kind, n_steps, n_extra, top)
    if kind == "equations":
        return _equations(rng, n_steps, n_extra, top)
    return _things(rng, THINGS[kind], n_steps, n_extra, top)


class _Chain(NamedTuple):
    """People of whom each is compared with the one before, and the numbers at both ends."""

    people: Sequence[str]
    premises: list[Premise]
    low: int
    high: int


def _people(rng: Rng, kind: str, n_steps: int, n_extra: int, top: int) -> Story:
    """Return two chains of comparisons of the same length, one of which leads to a number.

    The sum of the two ends of a chain fixes it; that of ends of two other chains fixes neither.
    """
    ages = kind == "ages"
    summed = ages or (n_steps > 3 and rng.random() < 0.5)
    sizes = [n_steps + 1, n_steps + 1, 1 + n_steps // 2][: 2 + summed]
    pool = len(_FIRST) if sum(sizes) + n_extra <= len(_FIRST) else len(_PEOPLE)
    names = iter([_PEOPLE[i] for i in rng.permutation(pool).tolist()])
    chains = [_chain(rng, ages, [next(names) for _ in range(size)], top) for size in sizes]
    premises = [premise for chain in chains for premise in chain.premises]
    one, two, *three = chains
    if summed:
        premises += [_sum(rng, ages, one, one), _sum(rng, ages, three[0], two)]
    else:
        premises.append(Premise("has", (one.people[0],), (one.low,)))
    known = [name for chain in chains for name in chain.people]
    for _ in range(integer(rng, 0, n_extra)):
        pair = (next(names), pick(rng, known))
        premises.append(Premise("older" if ages else "more", pair, (integer(rng, 2, top),)))
        known.append(pair[0])
    return Story(premises, (one.people[-1],), Fraction(one.high), (two.people[-1],))


def _chain(rng: Rng, ages: bool, people: Sequence[str], top: int) -> _Chain:
    low = high = integer(rng, 5, 5 + top) if ages else integer(rng, 2, top)
    premises = []
    for pair in zip(people[1:], people, strict=False):
        # Doubling everywhere would let the numbers explode along a chain.
        if not ages and rng.random() < 0.3 and high < 20 * top:
            factor = integer(rng, 2, 4)
            premises.append(Premise("times", pair, (factor,)))
            high *= factor
        else:
            extra = integer(rng, 2, 9 if ages else top)
            premises.append(Premise("older" if ages else "more", pair, (extra,)))
            high += extra
    return _Chain(people, premises, low, high)


def _sum(rng: Rng, ages: bool, low: _Chain, high: _Chain) -> Premise:
    """Return the sum of the first of one chain and the last of another, or of the same."""
    pair, total = (low.people[0], high.people[-1]), low.low + high.high
    if not ages:
        return Premise("together", pair, (total,))
    years = integer(rng, 2, 9)
    return Premise("sum_later", pair, (years, total + 2 * years))


@dataclass(frozen=True, slots=True)
class Things:
    """Numbered things with two numbers each, which together give the answer.

    Attributes:
        noun: what a thing is called.
        forms: of the premises that state the first number, compare it with another thing's,
            state the second number, and state something else.
        draw: draws the two numbers; the first is given where it comes from a comparison.
        answer: of the pairs of numbers of the things asked for.
        more: how many more things than steps are asked for.
    """

    noun: str
    forms: tuple[str, str, str, str]
    draw: Callable[[Rng, int, int | None], tuple[int, int]]
    answer: Callable[[Sequence[tuple[int, int]]], Fraction]
    more: int = 0


def _day(rng: Rng, top: int, speed: int | None) -> tuple[int, int]:
    return integer(rng, 11, 20 + 5 * top) if speed is None else speed, integer(rng, 2, 9)


def _plot(rng: Rng, top: int, perimeter: int | None) -> tuple[int, int]:
    if perimeter is None:
        width, extra = integer(rng, 2, 2 + top), integer(rng, 2, 9)
        return 4 * width + 2 * extra, extra
    return perimeter, integer(rng, 2, min(9, perimeter // 2 - 2))


def _jar(rng: Rng, top: int, volume: int | None) -> tuple[int, int]:
    return 10 * integer(rng, 2, 2 + top) if volume is None else volume, 5 * integer(rng, 1, 18)


def area(perimeter: int, extra: int) -> Fraction:
    """Return the area of a rectangle from its perimeter, and its length minus its width."""
    width = Fraction(perimeter - 2 * extra, 4)
    return width * (width + extra)


def _strength(jars: Sequence[tuple[int, int]]) -> Fraction:
    return Fraction(sum(v * s for v, s in jars), sum(v for v, _ in jars))


THINGS = {
    "journey": Things(
        "day",
        ("speed", "faster", "hours", "riders"),
        _day,
        lambda days: Fraction(sum(speed * hours for speed, hours in days)),
    ),
    "plots": Things(
        "plot",
        ("perimeter", "wider", "longer", "trees"),
        _plot,
        lambda plots: sum((area(*plot) for plot in plots), Fraction(0)),
    ),
    "mixture": Things("jar", ("volume", "fuller", "strength", "price"), _jar, _strength, more=1),
}


class _World(NamedTuple):
    """The numbers of all things, what each is compared with, and the number that is not given.

    ``parents`` has the things whose first number is known from another thing's; what lacks is the
    first (0) or second (1) number of a thing.
    """

    values: dict[int, tuple[int, int]]
    parents: dict[int, int]
    lacking: tuple[int, int]

    def depends(self, thing: int) -> bool:
        """Whether a thing lacks a number, or is compared with one that does."""
        at, place = self.lacking
        while place == 0 and thing in self.parents:
            thing = self.parents[thing]
        return thing == at

    def otherwise(self) -> dict[int, tuple[int, int]]:
        """Return other numbers that all premises allow as well."""
        more = (4, 0) if self.lacking[1] == 0 else (0, 1)
        return {
            k: (a + more[0], b + more[1]) if self.depends(k) else (a, b)
            for k, (a, b) in self.values.items()
        }


def _things(rng: Rng, things: Things, n_steps: int, n_extra: int, top: int) -> Story:
    """Return things of which some lack a number, or are compared with one that lacks it."""
    count = n_steps + things.more
    while True:
        world = _world(rng, things, count, n_steps // 3, integer(rng, 0, n_extra) // 2, top)
        good = [k for k in world.values if not world.depends(k)]
        if len(good) < count:
            continue
        good = [good[i] for i in rng.permutation(len(good)).tolist()][:count]
        poor = [*good[1:], pick(rng, [k for k in world.values if world.depends(k)])]
        answers = [_answer(things, values, poor) for values in (world.values, world.otherwise())]
        # A jar as strong as the mixture of the others may have any volume.
        if answers[0] != answers[1]:
            break
    premises = _premises(things, world)
    for _ in range(integer(rng, 0, n_extra)):
        name = str(pick(rng, list(world.values)))
        premises.append(Premise(things.forms[3], (name,), (integer(rng, 2, 10 * top),)))
    answer = _answer(things, world.values, good)
    return Story(premises, _named(things.noun, good), answer, _named(things.noun, poor))


def _world(rng: Rng, things: Things, count: int, n_links: int, spare: int, top: int) -> _World:
    order = [k + 1 for k in rng.permutation(count + 1 + spare).tolist()]
    linked = rng.permutation(len(order) - 1).tolist()[:n_links]
    parents = {order[i + 1]: order[integer(rng, 0, i)] for i in linked}
    values: dict[int, tuple[int, int]] = {}
    for k in order:
        compared = k in parents
        first = values[parents[k]][0] + 10 * integer(rng, 1, 2 + top // 5) if compared else None
        values[k] = things.draw(rng, top, first)
    place = integer(rng, 0, 1)
    return _World(values, parents, (pick(rng, [k for k in order if k not in parents]), place))


def _answer(
    things: Things, values: Mapping[int, tuple[int, int]], asked: Sequence[int]
) -> Fraction:
    return things.answer([values[k] for k in asked])


def _premises(things: Things, world: _World) -> list[Premise]:
    """Return the premises on all things but for the number that lacks."""
    stated, compared, second, _ = things.forms
    found = []
    for k, (a, b) in world.values.items():
        parent = world.parents.get(k)
        if parent is not None:
            found.append(Premise(compared, (str(k), str(parent)), (a - world.values[parent][0],)))
        elif world.lacking != (k, 0):
            found.append(Premise(stated, (str(k),), (a,)))
        if world.lacking != (k, 1):
            found.append(Premise(second, (str(k),), (b,)))
    return found


def _named(noun: str, things: Sequence[int]) -> tuple[str, ...]:
    plural = "s" if len(things) > 1 else ""
    return (f"{noun}{plural} {listed([str(k) for k in sorted(things)])}",)


def _equations(rng: Rng, n_steps: int, n_extra: int, top: int) -> Story:
    """Return equations that leave a line of solutions, along which some unknowns stay the same.

    The rows are orthogonal to the direction of that line, and mixed.
    """
    n = 3 + n_steps // 2
    moving = integer(rng, 2, max(2, n // 2))
    line = [nonzero(rng, 2) for _ in range(moving)]
    rows = [[int(i == j) for j in range(n)] for i in range(moving, n)]
    for i in range(moving - 1):
        rows.append([0] * n)
        rows[-1][i], rows[-1][i + 1] = line[i + 1], -line[i]
    _mix(rng, rows, 4 + n_steps)
    solution = [integer(rng, 1, top) for _ in range(n)]
    order = rng.permutation(n).tolist()
    letters = ("x", "y", "z", "w")[:n] if n <= 4 else tuple(f"x_{{{i + 1}}}" for i in range(n))
    premises = []
    for row in rows:
        total = sum(c * x for c, x in zip(row, solution, strict=True))
        premises.append(Premise("equation", letters, (*(row[i] for i in order), total)))
    for _ in range(integer(rng, 0, n_extra) // 2):
        one, other = (premises[i].numbers for i in rng.permutation(len(rows)).tolist()[:2])
        sums = tuple(a + b for a, b in zip(one, other, strict=True))
        if any(sums) and sums not in [premise.numbers for premise in premises]:
            premises.append(Premise("equation", letters, sums))
    fixed, free = integer(rng, moving, n - 1), integer(rng, 0, moving - 1)
    names = [letters[order.index(k)] for k in (fixed, free)]
    return Story(premises, (names[0],), Fraction(solution[fixed]), (names[1],))


def _mix(rng: Rng, rows: list[list[int]], limit: int) -> None:
    """Add rows to one another, as long as the coefficients stay within a limit."""
    for _ in range(4 * len(rows)):
        i, j = rng.permutation(len(rows)).tolist()[:2]
        sign = nonzero(rng, 1)
        mixed = [a + sign * b for a, b in zip(rows[i], rows[j], strict=True)]
        if max(map(abs, mixed)) <= limit:
            rows[i] = mixed
