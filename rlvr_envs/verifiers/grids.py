"""Readers of grids and lists of moves, for puzzles: a value, or None if the text is not one."""

import re
from collections.abc import Collection, Mapping, Sequence

from rlvr_envs.verifiers.certificate import lines
from rlvr_envs.verifiers.markup import unmarked
from rlvr_envs.verifiers.parse import MAX_CHARACTERS, words

Grid = tuple[tuple[str, ...], ...]

_ROW_BREAK = re.compile(r"\n|\]\s*,\s*\[")
_FRAME = re.compile(r"[\[\]()\"'|]")
_RULE = re.compile(r"[-+=|\s]*")


def read_grid(text: str, n_rows: int, n_columns: int, symbols: Collection[str]) -> Grid | None:
    """Return a grid of known symbols, one row a line.

    Cells may be separated by spaces, commas or bars; symbols of one character may also stand side
    by side. Lists of lists, tables and matrices are read too. Lines that only draw a frame are
    skipped, and labels of rows, unless a symbol is drawn like one.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    known = frozenset(symbols)
    framed = any(_RULE.fullmatch(symbol) for symbol in known)
    rows: list[tuple[str, ...]] = []
    plain = unmarked(text) if framed else "\n".join(lines(text, rows=n_rows))
    if "." not in known:
        plain = plain.removesuffix(".")
    for line in _ROW_BREAK.split(plain):
        if not line.strip() or (not framed and _RULE.fullmatch(line)):
            continue
        row = _row(line, n_columns, known)
        if row is None or len(rows) == n_rows:
            return None
        rows.append(row)
    return tuple(rows) if len(rows) == n_rows else None


def _row(line: str, n_columns: int, known: frozenset[str]) -> tuple[str, ...] | None:
    plain = line.strip()
    bare = [symbol for symbol in plain if not symbol.isspace()]
    if len(bare) == n_columns and known.issuperset(bare):
        return tuple(bare)
    cells = _FRAME.sub(" ", plain).replace(",", " ").split()
    if len(cells) == 1 and n_columns > 1:
        cells = list(cells[0])
    return tuple(cells) if len(cells) == n_columns and known.issuperset(cells) else None


def show_grid(grid: Sequence[Sequence[str]]) -> str:
    """Return a grid as text that `read_grid` reads: cells apart by a space, one row a line."""
    return "\n".join(" ".join(row) for row in grid)


def read_moves(text: str, moves: Mapping[str, str], *, limit: int) -> list[str] | None:
    """Return a list of moves, each a word of ``moves`` (in any case) given as its value.

    Moves are separated by commas or white space; where every word is one letter they may also be
    written together. More than ``limit`` moves, or no move at all, are no answer.
    """
    pieces = words(text)
    if not pieces:
        return None
    table = {word.lower(): name for word, name in moves.items()}
    if len(pieces) == 1 and pieces[0].lower() not in table and max(map(len, table)) == 1:
        pieces = list(pieces[0])
    if len(pieces) > limit:
        return None
    found = [table[piece.lower()] for piece in pieces if piece.lower() in table]
    return found if len(found) == len(pieces) else None
