"""Hitori: shade cells so that no number is left twice in a row or column."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, Rule
from rlvr_envs.generators.grids.cells import bits, neighbours, plane, show_cell, show_cells
from rlvr_envs.generators.grids.deductions import Alone, AtMostOne, Connected, Words, worked
from rlvr_envs.verifiers.grids import read_grid, show_grid

_SHADED, _CLEAR = "#", "."
_CHANGES = 3  # of numbers, for each shaded cell, before cells are given
_LIMIT = 400  # positions that proving uniqueness may look at
_EFFORT_LIMIT = 5_000
_LARGEST = 60  # side of a grid


@dataclass(frozen=True, slots=True, kw_only=True)
class HitoriConfig(TaskConfig):
    """The size of the grid."""

    n_rows: int = knob(6, "rows of the board", low=3, high=_LARGEST)
    n_columns: int = knob(6, "columns of the board", low=3, high=_LARGEST)

    @classmethod
    def at(cls, difficulty: int) -> "HitoriConfig":
        """The grid grows from 4x4 through 4x5 to 5x5, then by a row and a column a level."""
        side = min(_LARGEST, 3 + max(1, difficulty))
        return cls(n_rows=side, n_columns=side + (difficulty == 1))


@dataclass(frozen=True, slots=True)
class HitoriProblem:
    """The numbers, row by row, and what is shaded; ``told`` counts cells from 0."""

    numbers: tuple[tuple[int, ...], ...]
    told: tuple[int, ...]  # cells that are known to be shaded
    picture: tuple[str, ...] = hidden()


@register("Hitori-v0", domain="puzzles", answer_format="tag")
class HitoriTask(Task[HitoriConfig, HitoriProblem]):
    """Shade cells of a grid of numbers so that no number is left twice in a row or column.

    Description:
        A random pattern of shaded cells to which none can be added is drawn, then numbers that are
        all different in each row and column. Each shaded cell gets a number that a clear cell in
        its row or column has. While another pattern fits, the number in a cell that only the
        planted pattern shades is changed to rule the other one out. Where that does not end soon,
        some cells are given as shaded.

    Observation:
        The numbers, and the cells that are given as shaded, if any.

    Action:
        The grid, one row a line: ``#`` for a shaded cell and ``.`` for a clear one.

    Reward:
        1 for the pattern, otherwise 0.

    Verification:
        The three rules are checked. An exact search has shown that one pattern fits. No known gaps.

    Difficulty:
        The grid grows, and with it the chains of cells that must be followed until a rule breaks.
        Only size grows here.

    References:
        Hearn and Demaine, "Games, Puzzles, and Computation", 2009, for NP-completeness.
    """

    def generate(self, rng: Rng) -> HitoriProblem:
        n_rows, n_columns = self.config.n_rows, self.config.n_columns
        board = plane(n_rows, n_columns)
        shaded = draw_shading(rng, n_rows, n_columns)
        numbers = draw_numbers(rng, n_rows, n_columns)
        cells = [i for i, bit in enumerate(board.bit) if bit & shaded]
        clear = board.board & ~shaded
        for cell in cells:
            numbers[cell // n_columns][cell % n_columns] = pick(rng, _seen(numbers, cell, clear))
        told: list[int] = []
        changes = _CHANGES * len(cells)
        while len(told) < len(cells):  # with all of them given, no other cell can be shaded
            search = Search(
                numbers,
                limit=_LIMIT,
                known=sum(board.bit[cell] for cell in told),
                but_for=shaded,
                wanted=1,
            )
            if not search.found and not search.exhausted:
                break
            other = search.found[0] if search.found else 0
            doubtful = [cell for cell in cells if cell not in told and not board.bit[cell] & other]
            cell = pick(rng, doubtful)
            if search.found and changes:
                changes -= 1
                here = _seen(numbers, cell, clear)
                there = _seen(numbers, cell, board.board & ~other)
                both = [number for number in there if number in here]
                numbers[cell // n_columns][cell % n_columns] = pick(rng, both or there)
            else:
                told.append(cell)
        picture = [_SHADED if bit & shaded else _CLEAR for bit in board.bit]
        return HitoriProblem(
            tuple(map(tuple, numbers)),
            tuple(sorted(told)),
            tuple("".join(picture[r * n_columns : (r + 1) * n_columns]) for r in range(n_rows)),
        )

    def prompt(self, problem: HitoriProblem) -> str:
        n_rows, n_columns = len(problem.numbers), len(problem.numbers[0])
        width = max(len(str(number)) for row in problem.numbers for number in row)
        numbers = "\n".join(
            " ".join(str(number).rjust(width) for number in row) for row in problem.numbers
        )
        given = (
            f"Known to be shaded, as (row, column): {show_cells(problem.told, n_columns)}. Rows "
            "and columns are numbered from 1 from the top left.\n\n"
            if problem.told
            else ""
        )
        return (
            f"Shade some cells of this grid with {n_rows} rows and {n_columns} columns:\n\n"
            f"{numbers}\n\nFollow these rules:\n"
            "- In each row and each column, the unshaded cells contain different numbers.\n"
            "- No two shaded cells share a side.\n"
            "- The unshaded cells form one connected area; cells are connected if they share a "
            f"side.\n\n{given}There is exactly one solution. Answer with the whole grid, one row "
            f"per line: {_SHADED} for a shaded cell and {_CLEAR} for an unshaded cell."
        )

    def verify(self, problem: HitoriProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.numbers), len(problem.numbers[0])
        grid = read_grid(answer, n_rows, n_columns, (_SHADED, _CLEAR))
        if grid is None:
            return Verdict.unparsable(
                f"expected {n_rows} lines of {n_columns} characters {_SHADED} or {_CLEAR}"
            )
        if any(grid[cell // n_columns][cell % n_columns] != _SHADED for cell in problem.told):
            return Verdict.wrong("a cell known to be shaded is not shaded")
        left = [
            [number if mark == _CLEAR else 0 for number, mark in zip(row, marks, strict=True)]
            for row, marks in zip(problem.numbers, grid, strict=True)
        ]
        for name, lines in (
            ("row", left),
            ("column", [list(line) for line in zip(*left, strict=True)]),
        ):
            for i, line in enumerate(lines, 1):
                numbers = [number for number in line if number]
                if len(set(numbers)) < len(numbers):
                    return Verdict.wrong(f"{name} {i} has the same number in two unshaded cells")
        board = plane(n_rows, n_columns)
        marks = [mark for row in grid for mark in row]
        shaded = sum(bit for bit, mark in zip(board.bit, marks, strict=True) if mark == _SHADED)
        if board.around(shaded) & shaded:
            return Verdict.wrong("two shaded cells share a side")
        if not board.connected(board.board & ~shaded):
            return Verdict.wrong("the unshaded cells are not all connected")
        return Verdict.correct()

    def solve(self, problem: HitoriProblem) -> str:
        return show_grid(problem.picture)

    def explain(self, problem: HitoriProblem) -> list[str]:
        """Return the cells that are shaded and clear in an order in which they follow."""
        n_rows, n_columns = len(problem.numbers), len(problem.numbers[0])
        marks = [number for row in problem.numbers for number in row]
        rules: list[Rule] = []
        told = []
        for cell, beside in enumerate(neighbours(n_rows, n_columns)):
            rules.append(Alone((cell, *beside)))
            told.append(f"no shaded cell shares a side with {show_cell(cell, n_columns)}")
        for name, cells in _line_cells(n_rows, n_columns):
            for number in sorted({marks[cell] for cell in cells}):
                same = tuple(cell for cell in cells if marks[cell] == number)
                if len(same) > 1:
                    rules.append(AtMostOne(same))
                    told.append(f"{name} keeps at most one {number}")
        rules.append(Connected(n_rows, n_columns, 0))
        told.append("the clear cells are connected")
        words = Words(
            lambda cell: show_cell(cell, n_columns),
            "the rules",
            {},
            told,
            ("clear", "shaded").__getitem__,
        )
        masks = [0b10 if cell in problem.told else 0b11 for cell in range(len(marks))]
        solution = tuple(int(mark == _SHADED) for mark in "".join(problem.picture))
        return worked(Network(len(marks), rules=rules), masks, solution, words)

    def effort(self, problem: HitoriProblem) -> int:
        """Count the positions that a search looks at until it knows that one pattern fits."""
        board = plane(len(problem.numbers), len(problem.numbers[0]))
        known = sum(board.bit[cell] for cell in problem.told)
        return Search(problem.numbers, limit=_EFFORT_LIMIT, known=known).nodes

    def baseline(self, rng: Rng, problem: HitoriProblem) -> str:
        """Go through the cells and shade those whose number was left before in row or column."""
        n_columns = len(problem.numbers[0])
        rows: list[str] = []
        kept: list[set[int]] = [set() for _ in range(n_columns)]
        for r, row in enumerate(problem.numbers):
            line, seen = "", set[int]()
            for c, number in enumerate(row):
                if r * n_columns + c in problem.told or number in seen or number in kept[c]:
                    line += _SHADED
                else:
                    line += _CLEAR
                    seen.add(number)
                    kept[c].add(number)
            rows.append(line)
        return show_grid(rows)


def _line_cells(n_rows: int, n_columns: int) -> list[tuple[str, range]]:
    n_cells = n_rows * n_columns
    rows = [(f"row {r + 1}", range(r * n_columns, (r + 1) * n_columns)) for r in range(n_rows)]
    return rows + [(f"column {c + 1}", range(c, n_cells, n_columns)) for c in range(n_columns)]


def _seen(numbers: list[list[int]], cell: int, clear: int) -> list[int]:
    """Return the numbers that clear cells of a cell's row and column have."""
    n_rows, n_columns = len(numbers), len(numbers[0])
    bit = plane(n_rows, n_columns).bit
    row, column = divmod(cell, n_columns)
    across = {
        numbers[row][c]
        for c in range(n_columns)
        if c != column and bit[row * n_columns + c] & clear
    }
    down = {
        numbers[r][column]
        for r in range(n_rows)
        if r != row and bit[r * n_columns + column] & clear
    }
    return sorted(across | down)


