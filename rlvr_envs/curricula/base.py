"""What every curriculum does: propose what comes next, and take down how it went.

More methods are optional, and a trainer calls those that are there, in this order::

    ahead(missing)      how many groups to draw where so many more are wanted
    allot(proposals)    the proposals of a round with the sizes of their groups, once each names
                        its problem
    more(group)         how many further episodes of a group to play now, 0 for none
    observe(group)      nothing; takes down a finished group, whose episodes it may leave out or
                        weigh
    weight(group)       by what the loss of its episodes is multiplied
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

Problem: TypeAlias = int | str | None  # what names a problem among those of its task


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What to pose next; what a curriculum does not decide is None.

    Attributes:
        task: the id of a task.
        difficulty: a difficulty level.
        problem_seed: the seed of one problem, for curricula that come back to problems.
        row: a problem as a row of a data set holds it, instead of a seed.
        index: the number of a problem, for tasks whose problems are numbered, instead of a seed.
        samples: the size of the group, that is how many episodes of it to sample.
        horizon: the turns of an episode.
        response_tokens: the most tokens that a response may have.
        hint: the level of its hint, for environments in a wrapper that gives hints.
        reset_seed: of what wrappers draw, where a problem that comes again is to be posed
            otherwise; None for the problem's own seed.

    Examples:
        >>> from rlvr_envs.curricula import Proposal
        >>> proposal = Proposal(task="rlvr/Gcd-v0", difficulty=2, problem_seed=7, samples=8)
        >>> proposal.problem
        7
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
    reset_seed: int | None = None

    @property
    def problem(self) -> Problem:
        """What names the problem: its seed, its number, or the fingerprint of its row."""
        if self.row is not None:
            return str(self.row.get("fingerprint", ""))
        return self.problem_seed if self.index is None else self.index


class Answered(Protocol):
    """An episode as curricula see it."""

    score: float  # NaN if it was not scored
    weight: float  # by what its loss is multiplied; may be changed
    left_out: bool  # whether it only counts in its group's statistics; may be set


class Played(Protocol):
    """A group that was played.

    Examples:
        >>> from types import SimpleNamespace
        >>> from rlvr_envs.curricula import Played, Proposal
        >>> episode = SimpleNamespace(score=1.0, weight=1.0, left_out=False)
        >>> group: Played = SimpleNamespace(
        ...     proposal=Proposal(problem_seed=7),
        ...     arm=("rlvr/Gcd-v0", 2),
        ...     episodes=[episode],
        ...     scores=[1.0],
        ...     informative=False,
        ... )
    """

    @property
    def proposal(self) -> Proposal:
        """What was proposed, with its problem."""

    @property
    def arm(self) -> tuple[str, int | None]:
        """The task that posed it, and its level."""

    @property
    def episodes(self) -> Sequence[Any]:
        """The episodes, each `Answered`."""

    @property
    def scores(self) -> list[float]:
        """The scores of those that were scored."""

    @property
    def informative(self) -> bool:
        """Whether there is something to learn by comparing its episodes."""


class Curriculum(Protocol):
    """What a trainer talks to; it may be any, since nothing here knows of models or losses.

    A training step asks for a proposal for each group of episodes that it samples, plays the
    group, records the group's scores, and once all are recorded ends the step.

    Examples:
        >>> from rlvr_envs.curricula import Curriculum, Fixed, Proposal
        >>> curriculum: Curriculum = Fixed([Proposal(task="rlvr/Gcd-v0", difficulty=2)])
        >>> proposal = curriculum.propose()
        >>> curriculum.record(proposal.task, proposal.difficulty, [1.0, 0.0, 1.0, 1.0])
        >>> curriculum.end_step()
    """

    def propose(self) -> Proposal:
        """Return what to pose next."""

    def record(
        self,
        task: str,
        difficulty: int | None,
        scores: Sequence[float],
        problem: Problem = None,
    ) -> None:
        """Take down the scores of a group, without those of episodes that were not scored.

        ``problem`` is the proposal's, see `Proposal.problem`.
        """

    def end_step(self) -> None:
        """Take down that a training step is over."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state that `state_dict` returned; raise `ConfigError` if it is another's."""
