"""Crosswords of numbers: black and white cells, the runs of white ones, and sums of runs."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.grids.candidates import Values, shuffled
from rlvr_envs.generators.grids.latin_squares import EMPTY

BLACK = "#"
DIGITS = "123456789"
UNKNOWN = 0b1111111110  # the candidates of a cell of which nothing is known

Cell = tuple[int, int]  # row and column
Run = tuple[Cell, ...]


class Sum:
    """Cells of different digits that add up to a total."""

    def __init__(self, cells: Values, total: int) -> None:
        self.cells = cells
        self.choices = choices(len(cells))[total]

    def narrow(self, masks: list[int]) -> list[int] | None:
        possible = fixed = 0
        for cell in self.cells:
            mask = masks[cell]
            possible |= mask
            if not mask & (mask - 1):
                fixed |= mask
        kept, needed = 0, UNKNOWN
        for choice in self.choices:
            if not choice & ~possible and not fixed & ~choice:
                kept |= choice
                needed &= choice
        changed = []
        for cell in self.cells:
            left = masks[cell] & kept
            elsewhere = 0
            for other in self.cells:
                if other != cell:
                    elsewhere |= masks[other]
            left = left & needed & ~elsewhere or left
            if not left:
                return None
            if left != masks[cell]:
                masks[cell] = left
                changed.append(cell)
        return changed


@cache
def choices(length: int) -> dict[int, list[int]]:
    """Return the sets of so many digits, as bits, by their sum."""
    found: dict[int, list[int]] = {}
    for digits in combinations(range(1, 10), length):
        found.setdefault(sum(digits), []).append(sum(1 << digit for digit in digits))
    return found


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
    """Draw black cells until the runs are neither too short nor too long."""
    for _ in range(20):
        order = shuffled(rng, side * side)
        white = {divmod(cell, side) for cell in order[(side - 2) * side // 5 :]}
        rows = _repaired(white, side, max_run)
        if 2 * sum(row.count(EMPTY) for row in rows) > side * side:
            return rows
    lattice = {(r, c) for r in range(side) for c in range(side) if r % 3 < 2 and c % 3 < 2}
    return _repaired(lattice, side, max_run)


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
