"""APO (arXiv 2506.21655): right answers are held by their difficulty, wrong long ones pay."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, deviation, mean, scored_only
from rlvr_envs.agents.grpo.credit import Credit
from rlvr_envs.agents.grpo.losses import clipped, k3
from rlvr_envs.agents.grpo.plugins import estimator, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@estimator(name="apo", compares=True, scales=True)
def suboptimal(
    rewards: Tensor, lengths: Tensor, longest: int, *, coef: float = 0.5, eps: float = 1e-4
) -> Credit:
    """Return GRPO's A of r - coef * length / longest for wrong answers of mixed groups (APO).

    The scales are the groups' mean rewards, for the loss `apo`. Where all are wrong nothing is
    known to be shorter and better, and A is 0.

    Args:
        rewards: (N, G); from 1 on an answer is right.
        lengths: (N, G), in tokens.
        longest: the most tokens that an answer may have.
        coef: what the longest wrong answer pays.
        eps: as in `grpo`.
    """
    check_rewards(rewards)
    if coef < 0:
        raise ConfigError(f"coef is from 0, got {coef!r}")
    solved = (rewards >= 1).any(1, keepdim=True)
    paid = rewards - coef * (lengths / longest) * ((rewards < 1) & solved)
    normal = (paid - mean(paid)) / (deviation(paid) + eps)
    ease = mean(rewards).nan_to_num(nan=0.0).clamp(0, 1).expand(rewards.shape)
    return Credit(scored_only(rewards, normal), scales=ease[..., None])


@loss
def apo(  # noqa: PLR0913 - six inputs, three settings
    ratio: Tensor,
    logp: Tensor,
    reference: Tensor,
    advantages: Tensor,
    mask: Tensor,
    scales: Tensor,
    *,
    coef: float = 0.04,
    low: float = 0.2,
    high: float = 0.28,
) -> Tensor:
    """Return `clipped` + coef e k3 where A > 0, e how often the problem is solved (APO).

    What is easy stays near the reference; what is hard, and rarely right, is learned freely. Wrong
    answers have no penalty.
    """
    held = torch.where(advantages > 0, scales * k3(logp, reference, mask), 0.0)
    return clipped(ratio, advantages, low=low, high=high) + coef * held


recipe(
    "apo",
    "APO, arXiv 2506.21655",
    differs="by its abstract: how the weight follows the difficulty and how length is paid are "
    "linear here; the number of minibatches is not known",
    estimator="apo",
    loss="apo",
    minibatches=4,
)
