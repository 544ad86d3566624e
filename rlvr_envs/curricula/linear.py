"""A difficulty that rises by the clock, whatever the learner does."""

from collections.abc import Sequence

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import Seeded, draw, need_counts, need_distinct, shares_of
from rlvr_envs.curricula.base import Proposal


class Linear(Seeded):
    """Climbs from the first level to the last, as many steps on each.

    After t of ``steps`` steps the level is ``start + min((end - start + 1) * t // steps,
    end - start)``. This is the schedule that adaptive curricula are measured against.

    Args:
        tasks: drawn from by their weights.
        weights: the tasks' shares; None for equal ones.
        start: the first level.
        end: the last level, where it stays.
        steps: the training steps that the climb takes.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import Linear
        >>> curriculum = Linear(["rlvr/Gcd-v0"], start=0, end=3, steps=4)
        >>> curriculum.end_step()
        >>> curriculum.propose().difficulty
        1
    """

    def __init__(
        self,
        tasks: Sequence[str],
        *,
        start: int = 0,
        end: int,
        steps: int,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.tasks = tuple(tasks)
        need_distinct("tasks", self.tasks)
        need_counts(least=0, start=start, end=end)
        need_counts(steps=steps)
        if end < start:
            raise ConfigError(f"end is at least start, got {start} to {end}")
        self.start, self.end, self.steps = start, end, steps
        self.shares = shares_of(weights, len(self.tasks))
        settings = {"tasks": self.tasks, "start": start, "end": end, "steps": steps}
        super().__init__(seed, settings | {"weights": self.shares})

    def difficulty(self) -> int:
        """Return the level of the running step."""
        span = self.end - self.start
        return self.start + min((span + 1) * self.step // self.steps, span)

    def propose(self) -> Proposal:
        """Return a task, at the step's level."""
        task = self.tasks[draw(self._rng(), self.shares)]
        return Proposal(task=task, difficulty=self.difficulty())
