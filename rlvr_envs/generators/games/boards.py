"""Games on a board of cells: lines of k in a row, with or without gravity, and Hex."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from rlvr_envs.core.games import OVER

MARKS = ("X", "O")
_DRAWN = 2


class Board(NamedTuple):
    """The cells of each seat as bits, row by row, and who won: -1 nobody yet, 2 for a draw."""

    first: int
    second: int
    won: int = -1


@dataclass(frozen=True, slots=True)
class BoardGame:
    """What games on a board share: seats take turns, seat 0 first, and fill cells for good."""

    n_rows: int
    n_columns: int
    n_seats: int = 2

    def start(self) -> Board:
        return Board(0, 0)

    def mover(self, state: Board) -> int:
        if state.won >= 0:
            return OVER
        return (state.first | state.second).bit_count() % 2

    def actions(self, state: Board) -> tuple[str, ...]:
        taken, names = state.first | state.second, _names(self.n_rows, self.n_columns)
        return tuple(name for cell, name in enumerate(names) if not taken >> cell & 1)

    def chances(self, state: Board) -> tuple[tuple[str, Fraction], ...]:
        return ()

    def after(self, state: Board, action: str) -> Board:
        bit = 1 << self.cell_of(state, action)
        if self.mover(state) == 0:
            first, second, mover = state.first | bit, state.second, 0
        else:
            first, second, mover = state.first, state.second | bit, 1
        won = mover if self.wins(second if mover else first, bit, mover) else -1
        return Board(first, second, _DRAWN if won < 0 and self.drawn(first, second) else won)

    def drawn(self, first: int, second: int) -> bool:
        """Return whether nobody can win any more."""
        return first | second == (1 << self.n_rows * self.n_columns) - 1

    def candidates(self, state: Board) -> tuple[str, ...]:
        """Return enough moves to tell what a state is worth: a win at once, or the only defence."""
        legal = self.actions(state)
        seat = (state.first | state.second).bit_count() % 2
        bits = [1 << self.cell_of(state, move) for move in legal]
        for winner in (seat, 1 - seat):
            own = state.second if winner else state.first
            for move, bit in zip(legal, bits, strict=True):
                if self.wins(own | bit, bit, winner):
                    return (move,)
        return legal

    def cell_of(self, state: Board, action: str) -> int:
        """Return the cell that a move fills."""
        return _cells(self.n_rows, self.n_columns)[action]

    def move_of(self, cell: int) -> str:
        """Return the move that fills a cell."""
        return _names(self.n_rows, self.n_columns)[cell]

    def wins(self, own: int, bit: int, seat: int) -> bool:
        """Return whether a seat's cells win, the last of them just filled."""
        raise NotImplementedError

    def returns(self, state: Board) -> tuple[float, ...]:
        return {0: (1.0, -1.0), 1: (-1.0, 1.0)}.get(state.won, (0.0, 0.0))

    def view(self, state: Board, seat: int) -> str:
        """Return the board, with the numbers of rows and columns."""
        width = len(str(max(self.n_rows, self.n_columns)))
        lines = ["".join(f" {column:>{width}}" for column in ("", *range(1, self.n_columns + 1)))]
        for row in range(self.n_rows):
            cells = (self._mark(state, row * self.n_columns + i) for i in range(self.n_columns))
            lines.append("".join(f" {cell:>{width}}" for cell in (row + 1, *cells)))
        return "\n".join(lines)

    def _mark(self, state: Board, cell: int) -> str:
        if state.first >> cell & 1:
            return MARKS[0]
        return MARKS[1] if state.second >> cell & 1 else "."


