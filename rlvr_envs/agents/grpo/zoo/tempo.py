"""TEMPO (arXiv 2509.18314): credit at the tokens where a group's answers part."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, deviation, mean, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True, level="token")
def tempo(rewards: Tensor, tokens: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A_t = (r - m + V_t - V_(t-1)) / (s + eps) per token (TEMPO, arXiv 2509.18314).

    V_t is the mean reward of the group's answers that begin with the same tokens up to t, and m
    before the first: so only tokens at which answers part differ from GRPO. A group at a time is
    compared pair by pair, which takes G * G * T numbers.

    Args:
        rewards: (N, G).
        tokens: (N, G, T), ids, the prompt's too; -1 where there is none.
        eps: as in `grpo`.

    Returns:
        (N, G, T), 0 where there is no token, and everywhere where an answer was not scored.
    """
    check_rewards(rewards)
    # Of rewards less their mean, which changes no difference of V, and leaves equal rewards exact.
    centred = scored_only(rewards, rewards - mean(rewards))
    steps = torch.stack(
        [_steps(*row) for row in zip(centred, tokens, ~rewards.isnan(), strict=True)]
    )
    advantages = (centred[..., None] + steps) / (deviation(rewards)[..., None] + eps)
    return advantages.masked_fill((tokens < 0) | rewards.isnan()[..., None], 0.0)


def _steps(centred: Tensor, tokens: Tensor, scored: Tensor) -> Tensor:
    """Return V_t - V_(t-1) of a group's answers, (G, T)."""
    here = tokens >= 0
    same = (tokens[:, None] == tokens[None]) & here[:, None] & here[None]
    same = same.cumprod(-1).bool() & scored[None, :, None]
    values = (same * centred[None, :, None]).sum(1) / same.sum(1).clamp(min=1)
    return values.diff(dim=-1, prepend=torch.zeros_like(values[:, :1]))


recipe(
    "tempo",
    "arXiv 2509.18314",
    differs="by its abstract, and the division of both terms by s from a review; clipping and "
    "minibatches are not known",
    estimator="tempo",
    loss="clipped(high=0.2)",
    minibatches=4,
)
