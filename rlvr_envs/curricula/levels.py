"""A curriculum that counts levels from 0, over the levels that there are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import need_distinct
from rlvr_envs.curricula.base import Curriculum, Problem, Proposal
from rlvr_envs.curricula.nested import Nested


class OnLevels(Nested):
    """Gives a curriculum that climbs 0, 1, 2, … the levels of stored problems to climb.

    A file may hold problems of levels 2 and 4 alone. The inner curriculum's level k is then the
    k-th of the task's levels, and the last one for all that is beyond. A task without levels is
    proposed without one.

    Args:
        over: the inner curriculum.
        levels: of each task, its levels.

    Raises:
        ConfigError: a task has a level twice.

    Examples:
        >>> from rlvr_envs.curricula import Linear, OnLevels
        >>> climb = Linear(["rlvr/Gcd-v0"], end=1, steps=10)
        >>> OnLevels(climb, {"rlvr/Gcd-v0": [2, 4]}).propose().difficulty
        2
    """

    def __init__(self, over: Curriculum, levels: Mapping[str, Sequence[int]]) -> None:
        self.levels = {task: sorted(own) for task, own in levels.items()}
        for own in filter(None, self.levels.values()):
            need_distinct("levels", own)
        super().__init__(over, 0, {"levels": self.levels})

    def propose(self) -> Proposal:
        """Return what the inner curriculum proposes, at a level of the task."""
        proposal = super().propose()
        levels = self._of(proposal.task)
        count = proposal.difficulty
        if count is None or not levels:
            return replace(proposal, difficulty=None)
        return replace(proposal, difficulty=levels[min(count, len(levels) - 1)])

    def record(
        self,
        task: str,
        difficulty: int | None,
        scores: Sequence[float],
        problem: Problem = None,
    ) -> None:
        """Take down the scores of a group, under the number of its level."""
        levels = self._of(task)
        count = levels.index(difficulty) if difficulty in levels else None
        super().record(task, count, scores, problem)

    def _of(self, task: str | None) -> list[int]:
        if task not in self.levels:
            raise ConfigError(f"the levels of {task} are not known, those of {[*self.levels]} are")
        return self.levels[task]
