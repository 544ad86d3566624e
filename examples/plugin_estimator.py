"""An estimator of your own, outside of the package: advantages by rank.

    rlvr train --plugin examples/plugin_estimator.py --estimator "by_rank(power=2.0)" \
        --tasks Derivative-v0 --warm-start 70 --learning-rate 5e-4 --max-tokens 16

It is handed what its parameters are named after, here the rewards (N, G) of N groups of G episodes,
NaN where one was not scored. What comes after the star are its settings.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.trial import gradient, made_up


@estimator(compares=True)
def by_rank(rewards: Tensor, *, power: float = 1.0) -> Tensor:
    """Return the share of the group that an episode beats, less the share that beats it.

    So only the order of rewards counts. With ``power`` above 1, the ends count more.
    """
    beats = (rewards[:, :, None] > rewards[:, None]).float().sum(2)
    loses = (rewards[:, :, None] < rewards[:, None]).float().sum(2)
    others = (~rewards.isnan()).sum(1, keepdim=True).sub(1).clamp(min=1)
    share = (beats - loses) / others
    return share.sign() * share.abs() ** power


if __name__ == "__main__":
    print(by_rank(torch.tensor([[0.0, 0.2, 0.9, 1.0]]), power=2.0))
    config = preset(estimator="by_rank")  # a configuration knows it as soon as it is registered
    slope, _ = gradient(config, [made_up(0, score) for score in (0.0, 0.2, 0.9, 1.0)])
    print(f"the gradient of four made-up episodes has {int((slope != 0).sum())} numbers")
