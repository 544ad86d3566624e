"""ACE (arXiv 2602.21420): wrong answers that training has made likelier cost more."""

from typing import Literal

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import clipped, difference, row_lengths
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss(one_advantage=True)
def ace(  # noqa: PLR0913 - five inputs, four settings
    ratio: Tensor,
    logp: Tensor,
    reference: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    alpha: float = 1.0,
    form: Literal["softplus", "relu"] = "softplus",
    low: float = 0.2,
    high: float = 0.2,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return `clipped` with A (1 + alpha phi(c)) where A < 0 (ACE, arXiv 2602.21420).

    c is the mean of logp - reference over an answer's tokens, and no gradient goes through it;
    phi is softplus, or relu, which leaves alone what has become less likely.
    """
    if alpha < 0:
        raise ConfigError(f"alpha is from 0, got {alpha!r}")
    shift = difference(logp.detach(), reference, mask).sum(1, keepdim=True) / row_lengths(mask)
    phi = torch.nn.functional.softplus(shift) if form == "softplus" else shift.relu()
    scaled = torch.where(advantages < 0, advantages * (1 + alpha * phi), advantages)
    return clipped(ratio, scaled, low=low, high=high), {"shift": shift}


recipe(
    "ace",
    "arXiv 2602.21420",
    differs="phi and alpha are from reports, of which one prefers softplus; c is divided by the "
    "answer's length; the number of minibatches is not known",
    estimator="grpo",
    loss="ace",
    minibatches=4,
)
