"""Cells of a rectangular board: neighbours, cells written as pairs, and sets of cells as bits.

A cell is a number from 0, row by row. In an answer it is a pair (row, column), both from 1.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from rlvr_envs.verifiers.certificate import lines, separated, unbracketed
from rlvr_envs.verifiers.parse import MAX_CHARACTERS

_TWO = r"\s*+([0-9]{1,6})\s*+,\s*+([0-9]{1,6})\s*+"
_NAMED = r"\b(?:r|row ?)([0-9]{1,6}),? ?(?:c|col ?|column ?)([0-9]{1,6})\b"
_PAIR = re.compile(rf"\({_TWO}\)|\[{_TWO}\]|{_NAMED}", re.IGNORECASE)
_LIST = re.compile(r"P(?:[\s,;]++P)*")  # with P for each pair
_SIZED = re.compile(r"\\(?:left|right)(?=[()\[\]])")  # brackets of any size, in TeX
_ORTHOGONAL = ((-1, 0), (0, 1), (1, 0), (0, -1))
_DIAGONAL = ((-1, -1), (-1, 1), (1, 1), (1, -1))


@lru_cache(maxsize=64)
def neighbours(
    n_rows: int, n_columns: int, *, diagonal: bool = False
) -> tuple[tuple[int, ...], ...]:
    """Return, for each cell, the cells that share a side with it, or also those at its corners."""
    steps = _ORTHOGONAL + _DIAGONAL if diagonal else _ORTHOGONAL
    return tuple(
        tuple(
            (row + down) * n_columns + column + right
            for down, right in steps
            if 0 <= row + down < n_rows and 0 <= column + right < n_columns
        )
        for row in range(n_rows)
        for column in range(n_columns)
    )


def read_cells(text: str, n_rows: int, n_columns: int) -> list[int] | None:
    """Return the cells of a list such as ``(1, 2), (3, 1)``, in its order, repeats included.

    A cell may also be ``[1, 2]``, ``r1c2`` or ``row 1, column 2``; the list may be in any of the
    spellings of `rlvr_envs.verifiers.certificate`. None if the text is anything else, or a cell
    lies outside the board.
    """
    if len(text) > MAX_CHARACTERS or "P" in text:
        return None
    text = _SIZED.sub("", "\n".join(lines(text)))
    if not _LIST.fullmatch(separated(unbracketed(_PAIR.sub("P", text)))):
        return None
    found = [[int(number) for number in pair if number] for pair in _PAIR.findall(text)]
    pairs = [(row, column) for row, column in found]
    if not all(1 <= row <= n_rows and 1 <= column <= n_columns for row, column in pairs):
        return None
    return [(row - 1) * n_columns + column - 1 for row, column in pairs]


def show_cells(cells: Iterable[int], n_columns: int) -> str:
    """Return cells as text that `read_cells` reads."""
    return ", ".join(show_cell(cell, n_columns) for cell in cells)


def show_cell(cell: int, n_columns: int) -> str:
    """Return one cell as its pair."""
    return f"({cell // n_columns + 1}, {cell % n_columns + 1})"


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set, in ascending order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class Plane:
    """A board whose sets of cells are integers, one bit a cell, with a spare column as a guard."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self.width = n_columns + 1
        row = (1 << n_columns) - 1
        self.board = sum(row << (r * self.width) for r in range(n_rows))
        self.bit = tuple(1 << (r * self.width + c) for r in range(n_rows) for c in range(n_columns))
        self.edge = sum(
            self.bit[r * n_columns + c]
            for r in range(n_rows)
            for c in range(n_columns)
            if r in (0, n_rows - 1) or c in (0, n_columns - 1)
        )

    def around(self, cells: int) -> int:
        """Return the cells that share a side with one of ``cells``."""
        width = self.width
        return (cells << 1 | cells >> 1 | cells << width | cells >> width) & self.board

    def reach(self, seed: int, allowed: int) -> int:
        """Return the cells of ``allowed`` connected to ``seed`` through ``allowed``."""
        width, found, last = self.width, seed & allowed, 0
        while found != last:
            last = found
            found |= (found << 1 | found >> 1 | found << width | found >> width) & allowed
        return found

    def connected(self, cells: int) -> bool:
        """Whether the cells form one piece; no cells do."""
        return self.reach(cells & -cells, cells) == cells


@lru_cache(maxsize=64)
def plane(n_rows: int, n_columns: int) -> Plane:
    """Return the plane of a board, made once."""
    return Plane(n_rows, n_columns)
