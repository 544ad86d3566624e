"""GRPO-λ (arXiv 2505.18086): length costs only in the groups that solve most."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, count, grpo
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.wrappers.length import best_groups, group_length_rewards


@estimator(compares=True)
def grpo_lambda(
    rewards: Tensor, lengths: Tensor, *, share: float = 0.2, strength: float = 0.2
) -> Tensor:
    """Return GRPO's A of rewards that prefer short right answers in the best groups (GRPO-λ).

    In the ``share`` of the batch's groups with the most full marks, a right answer of length L has
    1 - strength * sigmoid((L - mean) / deviation), over the right answers' lengths; elsewhere a
    penalty on length would cost accuracy, and rewards stay as they are.

    Args:
        rewards: (N, G).
        lengths: (N, G), in tokens.
        share: from 0 to 1.
        strength: from 0 and below 1.
    """
    check_rewards(rewards)
    solved = ((rewards == 1).sum(1) / count(rewards)[:, 0].clamp(min=1)).tolist()
    rows = [
        group_length_rewards(paid, length, threshold=0.0, strength=strength) if best else paid
        for paid, length, best in zip(
            rewards.tolist(), lengths.tolist(), best_groups(solved, share), strict=True
        )
    ]
    return grpo(torch.tensor(rows))


recipe(
    "grpo_lambda",
    "GRPO-λ, arXiv 2505.18086",
    differs="by its abstract: how a length is paid is Arora & Zanette's (arXiv 2502.04463), and "
    "share, strength and minibatches are not verified",
    estimator="grpo_lambda",
    loss="clipped(high=0.2)",
    aggregation="sequence_mean",
    minibatches=4,
)
