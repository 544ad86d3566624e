"""Nurikabe: islands of given sizes in one connected sea."""

from dataclasses import dataclass
from functools import cache
from itertools import product

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._islands import InReach, Island, Search, draw_islands, pools
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table
from rlvr_envs.generators.grids.cells import Plane, bits, plane, show_cell
from rlvr_envs.generators.grids.deductions import Connected, Words, worked
from rlvr_envs.generators.moves.scoring import plural
from rlvr_envs.verifiers.grids import read_grid, show_grid

_SEA, _LAND, _OPEN = "#", ".", "?"
_MAX_SIDE = 40
_CHANGES = 2_000  # cells of all positions with a number moved, before cells of the sea are told
_LIMIT = 6_000  # cells of positions that proving uniqueness may look at
_BULK = 8  # one in so many doubtful cells is told at a time
_EFFORT_LIMIT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NurikabeConfig:
    """The size of the grid, and of its largest islands."""

    n_rows: int = 6
    n_columns: int = 6
    largest: int = 4  # cells of an island

    def __post_init__(self) -> None:
        sides = (self.n_rows, self.n_columns)
        if not 3 <= min(sides) <= max(sides) <= _MAX_SIDE or not 2 <= self.largest <= 7:
            raise ConfigError(
                f"need n_rows and n_columns in 3..{_MAX_SIDE} and largest in 2..7, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "NurikabeConfig":
        """Five rungs add three rows and columns; islands get larger, up to six cells."""
        side = min(_MAX_SIDE, 4 + 3 * difficulty // 5)
        return cls(n_rows=side, n_columns=side, largest=min(6, 3 + difficulty // 3))


@dataclass(frozen=True, slots=True)
class NurikabeProblem:
    """What is given, row by row: sizes of islands, ``#`` for known sea and ``?``; the solution."""

    rows: tuple[str, ...]
    picture: tuple[str, ...] = hidden()


@register("Nurikabe-v0", domain="puzzles", answer_format="tag")
class NurikabeTask(PuzzleTask[NurikabeConfig, NurikabeProblem]):
    """Divide a grid into a connected sea and islands of given sizes.

    Description:
        Random islands without which the sea would have pools of two by two cells, and a number in
        a random cell of each. While other islands fit, a number moves to a cell of its island that
        the other one does not have; where that does not end soon, cells of the sea are told.

    Observation:
        The grid with the sizes of the islands, ``?`` for open cells, and ``#`` for cells that are
        known to be sea, if any.

    Action:
        The grid, one row a line: ``#`` for sea and ``.`` for land.

    Reward:
        1 for the islands, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Islands, sea and pools are checked. An exact search over the shapes of all islands has
        shown that one solution fits. No known gaps.

    Difficulty:
        The grid and the islands grow.

    References:
        Holzer, Klein and Kutrib, "On the NP-Completeness of the Nurikabe Pencil Puzzle and Variants
        Thereof", 2004.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> NurikabeProblem:
        config = self.config
        board = plane(config.n_rows, config.n_columns)
        islands = draw_islands(rng, board, (config.n_rows, config.n_columns), config.largest)
        numbers = [1 << pick(rng, bits(island)) for island in islands]
        sea, told = board.board & ~sum(islands), 0
        changes = _CHANGES // len(board.bit)
        while told != sea:  # with all of the sea told, the islands are known
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
        known = f", and {_SEA} is known to be sea" if _SEA in "".join(problem.rows) else ""
        return (
            f"Each cell of a grid with {n_rows} rows and {n_columns} columns is land or sea. Cells "
            "of land that share a side belong to the same island. Every island has exactly one "
            "cell with a number, which is the number of its cells. All cells of the sea are "
            "connected through their sides, and no two by two cells are all sea. The numbers are "
            f"these ({_OPEN} is open{known}):\n\n{show_grid(problem.rows)}\n\nThere is exactly one "
            f"way. Answer with the same grid, one row a line, with {_SEA} for each cell of the sea "
            f"and {_LAND} for each cell of land, those with numbers included."
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
        board = plane(len(problem.rows), len(problem.rows[0]))
        marks = list(zip(board.bit, "".join(problem.rows), strict=True))
        sea = sum(bit for bit, mark in marks if mark == _SEA)
        numbers = {bit: int(mark) for bit, mark in marks if mark not in (_SEA, _OPEN)}
        return Search(board, numbers, limit=_EFFORT_LIMIT, sea=sea).nodes

    def guess(self, problem: NurikabeProblem, rng: Rng) -> str:
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
        return "two by two cells are all sea"
    return "" if board.connected(sea) else "the sea is not connected"


def _fault_of_islands(board: Plane, sea: int, given: dict[int, str]) -> str:
    """Return what is wrong with the islands that a sea leaves, or the empty string."""
    land = board.board & ~sea
    for bit, mark in given.items():
        if mark == _SEA and not bit & sea:
            return "a cell known to be sea is land"
        if mark in (_SEA, _OPEN):
            continue
        island = board.reach(bit, land)
        if island.bit_count() != int(mark):
            return f"there is no island of {mark} cells around a number {mark}"
        land &= ~island  # so that a second number on it finds no island
    return "an island has no number" if land else ""


@cache
def _square_with_land() -> RowSet:
    """Return what two by two cells may be: anything but all sea."""
    return RowSet(list(product((0, 1), repeat=4))[1:])
