"""Star battle: stars in every row, column and region, none touching."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.envs.puzzles._stars import Search, draw_regions, draw_stars, masks_of
from rlvr_envs.generators.grids.candidates import Network, Rule
from rlvr_envs.generators.grids.cells import bits, neighbours, read_cells, show_cell, show_cells
from rlvr_envs.generators.grids.deductions import Alone, Count, Words, line_names, worked
from rlvr_envs.generators.grids.latin_squares import lines
from rlvr_envs.verifiers.grids import show_grid

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LEAST = {1: 4, 2: 9}  # stars: the smallest board; for two, 8 rows have only two placements
_LIMIT = 400  # positions that proving uniqueness may look at
_EFFORT_LIMIT = 20_000
_REPAIRS = 3  # moved cells for each row, before stars are given instead


@dataclass(frozen=True, slots=True, kw_only=True)
class StarBattleConfig:
    """The size of the board, and how many stars there are in each row, column and region."""

    size: int = 7
    n_stars: int = 1

    def __post_init__(self) -> None:
        if self.n_stars not in _LEAST or not _LEAST[self.n_stars] <= self.size <= len(_LETTERS):
            raise ConfigError(
                f"need n_stars 1 with size in 4..{len(_LETTERS)}, or n_stars 2 with size in "
                f"9..{len(_LETTERS)}, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "StarBattleConfig":
        """The board grows, up to 26 rows; from the seventh rung there are two stars each."""
        if difficulty < 7:
            return cls(size=4 + (2 * difficulty + 2) // 3)
        return cls(size=min((difficulty + 11) // 2, len(_LETTERS)), n_stars=2)


@dataclass(frozen=True, slots=True)
class StarBattleProblem:
    """The regions as letters, row by row, and stars that are given; cells count from 0."""

    regions: tuple[str, ...]
    n_stars: int
    given: tuple[int, ...]
    stars: tuple[int, ...] = hidden()


@register("StarBattle-v0", domain="puzzles")
class StarBattleTask(PuzzleTask[StarBattleConfig, StarBattleProblem]):
    """Place stars so that each row, column and region has its number and none touch.

    Description:
        Random stars that do not touch, and regions that grow around them. While another placement
        fits, a cell that has a star there and none in the planted placement goes over to a region
        beside it. Where that does not lead to one placement soon, a star is given.

    Observation:
        The board with a letter for the region of each cell, and the given stars, if any.

    Action:
        The cells of all stars as pairs (row, column), in any order.

    Reward:
        1 for the placement, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Rows, columns, regions and neighbours are checked. An exact search has shown that one
        placement fits. No known gaps.

    Difficulty:
        The board grows; later there are two stars in each row, column and region.

    References:
        Eendebak, World Puzzle Championship 2003, where the puzzle was first set.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> StarBattleProblem:
        size, n_stars = self.config.size, self.config.n_stars
        stars = draw_stars(rng, size, n_stars)
        planted = sum(1 << cell for cell in stars)
        owner = draw_regions(rng, size, n_stars, stars)
        given = 0
        for step in range(_REPAIRS * size + len(stars) + 1):
            search = Search(masks_of(owner, size), n_stars, given, limit=_LIMIT)
            if search.unique:
                break
            others = [found for found in search.found if found != planted]
            other = others[0] if others else 0
            if other and step < _REPAIRS * size and _move(rng, owner, other & ~planted, planted):
                continue
            given |= 1 << pick(rng, bits(planted & ~other & ~given))
        rows = tuple(
            "".join(_LETTERS[region] for region in owner[r * size : (r + 1) * size])
            for r in range(size)
        )
        return StarBattleProblem(rows, n_stars, tuple(bits(given)), tuple(stars))

    def prompt(self, problem: StarBattleProblem) -> str:
        size, n_stars = len(problem.regions), problem.n_stars
        number = "one star" if n_stars == 1 else "two stars"
        given = f" There is a star at {show_cells(problem.given, size)}." if problem.given else ""
        return (
            f"A board with {size} rows and {size} columns is divided into {size} regions. The "
            f"letter of a cell names its region:\n\n{show_grid(problem.regions)}\n\nPlace stars in "
            f"cells so that every row, every column and every region has exactly {number}, and no "
            f"two stars are in cells that share a side or a corner.{given} Exactly one placement "
            f"fits. Answer with the cells of all {size * n_stars} stars as pairs (row, column), "
            "both numbered from 1 from the top left, for example (1, 2), (2, 4)."
        )

    def verify(self, problem: StarBattleProblem, answer: str) -> Verdict:
        size, n_stars = len(problem.regions), problem.n_stars
        cells = read_cells(answer, size, size)
        if cells is None:
            return Verdict.unparsable("expected cells of the board such as (1, 2), (2, 4)")
        if len(set(cells)) < len(cells) or len(cells) != size * n_stars:
            return Verdict.wrong(f"there are {size * n_stars} stars, each in a cell of its own")
        if not set(problem.given) <= set(cells):
            return Verdict.wrong("a given star is missing")
        for name, owners in (
            ("row", [cell // size for cell in cells]),
            ("column", [cell % size for cell in cells]),
            ("region", [ord(problem.regions[cell // size][cell % size]) for cell in cells]),
        ):
            if any(owners.count(one) != n_stars for one in owners):
                return Verdict.wrong(f"a {name} has too many stars")
        beside = neighbours(size, size, diagonal=True)
        if any(not set(beside[cell]).isdisjoint(cells) for cell in cells):
            return Verdict.wrong("two stars touch")
        return Verdict.correct()

    def solve(self, problem: StarBattleProblem) -> str:
        return show_cells(problem.stars, len(problem.regions))

    def explain(self, problem: StarBattleProblem) -> list[str]:
        """Return the cells with and without stars in an order in which they follow."""
        size, n_stars = len(problem.regions), problem.n_stars
        owner = "".join(problem.regions)
        groups = line_names(lines(size))
        for letter in sorted(set(owner)):
            cells = tuple(cell for cell, mark in enumerate(owner) if mark == letter)
            groups[cells] = (
                f"{groups[cells]} and region {letter}" if cells in groups else f"region {letter}"
            )
        number = "one star" if n_stars == 1 else "two stars"
        rules: list[Rule] = [Count(cells, n_stars) for cells in groups]
        told = [f"{name} has {number}" for name in groups.values()]
        for cell, beside in enumerate(neighbours(size, size, diagonal=True)):
            rules.append(Alone((cell, *beside)))
            told.append(f"no star touches the one at {show_cell(cell, size)}")
        words = Words(
            lambda cell: show_cell(cell, size),
            "the rules",
            {},
            told,
            ("empty", "a star").__getitem__,
            unsaid=0,
        )
        masks = [0b10 if cell in problem.given else 0b11 for cell in range(size**2)]
        solution = tuple(int(cell in problem.stars) for cell in range(size**2))
        return worked(Network(size**2, rules=rules), masks, solution, words)

    def effort(self, problem: StarBattleProblem) -> int:
        size = len(problem.regions)
        given = sum(1 << cell for cell in problem.given)
        owner = [_LETTERS.index(letter) for row in problem.regions for letter in row]
        masks = masks_of(owner, size)
        return Search(masks, problem.n_stars, given, limit=_EFFORT_LIMIT).nodes

    def guess(self, problem: StarBattleProblem, rng: Rng) -> str:
        """Put each row's stars, from the top, where no earlier one forbids it, at random."""
        size = len(problem.regions)
        beside = neighbours(size, size, diagonal=True)
        chosen = list(problem.given)
        for row in range(size):
            for _ in range(problem.n_stars - sum(cell // size == row for cell in chosen)):
                left = [cell for cell in range(row * size, row * size + size) if cell not in chosen]
                safe = [
                    cell
                    for cell in left
                    if sum(other % size == cell % size for other in chosen) < problem.n_stars
                    and set(beside[cell]).isdisjoint(chosen)
                ]
                chosen.append(pick(rng, safe or left))
        return show_cells(sorted(chosen), size)


def _move(rng: Rng, owner: list[int], wrong: int, planted: int) -> bool:
    """Give one of the ``wrong`` cells to a region beside it; False if none can go."""
    size = round(len(owner) ** 0.5)
    beside = neighbours(size, size)
    options = [
        (cell, owner[other])
        for cell in bits(wrong & ~planted)
        for other in beside[cell]
        if owner[other] != owner[cell]
    ]
    while options:
        cell, region = options.pop(int(rng.random() * len(options)))
        before, owner[cell] = owner[cell], region
        if _connected(owner, before, beside):
            return True
        owner[cell] = before
    return False


def _connected(owner: list[int], region: int, beside: tuple[tuple[int, ...], ...]) -> bool:
    cells = [cell for cell, own in enumerate(owner) if own == region]
    seen, queue = {cells[0]}, [cells[0]]
    for cell in queue:
        for other in beside[cell]:
            if owner[other] == region and other not in seen:
                seen.add(other)
                queue.append(other)
    return len(seen) == len(cells)
