"""TOPR (arXiv 2503.14286): right answers as in supervised learning, wrong ones tapered off."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import reinforce, sequence_ratio
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe


@loss(one_advantage=True)
def topr(logp: Tensor, old: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """Return -A logp where A > 0, and elsewhere -sg(min(R, 1)) A logp (TOPR, arXiv 2503.14286).

    R is the whole answer's ratio, the product over its tokens: what is wrong weighs less the less
    likely it has become. Meant for rewards of 1 and -1, and no KL penalty.
    """
    ratio = sequence_ratio(logp, old, mask, by_length=False).detach()
    weight = torch.where(advantages > 0, torch.ones_like(ratio), ratio.clamp(max=1.0))
    return weight * reinforce(logp, advantages, mask)


recipe(
    "topr",
    "arXiv 2503.14286",
    differs="the share of right answers is what is sampled, and not set; the paper makes many "
    "updates from one large sample, here a step has 4",
    estimator="weighted_reinforce(positive=1.0, negative=1.0)",
    loss="topr",
    aggregation="sequence_sum",
    correction='truncate(level="sequence")',
    minibatches=4,
)
