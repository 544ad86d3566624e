"""Losses of tokens, ratios and penalties: from log-probabilities to what is minimised.

What is decorated is registered, under its own name, as a loss that a configuration may name. B
sequences have T tokens each. ``logp`` (of the policy that is trained), ``old`` (of the policy that
sampled, as the trainer computes it), ``sampled`` (the same, as the sampler reported it) and
``reference`` are log-probabilities (B, T) of the tokens. ``mask`` (B, T) is true where the model
wrote the token, its end-of-sequence token included, and false at prompts, observations and padding:
there anything may stand, NaN too, and the gradient is exactly 0. ``advantages`` are (B, 1), or
(B, T) where they differ by turn or token. Losses and penalties are (B, T), to be minimised.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.core.errors import ConfigError

# verl's bound on a log-ratio: far outside any clipping range, and exp of it is finite in float32.
LOG_RATIO_LIMIT = 20.0


def token_ratio(logp: Tensor, old: Tensor, mask: Tensor) -> Tensor:
    """Return r_t = exp(logp_t - old_t), (B, T), and 1 outside the mask (PPO, arXiv 1707.06347).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import token_ratio
        >>> logp, old = torch.tensor([[-1.0, -1.0]]), torch.tensor([[-2.0, -9.0]])
        >>> token_ratio(logp, old, mask=torch.tensor([[True, False]]))
        tensor([[2.7183, 1.0000]])
    """
    return difference(logp, old, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()


def sequence_ratio(logp: Tensor, old: Tensor, mask: Tensor, *, by_length: bool = True) -> Tensor:
    """Return each sequence's ratio at all of its tokens, (B, T) (GSPO, arXiv 2507.18071).

    s = exp(sum_t (logp_t - old_t) / L) for L trained tokens; without ``by_length`` it is the plain
    product of the tokens' ratios, as TOPR has it. Belongs with `sequence_mean`, and with one
    advantage for all of a sequence.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import sequence_ratio
        >>> logp, old = torch.tensor([[-1.0, -1.0]]), torch.tensor([[-2.0, -1.0]])
        >>> sequence_ratio(logp, old, mask=torch.tensor([[True, True]]))
        tensor([[1.6487, 1.6487]])
    """
    total = difference(logp, old, mask).sum(1, keepdim=True)
    if by_length:
        total = total / row_lengths(mask)
    return total.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp().expand(mask.shape)


@loss
def reinforce(logp: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """Return -A logp (Williams, 1992).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import reinforce
        >>> logp, mask = torch.tensor([[-1.0, -2.0]]), torch.tensor([[True, False]])
        >>> reinforce(logp, advantages=torch.tensor([[0.5]]), mask=mask)
        tensor([[0.5000, -0.0000]])
    """
    return -advantages * kept(logp, mask)


@loss
def clipped(
    ratio: Tensor,
    advantages: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.28,
    dual: float | None = None,
) -> Tensor:
    """Return -min(r A, clip(r, 1 - low, 1 + high) A) (PPO, arXiv 1707.06347).

    ``high=0.28`` is DAPO's clip-higher, PPO and GRPO have 0.2. ``dual``
    bounds the loss where A < 0 at -dual A (dual clip; the same as TRL's two-sided ``delta`` where
    that is at least 1 + high).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import clipped
        >>> clipped(torch.tensor([[0.5, 1.0, 2.0]]), torch.tensor([[1.0]]), high=0.25)
        tensor([[-0.5000, -1.0000, -1.2500]])
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


@loss(one_advantage=True)
def gspo(
    sequence_ratio: Tensor,
    advantages: Tensor,
    *,
    low: float = 3e-4,
    high: float = 4e-4,
    dual: float | None = None,
) -> Tensor:
    """Return `clipped` of the sequence's ratio (GSPO, arXiv 2507.18071).

    Belongs with the aggregation `sequence_mean`, and with one advantage for all of a sequence.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import gspo
        >>> gspo(torch.tensor([[1.1, 1.1]]), torch.tensor([[1.0]]), high=0.05)
        tensor([[-1.0500, -1.0500]])
    """
    return clipped(sequence_ratio, advantages, low=low, high=high, dual=dual)


@loss
def cispo(
    ratio: Tensor, logp: Tensor, advantages: Tensor, mask: Tensor, *, high: float = 5.0
) -> Tensor:
    """Return -sg(min(r, high)) A logp (CISPO, arXiv 2506.13585; ScaleRL has high = 5).

    A clipped token keeps its gradient, only with a bounded weight.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import cispo
        >>> ratio, logp = torch.tensor([[1.0, 9.0]]), torch.tensor([[-1.0, -1.0]])
        >>> cispo(ratio, logp, torch.tensor([[1.0]]), torch.tensor([[True, True]]))
        tensor([[1., 5.]])
    """
    return -ratio.detach().clamp(max=high) * advantages * kept(logp, mask)


