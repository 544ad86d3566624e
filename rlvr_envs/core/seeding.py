"""Random streams: one per problem, derived from names and seeds, never from ``seed + index``.

A stream is keyed by words and integers: BLAKE2b hashes the key into the 256 bits that seed a
PCG64 generator. Streams of different keys are independent, so neighbouring seeds share nothing,
and nothing depends on the order in which problems are drawn, on the process or on Python's hash
seed.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.random.bit_generator import ISeedSequence

Rng: TypeAlias = np.random.Generator
T = TypeVar("T")

# Problem seeds stay below 2**53, so that every JSON reader keeps them exact.
SEED_LIMIT = 2**53


_WORD = np.dtype("<u8")
_SMALL = 2**32  # spans that a 53-bit fraction covers evenly enough
_MANY = 8  # from here on an array costs less than single draws


class _Digest(ISeedSequence):
    """Seeds a bit generator with a digest; NumPy's own mixing would only take time."""

    def __init__(self, digest: bytes) -> None:
        self._digest = digest

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> npt.NDArray[Any]:
        words = np.frombuffer(self._digest, dtype=_WORD)
        return (words if dtype is np.uint64 else words.view(dtype))[:n_words]


def stream(*key: str | int) -> Rng:
    """Return the generator of a key, for example ``stream("rlvr/Gcd-v0", 7)``.

    Equal keys give equal streams on every machine.
    """
    # Lengths and kinds are written too, so that no two keys have the same text.
    parts = [f"s{len(part)}:{part}" if isinstance(part, str) else f"i{part};" for part in key]
    digest = hashlib.blake2b("".join(parts).encode(), digest_size=32).digest()
    bits = np.random.PCG64(_Digest(digest))  # type: ignore[arg-type]  # NumPy's stubs lack ISeedSequence
    return np.random.Generator(bits)


def integer(rng: Rng, low: int, high: int) -> int:
    """Draw an integer in [low, high], both included, of any size."""
    span = high - low + 1
    if 0 < span <= _SMALL:
        # Three times as fast as `Generator.integers`; a value's probability is off by a factor of
        # less than 1 + 2**-21, since there are 2**53 values of random() to share out.
        return low + int(rng.random() * span)
    if span <= 2**62:
        return low + int(rng.integers(span))
    # Eight spare bytes make the bias of the remainder smaller than 2**-64.
    return low + int.from_bytes(rng.bytes(span.bit_length() // 8 + 9), "little") % span


def integers(rng: Rng, low: int, high: int, count: int) -> tuple[int, ...]:
    """Draw ``count`` integers in [low, high], both included, of any size."""
    if count >= _MANY and high - low < 2**62:
        return tuple([low + value for value in rng.integers(high - low + 1, size=count).tolist()])
    span = high - low + 1
    if count > 1 and 0 < span <= _SMALL:  # the same numbers as from `integer`, in one call
        return tuple([low + int(share * span) for share in rng.random(count).tolist()])
    return tuple([integer(rng, low, high) for _ in range(count)])


def nonzero(rng: Rng, limit: int) -> int:
    """Draw an integer in [-limit, limit] that is not 0."""
    value = integer(rng, 1, 2 * limit)
    return value if value <= limit else limit - value


def pick(rng: Rng, items: Sequence[T]) -> T:
    """Draw one of the items."""
    return items[integer(rng, 0, len(items) - 1)]


def draw_seed(rng: Rng) -> int:
    """Draw a problem seed in [0, 2**53)."""
    return int(rng.integers(0, SEED_LIMIT))


def fan_out(seed: int, n: int) -> list[int]:
    """Return ``n`` seeds for parallel streams; the first is ``seed`` itself.

    Unlike ``seed + i``, the seeds of neighbouring calls do not overlap.
    """
    rng = stream("fan_out", seed)
    return [seed, *(draw_seed(rng) for _ in range(n - 1))]
