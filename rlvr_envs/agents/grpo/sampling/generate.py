"""The simple sampler: transformers' own `generate`, against which the others are checked."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request, Weights
from rlvr_envs.core.errors import ConfigError

# Below it, a draw of the exponential distribution is taken for it: its logarithm has to be finite.
_LEAST_NOISE = 1e-20


class GenerateSampler:
    """Continues sequences with ``model.generate``, batch by batch.

    Prompts are padded on the left, and the prompt of a group is computed for each of its members.
    A batch runs until its last row is done.

    Args:
        model: a causal language model of transformers; LoRA adapters of peft are used.
        end_tokens: what ends a completion.
        pad_token: what fills a batch up; it may be one of them.
        batch_size: requests that are generated together.
        context: the most tokens of prompt and completion; None for what the model's config says.
        dtype: compute in that precision, by autocast; None for the model's own.
    """

    concurrent = False  # the weights are the trainer's own

    def __init__(
        self,
        model: Any,
        end_tokens: Iterable[int],
        pad_token: int,
        *,
        batch_size: int = 64,
        context: int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if batch_size < 1:
            raise ConfigError(f"batch_size is at least 1, got {batch_size}")
        self._model = plain(model)
        self._ends = frozenset(end_tokens)
        self._pad = pad_token
        self._batch_size = batch_size
        self._context = context or getattr(self._model.config, "max_position_embeddings", None)
        self._dtype = dtype
        self._version = 0

    def update(self, weights: Weights | None = None, version: int | None = None) -> None:
        """Note the version of the model's weights, by default the next one.

        There is nothing else to do: no call leaves anything behind.
        """
        self._version = self._version + 1 if version is None else version

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order (`Sampler.generate`)."""
        check(requests, temperature, self._context, self._model.config.vocab_size)
        device = self._model.device
        generator = torch.Generator(device).manual_seed(seed)
        completions = []
        with sampling(self._model, self._dtype), self._own_settings():
            for start in range(0, len(requests), self._batch_size):
                batch = requests[start : start + self._batch_size]
                completions += self._batch(batch, _Draw(temperature, generator))
        return completions

    def _batch(self, requests: Sequence[Request], draw: "_Draw") -> list[Completion]:
        device = self._model.device
        width = max(len(request.prompt) for request in requests)
        ids = torch.full((len(requests), width), self._pad)
        for row, request in zip(ids, requests, strict=True):
            row[width - len(request.prompt) :] = torch.tensor(request.prompt)
        # Of the lengths, not of the ids: the padding token may be part of a prompt.
        lengths = torch.tensor([len(request.prompt) for request in requests])
        attention = torch.arange(width) >= width - lengths[:, None]
        limits = torch.tensor([request.max_tokens for request in requests], device=device)
        output = self._model.generate(
            input_ids=ids.to(device),
            attention_mask=attention.long().to(device),
            max_new_tokens=int(limits.max()),
            logits_processor=LogitsProcessorList([draw]),
            stopping_criteria=StoppingCriteriaList([_Limits(width, limits)]),
            use_cache=True,
        )
        tokens = output[:, width:].tolist()
        logps = torch.stack(draw.logps, 1).tolist()
        return [
            cut(row, row_logps, request.max_tokens, self._ends, self._version)
            for row, row_logps, request in zip(tokens, logps, requests, strict=True)
        ]

    @contextmanager
    def _own_settings(self) -> Iterator[None]:
        """Put the model's own settings of generation, such as top-k, out of force for a while.

        Given as an argument, settings of ours would have their gaps filled from the model's.
        """
        kept = self._model.generation_config
        self._model.generation_config = GenerationConfig(
            do_sample=False, eos_token_id=sorted(self._ends) or None, pad_token_id=self._pad
        )
        try:
            yield
        finally:
            self._model.generation_config = kept


