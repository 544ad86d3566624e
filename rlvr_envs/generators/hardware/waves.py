"""A run of a design as a part of its prompt: a table of cycles, or a line for each signal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.hardware.design import Design, Signal
from rlvr_envs.verifiers.hdl.interface import Clocking

CYCLES = 14
ONE_IN = 3  # problems that show one
_TRIES = 4  # the run with the most changes of outputs is shown
_MOSTLY = ("enable", "valid", "mask")
_RARELY = ("restart", "abort", "load", "clear", "keep", "undo", "set_limit")
_INTRODUCTION = (
    "This is a run of a correct module, as an example. Reset is active only in cycle 0. Each value "
    "is sampled just before the rising edge of `{clock}` that ends the cycle. `?` means that the "
    "value is not specified."
)

_Row = Mapping[str, int]


def perhaps_waved(design: Design, rng: Rng) -> Design:
    """Return a design whose prompt shows a run, if it has a behaviour and ``rng`` says so."""
    if design.behaviour is None or design.clocking is None or integer(rng, 1, ONE_IN) > 1:
        return design
    # Beside a table that the rules speak of there is no other one.
    style = 1 if design.figure else integer(rng, 0, 1)
    runs = []
    for _ in range(_TRIES):
        rows = _drawn(design, design.clocking, rng)
        runs.append((rows, design.behaviour(rows)))
    rows, shown = max(runs, key=lambda run: _changes(run[1]))
    text = "\n\n".join(
        filter(None, (design.figure, _told(design, design.clocking, (rows, shown), style)))
    )
    return replace(design, figure=text)


def _drawn(design: Design, clocking: Clocking, rng: Rng) -> list[dict[str, int]]:
    """Return the inputs, without clock and reset, of the cycles after the reset."""
    names = (clocking.clock, clocking.reset)
    ports = [s for s in design.signals if s.direction == "input" and s.name not in names]
    row = {port.name: 0 for port in ports}
    rows = []
    for _ in range(CYCLES):
        row = {port.name: _value(port, row[port.name], rng) for port in ports}
        rows.append(row)
    return rows


def _value(port: Signal, last: int, rng: Rng) -> int:
    """Return the next value of an input; other bits than those that control stay now and then."""
    most = (1 << port.width) - 1
    if port.name in _MOSTLY:
        return integer(rng, 0, most) | integer(rng, 0, most)
    if port.name in _RARELY:
        return integer(rng, 0, most) & integer(rng, 0, most) & integer(rng, 0, most)
    value, stays = integer(rng, 0, most), integer(rng, 0, 3) == 0
    return last if stays else value


def _changes(shown: Sequence[_Row]) -> int:
    return sum(one[name] != other[name] for one, other in pairwise(shown) for name in one)


def _told(
    design: Design, clocking: Clocking, run: tuple[Sequence[_Row], Sequence[_Row]], style: int
) -> str:
    rows, shown = run
    active = clocking.reset_active
    lines: list[tuple[Signal, list[str]]] = []
    for signal in design.signals:
        if signal.name == clocking.reset:
            lines.append((signal, [str(active), *(str(1 - active) for _ in rows)]))
        elif signal.direction == "output":
            words = [_word(row[signal.name], signal.width) for row in shown]
            lines.append((signal, ["?", *words]))
        elif signal.name != clocking.clock:
            values = [0, *(row[signal.name] for row in rows)]
            lines.append((signal, [_word(value, signal.width) for value in values]))
    words = [_INTRODUCTION.format(clock=clocking.clock)]
    if any(signal.width > 4 for signal, _ in lines):
        words.append("Values of ports wider than 4 bits are in hexadecimal, all others in binary.")
    if style == 0:
        return f"{' '.join(words)}\n\n{_tabled(lines)}"
    words.append("For 1-bit ports, `_` means 0 and `#` means 1.")
    return f"{' '.join(words)}\n\n```\n{_drawing(lines)}\n```"


def _word(value: int, width: int) -> str:
    return f"{value:0{(width + 3) // 4}x}" if width > 4 else f"{value:0{width}b}"


def _tabled(lines: Sequence[tuple[Signal, list[str]]]) -> str:
    titles = ["cycle", *(f"`{signal.name}`" for signal, _ in lines)]
    rows = [titles, ["---"] * len(titles)]
    for cycle in range(CYCLES + 1):
        rows.append([str(cycle), *(words[cycle] for _, words in lines)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _drawing(lines: Sequence[tuple[Signal, list[str]]]) -> str:
    size = 1 + max(len(word) for _, words in lines for word in (*words, str(CYCLES)))
    title = max(len("cycle"), *(len(signal.name) for signal, _ in lines)) + 2
    drawn = ["cycle".ljust(title) + "".join(str(n).ljust(size) for n in range(CYCLES + 1))]
    for signal, words in lines:
        if signal.width == 1:
            cells = [{"0": "_", "1": "#"}.get(word, word) * size for word in words]
        else:
            cells = [word.ljust(size) for word in words]
        drawn.append(signal.name.ljust(title) + "".join(cells))
    return "\n".join(line.rstrip() for line in drawn)
