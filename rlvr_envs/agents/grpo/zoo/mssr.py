"""MSSR: one answer a problem, whose tokens of high entropy are encouraged."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import clipped, kept
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss
def entropy_shaped(  # noqa: PLR0913 - four inputs, four settings
    ratio: Tensor,
    advantages: Tensor,
    entropy: Tensor,
    mask: Tensor,
    *,
    share: float = 0.4,
    divisor: float = 2.0,
    low: float = 0.2,
    high: float = 0.28,
) -> Tensor:
    """Return `clipped` of A + min(share * H, |A| / divisor), H a token's entropy, no gradient.

    So what was right gains most where the policy wavered, what was wrong loses least there, and no
    advantage changes its sign (Cheng et al., arXiv 2506.14758).
    """
    if share < 0 or divisor <= 1:
        raise ConfigError(f"share is from 0, divisor above 1, got {share!r} and {divisor!r}")
    bonus = torch.minimum(share * kept(entropy, mask).detach(), advantages.abs() / divisor)
    return clipped(ratio, advantages + bonus, low=low, high=high)


recipe(
    "mssr",
    "MSSR: multimodal stabilized single-rollout",
    differs="by its abstract: the form of shaping is Cheng et al.'s (arXiv 2506.14758); clipping "
    "and minibatches are not known",
    estimator="reinforce_plus_plus",
    loss="entropy_shaped",
    group_size=1,
    groups=128,
    minibatches=4,
)
