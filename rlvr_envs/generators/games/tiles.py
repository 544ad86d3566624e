"""2048 on a small board: tiles slide and merge, a new tile appears by chance, moves are limited."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from rlvr_envs.core.games import CHANCE, OVER

MOVES = ("left", "right", "up", "down")


class Tiles(NamedTuple):
    """The cells row by row, 0 where empty; the moves left; whether a new tile is to appear."""

    cells: tuple[int, ...]
    left: int
    due: bool = False


@dataclass(frozen=True, slots=True)
class Game2048:
    """One seat, which gets 1 for a tile of the target, 0 if moves run out or nothing can move.

    Attributes:
        n_columns: columns of the board.
        target: the tile to make.
        first: the state at the start.
    """

    n_columns: int
    target: int
    first: Tiles
    n_seats: int = 1
    most: float = 1.0

    def start(self) -> Tiles:
        return self.first

    def mover(self, state: Tiles) -> int:
        if max(state.cells) >= self.target:
            return OVER
        if state.due:
            return CHANCE
        return 0 if state.left and self.actions(state) else OVER

    def actions(self, state: Tiles) -> tuple[str, ...]:
        cells = state.cells
        return tuple(move for move in MOVES if slid(cells, self.n_columns, move)[0] != cells)

    def chances(self, state: Tiles) -> tuple[tuple[str, Fraction], ...]:
        empty = [i for i, tile in enumerate(state.cells) if not tile]
        share = Fraction(1, len(empty))
        return tuple((f"{i // self.n_columns + 1} {i % self.n_columns + 1}", share) for i in empty)

    def after(self, state: Tiles, action: str) -> Tiles:
        if not state.due:
            cells, _ = slid(state.cells, self.n_columns, action)
            return Tiles(cells, state.left - 1, due=True)
        row, column = map(int, action.split())
        at = (row - 1) * self.n_columns + column - 1
        return Tiles((*state.cells[:at], 2, *state.cells[at + 1 :]), state.left)

    def returns(self, state: Tiles) -> tuple[float, ...]:
        return (1.0 if max(state.cells) >= self.target else 0.0,)

    def view(self, state: Tiles, seat: int) -> str:
        """Return the moves left and the board."""
        width = len(str(max(state.cells)))
        rows = [
            " ".join(f"{tile or '.':>{width}}" for tile in state.cells[i : i + self.n_columns])
            for i in range(0, len(state.cells), self.n_columns)
        ]
        return f"Moves left: {state.left}.\n" + "\n".join(rows)


@cache
def _lines(n_cells: int, n_columns: int, move: str) -> tuple[tuple[int, ...], ...]:
    """Return the lines of a board, each from the side that tiles slide to."""
    rows = [tuple(range(i, i + n_columns)) for i in range(0, n_cells, n_columns)]
    lines = rows if move in ("left", "right") else list(zip(*rows, strict=True))
    return tuple(line[::-1] if move in ("right", "down") else line for line in lines)


def slid(cells: tuple[int, ...], n_columns: int, move: str) -> tuple[tuple[int, ...], int]:
    """Return the cells after a move, and the sum of the tiles made by merging."""
    new, made = list(cells), 0
    for line in _lines(len(cells), n_columns, move):
        tiles, sum_made = _pushed(tuple([cells[i] for i in line]))
        made += sum_made
        for i, tile in zip(line, tiles, strict=True):
            new[i] = tile
    return tuple(new), made


@lru_cache(maxsize=1 << 14)
def _pushed(line: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Return a line after its tiles slide to the front, and the sum of those made by merging."""
    tiles, made = list[int](), 0
    merged = True  # whether the last tile may not merge any more
    for tile in filter(None, line):
        if not merged and tiles[-1] == tile:
            tiles[-1], merged = 2 * tile, True
            made += 2 * tile
        else:
            tiles.append(tile)
            merged = False
    return (*tiles, *[0] * (len(line) - len(tiles))), made
