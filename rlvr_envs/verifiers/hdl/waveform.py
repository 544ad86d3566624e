"""A difference between two designs as a small table of text, for a model and for a person."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.simulate import Difference, Row, replay

MOST_ROWS = 12
MOST_CHARACTERS = 1500
_TABLE = 1100  # characters of the table; the rest is for the lines around it
_LINE = 240
_NAME = 24  # longer names and values are cut
_WORD = 20
_LISTED = 6  # ports or bits that a sentence names


def waveform(gold: Aig, gate: Aig, reference: Reference, difference: Difference) -> str:
    """Return the last steps of a run in which two designs differ.

    A row is a step. What is wrong is shown as expected and as got, and marked. Ports that do not
    fit are left out, and that is said.
    """
    rows = replay(gold, gate, reference, difference)
    wrong = rows[-1].differing()
    combinational = reference.clocking is None and len(rows) == 1
    step = "cycle" if difference.clocked else "step"
    first = max(0, len(rows) - MOST_ROWS)
    columns = _columns(reference, rows[first:], wrong, clocked=difference.clocked)
    if not combinational:
        words = [str(first + place) for place in range(len(rows) - first)]
        columns.insert(0, _Column(step, words, rank=0))
    shown, hidden = _fitting(columns, len(rows) - first)
    lines = [_headline(combinational, step, difference.cycle, first), *_table(shown)]
    if difference.clocked and reference.clocking is not None:
        lines.append("A row shows the values just before the clock edge that ends its cycle.")
    if any(port.width > 4 for port in reference.ports):
        lines.append("Ports wider than 4 bits are in hexadecimal, the others in binary.")
    widths = {port.name: port.width for port in reference.ports}
    lines.append(
        f"Wrong (*): {_listed(_wrong(name, wrong[name], widths[name]) for name in wrong)}."
    )
    if hidden:
        lines.append(f"Not shown: {_listed(column.title for column in hidden)}.")
    return "\n".join(lines)[:MOST_CHARACTERS]


@dataclass(frozen=True, slots=True)
class _Column:
    """A title over words."""

    title: str  # the port, and which value of it
    words: list[str]  # a value for each row
    rank: int  # the lower, the sooner it is shown

    @property
    def width(self) -> int:
        """Characters, with the gap to the next."""
        return max(map(len, (self.title, *self.words))) + 2


def _columns(
    reference: Reference, rows: Sequence[Row], wrong: Iterable[str], *, clocked: bool
) -> list[_Column]:
    """Return the inputs, then the outputs, in the order of the reference's ports."""
    clocking = reference.clocking
    columns = []
    for port in reference.ports:
        name, width = _cut(port.name, _NAME), port.width
        if port.direction == "input":
            if clocking is not None and clocked and port.name == clocking.clock:
                continue  # each row is a cycle of it
            reset = clocking is not None and port.name in (clocking.reset, clocking.clock)
            words = [_word(row.inputs[port.name], width) for row in rows]
            columns.append(_Column(name, words, rank=1 if reset else 2))
    for port in reference.ports:
        name, width = _cut(port.name, _NAME), port.width
        if port.direction == "output":
            expected = [_expected(row, port.name, width) for row in rows]
            if port.name not in wrong:
                columns.append(_Column(name, expected, rank=3))
                continue
            columns.append(_Column(f"{name} expected", expected, rank=0))
            columns.append(_Column(f"{name} got", [_got(r, port.name, width) for r in rows], 0))
    return columns


def _expected(row: Row, name: str, width: int) -> str:
    if not row.compared:
        return "-"
    return _word(row.expected[name], width, row.unknown.get(name, 0))


def _got(row: Row, name: str, width: int) -> str:
    if not row.compared:
        return "-"
    return _word(row.got[name], width) + ("*" if name in row.differing() else "")


def _word(value: int, width: int, unknown: int = 0) -> str:
    """Return a value in binary or hexadecimal; a digit that is x in any bit is x."""
    size = 4 if width > 4 else 1
    digits = [
        "x" if unknown >> place & (1 << size) - 1 else f"{value >> place & (1 << size) - 1:x}"
        for place in range(0, width, size)
    ]
    text = "".join(reversed(digits))
    return _cut(text, _WORD)


def _cut(text: str, most: int) -> str:
    """Return a text without its middle, if it is too long."""
    half = most // 2 - 1
    return text if len(text) <= most else f"{text[:half]}..{text[-half:]}"


def _fitting(columns: Sequence[_Column], rows: int) -> tuple[list[_Column], list[_Column]]:
    """Return the columns that fit side by side, and those that do not; the telling ones fit."""
    left = min(_LINE, _TABLE // (rows + 1))
    shown = set()
    for place in sorted(range(len(columns)), key=lambda place: (columns[place].rank, place)):
        if columns[place].width <= left:
            left -= columns[place].width
            shown.add(place)
    return (
        [column for place, column in enumerate(columns) if place in shown],
        [column for place, column in enumerate(columns) if place not in shown],
    )


def _table(columns: Sequence[_Column]) -> list[str]:
    rows = zip(*([column.title, *column.words] for column in columns), strict=True)
    widths = [column.width for column in columns]
    return [
        "".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _headline(combinational: bool, step: str, number: int, first: int) -> str:
    if combinational:
        return "The outputs differ for these inputs:"
    cut = f" Only the last {MOST_ROWS} {step}s are shown." if first else ""
    return f"The outputs differ in {step} {number}, counted from 0.{cut}"


def _wrong(name: str, bits: int, width: int) -> str:
    if width == 1:
        return _cut(name, _NAME)
    places = [str(place) for place in range(width) if bits >> place & 1]
    return f"{_cut(name, _NAME)} (bit{'s' if len(places) > 1 else ''} {_listed(places)})"


def _listed(words: Iterable[str]) -> str:
    found = list(words)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(found[:_LISTED]) + more
