"""Advantages: what a reward is worth beside the other rewards of its group or batch.

Each is registered under its own name, and a pure function. Shapes: ``rewards`` is (N, G), N groups
of G answers to the same problem; the result has the same shape. A reward of NaN is one that could
not be scored: it takes no part in any statistic, and its advantage is 0. Where all rewards of a
group are the same number, an advantage relative to their mean is 0 to the last bit.

r is a reward, m and s are mean and sample standard deviation (G - 1 in the denominator) of its
group.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.core.errors import ConfigError


@estimator
def reinforce(rewards: Tensor) -> Tensor:
    """Return A = r, with no baseline (Williams, 1992).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import reinforce
        >>> reinforce(torch.tensor([[1.0, 0.0, torch.nan]]))
        tensor([[1., 0., 0.]])
    """
    check_rewards(rewards)
    return scored_only(rewards, rewards)


@estimator(compares=True)
def dr_grpo(rewards: Tensor) -> Tensor:
    """Return A = r - m (Dr. GRPO, arXiv 2503.20783).

    Without the division by s, groups that are almost solved or almost never solved do not weigh
    more than others. Belongs with the loss's `constant_length`.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import dr_grpo
        >>> dr_grpo(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
        tensor([[ 0.7500, -0.2500, -0.2500, -0.2500]])
    """
    check_rewards(rewards)
    return scored_only(rewards, rewards - mean(rewards))


@estimator(compares=True)
def grpo(rewards: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A = (r - m) / (s + eps) (GRPO, arXiv 2402.03300).

    ``eps`` is 1e-4 in TRL and 1e-6 in verl.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import grpo
        >>> grpo(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
        tensor([[ 1.4997, -0.4999, -0.4999, -0.4999]])
    """
    check_rewards(rewards)
    return scored_only(rewards, (rewards - mean(rewards)) / (deviation(rewards) + eps))


@estimator(compares=True)
def rloo(rewards: Tensor) -> Tensor:
    """Return A = r - mean of the others in the group (RLOO, arXiv 2402.14740).

    It is n / (n - 1) times Dr. GRPO's, for n scored answers; an answer without others gets 0.

    Raises:
        ConfigError: groups of one, which leave nothing out.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import rloo
        >>> rloo(torch.tensor([[1.0, 0.0, 0.0, 0.0, 0.0]]))
        tensor([[ 1.0000, -0.2500, -0.2500, -0.2500, -0.2500]])
    """
    check_rewards(rewards)
    if rewards.shape[1] < 2:
        raise ConfigError("the leave-one-out baseline needs groups of 2 or more, got groups of 1")
    n = count(rewards)
    return scored_only(rewards, (rewards - mean(rewards)) * n / (n - 1).clamp(min=1))


@estimator(compares=True)
def lite_ppo(rewards: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A = (r - m) / (s_batch + eps), s_batch over all rewards (Lite PPO, arXiv 2508.08221).

    TRL calls it ``scale_rewards="batch"``. Belongs with the loss's `token_mean`.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import lite_ppo
        >>> lite_ppo(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        tensor([[ 0.9998, -0.9998],
                [ 0.0000,  0.0000]])
    """
    check_rewards(rewards)
    spread = deviation(rewards.reshape(1, -1))
    return scored_only(rewards, (rewards - mean(rewards)) / (spread + eps))


@estimator
def reinforce_plus_plus(rewards: Tensor, lengths: Tensor, *, eps: float = 1e-8) -> Tensor:
    """Return A = (r - m_tok) / sqrt(v_tok + eps) (REINFORCE++, arXiv 2501.03262).

    m_tok and v_tok are mean and sample variance over the batch's trained tokens, each of which
    has its sequence's reward, so long answers weigh more.

    Args:
        rewards: (N, G).
        lengths: (N, G), in tokens.
        eps: as in verl.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import reinforce_plus_plus
        >>> reinforce_plus_plus(torch.tensor([[1.0, 0.0]]), lengths=torch.tensor([[10, 30]]))
        tensor([[ 1.7103, -0.5701]])
    """
    check_rewards(rewards)
    if not informative(rewards.reshape(1, -1)).any():
        return torch.zeros_like(rewards)
    weights = lengths.to(rewards).masked_fill(rewards.isnan(), 0.0)
    earned = rewards.nan_to_num(nan=0.0)
    total = weights.sum().clamp(min=1)
    centred = scored_only(rewards, rewards - (weights * earned).sum() / total)
    variance = (weights * centred.square()).sum() / (total - 1).clamp(min=1)
    return centred * (variance + eps).rsqrt()


def informative(rewards: Tensor) -> Tensor:
    """Return (N,), true where a group's scored rewards differ (DAPO, arXiv 2503.14476).

    DAPO's dynamic sampling draws until a batch is full of these; the others have no gradient.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import informative
        >>> informative(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        tensor([ True, False])
    """
    check_rewards(rewards)
    low = rewards.nan_to_num(nan=torch.inf).amin(1)
    high = rewards.nan_to_num(nan=-torch.inf).amax(1)
    return low < high


def overlong_penalty(lengths: Tensor, *, longest: int, buffer: int) -> Tensor:
    """Return what is added to the reward of an answer that long (DAPO, arXiv 2503.14476).

    0 up to ``longest - buffer`` tokens, from there falling linearly to -1 at ``longest``, and -1
    beyond.

    Args:
        lengths: (B,) or (N, G), in tokens.
        longest: L_max, where answers are cut off.
        buffer: L_cache, over how many tokens the penalty grows.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import overlong_penalty
        >>> overlong_penalty(torch.tensor([[60, 80, 120]]), longest=100, buffer=40)
        tensor([[ 0.0000, -0.5000, -1.0000]])
    """
    if not 0 < buffer <= longest:
        raise ConfigError(f"need 0 < buffer <= longest, got {buffer!r} and {longest!r}")
    dtype = lengths.dtype if lengths.is_floating_point() else torch.get_default_dtype()
    return ((longest - buffer - lengths.to(dtype)) / buffer).clamp(-1.0, 0.0)


def check_rewards(rewards: Tensor) -> None:
    """Raise `ConfigError` where rewards are not (N, G), not floats, or infinite.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import check_rewards
        >>> check_rewards(torch.tensor([1.0, 0.0]))
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.ConfigError: rewards are (groups, answers), got shape (2,)
    """
    if rewards.ndim != 2 or not rewards.numel():
        raise ConfigError(f"rewards are (groups, answers), got shape {tuple(rewards.shape)}")
    if not rewards.is_floating_point():
        raise ConfigError(f"rewards are floats, got {rewards.dtype}")
    if rewards.isinf().any():
        raise ConfigError("a reward is infinite; what could not be scored is NaN")


def count(rewards: Tensor) -> Tensor:
    """Return how many of each row are scored, (N, 1).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import count
        >>> count(torch.tensor([[1.0, 0.0, torch.nan]]))
        tensor([[2]])
    """
    return (~rewards.isnan()).sum(1, keepdim=True)


def mean(rewards: Tensor) -> Tensor:
    """Return the mean of each row, (N, 1), and of equal rewards exactly their value.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import mean
        >>> mean(torch.tensor([[1.0, 0.0, torch.nan]]))
        tensor([[0.5000]])
    """
    low = rewards.nan_to_num(nan=torch.inf).amin(1, keepdim=True)
    high = rewards.nan_to_num(nan=-torch.inf).amax(1, keepdim=True)
    return torch.where(low == high, low, rewards.nanmean(1, keepdim=True))


def deviation(rewards: Tensor) -> Tensor:
    """Return the sample standard deviation of each row, (N, 1), 0 where only one is scored.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import deviation
        >>> deviation(torch.tensor([[1.0, 0.0, 0.0, 1.0]]))
        tensor([[0.5774]])
    """
    squares = (rewards - mean(rewards)).square().nansum(1, keepdim=True)
    return (squares / (count(rewards) - 1).clamp(min=1)).sqrt()


def scored_only(rewards: Tensor, values: Tensor) -> Tensor:
    """Return the values, 0 where there is no reward.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.advantages import scored_only
        >>> scored_only(torch.tensor([[1.0, torch.nan]]), torch.tensor([[5.0, 5.0]]))
        tensor([[5., 0.]])
    """
    return values.masked_fill(rewards.isnan(), 0.0)
