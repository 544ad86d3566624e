"""Kakuro: digits that add up to given sums, a crossword of numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, Values, search, shuffled, shuffled_order
from rlvr_envs.generators.grids.cells import plane
from rlvr_envs.generators.grids.clues import choose_clues
from rlvr_envs.generators.grids.deductions import Words, worked
from rlvr_envs.generators.grids.latin_squares import EMPTY
from rlvr_envs.generators.grids.sums import Sum, choices
from rlvr_envs.verifiers.grids import read_grid, show_grid

Cell = tuple[int, int]  # row and column
Run = tuple[Cell, ...]
_MAX_SIDE = 64
_EFFORT_NODES = 3_000
_AREAS = 50  # drawn to find one that fills half of the grid
_MOST_CLEARED = 300  # white cells; in larger grids, digits are given without more ado
_LAYOUTS = 3  # tried until one needs no given digits
_CHANGES = 90  # of digits, to get rid of other solutions
_CHANGE_NODES = 60  # of the search for other digits in a few cells

DIGITS = "123456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class KakuroConfig(TaskConfig):
    """The size of the grid, and how many digits are given beside the sums."""

    side: int = knob(6, "rows and columns of the grid", low=2, high=_MAX_SIDE)
    max_run: int = knob(5, "cells in the longest run", low=2, high=len(DIGITS))
    given_percent: int = knob(
        0,
        "share of the digits that are given; more where a unique solution needs them",
        low=0,
        high=99,
    )

    @classmethod
    def at(cls, difficulty: int) -> "KakuroConfig":
        """Fewer digits are given up to level 2; from level 3 on none, and the grid grows."""
        side = max(3, 2 + min(difficulty, 10) + max(0, difficulty - 10) // 2)
        return cls(
            side=3 if difficulty < 3 else min(_MAX_SIDE, side),
            max_run=4,
            given_percent=(60, 35, 12)[difficulty] if difficulty < 3 else 0,
        )


@dataclass(frozen=True, slots=True)
class KakuroProblem:
    """Rows of ``#`` for black cells, dots for empty ones and given digits; sums in reading order.

    A run is a longest line of cells that are not black; ``across`` and ``down`` have the sums of
    the runs in rows and in columns, ordered by the runs' first cells, row by row and column by
    column.
    """

    rows: tuple[str, ...]
    across: tuple[int, ...]
    down: tuple[int, ...]
    solution: tuple[str, ...] = hidden()


@register("Kakuro-v0", domain="puzzles", answer_format="tag")
class KakuroTask(Task[KakuroConfig, KakuroProblem]):
    """Fill the white cells so that each run has its sum and repeats no digit.

    Description:
        Black cells are drawn at random such that no run has a single cell and the white cells are
        one connected area. The digits are drawn by a search in random order that prefers small and
        large ones, whose sums say more. Then digits of cells that do not follow from the sums are
        changed until they do. If that does not come to an end, digits that an exact search needs to
        rule out a second solution are given.

    Observation:
        The grid, and the sum of each run in a row or a column.

    Action:
        The filled grid with its black cells, a row a line.

    Reward:
        1 for a grid that keeps the given cells and follows every rule, otherwise 0.

    Verification:
        The rules, checked on every run. No known gaps.

    Difficulty:
        First fewer digits are given, then the area grows, so that longer chains of sums decide.
        From level 3 on there are few given digits or none.

    References:
        Simonis, "Kakuro as a Constraint Problem", 2008.
    """

    def generate(self, rng: Rng) -> KakuroProblem:
        config = self.config
        rows, digits, is_done = self._draw(rng)
        for _ in range(_LAYOUTS - 1):
            if is_done:
                break
            rows, digits, is_done = self._draw(rng)
        across, down = runs_of(rows)
        cells, groups = _numbered(across, down)
        sums = _sums(groups, digits)
        n_givens = len(cells) * config.given_percent // 100
        shown = choose_clues(rng, _network(groups, sums), digits, n_givens, UNKNOWN)
        givens = {cells[i]: str(digits[i]) for i in shown}
        full = {cell: str(digit) for cell, digit in zip(cells, digits, strict=True)}
        return KakuroProblem(
            rows=written(config.side, dict.fromkeys(cells, EMPTY) | givens),
            across=tuple(sums[: len(across)]),
            down=tuple(sums[len(across) :]),
            solution=written(config.side, full),
        )

    def _draw(self, rng: Rng) -> tuple[tuple[str, ...], Values, bool]:
        """Draw black cells and digits, and return whether they will do.

        They will where all digits follow from the sums, or where some are given anyway.
        """
        rows = layout(rng, self.config.side, self.config.max_run)
        cells, groups = _numbered(*runs_of(rows))
        digits = _filled(rng, cells, groups)
        if self.config.given_percent or len(cells) > _MOST_CLEARED:
            return rows, digits, True
        return rows, *_cleared(rng, groups, digits)

    def prompt(self, problem: KakuroProblem) -> str:
        lines = _lines(*runs_of(problem.rows))
        totals = (*problem.across, *problem.down)
        sums = [f"{line}: {total}" for line, total in zip(lines, totals, strict=True)]
        size = len(problem.rows)
        cells = "".join(problem.rows)
        black = f" {BLACK} is a black cell, which stays as it is." if BLACK in cells else ""
        given = " Do not change the given digits." if set(cells) - {EMPTY, BLACK} else ""
        form = f" and each black cell written as {BLACK}" if black else ""
        return (
            f"Fill every empty cell of this {size}×{size} grid with a digit from 1 to 9. A dot is "
            f"an empty cell.{black}{given}\n\n{show_grid(problem.rows)}\n\n"
            "Below is a list of lines of adjacent cells, each with its sum. The digits of each "
            "line must add up to its sum, and no digit may occur twice in a line."
            f"{' Given digits count too.' if given else ''} Rows are numbered from 1 from the top, "
            "columns from 1 from the left.\n\n"
            + "\n".join(sums)
            + "\n\nThere is exactly one solution. Answer with the whole filled grid, one row per "
            f"line, with the cells separated by spaces{form}."
        )

    def verify(self, problem: KakuroProblem, answer: str) -> Verdict:
        size = len(problem.rows)
        grid = read_grid(answer, size, size, (*DIGITS, BLACK))
        if grid is None:
            return Verdict.unparsable(
                f"expected {size} lines of {size} cells, each a digit from 1 to 9 or {BLACK}"
            )
        for number, (row, given) in enumerate(zip(grid, problem.rows, strict=True), start=1):
            for cell, mark in zip(row, given, strict=True):
                kept = cell != BLACK if mark == EMPTY else cell == mark
                if not kept:
                    return Verdict.wrong(f"row {number} changes a given digit or a black cell")
        across, down = runs_of(problem.rows)
        totals = (*problem.across, *problem.down)
        for number, (run, total) in enumerate(zip((*across, *down), totals, strict=True)):
            digits = [int(grid[r][c]) for r, c in run]
            if sum(digits) != total or len(set(digits)) < len(digits):
                name = "row" if number < len(across) else "column"
                return Verdict.wrong(
                    f"the line in a {name} that starts in row {run[0][0] + 1}, column "
                    f"{run[0][1] + 1} has the wrong sum or contains a digit twice"
                )
        return Verdict.correct()

    def solve(self, problem: KakuroProblem) -> str:
        return show_grid(problem.solution)

    def explain(self, problem: KakuroProblem) -> list[str]:
        """Return what the sums leave, and the cells as they can be filled."""
        across, down = runs_of(problem.rows)
        cells, _ = _numbered(across, down)
        sums = [
            f"{line} {'has' if len(run) == 1 else 'have'} the sum {total}"
            for line, run, total in zip(
                _lines(across, down),
                (*across, *down),
                (*problem.across, *problem.down),
                strict=True,
            )
        ]
        words = Words(
            lambda cell: f"row {cells[cell][0] + 1}, column {cells[cell][1] + 1}",
            "the other digits in its lines",
            {},
            sums,
        )
        solution = tuple(int(problem.solution[r][c]) for r, c in cells)
        return worked(*_search_data(problem), solution, words)

    def effort(self, problem: KakuroProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network, masks = _search_data(problem)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: KakuroProblem) -> str:
        """Fill the runs in rows with the least digits that have their sums, blind to columns."""
        marks = {}
        across, _ = runs_of(problem.rows)
        for run, total in zip(across, problem.across, strict=True):
            given = {
                cell: mark for cell in run if (mark := problem.rows[cell[0]][cell[1]]) != EMPTY
            }
            fixed = sum(1 << int(mark) for mark in given.values())
            choice = next(bits for bits in choices(len(run))[total] if not fixed & ~bits)
            rest = iter(digit for digit in DIGITS if (choice ^ fixed) >> int(digit) & 1)
            marks.update({cell: given.get(cell) or next(rest) for cell in run})
        return show_grid(written(len(problem.rows), marks))


def _lines(across: list[Run], down: list[Run]) -> list[str]:
    """Return the names of the runs."""
    return [
        *(f"row {r[0][0] + 1}, columns {r[0][1] + 1} to {r[-1][1] + 1}" for r in across),
        *(f"column {r[0][1] + 1}, rows {r[0][0] + 1} to {r[-1][0] + 1}" for r in down),
    ]


def _network(groups: tuple[Values, ...], sums: Sequence[int]) -> Network:
    rules = [Sum(group, total) for group, total in zip(groups, sums, strict=True)]
    return Network(1 + max(map(max, groups)), groups=groups, rules=rules)


def _numbered(across: list[Run], down: list[Run]) -> tuple[list[Cell], tuple[Values, ...]]:
    """Return the white cells in reading order, and the runs by the cells' numbers."""
    cells = [cell for run in across for cell in run]
    number = {cell: i for i, cell in enumerate(cells)}
    return cells, tuple(tuple(number[cell] for cell in run) for run in (*across, *down))


