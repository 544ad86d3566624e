"""EPO (arXiv 2509.22576): an entropy bonus, and a band around the entropy so far."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.losses import clipped
from rlvr_envs.agents.grpo.plugins import callback, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError

_HISTORY = "entropy_so_far"


@loss(always=True, entropy_gradient=True)
def epo(  # noqa: PLR0913 - five inputs, seven settings
    ratio: Tensor,
    advantages: Tensor,
    entropy: Tensor,
    step: int,
    info: Callable[[str], Tensor],
    *,
    bonus: float = 0.001,
    smooth: float = 0.1,
    least: float = 0.8,
    most: float = 1.2,
    decay: int = 100,
    low: float = 0.2,
    high: float = 0.28,
) -> Tensor:
    """Return `clipped` - bonus (H - b smooth d), d how far H leaves least to most times its past.

    b falls from 2 to 1 over about ``decay`` steps. The past is the mean entropy of all steps
    before, which the callback `entropy_history` tells; without one there is no band (EPO).
    """
    if not 0 <= least <= 1 <= most or decay < 1:
        raise ConfigError(
            f"need 0 <= least <= 1 <= most and decay >= 1, got {least!r}, {most!r}, {decay!r}"
        )
    before = info(_HISTORY).to(entropy)[:, None]
    outside = (entropy - most * before).clamp(min=0) + (least * before - entropy).clamp(min=0)
    phase = 1 + math.exp(-step / decay)
    pull = entropy - phase * smooth * torch.where(before.isnan(), 0.0, outside)
    return clipped(ratio, advantages, low=low, high=high) - bonus * pull


@callback(name="entropy_history")
class EntropyHistory(Callback):
    """Tells each episode the mean entropy of the steps before, in nats a token."""

    def __init__(self) -> None:
        self._steps, self._mean = 0, math.nan

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Tell it."""
        for episode in episodes:
            episode.info[_HISTORY] = self._mean
        return episodes

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Add what was measured, where anything was."""
        entropy = numbers.get("entropy/exact", math.nan)
        if not math.isnan(entropy):
            so_far = 0.0 if self._steps == 0 else self._mean
            self._steps += 1
            self._mean = so_far + (entropy - so_far) / self._steps

    def state_dict(self) -> dict[str, Any]:
        """Return the mean and of how many steps it is."""
        return {"steps": self._steps, "mean": self._mean if self._steps else None}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from them."""
        self._steps = state["steps"]
        self._mean = math.nan if state["mean"] is None else state["mean"]


recipe(
    "epo",
    "EPO, arXiv 2509.22576",
    differs="from reports: what leaves the band pays by how far, so that it has a gradient; "
    "weights, the schedule of the phase and the number of minibatches are not known",
    estimator="grpo",
    loss="epo",
    callbacks=("entropy_history",),
    minibatches=4,
)
