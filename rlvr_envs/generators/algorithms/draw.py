"""Inputs from a number: the same on every machine and with every version of every library.

A problem stores the seeds of its large tests instead of the tests, so what a seed stands for must
never change. The bytes come from SHAKE-256.
"""

import hashlib
import sys
from array import array
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Draws the inputs of one test."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    def integers(self, low: int, high: int, count: int) -> list[int]:
        """Draw ``count`` integers in [low, high]; spans are far below 2**32."""
        self._count += 1
        key = f"{self._seed}/{self._count}".encode()
        words = array("I", hashlib.shake_256(key).digest(4 * count))
        if sys.byteorder == "big":
            words.byteswap()
        span = high - low + 1
        return [low + word % span for word in words]

    def integer(self, low: int, high: int) -> int:
        """Draw an integer in [low, high]."""
        return self.integers(low, high, 1)[0]

    def pick(self, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[self.integer(0, len(items) - 1)]

    def text(self, letters: str, count: int) -> str:
        """Draw a string over the letters."""
        return "".join(letters[place] for place in self.integers(0, len(letters) - 1, count))


LIMIT = 1000  # items of lists are in [0, LIMIT)
SHAPES = ("any", "few", "rising", "falling", "runs", "near")


def items(draw: Draw, count: int, shape: str) -> list[int]:
    """Draw a list of a shape, with items in [0, LIMIT)."""
    if shape == "few":
        return draw.integers(0, draw.integer(1, 9), count)
    values = draw.integers(0, LIMIT - 1, count)
    if shape in ("rising", "falling"):
        return sorted(values, reverse=shape == "falling")
    if shape == "runs":
        length = draw.integer(2, 9)
        return [values[place // length] for place in range(count)]
    if shape == "near":
        steps = draw.integers(-3, 3, count)
        value, walk = draw.integer(0, LIMIT - 1), []
        for step in steps:
            value = min(max(value + step, 0), LIMIT - 1)
            walk.append(value)
        return walk
    return values
