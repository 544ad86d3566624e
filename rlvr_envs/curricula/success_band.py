"""Difficulties that hold success at a target, and the set of tasks worth training on (SCALER)."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import floor
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import pick
from rlvr_envs.curricula._seeded import (
    Arm,
    Seeded,
    draw,
    find,
    need_between,
    need_counts,
    need_distinct,
    shares_of,
)
from rlvr_envs.curricula.base import Problem, Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """How a level answers the scores; the defaults are the published settings.

    Attributes:
        target: the mean score to hold.
        gain: by how much the level answers an error.
        most: the most that a step moves the level.

    Examples:
        >>> from rlvr_envs.curricula import Control, SuccessBand
        >>> curriculum = SuccessBand({"rlvr/Gcd-v0": 10}, control=Control(target=0.7, gain=1.0))
    """

    target: float = 0.5
    gain: float = 2.0
    most: float = 1.0

    def __post_init__(self) -> None:
        need_between(0, 1, target=self.target)
        need_between(0, 1e9, gain=self.gain, most=self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """Which tasks are posed; the defaults are the published settings.

    Attributes:
        active: how many tasks are posed at a time.
        patience: the steps in a row after which a task has failed or is exhausted.
        trend: the steps over which progress is judged.

    Examples:
        >>> from rlvr_envs.curricula import Curation, SuccessBand
        >>> highest = {"rlvr/Gcd-v0": 10, "rlvr/Totient-v0": 10}
        >>> len(SuccessBand(highest, curation=Curation(active=1)).active)
        1
    """

    active: int = 64
    patience: int = 5
    trend: int = 20

    def __post_init__(self) -> None:
        need_counts(active=self.active, patience=self.patience)
        need_counts(least=2, trend=self.trend)


class SuccessBand(Seeded):
    """Moves each task's difficulty until the target share succeeds, and swaps tasks that stall.

    "SCALER: Synthetic Scalable Adaptive Learning Environment for Reasoning", arXiv 2601.04809.

    **Difficulty.** A task has a continuous level d, at first 0. A proposal takes the level above d
    with probability d - floor(d) and else the one below. After a step in which the task was posed
    with mean score m, ``d += clip(gain * (m - target), -most, most)``, held within [0, highest].

    **Active set.** Only ``active`` of the tasks are posed. After its update a task makes room for
    one drawn from the others, if ``patience`` steps in a row gave it a mean of 0; or ``patience``
    in a row left it at the highest level; or the least-squares slope of d over its last ``trend``
    steps is not positive. A task that comes back goes on from its level, with a fresh history.

    Which of several tasks is swapped first, and that one swapped in begins a new history, are
    this project's choices.

    Args:
        highest: the highest level of each task.
        weights: the tasks' shares, of which those that are active count; None for equal ones.
        control: how a level answers the scores.
        curation: how the active set is kept; None poses every task and swaps none.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import SuccessBand
        >>> curriculum = SuccessBand({"rlvr/Gcd-v0": 10})
        >>> curriculum.record("rlvr/Gcd-v0", 0, [1.0, 1.0, 1.0, 0.0])
        >>> curriculum.end_step()
        >>> curriculum.level("rlvr/Gcd-v0")
        0.5
    """

    def __init__(
        self,
        highest: Mapping[str, int],
        *,
        control: Control | None = None,
        curation: Curation | None = None,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.tasks = tuple(highest)
        need_distinct("tasks", self.tasks)
        need_counts(least=0, **highest)
        self.highest = dict(highest)
        self.control = control or Control()
        self.curation = curation or Curation(active=len(self.tasks))
        if self.curation.active > len(self.tasks):
            raise ConfigError(
                f"active is at most the {len(self.tasks)} tasks, got {self.curation.active}"
            )
        self._levels = dict.fromkeys(self.tasks, 0.0)
        self._active = list(self.tasks[: self.curation.active])
        self._failed = dict.fromkeys(self.tasks, 0)  # steps in a row with a mean of 0
        self._topped = dict.fromkeys(self.tasks, 0)  # steps in a row at the highest level
        self._history = {task: self._recent() for task in self.tasks}
        self._scores: dict[str, list[float]] = {}  # of the running step
        settings: dict[str, Any] = {"highest": self.highest, "control": asdict(self.control)}
        shares = shares_of(weights, len(self.tasks))
        self.shares = dict(zip(self.tasks, shares, strict=True))
        settings |= {"curation": asdict(self.curation), "weights": shares}
        super().__init__(seed, settings)

    def _recent(self, levels: Sequence[float] = ()) -> deque[float]:
        return deque(levels, maxlen=self.curation.trend)

    @property
    def active(self) -> tuple[str, ...]:
        """The tasks that are posed."""
        return tuple(self._active)

    def level(self, task: str) -> float:
        """Return the continuous difficulty of a task."""
        return self._levels[task]

    def propose(self) -> Proposal:
        """Return an active task, and one of the two levels next to its level."""
        rng = self._rng()
        task = self._active[draw(rng, [self.shares[task] for task in self._active])]
        level = self._levels[task]
        below = floor(level)
        return Proposal(task=task, difficulty=below + int(rng.random() < level - below))

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        task = self.tasks[find([(task, None) for task in self.tasks], arm)]
        self._scores.setdefault(task, []).extend(scores)

    def _finish(self) -> None:
        posed = [task for task in self._active if task in self._scores]
        for task, scores in self._scores.items():
            self._move(task, sum(scores) / len(scores))
        for task in posed:
            others = [other for other in self.tasks if other not in self._active]
            if others and self._stalls(task):
                self._active[self._active.index(task)] = pick(self._rng(), others)
                self._failed[task] = self._topped[task] = 0
                self._history[task].clear()
        self._scores = {}

    def _move(self, task: str, mean: float) -> None:
        control = self.control
        change = control.gain * (mean - control.target)
        change = max(-control.most, min(change, control.most))
        level = max(0.0, min(self._levels[task] + change, float(self.highest[task])))
        self._levels[task] = level
        self._failed[task] = self._failed[task] + 1 if mean == 0 else 0
        self._topped[task] = self._topped[task] + 1 if level == self.highest[task] else 0
        self._history[task].append(level)

    def _stalls(self, task: str) -> bool:
        if max(self._failed[task], self._topped[task]) >= self.curation.patience:
            return True
        history = self._history[task]
        return len(history) == self.curation.trend and slope(history) <= 0

    def _dump(self) -> Any:
        rows = {
            task: [self._levels[task], self._failed[task], self._topped[task], [*history]]
            for task, history in self._history.items()
        }
        return {"active": self._active, "tasks": rows, "scores": self._scores}

    def _restore(self, learnt: Any) -> None:
        rows = {task: learnt["tasks"][task] for task in self.tasks}
        active = [str(task) for task in learnt["active"]]
        if len(active) != len(self._active) or not set(active) <= set(self.tasks):
            raise ValueError(f"active tasks {active}")
        need_between(0, 1e9, **{task: row[0] for task, row in rows.items()})
        self._active = active
        self._levels = {task: row[0] for task, row in rows.items()}
        self._failed = {task: int(row[1]) for task, row in rows.items()}
        self._topped = {task: int(row[2]) for task, row in rows.items()}
        self._history = {task: self._recent(row[3]) for task, row in rows.items()}
        self._scores = {str(task): [*scores] for task, scores in learnt["scores"].items()}


def slope(values: Sequence[float]) -> float:
    """Return the least-squares slope over equally spaced points."""
    middle = (len(values) - 1) / 2
    spread = sum((x - middle) ** 2 for x in range(len(values)))
    return sum((x - middle) * value for x, value in enumerate(values)) / spread
