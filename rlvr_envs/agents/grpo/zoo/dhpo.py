"""DHPO (arXiv 2601.05607): token and sequence ratios, each clipped, then mixed."""

from torch import Tensor

from rlvr_envs.agents.grpo.losses import clipped
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError

Range = tuple[float, float]


@loss(one_advantage=True)
def dhpo(
    ratio: Tensor,
    sequence_ratio: Tensor,
    advantages: Tensor,
    *,
    token_clip: Range = (0.2, 0.28),
    sequence_clip: Range = (3e-4, 4e-4),
    weight: float = 0.5,
) -> Tensor:
    """Return w PPO(r) + (1 - w) PPO(s), token and sequence ratio, each clipped in its own range.

    ``weight`` is w, from 0 to 1; the ranges are DAPO's and GSPO's.
    """
    if not 0 <= weight <= 1:
        raise ConfigError(f"weight is from 0 to 1, got {weight!r}")
    by_token = clipped(ratio, advantages, low=token_clip[0], high=token_clip[1])
    whole = clipped(sequence_ratio, advantages, low=sequence_clip[0], high=sequence_clip[1])
    return weight * by_token + (1 - weight) * whole


recipe(
    "dhpo",
    "arXiv 2601.05607",
    differs="from reports; the mixture whose weight follows the token's entropy is not done, since "
    "how it follows is not known; the number of minibatches is not known",
    estimator="grpo",
    loss="dhpo",
    minibatches=4,
)