# Hitori: patterns of shaded cells, and an exact search for shadings of a grid of numbers.
#
# Sets of cells are integers in the bits of a `Plane`.


Numbers = Sequence[Sequence[int]]


def draw_shading(rng: Rng, n_rows: int, n_columns: int) -> int:
    """Return random shaded cells to which none can be added.

    None share a side, and the other cells are connected.
    """
    board = plane(n_rows, n_columns)
    shaded, grown = 0, True
    order = [board.bit[i] for i in rng.permutation(len(board.bit)).tolist()]
    while grown:  # a cell that cut the others apart may be free later
        grown = False
        for cell in order:
            if not cell & shaded and not board.around(cell) & shaded:
                rest = board.board & ~(shaded | cell)
                if rest and board.connected(rest):
                    shaded |= cell
                    grown = True
    return shaded


def draw_numbers(rng: Rng, n_rows: int, n_columns: int) -> list[list[int]]:
    """Return numbers from 1 that are all different in every row and column."""
    size = max(n_rows, n_columns)
    rows, columns, symbols = (rng.permutation(size).tolist() for _ in range(3))
    return [
        [symbols[(rows[r] + columns[c]) % size] + 1 for c in range(n_columns)]
        for r in range(n_rows)
    ]


def rivals_of(numbers: Numbers) -> list[int]:
    """Return for each cell the cells of its row and column with the same number."""
    board = plane(len(numbers), len(numbers[0]))
    width = len(numbers[0])
    marks = [number for row in numbers for number in row]
    found = [0] * len(marks)
    for line in (*_rows(len(numbers), width), *_columns(len(numbers), width)):
        places: dict[int, int] = {}
        for cell in line:
            places[marks[cell]] = places.get(marks[cell], 0) | board.bit[cell]
        for cell in line:
            found[cell] |= places[marks[cell]] & ~board.bit[cell]
    return found


