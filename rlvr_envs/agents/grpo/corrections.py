"""Corrections: weights for tokens whose sampler had other probabilities than the trainer computes.

Each is registered under its own name and returns weights (B, T) without gradient, by which losses
are multiplied and penalties are not. ``old`` and ``sampled`` (B, T) are log-probabilities under the
weights that sampled, as trainer and sampler computed them. ``lag`` (B, T) says how many updates
later than it was sampled a token is learned from; with a lag, ``old`` is of the newest weights.
"""

from typing import Literal

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import sequence_ratio, token_ratio
from rlvr_envs.agents.grpo.plugins import correction
from rlvr_envs.core.errors import ConfigError

Level = Literal["token", "sequence"]


@correction
def none(mask: Tensor) -> Tensor:
    """Return 1: what differs is taken as it is.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.corrections import none
        >>> none(torch.tensor([[True, False]]))
        tensor([[1., 1.]])
    """
    return torch.ones_like(mask, dtype=torch.float32)


@correction
def truncate(
    old: Tensor, sampled: Tensor, mask: Tensor, *, most: float = 2.0, level: Level = "token"
) -> Tensor:
    """Return min(exp(old - sampled), most) (truncated importance sampling).

    Of a sequence it is the product over its tokens. It is 1 outside the mask where ``level`` is
    "token".

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.corrections import truncate
        >>> old, sampled = torch.tensor([[0.0, -2.0]]), torch.tensor([[-2.0, 0.0]])
        >>> truncate(old, sampled, torch.tensor([[True, True]]), most=2.0)
        tensor([[2.0000, 0.1353]])
    """
    return _weights(old, sampled, mask, level, most).clamp(max=most)


@correction
def leave_out(
    old: Tensor,
    sampled: Tensor,
    mask: Tensor,
    *,
    least: float = 0.0,
    most: float = 2.0,
    level: Level = "token",
) -> Tensor:
    """Return exp(old - sampled), and 0 where it is not within [least, most].

    As `truncate`, but what differs too much is not learned from at all.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.corrections import leave_out
        >>> old, sampled = torch.tensor([[0.0, -2.0]]), torch.tensor([[-2.0, 0.0]])
        >>> leave_out(old, sampled, torch.tensor([[True, True]]), most=2.0)
        tensor([[0.0000, 0.1353]])
    """
    weights = _weights(old, sampled, mask, level, most)
    return weights.masked_fill((weights < least) | (weights > most), 0.0)


@correction
def drop_stale(  # noqa: PLR0913 - three inputs, and settings
    old: Tensor,
    sampled: Tensor,
    mask: Tensor,
    lag: Tensor,
    *,
    oldest: int = 4,
    most: float = 2.0,
    level: Level = "token",
) -> Tensor:
    """Return `truncate`, and 0 for tokens that were sampled more than ``oldest`` updates ago.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.corrections import drop_stale
        >>> old, mask = torch.zeros(1, 2), torch.tensor([[True, True]])
        >>> drop_stale(old, old, mask, lag=torch.tensor([[1, 5]]), oldest=4)
        tensor([[1., 0.]])
    """
    return truncate(old, sampled, mask, most=most, level=level).masked_fill(lag > oldest, 0.0)


def _weights(old: Tensor, sampled: Tensor, mask: Tensor, level: Level, most: float) -> Tensor:
    if most < 1:
        raise ConfigError(f"most is from 1, got {most!r}")
    if level == "token":
        return token_ratio(old, sampled, mask).detach()
    return sequence_ratio(old, sampled, mask, by_length=False).detach()
