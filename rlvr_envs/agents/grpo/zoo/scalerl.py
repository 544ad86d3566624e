"""ScaleRL (arXiv 2510.13786): the recipe whose learning curves were extrapolated."""

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import informative, lite_ppo
from rlvr_envs.agents.grpo.credit import Credit
from rlvr_envs.agents.grpo.plugins import aggregation, estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True)
def scalerl(rewards: Tensor, *, eps: float = 1e-4) -> Credit:
    """Return Lite PPO's advantages, and leave out groups of equal rewards (ScaleRL, 2510.13786).

    What is left out counts in no denominator of the loss either, other than with `lite_ppo`.
    """
    kept = informative(rewards)[:, None].expand(rewards.shape)
    return Credit(lite_ppo(rewards, eps=eps), kept)


@aggregation
def prompt_mean(lengths: Tensor, groups: Tensor) -> Tensor:
    """Return 1 / (groups * tokens of the own group): every problem weighs the same (ScaleRL)."""
    names, row = groups.unique(return_inverse=True)
    tokens = lengths.new_zeros(len(names)).index_add(0, row, lengths)
    return 1 / (len(names) * tokens[row])


recipe(
    "scalerl",
    "arXiv 2510.13786",
    differs="learning follows sampling at once, in 8 minibatches, and not 8 steps behind; length "
    "is controlled by a penalty, since no answer is interrupted; problems that are solved in 9 of "
    "10 attempts return; not the head alone but all computes in float32",
    estimator="scalerl",
    loss="cispo(high=5.0)",
    aggregation="prompt_mean",
    group_size=16,
    overlong="penalty",
    bf16=False,
    minibatches=8,
)
