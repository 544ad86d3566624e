"""NGRPO: a virtual best answer, so that groups that fail are learned from."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, deviation, mean, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator
def ngrpo(rewards: Tensor, *, best: float = 1.0, eps: float = 1e-4) -> Tensor:
    """Return GRPO's A with one more, virtual, reward of ``best`` in the group (NGRPO).

    A = (r - m') / (s' + eps), m' and s' over the G + 1 rewards. A group in which all fail is then
    pushed away from what it did, rather than ignored; one in which all are right has advantage 0.
    """
    check_rewards(rewards)
    group = torch.cat([rewards, torch.full_like(rewards[:, :1], best)], dim=1)
    return scored_only(rewards, (rewards - mean(group)) / (deviation(group) + eps))


recipe(
    "ngrpo",
    "NGRPO: Negative-enhanced Group Relative Policy Optimization",
    differs="the number of minibatches is not known",
    estimator="ngrpo",
    loss="clipped(low=0.16, high=0.24)",
    group_size=8,
    minibatches=4,
)
