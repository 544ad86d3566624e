"""Losses over whole answers: a scalar from one number for each answer of each group.

Shapes are (N, G): N groups of G answers to the same problem. Scores are made of log-probabilities
and have gradients; rewards are 0 or 1 unless said otherwise, and NaN where an answer could not be
scored: it then takes no part, and its score's gradient is 0.

Such a loss joins all answers of a group. To train in micro-batches, compute all scores without
gradient first, take `slopes`, and then minimise ``(slopes * scores).sum()`` of each micro-batch.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.formulas import loss
from rlvr_envs.agents.grpo.formulas.advantage import dr_grpo, rloo
from rlvr_envs.core.errors import ConfigError

EXPERIMENTAL = ("opmd",)


def log_likelihoods(logp: Tensor, mask: Tensor, *, by_length: bool = False) -> Tensor:
    """Return each answer's log-probability, (B,); ``by_length`` divides it by its tokens."""
    total = logp.masked_fill(~mask.bool(), 0.0).sum(1)
    return total / mask.bool().sum(1).clamp(min=1) if by_length else total


def log_ratios(logp: Tensor, old: Tensor, mask: Tensor) -> Tensor:
    """Return log(policy / old policy) of each whole answer, (B,)."""
    return loss.k1(logp, old, mask).sum(1)


def slopes(objective: Callable[[Tensor], Tensor], scores: Tensor) -> Tensor:
    """Return the gradient of an objective by the scores, in their shape and without a graph.

    ``(slopes(f, s) * s).sum()`` has the gradient of ``f(s)``, and may be added up in parts.
    """
    point = scores.detach().requires_grad_()
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(objective(point), point)
    return gradient


def pacs(
    ratios: Tensor,
    rewards: Tensor,
    *,
    beta: float = 1.0,
    balance: bool = True,
    n_answers: float | None = None,
) -> Tensor:
    """Return the cross-entropy of predicting which answers are right (PACS, arXiv 2509.02522).

    The logit of an answer is u less the mean u of the group's others, u = beta log_ratio. With
    ``balance``, right and wrong weigh the same in a group that has both, n / (2 n_c) an answer of
    class c. As in the authors' code, weighted terms are divided by the number of answers.

    Args:
        ratios: (N, G), of `log_ratios`.
        rewards: (N, G).
        beta: above 0.
        balance: whether to weigh the classes.
        n_answers: scored ones of the whole optimiser step; None for those here.
    """
    _check(ratios, rewards, binary=True)
    scored = ~rewards.isnan()
    # What is not scored is NaN there, takes no part in the means, and comes out as 0.
    logits = rloo((beta * ratios).masked_fill(~scored, torch.nan))
    labels = rewards.nan_to_num(nan=0.0)
    weights = scored.to(ratios)
    if balance:
        weights = weights * _balance(rewards)
    terms = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels, weights, reduction="sum"
    )
    return terms / _denominator(int(scored.sum()), n_answers)


def length_weights(lengths: Tensor, *, longest: int, temperature: float) -> Tensor:
    """Return exp((1 - length / longest) / temperature), for `drpo`.

    Args:
        lengths: (N, G), in tokens.
        longest: C, the most tokens that an answer may have.
        temperature: lambda; the lower, the more short answers are preferred.
    """
    if longest < 1 or temperature <= 0:
        raise ConfigError(
            f"longest is from 1 and the temperature above 0, got {longest!r} and {temperature!r}"
        )
    dtype = lengths.dtype if lengths.is_floating_point() else torch.get_default_dtype()
    return ((1 - lengths.to(dtype) / longest) / temperature).exp()


