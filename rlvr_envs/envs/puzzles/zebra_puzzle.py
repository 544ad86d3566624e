"""Zebra puzzle: find out from clues who lives where."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, RowSet, Table
from rlvr_envs.generators.grids.deductions import Words, sentence, worked
from rlvr_envs.generators.words.names import PEOPLE, draw_some, joined
from rlvr_envs.verifiers.grids import read_grid


@dataclass(frozen=True, slots=True)
class Clue:
    """A fact about one value or two, which are numbered row by row through the categories."""

    kind: str  # one of `BETWEEN_TWO` or `OF_ONE`
    first: int  # the value that the clue is about
    second: int = -1  # the other value; -1 where there is none
    number: int = 0  # the house of "at" and "not at", from 1, or the houses in between for "apart"


# Category: how a clue calls the person with a value, and the values.
_WORDING = {
    "name": ("{}", " ".join(PEOPLE)),
    "colour": (
        "the person in the {} house",
        "red blue green white yellow black brown pink grey violet",
    ),
    "pet": ("the owner of the {}", "cat dog horse zebra snail fox parrot goat turtle rabbit"),
    "drink": ("the {} drinker", "tea coffee milk water juice cocoa cider lemonade wine beer"),
    "job": ("the {}", "baker doctor pilot farmer judge nurse potter singer tailor welder"),
    "fruit": (
        "the person who eats {}",
        "plums pears figs grapes dates limes apples melons kiwis mangoes",
    ),
    "instrument": (
        "the person who plays the {}",
        "flute harp violin piano drum guitar tuba cello banjo oboe",
    ),
    "sport": (
        "the person who enjoys {}",
        "tennis chess golf rowing judo boxing hockey cricket fencing archery",
    ),
    "flower": (
        "the person who grows {}",
        "roses tulips lilies daisies poppies asters irises orchids peonies violas",
    ),
    "city": ("the person from {}", "Oslo Rome Lima Cairo Delhi Kyoto Paris Quito Riga Tunis"),
}
CATEGORIES = {name: (person, tuple(text.split())) for name, (person, text) in _WORDING.items()}
MAX_HOUSES = 10
_DIRECT = ("same", "same", "at")
_INDIRECT = ("directly left", "left", "next", "apart", "different", "not at", "at an end")
_SEARCH_STEPS = 20_000  # of one search; a search that needs more leaves the clue where it is


@dataclass(frozen=True, slots=True, kw_only=True)
class ZebraPuzzleConfig(TaskConfig):
    """The size of the table, and how many clues are left out."""

    n_houses: int = knob(4, "houses", low=2, high=MAX_HOUSES)
    n_categories: int = knob(4, "categories of things", low=2, high=len(CATEGORIES))
    direct_percent: int = knob(
        40, "percentage of clues that say who has what, or what is where", low=0, high=100
    )
    n_removals: int = knob(
        12, "clues left out, as far as the others still determine the solution", low=0
    )

    @classmethod
    def at(cls, difficulty: int) -> "ZebraPuzzleConfig":
        """Houses and categories are added in turn; fewer clues are direct or redundant."""
        return cls(
            n_houses=min(2 + difficulty // 2, MAX_HOUSES),
            n_categories=min(2 + (difficulty + 1) // 2, len(CATEGORIES)),
            direct_percent=max(10, 60 - 4 * difficulty),
            n_removals=2 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class Category:
    """A category and the values that occur."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ZebraPuzzleProblem:
    """The table has a row for each house and a column for each category."""

    categories: tuple[Category, ...]
    clues: tuple[Clue, ...]
    table: tuple[tuple[str, ...], ...] = hidden()


