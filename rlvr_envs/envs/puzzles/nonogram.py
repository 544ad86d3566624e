"""Nonogram: a picture from the lengths of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.cells import bits
from rlvr_envs.verifiers.grids import read_grid, show_grid

# An exact solver of nonograms: lines are narrowed to what all their fillings share, then search.
#
# A line is a pair of bit masks, the cells known to be filled and those known to be empty, with bit
# 0 for its first cell.

Runs = tuple[tuple[int, ...], ...]


def narrow(runs: Sequence[int], size: int, filled: int, empty: int) -> tuple[int, int] | None:
    """Return the cells that are filled, and empty, in every filling that fits; None if none fits.

    A run is taken together with the empty cell behind it, so the line gets one more cell. The
    sets of places that the first runs, and the last ones, can be put up to meet in the middle.
    """
    free = ~filled & ((1 << (size + 1)) - 1)
    open_ = ~empty & ((1 << size) - 1)
    starts = [_stretch(open_, run) & (free >> run) for run in runs]
    before = [_drift(1, free, size)]
    for run, start in zip(runs, starts, strict=True):
        before.append(_drift((before[-1] & start) << (run + 1), free, size))
    after = 1 << (size + 1)
    can_fill = can_empty = 0
    for j in range(len(runs), -1, -1):
        after = _drift_back(after, free, size)
        can_empty |= before[j] & free & (after >> 1)
        if j:
            run = runs[j - 1]
            placed = before[j - 1] & starts[j - 1] & (after >> (run + 1))
            can_empty |= placed << run
            can_fill |= _spread(placed, run)
            after = starts[j - 1] & (after >> (run + 1))
    if not before[-1] >> (size + 1) & 1:
        return None
    line = (1 << size) - 1
    return line & ~can_empty, line & ~can_fill


def _stretch(cells: int, length: int) -> int:
    """Return where ``length`` cells of a set begin to follow each other."""
    have = 1
    while have < length:
        step = min(have, length - have)
        cells &= cells >> step
        have += step
    return cells


def _spread(cells: int, length: int) -> int:
    """Return the cells covered by runs of a length that begin at ``cells``."""
    have = 1
    while have < length:
        step = min(have, length - have)
        cells |= cells << step
        have += step
    return cells


def _drift(places: int, free: int, size: int) -> int:
    """Return the places reached by leaving further cells empty."""
    step = 1
    while step <= size + 1:
        places |= (places & free) << step
        free &= free >> step
        step *= 2
    return places


def _drift_back(places: int, free: int, size: int) -> int:
    """Return the places from which leaving cells empty leads to one of ``places``."""
    step = 1
    while step <= size + 1:
        places |= (places >> step) & free
        free &= free >> step
        step *= 2
    return places


class Search:
    """Looks for up to two pictures with the given runs, within a limit on lines looked at.

    Attributes:
        lines: how many lines have been narrowed.
        pictures: what was found, each as the masks of its rows.
        stuck: the white and black cells that the lines alone leave open, as masks of rows.
        exhausted: whether the limit ended the search.
    """

    def __init__(self, rows: Runs, columns: Runs, *, limit: int) -> None:
        self._runs = rows + columns
        self._n_rows, self._n_columns = len(rows), len(columns)
        self._limit = limit
        self.lines = 0
        self.pictures: list[list[int]] = []
        self.exhausted = False
        n = len(self._runs)
        state = [0] * n, [0] * n
        self.stuck = [0] * self._n_rows
        if self._propagate(state, range(n)):
            whole = (1 << self._n_columns) - 1
            self.stuck = [whole & ~(state[0][r] | state[1][r]) for r in range(self._n_rows)]
            self._search(state)

    def _propagate(self, state: tuple[list[int], list[int]], changed: Sequence[int]) -> bool:
        """Narrow lines until nothing follows any more; False if a line has no filling."""
        filled, empty = state
        waiting = dict.fromkeys(changed)
        n_rows = self._n_rows
        while waiting:
            i = next(iter(waiting))
            del waiting[i]
            self.lines += 1
            size = self._n_columns if i < n_rows else n_rows
            found = narrow(self._runs[i], size, filled[i], empty[i])
            if found is None:
                return False
            for known, new in zip(state, found, strict=True):
                fresh = new & ~known[i]
                known[i] |= new
                offset = n_rows if i < n_rows else 0
                own = 1 << (i if i < n_rows else i - n_rows)
                while fresh:
                    low = fresh & -fresh
                    fresh ^= low
                    other = offset + low.bit_length() - 1
                    known[other] |= own
                    waiting[other] = None
        return True

    def _search(self, state: tuple[list[int], list[int]]) -> None:
        filled, empty = state
        whole = (1 << self._n_columns) - 1
        open_rows = [
            (((whole & ~(filled[r] | empty[r])).bit_count()), r)
            for r in range(self._n_rows)
            if filled[r] | empty[r] != whole
        ]
        if not open_rows:
            self.pictures.append(filled[: self._n_rows])
            return
        _, row = min(open_rows)
        unknown = whole & ~(filled[row] | empty[row])
        low = unknown & -unknown
        column = self._n_rows + low.bit_length() - 1
        for value in (0, 1):
            if self.lines >= self._limit:
                self.exhausted = True
            if self.exhausted or len(self.pictures) > 1:
                return
            copy = (filled.copy(), empty.copy())
            copy[1 - value][row] |= low
            copy[1 - value][column] |= 1 << row
            if self._propagate(copy, (row, column)):
                self._search(copy)

    @property
    def unique(self) -> bool:
        """Whether exactly one picture is proven to fit."""
        return not self.exhausted and len(self.pictures) == 1


_FILLED, _EMPTY = "#", "."
_MAX_SIDE = 64
_LIMIT = 20  # lines that proving uniqueness may look at, for each line of the picture
_SHARE = 24  # one in so many doubtful cells is filled at a time
_EFFORT_LIMIT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NonogramConfig(TaskConfig):
    """The size of the picture, and how much of it is filled at first."""

    n_rows: int = knob(7, "rows of the board", low=2, high=_MAX_SIDE)
    n_columns: int = knob(7, "columns of the board", low=2, high=_MAX_SIDE)
    filled_percent: int = knob(
        50,
        "share of filled cells before more are filled to make the picture unique",
        low=10,
        high=90,
    )

    @classmethod
    def at(cls, difficulty: int) -> "NonogramConfig":
        """The picture grows from 3x5 by a row and a column a level; fewer cells are filled.

        From level 10 on, 40 per cent are filled: the sparser the runs, the less one line tells.
        """
        side = min(_MAX_SIDE, 3 + difficulty)
        return cls(n_rows=side, n_columns=max(5, side), filled_percent=max(40, 60 - 2 * difficulty))


@dataclass(frozen=True, slots=True)
class NonogramProblem:
    """The runs of filled cells in each row and column, and the picture."""

    rows: Runs
    columns: Runs
    picture: tuple[str, ...] = hidden()


@register("Nonogram-v0", domain="puzzles", answer_format="tag")
class NonogramTask(Task[NonogramConfig, NonogramProblem]):
    """Find the picture whose rows and columns have the given runs of filled cells.

    Description:
        A random picture of filled and empty cells. While another picture has the same runs, cells
        that the runs leave open are filled, until there is only one picture.

    Observation:
        The lengths of the runs of filled cells of each row, from left to right, and of each
        column, from top to bottom.

    Action:
        The picture, one row a line: ``#`` for a filled cell and ``.`` for an empty one.

    Reward:
        1 for the solution, otherwise 0.

    Verification:
        The runs of the answer are counted. An exact search (each line is narrowed to what all its
        fillings share, then cells are tried) has shown that one picture fits. No known gaps.

    Difficulty:
        The picture grows, and fewer of its cells are filled, so that single lines tell less and
        lines must be combined.

    References:
        Ueda and Nagao, "NP-completeness Results for NONOGRAM via Parsimonious Reductions", 1996.
        Batenburg and Kosters, "Solving Nonograms by combining relaxations", Pattern Recognition,
        2009, for solving by lines.
    """

    def generate(self, rng: Rng) -> NonogramProblem:
        config = self.config
        share = config.filled_percent / 100
        noise = rng.random((config.n_rows, config.n_columns)) < share
        rows = [sum(1 << c for c, filled in enumerate(row) if filled) for row in noise.tolist()]
        while True:  # each pass fills cells; a full picture is the only one with its runs
            found = self._search(rows, config.n_columns)
            doubtful = [stuck & ~row for stuck, row in zip(found.stuck, rows, strict=True)]
            if len(found.pictures) > 1:
                one, other = found.pictures
                doubtful = [(a ^ b) & ~row for a, b, row in zip(one, other, rows, strict=True)]
            cells = [(r, c) for r, mask in enumerate(doubtful) for c in bits(mask)]
            # Another picture has as many filled cells, so it must fill an empty doubtful one.
            if found.unique or not cells:
                return self._problem(rows)
            for _ in range(1 + len(cells) // _SHARE):
                r, c = pick(rng, cells)
                rows[r] |= 1 << c

    def _search(self, rows: list[int], n_columns: int) -> Search:
        across, down = _runs(rows, n_columns)
        return Search(across, down, limit=_LIMIT * (len(rows) + n_columns))

    def _problem(self, rows: list[int]) -> NonogramProblem:
        n_columns = self.config.n_columns
        return NonogramProblem(*_runs(rows, n_columns), _picture(rows, n_columns))

    def prompt(self, problem: NonogramProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.columns)
        rows = "\n".join(f"row {i}: {_words(runs)}" for i, runs in enumerate(problem.rows, 1))
        columns = "\n".join(
            f"column {i}: {_words(runs)}" for i, runs in enumerate(problem.columns, 1)
        )
        all_runs = (*problem.rows, *problem.columns)
        empty = " The clue 0 means that no cell is filled." if () in all_runs else ""
        return (
            f"Solve this nonogram: in a grid with {n_rows} rows and {n_columns} columns, each cell "
            "is either filled or empty. The clue of a row gives the lengths of its runs of "
            "consecutive filled cells, from left to right. The clue of a column gives them from "
            "top to bottom. At least one empty cell separates two "
            f"runs.{empty}\n\n{rows}\n\n{columns}\n\nThere is exactly one solution. Answer with "
            f"the grid, one row per line: {_FILLED} for a filled cell and {_EMPTY} for an empty "
            "cell."
        )

    def verify(self, problem: NonogramProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.rows), len(problem.columns)
        grid = read_grid(answer, n_rows, n_columns, (_FILLED, _EMPTY))
        if grid is None:
            return Verdict.unparsable(
                f"expected {n_rows} lines of {n_columns} characters {_FILLED} or {_EMPTY}"
            )
        for name, wanted, lines in (
            ("row", problem.rows, grid),
            ("column", problem.columns, zip(*grid, strict=True)),
        ):
            for i, (runs, line) in enumerate(zip(wanted, lines, strict=True), 1):
                if runs_of([cell == _FILLED for cell in line]) != runs:
                    return Verdict.wrong(f"{name} {i} does not match its clue")
        return Verdict.correct()

    def solve(self, problem: NonogramProblem) -> str:
        return show_grid(problem.picture)

    def explain(self, problem: NonogramProblem) -> list[str]:
        """Return line by line what all fillings that fit share, with _ for an open cell."""
        filled = [sum(1 << c for c, m in enumerate(row) if m == _FILLED) for row in problem.picture]
        return explained(problem.rows, problem.columns, filled)

    def effort(self, problem: NonogramProblem) -> int:
        """Count the lines looked at until the search has proven that there is one picture."""
        return Search(problem.rows, problem.columns, limit=_EFFORT_LIMIT).lines

    def baseline(self, rng: Rng, problem: NonogramProblem) -> str:
        """Push the runs of every row to the left."""
        width = len(problem.columns)
        lines = (_EMPTY.join(_FILLED * run for run in runs) for runs in problem.rows)
        return show_grid([line.ljust(width, _EMPTY) for line in lines])


def _runs(rows: list[int], n_columns: int) -> tuple[Runs, Runs]:
    cells = [[bool(row >> c & 1) for c in range(n_columns)] for row in rows]
    across = tuple(runs_of(line) for line in cells)
    return across, tuple(runs_of(line) for line in zip(*cells, strict=True))


def _picture(rows: list[int], n_columns: int) -> tuple[str, ...]:
    return tuple(
        "".join(_FILLED if row >> c & 1 else _EMPTY for c in range(n_columns)) for row in rows
    )


def _words(runs: tuple[int, ...]) -> str:
    return " ".join(map(str, runs)) or "0"


_SUPPOSED = 60  # cells whose opposite is looked at where no line tells more


def runs_of(line: Sequence[bool]) -> tuple[int, ...]:
    """Return the lengths of the runs of filled cells, from first to last."""
    found, length = [], 0
    for filled in (*line, False):
        if filled:
            length += 1
        elif length:
            found.append(length)
            length = 0
    return tuple(found)


def explained(rows: Runs, columns: Runs, picture: Sequence[int]) -> list[str]:
    """Return line by line how the only picture, given by the masks of its rows, is found."""
    return _Explained(rows, columns, picture).steps


class _Explained:
    """What is known of the lines, and the steps that led there."""

    def __init__(self, rows: Runs, columns: Runs, picture: Sequence[int]) -> None:
        self._runs, self._n_rows, self._n_columns = rows + columns, len(rows), len(columns)
        self._picture = picture
        self._known = [(0, 0)] * len(self._runs)
        self.steps: list[str] = []
        open_cells = [(r, c) for r in range(len(rows)) for c in range(len(columns))]
        while open_cells:
            if not self._line():
                self._suppose(open_cells)
            open_cells = [(r, c) for r, c in open_cells if not sum(self._known[r]) >> c & 1]

    def _narrowed(self, known: list[tuple[int, int]], i: int) -> tuple[int, int] | None:
        size = self._n_columns if i < self._n_rows else self._n_rows
        return narrow(self._runs[i], size, *known[i])

    def _line(self) -> bool:
        """Write down the line of which most becomes known; False if nothing does."""
        found = [self._narrowed(self._known, i) or (0, 0) for i in range(len(self._runs))]
        gains = [
            sum(new).bit_count() - sum(old).bit_count()
            for new, old in zip(found, self._known, strict=True)
        ]
        best = max(range(len(gains)), key=gains.__getitem__)
        if gains[best] <= 0:
            return False
        self._mark(self._known, best, found[best])
        size = self._n_columns if best < self._n_rows else self._n_rows
        cells = [
            "#" if found[best][0] >> k & 1 else "." if found[best][1] >> k & 1 else "_"
            for k in range(size)
        ]
        still = ", _ still open" if "_" in cells else ""
        self.steps.append(f"{self._name(best)}{still}: {' '.join(cells)}")
        return True

    def _name(self, i: int) -> str:
        runs = " ".join(map(str, self._runs[i])) or "0"
        line = f"Row {i + 1}" if i < self._n_rows else f"Column {i - self._n_rows + 1}"
        return f"{line} ({runs})"

    def _mark(self, known: list[tuple[int, int]], i: int, masks: tuple[int, int]) -> list[int]:
        """Enter a line and return the lines across it of which more is known."""
        fresh = sum(masks) & ~sum(known[i])
        known[i] = masks
        offset, own = (self._n_rows, i) if i < self._n_rows else (0, i - self._n_rows)
        lines = []
        for k in range(fresh.bit_length()):
            if fresh >> k & 1:
                filled, empty = known[offset + k]
                is_filled = masks[0] >> k & 1
                known[offset + k] = (
                    filled | is_filled << own,
                    empty | (1 - is_filled) << own,
                )
                lines.append(offset + k)
        return lines

    def _suppose(self, open_cells: list[tuple[int, int]]) -> None:
        """Settle a cell by what follows line by line from its opposite, or just state it."""
        for r, c in open_cells[:_SUPPOSED]:
            trouble = self._trouble(r, c)
            if trouble:
                break
        else:
            (r, c), trouble = open_cells[0], "the search for the other cells fails in the end"
        value = self._picture[r] >> c & 1
        kinds = ("empty", "filled")
        self.steps.append(
            f"Suppose row {r + 1}, column {c + 1} is {kinds[1 - value]}: then {trouble}. So it is "
            f"{kinds[value]}"
        )
        filled, empty = self._known[r]
        self._mark(self._known, r, (filled | value << c, empty | (1 - value) << c))

    def _trouble(self, r: int, c: int) -> str:
        """Return which line has no filling if a cell is not as in the picture, if one has none."""
        known = list(self._known)
        wrong = 1 - (self._picture[r] >> c & 1)
        filled, empty = known[r]
        waiting = [r, *self._mark(known, r, (filled | wrong << c, empty | (1 - wrong) << c))]
        while waiting:
            i = waiting.pop(0)
            found = self._narrowed(known, i)
            if found is None:
                return f"going on line by line, nothing fits {self._name(i).lower()} any more"
            waiting += [k for k in self._mark(known, i, found) if k not in waiting]
        return ""
