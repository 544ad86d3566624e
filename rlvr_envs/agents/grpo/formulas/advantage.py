"""Advantages: what a reward is worth beside the other rewards of its group or batch.

Every function is pure. Shapes: ``rewards`` is (N, G), N groups of G answers to the same problem;
the result has the same shape unless said otherwise. A reward of NaN is one that could not be
scored: it takes no part in any statistic, and its advantage is 0.

r is a reward, m and s are mean and sample standard deviation (G - 1 in the denominator) of its
group. A function is called experimental where its formula was only had from an abstract or from
others' reports, and not checked against the paper's own text or code.
"""

import torch
from torch import Tensor

from rlvr_envs.core.errors import ConfigError

EXPERIMENTAL = ("dr_mas",)


def reinforce(rewards: Tensor) -> Tensor:
    """Return A = r, with no baseline (Williams, 1992)."""
    _check(rewards)
    return _scored_only(rewards, rewards)


def dr_grpo(rewards: Tensor) -> Tensor:
    """Return A = r - m (Dr. GRPO, arXiv 2503.20783).

    Without the division by s, groups that are almost solved or almost never solved do not weigh
    more than others. Belongs with the loss's `constant_length`.
    """
    _check(rewards)
    return _scored_only(rewards, rewards - _mean(rewards))


