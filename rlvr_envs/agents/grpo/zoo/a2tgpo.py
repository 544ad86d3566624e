"""A²TGPO (arXiv 2605.06200): gains compared turn by turn, and clipping that follows them."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import count, deviation, grpo, mean
from rlvr_envs.agents.grpo.credit import Credit
from rlvr_envs.agents.grpo.losses import LOG_RATIO_LIMIT, difference
from rlvr_envs.agents.grpo.plugins import estimator, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.zoo.igpo import information_gains
from rlvr_envs.agents.grpo.zoo.trloo import returns_to_go
from rlvr_envs.core.errors import ConfigError


@estimator(compares=True, level="turn", scales=True)
def a2tgpo(  # noqa: PLR0913 - three inputs, four settings
    rewards: Tensor,
    agents: Tensor,
    beliefs: Tensor,
    *,
    discount: float = 1.0,
    weight: float = 0.3,
    widening: float = 0.3,
    eps: float = 1e-6,
) -> Credit:
    """Return each turn's advantage and the scale of its clipping range (A²TGPO, 2605.06200).

    z is a turn's information gain, normalised over the group's trajectories at the same turn. From
    turn k of n, D_k = sum_(j >= k) discount^(j - k) z_j / sqrt(n - k); then A_k = GRPO's advantage
    + weight D_k, and the scale is 1 + widening (2 sigmoid(z_k) - 1).

    Args:
        rewards: (N, G), of whole episodes.
        agents: (N, G, K), -1 where there was no turn.
        beliefs: (N, G, K + 1), of the policy.
        discount: from 0 to 1.
        weight: of D.
        widening: how much of the clipping range a turn may gain or lose, below 1.
        eps: added to the standard deviation (sample) of gains.

    Returns:
        (N, G, K) advantages, 0 where there was no turn, and (N, G, K) scales, there 1.
    """
    if not 0 <= widening < 1:
        raise ConfigError(f"widening is from 0 and under 1, got {widening!r}")
    alive = (agents >= 0) & ~rewards.isnan()[..., None]
    gains = information_gains(beliefs, alive)
    rows = gains.transpose(1, 2).flatten(0, 1)
    z = torch.where(count(rows) > 1, (rows - mean(rows)) / (deviation(rows) + eps), 0.0)
    z = z.nan_to_num(nan=0.0).unflatten(0, (-1, gains.shape[2])).transpose(1, 2)
    left = alive.flip(-1).cumsum(-1).flip(-1).clamp(min=1)
    advantages = grpo(rewards)[..., None] + weight * returns_to_go(z, discount) / left.sqrt()
    scales = 1 + widening * (2 * z.sigmoid() - 1)
    return Credit(advantages.masked_fill(~alive, 0.0), scales=scales)


@loss(name="a2tgpo")
def turn_clipped(  # noqa: PLR0913 - six inputs, two settings
    logp: Tensor,
    old: Tensor,
    mask: Tensor,
    turns: Tensor,
    advantages: Tensor,
    scales: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.2,
) -> Tensor:
    """Return `clipped` of turns' ratios, each range times its turn's scale (A²TGPO)."""
    if not (0 <= low <= 1 and high >= 0):
        raise ConfigError(f"need low from 0 to 1 and high from 0, got {low!r} and {high!r}")
    ratio = turn_ratio(logp, old, mask, turns)
    bounded = ratio.clamp(1 - low * scales, 1 + high * scales)
    return -torch.minimum(ratio * advantages, bounded * advantages)


def turn_ratio(logp: Tensor, old: Tensor, mask: Tensor, turns: Tensor) -> Tensor:
    """Return each turn's ratio at all of its tokens, (B, T), and 1 outside the mask.

    It is `losses.sequence_ratio` for each turn by itself: exp of the mean log-ratio of its tokens.
    With one turn it is the same.
    """
    inside = mask.bool() & (turns >= 0)
    place = turns.clamp(min=0)
    empty = logp.new_zeros(len(turns), int(place.max()) + 1)
    sums = empty.scatter_add(1, place, difference(logp, old, inside))
    counts = empty.scatter_add(1, place, inside.to(empty)).clamp(min=1)
    means = (sums / counts).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    return means.gather(1, place).masked_fill(~inside, 0.0).exp()


recipe(
    "a2tgpo",
    "arXiv 2605.06200",
    differs="from a report that quotes its code; the clipping range at scale 1 and the number of "
    "minibatches are not known",
    estimator="a2tgpo",
    loss="a2tgpo",
    minibatches=4,
)
