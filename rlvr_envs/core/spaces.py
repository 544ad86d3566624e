"""The space of language: any Unicode text up to a length.

Gymnasium's own `Text` draws from a fixed character set, by default letters and digits without a
space. Importing this module also teaches Gymnasium's vector environments to batch such texts, and
its wrappers and `flatten` what a text is: docs/wrappers.md says which of them take one.
"""

import multiprocessing
import struct
from collections.abc import Iterator, Sequence
from copy import deepcopy
from ctypes import c_uint8
from typing import Any

import gymnasium
from gymnasium.spaces.utils import (
    flatdim,
    flatten,
    flatten_space,
    is_space_dtype_shape_equiv,
    unflatten,
)
from gymnasium.vector.utils import (
    batch_differing_spaces,
    create_empty_array,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from gymnasium.wrappers.utils import create_zero_array

from rlvr_envs.core.errors import ConfigError

_SAMPLE_LENGTH = 32  # characters of the longest sample
_SAMPLE_ALPHABET = "".join(map(chr, range(32, 127))) + "\n\täßéñ√∑≤≠π中文日本語한국어עברית🙂𝔘"

# A shared buffer holds, for each environment, the number of bytes and then the bytes.
_HEADER = struct.Struct("=Q")
_BYTES_PER_CHARACTER = 4
_ENCODING = ("utf-8", "surrogatepass")  # a model's output may hold lone surrogates


class UnicodeText(gymnasium.Space[str]):
    """Every string of at most ``max_length`` characters, whatever the characters.

    Raises:
        ConfigError: ``max_length`` is not a positive integer.
    """

    def __init__(self, max_length: int = 65_536, seed: int | None = None) -> None:
        if not isinstance(max_length, int) or max_length < 1:
            raise ConfigError(f"max_length must be an integer from 1, got {max_length!r}")
        super().__init__(shape=None, dtype=None, seed=seed)
        self.max_length = max_length

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Draw a short text of printable characters of several scripts.

        Raises:
            ConfigError: a mask or a probability is given; the space has no such notion.
        """
        if mask is not None or probability is not None:
            raise ConfigError("UnicodeText samples take neither a mask nor a probability")
        rng = self.np_random
        length = rng.integers(0, min(self.max_length, _SAMPLE_LENGTH), endpoint=True)
        return "".join(_SAMPLE_ALPHABET[i] for i in rng.integers(0, len(_SAMPLE_ALPHABET), length))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((UnicodeText, self.max_length))


class _SharedTexts(tuple[str, ...]):
    """The texts in a shared buffer, decoded when they are read.

    Gymnasium reads a buffer once and expects what it gets to follow later writes, as an array
    does. So the tuple has the right length, and its items come from the buffer; a copy of it,
    which is what `AsyncVectorEnv` hands out, is a plain tuple.
    """

    _buffer: memoryview
    _stride: int

    def __new__(cls, buffer: memoryview, n: int) -> "_SharedTexts":
        self = super().__new__(cls, ("",) * n)
        self._buffer = buffer
        self._stride = len(buffer) // n
        return self

    def _text(self, index: int) -> str:
        start = index * self._stride
        (size,) = _HEADER.unpack_from(self._buffer, start)
        start += _HEADER.size
        return str(self._buffer[start : start + size], *_ENCODING)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        return self._text(range(len(self))[index])

    def __iter__(self) -> Iterator[str]:
        return map(self._text, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __copy__(self) -> tuple[str, ...]:
        return tuple(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __reduce__(self) -> Any:
        return (tuple, (list(self),))


def _bytes_of(shared_memory: Any) -> memoryview:
    return memoryview(shared_memory.get_obj()).cast("B")


def _stride(space: UnicodeText) -> int:
    return _HEADER.size + _BYTES_PER_CHARACTER * space.max_length


@create_shared_memory.register(UnicodeText)
def _create(space: UnicodeText, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.Array(c_uint8, n * _stride(space))


@read_from_shared_memory.register(UnicodeText)
def _read(space: UnicodeText, shared_memory: Any, n: int = 1) -> tuple[str, ...]:
    return _SharedTexts(_bytes_of(shared_memory), n)


@write_to_shared_memory.register(UnicodeText)
def _write(space: UnicodeText, index: int, value: str, shared_memory: Any) -> None:
    if value not in space:
        # A longer text would run into the next environment's.
        length = f" with {len(value)} characters" if isinstance(value, str) else ""
        raise ValueError(f"an observation of type {type(value).__name__}{length} is not in {space}")
    encoded = value.encode(*_ENCODING)
    buffer, start = _bytes_of(shared_memory), index * _stride(space)
    _HEADER.pack_into(buffer, start, len(encoded))
    start += _HEADER.size
    buffer[start : start + len(encoded)] = encoded


# Gymnasium dispatches on the type of the first space in the list, which its types do not say.
@batch_differing_spaces.register(UnicodeText)
def _batch_differing(  # type: ignore[misc]
    spaces: Sequence[UnicodeText],
) -> gymnasium.spaces.Tuple[Any]:
    return gymnasium.spaces.Tuple([deepcopy(space) for space in spaces])


@is_space_dtype_shape_equiv.register(UnicodeText)
def _is_equivalent(space_1: UnicodeText, space_2: Any) -> bool:
    return isinstance(space_2, UnicodeText) and space_1 == space_2


@create_zero_array.register(UnicodeText)
def _zero(space: UnicodeText) -> str:  # type: ignore[misc]  # its type variable is unbound
    """Return the empty text: what there is before the first observation."""
    return ""


@create_empty_array.register(UnicodeText)
def _empty(space: UnicodeText, n: int = 1, fn: Any = None) -> tuple[str, ...]:
    return ("",) * n


# `iterate` is left alone: for a batch of texts Gymnasium then takes the items of the tuple, while a
# registered function would be asked for the items of each text.


# A text flattens to itself, as a `Graph` and a `Sequence` do in Gymnasium: a `Dict` with a text in
# it is flattened part by part. As an array of characters it would be 65,536 numbers that are
# nearly all padding.
@flatten_space.register(UnicodeText)
def _flat_space(space: UnicodeText) -> UnicodeText:
    return space


@flatten.register(UnicodeText)
def _flat(space: UnicodeText, x: str) -> str:  # type: ignore[misc]  # as above
    return x


@unflatten.register(UnicodeText)
def _unflat(space: UnicodeText, x: str) -> str:  # type: ignore[misc]  # as above
    return x


@flatdim.register(UnicodeText)
def _flat_size(space: UnicodeText) -> int:
    raise ValueError(
        f"{space} has no size as an array, because texts differ in length: flatten() leaves a text "
        "as it is; for numbers, use TransformObservation with a tokenizer and a Box"
    )
