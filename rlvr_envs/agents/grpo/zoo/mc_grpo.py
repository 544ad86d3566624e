"""MC-GRPO: the median instead of the mean, for small groups."""

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, count, scored_only
from rlvr_envs.agents.grpo.credit import Credit
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True, odd=True)
def mc_grpo(rewards: Tensor, *, eps: float = 1e-3, limit: float = 4.0) -> Credit:
    """Return A = (r - median) / (MAD + eps), and no gradient for the pivot (MC-GRPO).

    Of an odd number of answers, the first at the median is the pivot, which is dropped. As in the
    authors' code, advantages other than 0 are then multiplied by n / their number, for n scored
    answers.

    Where more than half of the rewards agree, as 0/1 rewards mostly do, the MAD is 0 and an
    advantage is up to 1 / eps times the reward's distance; ``limit``, which is not the paper's,
    bounds |A| before the multiplication.
    """
    check_rewards(rewards)
    median = rewards.nanmedian(1, keepdim=True).values
    distance = rewards - median
    mad = distance.abs().nanmedian(1, keepdim=True).values
    advantages = scored_only(rewards, distance / (mad + eps)).clamp(-limit, limit)
    moved = (advantages != 0).sum(1, keepdim=True).clamp(min=1)
    pivot = (rewards == median).int().argmax(1, keepdim=True)
    kept = (~rewards.isnan()).scatter(1, pivot, value=False)
    return Credit(advantages * count(rewards) / moved, kept)


recipe(
    "mc_grpo",
    "MC-GRPO: Median-Centered Group Relative Policy Optimization",
    differs="advantages are bounded at 4 where the deviation from the median is 0; the number of "
    "minibatches is not known",
    estimator="mc_grpo",
    group_size=9,
    minibatches=4,
)
