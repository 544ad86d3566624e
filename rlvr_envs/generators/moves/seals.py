"""Seals: what tells games apart whose board stays hidden while they are played."""

import hashlib
from collections.abc import Iterable


def seal(lines: Iterable[str]) -> str:
    """Return 16 hex digits that are equal for equal hidden boards.

    A problem is known by its public fields. Where the prompt tells next to nothing of the board, a
    public field with its seal keeps different games from counting as one.
    """
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
