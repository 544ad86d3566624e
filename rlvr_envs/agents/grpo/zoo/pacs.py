"""PACS (arXiv 2509.02522): outcomes as labels, which log-ratios learn to predict."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import check_rewards, informative, rloo
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.zoo.coupled import as_advantages
from rlvr_envs.core.errors import ConfigError


@estimator(compares=True)
def pacs(rewards: Tensor, log_ratios: Tensor, *, beta: float = 1.0, balance: bool = True) -> Tensor:
    """Return the advantages that give REINFORCE the gradient of `cross_entropy` (PACS).

    Belongs with the loss `reinforce` and the aggregation `sequence_sum`.
    """
    check_rewards(rewards)
    if beta <= 0:
        raise ConfigError(f"beta is above 0, got {beta!r}")
    found = as_advantages(
        lambda given: cross_entropy(given, rewards, beta=beta, balance=balance), log_ratios, rewards
    )
    # Equal labels cancel where nothing has moved: to the last bit, and not but for rounding.
    alike = ~informative(rewards) & ~informative(log_ratios.masked_fill(rewards.isnan(), torch.nan))
    return found.masked_fill(alike[:, None], 0.0)


def cross_entropy(
    log_ratios: Tensor, rewards: Tensor, *, beta: float = 1.0, balance: bool = True
) -> Tensor:
    """Return the cross-entropy of predicting which answers are right (PACS, arXiv 2509.02522).

    The logit of an answer is u less the mean u of the group's others, u = beta log_ratio. With
    ``balance``, right and wrong weigh the same in a group that has both, n / (2 n_c) an answer of
    class c. As in the authors' code, weighted terms are divided by the number of answers. A reward
    between 0 and 1 is a label in part, which belongs to both classes by its share.

    Args:
        log_ratios: (N, G), log(policy / policy that sampled) of whole answers.
        rewards: (N, G); labels are within [0, 1], and rewards beyond are brought there.
        beta: above 0.
        balance: whether to weigh the classes.
    """
    scored = ~rewards.isnan()
    # What is not scored is NaN there, takes no part in the means, and comes out as 0.
    logits = rloo((beta * log_ratios).masked_fill(~scored, torch.nan))
    labels = rewards.nan_to_num(nan=0.0).clamp(0, 1)
    weights = scored.to(logits)
    if balance:
        weights = weights * _balance(labels, scored)
    terms = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels.to(logits), weights, reduction="sum"
    )
    return terms / max(1, int(scored.sum()))


def _balance(labels: Tensor, scored: Tensor) -> Tensor:
    right, wrong = labels * scored, (1 - labels) * scored
    n_right, n_wrong = right.sum(1, keepdim=True), wrong.sum(1, keepdim=True)
    total = scored.sum(1, keepdim=True)
    weights = right * total / (2 * n_right) + wrong * total / (2 * n_wrong)
    return torch.where((n_right > 0) & (n_wrong > 0), weights, 1.0)


recipe(
    "pacs",
    "arXiv 2509.02522",
    differs="the number of minibatches is from memory of its scripts (1,024 problems, 256 at a "
    "time), which could not be opened again",
    estimator="pacs",
    loss="reinforce",
    aggregation="sequence_sum",
    group_size=8,
    minibatches=4,
)
