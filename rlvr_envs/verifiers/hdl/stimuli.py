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

    def next(self) -> list[int]:
        """Return the bits of the ports in their order, for the next step."""
        if self._step % _HABIT == 0:
            self._new_habits()
        for name, width in self._widths.items():
            if name == self._schedule.clock:
                bits = [self._clock(self._values[name][0])]
            elif name == self._schedule.reset:
                bits = [self._reset()]
            elif width == 1:
                bits = [self._control(name)]
            else:
                bits = self._bus(name, width)
            self._values[name] = bits
        self._step += 1
        return [bit for bits in self._values.values() for bit in bits]

    def _new_habits(self) -> None:
        kept = self._full // 3 if self._step else 0  # every other lane
        for name, (one, other) in self._habits.items():
            fresh = self.bits(2)
            self._habits[name] = (
                (one & kept) | (fresh[0] & ~kept),
                (other & kept) | (fresh[1] & ~kept),
            )

    def _rare(self, power: int) -> int:
        """Return a bit that is 1 with a chance of one in two to that power."""
        bit = self._full
        for fresh in self.bits(power):
            bit &= fresh
        return bit

    def _clock(self, before: int) -> int:
        forced = self._schedule.forced(self._schedule.clock, self._step)
        if forced is not None:
            return self._full * forced
        turned = before ^ self._full
        return (turned & ~self.uneven) | (self._rare(1) & self.uneven)

    def _reset(self) -> int:
        if self._step < self._schedule.held:
            bit = self._full
        else:
            seldom, bit = self._full, 0
            for power, lanes in zip((4, 3, 4), self._quarters, strict=True):
                seldom &= self._rare(power)  # 1/16, 1/128, 1/2048
                bit |= seldom & lanes
        return bit if self._schedule.active else bit ^ self._full

    def _control(self, name: str) -> int:
        """Return a bit that is even, mostly 0, mostly 1 or mostly as before, by lane."""
        one, other = self._habits[name]
        even, low, high = self._rare(1), self._rare(3), self._rare(3) ^ self._full
        held = self._values[name][0] ^ low
        return (
            (even & one & other)
            | (low & one & ~other)
            | (high & ~one & other)
            | (held & (self._full ^ (one | other)))
        )

    def _bus(self, name: str, width: int) -> list[int]:
        """Return bits that are even, all 0, all 1, held, small, or those of another bus."""
        left = self._full
        shares = []
        for _ in range(5):  # an eighth of what is left for each
            share = self._rare(3) & left
            shares.append(share)
            left ^= share
        zeros, ones, held, small, copied = shares
        one, other = self._habits[name]
        held |= one & other & (self._rare(3) ^ self._full)  # a quarter of lanes changes seldom
        lowest = self._random.randrange(1, width)
        before = self._values[name]
        partner = self._values.get(self._partner.get(name, ""))
        found = []
        for place, fresh in enumerate(self.bits(width)):
            bit = (fresh & ~zeros) | ones
            if place >= lowest:
                bit &= ~small
            if partner is not None:
                bit = (bit & ~copied) | (partner[place] & copied)
            found.append((bit & ~held) | (before[place] & held))
        return found