def _search_data(problem: KakuroProblem) -> tuple[Network, list[int]]:
    across, down = runs_of(problem.rows)
    cells, groups = _numbered(across, down)
    marks = [problem.rows[r][c] for r, c in cells]
    masks = [UNKNOWN if mark == EMPTY else 1 << int(mark) for mark in marks]
    return _network(groups, (*problem.across, *problem.down)), masks


def _sums(groups: tuple[Values, ...], digits: Values) -> list[int]:
    return [sum(digits[cell] for cell in group) for group in groups]


def _filled(rng: Rng, cells: list[Cell], groups: tuple[Values, ...]) -> Values:
    """Draw digits that differ within each run."""
    found = _redrawn(rng, groups, [UNKNOWN] * len(cells), 2 * len(cells))
    # no run is longer than nine
    return found or tuple((row + column) % 9 + 1 for row, column in cells)


def _redrawn(
    rng: Rng, groups: tuple[Values, ...], masks: list[int], max_nodes: int
) -> Values | None:
    """Draw digits for the open cells of some masks, if the search finds any in time."""
    order = shuffled_order(rng, len(masks), 9)
    found = search(
        Network(len(masks), groups=groups),
        masks,
        limit=1,
        max_nodes=max_nodes,
        order=lambda cell, values: _outer_first(list(order(cell, values))),
    )
    return found.solutions[0] if found.solutions else None


