"""MAPO: returns of turns beside their turn's, mixed with those beside the whole batch's."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, deviation, mean
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@estimator(compares=True, level="turn")
def mapo(
    rewards: Tensor,
    turn_rewards: Tensor,
    *,
    mix: float = 0.5,
    discount: float = 1.0,
    eps: float = 1e-4,
) -> Tensor:
    """Return A = mix * turn's + (1 - mix) * batch's, of returns G_k = sum_j discount^j r_(k+j).

    Either is (G_k - m) / (s + eps): the turn's over the group's episodes at the same turn, the
    batch's over all turns of all groups (MAPO). The first tells moves of one moment apart and is
    noisy where few episodes are left; the second keeps the scale.

    Args:
        rewards: (N, G), of whole episodes.
        turn_rewards: (N, G, K).
        mix: the turn's share.
        discount: of later turns.
        eps: as in `grpo`.

    Returns:
        (N, G, K), 0 where there was no turn.
    """
    check_rewards(rewards)
    if not 0 <= mix <= 1 or not 0 <= discount <= 1:
        raise ConfigError(f"mix and discount are from 0 to 1, got {mix!r} and {discount!r}")
    there = ~turn_rewards.isnan()
    returns = turn_rewards.nan_to_num(nan=0.0)
    for k in range(returns.shape[2] - 2, -1, -1):
        returns[..., k] += discount * returns[..., k + 1]
    returns = returns.masked_fill(~there, torch.nan)
    rows = returns.transpose(1, 2).flatten(0, 1)  # a row for each turn of a group
    by_turn = (rows - mean(rows)) / (deviation(rows) + eps)
    by_turn = by_turn.unflatten(0, (returns.shape[0], returns.shape[2])).transpose(1, 2)
    everyone = returns.reshape(1, -1)
    by_batch = (returns - mean(everyone)) / (deviation(everyone) + eps)
    return (mix * by_turn + (1 - mix) * by_batch).nan_to_num(nan=0.0)


recipe(
    "mapo",
    "MAPO: Mixed Advantage Policy Optimization for Long-Horizon Multi-Turn Dialogue",
    differs="by its abstract; the rewards of turns are the environment's, and not a judge's; the "
    "mix, clipping and minibatches are not known",
    estimator="mapo",
    loss="clipped(high=0.2)",
    minibatches=4,
)
