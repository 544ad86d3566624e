"""An unmodified model that is made to work with slots, and the check that it does."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from rlvr_envs.agents.grpo.sampling.slot_cache import Decode, Extend, Layout, Prefill, SlotCache
from rlvr_envs.core.errors import ConfigError

_NAME = "rlvr_slots"
_ADVICE = 'sample with engine="generate" instead'

# What some models ask of their attention beyond a scale, and this one does not do.
_UNKNOWN = ("softcap", "s_aux", "position_bias")

_PROBE = 4  # tokens


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
    """Attend: causally without a mask, which is a prefill; with one where rows go on.

    In a step of one token the query heads that share a key head stand in the place of positions, so
    that keys and values are not repeated.
    """
    for name in _UNKNOWN:
        if given.get(name) is not None:
            raise ConfigError(f"the model's attention needs {name}, which slots lack: {_ADVICE}")
    batch, heads, width, size = query.shape
    shared = heads // key.shape[1]
    dtype, query = query.dtype, query.to(key.dtype)
    if attention_mask is None or width > 1:
        if shared > 1:
            key, value = (each.repeat_interleave(shared, 1) for each in (key, value))
        out = scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=attention_mask,
            is_causal=attention_mask is None,
            scale=scaling,
        )
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


def extend(model: Any, ids: Tensor, cache: Extend) -> None:
    """Run tokens (rows, width), padded on the right, that go on from what the rows hold."""
    model(
        input_ids=ids,
        position_ids=cache.places,
        attention_mask=cache.mask(),
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
