"""Inputs of a design as a table of text, and which faulty designs they tell from the right one."""

import re
from collections.abc import Iterator, Sequence

from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.stepping import stepper

Rows = tuple[tuple[int, ...], ...]

# Two runs at a time: what nothing determines is 0 in one and 1 in the other.
_BOTH, _ONE = 0b11, 0b10
_BETWEEN = re.compile(r"[ \t]*+,[ \t]*+|[ \t]++")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]++|0[bB][01]++|[0-9]++", re.ASCII)
_LONGEST = 300  # characters of a number: binary ones of the widest ports have fewer
_SHOWN = 40


class Unreadable(Exception):
    """A text is no table of the inputs asked for; the argument is a sentence that says why."""


def columns(reference: Reference) -> tuple[Port, ...]:
    """Return the ports that a table has: all inputs but the clock."""
    clock = "" if reference.clocking is None else reference.clocking.clock
    return tuple(p for p in reference.ports if p.direction == "input" and p.name != clock)


def read_table(text: str, ports: Sequence[Port], most: int) -> Rows:
    """Return the rows of a table, each in the order of some ports, whatever order it has.

    Args:
        text: a line of names, then lines of numbers: decimal, 0x or 0b, with commas or white space
            between; from anybody.
        ports: whose values are wanted.
        most: how many rows it may have.

    Raises:
        Unreadable: it is something else.
    """
    lines = [line.strip(" \t\r") for line in text.strip().split("\n", 2 * most + 64)]
    lines = [line for line in lines if line]
    wanted = {port.name: port for port in ports}
    names = _BETWEEN.split(lines[0][: 80 * len(ports) + 80]) if lines else []
    if sorted(names) != sorted(wanted):
        raise Unreadable(
            f"the first line names each of {', '.join(wanted)} once and nothing else, got "
            f"{', '.join(names)!r:.{_SHOWN}}"
        )
    if not 1 < len(lines) <= most + 1:
        raise Unreadable(f"the table has between 1 and {most} rows of numbers")
    place = [names.index(port.name) for port in ports]
    rows = []
    for number, line in enumerate(lines[1:], 1):
        words = _BETWEEN.split(line[: (_LONGEST + 8) * len(ports)])
        if len(words) != len(names):
            raise Unreadable(f"row {number} has {len(words)} values, the header {len(names)} names")
        rows.append(
            tuple(_value(words[at], port, number) for at, port in zip(place, ports, strict=True))
        )
    return tuple(rows)


def _value(word: str, port: Port, row: int) -> int:
    if len(word) > _LONGEST or not _NUMBER.fullmatch(word):
        raise Unreadable(
            f"row {row}: {word!r:.{_SHOWN}} is no number (decimal, 0x... or 0b..., without a sign)"
        )
    base = {"x": 16, "b": 2}.get(word[1:2].lower(), 10)
    value = int(word[2:] if base != 10 else word, base)
    if value >> port.width:
        raise Unreadable(
            f"row {row}: {word:.{_SHOWN}} does not fit `{port.name}`, which has {port.size}"
        )
    return value


def written(rows: Rows, ports: Sequence[Port]) -> str:
    """Return a table as text."""
    lines = [",".join(port.name for port in ports)]
    lines += [",".join(map(str, row)) for row in rows]
    return "\n".join(lines)


def told(gold: Aig, faulty: Sequence[Aig], reference: Reference, rows: Rows) -> list[bool]:
    """Return which faulty designs show a wrong output in the run of a table.

    Where there is a reset, a cycle with the reset active and all else 0 goes before the first row.
    An output of a faulty design that nothing determines is wrong if either of its values is; one
    of the right design is not looked at.
    """
    right = list(_run(gold, reference, rows))
    known = [[bit in (0, _BOTH) for bit in row] for row in right]
    return [_differs(right, known, graph, reference, rows) for graph in faulty]


def _differs(
    right: list[tuple[int, ...]],
    known: list[list[bool]],
    graph: Aig,
    reference: Reference,
    rows: Rows,
) -> bool:
    for expected, sure, got in zip(right, known, _run(graph, reference, rows), strict=True):
        if expected != got and any(
            one != other and certain
            for one, other, certain in zip(expected, got, sure, strict=True)
        ):
            return True
    return False


def _run(graph: Aig, reference: Reference, rows: Rows) -> Iterator[tuple[int, ...]]:
    """Yield the bits of all outputs in each row."""
    design = stepper(graph)
    free, state = [_ONE] * len(graph.free), design.start
    ports = columns(reference)
    schedule = Schedule.of(reference, clocked=True)
    start = tuple(schedule.active if port.name == schedule.reset else 0 for port in ports)
    for number, row in enumerate(((start,) if schedule.held else ()) + rows):
        values = {port.name: value for port, value in zip(ports, row, strict=True)}
        bits = [
            _BOTH if values.get(name, 0) >> place & 1 else 0
            for name, literals in graph.inputs.items()
            for place in range(len(literals))
        ]
        outputs, state = design.step(bits, free, state, _BOTH)
        if number >= schedule.held:
            yield outputs
