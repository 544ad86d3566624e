"""Slitherlink: one loop along the lines of a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table
from rlvr_envs.generators.grids.cells import plane
from rlvr_envs.generators.grids.deductions import Connected, Words, worked
from rlvr_envs.generators.moves.scoring import plural
from rlvr_envs.verifiers.grids import read_grid, show_grid

_INSIDE, _OUTSIDE, _NO_CLUE = "#", ".", "?"
_MAX_SIDE = 40
_DRAWS = 20
_LIMIT = 20_000  # cells of positions that proving uniqueness may look at
_FEWEST = 20  # positions, on a board of any size
_EFFORT_LIMIT = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlitherlinkConfig(TaskConfig):
    """The size of the grid, and how many cells have a number at first."""

    n_rows: int = knob(5, "rows of the board", low=3, high=_MAX_SIDE)
    n_columns: int = knob(5, "columns of the board", low=3, high=_MAX_SIDE)
    clue_percent: int = knob(
        60,
        "percentage of cells with a number, before more are added for uniqueness",
        low=1,
        high=100,
    )

    @classmethod
    def at(cls, difficulty: int) -> "SlitherlinkConfig":
        """The grid grows from 4x4 by a row or a column a level; the numbers get rarer, to 40%."""
        return cls(
            n_rows=min(_MAX_SIDE, 4 + difficulty // 2),
            n_columns=min(_MAX_SIDE, 4 + (difficulty + 1) // 2),
            clue_percent=max(40, 90 - 5 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class SlitherlinkProblem:
    """The numbers, row by row, and the cells inside the loop."""

    rows: tuple[str, ...]
    inside: tuple[str, ...] = hidden()


@register("Slitherlink-v0", domain="puzzles", answer_format="tag")
class SlitherlinkTask(Task[SlitherlinkConfig, SlitherlinkProblem]):
    """Find the loop along the lines of a grid; numbers say how many sides of a cell it uses.

    Description:
        A random winding loop, and the numbers of some cells. While another loop fits the numbers,
        a number that it does not fit is added.

    Observation:
        The grid with the numbers, and ``?`` for cells without one.

    Action:
        The cells inside the loop, as a grid: ``#`` for a cell inside and ``.`` for one outside.

    Reward:
        1 for the loop, otherwise 0.

    Verification:
        The border of the cells inside is a single loop that does not touch itself if these form
        one piece and each cell outside is connected to the edge of the grid; then the sides are
        counted. An exact search has shown that one loop fits. No known gaps.

    Difficulty:
        The grid grows, and the share of the cells with numbers falls: what one number does not
        tell follows only from several, and then from the loop being a single one.

    References:
        Yato and Seta, "Complexity and Completeness of Finding Another Solution and Its Application
        to Puzzles", 2003.
    """

    def generate(self, rng: Rng) -> SlitherlinkProblem:
        config = self.config
        shape = (config.n_rows, config.n_columns)
        n_cells = config.n_rows * config.n_columns
        n_clues = max(1, n_cells * config.clue_percent // 100)
        for _ in range(_DRAWS):
            inside = draw_inside(rng, shape)
            clues = draw_clues(rng, shape, inside, n_clues, limit=max(_FEWEST, _LIMIT // n_cells))
            if clues is not None:
                break
        else:  # all numbers of the loop along the edge of the grid fit no other loop
            inside = [1] * n_cells
            clues = dict(enumerate(count_sides(inside, shape)))
        marks = [str(clues[cell]) if cell in clues else _NO_CLUE for cell in range(n_cells)]
        picture = [_INSIDE if colour else _OUTSIDE for colour in inside]
        return SlitherlinkProblem(self._rows(marks), self._rows(picture))

    def _rows(self, marks: list[str]) -> tuple[str, ...]:
        width = self.config.n_columns
        return tuple("".join(marks[i : i + width]) for i in range(0, len(marks), width))

    def prompt(self, problem: SlitherlinkProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        is_open = _NO_CLUE in "".join(problem.rows)
        open_ = f"; {_NO_CLUE} marks a cell whose number is not given" if is_open else ""
        return (
            f"Solve this Slitherlink puzzle on a grid of {n_rows} rows and {n_columns} columns. "
            "Draw a single closed loop along the sides of cells. The loop must not cross or touch "
            "itself, not even at a corner. The number in a cell says how many of its four sides "
            f"belong to the loop{open_}:\n\n{show_grid(problem.rows)}\n\nThere is exactly one "
            f"solution. Answer with the same grid, one row per line, with {_INSIDE} for each cell "
            f"inside the loop and {_OUTSIDE} for each cell outside the loop."
        )

    def verify(self, problem: SlitherlinkProblem, answer: str) -> Verdict:
        shape = (len(problem.rows), len(problem.rows[0]))
        grid = read_grid(answer, *shape, (_INSIDE, _OUTSIDE))
        if grid is None:
            return Verdict.unparsable(
                f"expected {shape[0]} lines of {shape[1]} characters {_INSIDE} or {_OUTSIDE}"
            )
        inside = [int(mark == _INSIDE) for row in grid for mark in row]
        if not is_single(inside, shape):
            return Verdict.wrong("the border of the # cells is not a single loop")
        counts = count_sides(inside, shape)
        for cell, mark in enumerate("".join(problem.rows)):
            if mark not in (_NO_CLUE, str(counts[cell])):
                row, column = divmod(cell, shape[1])
                return Verdict.wrong(
                    f"the cell in row {row + 1}, column {column + 1} has {counts[cell]} sides on "
                    f"the loop instead of {mark}"
                )
        return Verdict.correct()

    def solve(self, problem: SlitherlinkProblem) -> str:
        return show_grid(problem.inside)

    def explain(self, problem: SlitherlinkProblem) -> list[str]:
        """Return the cells inside and outside the loop in an order in which they follow.

        Around the grid lies a ring of cells that are outside.
        """
        n_rows, width = len(problem.rows) + 2, len(problem.rows[0]) + 2
        rules: list[Rule] = []
        told = []
        for row, marks in enumerate(problem.rows, 1):
            for column, mark in enumerate(marks, 1):
                if mark != _NO_CLUE:
                    cell = row * width + column
                    cells = (cell, cell - width, cell + width, cell - 1, cell + 1)
                    rules.append(Table(cells, _with_sides(int(mark))))
                    told.append(f"the loop takes {plural(int(mark), 'side')} of ({row}, {column})")
        for cell in range((n_rows - 1) * width):
            if cell % width < width - 1:
                rules.append(Table((cell, cell + 1, cell + width, cell + width + 1), _corner()))
                told.append("the loop does not touch itself at a corner")
        rules += [Connected(n_rows, width, value) for value in (1, 0)]
        told += ["the cells inside are connected", "the cells outside are connected with the edge"]
        words = Words(
            lambda cell: f"({cell // width}, {cell % width})",
            "the rules",
            {},
            told,
            ("outside", "inside").__getitem__,
        )
        ring = _OUTSIDE * width
        picture = "".join([ring, *(f"{_OUTSIDE}{row}{_OUTSIDE}" for row in problem.inside), ring])
        solution = tuple(int(mark == _INSIDE) for mark in picture)
        masks = [
            0b11 if 0 < cell // width < n_rows - 1 and 0 < cell % width < width - 1 else 0b01
            for cell in range(n_rows * width)
        ]
        return worked(Network(len(masks), rules=rules), masks, solution, words)

    def effort(self, problem: SlitherlinkProblem) -> int:
        """Count the looks at a cell until the search has proven that there is one loop."""
        shape = (len(problem.rows), len(problem.rows[0]))
        marks = enumerate("".join(problem.rows))
        clues = {cell: int(mark) for cell, mark in marks if mark != _NO_CLUE}
        return Search(shape, clues, limit=_EFFORT_LIMIT).looked

    def baseline(self, rng: Rng, problem: SlitherlinkProblem) -> str:
        """Put cells with 0 outside, with 3 inside, and the others as the cell before, at random."""
        rows = []
        for row in problem.rows:
            line = ""
            for mark in row:
                by_clue = {"0": _OUTSIDE, "3": _INSIDE}.get(mark)
                line += by_clue or pick(rng, (_INSIDE, _OUTSIDE, line[-1:] or _INSIDE))
            rows.append(line)
        return show_grid(rows)


@cache
def _with_sides(count: int) -> RowSet:
    """Return the colours of a cell and the four beside it, so many of which are unlike it."""
    rows = product((0, 1), repeat=5)
    return RowSet([row for row in rows if sum(other != row[0] for other in row[1:]) == count])


@cache
def _corner() -> RowSet:
    """Return the colours of two by two cells that are no two pairs across."""
    rows = product((0, 1), repeat=4)
    return RowSet([row for row in rows if row not in ((0, 1, 1, 0), (1, 0, 0, 1))])


# Slitherlink: single loops as sets of cells inside them, and an exact search for others.
#
# A loop is known by the cells inside. It is a single one if these form one piece, and if every cell
# outside is connected to the border of the board through cells outside. A colour is 1 (inside), 0
# (outside) or -1 (not known yet); beyond the border everything is outside.


Shape = tuple[int, int]
_BULK = 16  # one in so many missing numbers is added at a time where the search gave up
_SHARE = 55  # per cent of the cells that a random loop tries to hold
# How likely, in per cent, a cell beside so many cells inside is taken: few make a winding loop.
_TAKEN = {1: 100, 2: 35, 3: 8}


@lru_cache(maxsize=64)
def sides(n_rows: int, n_columns: int) -> tuple[tuple[int, ...], ...]:
    """Return the four cells beside each cell; one off the board is the number of cells."""
    off = n_rows * n_columns
    return tuple(
        tuple(
            r * n_columns + c if 0 <= r < n_rows and 0 <= c < n_columns else off
            for r, c in ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
        )
        for row in range(n_rows)
        for column in range(n_columns)
    )


@lru_cache(maxsize=64)
def _squares(n_rows: int, n_columns: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return for each cell its two-by-two squares: the two cells beside it and the one across."""
    found: list[list[tuple[int, int, int]]] = [[] for _ in range(n_rows * n_columns)]
    for r in range(n_rows - 1):
        for c in range(n_columns - 1):
            a = r * n_columns + c
            b, d, e = a + 1, a + n_columns, a + n_columns + 1
            for cell, one, other, across in (
                (a, b, d, e),
                (b, a, e, d),
                (d, a, e, b),
                (e, b, d, a),
            ):
                found[cell].append((one, other, across))
    return tuple(map(tuple, found))


