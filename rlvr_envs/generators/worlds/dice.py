"""Many small draws from one generator, taken from it in blocks: a world needs thousands."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rlvr_envs.core.seeding import Rng

T = TypeVar("T")
_FIRST_BLOCK = 64  # a question needs few
_BLOCK = 1024  # numbers fetched at a time; one by one they cost four times as much
_SPARSE = 3  # a sample of less than one in so many is drawn with repetitions to skip


def _units(rng: Rng) -> Iterator[float]:
    block = _FIRST_BLOCK
    while True:
        yield from rng.random(block).tolist()
        block = _BLOCK


class Dice:
    """Draws of integers, items and chances; equal generators give equal draws."""

    __slots__ = ("unit",)

    def __init__(self, rng: Rng) -> None:
        # A draw from [0, 1); the bound method of a generator spares a Python call each time.
        self.unit: Callable[[], float] = _units(rng).__next__

    def below(self, n: int) -> int:
        """Draw an integer in [0, n)."""
        return int(self.unit() * n)

    def between(self, low: int, high: int) -> int:
        """Draw an integer in [low, high], both included."""
        return low + int(self.unit() * (high - low + 1))

    def skewed(self, n: int) -> int:
        """Draw an integer in [0, n), the small ones more often."""
        return int(self.unit() ** 2 * n)

    def chance(self, rate: float) -> bool:
        """Say yes at this rate."""
        return self.unit() < rate

    def pick(self, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[int(self.unit() * len(items))]

    def sample(self, n: int, k: int) -> list[int]:
        """Draw k different integers in [0, n), in random order; all of them where k > n."""
        if _SPARSE * k < n:
            drawn: dict[int, None] = {}
            while len(drawn) < k:
                drawn[int(self.unit() * n)] = None
            return list(drawn)
        pool = list(range(n))
        for i in range(min(k, n)):
            j = i + int(self.unit() * (n - i))
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]