def drpo(
    scores: Tensor,
    rewards: Tensor,
    weights: Tensor,
    *,
    temperature: float,
    n_groups: float | None = None,
) -> Tensor:
    """Return -(sum_right w s - tau log mean_wrong exp(s / tau)), over groups (DRPO on length).

    w are the right answers' weights, divided by their sum; wrong answers have none, so being short
    never pays for them. Groups with one class alone add 0. This is DRPO of "efficient reasoning via
    decoupled reward policy optimization", whose code has the same gradient, and adds
    `trust_region`; a trust-region method of that name has nothing to do with it.

    Args:
        scores: (N, G), `log_likelihoods` by length.
        rewards: (N, G).
        weights: (N, G), of `length_weights`.
        temperature: tau; the lower, the more the likeliest wrong answers count.
        n_groups: of the whole optimiser step, one-class groups included; None for N.
    """
    _check(scores, rewards, binary=True)
    if temperature <= 0:
        raise ConfigError(f"the temperature is above 0, got {temperature!r}")
    right, wrong = rewards == 1, rewards == 0
    mixed = right.any(1) & wrong.any(1)
    right, wrong, kept = right[mixed], wrong[mixed], scores[mixed]
    share = weights[mixed] * right
    positive = (share * kept.masked_fill(~right, 0.0)).sum(1) / share.sum(1)
    tempered = (kept / temperature).masked_fill(~wrong, -torch.inf)
    negative = temperature * (tempered.logsumexp(1) - wrong.sum(1).to(scores).log())
    return -(positive - negative).sum() / _denominator(len(scores), n_groups)


def trust_region(distance: Tensor, *, coef: float, most: float) -> Tensor:
    """Return sg(coef max(distance - most, 0)) distance, the penalty that goes with `drpo`.

    Args:
        distance: a scalar, KL(old policy, policy): the mean over tokens of ``k3(old, logp, mask)``.
        coef: from 0.
        most: up to where nothing is penalised.
    """
    return (coef * (distance - most)).clamp(min=0).detach() * distance


def opmd(
    ratios: Tensor, rewards: Tensor, *, tau: float = 1.0, n_answers: float | None = None
) -> Tensor:
    """Return the mean of (r - m - tau log_ratio)^2 / (2 tau) (OPMD); experimental.

    m is the group's mean reward. But for a constant it is ``-(r - m) logp + tau log_ratio^2 / 2``,
    so at the old policy it has the gradient of REINFORCE with Dr. GRPO's advantages, divided by the
    number of answers. The form is from reports of arXiv 2509.24203; that paper's code has the
    square of each token's log-ratio instead, which is ``reinforce`` plus a multiple of ``k2``.

    Args:
        ratios: (N, G), of `log_ratios`.
        rewards: (N, G), any numbers.
        tau: above 0.
        n_answers: scored ones of the whole optimiser step; None for those here.
    """
    _check(ratios, rewards, binary=False)
    if tau <= 0:
        raise ConfigError(f"tau is above 0, got {tau!r}")
    scored = ~rewards.isnan()
    gaps = dr_grpo(rewards) - tau * ratios
    squares = gaps.masked_fill(~scored, 0.0).square() / (2 * tau)
    return squares.sum() / _denominator(int(scored.sum()), n_answers)


def _balance(rewards: Tensor) -> Tensor:
    right, wrong = (rewards == 1), (rewards == 0)
    counts = torch.where(right, right.sum(1, keepdim=True), wrong.sum(1, keepdim=True))
    total = (right | wrong).sum(1, keepdim=True).to(rewards)
    mixed = right.any(1, keepdim=True) & wrong.any(1, keepdim=True)
    return torch.where(mixed, total / (2 * counts.clamp(min=1)), 1.0)


def _check(scores: Tensor, rewards: Tensor, *, binary: bool) -> None:
    if scores.shape != rewards.shape or scores.ndim != 2:
        raise ConfigError(
            "need scores and rewards (groups, answers), got "
            f"{tuple(scores.shape)} and {tuple(rewards.shape)}"
        )
    if binary and not ((rewards == 0) | (rewards == 1) | rewards.isnan()).all():
        raise ConfigError("this loss takes rewards that are 0 or 1; give it what is solved")


def _denominator(here: int, whole: float | None) -> float:
    if whole is not None and whole <= 0:
        raise ConfigError(f"a denominator is above 0, got {whole!r}")
    return max(here, 1) if whole is None else whole
