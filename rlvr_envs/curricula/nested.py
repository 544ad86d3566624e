"""What stands around another curriculum: it decides one thing and leaves the others to that one."""

from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_envs.curricula._seeded import Seeded
from rlvr_envs.curricula.base import Curriculum, Played, Problem, Proposal


class Nested(Seeded):
    """Base of curricula around another one; by itself it does what that one does.

    All that a trainer calls goes on to the inner curriculum, so that they nest to any depth.

    Args:
        over: the inner curriculum; None where a trainer draws tasks itself.
        seed: of the draws.
        settings: for the state, which another's settings do not take.

    Examples:
        >>> from dataclasses import replace
        >>> from rlvr_envs.curricula import Linear, Nested
        >>> class ShortAnswers(Nested):
        ...     def propose(self):
        ...         return replace(super().propose(), response_tokens=256)
        >>> ShortAnswers(Linear(["rlvr/Gcd-v0"], end=3, steps=4)).propose().response_tokens
        256
    """

    def __init__(
        self, over: Curriculum | None, seed: int = 0, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.over = over
        super().__init__(seed, settings or {})

    def propose(self) -> Proposal:
        """Return what the inner curriculum proposes."""
        return Proposal() if self.over is None else self.over.propose()

    def record(
        self,
        task: str,
        difficulty: int | None,
        scores: Sequence[float],
        problem: Problem = None,
    ) -> None:
        """Take down the scores of a group."""
        super().record(task, difficulty, scores, problem)
        if self.over is not None:
            self.over.record(task, difficulty, scores, problem)

    def ahead(self, missing: int) -> int:
        """Return how many groups to draw where so many more are wanted."""
        return int(self._inner("ahead", missing, missing))

    def allot(self, proposals: list[Proposal]) -> list[Proposal]:
        """Return the proposals with the sizes of their groups."""
        return list(self._inner("allot", proposals, proposals))

    def more(self, group: Played) -> int:
        """Return how many further episodes of a group to play now."""
        return int(self._inner("more", group, 0))

    def observe(self, group: Played) -> None:
        """Take down a finished group."""
        self._inner("observe", group, None)

    def weight(self, group: Played) -> float:
        """Return by what the loss of a group is multiplied."""
        return float(self._inner("weight", group, 1.0))

    def _inner(self, name: str, given: Any, otherwise: Any) -> Any:
        method = getattr(self.over, name, None)
        return otherwise if method is None else method(given)

    def end_step(self) -> None:
        """Take down that a training step is over."""
        super().end_step()
        if self.over is not None:
            self.over.end_step()

    def state_dict(self) -> dict[str, Any]:
        """Return the state of both, as JSON can hold it."""
        inner = None if self.over is None else self.over.state_dict()
        return super().state_dict() | {"over": inner}

    def _enter(self, state: Mapping[str, Any]) -> None:
        super()._enter(state)
        if self.over is not None:
            self.over.load_state_dict(state["over"])
