"""What a run has at hand, and the base of what is told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.learner import Learner
from rlvr_envs.agents.grpo.model.distributed import Workers
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.problems import Cell, Problems
from rlvr_envs.agents.grpo.rollout import Rollout
from rlvr_envs.agents.grpo.sampling.asynchronous import Ahead
from rlvr_envs.agents.grpo.sampling.sampler import Sampler
from rlvr_envs.agents.grpo.sources import Source
from rlvr_envs.agents.grpo.tracking.best import Best
from rlvr_envs.agents.grpo.tracking.metrics import Metrics
from rlvr_envs.curricula import Curriculum, Proposal


class Callback:
    """Does nothing; override what you need."""

    def on_group(self, run: "Run", group: Group) -> None:
        """Look at a group that was played, before it is kept or thrown away; it may be changed."""

    def more(self, run: "Run", group: Group) -> Proposal | None:
        """Return what else to play of a group now, or None; asked again after it was played."""
        return None

    def on_batch(self, run: "Run", episodes: list[Episode]) -> list[Episode]:
        """Return what to learn from in this step: a group's episodes have the same number."""
        return episodes

    def on_step(self, run: "Run", numbers: dict[str, float]) -> None:
        """Look at a step's numbers before they are logged; they may be added to."""

    def on_evaluate(self, run: "Run", numbers: dict[str, float]) -> None:
        """Look at the numbers of a held-out evaluation, which only the first process has."""

    def on_end(self, run: "Run") -> None:
        """Do what is to be done when a run ends, or is interrupted."""

    def state_dict(self) -> dict[str, Any]:
        """Return what has to be kept in checkpoints, as JSON can hold it."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned."""


@dataclass(slots=True, kw_only=True)
class Run:
    """All that a run has at hand.

    ``ahead`` gives the steps their groups, ``drawn`` what was measured as they were drawn. ``step``
    is how many steps are over, supervised ones included, and ``newest`` the checkpoint that it goes
    on from; ``best`` is the best held-out evaluation.
    """

    config: Config
    folder: Path
    workers: Workers
    tokenizer: Any
    learner: Learner
    chat: Chat
    sampler: Sampler
    rollout: Rollout
    make_env: MakeEnv
    curriculum: Curriculum
    problems: Problems
    source: Source
    callbacks: list[Callback]
    metrics: Metrics
    step: int = 0
    newest: Path | None = None
    ahead: Ahead[Group] | None = None
    drawn: dict[int, dict[str, float]] = field(default_factory=dict)
    best: Best = field(default_factory=Best)
    envs: dict[Cell, gymnasium.Env[str, str]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many steps there are, supervised ones included."""
        return self.config.optimiser.warm_start + self.config.optimiser.steps

    @property
    def cells(self) -> list[Cell]:
        """All pairs of a task and a level."""
        return self.problems.cells

    def close(self) -> None:
        """Let go of environments and files."""
        if self.ahead is not None:
            self.ahead.close()
        self.metrics.close()
        self.rollout.close()
        for env in self.envs.values():
            env.close()
        self.workers.close()
