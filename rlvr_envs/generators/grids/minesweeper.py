"""Minesweeper: boards, and exactly what the numbers on one prove.

Sets of cells are integers, one bit a cell. A clue is a set of covered cells and the number of
mines among them. What the clues prove is found without knowing how many mines there are in all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.generators.grids.cells import bits, neighbours, show_cell, show_cells

Clue = tuple[int, int]

COVERED = "?"
NODES = 20_000  # of all searches over one position; few boards need a tenth of it


@lru_cache(maxsize=64)
def around(n_rows: int, n_columns: int) -> tuple[int, ...]:
    """Return the up to eight cells around each cell, as bits."""
    near = neighbours(n_rows, n_columns, diagonal=True)
    return tuple(sum(1 << other for other in cells) for cells in near)


def show(mines: int, opened: int, n_rows: int, n_columns: int) -> tuple[str, ...]:
    """Return a board row by row: for each opened cell the number of mines around it."""
    near = around(n_rows, n_columns)
    marks = [
        str((near[cell] & mines).bit_count()) if opened >> cell & 1 else COVERED
        for cell in range(n_rows * n_columns)
    ]
    return tuple("".join(marks[r * n_columns : (r + 1) * n_columns]) for r in range(n_rows))


def flood(cell: int, mines: int, opened: int, near: tuple[int, ...]) -> int:
    """Open a cell, and with it the cells around each opened one that has no mine near it."""
    opened |= 1 << cell
    queue = [cell]
    for current in queue:
        if not near[current] & mines:
            fresh = near[current] & ~opened
            opened |= fresh
            queue.extend(bits(fresh))
    return opened


def clues_of(rows: Iterable[str], near: tuple[int, ...]) -> list[Clue]:
    """Return the clues of a shown board that say something about covered cells."""
    marks = "".join(rows)
    covered = sum(1 << cell for cell, mark in enumerate(marks) if mark == COVERED)
    return [
        (near[cell] & covered, int(mark))
        for cell, mark in enumerate(marks)
        if mark != COVERED and near[cell] & covered
    ]


@dataclass(frozen=True, slots=True)
class Proven:
    """What clues prove of covered cells."""

    safe: int  # the cells without a mine
    mined: int  # the cells with a mine
    at_once: int  # the safe cells that follow from one number after another, without cases
    effort: int  # clues looked at, all searches together
    complete: bool  # whether the search reached its end; otherwise more may be provable


def prove(clues: list[Clue], *, nodes: int = NODES) -> Proven:
    """Return what the clues prove, which must not contradict each other.

    Searches end after ``nodes`` positions; with 0, only what follows at once is found.
    """
    return _Prover(clues, nodes).result


def explained(rows: Sequence[str]) -> list[str]:
    """Return step by step which cells of a shown board have a mine and which have none."""
    n_columns = len(rows[0])
    near = around(len(rows), n_columns)
    marks = "".join(rows)
    covered = sum(1 << cell for cell, mark in enumerate(marks) if mark == COVERED)
    proven = prove(clues_of(rows, near))
    mined = safe = 0
    steps = []
    while (mined, safe) != (proven.mined, proven.safe):
        for cell, mark in enumerate(marks):
            rest = near[cell] & covered & ~(mined | safe)
            missing = -1 if mark == COVERED else int(mark) - (near[cell] & mined).bit_count()
            if not rest or missing not in (0, rest.bit_count()):
                continue
            where, cells = show_cell(cell, n_columns), show_cells(bits(rest), n_columns)
            if missing:
                mined |= rest
                steps.append(f"The {mark} at {where} needs a mine in each cell left: {cells}.")
            else:
                safe |= rest
                steps.append(f"The {mark} at {where} has all its mines. Safe: {cells}.")
            break
        else:
            found = (proven.mined | proven.safe) & ~(mined | safe)
            found &= -found
            where = show_cells(bits(found), n_columns)
            is_mine = bool(found & proven.mined)
            steps.append(
                f"Suppose {where} has {'no' if is_mine else 'a'} mine: then no arrangement agrees "
                f"with all the numbers. So {where} {'has a mine' if is_mine else 'is safe'}."
            )
            mined, safe = mined | found * is_mine, safe | found * (not is_mine)
    return steps


class _Prover:
    """Settles what follows at once, then tries both values of every cell that is left."""

    def __init__(self, clues: list[Clue], limit: int) -> None:
        self._clues = clues
        self._limit = limit
        self._effort = self._nodes = 0
        self._at: dict[int, list[int]] = {}
        for number, (cells, _) in enumerate(clues):
            for cell in bits(cells):
                self._at.setdefault(cell, []).append(number)
        settled = self._settle(0, 0, range(len(clues)))
        if settled is None:
            raise ValueError("the clues contradict each other")
        mined, safe = settled
        at_once = safe
        for piece in self._pieces(mined | safe) if limit else ():
            found_mined, found_safe = self._try_both(piece, mined, safe)
            mined, safe = mined | found_mined, safe | found_safe
        self.result = Proven(safe, mined, at_once, self._effort, self._nodes < limit)

    def _settle(self, mined: int, safe: int, numbers: Iterable[int]) -> tuple[int, int] | None:
        """Draw conclusions clue by clue until there are none; None if a clue cannot hold."""
        waiting = dict.fromkeys(numbers)
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            self._effort += 1
            cells, count = self._clues[number]
            rest = cells & ~(mined | safe)
            need = count - (cells & mined).bit_count()
            size = rest.bit_count()
            if not 0 <= need <= size:
                return None
            if not rest or 0 < need < size:
                continue
            if need:
                mined |= rest
            else:
                safe |= rest
            for cell in bits(rest):
                waiting.update(dict.fromkeys(self._at[cell]))
        return mined, safe

    def _pieces(self, known: int) -> list[int]:
        """Return the open cells in groups that share no clue."""
        pieces: list[int] = []
        for cells, _ in self._clues:
            group = cells & ~known
            if group:
                apart = [piece for piece in pieces if not piece & group]
                for piece in pieces:
                    if piece & group:
                        group |= piece
                pieces = [*apart, group]
        return pieces

    def _try_both(self, piece: int, mined: int, safe: int) -> tuple[int, int]:
        """Return the cells of a piece that have a mine, and those that have none, in all cases."""
        can_be_mined = can_be_safe = found_mined = found_safe = 0
        for cell in bits(piece):
            bit = 1 << cell
            for seen, value in ((can_be_mined, True), (can_be_safe, False)):
                if seen & bit or (found_mined | found_safe) & bit:
                    continue
                case = (mined | found_mined, safe | found_safe)
                case = (case[0] | bit, case[1]) if value else (case[0], case[1] | bit)
                model = self._model(piece, *case, self._at[cell])
                if self._nodes >= self._limit:
                    return found_mined, found_safe
                if model is not None:
                    can_be_mined |= model & piece
                    can_be_safe |= piece & ~model
                elif value:
                    found_safe |= bit
                else:
                    found_mined |= bit
        return found_mined, found_safe

    def _model(self, piece: int, mined: int, safe: int, changed: Iterable[int]) -> int | None:
        """Return mines for a piece that satisfy all clues, or None if there are none."""
        if self._nodes >= self._limit:
            return None
        self._nodes += 1
        settled = self._settle(mined, safe, changed)
        if settled is None:
            return None
        mined, safe = settled
        rest = piece & ~(mined | safe)
        if not rest:
            return mined
        low = self._tightest(rest)
        low &= -low
        near = self._at[low.bit_length() - 1]
        model = self._model(piece, mined | low, safe, near)
        return model if model is not None else self._model(piece, mined, safe | low, near)

    def _tightest(self, rest: int) -> int:
        """Return the open cells of the clue that leaves the fewest of them open."""
        best, fewest = rest, rest.bit_count() + 1
        for cells, _ in self._clues:
            left = cells & rest
            if left and left.bit_count() < fewest:
                best, fewest = left, left.bit_count()
                if fewest <= 2:  # a clue that is not settled leaves two or more
                    break
        return best