@loss
def soft_adaptive(
    ratio: Tensor, advantages: Tensor, *, positive: float = 1.0, negative: float = 1.05
) -> Tensor:
    """Return -(4 / tau) sigmoid(tau (r - 1)) A (Soft Adaptive Policy Optimization, in TRL "sapo").

    tau is ``positive`` where A > 0 and ``negative`` elsewhere. At r = 1 the gradient is PPO's.
    Another method that is called SAPO has nothing to do with it.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import soft_adaptive
        >>> soft_adaptive(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0]]))
        tensor([[-2.0000, -2.9242]])
    """
    if positive <= 0 or negative <= 0:
        raise ConfigError(f"temperatures are above 0, got {positive!r} and {negative!r}")
    # Between two plain numbers `where` would round to float32.
    tau = torch.where(advantages > 0, ratio.new_tensor(positive), ratio.new_tensor(negative))
    return -4 / tau * torch.sigmoid(tau * (ratio - 1)) * advantages


def k1(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return logp - reference, whose mean is KL(policy, reference).

    As a loss its gradient is 0 in expectation: use it as a part of the reward.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import k1
        >>> k1(torch.tensor([[-1.0]]), torch.tensor([[-2.0]]), torch.tensor([[True]]))
        tensor([[1.]])
    """
    return difference(logp, reference, mask)


def k2(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return (logp - reference)^2 / 2, whose expected gradient is that of KL(policy, reference).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import k2
        >>> k2(torch.tensor([[-1.0]]), torch.tensor([[-2.0]]), torch.tensor([[True]]))
        tensor([[0.5000]])
    """
    return difference(logp, reference, mask).square() / 2


def k3(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return e^d - d - 1 for d = reference - logp, whose mean is KL(policy, reference) (GRPO).

    It is never negative. As a loss its expected gradient is that of KL(reference, policy); times
    the token's ratio it is that of KL(policy, reference), which is TRL's default.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import k3
        >>> k3(torch.tensor([[-1.0]]), torch.tensor([[-2.0]]), torch.tensor([[True]]))
        tensor([[0.3679]])
    """
    log_ratio = difference(reference, logp, mask)
    return log_ratio.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp() - log_ratio - 1


def forward_kl(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return u log u - u + 1 for u = exp(reference - logp), with mean KL(reference, policy).

    Experimental: RAPO and DPH-RL penalise this divergence, but this estimator of it, on the
    policy's own samples, is not said to be theirs. Differentiate it times the token's ratio.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import forward_kl
        >>> forward_kl(torch.tensor([[-1.0]]), torch.tensor([[-2.0]]), torch.tensor([[True]]))
        tensor([[0.2642]])
    """
    log_u = difference(reference, logp, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    return log_u.exp() * (log_u - 1) + 1


def jensen_shannon(logp: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return (u log u - (u + 1) log((u + 1) / 2)) / 2, u as in `forward_kl`: mean JS(policy, ref).

    Experimental, as `forward_kl` is. It is at most log 2 in the mean.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import jensen_shannon
        >>> jensen_shannon(torch.tensor([[-1.0]]), torch.tensor([[-2.0]]), torch.tensor([[True]]))
        tensor([[0.0759]])
    """
    log_u = difference(reference, logp, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    u = log_u.exp()
    return (u * log_u - (u + 1) * torch.log1p((u - 1) / 2)) / 2


def kept(values: Tensor, mask: Tensor) -> Tensor:
    """Return values inside the mask and 0 outside, whatever stands there.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import kept
        >>> kept(torch.tensor([[3.0, torch.nan]]), mask=torch.tensor([[True, False]]))
        tensor([[3., 0.]])
    """
    # A product would turn NaN outside the mask into NaN inside the sum; this leaves 0.
    return values.masked_fill(~mask.bool(), 0.0)


def difference(first: Tensor, second: Tensor, mask: Tensor) -> Tensor:
    """Return first - second inside the mask and 0 outside; all have one shape.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import difference
        >>> first, second = torch.tensor([[3.0, torch.nan]]), torch.tensor([[1.0, 1.0]])
        >>> difference(first, second, mask=torch.tensor([[True, False]]))
        tensor([[2., 0.]])
    """
    if first.shape != second.shape or first.shape != mask.shape:
        raise ConfigError(
            "log-probabilities and mask have one shape, got "
            f"{tuple(first.shape)}, {tuple(second.shape)} and {tuple(mask.shape)}"
        )
    return kept(first - second, mask)


def row_lengths(mask: Tensor) -> Tensor:
    """Return how many tokens of each row are inside the mask, (B, 1), at least 1.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.losses import row_lengths
        >>> row_lengths(torch.tensor([[True, True, False]]))
        tensor([[2]])
    """
    return mask.bool().sum(1, keepdim=True).clamp(min=1)
