"""ALP: noise in the layers while learning, so that the policy holds around its weights, too."""

from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.model.policy import unwrapped
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError


@callback(name="layer_noise")
class LayerNoise(Callback):
    """Adds noise to what each layer reads, in the forward passes that gradients go through.

    The old log-probabilities are those of the model without noise, so that ratios tell how far
    noise and updates together move an answer: it takes more than one update a step (ALP).
    """

    def __init__(self, *, scale: float = 0.01) -> None:
        """Take the noise's deviation, as a share of the root mean square of what a layer reads."""
        if scale <= 0:
            raise ConfigError(f"scale is above 0, got {scale!r}")
        self._scale, self._hooks = scale, list[Any]()

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Hook into the layers, once."""
        if run.config.updates < 2:
            raise ConfigError(
                "layer_noise compares with the policy without noise, which is computed with more "
                "than one update a step: raise minibatches or epochs"
            )
        if not self._hooks:
            decoder = unwrapped(run.learner.model).get_decoder()
            self._hooks = [layer.register_forward_pre_hook(self._add) for layer in decoder.layers]
        return episodes

    def _add(self, layer: torch.nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if not (layer.training and torch.is_grad_enabled() and inputs):
            return None
        states: Tensor = inputs[0]
        size = states.detach().float().square().mean(-1, keepdim=True).sqrt().to(states)
        return (states + self._scale * size * torch.randn_like(states), *inputs[1:])

    def on_end(self, run: Run) -> None:
        """Take the noise out."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []


recipe(
    "alp",
    "ALP: adaptive layerwise perturbation",
    differs="by its abstract: the noise has the same scale in all layers, and is not learned; the "
    "scale and the number of minibatches are not known",
    estimator="grpo",
    callbacks=("layer_noise",),
    minibatches=4,
)
