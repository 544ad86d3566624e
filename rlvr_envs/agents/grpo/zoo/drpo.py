"""DRPO (arXiv 2510.04474): short right answers ahead, without touching what wrong ones cost.

A trust-region method of that name has nothing to do with it.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards
from rlvr_envs.agents.grpo.losses import k3, reinforce, row_lengths
from rlvr_envs.agents.grpo.plugins import estimator, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.zoo.coupled import as_advantages
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
    """Return the advantages that give REINFORCE the gradient of `discrimination` (DRPO).

    An answer with full marks is right, one with less is wrong. ``temperature`` is tau, and
    ``length_temperature`` the lambda of `length_weights`. Belongs with the loss `drpo` and the
    aggregation `sequence_mean`.
    """
    check_rewards(rewards)
    weights = length_weights(lengths, longest=longest, temperature=length_temperature)
    return as_advantages(
        lambda scores: discrimination(scores, rewards, weights, temperature=temperature),
        mean_logps,
        rewards,
    )


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


def discrimination(
    scores: Tensor, rewards: Tensor, weights: Tensor, *, temperature: float
) -> Tensor:
    """Return -(sum_right w s - tau log mean_wrong exp(s / tau)), averaged over groups.

    w are the right answers' weights, divided by their sum; wrong answers have none, so being short
    never pays for them. Groups with one class alone add 0.

    Args:
        scores: (N, G), mean log-probabilities of answers.
        rewards: (N, G); from 1 on an answer is right; NaN for what was not scored.
        weights: (N, G), of `length_weights`.
        temperature: tau; the lower, the more the likeliest wrong answers count.
    """
    if temperature <= 0:
        raise ConfigError(f"the temperature is above 0, got {temperature!r}")
    right, wrong = rewards >= 1, rewards < 1
    mixed = right.any(1) & wrong.any(1)
    right, wrong, kept = right[mixed], wrong[mixed], scores[mixed]
    share = weights[mixed] * right
    positive = (share * kept.masked_fill(~right, 0.0)).sum(1) / share.sum(1)
    tempered = (kept / temperature).masked_fill(~wrong, -torch.inf)
    negative = temperature * (tempered.logsumexp(1) - wrong.sum(1).to(scores).log())
    return -(positive - negative).sum() / len(scores)


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
