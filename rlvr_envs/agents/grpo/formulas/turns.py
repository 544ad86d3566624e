"""Episodes of several turns: what each turn is worth, ratios of turns, and which episodes count.

K is the number of turns of the longest episode; an episode's turns count from 0. ``turns`` (B, T)
says to which turn a token belongs, and is -1 at what the model did not write. `trloo`, which also
tells turns apart, is in `advantage`.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.formulas import loss
from rlvr_envs.core.errors import ConfigError

EXPERIMENTAL = ("information_gains", "a2tgpo", "turn_clipped", "over_turn", "void_turn")


def spread_turns(values: Tensor, turns: Tensor) -> Tensor:
    """Return each token's turn's value, (B, T), and 0 where it has none.

    Args:
        values: (B, K).
        turns: (B, T), integers.
    """
    return values.gather(1, turns.clamp(min=0)).masked_fill(turns < 0, 0.0)


def turn_ratio(logp: Tensor, old: Tensor, mask: Tensor, turns: Tensor) -> Tensor:
    """Return each turn's ratio at all of its tokens, (B, T), and 1 outside the mask.

    It is `loss.sequence_ratio` for each turn by itself: exp of the mean log-ratio of its tokens.
    With one turn it is the same.
    """
    inside = mask.bool() & (turns >= 0)
    place = turns.clamp(min=0)
    empty = logp.new_zeros(len(turns), int(place.max()) + 1 if place.numel() else 1)
    sums = empty.scatter_add(1, place, loss.k1(logp, old, inside))
    counts = empty.scatter_add(1, place, inside.to(empty)).clamp(min=1)
    means = (sums / counts).clamp(-loss.LOG_RATIO_LIMIT, loss.LOG_RATIO_LIMIT)
    return spread_turns(means, turns.masked_fill(~inside, -1)).exp()


def information_gains(beliefs: Tensor) -> Tensor:
    """Return p_k - p_(k-1), what each turn added to the solution's probability; experimental.

    IGPO (arXiv 2510.14967) has it as the reward of every turn but the last, which has the outcome.
    By reports p is the geometric mean over the solution's tokens, each given those before it.

    Args:
        beliefs: (..., K + 1), the policy's mean log-probability of a token of the solution before
            the first turn and after each; NaN after an episode's end.

    Returns:
        (..., K), NaN where there was no turn. No gradient goes through it.
    """
    return beliefs.detach().exp().diff(dim=-1)


def a2tgpo(
    gains: Tensor,
    outcome: Tensor,
    *,
    discount: float = 1.0,
    weight: float = 0.3,
    widening: float = 0.3,
    eps: float = 1e-6,
) -> tuple[Tensor, Tensor]:
    """Return each turn's advantage and the scale of its clipping range (A2TGPO, 2605.06200).

    z is a turn's gain, normalised over the group's trajectories at the same turn. From turn k of n,
    D_k = sum_(j >= k) discount^(j - k) z_j / sqrt(n - k); then A_k = outcome + weight D_k, and the
    scale is 1 + widening (2 sigmoid(z_k) - 1). Experimental: from a report that quotes the code.

    Args:
        gains: (N, G, K), such as `information_gains`; NaN where a trajectory had ended.
        outcome: (N, G), advantages of whole trajectories.
        discount: from 0 to 1.
        weight: of D.
        widening: how much of the clipping range a turn may gain or lose.
        eps: added to the standard deviation (sample).

    Returns:
        (N, G, K) advantages, 0 where there was no turn, and (N, G, K) scales, there 1.
    """
    if gains.ndim != 3 or outcome.shape != gains.shape[:2]:
        raise ConfigError(
            "need gains (N, G, K) and outcome (N, G), got "
            f"{tuple(gains.shape)} and {tuple(outcome.shape)}"
        )
    if not (0 <= discount <= 1 and 0 <= widening < 1):
        raise ConfigError(
            f"discount is from 0 to 1 and widening under 1, got {discount!r} and {widening!r}"
        )
    alive = ~gains.isnan()
    centred = (gains - gains.nanmean(1, keepdim=True)).masked_fill(~alive, 0.0)
    others = (alive.sum(1, keepdim=True) - 1).clamp(min=1)
    z = centred / ((centred.square().sum(1, keepdim=True) / others).sqrt() + eps)
    to_go = z.clone()
    for turn in range(gains.shape[2] - 2, -1, -1):
        to_go[..., turn] += discount * to_go[..., turn + 1]
    remaining = alive.flip(-1).cumsum(-1).flip(-1).clamp(min=1)
    advantages = outcome[..., None] + weight * to_go / remaining.to(gains).sqrt()
    return advantages.masked_fill(~alive, 0.0), 1 + widening * (2 * z.sigmoid() - 1)


def turn_clipped(
    ratio: Tensor, advantages: Tensor, scales: Tensor, *, low: float = 0.2, high: float = 0.2
) -> Tensor:
    """Return `loss.clipped` with each token's range times its scale; experimental (A2TGPO).

    Args:
        ratio: (B, T), of `turn_ratio`.
        advantages: (B, T), of `spread_turns`.
        scales: (B, T), of `spread_turns`.
        low: how far below 1 the ratio counts at a scale of 1.
        high: the same above 1.
    """
    if not (0 <= low <= 1 and high >= 0):
        raise ConfigError(f"need low from 0 to 1 and high from 0, got {low!r} and {high!r}")
    bounded = ratio.clamp(1 - low * scales, 1 + high * scales)
    return -torch.minimum(ratio * advantages, bounded * advantages)


def over_turn(turns: Tensor, finished: Tensor, *, most: int) -> Tensor:
    """Return (B,), false for episodes that ran out of turns (Mini-o3); experimental.

    Mini-o3 does not train on them, so that needing many turns is not punished, and later more turns
    than ``most`` may be allowed. Leave what is false out of the loss, not of the group's
    statistics; the abstract does not say more.

    Args:
        turns: (B,), how many an episode had.
        finished: (B,), whether it came to its end by itself.
        most: the limit of turns.
    """
    return finished.bool() | (turns < most)


def void_turn(complete: Tensor, alive: Tensor) -> Tensor:
    """Return (B,), false for episodes with a void turn (SimpleTIR); experimental.

    A turn is void if it has neither a complete call of a tool nor a final answer. SimpleTIR does
    not train on episodes that have one.

    Args:
        complete: (B, K), whether a turn has one of these.
        alive: (B, K), whether there was a turn.
    """
    return (complete.bool() | ~alive.bool()).all(1)
