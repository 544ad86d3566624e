"""REINFORCE++-baseline (arXiv 2501.03262): the group's mean taken off, then the batch's scale."""

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import dr_grpo, reinforce_plus_plus
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True)
def reinforce_plus_plus_baseline(rewards: Tensor, lengths: Tensor, *, eps: float = 1e-8) -> Tensor:
    """Return (r - m) normalised over the batch's tokens (REINFORCE++-baseline, 2501.03262)."""
    centred = dr_grpo(rewards).masked_fill(rewards.isnan(), float("nan"))
    found = reinforce_plus_plus(centred, lengths, eps=eps)
    return found.masked_fill(dr_grpo(rewards) == 0, 0.0)


recipe(
    "reinforce_plus_plus_baseline",
    "arXiv 2501.03262",
    differs="an answer at its group's mean has advantage 0, and not the batch's small offset; "
    "the weight of KL is OpenRLHF's default",
    estimator="reinforce_plus_plus_baseline",
    loss="clipped(high=0.2)",
    group_size=8,
    minibatches=8,
    kl="k2",
    kl_coef=0.01,
)
