"""What a problem or a hint is worth for training, from how training went on it."""

import torch
from torch import Tensor

from rlvr_envs.core.errors import ConfigError

EXPERIMENTAL: tuple[str, ...] = ()


def learning_impact(solved: Tensor) -> Tensor:
    """Return 1 - sum_k (a_k - m_k)^2 / sum_k (1 - m_k)^2 of each problem, (P,) (LIMR, 2502.11886).

    a_k is how often a problem was solved in epoch k, and m_k the mean of all problems. A problem
    that goes along with the mean has 1; LIMR keeps those above a threshold. Where all problems are
    always solved nothing can be told apart, and all have 1.

    Args:
        solved: (P, K), P problems and K epochs, from 0 to 1.
    """
    if solved.ndim != 2 or not solved.numel():
        raise ConfigError(f"shares of solved are (problems, epochs), got {tuple(solved.shape)}")
    mean = solved.mean(0)
    apart = (solved - mean).square().sum(1)
    scale = (1 - mean).square().sum()
    return 1 - torch.where(scale > 0, apart / scale.clamp(min=1e-12), apart)


def hint_transfer(hinted: Tensor, plain: Tensor, *, scale: float = 0.3) -> Tensor:
    """Return exp(-max(hinted - plain, 0) / scale), how far a hinted answer carries over (HiLL).

    The difference is the answer's reliance on the hint. The reward of who writes the hints is the
    variance that a hint leaves within the group, times the mean of these weights.

    Args:
        hinted: mean log-probability of a token of a right answer, given the problem and the hint.
        plain: the same given the problem alone.
        scale: above 0.
    """
    if scale <= 0:
        raise ConfigError(f"scale is above 0, got {scale!r}")
    return ((plain - hinted).clamp(max=0) / scale).exp()
