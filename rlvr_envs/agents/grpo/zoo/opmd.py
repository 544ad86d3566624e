"""OPMD (in arXiv 2509.24203): REINFORCE, held near the policy that sampled by a square."""

from torch import Tensor

from rlvr_envs.agents.grpo.losses import k2, reinforce
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss(always=True)
def opmd(
    logp: Tensor, old: Tensor, advantages: Tensor, mask: Tensor, *, tau: float = 1.0
) -> Tensor:
    """Return -A logp + tau (logp - old)^2 / 2 (OPMD, in arXiv 2509.24203).

    By reports, this is the paper's code; its text has the square of the whole answer's log-ratio.
    """
    if tau < 0:
        raise ConfigError(f"tau is from 0, got {tau!r}")
    return reinforce(logp, advantages, mask) + tau * k2(logp, old, mask)


recipe(
    "opmd",
    "arXiv 2509.24203",
    differs="from reports of its code, which has the square by token and not by answer",
    estimator="dr_grpo",
    loss="opmd",
    aggregation="sequence_sum",
    minibatches=20,
)
