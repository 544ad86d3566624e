"""What every curriculum does: propose what comes next, and take down how it went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What to pose next; what a curriculum does not decide is None.

    Attributes:
        task: the id of a task.
        difficulty: a rung of its ladder.
        problem_seed: the seed of one problem, for curricula that come back to problems.
        row: a problem as a row of a data set holds it, instead of a seed.
        index: the number of a problem, for tasks whose problems are numbered, instead of a seed.
        samples: the size of the group, that is how many episodes of it to sample.
        horizon: the turns of an episode.
        response_tokens: the most tokens that a response may have.
        hint: the level of its hint, for environments in a wrapper that gives hints.
    """

    task: str | None = None
    difficulty: int | None = None
    problem_seed: int | None = None
    row: Mapping[str, Any] | None = field(default=None, hash=False)
    index: int | None = None
    samples: int | None = None
    horizon: int | None = None
    response_tokens: int | None = None
    hint: int | None = None


class Curriculum(Protocol):
    """What a trainer talks to; it may be any, since nothing here knows of models or losses.

    A training step asks for a proposal for each group of episodes that it samples, plays the
    group, records the group's scores, and once all are recorded ends the step.
    """

    def propose(self) -> Proposal:
        """Return what to pose next."""

    def record(
        self,
        task: str,
        difficulty: int | None,
        scores: Sequence[float],
        problem_seed: int | None = None,
    ) -> None:
        """Take down the scores of a group, without those of episodes that were not scored."""

    def end_step(self) -> None:
        """Take down that a training step is over."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state that `state_dict` returned; raise `ConfigError` if it is another's."""
