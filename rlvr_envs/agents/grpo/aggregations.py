"""Aggregations: how much each token of an episode weighs in the loss of an optimiser step.

The loss is sum_i w_i sum_t l_it over the step's episodes i and their trained tokens t, so it is the
same however the episodes are split into micro-batches and over workers. Each function is registered
under its own name and returns w, (B,). ``lengths`` (B,) are floats, in trained tokens, at least 1;
``groups`` (B,) are numbers of which only their being equal matters; ``advantages`` (B,) are those
of episodes; ``longest`` is the most tokens that an action may have.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.plugins import aggregation


@aggregation
def token_mean(lengths: Tensor) -> Tensor:
    """Return 1 / all tokens (DAPO, arXiv 2503.14476; TRL's "bnpo").

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.aggregations import token_mean
        >>> token_mean(torch.tensor([2.0, 6.0]))
        tensor([0.1250, 0.1250])
    """
    return torch.full_like(lengths, 1 / float(lengths.sum()))


@aggregation
def sequence_mean(lengths: Tensor) -> Tensor:
    """Return 1 / (B * own tokens): long answers' tokens weigh less (GRPO, arXiv 2402.03300).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.aggregations import sequence_mean
        >>> sequence_mean(torch.tensor([2.0, 5.0]))
        tensor([0.2500, 0.1000])
    """
    return 1 / (lengths * len(lengths))


@aggregation
def sequence_sum(lengths: Tensor) -> Tensor:
    """Return 1 / B: the mean over episodes of their tokens' sum.

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.aggregations import sequence_sum
        >>> sequence_sum(torch.tensor([2.0, 6.0]))
        tensor([0.5000, 0.5000])
    """
    return torch.full_like(lengths, 1 / len(lengths))


@aggregation
def constant_length(lengths: Tensor, longest: int) -> Tensor:
    """Return 1 / (B * longest), longest a constant of the run (Dr. GRPO, arXiv 2503.20783).

    Examples:
        >>> import torch
        >>> from rlvr_envs.agents.grpo.aggregations import constant_length
        >>> constant_length(torch.tensor([2.0, 6.0]), longest=10)
        tensor([0.0500, 0.0500])
    """
    return torch.full_like(lengths, 1 / (len(lengths) * longest))
