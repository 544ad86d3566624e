"""RLPR (arXiv 2506.18254): the probability of the reference answer is the reward."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import deviation, mean, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True)
def rlpr(rewards: Tensor, beliefs: Tensor, *, least: float = 0.0, eps: float = 1e-4) -> Tensor:
    """Return GRPO's A of r = clip(p_after - p_before, 0, 1), p the reference's probability (RLPR).

    p is the geometric mean of the probabilities of the reference answer's tokens, before the first
    action and after the last: what the reasoning did for it. No verdict is needed, and none is
    read. Groups whose r deviate by less than ``least`` have advantage 0, as RLPR filters prompts
    that tell nothing.

    Args:
        rewards: (N, G); only whether there was an episode.
        beliefs: (N, G, K + 1), mean log-probabilities of the reference's tokens.
        least: standard deviation below which a group tells nothing.
        eps: as in `grpo`.
    """
    last = (~beliefs.isnan()).sum(2).clamp(min=1) - 1
    after = beliefs.gather(2, last[..., None])[..., 0].exp()
    gained = (after - beliefs[..., 0].exp()).clamp(0, 1)
    known = torch.where(rewards.isnan(), torch.nan, gained)
    spread = deviation(known)
    advantages = (known - mean(known)) / (spread + eps)
    return scored_only(known, advantages * (spread >= least))


recipe(
    "rlpr",
    "RLPR, arXiv 2506.18254",
    differs="the mean of the tokens' probabilities is geometric, and the reference stands after "
    "the whole answer and not in its answer's place; nothing is filtered unless `least` is "
    "set, and it does not move",
    estimator="rlpr",
    loss="clipped(high=0.27)",
    group_size=8,
    minibatches=4,
)
