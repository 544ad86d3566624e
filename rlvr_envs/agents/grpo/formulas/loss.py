"""Losses: from log-probabilities and advantages to the number that is minimised.

A loss is put together from four parts: a ratio, an objective per token, a penalty if wanted, and an
aggregation::

    ratio = token_ratio(logp, old, mask)
    losses = clipped(ratio, advantages, low=0.2, high=0.28) * truncated_weights(old, sampled, mask)
    losses = losses + 0.001 * k3(logp, reference, mask)
    loss = token_mean(losses, mask, n_tokens)

Every function is pure. B sequences have T tokens each. ``logp`` (of the policy that is trained),
``old`` (of the policy that sampled, as the trainer computes it), ``sampled`` (the same, as the
sampler reported it) and ``reference`` are log-probabilities (B, T) of the tokens. ``mask`` (B, T)
is true where the model wrote the token, its end-of-sequence token included, and false at prompts,
observations and padding: there anything may stand, NaN too, and the gradient is exactly 0.
``advantages`` are (B, 1), or (B, T) where they differ by turn. Objectives and penalties are
(B, T), to be minimised.

A function is called experimental where its formula was only had from an abstract or from others'
reports, and not checked against the paper's own text or code.
"""

from typing import Literal

import torch
from torch import Tensor

from rlvr_envs.core.errors import ConfigError

# verl's bound on a log-ratio: far outside any clipping range, and exp of it is finite in float32.
LOG_RATIO_LIMIT = 20.0

Level = Literal["token", "sequence"]

EXPERIMENTAL = ("prefix_ratio", "forward_kl", "jensen_shannon", "balanced", "balanced_weights")