def _rows(n_rows: int, width: int) -> list[range]:
    return [range(r * width, (r + 1) * width) for r in range(n_rows)]


def _columns(n_rows: int, width: int) -> list[range]:
    return [range(c, n_rows * width, width) for c in range(width)]


class Search:
    """Looks for shadings that fit the numbers, but for one that does not count.

    Cells that are ``known`` are shaded in each of them.

    Attributes:
        found: up to ``wanted`` sets of shaded cells.
        nodes: the positions looked at.
        exhausted: whether the limit ended the search.
    """

    def __init__(
        self,
        numbers: Numbers,
        *,
        limit: int,
        known: int = 0,
        but_for: int | None = None,
        wanted: int = 2,
    ) -> None:
        self._board = plane(len(numbers), len(numbers[0]))
        at = {bit: i for i, bit in enumerate(self._board.bit)}
        rivals = rivals_of(numbers)
        self._rivals = {bit: rivals[i] for bit, i in at.items()}
        self._limit = limit
        self._but_for = but_for
        self._wanted = wanted
        self.nodes = 0
        self.found: list[int] = []
        self.exhausted = False
        self._order = sorted(self._board.bit, key=lambda bit: -self._rivals[bit].bit_count())
        self._run(0, 0, known, 0)

    def _run(self, shaded: int, clear: int, new_shaded: int, new_clear: int) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) >= self._wanted:
            return
        self.nodes += 1
        settled = self._settle(shaded, clear, new_shaded, new_clear)
        if settled is None:
            return
        shaded, clear = settled
        cell = self._choose(shaded | clear)
        if not cell:
            if shaded != self._but_for:
                self.found.append(shaded)
            return
        clear_first = self._but_for is None or bool(cell & self._but_for)
        for is_clear in (clear_first, not clear_first):
            self._run(shaded, clear, 0 if is_clear else cell, cell if is_clear else 0)

    def _choose(self, known: int) -> int:
        """Return the open cell with the most rivals, those with open ones first; 0 if none is."""
        best = 0
        for cell in self._order:
            if not cell & known:
                if self._rivals[cell] & ~known:
                    return cell
                best = best or cell
        return best

    def _settle(
        self, shaded: int, clear: int, new_shaded: int, new_clear: int
    ) -> tuple[int, int] | None:
        """Draw conclusions from newly known cells; None if a rule is broken."""
        board = self._board
        while True:
            while new_shaded or new_clear:
                shaded, clear = shaded | new_shaded, clear | new_clear
                if shaded & clear:
                    return None
                next_clear, next_shaded = board.around(new_shaded), 0
                for cell in bits(new_clear):
                    next_shaded |= self._rivals[1 << cell]
                new_shaded, new_clear = next_shaded & ~shaded, next_clear & ~clear
            if not clear:
                return shaded, clear
            rest = board.board & ~shaded
            cut_off = rest & ~board.reach(clear & -clear, rest)
            if cut_off & clear:
                return None
            if not cut_off:
                return shaded, clear
            new_shaded = cut_off