def grpo(rewards: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A = (r - m) / (s + eps) (GRPO, arXiv 2402.03300).

    ``eps`` is 1e-4 in TRL and 1e-6 in verl.
    """
    _check(rewards)
    return _scored_only(rewards, (rewards - _mean(rewards)) / (_std(rewards) + eps))


def rloo(rewards: Tensor) -> Tensor:
    """Return A = r - mean of the others in the group (RLOO, arXiv 2402.14740).

    It is n / (n - 1) times Dr. GRPO's, for n scored answers; an answer without others gets 0.

    Raises:
        ConfigError: groups of one, which leave nothing out.
    """
    _check(rewards)
    if rewards.shape[1] < 2:
        raise ConfigError("the leave-one-out baseline needs groups of 2 or more, got groups of 1")
    count = _count(rewards)
    return _scored_only(rewards, (rewards - _mean(rewards)) * count / (count - 1).clamp(min=1))


def lite_ppo(rewards: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A = (r - m) / (s_batch + eps), s_batch over all rewards (Lite PPO, arXiv 2508.08221).

    TRL calls it ``scale_rewards="batch"``. Belongs with the loss's `token_mean`.
    """
    _check(rewards)
    spread = _std(rewards.reshape(1, -1))
    return _scored_only(rewards, (rewards - _mean(rewards)) / (spread + eps))


def reinforce_plus_plus(rewards: Tensor, mask: Tensor, *, eps: float = 1e-8) -> Tensor:
    """Return A = (r - m_tok) / sqrt(v_tok + eps) per token (REINFORCE++, arXiv 2501.03262).

    m_tok and v_tok are mean and sample variance over the batch's trained tokens, each of which
    has its sequence's reward, so long answers weigh more. The variant with a baseline is
    ``reinforce_plus_plus(dr_grpo(rewards).flatten(), mask)``.

    Args:
        rewards: (B,).
        mask: (B, T), true where a token is trained on.
        eps: as in verl.

    Returns:
        (B, T), 0 outside the mask.
    """
    if rewards.shape != mask.shape[:1]:
        raise ConfigError(
            f"need rewards (B,) and mask (B, T), got {tuple(rewards.shape)} and {tuple(mask.shape)}"
        )
    _check(rewards[None])
    tokens = rewards[:, None].expand(mask.shape).masked_fill(~mask.bool(), torch.nan)
    flat = tokens.reshape(1, -1)
    scale = (_std(flat) ** 2 + eps).rsqrt()
    return _scored_only(tokens, (tokens - _mean(flat)) * scale)


def bnpo(rewards: Tensor, *, most: float = 1e6) -> Tensor:
    """Return A = (r - p) / Beta(p; alpha, beta), for rewards in [0, 1] (BNPO, arXiv 2506.02864).

    p is the group's mean; E and V are mean and variance of p over the groups of the batch. With
    k = E (1 - E) / V - 1, alpha = max(1, 1 + k E / 3) and beta = max(1, 1 + k (1 - E) / 3).
    1 / Beta(.) is at most ``most``. alpha = beta = 1 is REINFORCE with the group's mean as
    baseline, alpha = beta = 3/2 is GRPO but for a factor.

    The sources leave open whether V is the sample's or the population's; it is the population's
    here. Where all p are equal, V = 0 says nothing of a distribution and alpha = beta = 1.
    TRL's ``loss_type="bnpo"`` is none of this: it is a mean over tokens.
    """
    _check(rewards)
    if ((rewards < 0) | (rewards > 1)).any():
        raise ConfigError("BNPO takes rewards in [0, 1]; give it the verdicts' scores")
    wide = rewards.double()
    p = _mean(wide)
    known = p[~p.isnan()]
    if not known.numel():
        return torch.zeros_like(rewards)
    mean = known.mean()
    variance = known.var(correction=0)
    k = torch.where(variance > 1e-12, mean * (1 - mean) / variance.clamp(min=1e-12) - 1, 0.0)
    alpha = (1 + k * mean / 3).clamp(min=1)
    beta = (1 + k * (1 - mean) / 3).clamp(min=1)
    log_norm = torch.lgamma(alpha) + torch.lgamma(beta) - torch.lgamma(alpha + beta)
    log_density = torch.xlogy(alpha - 1, p) + torch.xlogy(beta - 1, 1 - p) - log_norm
    return _scored_only(rewards, ((wide - p) * (-log_density).exp().clamp(max=most)).to(rewards))


def ngrpo(rewards: Tensor, *, best: float = 1.0, eps: float = 1e-4) -> Tensor:
    """Return GRPO's A with one more, virtual, reward of ``best`` in the group (NGRPO).

    A = (r - m') / (s' + eps), m' and s' over the G + 1 rewards. A group in which all fail is then
    pushed away from what it did, rather than ignored. NGRPO leaves out only the groups in which
    all are right (`unsolved`), and clips at 0.16 and 0.24.
    """
    _check(rewards)
    virtual = torch.full_like(rewards[:, :1], best)
    group = torch.cat([rewards, virtual], dim=1)
    return _scored_only(rewards, (rewards - _mean(group)) / (_std(group) + eps))


def mc_grpo(
    rewards: Tensor, *, eps: float = 1e-3, limit: float | None = None
) -> tuple[Tensor, Tensor]:
    """Return A = (r - median) / (MAD + eps) and which answers to train on (MC-GRPO).

    Sample G + 1 answers, an odd number: the first at the median is the pivot, which is dropped.
    As in the authors' code, advantages other than 0 are then multiplied by (G + 1) / their number.

    Where more than half of the rewards agree, as 0/1 rewards mostly do, the MAD is 0 and an
    advantage is up to 1 / eps times the reward's distance; ``limit``, which is not the paper's,
    bounds |A| before the multiplication.

    Returns:
        (N, G + 1) advantages, and a boolean (N, G + 1) that is false for pivots and for what could
        not be scored.
    """
    _check(rewards)
    size = rewards.shape[1]
    if size % 2 == 0 or size == 1:
        raise ConfigError(f"MC-GRPO needs an odd number of answers from 3 in a group, got {size}")
    median = rewards.nanmedian(1, keepdim=True).values
    distance = rewards - median
    mad = distance.abs().nanmedian(1, keepdim=True).values
    advantages = _scored_only(rewards, distance / (mad + eps))
    if limit is not None:
        advantages = advantages.clamp(-limit, limit)
    moved = (advantages != 0).sum(1, keepdim=True).clamp(min=1)
    pivot = (rewards == median).int().argmax(1, keepdim=True)
    kept = ~rewards.isnan()
    return advantages * size / moved, kept.scatter(1, pivot, value=False)


def psr(rewards: Tensor) -> Tensor:
    """Return A = r for rewards 0 and 1: only right answers are trained (PSR, arXiv 2506.01347)."""
    return weighted_reinforce(rewards, positive=1.0, negative=0.0)


def nsr(rewards: Tensor) -> Tensor:
    """Return A = r - 1 for rewards 0 and 1: only wrong answers are trained (NSR, 2506.01347)."""
    return weighted_reinforce(rewards, positive=0.0, negative=1.0)


def weighted_reinforce(rewards: Tensor, *, positive: float = 0.1, negative: float = 1.0) -> Tensor:
    """Return A = positive * r - negative * (1 - r) for rewards 0 and 1 (W-REINFORCE, 2506.01347).

    Raises:
        ConfigError: a reward is neither 0 nor 1.
    """
    _check(rewards)
    if not ((rewards == 0) | (rewards == 1) | rewards.isnan()).all():
        raise ConfigError("PSR, NSR and W-REINFORCE take rewards that are 0 or 1")
    return _scored_only(rewards, positive * rewards - negative * (1 - rewards))


def dr_mas(rewards: Tensor, labels: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A = (r - m) / (s + eps) with m and s of what has the same label; experimental.

    Dr. MAS takes statistics for each pair of a prompt and an agent, so that agents whose rewards
    differ in scale do not disturb each other; its abstract says no more. Labels may as well be
    tasks, or groups of different sizes.

    Args:
        rewards: (B,).
        labels: (B,), integers; only their being equal matters.
        eps: as in `grpo`.
    """
    if rewards.ndim != 1 or rewards.shape != labels.shape:
        raise ConfigError(
            "need rewards (B,) and labels (B,), got "
            f"{tuple(rewards.shape)} and {tuple(labels.shape)}"
        )
    _check(rewards[None])
    names, row = labels.unique(return_inverse=True)
    member = row == torch.arange(len(names), device=row.device)[:, None]
    table = rewards.expand(member.shape).masked_fill(~member, torch.nan)
    normal = (rewards - _mean(table)[row, 0]) / (_std(table)[row, 0] + eps)
    return _scored_only(rewards, normal)


def trloo(rewards: Tensor, *, discount: float = 1.0) -> Tensor:
    """Return each turn's A = g - mean of the others' g at that turn (TRLOO, of Dr. Kernel).

    g is the return to go: the turn's reward plus ``discount`` times the next turn's g. The others
    are the group's trajectories that have this turn; where there are none, A = g.

    Args:
        rewards: (N, G, K), for K turns; NaN where a trajectory had ended, or was not scored.
        discount: from 0 to 1.
    """
    if rewards.ndim != 3:
        raise ConfigError(f"rewards of turns are (N, G, K), got {tuple(rewards.shape)}")
    _check(rewards.flatten(1))
    if not 0 <= discount <= 1:
        raise ConfigError(f"the discount is from 0 to 1, got {discount!r}")
    alive = ~rewards.isnan()
    to_go = rewards.nan_to_num(nan=0.0)
    for turn in range(rewards.shape[2] - 2, -1, -1):
        to_go[..., turn] += discount * to_go[..., turn + 1]
    to_go = to_go.masked_fill(~alive, 0.0)
    others = (alive.sum(1, keepdim=True) - 1).clamp(min=1)
    rest = (to_go.sum(1, keepdim=True) - to_go) / others
    return (to_go - rest).masked_fill(~alive, 0.0)


def informative(rewards: Tensor) -> Tensor:
    """Return (N,), true where a group's scored rewards differ (DAPO, arXiv 2503.14476).

    DAPO's dynamic sampling draws until a batch is full of these; the others have no gradient.
    """
    _check(rewards)
    low = rewards.nan_to_num(nan=torch.inf).amin(1)
    high = rewards.nan_to_num(nan=-torch.inf).amax(1)
    return low < high


def unsolved(rewards: Tensor, *, best: float = 1.0) -> Tensor:
    """Return (N,), true where some scored reward of a group is under ``best`` (NGRPO's filter)."""
    _check(rewards)
    return (rewards < best).any(1)


def overlong_penalty(lengths: Tensor, *, longest: int, buffer: int) -> Tensor:
    """Return what is added to the reward of an answer that long (DAPO, arXiv 2503.14476).

    0 up to ``longest - buffer`` tokens, from there falling linearly to -1 at ``longest``, and -1
    beyond.

    Args:
        lengths: (B,) or (N, G), in tokens.
        longest: L_max, where answers are cut off.
        buffer: L_cache, over how many tokens the penalty grows.
    """
    if not 0 < buffer <= longest:
        raise ConfigError(f"need 0 < buffer <= longest, got {buffer!r} and {longest!r}")
    dtype = lengths.dtype if lengths.is_floating_point() else torch.get_default_dtype()
    return ((longest - buffer - lengths.to(dtype)) / buffer).clamp(-1.0, 0.0)


def _check(rewards: Tensor) -> None:
    if rewards.ndim != 2 or not rewards.numel():
        raise ConfigError(f"rewards are (groups, answers), got shape {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        raise ConfigError(f"rewards are floats, got {rewards.dtype}")
    if rewards.isinf().any():
        raise ConfigError("a reward is infinite; what could not be scored is NaN")


def _count(rewards: Tensor) -> Tensor:
    return (~rewards.isnan()).sum(1, keepdim=True)


def _mean(rewards: Tensor) -> Tensor:
    return rewards.nanmean(1, keepdim=True)


def _std(rewards: Tensor) -> Tensor:
    """Return the sample standard deviation of each row, 0 where only one is scored."""
    squares = (rewards - _mean(rewards)).square().nansum(1, keepdim=True)
    return (squares / (_count(rewards) - 1).clamp(min=1)).sqrt()


def _scored_only(rewards: Tensor, values: Tensor) -> Tensor:
    return values.masked_fill(rewards.isnan(), 0.0)
