"""A horizon that grows in stages (ScalingInter-RL, of AgentGym-RL)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import Arm, is_count, need_counts
from rlvr_envs.curricula.base import Curriculum, Problem, Proposal
from rlvr_envs.curricula.nested import Nested


class GrowingHorizon(Nested):
    """Lets episodes have more turns, stage by stage.

    The published schedule goes by training steps alone: after t steps the horizon is
    ``stages[min(t // steps_per_stage, len(stages) - 1)]``, with stages (10, 20, 30) and 100 steps.
    Short episodes first teach to use few calls well; longer ones then let the agent explore.
    (The repository counts the running step from 1, so its first stage is one step shorter.)

    With ``promote_at`` a stage also ends by success: as soon as the mean score of its last
    ``window`` steps is at least that. ``steps_per_stage=None`` leaves it to success alone. Steps
    in which nothing was recorded do not count into the window.

    Tasks and difficulties are those of the curriculum ``over``. Without one, give the horizon to an
    environment with ``Horizon(env, curriculum.horizon)``.

    Args:
        stages: the horizons, each longer than the one before.
        steps_per_stage: the most training steps that a stage has; None for no limit.
        promote_at: the mean score, in (0, 1], that ends a stage early; None for no such rule.
        window: the steps over which the mean is taken.
        over: the curriculum that says what is posed; None leaves it to others.

    Raises:
        ConfigError: an argument is out of range, or nothing would ever end a stage.

    Examples:
        >>> from rlvr_envs.curricula import GrowingHorizon
        >>> curriculum = GrowingHorizon((5, 10), steps_per_stage=1)
        >>> curriculum.horizon()
        5
        >>> curriculum.end_step()
        >>> curriculum.horizon()
        10
    """

    def __init__(
        self,
        stages: Sequence[int] = (10, 20, 30),
        *,
        steps_per_stage: int | None = 100,
        promote_at: float | None = None,
        window: int = 10,
        over: Curriculum | None = None,
    ) -> None:
        self.stages = tuple(stages)
        if not self.stages or not all(is_count(stage) for stage in self.stages):
            raise ConfigError(f"stages are integers from 1, at least one; got {stages!r}")
        if any(later <= earlier for earlier, later in pairwise(self.stages)):
            raise ConfigError(
                f"each stage has a longer horizon than the one before; got {stages!r}"
            )
        if steps_per_stage is not None and not is_count(steps_per_stage):
            raise ConfigError(f"steps_per_stage is an integer from 1, got {steps_per_stage!r}")
        if promote_at is not None and not 0 < promote_at <= 1:
            raise ConfigError(f"promote_at is in (0, 1], got {promote_at!r}")
        if not is_count(window):
            raise ConfigError(f"window is an integer from 1, got {window!r}")
        if steps_per_stage is None and promote_at is None:
            raise ConfigError("no stage would ever end: give steps_per_stage, promote_at or both")
        self.steps_per_stage = steps_per_stage
        self.promote_at = promote_at
        self.window = window
        self._stage = 0
        self._steps = 0  # since the stage began
        self._scores: list[float] = []  # of the running step
        self._means: deque[float] = deque(maxlen=window)  # of the stage's last steps
        super().__init__(over, 0, {"stages": self.stages})

    @property
    def stage(self) -> int:
        """The number of the running stage, from 0."""
        return self._stage

    def horizon(self) -> int:
        """Return how many turns an episode has that begins now."""
        return self.stages[self._stage]

    def propose(self) -> Proposal:
        """Return what the inner curriculum proposes, with the horizon."""
        return replace(super().propose(), horizon=self.horizon())

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        self._scores += scores

    def _finish(self) -> None:
        self._steps += 1
        if self._scores:
            self._means.append(sum(self._scores) / len(self._scores))
            self._scores = []
        last = self._stage == len(self.stages) - 1
        if not last and (self._out_of_time() or self._mastered()):
            self._stage += 1
            self._steps = 0
            self._means.clear()

    def _out_of_time(self) -> bool:
        return self.steps_per_stage is not None and self._steps >= self.steps_per_stage

    def _mastered(self) -> bool:
        if self.promote_at is None or len(self._means) < self.window:
            return False
        return sum(self._means) / self.window >= self.promote_at

    def _dump(self) -> Any:
        running = {"stage": self._stage, "steps": self._steps}
        return running | {"scores": list(self._scores), "means": list(self._means)}

    def _restore(self, learnt: Any) -> None:
        if learnt["stage"] not in range(len(self.stages)):
            raise ValueError(f"stage {learnt['stage']}")
        need_counts(least=0, steps=learnt["steps"])
        self._stage, self._steps = learnt["stage"], learnt["steps"]
        self._scores = [float(score) for score in learnt["scores"]]
        self._means = deque(map(float, learnt["means"]), maxlen=self.window)
