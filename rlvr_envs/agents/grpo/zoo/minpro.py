"""MinPRO: a token's ratio times the least ratio before it."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import clipped
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe


@loss
def minpro(
    ratio: Tensor, advantages: Tensor, mask: Tensor, *, low: float = 0.2, high: float = 0.28
) -> Tensor:
    """Return `clipped` of the ratio r_t * sg(min(1, min_{j<t} r_j)) (MinPRO).

    A token's weight thus falls with the least likely token before it, and no product of many ratios
    is needed.
    """
    return clipped(prefix_ratio(ratio, mask), advantages, low=low, high=high)


def prefix_ratio(ratio: Tensor, mask: Tensor) -> Tensor:
    """Return r_t * sg(min(1, min_{j<t} r_j)), (B, T); what is outside the mask is no prefix."""
    own = torch.where(mask.bool(), ratio.detach(), 1.0)
    before = torch.nn.functional.pad(own, (1, 0), value=1.0)[:, :-1]  # whose first is the bound
    return ratio * before.cummin(1).values


recipe(
    "minpro",
    "A Step Back: Prefix Importance Ratio Stabilizes Policy Optimization",
    differs="from reports; that the least ratio is at most 1 is inferred, and neither clipping nor "
    "minibatches are known",
    estimator="grpo",
    loss="minpro",
    minibatches=4,
)