def token_ratio(logp: Tensor, old: Tensor, mask: Tensor) -> Tensor:
    """Return r_t = exp(logp_t - old_t), (B, T), and 1 outside the mask (PPO, arXiv 1707.06347)."""
    return _difference(logp, old, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()


def sequence_ratio(logp: Tensor, old: Tensor, mask: Tensor, *, by_length: bool = True) -> Tensor:
    """Return each sequence's ratio at all of its tokens, (B, T) (GSPO, arXiv 2507.18071).

    s = exp(sum_t (logp_t - old_t) / L) for L trained tokens; without ``by_length`` it is the plain
    product of the tokens' ratios, as TOPR has it. Belongs with `sequence_mean`, and with one
    advantage for all of a sequence.
    """
    total = _difference(logp, old, mask).sum(1, keepdim=True)
    if by_length:
        total = total / _lengths(mask)
    return total.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp().expand(mask.shape)


def prefix_ratio(ratio: Tensor, mask: Tensor) -> Tensor:
    """Return r_t * sg(min(1, min_{j<t} r_j)), (B, T) (MinPRO); experimental.

    A token's weight thus falls with the least likely token before it, and no product of many ratios
    is needed. The bound of 1 is an inference. What is outside the mask is no part of the prefix.
    """
    own = torch.where(mask.bool(), ratio.detach(), 1.0)
    before = torch.nn.functional.pad(own, (1, 0), value=1.0)[:, :-1]  # whose first is the bound
    return ratio * before.cummin(1).values


def reinforce(logp: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """Return -A logp (Williams, 1992)."""
    return -advantages * _kept(logp, mask)


def clipped(
    ratio: Tensor,
    advantages: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.2,
    dual: float | None = None,
) -> Tensor:
    """Return -min(r A, clip(r, 1 - low, 1 + high) A) (PPO, arXiv 1707.06347).

    ``high=0.28`` is DAPO's clip-higher; GSPO has 3e-4 and 4e-4, and its sequence ratio. ``dual``
    bounds the loss where A < 0 at -dual A (dual clip; the same as TRL's two-sided ``delta`` where
    that is at least 1 + high).
    """
    if not (0 <= low <= 1 and high >= 0):
        raise ConfigError(f"need low from 0 to 1 and high from 0, got {low!r} and {high!r}")
    if dual is not None and dual < 1 + high:
        raise ConfigError(f"dual is at least 1 + high = {1 + high}, got {dual!r}")
    objective = torch.minimum(ratio * advantages, ratio.clamp(1 - low, 1 + high) * advantages)
    if dual is not None:
        bounded = torch.maximum(objective, dual * advantages)
        objective = torch.where(advantages < 0, bounded, objective)
    return -objective


def cispo(
    ratio: Tensor, logp: Tensor, advantages: Tensor, mask: Tensor, *, high: float = 5.0
) -> Tensor:
    """Return -sg(min(r, high)) A logp (CISPO, arXiv 2506.13585; ScaleRL has high = 5).

    A clipped token keeps its gradient, only with a bounded weight.
    """
    return -ratio.detach().clamp(max=high) * advantages * _kept(logp, mask)


def topr(ratio: Tensor, logp: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """Return -A logp where A > 0, and elsewhere -sg(min(r, 1)) A logp (TOPR, arXiv 2503.14286).

    What is right is trained as in supervised learning; what is wrong weighs less the less likely
    it has become. Meant for ``sequence_ratio(..., by_length=False)`` and without a KL penalty.
    """
    weight = torch.where(advantages > 0, 1.0, ratio.detach().clamp(0.0, 1.0))
    return -weight * advantages * _kept(logp, mask)


def soft_adaptive(
    ratio: Tensor, advantages: Tensor, *, positive: float = 1.0, negative: float = 1.05
) -> Tensor:
    """Return -(4 / tau) sigmoid(tau (r - 1)) A (Soft Adaptive Policy Optimization, in TRL "sapo").

    tau is ``positive`` where A > 0 and ``negative`` elsewhere. At r = 1 the gradient is PPO's.
    Another method that is called SAPO has nothing to do with it.
    """
    if positive <= 0 or negative <= 0:
        raise ConfigError(f"temperatures are above 0, got {positive!r} and {negative!r}")
    # Between two plain numbers `where` would round to float32.
    tau = torch.where(advantages > 0, ratio.new_tensor(positive), ratio.new_tensor(negative))
    return -4 / tau * torch.sigmoid(tau * (ratio - 1)) * advantages


def truncated_weights(
    old: Tensor, sampled: Tensor, mask: Tensor, *, most: float = 2.0, level: Level = "token"
) -> Tensor:
    """Return min(exp(old - sampled), most), without gradient (truncated importance sampling).

    It corrects for a sampler that computes other probabilities than the trainer. Multiply the
    objective by it, not the penalty. Of a sequence it is the product over its tokens.

    Returns:
        (B, T), 1 outside the mask where ``level`` is "token".
    """
    return _mismatch(old, sampled, mask, level).clamp(max=most)


def masked_weights(
    old: Tensor,
    sampled: Tensor,
    mask: Tensor,
    *,
    least: float = 0.0,
    most: float = 2.0,
    level: Level = "token",
) -> Tensor:
    """Return exp(old - sampled), and 0 where it is not within [least, most] (masked sampling).

    As `truncated_weights`, but what differs too much is left out.
    """
    weights = _mismatch(old, sampled, mask, level)
    return weights.masked_fill((weights < least) | (weights > most), 0.0)


def k1(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return logp - reference, whose mean is KL(policy, reference).

    As a loss its gradient is 0 in expectation: use it as a part of the reward.
    """
    return _difference(logp, reference, mask)


def k2(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return (logp - reference)^2 / 2, whose expected gradient is that of KL(policy, reference)."""
    return _difference(logp, reference, mask).square() / 2


def k3(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return e^d - d - 1 for d = reference - logp, whose mean is KL(policy, reference) (GRPO).

    It is never negative. As a loss its expected gradient is that of KL(reference, policy); times
    the token's ratio it is that of KL(policy, reference), which is TRL's default.
    """
    log_ratio = _difference(reference, logp, mask)
    return log_ratio.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp() - log_ratio - 1


def forward_kl(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return u log u - u + 1 for u = exp(reference - logp), with mean KL(reference, policy).

    Experimental: RAPO and DPH-RL penalise this divergence, but this estimator of it, on the
    policy's own samples, is not said to be theirs. Differentiate it times the token's ratio.
    """
    log_u = _difference(reference, logp, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    return log_u.exp() * (log_u - 1) + 1


def jensen_shannon(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return (u log u - (u + 1) log((u + 1) / 2)) / 2, u as in `forward_kl`: mean JS(policy, ref).

    Experimental, as `forward_kl` is. It is at most log 2 in the mean.
    """
    log_u = _difference(reference, logp, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    u = log_u.exp()
    return (u * log_u - (u + 1) * torch.log1p((u - 1) / 2)) / 2


def token_mean(losses: Tensor, mask: Tensor, n_tokens: float | None = None) -> Tensor:
    """Return the sum over trained tokens / n_tokens (DAPO, arXiv 2503.14476; TRL's "bnpo").

    The denominator of this and the other aggregations is the whole optimiser step's, so that
    micro-batches may be added up; None takes what is here.
    """
    return _kept(losses, mask).sum() / _denominator(mask.sum(), n_tokens)


def sequence_mean(losses: Tensor, mask: Tensor, n_sequences: float | None = None) -> Tensor:
    """Return the sum of the sequences' token means / n_sequences (GRPO, arXiv 2402.03300).

    A long answer's tokens weigh less than a short one's. A sequence without trained tokens adds 0,
    but counts among the sequences.
    """
    means = _kept(losses, mask).sum(1) / _lengths(mask)[:, 0]
    return means.sum() / _denominator(len(mask), n_sequences)


def sequence_sum(losses: Tensor, mask: Tensor, n_sequences: float | None = None) -> Tensor:
    """Return the sum over trained tokens / n_sequences: every token weighs the same."""
    return _kept(losses, mask).sum() / _denominator(len(mask), n_sequences)


def constant_length(
    losses: Tensor, mask: Tensor, longest: int, n_sequences: float | None = None
) -> Tensor:
    """Return the sum over trained tokens / (n_sequences * longest) (Dr. GRPO, arXiv 2503.20783).

    ``longest`` is the most tokens that an answer may have, a constant, and not this batch's T.
    """
    if longest < 1:
        raise ConfigError(f"longest is from 1, got {longest!r}")
    return sequence_sum(losses, mask, n_sequences) / longest


def balanced(
    losses: Tensor, mask: Tensor, advantages: Tensor, n_groups: float | None = None
) -> Tensor:
    """Return sum_c (N_c / G) * token mean over c, averaged over groups; experimental.

    c is what of a group has A > 0, or A < 0, and N_c how many they are (Balanced Aggregation). So
    right and wrong answers weigh by their number, whatever their lengths. Only the abstract is
    known. Losses and mask are (N, G, T), of whole groups, and advantages (N, G); ``n_groups`` is
    the whole step's, None for N. For parts of groups there is `balanced_weights`.
    """
    if losses.ndim != 3 or advantages.shape != losses.shape[:2]:
        raise ConfigError(
            "need losses (N, G, T) and advantages (N, G), got "
            f"{tuple(losses.shape)} and {tuple(advantages.shape)}"
        )
    groups = torch.arange(len(losses), device=losses.device).repeat_interleave(losses.shape[1])
    sums, lengths = _kept(losses, mask).sum(2), mask.bool().sum(2)
    weights = balanced_weights(advantages.flatten(), lengths.flatten(), groups, n_groups)
    return (weights * sums.flatten()).sum()


def balanced_weights(
    advantages: Tensor, lengths: Tensor, groups: Tensor, n_groups: float | None = None
) -> Tensor:
    """Return by what to multiply each sequence's sum of losses for `balanced`; experimental.

    A weight is N_c / (G * tokens of c) / n_groups, so that weights times sums add up to `balanced`
    of the whole, however the sequences are split into micro-batches.

    Args:
        advantages: (B,), of whole groups; answers of 0 count in G alone.
        lengths: (B,), in trained tokens.
        groups: (B,), integers; only their being equal matters.
        n_groups: of the whole optimiser step; None for those here.
    """
    names, row = groups.unique(return_inverse=True)
    member = row == torch.arange(len(names), device=row.device)[:, None]
    weights = torch.zeros_like(advantages)
    for side in (advantages > 0, advantages < 0):
        chosen = member & side
        tokens = member.sum(1) * (chosen * lengths).sum(1).clamp(min=1)
        weights = weights + side * (chosen.sum(1).to(weights) / tokens)[row]
    return weights / _denominator(len(names), n_groups)


def _kept(values: Tensor, mask: Tensor) -> Tensor:
    # A product would turn NaN outside the mask into NaN inside the sum; this leaves 0.
    return values.masked_fill(~mask.bool(), 0.0)


def _difference(first: Tensor, second: Tensor, mask: Tensor) -> Tensor:
    if first.shape != second.shape or first.shape != mask.shape:
        raise ConfigError(
            "log-probabilities and mask have one shape, got "
            f"{tuple(first.shape)}, {tuple(second.shape)} and {tuple(mask.shape)}"
        )
    return _kept(first - second, mask)


def _lengths(mask: Tensor) -> Tensor:
    return mask.bool().sum(1, keepdim=True).clamp(min=1)


def _mismatch(old: Tensor, sampled: Tensor, mask: Tensor, level: Level) -> Tensor:
    if level == "token":
        return token_ratio(old, sampled, mask).detach()
    if level == "sequence":
        return sequence_ratio(old, sampled, mask, by_length=False).detach()
    raise ConfigError(f"level is 'token' or 'sequence', got {level!r}")


def _denominator(here: Tensor | int, whole: float | None) -> Tensor | float:
    if whole is None:
        return here.clamp(min=1) if isinstance(here, Tensor) else max(here, 1)
    if whole <= 0:
        raise ConfigError(f"a denominator is above 0, got {whole!r}")
    return whole
