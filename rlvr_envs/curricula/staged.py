"""Domains one after the other, with limits of their own (AceReason-Nemotron, Nemotron-Cascade)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import pick
from rlvr_envs.curricula._seeded import (
    Arm,
    Seeded,
    draw,
    need_between,
    need_counts,
    need_distinct,
    shares_of,
)
from rlvr_envs.curricula.base import Problem, Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage; what is None is not decided.

    Attributes:
        tasks: drawn from by their weights.
        weights: the tasks' shares; none for equal ones.
        steps: after how many training steps the stage ends; None for no limit.
        promote_at: the mean score that ends it early; None for no such rule.
        difficulty: the level of its problems, or several that are drawn evenly.
        response_tokens: the most tokens of a response.
        horizon: the turns of an episode.
        weights: the tasks' shares; none for equal ones.

    Examples:
        >>> from rlvr_envs.curricula import Stage
        >>> Stage(tasks=("rlvr/Gcd-v0",), steps=100, difficulty=(0, 1)).levels
        (0, 1)
    """

    tasks: tuple[str, ...]
    steps: int | None = None
    promote_at: float | None = None
    difficulty: int | tuple[int, ...] | None = None
    response_tokens: int | None = None
    horizon: int | None = None
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        need_distinct("tasks", self.tasks)
        for name in ("steps", "response_tokens", "horizon"):
            if getattr(self, name) is not None:
                need_counts(**{name: getattr(self, name)})
        for level in self.levels:
            if level is not None:
                need_counts(least=0, difficulty=level)
        shares_of(self.weights or None, len(self.tasks))
        if self.promote_at is not None:
            need_between(0, 1, promote_at=self.promote_at)

    @property
    def levels(self) -> tuple[int | None, ...]:
        """The levels to draw from."""
        given = self.difficulty
        return given or (None,) if isinstance(given, tuple) else (given,)


class StagedDomains(Seeded):
    """Trains on one domain, then on the next, as cascaded reinforcement learning does.

    AceReason-Nemotron (arXiv 2505.16400) trains on mathematics alone, then on code alone, and lets
    responses grow longer within a domain. Nemotron-Cascade goes through more domains in the same
    manner. The stages are the caller's: the papers' step counts and lengths belong to their models.
    Not verified against the papers' code; what is kept is the order of domains and the limits.

    A stage ends after its ``steps``, or once the mean score of its last ``window`` steps reaches
    its ``promote_at``; steps in which nothing was recorded do not count into the window. The last
    stage goes on for ever.

    Args:
        stages: in their order.
        window: the steps over which the mean is taken.
        seed: of the draws.

    Raises:
        ConfigError: there is no stage, or one before the last would never end.

    Examples:
        >>> from rlvr_envs.curricula import Stage, StagedDomains
        >>> stages = [Stage(tasks=("rlvr/Math-v0",), steps=1), Stage(tasks=("rlvr/Code-v0",))]
        >>> curriculum = StagedDomains(stages)
        >>> curriculum.propose().task
        'rlvr/Math-v0'
        >>> curriculum.end_step()
        >>> curriculum.propose().task
        'rlvr/Code-v0'
    """

    def __init__(self, stages: Sequence[Stage], *, window: int = 10, seed: int = 0) -> None:
        self.stages = tuple(stages)
        if not self.stages:
            raise ConfigError("stages: at least one, got none")
        need_counts(window=window)
        for number, stage in enumerate(self.stages[:-1]):
            if stage.steps is None and stage.promote_at is None:
                raise ConfigError(
                    f"stage {number} would never end: give it steps, promote_at or both"
                )
        self.window = window
        self._stage = 0
        self._since = 0  # steps since the stage began
        self._scores: list[float] = []  # of the running step
        self._means: deque[float] = deque(maxlen=window)
        super().__init__(seed, {"stages": [asdict(stage) for stage in stages], "window": window})

    @property
    def stage(self) -> int:
        """The number of the running stage, from 0."""
        return self._stage

    def propose(self) -> Proposal:
        """Return a task of the running stage, with the stage's limits."""
        stage, rng = self.stages[self._stage], self._rng()
        shares = shares_of(stage.weights or None, len(stage.tasks))
        return Proposal(
            task=stage.tasks[draw(rng, shares)],
            difficulty=pick(rng, stage.levels),
            response_tokens=stage.response_tokens,
            horizon=stage.horizon,
        )

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        self._scores += scores

    def _finish(self) -> None:
        self._since += 1
        if self._scores:
            self._means.append(sum(self._scores) / len(self._scores))
            self._scores = []
        if self._stage < len(self.stages) - 1 and self._ends():
            self._stage, self._since = self._stage + 1, 0
            self._means.clear()

    def _ends(self) -> bool:
        stage = self.stages[self._stage]
        if stage.steps is not None and self._since >= stage.steps:
            return True
        if stage.promote_at is None or len(self._means) < self.window:
            return False
        return sum(self._means) / self.window >= stage.promote_at

    def _dump(self) -> Any:
        running = {"stage": self._stage, "since": self._since}
        return running | {"scores": self._scores, "means": list(self._means)}

    def _restore(self, learnt: Any) -> None:
        if learnt["stage"] not in range(len(self.stages)):
            raise ValueError(f"stage {learnt['stage']}")
        need_counts(least=0, since=learnt["since"])
        self._stage, self._since = learnt["stage"], learnt["since"]
        self._scores = [float(score) for score in learnt["scores"]]
        self._means = deque(map(float, learnt["means"]), maxlen=self.window)
