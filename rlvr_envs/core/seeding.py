"""Random streams: one per problem, derived from names and seeds, never from ``seed + index``.

A stream is keyed by words and integers, hashed into a `numpy.random.SeedSequence`. Streams of
different keys are independent, so neighbouring seeds share nothing, and nothing depends on the
order in which problems are drawn, on the process or on Python's hash seed.
"""

import hashlib
from functools import lru_cache
from typing import TypeAlias

import numpy as np

Rng: TypeAlias = np.random.Generator

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


def draw_seed(rng: Rng) -> int:
    """Draw a problem seed in [0, 2**53)."""
    return int(rng.integers(0, SEED_LIMIT))


def fan_out(seed: int, n: int) -> list[int]:
    """Return ``n`` seeds for parallel streams; the first is ``seed`` itself.

    Unlike ``seed + i``, the seeds of neighbouring calls do not overlap.
    """
    rng = stream("fan_out", seed)
    return [seed, *(draw_seed(rng) for _ in range(n - 1))]
