"""Nurikabe: islands of given sizes in one connected sea."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table
from rlvr_envs.generators.grids.cells import Plane, bits, plane, show_cell
from rlvr_envs.generators.grids.deductions import Connected, Words, worked
from rlvr_envs.generators.moves.scoring import plural
from rlvr_envs.verifiers.grids import read_grid, show_grid

_SEA, _LAND, _OPEN = "#", ".", "?"
_MAX_SIDE = 40
_CHANGES = 2_000  # cells of all positions with a number moved, before cells of the sea are given
_LIMIT = 6_000  # cells of positions that proving uniqueness may look at
_BULK = 8  # one in so many doubtful cells is given at a time
_EFFORT_LIMIT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NurikabeConfig(TaskConfig):
    """The size of the grid, and of its largest islands."""

    n_rows: int = knob(6, "rows of the board", low=3, high=_MAX_SIDE)
    n_columns: int = knob(6, "columns of the board", low=3, high=_MAX_SIDE)
    largest: int = knob(4, "cells of the largest island", low=2, high=7)

    @classmethod
    def at(cls, difficulty: int) -> "NurikabeConfig":
        """The grid grows from 4x6 by a row or a column a level; islands get up to seven cells.

        One side is always even: grids of two odd sides are easier, for they have a simple pattern.
        """
        doubled, rest = 2 * (difficulty // 4), difficulty % 4
        return cls(
            n_rows=min(_MAX_SIDE, 4 + doubled + min(rest, 2)),
            n_columns=min(_MAX_SIDE, 6 + doubled + rest // 3),
            largest=min(7, 3 + (2 * difficulty + 5) // 7),
        )


@dataclass(frozen=True, slots=True)
class NurikabeProblem:
    """The given grid, row by row: sizes of islands, ``#`` for sea and ``?``; the solution."""

    rows: tuple[str, ...]
    picture: tuple[str, ...] = hidden()