@dataclass(frozen=True, slots=True)
class LineGame(BoardGame):
    """Who first has ``n_in_row`` cells in a row, a column or a diagonal wins.

    It is a draw as soon as every such line has marks of both seats.

    With gravity a move names a column, and fills its lowest empty cell.
    """

    n_in_row: int = 3
    gravity: bool = False

    def actions(self, state: Board) -> tuple[str, ...]:
        if not self.gravity:
            return BoardGame.actions(self, state)
        taken = state.first | state.second
        return tuple(str(i + 1) for i in range(self.n_columns) if not taken >> i & 1)

    def cell_of(self, state: Board, action: str) -> int:
        if not self.gravity:
            return BoardGame.cell_of(self, state, action)
        taken = state.first | state.second
        cell = (self.n_rows - 1) * self.n_columns + int(action) - 1
        while taken >> cell & 1:
            cell -= self.n_columns
        return cell

    def move_of(self, cell: int) -> str:
        if not self.gravity:
            return BoardGame.move_of(self, cell)
        return str(cell % self.n_columns + 1)

    def wins(self, own: int, bit: int, seat: int) -> bool:
        lines = _lines(self.n_rows, self.n_columns, self.n_in_row)[bit.bit_length() - 1]
        return any(own & line == line for line in lines)

    def drawn(self, first: int, second: int) -> bool:
        lines = all_lines(self.n_rows, self.n_columns, self.n_in_row)
        return all(first & line and second & line for line in lines)


@dataclass(frozen=True, slots=True)
class HexGame(BoardGame):
    """Seat 0 connects the top row with the bottom row, seat 1 the left with the right column.

    Each cell touches up to six others: beside it, above and below it, above right and below left.
    """

    def wins(self, own: int, bit: int, seat: int) -> bool:
        starts, ends, near = hex_edges(self.n_rows, self.n_columns)
        group, fresh = bit, bit
        while fresh:
            cell = fresh & -fresh
            fresh ^= cell
            more = near[cell.bit_length() - 1] & own & ~group
            group |= more
            fresh |= more
        return bool(group & starts[seat] and group & ends[seat])


@cache
def _names(n_rows: int, n_columns: int) -> tuple[str, ...]:
    return tuple(f"{i + 1} {j + 1}" for i in range(n_rows) for j in range(n_columns))


@cache
def _cells(n_rows: int, n_columns: int) -> dict[str, int]:
    return {name: cell for cell, name in enumerate(_names(n_rows, n_columns))}


@cache
def _lines(n_rows: int, n_columns: int, n_in_row: int) -> tuple[tuple[int, ...], ...]:
    """Return for each cell the lines through it, as bits."""
    through: list[list[int]] = [[] for _ in range(n_rows * n_columns)]
    for row in range(n_rows):
        for column in range(n_columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                ends = row + down * (n_in_row - 1), column + right * (n_in_row - 1)
                if not (0 <= ends[0] < n_rows and 0 <= ends[1] < n_columns):
                    continue
                line = [(row + down * i) * n_columns + column + right * i for i in range(n_in_row)]
                for cell in line:
                    through[cell].append(sum(1 << other for other in line))
    return tuple(map(tuple, through))


@cache
def all_lines(n_rows: int, n_columns: int, n_in_row: int) -> tuple[int, ...]:
    """Return the lines that win, as bits."""
    return tuple(sorted({line for each in _lines(n_rows, n_columns, n_in_row) for line in each}))


@cache
def hex_edges(
    n_rows: int, n_columns: int
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, ...]]:
    """Return the edges that seats start from, those they go to, and the neighbours of cells."""
    top = (1 << n_columns) - 1
    left = sum(1 << row * n_columns for row in range(n_rows))
    near = []
    for row in range(n_rows):
        for column in range(n_columns):
            around = [(row + i, column + j) for i, j in ((0, 1), (1, 0), (1, -1))]
            around += [(row - i, column - j) for i, j in ((0, 1), (1, 0), (1, -1))]
            near.append(
                sum(
                    1 << i * n_columns + j
                    for i, j in around
                    if 0 <= i < n_rows and 0 <= j < n_columns
                )
            )
    ends = top << (n_rows - 1) * n_columns, left << n_columns - 1
    return (top, left), ends, tuple(near)
