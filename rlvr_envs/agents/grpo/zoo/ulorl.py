"""UloRL (arXiv 2507.19766): well-mastered tokens rest while entropy is low."""

from torch import Tensor

from rlvr_envs.agents.grpo.losses import clipped, kept
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss
def ulorl(  # noqa: PLR0913 - five inputs, four settings
    ratio: Tensor,
    old: Tensor,
    advantages: Tensor,
    entropy: Tensor,
    mask: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.28,
    mastered: float = 0.99,
    target: float = 0.2,
) -> Tensor:
    """Return `clipped`, and 0 at mastered tokens where mean entropy is below ``target`` (UloRL).

    A mastered token has A > 0 and a probability of at least ``mastered``: raising it further only
    takes entropy. Above the target nothing is masked.
    """
    if not 0 < mastered <= 1:
        raise ConfigError(f"mastered is above 0 and at most 1, got {mastered!r}")
    mean = kept(entropy, mask).sum() / mask.sum().clamp(min=1)
    rests = (advantages > 0) & (old.exp() >= mastered) & (mean < target)
    return clipped(ratio, advantages, low=low, high=high).masked_fill(rests, 0.0)


recipe(
    "ulorl",
    "arXiv 2507.19766",
    differs="answers are not sampled in segments; entropy is the mean of a micro-batch, and not of "
    "the whole batch; the number of minibatches is not known",
    estimator="grpo",
    loss="ulorl",
    minibatches=4,
)