@register("Nurikabe-v0", domain="puzzles", answer_format="tag")
class NurikabeTask(Task[NurikabeConfig, NurikabeProblem]):
    """Divide a grid into a connected sea and islands of given sizes.

    Description:
        Random islands leave a connected sea without 2×2 blocks, and a random cell of each island
        has its number. While another solution exists, a number moves to a cell of its island that
        the other solution does not have; where that takes too long, cells of the sea are given.

    Observation:
        The grid with the sizes of the islands, ``?`` for open cells, and ``#`` for cells that are
        known to be sea, if any.

    Action:
        The grid, one row per line: ``#`` for sea and ``.`` for land.

    Reward:
        1 for the solution, otherwise 0.

    Verification:
        Islands, sea and pools are checked. An exact search over the shapes of all islands has
        shown that one solution fits. No known gaps.

    Difficulty:
        The grid and the islands grow, so that more islands compete for a cell.

    References:
        Holzer, Klein and Kutrib, "On the NP-Completeness of the Nurikabe Pencil Puzzle and Variants
        Thereof", 2004.
    """

    def generate(self, rng: Rng) -> NurikabeProblem:
        config = self.config
        board = plane(config.n_rows, config.n_columns)
        islands = draw_islands(rng, board, (config.n_rows, config.n_columns), config.largest)
        numbers = [1 << pick(rng, bits(island)) for island in islands]
        sea, told = board.board & ~sum(islands), 0
        changes = _CHANGES // len(board.bit)
        while told != sea:  # with the whole sea given, the islands are known
            search = Search(
                board,
                {cell: len(bits(island)) for cell, island in zip(numbers, islands, strict=True)},
                limit=max(20, _LIMIT // len(board.bit)),
                sea=told,
                but_for=sum(islands),
                wanted=1,
            )
            if not search.found and not search.exhausted:
                break
            others = search.found[0] if search.found else ()
            moves = [
                (i, islands[i] & ~other) for i, other in enumerate(others) if other != islands[i]
            ]
            if moves and changes:
                changes -= 1
                i, cells = pick(rng, moves)
                numbers[i] = 1 << pick(rng, bits(cells))
                continue
            wrong = bits((sum(others) if others else board.board) & sea & ~told)
            for _ in range(1 + len(wrong) // _BULK):
                told |= 1 << pick(rng, wrong)
        return self._problem(board, islands, numbers, told)

    def _problem(
        self, board: Plane, islands: list[int], numbers: list[int], told: int
    ) -> NurikabeProblem:
        sizes = {
            cell: str(island.bit_count()) for cell, island in zip(numbers, islands, strict=True)
        }
        land, width = sum(islands), self.config.n_columns
        marks = "".join(sizes.get(bit, _SEA if bit & told else _OPEN) for bit in board.bit)
        picture = "".join(_LAND if bit & land else _SEA for bit in board.bit)
        starts = range(0, len(marks), width)
        return NurikabeProblem(
            tuple(marks[i : i + width] for i in starts),
            tuple(picture[i : i + width] for i in starts),
        )

    def prompt(self, problem: NurikabeProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        known = f", {_SEA} is known to be sea" if _SEA in "".join(problem.rows) else ""
        return (
            f"Solve this Nurikabe puzzle on a {n_rows}×{n_columns} grid. Decide for each cell "
            f"whether it is land or sea. A number marks a land cell{known}, and {_OPEN} is "
            f"unknown:\n\n{show_grid(problem.rows)}\n\n"
            "- Land cells that share a side belong to the same island.\n"
            "- Each island contains exactly one number, which is its number of cells.\n"
            "- All sea cells are connected through shared sides.\n"
            "- No 2×2 block of cells is all sea.\n\n"
            "There is exactly one solution. Answer with the whole grid, one row per line, with "
            f"{_SEA} for each sea cell and {_LAND} for each land cell, including those with a "
            "number."
        )

    def verify(self, problem: NurikabeProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        grid = read_grid(answer, n_rows, n_columns, (_SEA, _LAND))
        if grid is None:
            return Verdict.unparsable(
                f"expected {n_rows} lines of {n_columns} characters {_SEA} or {_LAND}"
            )
        board = plane(n_rows, n_columns)
        marks = [mark for row in grid for mark in row]
        sea = sum(bit for bit, mark in zip(board.bit, marks, strict=True) if mark == _SEA)
        told = zip(board.bit, "".join(problem.rows), strict=True)
        fault = _fault_of_sea(board, sea) or _fault_of_islands(board, sea, dict(told))
        return Verdict.wrong(fault) if fault else Verdict.correct()

    def solve(self, problem: NurikabeProblem) -> str:
        return show_grid(problem.picture)

    def explain(self, problem: NurikabeProblem) -> list[str]:
        """Return the cells of sea and land in an order in which they follow."""
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        board, marks = plane(n_rows, n_columns), "".join(problem.rows)
        numbers = {
            bit: int(mark)
            for bit, mark in zip(board.bit, marks, strict=True)
            if mark not in (_SEA, _OPEN)
        }
        rules: list[Rule] = [
            Island(board, bit, size, sum(numbers)) for bit, size in numbers.items()
        ]
        told = [
            f"the island at {show_cell(board.bit.index(bit), n_columns)} has {plural(size, 'cell')}"
            for bit, size in numbers.items()
        ]
        for cell in range((n_rows - 1) * n_columns):
            if cell % n_columns < n_columns - 1:
                square = (cell, cell + 1, cell + n_columns, cell + n_columns + 1)
                rules.append(Table(square, _square_with_land()))
                told.append("no two by two cells are all sea")
        rules += [Connected(n_rows, n_columns, 0), InReach(board, numbers)]
        told += ["the sea is connected", "land is in reach of its number"]
        words = Words(
            lambda cell: show_cell(cell, n_columns),
            "the rules",
            {},
            told,
            ("sea", "land").__getitem__,
        )
        given = {_SEA: 0b01, _OPEN: 0b11}
        solution = tuple(int(mark == _LAND) for mark in "".join(problem.picture))
        network = Network(len(marks), rules=rules)
        return worked(network, [given.get(mark, 0b10) for mark in marks], solution, words)

    def effort(self, problem: NurikabeProblem) -> int:
        """Count the shapes of islands compared until one solution is proven to be the only one."""
        board = plane(len(problem.rows), len(problem.rows[0]))
        marks = list(zip(board.bit, "".join(problem.rows), strict=True))
        sea = sum(bit for bit, mark in marks if mark == _SEA)
        numbers = {bit: int(mark) for bit, mark in marks if mark not in (_SEA, _OPEN)}
        return Search(board, numbers, limit=_EFFORT_LIMIT, sea=sea).compared

    def baseline(self, rng: Rng, problem: NurikabeProblem) -> str:
        """Let each island grow at random where it touches no other number or island."""
        board = plane(len(problem.rows), len(problem.rows[0]))
        marks = dict(zip(board.bit, "".join(problem.rows), strict=True))
        numbers = sum(bit for bit, mark in marks.items() if mark not in (_SEA, _OPEN))
        sea = sum(bit for bit, mark in marks.items() if mark == _SEA)
        land = numbers
        for start in [1 << cell for cell in bits(numbers)]:
            island = start
            free = board.board & ~sea & ~board.around(land & ~start)
            while island.bit_count() < int(marks[start]):
                rim = bits(board.around(island) & free & ~island)
                if not rim:
                    break
                island |= 1 << pick(rng, rim)
            land |= island
        width = len(problem.rows[0])
        cells = "".join(_LAND if bit & land else _SEA for bit in board.bit)
        return show_grid([cells[i : i + width] for i in range(0, len(cells), width)])


def _fault_of_sea(board: Plane, sea: int) -> str:
    """Return what is wrong with a sea, or the empty string."""
    if any(pool & sea == pool for pool in pools(board)):
        return "a 2×2 block of cells is all sea"
    return "" if board.connected(sea) else "the sea cells are not all connected"


def _fault_of_islands(board: Plane, sea: int, given: dict[int, str]) -> str:
    """Return what is wrong with the islands that a sea leaves, or the empty string."""
    land = board.board & ~sea
    for bit, mark in given.items():
        if mark == _SEA and not bit & sea:
            return "a cell that is given as sea is land"
        if mark in (_SEA, _OPEN):
            continue
        island = board.reach(bit, land)
        if island.bit_count() != int(mark):
            return f"a number {mark} is not alone on an island of {plural(int(mark), 'cell')}"
        land &= ~island  # so that a second number on it finds no island
    return "an island has no number" if land else ""


@cache
def _square_with_land() -> RowSet:
    """Return what two by two cells may be: anything but all sea."""
    return RowSet(list(product((0, 1), repeat=4))[1:])


# Nurikabe: seas with islands, and an exact search over the shapes that islands can have.
#
# Sets of cells are integers in the bits of a `Plane`.


_STARTS = 30


def pools(board: Plane) -> list[int]:
    """Return all squares of two by two cells."""
    width = board.width
    squares = [bit | bit << 1 | bit << width | bit << (width + 1) for bit in board.bit]
    return [square for square in squares if square & board.board == square]


def draw_islands(rng: Rng, board: Plane, shape: tuple[int, int], largest: int) -> list[int]:
    """Return random islands that touch only at corners, in a connected sea without pools."""
    for _ in range(_STARTS):
        land = _dry_out(rng, board, largest)
        if land:
            return _split(board, land)
    return _split(board, _combed(board, shape, largest))


def _dry_out(rng: Rng, board: Plane, largest: int) -> int:
    """Turn cells of pools into land until there are no pools; 0 if that leads nowhere."""
    land = 0
    squares = pools(board)
    left = [squares[i] for i in rng.permutation(len(squares)).tolist()]
    while left:
        square = left.pop()
        if square & land:
            continue
        cells = [1 << cell for cell in bits(square)]
        for i in rng.permutation(4).tolist():
            more = land | cells[i]
            island = board.reach(cells[i], more)
            if island.bit_count() <= largest and board.connected(board.board & ~more):
                land = more
                break
        else:
            return 0
    return land


def _combed(board: Plane, shape: tuple[int, int], largest: int) -> int:
    """Return islands in every other column below the first row, cut to a length."""
    n_columns = shape[1]
    return sum(
        board.bit[r * n_columns + c]
        for c in range(1, n_columns, 2)
        for r in range(1, shape[0])
        if r % (largest + 1)
    )


def _split(board: Plane, land: int) -> list[int]:
    islands = []
    while land:
        island = board.reach(land & -land, land)
        islands.append(island)
        land &= ~island
    return islands


def shapes(board: Plane, start: int, size: int, allowed: int) -> list[int]:
    """Return the connected sets of ``size`` allowed cells that contain ``start``, each once."""
    found = []
    stack = [(start, board.around(start) & allowed & ~start, start)]
    while stack:
        cells, rim, closed = stack.pop()
        if cells.bit_count() == size:
            found.append(cells)
            continue
        while rim:
            cell = rim & -rim
            rim &= ~cell
            closed |= cell
            stack.append((cells | cell, rim | board.around(cell) & allowed & ~closed, closed))
    return found


class Island:
    """A worked solution's rule: what all shapes of the island around a number share.

    Land is 1, sea is 0.
    """

    def __init__(self, board: Plane, start: int, size: int, numbers: int) -> None:
        self._board, self._start, self._size = board, start, size
        self._banned = (numbers | board.around(numbers & ~start)) & ~start
        near = start
        for _ in range(size):
            near |= board.around(near)
        self.cells = tuple(cell for cell, bit in enumerate(board.bit) if bit & near)

    def narrow(self, masks: list[int]) -> list[int] | None:
        board, bit = self._board, self._board.bit
        land = sum(bit[cell] for cell in self.cells if masks[cell] == 0b10)
        allowed = sum(bit[cell] for cell in self.cells if masks[cell] & 0b10) & ~self._banned
        inside = beside = board.board
        fits = False
        for shape in shapes(board, self._start, self._size, allowed):
            rim = board.around(shape) & ~shape
            if not rim & land:
                fits, inside, beside = True, inside & shape, beside & rim
        changed = [
            cell for cell in self.cells if masks[cell] == 0b11 and bit[cell] & (inside | beside)
        ]
        for cell in changed:
            masks[cell] = 0b10 if bit[cell] & inside else 0b01
        return changed if fits else None


class InReach:
    """A worked solution's rule: land is no farther from a number than its island can go."""

    def __init__(self, board: Plane, numbers: Mapping[int, int]) -> None:
        self._board, self._numbers = board, numbers
        self.cells = tuple(range(len(board.bit)))

    def narrow(self, masks: list[int]) -> list[int] | None:
        bit = self._board.bit
        allowed = sum(bit[cell] for cell in self.cells if masks[cell] & 0b10)
        reached = 0
        for start, size in self._numbers.items():
            near = start
            for _ in range(size - 1):
                near |= self._board.around(near) & allowed
            reached |= near
        beyond = [cell for cell in self.cells if masks[cell] & 0b10 and not bit[cell] & reached]
        changed = [cell for cell in beyond if masks[cell] == 0b11]
        for cell in changed:
            masks[cell] = 0b01
        return changed if len(changed) == len(beyond) else None


class Search:
    """Looks for islands around numbers, but for a sea that does not count.

    Attributes:
        found: up to ``wanted`` solutions, each as the islands in the order of the numbers.
        nodes: the positions looked at.
        compared: the shapes of islands that were looked at, once in each pass over a position.
        exhausted: whether the limit ended the search.
    """

    def __init__(
        self,
        board: Plane,
        numbers: Mapping[int, int],
        *,
        limit: int,
        sea: int = 0,
        but_for: int | None = None,
        wanted: int = 2,
    ) -> None:
        self._board = board
        self._pools = pools(board)
        self._limit = limit
        self._but_for = but_for
        self._wanted = wanted
        self.nodes = self.compared = 0
        self.found: list[tuple[int, ...]] = []
        self.exhausted = False
        starts = sum(numbers)
        options = []
        for start, size in numbers.items():
            others = starts & ~start
            allowed = board.board & ~(sea | others | board.around(others))
            options.append(shapes(board, start, size, allowed | start))
        self._run(options)

    def _run(self, options: list[list[int]]) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) >= self._wanted:
            return
        self.nodes += 1
        settled = self._settle(options)
        if settled is None:
            return
        open_ = [(len(places), i) for i, places in enumerate(settled) if len(places) > 1]
        if not open_:
            islands = tuple(places[0] for places in settled)
            if sum(islands) != self._but_for:
                self.found.append(islands)
            return
        _, i = min(open_)
        for place in settled[i]:
            self._run([*settled[:i], [place], *settled[i + 1 :]])

    def _settle(self, options: list[list[int]]) -> list[list[int]] | None:
        """Strike out shapes until nothing changes; None if a rule is broken."""
        board = self._board
        while True:
            sure, possible = [], []
            self.compared += sum(map(len, options))
            for places in options:
                if not places:
                    return None
                both, either = places[0], 0
                for place in places:
                    both &= place
                    either |= place
                sure.append(both)
                possible.append(either)
            land = 0
            for both in sure:
                land |= both
            if not self._sea_holds(land, possible):
                return None
            wanted = self._dry(land, possible)
            if wanted is None:
                return None
            new = []
            for i, places in enumerate(options):
                foreign = (land & ~sure[i]) | board.around(land & ~sure[i])
                must = wanted.get(i, 0)
                new.append(
                    [p for p in places if not p & foreign and p & must == must]
                    if foreign & possible[i] or must
                    else places
                )
            if all(len(a) == len(b) for a, b in zip(new, options, strict=True)):
                return options
            options = new

    def _sea_holds(self, land: int, possible: Sequence[int]) -> bool:
        """Whether what is surely sea can still be connected."""
        board, reachable = self._board, 0
        for either in possible:
            reachable |= either
        water = board.board & ~reachable
        return board.reach(water & -water, board.board & ~land) & water == water

    def _dry(self, land: int, possible: Sequence[int]) -> dict[int, int] | None:
        """Return cells that an island must have, as nothing else can keep a pool away."""
        wanted: dict[int, int] = {}
        for pool in self._pools:
            if pool & land:
                continue
            reaching = [i for i, either in enumerate(possible) if either & pool]
            if not reaching:
                return None
            if len(reaching) == 1:
                cells = possible[reaching[0]] & pool
                if not cells & (cells - 1):
                    wanted[reaching[0]] = wanted.get(reaching[0], 0) | cells
        return wanted