@register("ZebraPuzzle-v0", domain="puzzles", answer_format="tag")
class ZebraPuzzleTask(Task[ZebraPuzzleConfig, ZebraPuzzleProblem]):
    """Find out who lives in which house, with which colour, pet, drink and so on.

    Description:
        The person in each of a row of houses has one value of each category, and no two share
        one. The clues, true of a random table, leave exactly that table.

    Observation:
        The categories with their values, and the clues in words.

    Action:
        The whole table: a line for each house, with its values in the order of the categories.

    Reward:
        1 for the only table that fits, otherwise 0.

    Verification:
        The table has every value once, and each clue holds of it. That one table alone fits is
        proven by an exhaustive search while the clues are chosen. No known gaps.

    Difficulty:
        Houses and categories are added; clues become indirect, and more redundant clues are left
        out.

    References:
        "Who Owns the Zebra?", Life International, 17 December 1962. Lin et al., "ZebraLogic",
        2025 (arXiv:2502.01100).
    """

    def generate(self, rng: Rng) -> ZebraPuzzleProblem:
        n, m = self.config.n_houses, self.config.n_categories
        names = ["name", *draw_some(rng, [c for c in CATEGORIES if c != "name"], m - 1)]
        categories = tuple(Category(c, draw_some(rng, CATEGORIES[c][1], n)) for c in names)
        houses = [p for _ in categories for p in rng.permutation(n).tolist()]
        clues = self._thinned(self._settling(rng, houses), rng)
        columns = [
            [
                category.values[v]
                for v in sorted(range(n), key=houses[i * n : i * n + n].__getitem__)
            ]
            for i, category in enumerate(categories)
        ]
        return ZebraPuzzleProblem(categories, tuple(clues), tuple(zip(*columns, strict=True)))

    def _settling(self, rng: Rng, houses: Sequence[int]) -> list[Clue]:
        """Draw true clues until no other table fits them."""
        n, m = self.config.n_houses, self.config.n_categories
        clues: list[Clue] = []
        for _ in range(n * m // 2):
            clue = self._clue(rng, houses)
            if clue not in clues:
                clues.append(clue)
        while True:
            tables = Search(n, m, clues).tables(2, _SEARCH_STEPS)
            others = [table for table in tables or [] if table != list(houses)]
            if tables is not None and not others:
                return clues
            clues.append(
                self._refuting(rng, houses, others[0]) if others else self._pin(houses, clues)
            )

    def _refuting(self, rng: Rng, houses: Sequence[int], other: Sequence[int]) -> Clue:
        """Return a clue that is true of one table and false of the other."""
        for _ in range(40):
            clue = self._clue(rng, houses)
            if not satisfied(clue, other, self.config.n_houses):
                return clue
        value = pick(rng, [v for v, p in enumerate(houses) if other[v] != p])
        return Clue("at", value, number=houses[value] + 1)

    def _pin(self, houses: Sequence[int], clues: Sequence[Clue]) -> Clue:
        """Return a clue that settles one more value: the search took too long without it."""
        pins = (Clue("at", value, number=p + 1) for value, p in enumerate(houses))
        return next(pin for pin in pins if pin not in clues)

    def _clue(self, rng: Rng, houses: Sequence[int]) -> Clue:
        """Draw a clue that is true of a table."""
        n = self.config.n_houses
        direct = integer(rng, 1, 100) <= self.config.direct_percent
        kind = pick(rng, _DIRECT if direct else _INDIRECT)
        if kind == "apart" and n < 3:
            kind = "same"
        while True:  # at least one draw in 30 is true
            first, second = integer(rng, 0, len(houses) - 1), integer(rng, 0, len(houses) - 1)
            number = integer(rng, 1, n) if kind == "not at" else houses[first] + 1
            if kind in OF_ONE:
                clue = Clue(kind, first, number=number)
            elif kind == "apart":
                clue = Clue(kind, first, second, abs(houses[first] - houses[second]) - 1)
            else:
                clue = Clue(kind, first, second)
            own_category = kind in ("same", "different") and first // n == second // n
            trivial = own_category or (kind == "apart" and clue.number < 1)
            if not trivial and satisfied(clue, houses, n):
                return clue

    def _thinned(self, clues: list[Clue], rng: Rng) -> list[Clue]:
        """Leave out clues, as long as the others still settle everything."""
        order = rng.permutation(len(clues)).tolist()
        kept = [clues[i] for i in order]
        left = self.config.n_removals
        for clue in list(kept):
            if left == 0:
                break
            others = [other for other in kept if other is not clue]
            search = Search(self.config.n_houses, self.config.n_categories, others)
            tables = search.tables(2, _SEARCH_STEPS)
            if tables is not None and len(tables) == 1:
                kept, left = others, left - 1
        return kept

    def prompt(self, problem: ZebraPuzzleProblem) -> str:
        n = len(problem.categories[0].values)
        lists = "\n".join(
            f"- {category.name}: {', '.join(sorted(category.values))}"
            for category in problem.categories
        )
        clues = "\n".join(
            f"{i}. {sentence(_clause(problem, c))}" for i, c in enumerate(problem.clues, 1)
        )
        order = joined([category.name for category in problem.categories])
        return (
            f"There are {n} houses in a row, numbered from 1 on the left to {n} on the right. One "
            "person lives in each house. In each category below, every person has exactly one of "
            "the values, and no two people have the same "
            f"value:\n\n{lists}\n\nClues:\n\n{clues}\n\nFind the values of the person in each "
            "house. There is exactly one solution. Answer with one line per house, from house 1 "
            f"to house {n}: the person's {order}, in this order, separated by commas, "
            "without the house number."
        )

    def verify(self, problem: ZebraPuzzleProblem, answer: str) -> Verdict:
        known = {v.lower(): v for category in problem.categories for v in category.values}
        n = len(problem.categories[0].values)
        grid = read_grid(answer.lower(), n, len(problem.categories), known)
        if grid is None:
            return Verdict.unparsable(
                f"expected {n} lines of {len(problem.categories)} values of the puzzle each"
            )
        houses: list[int] = []
        for category, column in zip(problem.categories, zip(*grid, strict=True), strict=True):
            row = [known[cell] for cell in column]
            if sorted(row) != sorted(category.values):
                return Verdict.wrong(f"not every {category.name} occurs exactly once")
            houses += [row.index(value) for value in category.values]
        for number, clue in enumerate(problem.clues, 1):
            if not satisfied(clue, houses, n):
                return Verdict.wrong(f"clue {number} does not hold")
        return Verdict.correct()

    def solve(self, problem: ZebraPuzzleProblem) -> str:
        return "\n".join(", ".join(row) for row in problem.table)

    def explain(self, problem: ZebraPuzzleProblem) -> list[str]:
        columns = list(zip(*problem.table, strict=True))
        return explained(
            problem.clues,
            [_clause(problem, clue) for clue in problem.clues],
            _people(problem),
            [category.name for category in problem.categories],
            [columns[i].index(v) + 1 for i, c in enumerate(problem.categories) for v in c.values],
        )

    def effort(self, problem: ZebraPuzzleProblem) -> int:
        """Count how often the search for all fitting tables narrows where a value may be."""
        search = Search(len(problem.categories[0].values), len(problem.categories), problem.clues)
        search.tables(2, 1_000_000)
        return search.steps

    def baseline(self, rng: Rng, problem: ZebraPuzzleProblem) -> str:
        """Fill the columns in random order."""
        columns = [draw_some(rng, c.values, len(c.values)) for c in problem.categories]
        return "\n".join(", ".join(row) for row in zip(*columns, strict=True))


def _people(problem: ZebraPuzzleProblem) -> list[str]:
    return [CATEGORIES[c.name][0].format(value) for c in problem.categories for value in c.values]


def _clause(problem: ZebraPuzzleProblem, clue: Clue) -> str:
    people = _people(problem)
    first, second = people[clue.first], people[clue.second]
    number = "is exactly one house" if clue.number == 1 else f"are exactly {clue.number} houses"
    return {
        "same": f"{first} is {second}",
        "different": f"{first} is not {second}",
        "directly left": f"{first} lives directly to the left of {second}",
        "left": f"{first} lives somewhere to the left of {second}",
        "next": f"{first} lives next door to {second}",
        "apart": f"there {number} between {first} and {second}",
        "at": f"{first} lives in house {clue.number}",
        "not at": f"{first} does not live in house {clue.number}",
        "at an end": f"{first} lives at one end of the row",
    }[clue.kind]


# Clues about who lives where in a row of houses, and an exact search for all that fits them.


# Kind: whether values at houses p and q, counted from 0 and never of the same person unless the
# kind is about that, satisfy a clue between them.
BETWEEN_TWO: dict[str, Callable[[int, int, int], bool]] = {
    "same": lambda p, q, _: p == q,
    "different": lambda p, q, _: p != q,
    "directly left": lambda p, q, _: q - p == 1,
    "left": lambda p, q, _: p < q,
    "next": lambda p, q, _: abs(p - q) == 1,
    "apart": lambda p, q, gap: abs(p - q) == gap + 1,
}
# Kind: whether a value at house p, of n, satisfies a clue about it alone.
OF_ONE: dict[str, Callable[[int, int, int], bool]] = {
    "at": lambda p, number, _: p + 1 == number,
    "not at": lambda p, number, _: p + 1 != number,
    "at an end": lambda p, _, n: p in (0, n - 1),
}


def explained(
    clues: Sequence[Clue],
    clauses: Sequence[str],
    people: Sequence[str],
    categories: Sequence[str],
    houses: Sequence[int],
) -> list[str]:
    """Return who can be found to live where, step by step.

    Args:
        clues: the clues.
        clauses: the clues in words.
        people: what the person with each value is called.
        categories: the names of the categories.
        houses: the house of each value in the only table that fits, from 1.
    """
    n = len(people) // len(categories)
    rules = []
    for clue in clues:
        cells = (clue.first,) if clue.kind in OF_ONE else (clue.first, clue.second)
        fitting = [
            tuple(p + 1 for p in row)
            for row in product(range(n), repeat=len(cells))
            if satisfied(clue, dict(zip(cells, row, strict=True)), n)
        ]
        rules.append(Table(cells, RowSet(fitting)))
    groups = {tuple(range(i * n, i * n + n)): name for i, name in enumerate(categories)}
    network = Network(len(people), groups=tuple(groups), rules=rules, n_values=n)
    words = Words(
        people.__getitem__,
        "the other people's houses",
        groups,
        [f"{clause} (clue {number})" for number, clause in enumerate(clauses, 1)],
        lambda value: f"house {value}",
        "lives in",
        "no other {group} fits {value}",
        "no {group} fits {value}",
    )
    return worked(network, [(2 << n) - 2] * len(people), tuple(houses), words)


def satisfied(clue: Clue, houses: Sequence[int] | Mapping[int, int], n_houses: int) -> bool:
    """Return whether a clue holds where value v is at house ``houses[v]``, from 0."""
    if clue.kind in OF_ONE:
        return OF_ONE[clue.kind](houses[clue.first], clue.number, n_houses)
    return BETWEEN_TWO[clue.kind](houses[clue.first], houses[clue.second], clue.number)


@cache
def _images(kind: str, number: int, n_houses: int) -> tuple[list[int], list[int]]:
    """Return, for each set of houses of the first value, those of the second, and conversely."""
    holds = BETWEEN_TWO[kind]
    forward, backward = [], []
    for houses in range(1 << n_houses):
        own = [p for p in range(n_houses) if houses >> p & 1]
        reached = {q for q in range(n_houses) for p in own if holds(p, q, number)}
        forward.append(sum(1 << q for q in reached))
        reached = {p for p in range(n_houses) for q in own if holds(p, q, number)}
        backward.append(sum(1 << p for p in reached))
    return forward, backward


class Search:
    """A search for tables that fit a set of clues, by propagation and trial.

    A domain is the set of houses where a value may be, as the bits of an integer.

    Attributes:
        steps: the domains that were narrowed so far.
    """

    def __init__(self, n_houses: int, n_categories: int, clues: Sequence[Clue]) -> None:
        self.n_houses = n_houses
        self.steps = 0
        n_values = n_houses * n_categories
        self._start = [(1 << n_houses) - 1] * n_values
        self._links: list[list[tuple[int, list[int]]]] = [[] for _ in range(n_values)]
        for clue in clues:
            self._add(clue)

    def _add(self, clue: Clue) -> None:
        n = self.n_houses
        if clue.kind in OF_ONE:
            holds = OF_ONE[clue.kind]
            fitting = sum(1 << p for p in range(n) if holds(p, clue.number, n))
            self._start[clue.first] &= fitting
            return
        forward, backward = _images(clue.kind, clue.number, n)
        self._links[clue.first].append((clue.second, forward))
        self._links[clue.second].append((clue.first, backward))

    def tables(self, limit: int, max_steps: int) -> list[list[int]] | None:
        """Return up to ``limit`` fitting tables as the house of each value.

        None if more than ``max_steps`` further domains had to be narrowed before that was known.
        """
        found: list[list[int]] = []
        last = self.steps + max_steps
        stack = [(list(self._start), list(range(len(self._start))))]
        while stack and len(found) < limit:
            if self.steps > last:
                return None
            domains, changed = stack.pop()
            if not self._propagate(domains, changed):
                continue
            open_values = [v for v, domain in enumerate(domains) if domain & (domain - 1)]
            if not open_values:
                found.append([domain.bit_length() - 1 for domain in domains])
                continue
            value = min(open_values, key=lambda v: domains[v].bit_count())
            for p in range(self.n_houses):
                if domains[value] >> p & 1:
                    child = list(domains)
                    child[value] = 1 << p
                    stack.append((child, [value]))
        return found

    def _propagate(self, domains: list[int], changed: list[int]) -> bool:
        """Narrow the domains as far as single clues and categories tell; False if one is empty."""
        queue = changed
        while queue:
            value = queue.pop()
            domain = domains[value]
            if not domain:
                return False
            for other, image in self._links[value]:
                narrowed = domains[other] & image[domain]
                if narrowed != domains[other]:
                    domains[other] = narrowed
                    self.steps += 1
                    queue.append(other)
            if not self._one_each(value, domains, queue):
                return False
        return True

    def _one_each(self, value: int, domains: list[int], queue: list[int]) -> bool:
        """Give every house one value of the value's category; False if a house can have none."""
        n = self.n_houses
        base = value - value % n
        domain = domains[value]
        single = not domain & (domain - 1)
        once = twice = 0
        for other in range(base, base + n):
            if single and other != value and domains[other] & domain:
                domains[other] &= ~domain
                self.steps += 1
                queue.append(other)
            twice |= once & domains[other]
            once |= domains[other]
        if once != (1 << n) - 1:
            return False
        lone = once & ~twice
        for other in range(base, base + n):
            own = domains[other] & lone
            if own and own != domains[other]:
                domains[other] = own
                self.steps += 1
                queue.append(other)
        return True
