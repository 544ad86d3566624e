"""Star battle: stars in every row, column and region, none touching."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
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

# Size, stars in each group and given stars of the first levels.
_LEVELS = (
    *((6, 1, 3), (6, 1, 2), (6, 1, 1), (6, 1, 0), (7, 1, 0)),
    *((8, 1, 0), (9, 1, 0), (9, 2, 4), (9, 2, 2), (9, 2, 0)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StarBattleConfig(TaskConfig):
    """The size of the board, the stars in each row, column and region, and how many are given."""

    size: int = 7
    n_stars: int = knob(1, "stars in each row, column and region", choices=_LEAST)
    n_given: int = knob(0, "stars given at first; more are where uniqueness needs them", low=0)

    def check(self) -> None:
        if not _LEAST[self.n_stars] <= self.size <= len(_LETTERS):
            raise ConfigError(
                f"need n_stars 1 with size in 4..{len(_LETTERS)}, or n_stars 2 with size in "
                f"9..{len(_LETTERS)}, got {self}"
            )
        if self.n_given >= self.size * self.n_stars:
            raise ConfigError(f"n_given is less than size * n_stars, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "StarBattleConfig":
        """On 6x6 fewer stars are given, then the board grows, and from level 7 two stars are due.

        On 9x9 with two stars fewer are given again; from level 10 on the board grows, up to 26x26.
        """
        if difficulty < len(_LEVELS):
            size, n_stars, n_given = _LEVELS[difficulty]
            return cls(size=size, n_stars=n_stars, n_given=n_given)
        return cls(size=min(difficulty, len(_LETTERS)), n_stars=2)


@dataclass(frozen=True, slots=True)
class StarBattleProblem:
    """The regions as letters, row by row, and the given stars; cells are numbered from 0."""

    regions: tuple[str, ...]
    n_stars: int
    given: tuple[int, ...]
    stars: tuple[int, ...] = hidden()


@register("StarBattle-v0", domain="puzzles")
class StarBattleTask(Task[StarBattleConfig, StarBattleProblem]):
    """Place stars so that each row, column and region has one or two and none touch.

    Description:
        Random stars that do not touch, and regions that grow around them. While another placement
        fits, a cell that has a star there and none in the planted placement moves to a neighbouring
        region. Where that does not soon leave a single placement, a star is given.

    Observation:
        The board with a letter for the region of each cell, and the given stars, if any.

    Action:
        The cells of all stars as pairs (row, column), in any order.

    Reward:
        1 for the placement, otherwise 0.

    Verification:
        Rows, columns, regions and neighbours are checked. An exact search has shown that one
        placement fits. No known gaps.

    Difficulty:
        Fewer stars are given, and the board grows; later there are two stars in each row, column
        and region, so that one star no longer excludes its whole row.

    References:
        Eendebak, World Puzzle Championship 2003, where the puzzle was first set.
    """

    def generate(self, rng: Rng) -> StarBattleProblem:
        size, n_stars = self.config.size, self.config.n_stars
        stars = draw_stars(rng, size, n_stars)
        planted = sum(1 << cell for cell in stars)
        owner = draw_regions(rng, size, n_stars, stars)
        given = sum(1 << stars[i] for i in rng.permutation(len(stars))[: self.config.n_given])
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
        placed = "A star is" if len(problem.given) == 1 else "Stars are"
        cells = show_cells(problem.given, size)
        given = f" {placed} already placed at {cells}." if problem.given else ""
        return (
            f"Solve this Star Battle puzzle. A {size}×{size} board is divided into {size} regions; "
            f"each letter names the region of its cell:\n\n{show_grid(problem.regions)}\n\nPlace "
            f"{size * n_stars} stars so that every row, every column and every region contains "
            f"exactly {number}, and no two stars are in cells that share a side or a corner."
            f"{given} There is exactly one solution.\n\nAnswer with the cells of all "
            f"{size * n_stars} stars as pairs (row, column), separated by commas. Rows are "
            "numbered from 1 at the top and columns from 1 at the left: for example, (1, 4) is the "
            "cell in row 1 and column 4."
        )

    def verify(self, problem: StarBattleProblem, answer: str) -> Verdict:
        size, n_stars = len(problem.regions), problem.n_stars
        cells = read_cells(answer, size, size)
        if cells is None:
            return Verdict.unparsable("expected cells of the board, such as (1, 4), (2, 1)")
        if len(set(cells)) < len(cells) or len(cells) != size * n_stars:
            return Verdict.wrong(f"the answer must have {size * n_stars} different cells")
        if not set(problem.given) <= set(cells):
            return Verdict.wrong("a given star is missing")
        for name, owners in (
            ("row", [cell // size for cell in cells]),
            ("column", [cell % size for cell in cells]),
            ("region", [ord(problem.regions[cell // size][cell % size]) for cell in cells]),
        ):
            if any(owners.count(one) != n_stars for one in owners):
                return Verdict.wrong(f"a {name} has the wrong number of stars")
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
        """Count the looks at a row, column or region until one placement is proven to fit."""
        size = len(problem.regions)
        given = sum(1 << cell for cell in problem.given)
        owner = [_LETTERS.index(letter) for row in problem.regions for letter in row]
        masks = masks_of(owner, size)
        return Search(masks, problem.n_stars, given, limit=_EFFORT_LIMIT).looked

    def baseline(self, rng: Rng, problem: StarBattleProblem) -> str:
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


# Star battles: an exact solver, random stars that do not touch, and regions around them.


_NODES = 300  # of a randomised search for stars, for each row
_STARTS = 20


@lru_cache(maxsize=64)
def _kings(size: int) -> tuple[int, ...]:
    """Return the cells around each cell, as bits."""
    return tuple(
        sum(1 << other for other in around) for around in neighbours(size, size, diagonal=True)
    )


@lru_cache(maxsize=64)
def _lines(size: int) -> tuple[int, ...]:
    """Return the rows and the columns, as bits."""
    row = (1 << size) - 1
    column = sum(1 << (r * size) for r in range(size))
    return tuple(row << (r * size) for r in range(size)) + tuple(column << c for c in range(size))


class Search:
    """Looks for placements of ``n_stars`` stars in every row, column and region, none touching.

    Attributes:
        found: up to two placements, as bits.
        nodes: the positions looked at.
        looked: how often a row, a column or a region was looked at.
        exhausted: whether the limit ended the search.
    """

    def __init__(self, regions: Sequence[int], n_stars: int, given: int, *, limit: int) -> None:
        size = len(regions)
        self._groups = (*_lines(size), *regions)
        self._kings = _kings(size)
        self._n_stars = n_stars
        self._limit = limit
        self.nodes = self.looked = 0
        self.found: list[int] = []
        self.exhausted = False
        open_cells = (1 << size * size) - 1
        for cell in bits(given):
            open_cells &= ~self._kings[cell]
        self._run(given, open_cells & ~given)

    @property
    def unique(self) -> bool:
        """Whether exactly one placement is proven to exist."""
        return not self.exhausted and len(self.found) == 1

    def _run(self, stars: int, open_cells: int) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) > 1:
            return
        self.nodes += 1
        settled = self._settle(stars, open_cells)
        if settled is None:
            return
        stars, open_cells, tightest = settled
        if not tightest:
            self.found.append(stars)
            return
        cell = tightest & -tightest
        kings = self._kings[cell.bit_length() - 1]
        self._run(stars | cell, open_cells & ~kings & ~cell)
        self._run(stars, open_cells & ~cell)

    def _settle(self, stars: int, open_cells: int) -> tuple[int, int, int] | None:
        """Place what must be placed; return also the open cells of the tightest group.

        None if a group has too many stars or too little room.
        """
        changed = True
        tightest = 0
        while changed:
            changed = False
            tightest, least = 0, len(self._groups) ** 2
            for group in self._groups:
                self.looked += 1
                room = open_cells & group
                need = self._n_stars - (stars & group).bit_count()
                spare = room.bit_count() - need
                if need < 0 or spare < 0:
                    return None
                if need == 0 and room:
                    open_cells &= ~room
                    changed = True
                elif need and not spare:
                    placed = self._place(room)
                    if placed is None:
                        return None
                    stars, open_cells = stars | room, open_cells & ~room & ~placed
                    changed = True
                elif need and spare < least:
                    tightest, least = room, spare
        return stars, open_cells, tightest

    def _place(self, cells: int) -> int | None:
        """Return the cells around new stars; None if two of these touch."""
        around = 0
        for cell in bits(cells):
            around |= self._kings[cell]
        return None if around & cells else around


def draw_stars(rng: Rng, size: int, n_stars: int) -> list[int]:
    """Return the cells of random stars, ``n_stars`` in every row and column, none touching."""
    for _ in range(_STARTS):
        found = _stars(rng, size, n_stars, _NODES * size)
        if found:
            return found
    return _stars(None, size, n_stars, None)


def _stars(rng: Rng | None, size: int, n_stars: int, limit: int | None) -> list[int]:
    """Place stars row by row with backtracking; in plain order and to the end without ``rng``."""
    kings, room = _kings(size), [n_stars] * size
    chosen: list[int] = []
    nodes = 0

    def fill(row: int, start: int, banned: int) -> bool:
        nonlocal nodes
        nodes += 1
        if limit is not None and nodes > limit:
            return False
        if row == size:
            return True
        left = n_stars - (len(chosen) - row * n_stars)
        if not left:
            return all(r <= size - row - 1 for r in room) and fill(row + 1, 0, banned)
        columns = list(range(start, size)) if rng is None else rng.permutation(size).tolist()
        for column in columns:
            cell = row * size + column
            if room[column] and not banned >> cell & 1:
                room[column] -= 1
                chosen.append(cell)
                if fill(row, column + 2, banned | kings[cell] | 1 << cell):
                    return True
                chosen.pop()
                room[column] += 1
        return False

    return sorted(chosen) if fill(0, 0, 0) else []


def draw_regions(rng: Rng, size: int, n_stars: int, stars: Sequence[int]) -> list[int]:
    """Return, for each cell, its region: each is connected and has ``n_stars`` of the stars."""
    for _ in range(_STARTS):
        owner = _joined(rng, size, n_stars, stars)
        if owner is not None:
            break
    else:  # the rows are regions too
        owner = [cell // size for cell in range(size * size)]
    beside = neighbours(size, size)
    rim = [cell for cell, region in enumerate(owner) if region >= 0]
    while rim:
        i = int(rng.random() * len(rim))
        cell = rim[i]
        free = [other for other in beside[cell] if owner[other] < 0]
        if len(free) <= 1:
            rim[i] = rim[-1]
            rim.pop()
        if free:
            other = pick(rng, free)
            owner[other] = owner[cell]
            rim.append(other)
    return owner


def _joined(rng: Rng, size: int, n_stars: int, stars: Sequence[int]) -> list[int] | None:
    """Join stars to their nearest by paths, in groups of ``n_stars``; None if one is cut off."""
    owner = [-1] * (size * size)
    waiting = [stars[i] for i in rng.permutation(len(stars)).tolist()]
    for region in range(size):
        owner[waiting.pop()] = region
        for _ in range(n_stars - 1):
            path = _path_to_star(owner, region, frozenset(waiting), size)
            if path is None:
                return None
            waiting.remove(path[-1])
            for cell in path:
                owner[cell] = region
    return owner


def _path_to_star(
    owner: list[int], region: int, waiting: frozenset[int], size: int
) -> list[int] | None:
    """Return the free cells from a region to the nearest star that has none, with that star."""
    beside = neighbours(size, size)
    queue = [cell for cell, own in enumerate(owner) if own == region]
    came = dict.fromkeys(queue, -1)
    for cell in queue:
        for other in beside[cell]:
            if other in came or owner[other] >= 0:
                continue
            came[other] = cell
            if other not in waiting:
                queue.append(other)
                continue
            path, step = [], other
            while came[step] >= 0:
                path.append(step)
                step = came[step]
            return path[::-1]
    return None


def masks_of(owner: Sequence[int], size: int) -> list[int]:
    """Return the cells of each region, as bits."""
    masks = [0] * size
    for cell, region in enumerate(owner):
        masks[region] |= 1 << cell
    return masks
