"""Random streams: one per problem, derived from names and seeds, never from ``seed + index``.

A stream is keyed by words and integers, hashed into a `numpy.random.SeedSequence`. Streams of
different keys are independent, so neighbouring seeds share nothing, and nothing depends on the
order in which problems are drawn, on the process or on Python's hash seed.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

import numpy as np

Rng: TypeAlias = np.random.Generator
T = TypeVar("T")

# Problem seeds stay below 2**53, so that every JSON reader keeps them exact.
SEED_LIMIT = 2**53


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[int, ...]:
    digest = hashlib.sha256(text.encode()).digest()[:16]
    return tuple(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4))


def stream(*key: str | int) -> Rng:
    """Return the generator of a key, for example ``stream("rlvr/Gcd-v0", 7)``.

    Integers must be non-negative; equal keys give equal streams on every machine.
    """
    entropy: list[int] = []
    for part in key:
        if isinstance(part, str):
            entropy.extend(_words(part))
        else:
            # Length-prefixed, so that (1, 2) and (1 + 2 * 2**32,) are different keys.
            entropy.extend((part.bit_length() // 32 + 1, part))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def integer(rng: Rng, low: int, high: int) -> int:
    """Draw an integer in [low, high], both included, of any size."""
    span = high - low + 1
    if span <= 2**62:
        return low + int(rng.integers(span))
    # Eight spare bytes make the bias of the remainder smaller than 2**-64.
    return low + int.from_bytes(rng.bytes(span.bit_length() // 8 + 9), "little") % span


def integers(rng: Rng, low: int, high: int, count: int) -> tuple[int, ...]:
    """Draw ``count`` integers in [low, high], both included, of any size."""
    if high - low < 2**62:
        return tuple(low + value for value in rng.integers(high - low + 1, size=count).tolist())
    return tuple(integer(rng, low, high) for _ in range(count))


def nonzero(rng: Rng, limit: int) -> int:
    """Draw an integer in [-limit, limit] that is not 0."""
    value = integer(rng, 1, 2 * limit)
    return value if value <= limit else limit - value


def pick(rng: Rng, items: Sequence[T]) -> T:
    """Draw one of the items."""
    return items[int(rng.integers(len(items)))]


def draw_seed(rng: Rng) -> int:
    """Draw a problem seed in [0, 2**53)."""
    return int(rng.integers(0, SEED_LIMIT))


def fan_out(seed: int, n: int) -> list[int]:
    """Return ``n`` seeds for parallel streams; the first is ``seed`` itself.

    Unlike ``seed + i``, the seeds of neighbouring calls do not overlap.
    """
    rng = stream("fan_out", seed)
    return [seed, *(draw_seed(rng) for _ in range(n - 1))]
