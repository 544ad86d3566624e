"""Short stories made of premises. The answer needs every premise that is not a distractor.

A premise is data; `FORMS` has the sentence for each form. The stories draw their numbers from a
known solution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.mathematics.latex import linear


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
    """A well-posed question.

    Attributes:
        premises: all of them are true of the solution.
        asked: the names in the question.
        answer: the number that the premises determine.
        droppable: indices of premises; without any one of them the answer is undetermined.
    """

    premises: list[Premise]
    asked: tuple[str, ...]
    answer: Fraction
    droppable: list[int]


FORMS = {
    "has": "{0} has {n0} stamps.",
    "more": "{0} has {n0} more stamps than {1}.",
    "times": "{0} has {n0} times as many stamps as {1}.",
    "older": "{0} is {n0} years older than {1}.",
    "sum_later": "In {n0} years, the ages of {0} and {1} will add up to {n1}.",
    "speed": "On day {0}, the bus travels at {n0} km/h.",
    "hours": "On day {0}, the bus travels for {n0} hours.",
    "riders": "On day {0}, the bus carries {n0} people.",
    "perimeter": "The perimeter of plot {0} is {n0} metres.",
    "longer": "Plot {0} is {n0} metres longer than it is wide.",
    "trees": "There are {n0} trees on plot {0}.",
    "volume": "Jar {0} contains {n0} ml of syrup.",
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
)
_LAST = ("Adler", "Brook", "Castro", "Dumont", "Ekman", "Fuchs", "Grau", "Holm", "Ivers", "Jung")


def tell(rng: Rng, kind: str, n_steps: int, top: int) -> Story:
    """Draw a story of a kind, with numbers of about the size ``top``."""
    return _TELLERS[kind](rng, n_steps, top)


def distract(
    rng: Rng, kind: str, given: Sequence[Premise], names: Sequence[str], top: int
) -> Premise:
    """Return a premise that is consistent with the given ones and does not help.

    In stories about people, it is a fact about a new person, whose name is in no premise, given
    or dropped. In stories about things, it is a fact of another kind. For equations, it is the
    sum of two given ones.
    """
    if kind == "equations":
        known = [premise for premise in given if premise.form == "equation"]
        return _added(known[integer(rng, 0, len(known) - 1)], pick(rng, known))
    if kind in ("stamps", "ages"):
        other = pick(rng, sorted({name for premise in given for name in premise.names}))
        form = "more" if kind == "stamps" else "older"
        return Premise(form, (_stranger(rng, names), other), (integer(rng, 2, top),))
    form = {"journey": "riders", "plots": "trees", "mixture": "price"}[kind]
    number = pick(rng, given).names[0]
    return Premise(form, (number,), (integer(rng, 2, 10 * top),))


def _stamps(rng: Rng, n_steps: int, top: int) -> Story:
    people = _people(rng, n_steps + 1)
    value = integer(rng, 2, top)
    premises = [Premise("has", (people[0],), (value,))]
    for person, other in zip(people[1:], people, strict=False):
        # Doubling everywhere would let the numbers explode along a chain.
        if rng.random() < 0.3 and value < 20 * top:
            factor = integer(rng, 2, 4)
            premises.append(Premise("times", (person, other), (factor,)))
            value *= factor
        else:
            extra = integer(rng, 2, top)
            premises.append(Premise("more", (person, other), (extra,)))
            value += extra
    return Story(premises, (people[-1],), Fraction(value), list(range(len(premises))))


def _ages(rng: Rng, n_steps: int, top: int) -> Story:
    people = _people(rng, n_steps + 1)
    ages = [integer(rng, 5, 5 + top)]
    premises = []
    for person, younger in zip(people[1:], people, strict=False):
        gap = integer(rng, 2, 9)
        premises.append(Premise("older", (person, younger), (gap,)))
        ages.append(ages[-1] + gap)
    years = integer(rng, 2, 9)
    total = ages[0] + ages[-1] + 2 * years
    premises.append(Premise("sum_later", (people[0], people[-1]), (years, total)))
    asked = integer(rng, 0, 1)
    return Story(premises, (people[-asked],), Fraction(ages[-asked]), list(range(len(premises))))


def _journey(rng: Rng, n_steps: int, top: int) -> Story:
    premises, total = [], 0
    for day in range(1, n_steps + 1):
        speed, hours = integer(rng, 11, 20 + 5 * top), integer(rng, 2, 9)
        premises.append(Premise("speed", (str(day),), (speed,)))
        premises.append(Premise("hours", (str(day),), (hours,)))
        total += speed * hours
    return Story(premises, (_span("day", n_steps),), Fraction(total), list(range(len(premises))))


def _plots(rng: Rng, n_steps: int, top: int) -> Story:
    premises, total = [], 0
    for plot in range(1, n_steps + 1):
        width, extra = integer(rng, 2, 2 + top), integer(rng, 2, 9)
        premises.append(Premise("perimeter", (str(plot),), (4 * width + 2 * extra,)))
        premises.append(Premise("longer", (str(plot),), (extra,)))
        total += width * (width + extra)
    return Story(premises, (_span("plot", n_steps),), Fraction(total), list(range(len(premises))))


def _mixture(rng: Rng, n_steps: int, top: int) -> Story:
    jars = [(10 * integer(rng, 2, 2 + top), 5 * integer(rng, 1, 18)) for _ in range(n_steps + 1)]
    volume = sum(held for held, _ in jars)
    sugar = sum(held * strength for held, strength in jars)
    premises: list[Premise] = []
    droppable = []
    for jar, (held, strength) in enumerate(jars):
        name = (str(jar + 1),)
        # A jar as strong as the mixture of the others may have any volume.
        if (sugar - held * strength) != strength * (volume - held):
            droppable.append(len(premises))
        premises.append(Premise("volume", name, (held,)))
        droppable.append(len(premises))
        premises.append(Premise("strength", name, (strength,)))
    return Story(premises, (_span("jar", len(jars)),), Fraction(sugar, volume), droppable)


def _equations(rng: Rng, n_steps: int, top: int) -> Story:
    """Start from a triangular system and mix its rows.

    ``needs`` is the combination of rows that gives the unknown asked for; a row is droppable
    exactly if its coefficient in that combination is not 0, because the rows are independent.
    """
    n = n_steps + 1
    solution = [integer(rng, 1, top) for _ in range(n)]
    rows = [[0] * n for _ in range(n)]
    for i in range(n):
        rows[i][i] = integer(rng, 1, 4)
        for j in rng.permutation(i).tolist()[:2]:
            rows[i][j] = integer(rng, 1, 3) * (1 if rng.random() < 0.5 else -1)
    asked = n - 1
    needs = [Fraction(0)] * n
    for i in range(n - 1, -1, -1):
        want = Fraction(i == asked) - sum(needs[k] * rows[k][i] for k in range(i + 1, n))
        needs[i] = want / rows[i][i]
    for _ in range(n):
        i, j = rng.permutation(n).tolist()[:2]
        rows[i] = [a + b for a, b in zip(rows[i], rows[j], strict=True)]
        needs[j] -= needs[i]
    letters = ("x", "y", "z", "w")[:n] if n <= 4 else tuple(f"x_{{{i + 1}}}" for i in range(n))
    order = rng.permutation(n).tolist()
    premises = []
    for row in rows:
        total = sum(c * x for c, x in zip(row, solution, strict=True))
        premises.append(Premise("equation", letters, (*(row[i] for i in order), total)))
    name = letters[order.index(asked)]
    droppable = [i for i in range(n) if needs[i] != 0]
    return Story(premises, (name,), Fraction(solution[asked]), droppable)


_TELLERS: dict[str, Callable[[Rng, int, int], Story]] = {
    "stamps": _stamps,
    "ages": _ages,
    "journey": _journey,
    "plots": _plots,
    "mixture": _mixture,
    "equations": _equations,
}


def _span(noun: str, count: int) -> str:
    if count == 1:
        return f"{noun} 1"
    return f"{noun}s 1 {'and' if count == 2 else 'to'} {count}"


def _added(left: Premise, right: Premise) -> Premise:
    total = tuple(a + b for a, b in zip(left.numbers, right.numbers, strict=True))
    return Premise("equation", left.names, total)


def _people(rng: Rng, count: int) -> list[str]:
    """Draw different names; surnames join once the first names run out."""
    pool = list(_FIRST)
    if count > len(pool):
        pool = [f"{first} {last}" for last in _LAST for first in _FIRST]
    return [pool[i] for i in rng.permutation(len(pool)).tolist()[:count]]


def _stranger(rng: Rng, known: Sequence[str]) -> str:
    """Return the name of a new person, not among the known names."""
    free = [first for first in _FIRST if first not in known]
    return pick(rng, free or [f"{a} {b}" for b in _LAST for a in _FIRST if f"{a} {b}" not in known])
