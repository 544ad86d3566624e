"""Spaces for language: any Unicode text up to a length."""

from typing import Any

import gymnasium


class UnicodeText(gymnasium.Space[str]):
    """Every string of at most ``max_length`` characters."""

    def __init__(self, max_length: int = 65_536, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)
        self.max_length = max_length

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        length = int(self.np_random.integers(0, 16))
        return "".join(chr(int(c)) for c in self.np_random.integers(32, 127, length))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash(("UnicodeText", self.max_length))
