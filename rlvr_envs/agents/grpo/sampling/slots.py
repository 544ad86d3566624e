"""The fast sampler: decoding in slots, which are filled again as sequences end.

A call goes on in windows of a few steps. Before a window, free slots take the next requests: the
prompts are computed, each once, and their keys and values copied to the slots of the group's other
members. A step computes one token of every slot. Lengths, limits and whether a slot is done are
kept on the device, so that Python looks at tokens only after a window. Towards the end, when
nothing waits, the slots in use are moved together and steps shrink.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from rlvr_envs.agents.grpo.sampling.generate import check, cut, plain, sampling
from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request, Weights
from rlvr_envs.agents.grpo.sampling.slot_cache import SlotCache
from rlvr_envs.agents.grpo.sampling.slot_call import (
    SlotCall,
    SlotOptions,
    SlotStats,
    rows_for,
    span_for,
)
from rlvr_envs.agents.grpo.sampling.slot_model import copy_of, layout_of, slot_attention_of
from rlvr_envs.agents.grpo.sampling.slot_state import SlotState
from rlvr_envs.core.errors import ConfigError

__all__ = ["SlotOptions", "SlotSampler", "SlotStats"]


class SlotSampler:
    """Continues sequences in slots, on the trainer's own weights.

    Args:
        model: a causal language model of transformers that attends through its
            `AttentionInterface`, in full; LoRA adapters of peft are used.
        end_tokens: what ends a completion.
        pad_token: what fills up; it may be one of them.
        slots: sequences that are continued at a time.
        context: the most tokens of prompt and completion.
        options: see `SlotOptions`.

    Raises:
        ConfigError: the model does not go with slots, or a number is out of range.
    """

    concurrent = False  # the weights are the trainer's own

    def __init__(
        self,
        model: Any,
        end_tokens: Iterable[int],
        pad_token: int,
        *,
        slots: int = 256,
        context: int = 2048,
        options: SlotOptions | None = None,
    ) -> None:
        self.options = options or SlotOptions()
        self.stats = SlotStats()
        self._trained = plain(model)
        self._ends = frozenset(end_tokens)
        self._pad = pad_token
        self._slots = slots
        most = getattr(self._trained.config, "max_position_embeddings", None)
        self._context = min(context, most or context)
        numbers = (slots, context, self.options.prefill_tokens, self.options.window)
        if min(numbers) < 1:
            raise ConfigError(
                f"slots, context, prefill_tokens and window are at least 1, got {numbers}"
            )
        with sampling(self._trained, None):
            self._layout = layout_of(self._trained, self._context)
        self._copied = self.options.copy and self.options.dtype not in (None, self._trained.dtype)
        self._copy: Any = None
        self._stale = True
        self._version = 0
        self._state: SlotState | None = None
        self._changes: list[int] = []

    def update(self, weights: Weights | None = None, version: int | None = None) -> None:
        """Note the version of the model's weights, by default the next one.

        A copy of the weights is refreshed before it is used again, and keys and values of the last
        call are forgotten.
        """
        self._stale = True
        self._forget()
        self._version = self._version + 1 if version is None else version

    def _forget(self) -> None:
        if self._state is not None:
            self._state.held = []

    def release(self) -> None:
        """Give the memory of buffers, graphs and a copy of the weights back until the next call."""
        self._state = self._copy = None

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order (`Sampler.generate`)."""
        check(requests, temperature, self._context, self._layout.vocabulary)
        self.stats = SlotStats()
        if not requests:
            return []
        model = self._weights()
        generator = torch.Generator(model.device).manual_seed(seed)
        autocast = self.options.dtype if model.dtype != self.options.dtype else None
        with sampling(model, autocast), slot_attention_of(model):
            state = self._ready(model, requests)
            state.start(temperature, generator)
            call = SlotCall(state, requests, self.options, self.stats)
            drawn = call.play()
        completions = [
            cut(*lists, request.max_tokens, self._ends, self._version)
            for lists, request in zip(drawn, requests, strict=True)
        ]
        state.held = call.held(completions)
        self.stats.tokens = sum(len(completion.tokens) for completion in completions)
        return completions

    def _weights(self) -> Any:
        if not self._copied:
            return self._trained
        if self._copy is None:
            self._copy = copy_of(self._trained, self.options.dtype)
        elif self._stale:
            with torch.no_grad():
                pairs = zip(self._copy.parameters(), self._trained.parameters(), strict=True)
                for copied, trained in pairs:
                    copied.copy_(trained)
        self._stale = False
        return self._copy

    def _ready(self, model: Any, requests: Sequence[Request]) -> SlotState:
        """Return state with room for the requests: the last call's where it is large enough."""
        options, device = self.options, model.device
        graphs = options.graphs
        if graphs is None:
            graphs = device.type == "cuda"
        span = span_for(max(len(each.prompt) + each.max_tokens for each in requests), graphs)
        slots = self._slots
        if options.cache_tokens is not None:
            slots = min(slots, options.cache_tokens // span)
            if not slots:
                raise ConfigError(
                    f"a request needs room for {span} tokens, but the cache has it for "
                    f"{options.cache_tokens}: raise cache_tokens or lower max_tokens"
                )
        rows = rows_for(len(requests), slots, graphs)
        pointers = [parameter.data_ptr() for parameter in model.parameters()]
        # Also of weights that were changed in place without a call of `update`.
        changes = [parameter._version for parameter in model.parameters()]
        if changes != self._changes:
            self._forget()
        self._changes = changes
        state = self._state
        if state is None or state.cache.slots < rows or state.cache.span < span:
            cache, held = (None, []) if state is None else (state.cache, state.held)
            self._state = state = None  # and with it the graphs, before memory is asked for
            state = self._allocate(model, cache, (rows, span), held, graphs=graphs)
        elif state.pointers != pointers:
            state.forget_graphs()
        state.pointers, state.rows = pointers, rows
        self._state = state
        return state

    def _grown(self, needed: tuple[int, int], kept: tuple[int, int]) -> tuple[int, int]:
        """Return rows and span that serve earlier calls too, if the cache may be as large.

        Calls that are wide and short take turns with others that are narrow and long, where
        episodes have several turns.
        """
        rows, span = (max(pair) for pair in zip(needed, kept, strict=True))
        limit = self.options.cache_tokens
        return needed if limit is not None and rows * span > limit else (rows, span)

    def _allocate(
        self,
        model: Any,
        cache: SlotCache | None,
        needed: tuple[int, int],
        held: list[tuple[int, ...]],
        *,
        graphs: bool,
    ) -> SlotState:
        """Return state with room for rows and span, and with what a cache holds, if it can stay."""
        had = (0, 0) if cache is None else (cache.slots, cache.span)
        rows, span = self._grown(needed, had)
        dtype = self.options.dtype or model.dtype
        try:
            if cache is None:
                cache = SlotCache(self._layout, rows, span, dtype, model.device)
            elif not cache.resize(rows, span, keep=bool(held)):
                held = []
            state = SlotState(model, cache, self._layout, (self._ends, self._pad), graphs=graphs)
        except RuntimeError as error:
            size = rows * span * self._layout.numbers * dtype.itemsize / 2**30
            raise ConfigError(
                f"no memory for a cache of {rows} slots with {span} tokens ({size:.1f} GiB): lower "
                "slots, context or max_tokens"
            ) from error
        state.held = held
        return state
