"""IGPO (arXiv 2510.14967): a turn is paid by what it adds to the solution's probability."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import deviation, mean
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.zoo.trloo import returns_to_go


@estimator(compares=True, level="turn")
def igpo(
    rewards: Tensor, agents: Tensor, beliefs: Tensor, *, discount: float = 1.0, eps: float = 1e-4
) -> Tensor:
    """Return advantages of turns by information gains and the outcome (IGPO, arXiv 2510.14967).

    A turn's reward is its gain, of `information_gains`, and the last turn's is the outcome. These
    are normalised over all turns of the group, (x - m) / (s + eps), and A_k is what is discounted
    from turn k on. Where a task has no solution to believe in, turns before the last have no
    reward.

    Args:
        rewards: (N, G), of whole episodes.
        agents: (N, G, K), -1 where there was no turn.
        beliefs: (N, G, K + 1), of the policy.
        discount: from 0 to 1.
        eps: as in `grpo`.

    Returns:
        (N, G, K), 0 where there was no turn.
    """
    alive = (agents >= 0) & ~rewards.isnan()[..., None]
    last = alive & (torch.arange(alive.shape[2]) == alive.sum(2, keepdim=True) - 1)
    paid = torch.where(last, rewards[..., None], information_gains(beliefs, alive))
    rows = paid.flatten(1)
    normal = ((rows - mean(rows)) / (deviation(rows) + eps)).reshape(paid.shape)
    return returns_to_go(normal, discount).masked_fill(~alive, 0.0)


def information_gains(beliefs: Tensor, alive: Tensor) -> Tensor:
    """Return p_k - p_(k-1), what each turn added to the solution's probability, (N, G, K).

    p is the geometric mean over the solution's tokens, each given those before it. NaN where there
    was no turn, or no solution.

    Args:
        beliefs: (N, G, K + 1), the policy's mean log-probability of a token of the solution before
            the first turn and after each; there may be fewer.
        alive: (N, G, K), whether there was a turn.
    """
    found = beliefs.exp().diff(dim=-1)
    gains = torch.nn.functional.pad(found, (0, alive.shape[2] - found.shape[2]), value=torch.nan)
    return gains.masked_fill(~alive, torch.nan)


recipe(
    "igpo",
    "arXiv 2510.14967",
    differs="the gain is the abstract's; how rewards are normalised and discounted is from "
    "reports, and so is KL's weight; the number of minibatches is not known",
    estimator="igpo",
    loss="clipped(high=0.2)",
    aggregation="sequence_mean",
    kl="k3",
    kl_coef=0.001,
    minibatches=4,
)
