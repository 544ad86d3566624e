"""And-inverter graphs: what yosys writes of a design, read as data that nobody vouches for.

A literal is ``2 * variable``, plus one where the value is inverted; variable 0 is the constant 0.
Variables count up from 1: inputs, then latches, then gates, each gate after what it reads.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Protocol

from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.verifiers.hdl.interface import Port

# What takes a second and some hundred MiB to compile; designs of a page of text have thousands.
MOST_GATES = 100_000
MOST_BYTES = 40_000_000
KEPT = 64  # graphs of references that stay
_MOST_DIGITS = 9
_NUMBER = rf"[0-9]{{1,{_MOST_DIGITS}}}"
# All lines of a kind at once, by how many numbers are in a line.
_TABLES = {width: re.compile(rf"(?:{' '.join([_NUMBER] * width)}\n)+") for width in (1, 2, 3)}
_SYMBOL = re.compile(r"([io])(\d{1,9}) ([A-Za-z_][A-Za-z0-9_$]*)(?:\[(\d{1,9})\])?")
_MAPPED = re.compile(r"(input|output) (\d{1,9}) (\d{1,9}) ([A-Za-z_][A-Za-z0-9_$]*)")


class NetlistError(RlvrEnvsError):
    """A netlist is not what our own tools write: a fault, not a property of the design."""


class NetlistTooLarge(NetlistError):
    """A netlist has more gates than are worth a check."""


class Written(Protocol):
    """A design as ``write_aiger -ascii -zinit -symbols -map`` leaves it."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports of the module."""

    @property
    def aiger(self) -> bytes:
        """The graph."""

    @property
    def map(self) -> str:
        """Which input and which output is which bit of a port."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Aig:
    """A design as a graph of two-input gates and latches that start at 0.

    Attributes:
        inputs: port → the variable of each bit, the lowest first; ports in the order of names.
        outputs: port → the literal of each bit, likewise.
        unknown: port → the literal of each bit that says whether the output is x there; empty
            where no output ever is.
        free: inputs that belong to no port: x, undriven, uninitialised. Any value is possible.
        latches: variable and literal of the next state.
        gates: variable and the two literals whose conjunction it is.
    """

    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]
    free: tuple[int, ...] = ()
    latches: tuple[tuple[int, int], ...] = ()
    gates: tuple[tuple[int, int, int], ...] = ()
    unknown: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def reads(self, port: str) -> bool:
        """Return whether an output ever depends on an input; on a clock it does if it is data."""
        return not self.used().isdisjoint(self.inputs[port])

    def used(self) -> set[int]:
        """Return the variables that an output depends on, now or in a later step."""
        gates = {gate: (left >> 1, right >> 1) for gate, left, right in self.gates}
        latches = {number: (after >> 1,) for number, after in self.latches}
        rows = (*self.outputs.values(), *self.unknown.values())
        stack = [literal >> 1 for row in rows for literal in row]
        seen: set[int] = set()
        while stack:
            variable = stack.pop()
            if variable not in seen:
                seen.add(variable)
                stack += gates.get(variable) or latches.get(variable) or ()
        return seen


def read(netlist: Written, *, split_x: bool = False, most_gates: int = MOST_GATES) -> Aig:
    """Return the graph of a netlist.

    Args:
        netlist: ports, graph and map.
        split_x: whether each output ``y`` was written as two, ``y_d`` and ``y_x``: what it is, and
            whether it is x.
        most_gates: how many gates it may have.

    Raises:
        NetlistTooLarge: it has more.
        NetlistError: it is malformed.
    """
    if len(netlist.aiger) > MOST_BYTES:
        raise NetlistTooLarge(f"a netlist has at most {MOST_BYTES} bytes")
    raw = _Raw.parse(netlist.aiger, most_gates)
    names = _names(netlist.map, raw)
    wanted = _widths(netlist.ports, "input")
    bits = {place: 2 * (1 + index) for index, place in names["input"].items()}
    ins, unnamed = _gather(wanted, bits, range(2, 2 * raw.inputs + 2, 2))
    outs = _widths(netlist.ports, "output")
    if split_x:
        outs = {f"{name}_{part}": outs[name] for name in outs for part in "dx"}
    bits = {place: raw.outputs[index] for index, place in names["output"].items()}
    literals = _with_constants(outs, bits, raw.outputs)
    inputs = {name: tuple(bit >> 1 for bit in row) for name, row in ins.items()}
    free = tuple(literal >> 1 for literal in unnamed)
    unknown: dict[str, tuple[int, ...]] = {}
    if split_x:
        unknown = {name[:-2]: row for name, row in literals.items() if name.endswith("_x")}
        literals = {name[:-2]: row for name, row in literals.items() if name.endswith("_d")}
    return Aig(inputs, literals, free, raw.latches, raw.gates, unknown)


def _widths(ports: Sequence[Port], direction: str) -> dict[str, int]:
    return {name: width for name, way, width in sorted(map(astuple, ports)) if way == direction}


@lru_cache(maxsize=KEPT)
def read_once(netlist: Written, split_x: bool = False) -> Aig:
    """Return what `read` returns, from memory where it was asked before; for references.

    What is made of the same graph later, such as the function that runs it, is made once too.
    """
    return read(netlist, split_x=split_x)


@dataclass(frozen=True, slots=True)
class _Raw:
    """An ASCII AIGER file, checked: every literal is of a variable that is defined."""

    inputs: int
    latches: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]
    gates: tuple[tuple[int, int, int], ...]
    symbols: tuple[str, ...]

    @classmethod
    def parse(cls, data: bytes, most_gates: int) -> "_Raw":
        lines = data.decode("ascii", "replace").split("\n")
        head = re.fullmatch(r"aag (\d{1,9}) (\d{1,9}) (\d{1,9}) (\d{1,9}) (\d{1,9})", lines[0])
        if head is None:
            raise NetlistError(f"not the head of an AIGER file: {lines[0]!r:.80}")
        most, inputs, latches, outputs, gates = map(int, head.groups())
        if gates > most_gates or most > 2 * most_gates:
            raise NetlistTooLarge(f"the design has {gates} gates, at most {most_gates} are checked")
        if most != inputs + latches + gates or inputs + latches + outputs + gates >= len(lines):
            raise NetlistError(f"the AIGER file does not hold what its head says: {lines[0]!r:.80}")
        rows = iter(lines[1:])
        counted = (inputs, 1), (latches, 2), (outputs, 1), (gates, 3)
        ins, states, outs, ands = (
            _table(list(islice(rows, count)), width, 2 * most + 1) for count, width in counted
        )
        if [row[0] for row in (*ins, *states, *ands)] != list(range(2, 2 * most + 2, 2)):
            raise NetlistError("the variables of an AIGER file do not count up")
        if any(right >= gate or left >= gate for gate, left, right in ands):
            raise NetlistError("a gate of an AIGER file reads what comes after it")
        return cls(
            inputs,
            tuple((state >> 1, after) for state, after in states),
            tuple(row[0] for row in outs),
            tuple((gate >> 1, left, right) for gate, left, right in ands),
            tuple(rows),
        )


def _table(lines: list[str], width: int, most: int) -> list[tuple[int, ...]]:
    """Return the numbers of some lines, each of which has so many of at most some size."""
    text = "\n".join([*lines, ""])
    if _TABLES[width].fullmatch(text):
        numbers = list(map(int, text.split()))
        if max(numbers) <= most:
            return list(zip(*[iter(numbers)] * width, strict=True))
    return [tuple(_numbers(line, width, most)) for line in lines]  # or say which is wrong


def _numbers(line: str, count: int, most: int) -> list[int]:
    words = line.split(" ")
    plain = all(word.isdecimal() and len(word) <= _MOST_DIGITS for word in words)
    if len(words) != count or not plain or not line.isascii():
        raise NetlistError(f"not {count} numbers of an AIGER file: {line!r:.80}")
    found = [int(word) for word in words]
    if max(found) > most:
        raise NetlistError(f"an AIGER file speaks of a variable that it does not have: {line!r}")
    return found


_Place = tuple[str, int]


def _names(text: str, raw: _Raw) -> dict[str, dict[int, _Place]]:
    """Return the port and bit of each input and output that has one.

    The map leaves out outputs that are constant, the symbols of the graph do not.
    """
    names: dict[str, dict[int, _Place]] = {"input": {}, "output": {}}
    counts = {"input": raw.inputs, "output": len(raw.outputs)}
    found = [match.groups() for match in map(_MAPPED.fullmatch, text.split("\n")) if match]
    for line in raw.symbols:
        if line == "c":  # what follows is a comment
            break
        if match := _SYMBOL.fullmatch(line):
            letter, index, name, bit = match.groups()
            found.append(("input" if letter == "i" else "output", index, bit or "0", name))
    for kind, index, bit, name in found:
        place = name, int(bit)
        if int(index) >= counts[kind] or names[kind].setdefault(int(index), place) != place:
            raise NetlistError(f"the map names {kind} {index}, {name}[{bit}], which cannot be")
    return names


def _gather(
    widths: Mapping[str, int], bits: Mapping[_Place, int], known: Sequence[int]
) -> tuple[dict[str, tuple[int, ...]], list[int]]:
    """Return the literals of each port, and those that belong to none."""
    places = [(name, bit) for name, width in widths.items() for bit in range(width)]
    if set(places) != set(bits):
        raise NetlistError(f"not the bits of the ports: {sorted(set(places) ^ set(bits))[:4]}")
    rows = {name: tuple(bits[name, bit] for bit in range(widths[name])) for name in widths}
    named = set(bits.values())
    return rows, [literal for literal in known if literal not in named]


def _with_constants(
    widths: Mapping[str, int], bits: dict[_Place, int], outputs: Sequence[int]
) -> dict[str, tuple[int, ...]]:
    """Return the literals of each output; those that the map leaves out are constants."""
    places = [(name, bit) for name, width in widths.items() for bit in range(width)]
    missing = [place for place in places if place not in bits]
    if missing:
        left = Counter(outputs) - Counter(bits.values())
        if len(left) != 1 or left.total() != len(missing) or max(left) > 1:
            raise NetlistError(f"the map says nothing of the outputs {missing[:4]}")
        bits = {**bits, **dict.fromkeys(missing, max(left))}
    return _gather(widths, bits, ())[0]
