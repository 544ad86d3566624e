"""A window of levels that rises with success (RLVE)."""

from collections.abc import Sequence
from typing import Any

from rlvr_envs.core.seeding import integer
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


class RisingWindow(Seeded):
    """Draws from the highest levels that a task has reached, and adds one when the top is mastered.

    Zeng et al., "RLVE: Scaling Up Reinforcement Learning for Language Models with Adaptive
    Verifiable Environments", arXiv 2511.07317. Each task has a top level h, at first ``start``. A
    proposal draws a task by its weight, and a level evenly from [max(0, h - width + 1), h]. Scores
    at the top level are gathered; at the end of a step, once there are ``least_scores`` of them, h
    grows by one if their mean is at least ``promote_at``, and the gathering begins anew either way.

    The authors' code sets width 4, 0.9, and 8 prompts of as many episodes as a group has, hence 64
    scores for groups of 8.

    Args:
        tasks: drawn from by their weights.
        weights: the tasks' shares; None for equal ones.
        start: the first top level.
        width: how many levels a window has.
        promote_at: the mean score at the top that adds a level.
        least_scores: how many scores at the top a decision takes.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import RisingWindow
        >>> curriculum = RisingWindow(["rlvr/Gcd-v0"], least_scores=4)
        >>> curriculum.record("rlvr/Gcd-v0", 0, [1.0, 1.0, 1.0, 1.0])
        >>> curriculum.end_step()
        >>> curriculum.window("rlvr/Gcd-v0")
        (0, 1)
    """

    def __init__(  # noqa: PLR0913 - all but the first are keywords
        self,
        tasks: Sequence[str],
        *,
        start: int = 0,
        width: int = 4,
        promote_at: float = 0.9,
        least_scores: int = 64,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.tasks = tuple(tasks)
        need_distinct("tasks", self.tasks)
        need_counts(width=width, least_scores=least_scores)
        need_counts(least=0, start=start)
        need_between(0, 1, promote_at=promote_at)
        self.width, self.promote_at, self.least_scores = width, promote_at, least_scores
        self._tops = [start] * len(self.tasks)
        self._sums = [0.0] * len(self.tasks)  # of scores at the top level
        self._counts = [0] * len(self.tasks)
        settings = {"tasks": self.tasks, "start": start, "width": width, "promote_at": promote_at}
        self.shares = shares_of(weights, len(self.tasks))
        settings |= {"least_scores": least_scores, "weights": self.shares}
        super().__init__(seed, settings)

    def window(self, task: str) -> tuple[int, int]:
        """Return the lowest and the highest level that a task is posed at."""
        top = self._tops[self.tasks.index(task)]
        return max(0, top - self.width + 1), top

    def propose(self) -> Proposal:
        """Return a task and a level of its window."""
        rng = self._rng()
        task = self.tasks[draw(rng, self.shares)]
        return Proposal(task=task, difficulty=integer(rng, *self.window(task)))

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        index = find([(task, None) for task in self.tasks], arm)
        if arm[1] == self._tops[index]:
            self._sums[index] += sum(scores)
            self._counts[index] += len(scores)

    def _finish(self) -> None:
        for index, count in enumerate(self._counts):
            if count < self.least_scores:
                continue
            if self._sums[index] / count >= self.promote_at:
                self._tops[index] += 1
            self._sums[index], self._counts[index] = 0.0, 0

    def _dump(self) -> Any:
        return [list(row) for row in zip(self._tops, self._sums, self._counts, strict=True)]

    def _restore(self, learnt: Any) -> None:
        tops, sums, counts = zip(*learnt, strict=True)
        need_counts(least=0, **{f"top of {i}": top for i, top in enumerate(tops)})
        self._tops, self._sums = [*tops], [float(each) for each in sums]
        self._counts = [int(each) for each in counts]
        if len(self._tops) != len(self.tasks):
            raise ValueError(f"{len(self._tops)} tasks")
