"""Keys and values in slots: what lets an unmodified model decode rows of differing lengths.

A model of transformers hands the keys and values of each layer to a cache, and what the cache gives
back to an attention function that can be registered by name. Both are replaced here: the cache
writes each row at a place of its own into buffers that never move or change their shape, and the
attention function reads what a mask lets it. Nothing in Python depends on the lengths, so a step of
decoding can be captured in a CUDA graph.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from rlvr_envs.core.errors import ConfigError

_NAME = "rlvr_slots"
_ADVICE = 'sample with engine="generate" instead'

# What some models ask of their attention beyond a scale, and this one does not do.
_UNKNOWN = ("softcap", "s_aux", "position_bias")

_PROBE = 4  # tokens


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

    def clear(self) -> None:
        """Forget everything."""
        for buffer in self.keys + self.values:
            buffer.zero_()

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


def slot_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    **given: Any,
) -> tuple[Tensor, None]:
    """Attend: causally without a mask, which is a prefill; with one, which is a step.

    In a step the query heads that share a key head stand in the place of positions, so that keys
    and values are not repeated.
    """
    for name in _UNKNOWN:
        if given.get(name) is not None:
            raise ConfigError(f"the model's attention needs {name}, which slots lack: {_ADVICE}")
    batch, heads, width, size = query.shape
    shared = heads // key.shape[1]
    dtype, query = query.dtype, query.to(key.dtype)
    if attention_mask is None:
        if shared > 1:
            key, value = (each.repeat_interleave(shared, 1) for each in (key, value))
        out = scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling)
    else:
        query = query.view(batch, key.shape[1], shared, size)
        out = scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=scaling
        ).reshape(batch, heads, width, value.shape[-1])
    return out.to(dtype).transpose(1, 2).contiguous(), None


AttentionInterface.register(_NAME, slot_attention)


@contextmanager
def slot_attention_of(model: Any) -> Iterator[None]:
    """Let the model attend by `slot_attention` for a while.

    The configs are set directly: the model's own method warns, loads kernels and picks again what
    to go back to.
    """
    found = {
        id(module.config): module.config for module in model.modules() if hasattr(module, "config")
    }
    configs = [config for config in found.values() if hasattr(config, "_attn_implementation")]
    kept = [config._attn_implementation for config in configs]
    try:
        for config in configs:
            config._attn_implementation = _NAME
        yield
    finally:
        for config, own in zip(configs, kept, strict=True):
            config._attn_implementation = own


class _Recorder:
    """A cache that takes down what it is given."""

    def __init__(self) -> None:
        self.keys: list[tuple[int, int]] = []
        self.values: list[tuple[int, int]] = []
        self.layers: list[int] = []

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        self.keys.append((keys.shape[1], keys.shape[3]))
        self.values.append((values.shape[1], values.shape[3]))
        self.layers.append(layer)
        return keys, values

    def get_seq_length(self, *_: Any) -> int:
        return 0


def layout_of(model: Any, context: int) -> Layout:
    """Return the model's layout, having tried that slots and it go together.

    A few tokens are decoded in a slot and compared with the model's own forward pass; call it in
    evaluation mode and without gradients.

    Raises:
        ConfigError: they do not.
    """
    _check_config(model.config, context)
    device = model.device
    ids = torch.arange(_PROBE, device=device)[None] % model.config.vocab_size
    own = model(input_ids=ids, use_cache=False).logits[0, -1].float()
    recorder = _Recorder()
    try:
        with slot_attention_of(model):
            model(input_ids=ids, past_key_values=recorder, use_cache=True)
            layout = Layout(tuple(recorder.keys), tuple(recorder.values), own.shape[-1])
            found = _decoded(model, layout, ids) if recorder.keys else torch.zeros_like(own)
    except ConfigError:
        raise
    except Exception as error:  # whatever a model does that takes the cache for another
        raise _unfit(model) from error
    count = len(recorder.layers)
    loose = 0.02 if own.dtype == model.dtype else 0.2
    if recorder.layers != list(range(count)) or not count:
        raise _unfit(model)
    if (found - own).abs().max() > loose * own.std():
        raise _unfit(model)
    return layout


def _decoded(model: Any, layout: Layout, ids: Tensor) -> Tensor:
    """Return the logits after the last token: half of them prefilled, the others decoded."""
    cache = SlotCache(layout, 1, _PROBE, model.dtype, ids.device)
    zero = torch.zeros(1, dtype=torch.long, device=ids.device)
    half = _PROBE // 2
    prefill(model, ids[:, :half], Prefill(cache, zero, zero))
    logits = ids.new_zeros(1)
    for place in range(half, _PROBE):
        logits = decode(model, ids[:, place], Decode(cache, zero + place, _PROBE))
    return logits[0]


def prefill(model: Any, ids: Tensor, cache: Prefill) -> None:
    """Run prompts (rows, width), padded on the right, through the model into the cache."""
    positions = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    # Only the cache is of use, so as few logits are computed as can be.
    model(
        input_ids=ids,
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )


def decode(model: Any, tokens: Tensor, cache: Decode) -> Tensor:
    """Return the float32 logits (rows, V) that follow each row's token, which goes to the cache."""
    logits: Tensor = model(
        input_ids=tokens[:, None],
        position_ids=cache.lengths[:, None],
        attention_mask=cache.mask(),
        past_key_values=cache,
        use_cache=True,
    ).logits
    return logits[:, -1].float()


def copy_of(model: Any, dtype: torch.dtype) -> Any:
    """Return the model with weights in another precision; its buffers keep theirs."""
    # Given as copied already, the weights are not copied in their own precision first.
    memo = {
        id(weight): torch.nn.Parameter(weight.detach().to(dtype, copy=True), requires_grad=False)
        for weight in model.parameters()
    }
    return copy.deepcopy(model, memo)


def _check_config(config: Any, context: int) -> None:
    kinds = set(getattr(config, "layer_types", None) or ()) - {
        "full_attention",
        "sliding_attention",
    }
    if kinds:
        raise ConfigError(f"slots do not know layers of {', '.join(sorted(kinds))}: {_ADVICE}")
    window = getattr(config, "sliding_window", None)
    if window is not None and window < context:
        raise ConfigError(
            f"the model attends to a sliding window of {window} tokens, and the context is "
            f"{context}: lower it to {window}, or {_ADVICE}"
        )
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    kind = rope.get("rope_type", rope.get("type"))
    if kind in ("dynamic", "longrope"):
        raise ConfigError(f"slots do not know positions of the kind {kind!r}: {_ADVICE}")


def _unfit(model: Any) -> ConfigError:
    return ConfigError(
        f"slots do not work with {type(model).__name__}: it does not attend through transformers' "
        f"AttentionInterface, or keeps more than keys and values: {_ADVICE}"
    )
