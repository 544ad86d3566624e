"""OBLR-PO: the baseline with the least variance, weighted by the size of gradients."""

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, mean, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True)
def oblr_po(rewards: Tensor, lengths: Tensor) -> Tensor:
    """Return A = r - b, b the mean of a group's rewards weighted by squared gradients (OBLR-PO).

    The baseline b = sum w r / sum w with w = |grad log pi(y)|^2 gives policy gradients the least
    variance. For w stands the answer's length: gradients of tokens that point anywhere add up to a
    squared length in proportion to their number.

    Args:
        rewards: (N, G).
        lengths: (N, G), in tokens.
    """
    check_rewards(rewards)
    # Of rewards less their mean, so that equal ones have advantage 0 to the last bit.
    centred = scored_only(rewards, rewards - mean(rewards))
    weights = lengths.to(rewards).masked_fill(rewards.isnan(), 0.0)
    offset = (weights * centred).sum(1, keepdim=True) / weights.sum(1, keepdim=True).clamp(min=1)
    return scored_only(rewards, centred - offset)


recipe(
    "oblr_po",
    "OBLR-PO: A Theoretical Framework for Stable Reinforcement Learning",
    differs="lengths stand for squared gradients; the learning rate does not follow the ratio of "
    "signal and noise; clipping and minibatches are not known",
    estimator="oblr_po",
    loss="clipped(high=0.2)",
    minibatches=4,
)
