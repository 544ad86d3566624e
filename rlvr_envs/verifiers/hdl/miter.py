"""Two designs joined into one whose single output says that they differ.

Both read the same ports. What is free in one is free of the other, so that a design which depends
on it differs from any that does not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Reference


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which steps of a run are forced and which are compared.

    With a clock that is cycled by every step, a reset is held in step 0 and outputs are compared
    from step 1. Where the clock is an input that is toggled, a reset is held in steps 0 and 1,
    while the clock rises, and outputs are compared from step 2, after it could fall once more.
    Without a reset, outputs are compared from step 0; a toggled clock is then low in step 0.
    """

    clock: str = ""  # the input that is toggled, empty where there is none
    reset: str = ""  # the input that is held, empty where there is none
    active: int = 1  # the level at which the reset is held
    held: int = 0  # for how many steps

    @classmethod
    def of(cls, reference: Reference, clocked: bool) -> "Schedule":
        """Return the schedule of a reference; not clocked means that its clock is toggled."""
        clocking = reference.clocking
        if clocking is None:
            return cls()
        held = 0 if not clocking.reset else 1 if clocked else 2
        clock = "" if clocked else clocking.clock
        return cls(clock, clocking.reset, clocking.reset_active, held)

    def forced(self, port: str, step: int) -> int | None:
        """Return the level of an input in a step, or None where it may be any."""
        if port == self.reset and step < self.held:
            return self.active
        if port == self.clock and (step == 0 or step < self.held):
            return step
        return None


def compared(gold: Aig, gate: Aig) -> list[tuple[int, int, int]]:
    """Return for each output bit its literal in both designs, and that of gold being x there."""
    rows = []
    for port, literals in gold.outputs.items():
        unknown = gold.unknown.get(port) or (0,) * len(literals)
        rows += list(zip(literals, gate.outputs[port], unknown, strict=True))
    return rows


@dataclass(frozen=True, slots=True)
class Miter:
    """Two designs joined."""

    aiger: bytes  # a binary AIGER file whose one output is 1 in a step in which they differ
    bad: int  # the literal of that output; 0 where hashing alone showed that it is never 1
    gates: int  # how many gates it has
    latches: int  # how many latches


def miter(gold: Aig, gate: Aig, reference: Reference, clocked: bool) -> Miter:
    """Join two designs that have the same ports.

    The inputs of the miter are the bits of gold's input ports in their order, gold's free inputs
    and gate's free inputs.
    """
    schedule = Schedule.of(reference, clocked)
    ports = [(name, len(bits)) for name, bits in gold.inputs.items()]
    wide = sum(width for _, width in ports)
    used = gold.used(), gate.used()
    ours, theirs = (
        [number for number, _ in design.latches if number in wanted]
        for design, wanted in zip((gold, gate), used, strict=True)
    )
    phases = max(schedule.held, 1 if schedule.clock else 0)
    count = wide + len(gold.free) + len(gate.free)
    builder = _Builder(count + phases + len(ours) + len(theirs))
    literals = iter(range(2, 2 * builder.first, 2))
    shared = {name: [next(literals) for _ in range(width)] for name, width in ports}
    free = [[next(literals) for _ in design.free] for design in (gold, gate)]
    past = [next(literals) for _ in range(phases)]  # the n-th is 1 once n + 1 steps are over
    states = [[next(literals) for _ in kept] for kept in (ours, theirs)]
    _force(builder, schedule, shared, past)
    nexts = [1, *past[:-1]] if past else []
    tables = []
    for design, wanted, loose, state in zip((gold, gate), used, free, states, strict=True):
        table = {0: 0, **dict(zip(design.free, loose, strict=True))}
        for name, bits in design.inputs.items():
            table.update(zip(bits, shared[name], strict=True))
        latches = [row for row in design.latches if row[0] in wanted]
        table.update(zip((number for number, _ in latches), state, strict=True))
        for number, left, right in design.gates:
            if number in wanted:
                table[number] = builder.both(_moved(table, left), _moved(table, right))
        nexts += [_moved(table, after) for _, after in latches]
        tables.append(table)
    bad = 0
    for left, right, unknown in compared(gold, gate):
        differ = builder.xor(_moved(tables[0], left), _moved(tables[1], right))
        known = _moved(tables[0], unknown) ^ 1
        bad = builder.either(bad, builder.both(differ, known))
    if schedule.held:
        bad = builder.both(bad, past[schedule.held - 1])
    return Miter(_binary(builder, count, nexts, bad), bad, len(builder.gates), len(nexts))


def _force(
    builder: "_Builder", schedule: Schedule, shared: dict[str, list[int]], past: Sequence[int]
) -> None:
    """Replace the reset and the clock in the steps in which they may not be any value."""
    if schedule.held:
        over = past[schedule.held - 1]
        wire = shared[schedule.reset][0]
        held = builder.either(wire, over ^ 1) if schedule.active else builder.both(wire, over)
        shared[schedule.reset] = [held]
    if schedule.clock:
        wire = shared[schedule.clock][0]
        if schedule.held:
            wire = builder.either(wire, past[1] ^ 1)
        shared[schedule.clock] = [builder.both(wire, past[0])]


def _moved(table: dict[int, int], literal: int) -> int:
    return table[literal >> 1] ^ (literal & 1)


class _Builder:
    """Adds gates, each once, and none whose value is plain."""

    def __init__(self, variables: int) -> None:
        self.first = variables + 1
        self.gates: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}

    def both(self, left: int, right: int) -> int:
        if left < right:
            left, right = right, left
        if right == 0 or left == right ^ 1:
            return 0
        if right == 1 or left == right:
            return left
        pair = left, right
        if pair not in self._known:
            self._known[pair] = 2 * (self.first + len(self.gates))
            self.gates.append(pair)
        return self._known[pair]

    def either(self, left: int, right: int) -> int:
        return self.both(left ^ 1, right ^ 1) ^ 1

    def xor(self, left: int, right: int) -> int:
        return self.either(self.both(left, right ^ 1), self.both(left ^ 1, right))


def _binary(builder: _Builder, inputs: int, nexts: Sequence[int], bad: int) -> bytes:
    """Return a binary AIGER file."""
    gates = builder.gates
    most = inputs + len(nexts) + len(gates)
    text = [f"aig {most} {inputs} {len(nexts)} 1 {len(gates)}", *map(str, nexts), str(bad), ""]
    body = bytearray("\n".join(text).encode())
    for index, (left, right) in enumerate(gates):
        body += bytes(_varint(2 * (builder.first + index) - left))
        body += bytes(_varint(left - right))
    return bytes(body)


def _varint(number: int) -> Iterator[int]:
    while number > 127:
        yield number & 127 | 128
        number >>= 7
    yield number
