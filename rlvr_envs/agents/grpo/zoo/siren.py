"""SIREN (arXiv 2509.25133): entropy near an anchor, at the tokens where it matters."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import clipped, kept, row_lengths
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss(always=True, entropy_gradient=True)
def siren(  # noqa: PLR0913 - four inputs, five settings
    ratio: Tensor,
    advantages: Tensor,
    entropy: Tensor,
    mask: Tensor,
    *,
    coef: float = 0.005,
    share: float = 0.2,
    anchor: float = 1.0,
    low: float = 0.2,
    high: float = 0.28,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return `clipped` + coef (H_i - anchor)^2, H_i the mean entropy of an answer's top tokens.

    Top are the ``share`` of an answer's tokens with the greatest entropy, at which it could have
    gone on otherwise: a bonus on all tokens makes words that are certain vague. The anchor, in
    nats, keeps entropy from falling, and as much from exploding (SIREN, arXiv 2509.25133).
    """
    if coef < 0 or not 0 < share <= 1:
        raise ConfigError(f"coef is from 0, share above 0 and at most 1, got {coef!r}, {share!r}")
    inside = kept(entropy, mask)
    lengths = row_lengths(mask)
    order = inside.detach().masked_fill(~mask, -1.0).argsort(1, descending=True).argsort(1)
    count = (share * lengths).ceil()
    top = (order < count) & mask
    mean = (inside * top).sum(1, keepdim=True) / count
    penalty = (mean - anchor).square() * torch.ones_like(ratio)
    return clipped(ratio, advantages, low=low, high=high) + coef * penalty, {"top_entropy": mean}


recipe(
    "siren",
    "SIREN, arXiv 2509.25133",
    differs="entropies are of the whole distribution, and not of the words that make up its first "
    "0.9; the anchor is a setting, and not the entropy at the start; weights are not known",
    estimator="grpo",
    loss="siren",
    minibatches=4,
)
