"""Further advantages: shifted baselines, penalties on confidence, and credit along a prefix tree.

Conventions are those of `advantage`: (N, G), and NaN for a reward that could not be scored.
"""

from typing import Literal

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.formulas.advantage import dr_grpo
from rlvr_envs.core.errors import ConfigError

EXPERIMENTAL = ("ace", "tempo")


def asym_re(rewards: Tensor, *, shift: float = -0.1) -> Tensor:
    """Return A = r - (m + shift) (AsymRE, arXiv 2506.20520, as in Trinity-RFT).

    A shift below 0 learns more from successes than from failures: it is Dr. GRPO with a pull
    towards the policy that sampled.
    """
    return (dr_grpo(rewards) - shift).masked_fill(rewards.isnan(), 0.0)


def ace(
    advantages: Tensor,
    shifts: Tensor,
    *,
    alpha: float = 1.0,
    form: Literal["softplus", "relu"] = "softplus",
) -> Tensor:
    """Return A (1 + alpha phi(c)) where A < 0, and A elsewhere (ACE, arXiv 2602.21420).

    Experimental: phi and alpha are from others' reports, of which one prefers softplus. So wrong
    answers that training has made likelier are pushed away harder.

    Args:
        advantages: (B,) or (N, G).
        shifts: c, in the same shape: log(policy / reference) of each answer. No gradient goes
            through it. It grows with the answer's length unless it is divided by it.
        alpha: from 0.
        form: of phi; relu leaves alone what has become less likely.
    """
    if advantages.shape != shifts.shape:
        raise ConfigError(
            "advantages and shifts have one shape, got "
            f"{tuple(advantages.shape)} and {tuple(shifts.shape)}"
        )
    if form not in ("softplus", "relu") or alpha < 0:
        raise ConfigError(f"form is softplus or relu and alpha from 0, got {form!r} and {alpha!r}")
    phi = torch.nn.functional.softplus if form == "softplus" else torch.relu
    return torch.where(advantages < 0, advantages * (1 + alpha * phi(shifts.detach())), advantages)


def tempo(rewards: Tensor, tokens: Tensor, attention: Tensor, *, eps: float = 1e-4) -> Tensor:
    """Return A_t = (r - m + V_t - V_(t-1)) / (s + eps) per token (TEMPO, arXiv 2509.18314).

    V_t is the mean reward of the group's answers that begin with the same tokens up to t, and m
    before the first: so only tokens at which answers part differ from GRPO. Experimental: the
    abstract gives V and the sum, and the division of both terms by s is from a review of the paper.

    It compares all pairs of a group, and so holds N * G * G * T numbers.

    Args:
        rewards: (N, G).
        tokens: (N, G, T), ids; prompts may be among them.
        attention: (N, G, T), true but at padding, which is on the right.
        eps: as in `advantage.grpo`.

    Returns:
        (N, G, T), 0 at padding, and everywhere where an answer was not scored.
    """
    if tokens.shape != attention.shape or tokens.shape[:2] != rewards.shape or tokens.ndim != 3:
        raise ConfigError(
            "need rewards (N, G), tokens (N, G, T) and attention (N, G, T), got "
            f"{tuple(rewards.shape)}, {tuple(tokens.shape)} and {tuple(attention.shape)}"
        )
    scored = ~rewards.isnan()
    here = attention.bool()
    same = (tokens[:, :, None] == tokens[:, None]) & here[:, :, None] & here[:, None]
    same = same.cumprod(-1).bool() & scored[:, None, :, None]
    earned = rewards.nan_to_num(nan=0.0)[:, None, :, None]
    values = (same * earned).sum(2) / same.sum(2).clamp(min=1)
    start = rewards.nanmean(1, keepdim=True)[..., None].expand(*rewards.shape, 1)
    steps = values.diff(dim=-1, prepend=start)
    centred = dr_grpo(rewards)
    others = (scored.sum(1, keepdim=True) - 1).clamp(min=1)
    spread = (centred.square().sum(1, keepdim=True) / others).sqrt()
    credit = (centred[..., None] + steps) / (spread[..., None] + eps)
    return credit.masked_fill(~(here & scored[..., None]), 0.0)