class _Draw(LogitsProcessor):  # type: ignore[misc]
    """Draws the next tokens itself, and leaves `generate` no other choice.

    `generate` would draw from torch's global state, and would give log-probabilities only by
    keeping the logits of all steps.
    """

    def __init__(self, temperature: float, generator: torch.Generator) -> None:
        self._temperature = temperature
        self._generator = generator
        self.logps: list[Tensor] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        noise = torch.ones_like(scores)
        if self._temperature:
            noise.exponential_(generator=self._generator)
        tokens, logps = pick(scores, self._temperature or 1.0, noise)
        self.logps.append(logps)
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens[:, None], 0.0)


class _Limits(StoppingCriteria):  # type: ignore[misc]
    """Ends each row at its own number of new tokens."""

    def __init__(self, width: int, limits: Tensor) -> None:
        self._width = width
        self._limits = limits

    def __call__(self, input_ids: Tensor, scores: Tensor, **_: Any) -> Tensor:
        return input_ids.shape[1] - self._width >= self._limits


def pick(logits: Tensor, temperature: float | Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Return tokens (B) and their log-probabilities at the temperature (B), in nats.

    The argmax of p / E with E of the exponential distribution is distributed as p; it is how
    `torch.multinomial` draws too, but it needs no synchronisation. With E = 1 it is the argmax.

    Args:
        logits: float32 (B, V).
        temperature: above 0.
        noise: E (B, V); ones for the likeliest token.
    """
    scores = logits / temperature
    tokens = (scores - noise.clamp_min(_LEAST_NOISE).log()).argmax(-1)
    return tokens, scores.gather(1, tokens[:, None])[:, 0] - scores.logsumexp(-1)


def cut(
    tokens: Sequence[int],
    logps: Sequence[float],
    limit: int,
    ends: frozenset[int],
    version: int = 0,
) -> Completion:
    """Return the completion up to its first end token, which it includes, or up to the limit."""
    end = next((i + 1 for i, token in enumerate(tokens[:limit]) if token in ends), 0)
    length = end or min(len(tokens), limit)
    return Completion(
        tuple(tokens[:length]), tuple(logps[:length]), bool(end), ((0, version),) if length else ()
    )


def check(
    requests: Sequence[Request], temperature: float, context: int | None, vocabulary: int | None
) -> None:
    """Refuse what cannot be sampled.

    Raises:
        ConfigError: a prompt is empty, has an unknown token or is too long, or a number is out of
            range.
    """
    if not 0 <= temperature < float("inf"):
        raise ConfigError(f"temperature is at least 0, got {temperature}")
    for request in requests:
        length = len(request.prompt)
        if not length:
            raise ConfigError("a prompt has at least one token; this one is empty")
        if request.max_tokens < 1:
            raise ConfigError(f"max_tokens is at least 1, got {request.max_tokens}")
        if context is not None and length + request.max_tokens > context:
            raise ConfigError(
                f"a prompt of {length} tokens and {request.max_tokens} new ones do not fit into a "
                f"context of {context}: lower max_tokens, or raise the context if the model allows"
            )
        low, high = min(request.prompt), max(request.prompt)
        if low < 0 or (vocabulary is not None and high >= vocabulary):
            raise ConfigError(
                f"a prompt has token ids from {low} to {high}, but the model's vocabulary has "
                f"{vocabulary}: is the tokenizer another model's?"
            )


def plain(model: Any) -> Any:
    """Return the model of transformers that peft wraps; its adapters are part of it."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


@contextmanager
def sampling(model: Any, dtype: torch.dtype | None) -> Iterator[None]:
    """Compute without gradients and without training behaviour such as dropout, for a while.

    Args:
        model: its modules are as they were afterwards, each on its own.
        dtype: of autocast; None for the model's own. Autocast's cache of converted weights is off:
            it could outlive a change of the weights, and a CUDA graph must not point into it.
    """
    device = model.device.type
    cast = torch.autocast(device, dtype, cache_enabled=False) if dtype else nullcontext()
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad(), cast:
            yield
    finally:
        for module in training:
            module.training = True
