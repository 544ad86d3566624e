"""DRPO (arXiv 2510.04474): short right answers ahead, without touching what wrong ones cost.

A trust-region method of that name has nothing to do with it.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards
from rlvr_envs.agents.grpo.losses import k3, reinforce, row_lengths
from rlvr_envs.agents.grpo.plugins import estimator, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@estimator(compares=True)
def drpo(
    rewards: Tensor,
    mean_logps: Tensor,
    lengths: Tensor,
    longest: int,
    *,
    temperature: float = 10.0,
    length_temperature: float = 0.1,
) -> Tensor:
    """Return the advantages by which REINFORCE tells right from wrong (DRPO, arXiv 2510.04474).

    With s an answer's mean log-probability, a group's loss is -(sum_right w s - tau log mean_wrong
    exp(s / tau)), w the `length_weights` of right answers over their sum: wrong answers have none,
    so being short never pays for them. Its gradient is that of -A s with A = w for right answers
    and -softmax(s / tau) for wrong ones. Groups of one class have advantage 0; the loss is averaged
    over all groups. Belongs with the loss `drpo` and the aggregation `sequence_mean`.

    Args:
        rewards: (N, G); from 1 on an answer is right, below it is wrong.
        mean_logps: (N, G), s.
        lengths: (N, G), in tokens.
        longest: the most tokens that an answer may have.
        temperature: tau; the lower, the more the likeliest wrong answers count.
        length_temperature: the lower, the more the shortest right answers count.
    """
    check_rewards(rewards)
    if temperature <= 0:
        raise ConfigError(f"the temperature is above 0, got {temperature!r}")
    right, wrong = rewards >= 1, rewards < 1
    share = length_weights(lengths, longest=longest, temperature=length_temperature) * right
    likely = (mean_logps / temperature).masked_fill(~wrong, -torch.inf).softmax(1)
    advantages = share / share.sum(1, keepdim=True) - likely
    mixed = right.any(1, keepdim=True) & wrong.any(1, keepdim=True)
    # Aggregations average over answers, and the loss over groups.
    each = (right | wrong).to(rewards).sum() / len(rewards)
    return each * torch.where(mixed, advantages, 0.0)


@loss(name="drpo", one_advantage=True, always=True)
def constrained(
    logp: Tensor,
    old: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    coef: float = 1e3,
    most: float = 1e-4,
) -> Tensor:
    """Return -A logp + sg(coef max(D - most, 0)) k3, D an answer's mean of k3(old, logp) (DRPO).

    So the policy may move from the one that sampled until D is ``most``, and is held beyond it.
    """
    penalty = k3(old, logp, mask)
    distance = penalty.sum(1, keepdim=True) / row_lengths(mask)
    return (
        reinforce(logp, advantages, mask)
        + (coef * (distance - most)).clamp(min=0).detach() * penalty
    )


def length_weights(lengths: Tensor, *, longest: int, temperature: float) -> Tensor:
    """Return exp((1 - length / longest) / temperature), in the shape of lengths.

    Args:
        lengths: in tokens.
        longest: C, the most tokens that an answer may have.
        temperature: lambda; the lower, the more short answers are preferred.
    """
    if longest < 1 or temperature <= 0:
        raise ConfigError(
            f"longest is from 1 and the temperature above 0, got {longest!r} and {temperature!r}"
        )
    return ((1 - lengths / longest) / temperature).exp()


recipe(
    "drpo",
    "arXiv 2510.04474",
    differs="the trust region is by answer and not by batch, with the numbers of DisCO, the method "
    "that DRPO begins with; the number of minibatches is not known",
    estimator="drpo",
    loss="drpo",
    aggregation="sequence_mean",
    minibatches=4,
)
