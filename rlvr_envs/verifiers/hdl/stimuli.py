"""Inputs to try designs with: random, and biased to where designs go wrong.

Each port is a list of bits, each bit a whole number, and each lane of it (one binary digit) a run
of its own. Values that matter seldom come up by chance: corners, a value held or shared by two
buses, a reset in the middle, and none at all for a long time.
"""

import random
from collections.abc import Mapping

from rlvr_envs.verifiers.hdl.miter import Schedule

# After so many steps, every other lane gets new habits; the rest keep theirs for the whole run.
_HABIT = 64

# From here on, an eighth of the lanes holds some inputs for thousands of steps, as it takes to see
# what happens after a long wait. Short runs are drawn without.
_PATIENT_FROM = 512
_PATIENCE = 4096

# So many free inputs are drawn anew in a step, in turn: memories that nobody set have thousands.
_RENEWED = 64


class Stimuli:
    """The inputs of one step after the other; the same for the same arguments.

    Args:
        widths: input port → its number of bits.
        schedule: which port is the reset and which the toggled clock.
        lanes: how many runs.
        seed: of all that is random.
    """

    def __init__(
        self, widths: Mapping[str, int], schedule: Schedule, lanes: int, seed: int
    ) -> None:
        self._random = random.Random(seed)  # noqa: S311 - it decides nothing but what is tried
        self._schedule, self._lanes = schedule, lanes
        self._full = (1 << lanes) - 1
        quarter = (1 << max(1, lanes // 4)) - 1
        # The lowest quarter of lanes is never reset again, the others ever more seldom.
        self._quarters = [(quarter << i * (lanes // 4)) & self._full for i in range(1, 4)]
        # One lane in four has a clock with long and short phases.
        self.uneven = sum(1 << lane for lane in range(3, lanes, 4))
        self._widths = dict(widths)
        self._values = {name: [0] * width for name, width in widths.items()}
        self._habits = dict.fromkeys(widths, (0, 0))
        # They are among those that are never reset again.
        self._patient = (1 << lanes // 8) - 1
        self._waiting = dict.fromkeys(widths, 0)
        self._partner = self._partners()
        self._step = 0

    def _partners(self) -> dict[str, str]:
        """Return for a bus the last one before it that is as wide."""
        last: dict[int, str] = {}
        found = {}
        for name, width in self._widths.items():
            if width > 1 and width in last:
                found[name] = last[width]
            last[width] = name
        return found

    def bits(self, count: int) -> list[int]:
        """Return some evenly random bits."""
        return [self._random.getrandbits(self._lanes) for _ in range(count)]

    def renewed(self, free: list[int]) -> list[int]:
        """Return the values of free inputs that follow on those of the step before."""
        if len(free) <= _RENEWED:
            return self.bits(len(free))
        start = self._step * _RENEWED % len(free)
        fresh = free[start : start + _RENEWED]
        return free[:start] + self.bits(len(fresh)) + free[start + len(fresh) :]

    def next(self) -> list[int]:
        """Return the bits of the ports in their order, for the next step."""
        if self._step % _HABIT == 0:
            self._new_habits()
        if self._step >= _PATIENT_FROM and (self._step - _PATIENT_FROM) % _PATIENCE == 0:
            self._waiting = {name: self.bits(1)[0] & self._patient for name in self._widths}
        for name, width in self._widths.items():
            if name == self._schedule.clock:
                bits = [self._clock(self._values[name][0])]
            elif name == self._schedule.reset:
                bits = [self._reset()]
            elif width == 1:
                bits = self._waited(name, [self._control(name)])
            else:
                bits = self._waited(name, self._bus(name, width))
            self._values[name] = bits
        self._step += 1
        return [bit for bits in self._values.values() for bit in bits]

    def _waited(self, name: str, bits: list[int]) -> list[int]:
        """Return bits as they were in lanes that wait, and new ones in the others."""
        held = self._waiting[name]
        if not held:
            return bits
        pairs = zip(self._values[name], bits, strict=True)
        return [(before & held) | (bit & ~held) for before, bit in pairs]

    def _new_habits(self) -> None:
        kept = self._full // 3 if self._step else 0  # every other lane
        for name, (one, other) in self._habits.items():
            fresh = self.bits(2)
            self._habits[name] = (
                (one & kept) | (fresh[0] & ~kept),
                (other & kept) | (fresh[1] & ~kept),
            )

    def _eighth(self) -> int:
        """Return a bit that is 1 with a chance of one in eight."""
        draw, lanes = self._random.getrandbits, self._lanes
        return draw(lanes) & draw(lanes) & draw(lanes)

    def _clock(self, before: int) -> int:
        forced = self._schedule.forced(self._schedule.clock, self._step)
        if forced is not None:
            return self._full * forced
        turned = before ^ self._full
        return (turned & ~self.uneven) | (self._random.getrandbits(self._lanes) & self.uneven)

    def _reset(self) -> int:
        if self._step < self._schedule.held:
            bit = self._full
        else:
            often, seldom, rarely = self._quarters
            sixteenth = self._eighth() & self._random.getrandbits(self._lanes)
            less = sixteenth & self._eighth()  # 1/128
            least = less & self._eighth() if less & rarely else 0
            least = least and least & self._random.getrandbits(self._lanes)  # 1/2048
            bit = (sixteenth & often) | (less & seldom) | (least & rarely)
        return bit if self._schedule.active else bit ^ self._full

    def _control(self, name: str) -> int:
        """Return a bit that is even, mostly 0, mostly 1 or mostly as before, by lane."""
        one, other = self._habits[name]
        # A lane takes one of the four, so they may share what they are drawn from.
        even, second, third = self.bits(3)
        low, high = even & second & third, even | second | third
        held = self._values[name][0] ^ low
        return (
            (even & one & other)
            | (low & one & ~other)
            | (high & ~one & other)
            | (held & (self._full ^ (one | other)))
        )

    def _bus(self, name: str, width: int) -> list[int]:
        """Return bits that are even, all 0, all 1, held, small, or those of another bus."""
        one, other = self._habits[name]
        first, second, third = self.bits(3)
        still = one & other & ~self._eighth()  # a quarter of lanes changes seldom
        moving = self._full ^ still
        # An eighth each for ones, zeros (what no line below mentions), small, held and copied.
        corner = first & second & moving
        ones = corner & third
        small = first & ~second & third & moving
        held = (first & ~second & ~third & moving) | still
        copied = ~first & second & third & moving
        even = ~first & ~(second & third) & moving
        before = self._values[name]
        partner = self._values.get(self._partner.get(name, ""))
        if partner is None:
            partner, even = before, even | copied
            copied = 0
        lowest = self._random.randrange(1, width)
        draw, lanes = self._random.getrandbits, self._lanes
        low = even | small
        return [
            (draw(lanes) & (low if place < lowest else even))
            | ones
            | (before[place] & held)
            | (partner[place] & copied)
            for place in range(width)
        ]
