"""BNPO (arXiv 2506.02864): rewards normalised by a Beta density that follows the batch."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, mean, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True)
def bnpo(rewards: Tensor, *, most: float = 1e6) -> Tensor:
    """Return A = (r - p) / Beta(p; alpha, beta) (BNPO, arXiv 2506.02864).

    p is the group's mean; E and V are mean and variance of p over the groups of the batch. With
    k = E (1 - E) / V - 1, alpha = max(1, 1 + k E / 3) and beta = max(1, 1 + k (1 - E) / 3).
    1 / Beta(.) is at most ``most``. alpha = beta = 1 is REINFORCE with the group's mean as
    baseline, alpha = beta = 3/2 is GRPO but for a factor.

    The sources leave open whether V is the sample's or the population's; it is the population's
    here. Where all p are equal, V = 0 says nothing of a distribution and alpha = beta = 1.
    Rewards are meant to be within [0, 1]; for the density alone, p is brought there.
    """
    check_rewards(rewards)
    wide = rewards.double()
    average = mean(wide)
    p = average.clamp(0, 1)
    known = p[~p.isnan()]
    if not known.numel():
        return torch.zeros_like(rewards)
    centre, variance = known.mean(), known.var(correction=0)
    spread = centre * (1 - centre) / variance.clamp(min=1e-12) - 1
    k = torch.where(variance > 1e-12, spread, torch.zeros_like(spread))
    alpha = (1 + k * centre / 3).clamp(min=1)
    beta = (1 + k * (1 - centre) / 3).clamp(min=1)
    log_norm = torch.lgamma(alpha) + torch.lgamma(beta) - torch.lgamma(alpha + beta)
    log_density = torch.xlogy(alpha - 1, p) + torch.xlogy(beta - 1, 1 - p) - log_norm
    scale = (-log_density).exp().clamp(max=most)
    return scored_only(rewards, ((wide - average) * scale).to(rewards))


recipe(
    "bnpo",
    "arXiv 2506.02864",
    differs="the number of minibatches is not known; TRL's loss of this name is another thing",
    estimator="bnpo",
    loss="clipped(low=0.2, high=0.28, dual=10.0)",
    aggregation="sequence_sum",
    minibatches=4,
)
