"""AsymRE (arXiv 2506.20520): REINFORCE with a baseline a little under the mean."""

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import dr_grpo
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True)
def asym_re(rewards: Tensor, *, shift: float = -0.1) -> Tensor:
    """Return A = r - (m + shift) (AsymRE, arXiv 2506.20520, as in Trinity-RFT).

    A shift below 0 learns more from successes than from failures: it is Dr. GRPO with a gradient
    towards the policy that sampled. So groups of equal rewards have an advantage, -shift.
    """
    return (dr_grpo(rewards) - shift).masked_fill(rewards.isnan(), 0.0)


recipe(
    "asym_re",
    "arXiv 2506.20520",
    differs="the paper samples hundreds of updates behind; here a step has 20, as Trinity-RFT has",
    estimator="asym_re",
    loss="reinforce",
    aggregation="sequence_sum",
    minibatches=20,
)
