"""Episodes as tensors: one row each, its segments one after another, padded on the right."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.sampling.sampler import version_of_each
from rlvr_envs.core.errors import ConfigError


@dataclass(slots=True)
class Batch:
    """B episodes of T tokens at most.

    Whether a token is padding or trained on follows from where it came from, never from its id: a
    tokenizer may pad with its end token.

    Attributes:
        ids: (B, T) int64, token ids.
        attention: (B, T) bool, true where there is a token; and at the first place of a row
            without any, since a softmax over nothing is NaN.
        mask: (B, T) bool, true where the model wrote the token, end tokens included.
        sampled: (B, T) float32, ``sampled[b, t]`` is the log-probability with which ``ids[b, t]``
            was sampled, in nats; 0 outside the mask.
        turns: (B, T) int64, the number of the action from 0; -1 outside the mask.
        versions: (B, T) int64, which version of the weights sampled the token; -1 where that is not
            known, and outside the mask.
        observed: (B, T) bool, true at what was said after the first action.
        episodes: B of them.
    """

    ids: Tensor
    attention: Tensor
    mask: Tensor
    sampled: Tensor
    turns: Tensor
    versions: Tensor
    observed: Tensor
    episodes: list[Episode]

    def lag(self, version: int) -> Tensor:
        """Return (B, T), how many updates ago a token was sampled; 0 where that is not known."""
        return (version - self.versions).clamp(min=0).masked_fill(self.versions < 0, 0)


def batch(episodes: Sequence[Episode], pad_token: int, device: str | torch.device = "cpu") -> Batch:
    """Return the tensors of episodes.

    Raises:
        ConfigError: there are no episodes, or an action has not one log-probability per token.
    """
    if not episodes:
        raise ConfigError("a batch needs at least one episode")
    shape = (len(episodes), max(1, *(episode.n_tokens for episode in episodes)))
    ids = torch.full(shape, pad_token, dtype=torch.long)
    attention = torch.zeros(shape, dtype=torch.bool)
    attention[:, 0] = True
    mask = torch.zeros(shape, dtype=torch.bool)
    sampled = torch.zeros(shape)
    turns = torch.full(shape, -1)
    versions = torch.full(shape, -1)
    observed = torch.zeros(shape, dtype=torch.bool)
    for row, episode in enumerate(episodes):
        begin = turn = 0
        for segment in episode.segments:
            end = begin + len(segment.tokens)
            ids[row, begin:end] = torch.tensor(segment.tokens, dtype=torch.long)
            attention[row, begin:end] = True
            if segment.logps is not None:
                if len(segment.logps) != len(segment.tokens):
                    raise ConfigError(
                        f"an action of {episode.task} has {len(segment.tokens)} tokens but "
                        f"{len(segment.logps)} log-probabilities"
                    )
                mask[row, begin:end] = True
                sampled[row, begin:end] = torch.tensor(segment.logps)
                turns[row, begin:end] = turn
                if segment.versions:
                    known = version_of_each(segment.versions, len(segment.tokens))
                    versions[row, begin:end] = torch.tensor(known)
                turn += 1
            elif turn:
                observed[row, begin:end] = True
            begin = end
    return Batch(
        ids.to(device),
        attention.to(device),
        mask.to(device),
        sampled.to(device),
        turns.to(device),
        versions.to(device),
        observed.to(device),
        list(episodes),
    )


def micro_batches(episodes: Sequence[Episode], tokens: int) -> list[list[int]]:
    """Return which episodes go through the model together.

    The longest come first, so that what does not fit into memory fails at once.

    Args:
        episodes: any.
        tokens: the most tokens of a micro-batch, padding included; an episode that is longer goes
            alone.

    Returns:
        Indices of episodes; every one is in one list.
    """
    if tokens < 1:
        raise ConfigError(f"a micro-batch has at least 1 token, got {tokens!r}")
    lengths = [episode.n_tokens for episode in episodes]
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batches: list[list[int]] = []
    for index in order:
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
