"""REC-OneSide (arXiv 2509.24203): clipping as a mask, without importance weights."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.losses import reinforce
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss
def one_side(
    ratio: Tensor,
    logp: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.2,
) -> Tensor:
    """Return -A logp, and 0 where clipping cuts the gradient off (REC-OneSide-NoIS, 2509.24203).

    A token counts where A > 0 and r <= 1 + high, or A < 0 and r >= 1 - low; there it has no
    importance weight. With one it is the paper's REC-OneSide-IS, with the gradient of clipping.
    """
    if not (0 <= low <= 1 and high >= 0):
        raise ConfigError(f"need low from 0 to 1 and high from 0, got {low!r} and {high!r}")
    near = torch.where(advantages > 0, ratio.detach() <= 1 + high, ratio.detach() >= 1 - low)
    return reinforce(logp, advantages, mask).masked_fill(~near, 0.0)


recipe(
    "one_side",
    "arXiv 2509.24203",
    differs="from reports; of its ranges the wider one, which they have as faster",
    estimator="grpo",
    loss="one_side(low=0.6, high=2.0)",
    minibatches=20,
)
