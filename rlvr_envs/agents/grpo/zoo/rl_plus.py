"""RL-PLUS (arXiv 2508.00222): the oracle in the group, by multiple importance sampling."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.callbacks import demonstration
from rlvr_envs.agents.grpo.episode import Group
from rlvr_envs.agents.grpo.losses import LOG_RATIO_LIMIT, clipped, kept
from rlvr_envs.agents.grpo.plugins import callback, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError


@loss
def rl_plus(  # noqa: PLR0913 - six inputs, four settings
    logp: Tensor,
    old: Tensor,
    ratio: Tensor,
    mask: Tensor,
    advantages: Tensor,
    demonstrated: Tensor,
    *,
    gamma: float = 1.0,
    uniform: float = 1e-5,
    low: float = 0.2,
    high: float = 0.28,
) -> Tensor:
    """Return `clipped`, and for given answers -r A (1 - sg(p))^gamma, r = 2 p / (q + p_old).

    q = (p_old + uniform) / 2 stands for the unknown policy that wrote them, ``uniform`` for one
    over the size of the vocabulary: half of the mixture's weight keeps r bounded, where p / q alone
    is not. What the policy would never say counts most (RL-PLUS, arXiv 2508.00222).
    """
    if gamma < 0 or not 0 < uniform < 1:
        raise ConfigError(f"gamma is from 0 and uniform in (0, 1), got {gamma!r} and {uniform!r}")
    p = kept(logp, mask).exp()
    before = kept(old, mask).clamp(min=-LOG_RATIO_LIMIT).exp()
    mixed = 2 * p / ((before + uniform) / 2 + before)
    given = -mixed * advantages * (1 - p.detach()) ** gamma
    return torch.where(demonstrated[:, None], given, clipped(ratio, advantages, low=low, high=high))


@callback(name="oracle_in_group")
class OracleInGroup(Callback):
    """Adds the oracle's answer to each group, with full marks, so that it has an advantage."""

    def __init__(self, *, worked: bool = True) -> None:
        """Take whether the worked solution comes before the answer."""
        self._worked = worked

    def on_group(self, run: Run, group: Group) -> None:
        """Add it, if it fits; what the curriculum sees are the scores of the others."""
        given = demonstration(run, group, worked=self._worked)
        if given is not None:
            given.reward, given.turn_rewards = 1.0, [1.0]
            group.episodes.append(given)


recipe(
    "rl_plus",
    "RL-PLUS, arXiv 2508.00222",
    differs="answers are the oracle's and not another model's; the size of the vocabulary is a "
    "setting; the number of minibatches is not known",
    estimator="grpo",
    loss="rl_plus",
    callbacks=("oracle_in_group",),
    group_size=8,
    minibatches=4,
)
