"""StableReinforce (R1-Reward, arXiv 2505.02835): bounds before the ratio, and no outliers."""

import math

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, deviation, mean, scored_only
from rlvr_envs.agents.grpo.credit import Credit
from rlvr_envs.agents.grpo.losses import clipped, difference
from rlvr_envs.agents.grpo.plugins import estimator, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@estimator
def within_deviations(rewards: Tensor, *, most: float = 3.0, eps: float = 1e-8) -> Credit:
    """Return A = (r - m_batch) / (s_batch + eps), and leave out |A| > most (StableReinforce).

    In a batch where nearly all rewards are equal, the few others would have huge advantages.
    """
    check_rewards(rewards)
    everyone = rewards.reshape(1, -1)
    normal = (rewards - mean(everyone)) / (deviation(everyone) + eps)
    advantages = scored_only(rewards, normal)
    inside = advantages.abs() <= most
    return Credit(torch.where(inside, advantages, 0.0), kept=inside)


@loss
def stable_reinforce(  # noqa: PLR0913 - four inputs, three settings
    logp: Tensor,
    old: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    bound: float = 1e3,
    low: float = 0.2,
    high: float = 0.2,
) -> Tensor:
    """Return `clipped` of r = exp(log-ratio within +-log ``bound``) (StableReinforce).

    PPO leaves a ratio unbounded where A < 0, and a huge one makes the loss huge before any
    clipping; here its gradient ends at the bound.
    """
    if bound <= 1 + high:
        raise ConfigError(f"bound is above 1 + high = {1 + high}, got {bound!r}")
    limit = math.log(bound)
    ratio = difference(logp, old, mask).clamp(-limit, limit).exp()
    return clipped(ratio, advantages, low=low, high=high)


recipe(
    "stable_reinforce",
    "R1-Reward, arXiv 2505.02835",
    differs="from reports; the reward of consistency by a judge is not part of it; the number of "
    "minibatches is not known",
    estimator="within_deviations",
    loss="stable_reinforce",
    kl="k3",
    kl_coef=0.001,
    minibatches=4,
)
