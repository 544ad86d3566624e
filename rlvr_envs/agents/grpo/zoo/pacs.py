"""PACS (arXiv 2509.02522): outcomes as labels, which log-ratios learn to predict."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, rloo, scored_only
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@estimator(compares=True)
def pacs(rewards: Tensor, log_ratios: Tensor, *, beta: float = 1.0, balance: bool = True) -> Tensor:
    """Return the advantages by which REINFORCE predicts what is right (PACS, arXiv 2509.02522).

    The loss is the mean over answers of w BCE(l, r), where an answer's logit l is u less the mean u
    of the group's others, u = beta log_ratio. With ``balance``, right and wrong weigh the same in a
    group that has both: w = n / (2 n_c) for the n_c answers of a class. Its gradient is that of
    -A log_ratio with A = beta (g - mean of the others' g), g = w (r - sigmoid(l)). Belongs with the
    loss `reinforce` and the aggregation `sequence_sum`.

    A reward between 0 and 1 is a label in part, which belongs to both classes by its share; what is
    beyond is brought there.

    Args:
        rewards: (N, G).
        log_ratios: (N, G), log(policy / policy that sampled) of whole answers.
        beta: above 0.
        balance: whether to weigh the classes.
    """
    check_rewards(rewards)
    if beta <= 0:
        raise ConfigError(f"beta is above 0, got {beta!r}")
    logits = rloo((beta * log_ratios).masked_fill(rewards.isnan(), torch.nan))
    labels = rewards.clamp(0, 1)  # where NaN stays NaN, and takes no part
    gaps = labels - logits.sigmoid()
    if balance:
        gaps = gaps * _weights(labels)
    return scored_only(rewards, beta * rloo(gaps))


def _weights(labels: Tensor) -> Tensor:
    """Return the weights of answers by class, 1 in groups of one class."""
    right, wrong = labels.nansum(1, keepdim=True), (1 - labels).nansum(1, keepdim=True)
    half = (right + wrong) / 2
    weights = labels * half / right + (1 - labels) * half / wrong
    return torch.where((right > 0) & (wrong > 0), weights, torch.ones_like(weights))


recipe(
    "pacs",
    "arXiv 2509.02522",
    differs="the number of minibatches is from memory of its scripts (1,024 problems, 256 at a "
    "time), not checked again",
    estimator="pacs",
    loss="reinforce",
    aggregation="sequence_sum",
    group_size=8,
    minibatches=4,
)