def count_sides(inside: Sequence[int], shape: Shape) -> list[int]:
    """Return how many sides of each cell belong to the loop around the cells of colour 1."""
    colours = [*inside, 0]
    return [
        sum(colours[other] != colours[cell] for other in beside)
        for cell, beside in enumerate(sides(*shape))
    ]


def is_single(inside: Sequence[int], shape: Shape) -> bool:
    """Whether the border of the cells of colour 1 is one loop that nowhere touches itself."""
    board = plane(*shape)
    cells = sum(bit for bit, colour in zip(board.bit, inside, strict=True) if colour == 1)
    rest = board.board & ~cells
    return bool(cells) and board.connected(cells) and board.reach(board.edge & rest, rest) == rest


def draw_inside(rng: Rng, shape: Shape) -> list[int]:
    """Return the colours of a random single loop."""
    n_cells = shape[0] * shape[1]
    beside = sides(*shape)
    colours = [0] * (n_cells + 1)
    start = integer(rng, 0, n_cells - 1)
    colours[start] = 1
    rim = [other for other in beside[start] if other < n_cells]
    left = max(1, n_cells * _SHARE // 100) - 1
    for _ in range(12 * n_cells):
        if not left or not rim:
            break
        i = int(rng.random() * len(rim))
        cell, rim[i] = rim[i], rim[-1]
        rim.pop()
        touching = sum(colours[other] for other in beside[cell])
        if colours[cell] or integer(rng, 1, 100) > _TAKEN.get(touching, 0):
            continue
        colours[cell] = 1
        if not is_single(colours[:n_cells], shape):
            colours[cell] = 0
            continue
        left -= 1
        rim.extend(other for other in beside[cell] if other < n_cells and not colours[other])
    return colours[:n_cells]


class Search:
    """Looks for loops with the given numbers of sides, but for one that does not count.

    Attributes:
        found: up to ``wanted`` loops, as colours.
        nodes: the positions looked at.
        looked: how often a cell was looked at for what follows from its colour and its number.
        exhausted: whether the limit ended the search.
    """

    def __init__(
        self,
        shape: Shape,
        clues: Mapping[int, int],
        *,
        limit: int,
        but_for: Sequence[int] | None = None,
        wanted: int = 2,
    ) -> None:
        self._shape = shape
        self._plane = plane(*shape)
        self._sides = sides(*shape)
        self._squares = _squares(*shape)
        self._clues = clues
        self._limit = limit
        self._but_for = list(but_for) if but_for is not None else None
        self._wanted = wanted
        self.nodes = self.looked = 0
        self.found: list[list[int]] = []
        self.exhausted = False
        n_cells = shape[0] * shape[1]
        colours = [-1] * n_cells + [0]
        self._run(colours, list(clues))

    def _run(self, colours: list[int], changed: list[int]) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) >= self._wanted:
            return
        self.nodes += 1
        if not self._settle(colours, changed):
            return
        cell = self._choose(colours)
        if cell is None:
            loop = colours[:-1]
            if 1 in loop and loop != self._but_for:
                self.found.append(loop)
            return
        first = 1 - self._but_for[cell] if self._but_for else 1
        for colour in (first, 1 - first):
            copy = colours.copy()
            copy[cell] = colour
            self._run(copy, [cell])

    def _choose(self, colours: list[int]) -> int | None:
        """Return the open cell that most is known around, clues counting twice."""
        best, most = None, -1
        for cell, beside in enumerate(self._sides):
            if colours[cell] < 0:
                known = sum(
                    (colours[other] >= 0) + 2 * (other in self._clues) for other in beside
                ) + 2 * (cell in self._clues)
                if known > most:
                    best, most = cell, known
        return best

    def _settle(self, colours: list[int], changed: list[int]) -> bool:
        """Draw conclusions from changed cells until there are none; False if a rule is broken."""
        off = len(colours) - 1
        while True:
            while changed:
                cell = changed.pop()
                if cell == off:
                    continue
                self.looked += 1
                for place in (cell, *self._sides[cell]):
                    if place in self._clues and not self._count(colours, place, changed):
                        return False
                if colours[cell] >= 0 and not self._square(colours, cell, changed):
                    return False
            if not self._connect(colours, changed):
                return False
            if not changed:
                return True

    def _count(self, colours: list[int], cell: int, changed: list[int]) -> bool:
        """Apply the number of a cell to it and the cells beside it."""
        clue, beside = self._clues[cell], self._sides[cell]
        around = [colours[other] for other in beside]
        inside, outside = around.count(1), around.count(0)
        n_open = 4 - inside - outside
        if colours[cell] < 0:
            can_be = (inside <= clue <= inside + n_open, outside <= clue <= outside + n_open)
            if can_be[0] != can_be[1]:
                colours[cell] = int(can_be[1])
                changed.append(cell)
            return any(can_be)
        own = colours[cell]
        need = clue - (outside if own else inside)
        if not 0 <= need <= n_open:
            return False
        if n_open and need in (0, n_open):
            for other in beside:
                if colours[other] < 0:
                    colours[other] = 1 - own if need else own
                    changed.append(other)
        return True

    def _square(self, colours: list[int], cell: int, changed: list[int]) -> bool:
        """Keep the loop from touching itself at a corner of a cell."""
        own = colours[cell]
        for one, other, across in self._squares[cell]:
            a, b, c = colours[one], colours[other], colours[across]
            if a == b == 1 - own:
                if c == own:
                    return False
                if c < 0:
                    colours[across] = a
                    changed.append(across)
            elif c == own and 1 - own in (a, b):
                place = one if a < 0 else other  # the other one of the two is known
                if colours[place] < 0:
                    colours[place] = own
                    changed.append(place)
        return True

    def _connect(self, colours: list[int], changed: list[int]) -> bool:
        """Colour what is cut off from the inside or from the border; False if a cell is."""
        board, bit = self._plane, self._plane.bit
        inside = sum(bit[i] for i, colour in enumerate(colours[:-1]) if colour == 1)
        outside = sum(bit[i] for i, colour in enumerate(colours[:-1]) if colour == 0)
        rest = board.board & ~inside
        indoors = rest & ~board.reach(board.edge & rest, rest)  # every way out is closed
        cut_off = 0  # no way leads to what is inside
        if inside:
            rest = board.board & ~outside
            cut_off = rest & ~board.reach(inside & -inside, rest)
        if indoors & (outside | cut_off) or inside & cut_off:
            return False
        if indoors | cut_off:
            for i, place in enumerate(bit):
                if place & (indoors | cut_off):
                    colours[i] = int(bool(place & indoors))
                    changed.append(i)
        return True


def draw_clues(
    rng: Rng, shape: Shape, inside: Sequence[int], n_clues: int, *, limit: int
) -> dict[int, int] | None:
    """Return numbers of sides that no other loop has; None if not even all of them are enough.

    There are ``n_clues`` at first; while another loop has them all, one is added that it lacks, and
    while the search ends at its limit, some.
    """
    counts = count_sides(inside, shape)
    order = rng.permutation(len(counts)).tolist()
    clues = {cell: counts[cell] for cell in sorted(order[:n_clues])}
    while True:
        search = Search(shape, clues, limit=limit, but_for=inside, wanted=1)
        if not search.found and not search.exhausted:
            return clues
        lacking = [cell for cell in range(len(counts)) if cell not in clues]
        if search.found:
            others = count_sides(search.found[0], shape)
            lacking = [cell for cell in lacking if others[cell] != counts[cell]]
        if not lacking:
            return None
        for _ in range(1 if search.found else 1 + len(lacking) // _BULK):
            cell = pick(rng, lacking)
            clues[cell] = counts[cell]
