"""TRLOO (of Dr. Kernel): a leave-one-out baseline for each turn."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import count, mean
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@estimator(level="turn")
def trloo(turn_rewards: Tensor, *, discount: float = 1.0) -> Tensor:
    """Return each turn's A = g - mean of the others' g at that turn (TRLOO, of Dr. Kernel).

    g is the return to go: the turn's reward plus ``discount`` times the next turn's g. The others
    are the group's trajectories that have this turn; where there are none, A = g.

    Args:
        turn_rewards: (N, G, K), for K turns; NaN where a trajectory had ended, or was not scored.
        discount: from 0 to 1.
    """
    alive = ~turn_rewards.isnan()
    to_go = returns_to_go(turn_rewards, discount)
    rows = to_go.masked_fill(~alive, torch.nan).transpose(1, 2).flatten(0, 1)
    n = count(rows)
    others = (rows - mean(rows)) * n / (n - 1).clamp(min=1)
    advantages = torch.where(n > 1, others, rows)
    return advantages.unflatten(0, (-1, to_go.shape[2])).transpose(1, 2).masked_fill(~alive, 0.0)


def returns_to_go(values: Tensor, discount: float) -> Tensor:
    """Return what comes from a turn on, (…, K): the turn's value plus ``discount`` times the rest.

    NaN counts as 0.

    Raises:
        ConfigError: the discount is not from 0 to 1.
    """
    if not 0 <= discount <= 1:
        raise ConfigError(f"the discount is from 0 to 1, got {discount!r}")
    to_go = values.nan_to_num(nan=0.0)
    for turn in range(values.shape[-1] - 2, -1, -1):
        to_go[..., turn] += discount * to_go[..., turn + 1]
    return to_go


recipe(
    "trloo",
    "Dr. Kernel: Reinforcement Learning Done Right for Triton Kernel Generations",
    differs="its rejection of answers by the geometric mean of mismatch ratios is not done; the "
    "number of minibatches is not known",
    estimator="trloo",
    minibatches=4,
)
