"""Pages of text in a terminal: headings, links, lists and tables, at the width that there is.

In a terminal, lines are broken between words and, where rich is installed, headings and links
stand out. What goes through a pipe keeps its lines and its Markdown.
"""

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_envs.cli._text import width

MOST_COLUMNS = 120  # longer lines are hard to read
_LEAST_COLUMNS = 10

_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\n]*)\)")
_RULE = re.compile(r"[|\s:-]+")  # the line between a table's header and its rows
# What would move the cursor, or change the terminal in other ways.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INDENT = re.compile(r" *(?:- |\[\d+\] |\d+\. )?")

_NAME, _TARGET, _HEADING, _ASIDE = "bold cyan", "dim", "bold", "dim"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some text in one style."""

    text: str
    style: str = ""


def harmless(text: str) -> str:
    """Return a text without control characters, which a terminal would obey."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def targets(text: str) -> list[str]:
    """Return where the links of a text lead to."""
    return [target for _, target in _LINK.findall(text)]


class Screen:
    """Where pages are printed."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._console = _console() if self._terminal else None

    def page(self, text: str) -> None:
        """Print a page."""
        text = harmless(text).expandtabs(4)
        if not self._terminal:
            print(text)
            return
        room = max(_LEAST_COLUMNS, min(width(), MOST_COLUMNS))
        for pieces, indent in self._blocks(text.split("\n"), room):
            self._print(pieces, room, indent)

    def _blocks(self, lines: Sequence[str], room: int) -> Iterator[tuple[list[_Piece], int]]:
        """Yield each line with the columns by which what is broken off it is set in."""
        table: list[list[str]] = []
        for line in lines:
            if line.startswith("|"):
                if not _RULE.fullmatch(line):
                    table.append([cell.strip() for cell in line.strip("| ").split("|")])
                continue
            yield from self._table(table, room)
            if line.startswith("## "):
                yield [], 0  # a line of air above a section
            table = []
            lead = _INDENT.match(line)
            yield self._pieces(line), lead.end() if lead else 0
        yield from self._table(table, room)

    def _pieces(self, line: str) -> list[_Piece]:
        """Return a line in its styles; without any, links stay as they are written."""
        if line.startswith(("# ", "## ", "Question: ")):
            return [_Piece(line, _HEADING)]
        if self._console is None:
            return [_Piece(line)]
        if line.startswith("(") and line.endswith(")"):
            return [_Piece(line, _ASIDE)]
        pieces, at = [], 0
        for link in _LINK.finditer(line):
            pieces.append(_Piece(line[at : link.start()]))
            pieces += [_Piece(link[1], _NAME), _Piece(f" ({link[2]})", _TARGET)]
            at = link.end()
        return [*pieces, _Piece(line[at:])]

    def _table(self, rows: list[list[str]], room: int) -> Iterator[tuple[list[_Piece], int]]:
        """Yield rows in columns, or one below the other where they are too wide for that."""
        if not rows:
            return
        cells = [[self._pieces(cell) for cell in row] for row in rows]
        n = max(map(len, cells))
        widths = [max(_length(row[i]) for row in cells if i < len(row)) for i in range(n)]
        if sum(widths) + 2 * (n - 1) > room:
            for first, *others in cells[1:]:
                yield [_Piece("- "), *first, _Piece(": "), *_joined(others)], 2
            return
        for number, row in enumerate(cells):
            line: list[_Piece] = []
            for cell, size in zip(row, widths, strict=False):
                line += [*cell, _Piece(" " * (size + 2 - _length(cell)))]
            yield line, 0
            if number == 0:
                yield [_Piece("  ".join("-" * size for size in widths), _TARGET)], 0

    def _print(self, pieces: Sequence[_Piece], room: int, indent: int) -> None:
        whole = "".join(piece.text for piece in pieces).rstrip()
        if self._console is None:
            print(_wrapped(whole, room, indent))
            return
        from rich.text import Text

        text = Text.assemble(*((piece.text, piece.style) for piece in pieces))
        text.rstrip()
        lines = _wrapped(whole, room, indent).split("\n")
        for line, (begin, end) in zip(lines, _places(whole, lines), strict=True):
            lead = " " * (len(line) - (end - begin))
            self._console.print(Text(lead) + text[begin:end], soft_wrap=True)


def _console() -> Any:
    """Return a rich console that styles nothing but what it is told to, None without rich."""
    try:
        from rich.console import Console
    except ImportError:
        return None
    console = Console(highlight=False, markup=False, emoji=False)
    return console if console.color_system else None


def _wrapped(line: str, room: int, indent: int) -> str:
    """Return a line that is broken between words; no word is ever broken."""
    if len(line) <= room:
        return line
    return textwrap.fill(
        line,
        room,
        subsequent_indent=" " * min(indent, room // 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _places(whole: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each line of a wrapped text stands in the whole."""
    at = 0
    for number, line in enumerate(lines):
        shown = line.lstrip() if number else line
        begin = whole.index(shown, at)
        at = begin + len(shown)
        yield begin, at


def _length(pieces: Sequence[_Piece]) -> int:
    return sum(len(piece.text) for piece in pieces)


def _joined(cells: Sequence[Sequence[_Piece]]) -> list[_Piece]:
    joined: list[_Piece] = []
    for number, cell in enumerate(cells):
        joined += [_Piece("; ")] if number else []
        joined += cell
    return joined
