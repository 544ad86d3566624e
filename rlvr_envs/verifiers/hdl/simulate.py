"""Comparing two designs by running them: many runs at a time, a lane of a whole number each."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.stepping import State, stepper
from rlvr_envs.verifiers.hdl.stimuli import Stimuli

LEAST_CYCLES = 16
EXHAUSTIVE_BITS = 24
WIDE = 4  # times as long as of 64 lanes is a step of thousands
SMALL = 20_000  # gates of designs that keep 2**14 lanes of every signal in a few MiB

# Gates times steps of one comparison: about two seconds.
BUDGET = 30_000_000


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a comparison tries."""

    cycles: int  # steps of a run
    lanes: int  # how many runs
    budget: int = BUDGET  # gates times steps; of large designs, runs are shorter


QUICK = Effort(64, 256)
DEEP = Effort(5000, 64)
LONGEST = Effort(1 << 16, 64, 3 * BUDGET // 2)


@dataclass(frozen=True, slots=True)
class Difference:
    """A run in whose last step two designs differ.

    Attributes:
        clocked: whether a step is a cycle of the clock; otherwise the clock is an input.
        inputs: for each step the value of each input port, in the order of names.
        free: for each step the values of the free inputs of both designs, bit by bit.
    """

    clocked: bool
    inputs: tuple[tuple[int, ...], ...]
    free: tuple[tuple[int, int], ...]

    @property
    def cycle(self) -> int:
        """The step in which they differ, from 0."""
        return len(self.inputs) - 1


@dataclass(frozen=True, slots=True)
class Row:
    """What one step of a run showed."""

    inputs: Mapping[str, int]  # port → value
    expected: Mapping[str, int]  # port → value of the golden design
    unknown: Mapping[str, int]  # port → which bits of that are x, and may be anything
    got: Mapping[str, int]  # port → value of the other design
    compared: bool  # whether the outputs have to be equal in this step

    def differing(self) -> dict[str, int]:
        """Return which bits of which outputs are wrong."""
        found = {
            name: (value ^ self.got[name]) & ~self.unknown.get(name, 0)
            for name, value in self.expected.items()
        }
        return {name: bits for name, bits in found.items() if bits and self.compared}


def depth(gold: Aig, gate: Aig, effort: Effort) -> int:
    """Return how many cycles a comparison runs: all of an effort, unless designs are large."""
    return min(effort.cycles, max(LEAST_CYCLES, effort.budget // _Pair(gold, gate).cost))


def compare(
    gold: Aig,
    gate: Aig,
    reference: Reference,
    *,
    clocked: bool,
    effort: Effort = QUICK,
    seed: int = 0,
) -> Difference | None:
    """Return a run in which two designs differ, a shortest of those tried, or None.

    Args:
        gold: what is right.
        gate: what is judged.
        reference: says which input is the clock and which resets.
        clocked: whether a step is a cycle of the clock.
        effort: how much is tried; `depth` says how far that goes.
        seed: of what is tried.
    """
    _check_ports(gold, gate)
    schedule = Schedule.of(reference, clocked)
    pair = _Pair(gold, gate)
    cycles = depth(gold, gate, effort)
    for step, shot in enumerate(islice(pair.run(schedule, effort.lanes, seed), cycles)):
        if shot.bad and step >= schedule.held:
            lane = _lowest(shot.bad & ~shot.uneven or shot.bad)  # an even clock reads better
            again = islice(pair.run(schedule, effort.lanes, seed), step + 1)
            return pair.record(again, lane, clocked)
    return None


def exhaustible(gold: Aig, gate: Aig, budget: int = BUDGET) -> bool:
    """Return whether `exhaustive` decides: no state, few inputs, and gates within a budget."""
    return _Pair(gold, gate).exhaustive_cost() <= budget


def exhaustive(gold: Aig, gate: Aig) -> Difference | None:
    """Return inputs for which two combinational designs differ, or None: there are none.

    Raises:
        ConfigError: the designs have state or too many inputs; `exhaustible` says so.
    """
    _check_ports(gold, gate)
    pair = _Pair(gold, gate)
    if pair.exhaustive_cost() == math.inf:
        raise ConfigError(f"only designs of up to {EXHAUSTIVE_BITS} input bits are tried in full")
    for shot in pair.everything():
        if shot.bad:
            return pair.record(iter([shot]), _lowest(shot.bad), clocked=True)
    return None


def replay(gold: Aig, gate: Aig, reference: Reference, difference: Difference) -> list[Row]:
    """Return what a run shows, step by step; its last row says whether they really differ."""
    _check_ports(gold, gate)
    held = Schedule.of(reference, difference.clocked).held
    pair = _Pair(gold, gate)
    states = pair.start
    rows = []
    for number, values in enumerate(difference.inputs):
        inputs = dict(zip(gold.inputs, values, strict=True))
        bits = [bit for name, row in gold.inputs.items() for bit in _bits(inputs[name], len(row))]
        free = difference.free[number]
        shot = _Shot(bits, _bits(free[0], len(gold.free)), _bits(free[1], len(gate.free)))
        expected, got, states = pair.step(shot, states, 1)
        words = _words(expected, (*gold.outputs.values(), *gold.unknown.values()))
        rows.append(
            Row(
                inputs,
                dict(zip(gold.outputs, words, strict=False)),
                dict(zip(gold.unknown, words[len(gold.outputs) :], strict=True)),
                dict(zip(gate.outputs, _words(got, gate.outputs.values()), strict=True)),
                number >= held,
            )
        )
    return rows


@dataclass(slots=True)
class _Shot:
    """One step of all lanes: inputs, free inputs of both designs, and what came of it."""

    inputs: list[int]
    ours: list[int]
    theirs: list[int]
    uneven: int = 0  # lanes whose clock is not even
    bad: int = 0  # lanes in which the outputs differ


_States = tuple[State, State]


class _Pair:
    """Two designs side by side."""

    def __init__(self, gold: Aig, gate: Aig) -> None:
        self._gold, self._gate = gold, gate
        self._ours, self._theirs = stepper(gold), stepper(gate)
        self._outputs = sum(len(row) for row in gold.outputs.values())
        self.start: _States = self._ours.start, self._theirs.start

    @property
    def cost(self) -> int:
        """Gates of both."""
        return max(1, self._ours.cost + self._theirs.cost)

    def step(self, shot: _Shot, states: _States, full: int) -> tuple[State, State, _States]:
        """Return the outputs of both designs and their next states; note where they differ."""
        expected, ours = self._ours.step(shot.inputs, shot.ours, states[0], full)
        got, theirs = self._theirs.step(shot.inputs, shot.theirs, states[1], full)
        if expected != got:
            unknown = expected[self._outputs :] or (0,) * self._outputs
            for right, found, any_value in zip(expected, got, unknown, strict=False):
                shot.bad |= (right ^ found) & ~any_value
        return expected, got, (ours, theirs)

    def run(self, schedule: Schedule, lanes: int, seed: int) -> Iterator[_Shot]:
        """Yield step after step of a random run, without end."""
        widths = {name: len(bits) for name, bits in self._gold.inputs.items()}
        stimuli = Stimuli(widths, schedule, lanes, seed)
        states, full = self.start, (1 << lanes) - 1
        ours, theirs = (stimuli.bits(len(design.free)) for design in (self._gold, self._gate))
        while True:
            ours, theirs = stimuli.renewed(ours), stimuli.renewed(theirs)
            uneven = stimuli.uneven if schedule.clock else 0
            shot = _Shot(stimuli.next(), ours, theirs, uneven)
            _, _, states = self.step(shot, states, full)
            yield shot

    def _wires(self) -> list[tuple[int, int]]:
        """Return the inputs that matter, as design and variable; those of ports are gold's."""
        used = self._gold.used(), self._gate.used()
        wires = []
        for name, bits in self._gold.inputs.items():
            for bit, other in zip(bits, self._gate.inputs[name], strict=True):
                if bit in used[0] or other in used[1]:
                    wires.append((0, bit))
        wires += [(1, bit) for bit in self._gold.free if bit in used[0]]
        return wires + [(2, bit) for bit in self._gate.free if bit in used[1]]

    def _block(self, wires: int) -> int:
        """Return how many inputs vary from lane to lane; the others vary from step to step."""
        return min(wires, 14 if self.cost < SMALL else 10)

    def exhaustive_cost(self) -> float:
        """Return gates times steps of trying everything; infinite where that cannot be done."""
        wires = len(self._wires())
        if any(self.start) or wires > EXHAUSTIVE_BITS:
            return math.inf
        return WIDE * self.cost << (wires - self._block(wires))

    def everything(self) -> Iterator[_Shot]:
        """Yield one step for each block of all possible inputs."""
        wires = self._wires()
        block = self._block(len(wires))
        lanes = 1 << block
        full = (1 << lanes) - 1
        # The n-th varies as the n-th binary digit of the lane: 2**n lanes at 0, as many at 1.
        values = {
            wire: full // ((1 << (1 << place)) + 1) << (1 << place)
            for place, wire in enumerate(wires[:block])
        }
        for number in range(1 << (len(wires) - block)):
            values |= {wire: full * (number >> n & 1) for n, wire in enumerate(wires[block:])}
            ports = [values.get((0, bit), 0) for row in self._gold.inputs.values() for bit in row]
            ours = [values.get((1, bit), 0) for bit in self._gold.free]
            shot = _Shot(ports, ours, [values.get((2, bit), 0) for bit in self._gate.free])
            self.step(shot, self.start, full)
            yield shot

    def record(self, shots: Iterator[_Shot], lane: int, clocked: bool) -> Difference:
        """Return what one lane was given."""
        inputs, free = [], []
        for shot in shots:
            row = [bit >> lane & 1 for bit in shot.inputs]
            inputs.append(tuple(_words(row, self._gold.inputs.values())))
            free.append((_word(shot.ours, lane), _word(shot.theirs, lane)))
        return Difference(clocked, tuple(inputs), tuple(free))


def _check_ports(gold: Aig, gate: Aig) -> None:
    for ours, theirs in ((gold.inputs, gate.inputs), (gold.outputs, gate.outputs)):
        one, other = ({name: len(bits) for name, bits in each.items()} for each in (ours, theirs))
        if list(one.items()) != list(other.items()):
            raise ConfigError(f"designs are compared that have the same ports: {one}, {other}")


def _lowest(lanes: int) -> int:
    """Return the number of the lowest lane that is 1."""
    return (lanes & -lanes).bit_length() - 1


def _bits(word: int, width: int) -> list[int]:
    return [word >> place & 1 for place in range(width)]


def _word(bits: Iterable[int], lane: int = 0) -> int:
    return sum((bit >> lane & 1) << place for place, bit in enumerate(bits))


def _words(bits: Iterable[int], rows: Iterable[Sequence[int]]) -> list[int]:
    """Return the numbers that some bits are, each as wide as its row."""
    found = iter(bits)
    return [_word(islice(found, len(row))) for row in rows]
