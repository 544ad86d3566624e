"""Designs made by hand, gate by gate."""

import pytest

from rlvr_envs.verifiers.hdl.aig import Aig


class Circuit:
    """A design in the making; signals are literals, buses are lists of them, lowest bit first."""

    def __init__(self, **widths):
        self._count = 0
        self._gates, self._free, self._nexts = [], [], {}
        self._inputs = {n: tuple(self._new() for _ in range(widths[n])) for n in sorted(widths)}

    def _new(self):
        self._count += 1
        return self._count

    def bus(self, name):
        return [2 * number for number in self._inputs[name]]

    def bit(self, name):
        return self.bus(name)[0]

    def unknown(self):
        """Return a signal that may be anything in every step."""
        self._free.append(self._new())
        return 2 * self._free[-1]

    def both(self, left, right):
        number = self._new()
        self._gates.append((number, left, right))
        return 2 * number

    def either(self, left, right):
        return self.both(left ^ 1, right ^ 1) ^ 1

    def differ(self, left, right):
        return self.either(self.both(left, right ^ 1), self.both(left ^ 1, right))

    def choose(self, which, then, other):
        return self.either(self.both(which, then), self.both(which ^ 1, other))

    def equals(self, bus, number):
        found = 1
        for place, signal in enumerate(bus):
            found = self.both(found, signal ^ (1 - (number >> place & 1)))
        return found

    def state(self, width=1):
        """Return a register, 0 at the start, whose next value `then` says."""
        numbers = [self._new() for _ in range(width)]
        self._nexts.update(dict.fromkeys(numbers, 0))
        return [2 * number for number in numbers]

    def then(self, register, following):
        self._nexts.update(
            {bit // 2: after for bit, after in zip(register, following, strict=True)}
        )

    def plus_one(self, bus):
        carry, found = 1, []
        for signal in bus:
            found.append(self.differ(signal, carry))
            carry = self.both(signal, carry)
        return found

    def counter(self, width, reset):
        """Return a register that counts up, and that a signal sets to 0."""
        register = self.state(width)
        self.then(register, [self.both(bit, reset ^ 1) for bit in self.plus_one(register)])
        return register

    def done(self, *, x=None, **outputs):
        """Return the design, with its outputs, and which of their bits are x."""
        return Aig(
            self._inputs,
            {name: tuple(outputs[name]) for name in sorted(outputs)},
            tuple(self._free),
            tuple(self._nexts.items()),
            tuple(self._gates),
            {name: tuple((x or {}).get(name, [0] * len(outputs[name]))) for name in sorted(outputs)}
            if x
            else {},
        )


@pytest.fixture
def circuit():
    """The class of designs made by hand."""
    return Circuit
