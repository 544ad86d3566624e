"""Zebra puzzle: who lives where, from clues in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._houses import OF_ONE, Clue, Search, explained, satisfied
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.generators.grids.deductions import sentence
from rlvr_envs.generators.words.names import PEOPLE, draw_some, joined
from rlvr_envs.verifiers.grids import read_grid

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
class ZebraPuzzleConfig:
    """The size of the table, and how far the clues are thinned out."""

    n_houses: int = 4
    n_categories: int = 4
    direct_percent: int = 40  # of the clues: who has what, or what is where
    n_removals: int = 12  # so many clues are left out, if the others still settle everything

    def __post_init__(self) -> None:
        if not 2 <= self.n_houses <= MAX_HOUSES or not 2 <= self.n_categories <= len(CATEGORIES):
            raise ConfigError(
                f"n_houses is from 2 to {MAX_HOUSES} and n_categories from 2 to "
                f"{len(CATEGORIES)}, got {self}"
            )
        if not 0 <= self.direct_percent <= 100 or self.n_removals < 0:
            raise ConfigError(
                f"direct_percent is from 0 to 100 and n_removals not negative, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "ZebraPuzzleConfig":
        """Houses and categories are added in turn; fewer clues are direct, and fewer to spare."""
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
    """The table has a row a house and a column a category."""

    categories: tuple[Category, ...]
    clues: tuple[Clue, ...]
    table: tuple[tuple[str, ...], ...] = hidden()


@register("ZebraPuzzle-v0", domain="puzzles", answer_format="tag")
class ZebraPuzzleTask(PuzzleTask[ZebraPuzzleConfig, ZebraPuzzleProblem]):
    """Fill in who lives in which house, with what colour, pet, drink and so on.

    Description:
        Each of the neighbours in a row of houses has one value of each category, and no two share
        one. The clues, true of a random table, leave exactly that table.

    Observation:
        The categories with their values, and the clues in words.

    Action:
        The whole table: a line for each house, with its values in the order of the categories.

    Reward:
        1 for the one table that fits, otherwise 0.

    Episode End:
        After one step.

    Verification:
        The table has every value once, and each clue holds of it. That one table alone fits is
        proven by an exhaustive search while the clues are chosen. No known gaps.

    Difficulty:
        Houses and categories are added; clues become indirect, and more of those that the others
        make needless are left out.

    References:
        "Who Owns the Zebra?", Life International, 17 December 1962. Lin et al., "ZebraLogic",
        2025 (arXiv:2502.01100).

    Version History:
        v0: first version.
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
            "person lives in each. In every category below each person has exactly one of the "
            f"values, and no two people have the same one:\n\n{lists}\n\nClues:\n\n{clues}\n\n"
            "Who lives where, and with what? There is exactly one solution. Answer with one line "
            f"for each house, from house 1 to house {n}: the person's {order}, in this order, "
            "separated by commas, without the number of the house."
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
                return Verdict.wrong(f"not every {category.name} occurs once in its column")
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

    def guess(self, problem: ZebraPuzzleProblem, rng: Rng) -> str:
        """Fill the columns in random order."""
        columns = [draw_some(rng, c.values, len(c.values)) for c in problem.categories]
        return "\n".join(", ".join(row) for row in zip(*columns, strict=True))


def _people(problem: ZebraPuzzleProblem) -> list[str]:
    return [CATEGORIES[c.name][0].format(value) for c in problem.categories for value in c.values]


def _clause(problem: ZebraPuzzleProblem, clue: Clue) -> str:
    people = _people(problem)
    first, second = people[clue.first], people[clue.second]
    number = "is one house" if clue.number == 1 else f"are {clue.number} houses"
    return {
        "same": f"{first} is {second}",
        "different": f"{first} is not {second}",
        "directly left": f"{first} lives directly to the left of {second}",
        "left": f"{first} lives somewhere to the left of {second}",
        "next": f"{first} lives next door to {second}",
        "apart": f"there {number} between the house of {first} and that of {second}",
        "at": f"{first} lives in house {clue.number}",
        "not at": f"{first} does not live in house {clue.number}",
        "at an end": f"{first} lives at one of the two ends of the row",
    }[clue.kind]
