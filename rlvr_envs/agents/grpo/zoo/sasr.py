"""SASR (arXiv 2505.13026): a supervised step or one of RL, by how much is left to imitate."""

import math
from collections.abc import Mapping
from typing import Any

from rlvr_envs.agents.grpo.callbacks import demonstration
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.learner import imitate
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream


@callback(name="sasr")
class StepwiseAdaptive(Callback):
    """Imitates the oracle on a step's problems, instead of learning by rewards, with chance p.

    p = g / (g + gamma g0), g the length of the last supervised gradient and g0 that of the first
    ``first`` steps, which are all supervised: as long as gradients are as long as at the start,
    there is much to imitate.
    """

    def __init__(self, *, first: int = 10, gamma: float = 1.0, worked: bool = True) -> None:
        """Take the supervised steps at the start, and how g0 counts beside g."""
        if first < 1 or gamma <= 0:
            raise ConfigError(f"first is from 1 and gamma above 0, got {first!r} and {gamma!r}")
        self._first, self._gamma, self._worked = first, gamma, worked
        self._start, self._last, self._done = 0.0, math.nan, 0
        self._given: list[Episode] = []
        self._measured: dict[str, float] = {}

    def chance(self) -> float:
        """Return p."""
        if self._done < self._first or not self._start:
            return 1.0
        return self._last / (self._last + self._gamma * self._start)

    def on_group(self, run: Run, group: Group) -> None:
        """Have the oracle answer the problem."""
        given = demonstration(run, group, worked=self._worked)
        self._given += [] if given is None else [given]

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Take the supervised step, and leave nothing for the other; or the other way round."""
        given, self._given = self._given, []
        chance = self.chance()
        self._measured = {"sasr/chance": chance}
        if not given or stream("sasr", run.config.seed, run.step).random() >= chance:
            return episodes
        measured = imitate(run.learner, given)
        if not math.isnan(length := measured["grad_norm"]):
            self._last = length
            if self._done < self._first:
                self._start += (length - self._start) / (self._done + 1)
            self._done += 1
        self._measured |= measured
        return []

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Log p, and what was measured of a supervised step."""
        numbers |= self._measured

    def state_dict(self) -> dict[str, Any]:
        """Return the lengths of gradients."""
        last = None if math.isnan(self._last) else self._last
        return {"start": self._start, "last": last, "done": self._done}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from them."""
        self._start, self._done = state["start"], state["done"]
        self._last = math.nan if state["last"] is None else state["last"]


recipe(
    "sasr",
    "SASR, arXiv 2505.13026",
    differs="demonstrations are the oracle's; gamma and the number of first steps are not known",
    estimator="grpo",
    loss="clipped(high=0.2)",
    callbacks=("sasr",),
)
