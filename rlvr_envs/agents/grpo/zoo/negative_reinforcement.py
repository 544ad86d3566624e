"""PSR, NSR and W-REINFORCE (arXiv 2506.01347): right and wrong answers weighed apart."""

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator
def psr(rewards: Tensor) -> Tensor:
    """Return A = r: only what is right is trained on (PSR, arXiv 2506.01347)."""
    return weighted_reinforce(rewards, positive=1.0, negative=0.0)


@estimator
def nsr(rewards: Tensor) -> Tensor:
    """Return A = r - 1: only what is wrong is trained on (NSR, arXiv 2506.01347)."""
    return weighted_reinforce(rewards, positive=0.0, negative=1.0)


@estimator
def weighted_reinforce(rewards: Tensor, *, positive: float = 0.1, negative: float = 1.0) -> Tensor:
    """Return A = positive * r - negative * (1 - r) (W-REINFORCE, arXiv 2506.01347).

    The paper's rewards are 0 or 1, and between them, and beyond, A is linear.
    """
    check_rewards(rewards)
    return scored_only(rewards, positive * rewards - negative * (1 - rewards))


for _name in ("psr", "nsr", "weighted_reinforce"):
    recipe(
        _name,
        "arXiv 2506.01347",
        differs="marks between 0 and 1, which the paper has not, count in proportion",
        estimator=_name,
        loss="clipped(high=0.2)",
        entropy_coef=1e-4,
        group_size=8,
        minibatches=4,
    )
