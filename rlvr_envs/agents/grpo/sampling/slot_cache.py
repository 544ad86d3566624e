"""Keys and values in slots: what lets an unmodified model decode rows of differing lengths.

A model of transformers hands the keys and values of each layer to a cache, and what the cache gives
back to an attention function that can be registered by name. Both are replaced here: the cache
writes each row at a place of its own into buffers that never move or change their shape, and the
attention function reads what a mask lets it. Nothing in Python depends on the lengths, so a step of
decoding can be captured in a CUDA graph.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Layout:
    """What a model keeps of a token: of each layer the heads and sizes of keys and of values."""

    keys: tuple[tuple[int, int], ...]
    values: tuple[tuple[int, int], ...]
    vocabulary: int

    @property
    def numbers(self) -> int:
        """The numbers that are kept of a token."""
        return sum(heads * size for heads, size in self.keys + self.values)


class SlotCache:
    """Static buffers of keys and values, [slots, heads, span, size] for each layer.

    Attributes:
        slots: the rows.
        span: the most tokens of a row.
    """

    def __init__(
        self, layout: Layout, slots: int, span: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.slots, self.span = slots, span
        # Zeros, since what is masked is multiplied by 0, and 0 times NaN is NaN.
        self.keys = [
            torch.zeros(slots, h, span, s, dtype=dtype, device=device) for h, s in layout.keys
        ]
        self.values = [
            torch.zeros(slots, h, span, s, dtype=dtype, device=device) for h, s in layout.values
        ]

    def resize(self, slots: int, span: int, *, keep: bool) -> bool:
        """Replace the buffers, one after the other, and return whether they have what was in them.

        That is so if it is asked for and nothing becomes smaller.
        """
        keep = keep and slots >= self.slots and span >= self.span
        for buffers in (self.keys, self.values):
            for layer in range(len(buffers)):
                old = buffers[layer]
                shape = (slots, old.shape[1], span, old.shape[3])
                if keep:
                    buffers[layer] = old.new_zeros(shape)
                    buffers[layer][: self.slots, :, : self.span] = old
                else:  # the old one goes first
                    buffers[layer] = old = old.new_zeros(0)
                    buffers[layer] = old.new_zeros(shape)
        self.slots, self.span = slots, span
        return keep

    def clear(self) -> None:
        """Forget everything."""
        for buffer in self.keys + self.values:
            buffer.zero_()

    def keep(self, sources: Tensor, targets: Tensor, length: int) -> None:
        """Forget everything but the first tokens of some rows, which go to others."""
        for buffer in self.keys + self.values:
            kept = buffer[sources, :, :length]
            buffer.zero_()
            buffer[targets, :, :length] = kept

    def copy(self, sources: Tensor, targets: Tensor, length: int) -> None:
        """Copy the first tokens of rows to other rows; one source may serve all targets."""
        for buffer in self.keys + self.values:
            buffer[targets, :, :length] = buffer[sources, :, :length]


@dataclass(slots=True)
class Prefill:
    """The cache of a forward pass over prompts, which are padded on the right.

    Attributes:
        cache: where keys and values go.
        targets: the slots to fill (N).
        sources: of each of them, the row of the pass that it is a copy of (N).
    """

    cache: SlotCache
    targets: Tensor
    sources: Tensor

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        """Take a layer's keys and values, (rows, heads, width, size), and return them."""
        for new, buffer in ((keys, self.cache.keys[layer]), (values, self.cache.values[layer])):
            buffer[self.targets, :, : new.shape[2]] = new[self.sources].to(buffer.dtype)
        return keys, values

    def get_seq_length(self, *_: Any) -> int:
        """Return that nothing came before."""
        return 0


@dataclass(slots=True)
class Extend:
    """The cache of a forward pass over tokens that go on from those in some rows.

    Attributes:
        cache: where keys and values are.
        rows: the rows (N).
        places: of each row the places of its tokens (N, width), padding included.
        span: how much of each row is read.
    """

    cache: SlotCache
    rows: Tensor
    places: Tensor
    span: int

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        """Add a layer's keys and values, (N, heads, width, size), and return (N, heads, span, …).

        Padding may lie beyond the span. It goes to the last place, which nothing reads before a
        token is written there.
        """
        read = []
        places = self.places.clamp(max=self.cache.span - 1)
        for new, buffer in ((keys, self.cache.keys[layer]), (values, self.cache.values[layer])):
            buffer[self.rows[:, None], :, places] = new.transpose(1, 2).to(buffer.dtype)
            read.append(buffer[self.rows, :, : self.span])
        return read[0], read[1]

    def get_seq_length(self, *_: Any) -> int:
        """Return nothing of use: positions and mask are given."""
        return 0

    def mask(self) -> Tensor:
        """Return what each token may read, itself included: (N, 1, width, span)."""
        places = torch.arange(self.span, device=self.places.device)
        return (places <= self.places[:, :, None])[:, None]


@dataclass(slots=True)
class Decode:
    """The cache of a step: one token for each of the first rows.

    Attributes:
        cache: where keys and values are.
        lengths: the place of each row's token (rows).
        span: how much of each row is read.
    """

    cache: SlotCache
    lengths: Tensor
    span: int
    rows: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.rows = torch.arange(len(self.lengths), device=self.lengths.device)

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        """Add a layer's keys and values, (rows, heads, 1, size), and return all, (…, span, …)."""
        read = []
        for new, buffer in ((keys, self.cache.keys[layer]), (values, self.cache.values[layer])):
            buffer[self.rows, :, self.lengths] = new[:, :, 0].to(buffer.dtype)
            read.append(buffer[: len(self.rows), :, : self.span])
        return read[0], read[1]

    def get_seq_length(self, *_: Any) -> int:
        """Return nothing of use: positions and mask are given."""
        return 0

    def mask(self) -> Tensor:
        """Return what each row may read, its own token included: (rows, 1, 1, span)."""
        places = torch.arange(self.span, device=self.lengths.device)
        return (places <= self.lengths[:, None])[:, None, None]