def _cleared(rng: Rng, groups: tuple[Values, ...], digits: Values) -> tuple[Values, bool]:
    """Change digits until all follow from the sums; return them, and whether they do."""
    masks = _left_open(groups, digits)
    for _ in range(_CHANGES):
        doubtful = {cell for cell, mask in enumerate(masks) if mask & (mask - 1)}
        if not doubtful:
            return digits, True
        cell = pick(rng, sorted(doubtful))
        beside = {other for group in groups if cell in group for other in group}
        trial = [
            UNKNOWN if i in doubtful & beside else 1 << digit for i, digit in enumerate(digits)
        ]
        changed = _redrawn(rng, groups, trial, _CHANGE_NODES)
        if changed is None or changed == digits:
            continue
        after = _left_open(groups, changed)
        if sum(map(int.bit_count, after)) <= sum(map(int.bit_count, masks)):
            digits, masks = changed, after
    return digits, False


def _left_open(groups: tuple[Values, ...], digits: Values) -> list[int]:
    """Return the candidates that the sums of some digits leave without trying cases."""
    masks = [UNKNOWN] * len(digits)
    _network(groups, _sums(groups, digits)).settle(masks, list(range(len(digits))))
    return masks


def _outer_first(digits: list[int]) -> list[int]:
    """Move very small and very large digits among the first ones to the front."""
    return sorted(digits[:4], key=lambda digit: -abs(digit - 5)) + digits[4:]


