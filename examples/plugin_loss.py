"""A loss of your own, outside of the package: a ratio that is held back smoothly.

    rlvr train --plugin examples/plugin_loss.py --loss "leashed(width=0.3)" --minibatches 4 \
        --tasks Derivative-v0 --warm-start 70 --learning-rate 5e-4 --max-tokens 16

It is handed what its parameters are named after, (B, T) for B episodes of T tokens, and returns the
loss of each token; how they are averaged is the aggregation's business. A second result may name
what to measure.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.trial import gradient, made_up
from rlvr_envs.core.errors import ConfigError


@loss
def leashed(
    ratio: Tensor, advantages: Tensor, *, width: float = 0.2
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return -A width tanh((r - 1) / width): the gradient fades instead of being cut off."""
    if width <= 0:
        raise ConfigError(f"width is above 0, got {width!r}")
    held = width * torch.tanh((ratio - 1) / width)
    return -advantages * held, {"held": (ratio - 1 - held).abs()}


if __name__ == "__main__":
    ratio = torch.tensor([[0.5, 1.0, 1.5]], requires_grad=True)
    losses, _ = leashed(ratio, torch.ones(1, 1))
    losses.sum().backward()
    print("slopes at ratios 0.5, 1 and 1.5:", ratio.grad)
    _, measured = gradient(preset(loss="leashed"), [made_up(0, score) for score in (0.0, 1.0)])
    print(f"a mean of {measured['loss/held']:.3f} of the ratio was held back")
