"""Heap games: Nim, subtraction games, Kayles and other octal games.

The theory is in Berlekamp, Conway and Guy, "Winning Ways for your Mathematical Plays", chapters 3,
4 and 13: a heap has a Grundy value, and the player to move wins exactly where the nim-sum of the
values is not 0. In misère Nim, where taking the last counter loses, the same holds as long as a
heap has 2 or more; with heaps of 1 alone, an even number of them is won.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import xor
from typing import NamedTuple

from rlvr_envs.core.games import OVER


class Heaps(NamedTuple):
    """The sizes of the heaps that are left, and the seat to move."""

    sizes: tuple[int, ...]
    seat: int = 0


@dataclass(frozen=True, slots=True)
class HeapRules:
    """How a heap may be changed.

    Attributes:
        takes: how many counters a move may take from a heap; empty for any number.
        splits: whether what is left of the heap may be divided into two heaps.
        misere: whether who takes the last counter loses; only with any number and no splits.
    """

    takes: tuple[int, ...] = ()
    splits: bool = False
    misere: bool = False

    def options(self, size: int) -> list[tuple[int, ...]]:
        """Return what may replace a heap: heaps in ascending order, none for an empty one."""
        found = list[tuple[int, ...]]()
        for take in self.takes or range(1, size + 1):
            left = size - take
            if left >= 0:
                found.append((left,) if left else ())
                if self.splits:
                    found += [(part, left - part) for part in range(1, left // 2 + 1)]
        return found


@dataclass(frozen=True, slots=True)
class HeapGame:
    """Who cannot move loses; under misère rules, who cannot move wins.

    A move such as ``2: 3 4`` replaces the second heap by heaps of 3 and 4, ``2: 0`` takes it all.

    Attributes:
        rules: what a move may do.
        sizes: the heaps at the start.
        first: the seat that moves first.
    """

    rules: HeapRules
    sizes: tuple[int, ...]
    first: int = 0
    n_seats: int = 2

    def start(self) -> Heaps:
        return Heaps(self.sizes, self.first)

    def mover(self, state: Heaps) -> int:
        least = min(self.rules.takes, default=1)
        return state.seat if any(size >= least for size in state.sizes) else OVER

    def actions(self, state: Heaps) -> tuple[str, ...]:
        return tuple(
            f"{i}: {' '.join(map(str, heaps or (0,)))}"
            for i, size in enumerate(state.sizes, 1)
            for heaps in self.rules.options(size)
        )

    def chances(self, state: Heaps) -> tuple[tuple[str, Fraction], ...]:
        return ()

    def after(self, state: Heaps, action: str) -> Heaps:
        index, _, new = action.partition(": ")
        at = int(index) - 1
        heaps = tuple(int(word) for word in new.split() if word != "0")
        return Heaps((*state.sizes[:at], *heaps, *state.sizes[at + 1 :]), 1 - state.seat)

    def returns(self, state: Heaps) -> tuple[float, ...]:
        wins = state.seat if self.rules.misere else 1 - state.seat
        return (1.0, -1.0) if wins == 0 else (-1.0, 1.0)

    def view(self, state: Heaps, seat: int) -> str:
        heaps = ", ".join(f"heap {i} has {size}" for i, size in enumerate(state.sizes, 1))
        return f"Heaps: {heaps}." if heaps else "No heap is left."


@dataclass(slots=True)
class HeapValues:
    """The exact values of heap games, by Grundy values.

    Attributes:
        nodes: options looked at so far.
    """

    rules: HeapRules
    nodes: int = 0
    _grundy: list[int] = field(default_factory=list)

    def grundy(self, size: int) -> int:
        """Return the Grundy value of a heap."""
        while len(self._grundy) <= size:
            options = self.rules.options(len(self._grundy))
            self.nodes += len(options)
            values = {reduce(xor, (self._grundy[part] for part in each), 0) for each in options}
            self._grundy.append(next(i for i in range(len(values) + 1) if i not in values))
        return self._grundy[size]

    def value(self, state: Heaps) -> int:
        """Return what seat 0 gets if both play best: 1 or -1."""
        wins = reduce(xor, map(self.grundy, state.sizes), 0) != 0
        if self.rules.misere and max(state.sizes, default=0) < 2:
            wins = len(state.sizes) % 2 == 0
        return 1 if wins == (state.seat == 0) else -1