# Crosswords of numbers: black and white cells, the runs of white ones, and sums of runs.


BLACK = "#"
UNKNOWN = 0b1111111110  # the candidates of a cell of which nothing is known


def runs_of(rows: Sequence[str]) -> tuple[list[Run], list[Run]]:
    """Return the runs in rows and those in columns; single cells count as runs too."""
    size = len(rows)
    found: tuple[list[Run], list[Run]] = ([], [])
    for runs, down in zip(found, (False, True), strict=True):
        for line in range(size):
            run: list[Cell] = []
            for i in range(size):
                cell = (i, line) if down else (line, i)
                if rows[cell[0]][cell[1]] != BLACK:
                    run.append(cell)
                elif run:
                    runs.append(tuple(run))
                    run = []
            if run:
                runs.append(tuple(run))
    return found


def layout(rng: Rng, side: int, max_run: int) -> tuple[str, ...]:
    """Draw a connected area of white cells whose runs are neither too short nor too long.

    The first area that fills half of the grid is taken, or the largest of a few.
    """
    best = written(side, dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], EMPTY))
    for _ in range(_AREAS):
        order = shuffled(rng, side * side)
        white = {divmod(cell, side) for cell in order[(side - 2) * side // 5 :]}
        rows = _largest_area(_repaired(white, side, max_run))
        best = max(best, rows, key=_size)
        if 2 * _size(best) > side * side:
            break
    return best


def _size(rows: Sequence[str]) -> int:
    return sum(row.count(EMPTY) for row in rows)


def _largest_area(rows: tuple[str, ...]) -> tuple[str, ...]:
    """Blacken all white cells but those of the largest connected area."""
    size = len(rows)
    board = plane(size, size)
    cells = zip(board.bit, "".join(rows), strict=True)
    white = sum(bit for bit, mark in cells if mark != BLACK)
    largest = 0
    while white:
        area = board.reach(white & -white, white)
        largest = max(largest, area, key=int.bit_count)
        white &= ~area
    kept = (divmod(i, size) for i, bit in enumerate(board.bit) if bit & largest)
    return written(size, dict.fromkeys(kept, EMPTY))


def _repaired(white: set[Cell], side: int, max_run: int) -> tuple[str, ...]:
    """Blacken the middle of a run that is too long, and single cells, until there are none."""
    while True:
        rows = written(side, dict.fromkeys(white, EMPTY))
        runs = [run for group in runs_of(rows) for run in group]
        faults = [run[0] for run in runs if len(run) == 1]
        faults += [run[len(run) // 2] for run in runs if len(run) > max_run][:1]
        if not faults:
            return rows
        white = white.difference(faults)


def written(side: int, marks: Mapping[Cell, str]) -> tuple[str, ...]:
    """Return the rows of a grid that is black where no mark is set."""
    return tuple("".join(marks.get((r, c), BLACK) for c in range(side)) for r in range(side))
