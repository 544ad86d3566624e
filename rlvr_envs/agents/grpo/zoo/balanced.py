"""Balanced aggregation: right and wrong answers weigh by their number, whatever their lengths."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.plugins import aggregation
from rlvr_envs.agents.grpo.presets import recipe


@aggregation(one_advantage=True)
def balanced(lengths: Tensor, groups: Tensor, advantages: Tensor) -> Tensor:
    """Return N_c / (G * tokens of c) / groups, (B,) (Balanced Aggregation).

    c is what of a group has A > 0, or A < 0, and N_c how many they are; G is the group's size. So
    the loss is sum_c (N_c / G) * token mean over c, averaged over groups. Answers of advantage 0
    count in G alone.
    """
    names, row = groups.unique(return_inverse=True)
    member = row == torch.arange(len(names), device=row.device)[:, None]
    weights = torch.zeros_like(lengths)
    for side in (advantages > 0, advantages < 0):
        chosen = member & side
        tokens = member.sum(1) * (chosen * lengths).sum(1).clamp(min=1)
        weights = weights + side * (chosen.sum(1).to(weights) / tokens)[row]
    return weights / len(names)


recipe(
    "balanced",
    "Balanced Aggregation",
    differs="by its abstract; everything but the aggregation is DAPO's",
    estimator="grpo",
    aggregation="balanced",
    minibatches=4,
)
