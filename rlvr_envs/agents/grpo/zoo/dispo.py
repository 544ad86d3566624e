"""DISPO (arXiv 2602.00983): weights of REINFORCE within a range for each sign of the advantage."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import reinforce
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError

Range = tuple[float, float]


@loss
def dispo(
    ratio: Tensor,
    logp: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    positive: Range = (0.8, 11.0),
    negative: Range = (0.0, 101.0),
) -> Tensor:
    """Return -sg(clip(r, low, high)) A logp, with a range for each sign of A (DISPO, 2602.00983).

    ``positive`` are the least and the greatest weight where A > 0, ``negative`` elsewhere. No token
    loses its gradient, as in `cispo`.
    """
    for low, high in (positive, negative):
        if not 0 <= low <= high:
            raise ConfigError(f"a range goes from 0 upwards, got {(low, high)!r}")
    fixed = ratio.detach()
    weight = torch.where(advantages > 0, fixed.clamp(*positive), fixed.clamp(*negative))
    return weight * reinforce(logp, advantages, mask)


recipe(
    "dispo",
    "arXiv 2602.00983",
    differs="loss and ranges are from reports; the number of minibatches is not known",
    estimator="grpo",
    loss="dispo",
    minibatches=4,
)
