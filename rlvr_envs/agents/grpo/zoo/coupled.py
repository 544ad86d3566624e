"""Losses over whole groups, which join all answers of one, as advantages of REINFORCE.

Such a loss f is a number made of one score for each answer. Its gradient is
sum_i (df / ds_i) grad s_i, so REINFORCE with the advantages -df / ds_i has it, in micro-batches of
any size. Advantages are then those of the weights as they are: an estimator that takes
``log_ratios`` or ``mean_logps`` is called again at every update.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def as_advantages(objective: Callable[[Tensor], Tensor], scores: Tensor, rewards: Tensor) -> Tensor:
    """Return -n times the gradient of an objective by the scores, n the number of scored answers.

    With it the mean over answers, of `sequence_sum` for scores that are sums over tokens and of
    `sequence_mean` for means, has the objective's own gradient.

    Args:
        objective: a scalar of scores (N, G).
        scores: (N, G).
        rewards: (N, G), NaN for what was not scored, which gets 0.
    """
    point = scores.detach().requires_grad_()
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(objective(point), point)
    scored = ~rewards.isnan()
    return (-slope * scored.sum()).masked_fill(~scored, 0.0)
