"""What was played: an episode is a list of segments of tokens, in the order in which they came.

It is the only thing that environment, sampler and trainer hand each other. Text becomes tokens once
and is never tokenised again, so what is trained on is exactly what was sampled.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rlvr_envs.curricula.base import Proposal


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens of one origin.

    Attributes:
        tokens: their ids; an action's end-of-sequence token is among them where it was sampled.
        logps: of an action, each token's log-probability under the distribution that it was
            sampled from, in nats; None for an observation, which is never trained on.
        versions: of an action, which version of the weights sampled its tokens, as (start, version)
            pairs; empty where nobody knows.
    """

    tokens: tuple[int, ...]
    logps: tuple[float, ...] | None = None
    versions: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True, kw_only=True)
class Episode:
    """One answer to one problem, which may take several turns.

    Attributes:
        group: the number of the group within its training step; a group's episodes have the same
            problem.
        task: the id that posed the problem.
        difficulty: a difficulty level, or None.
        problem_seed: the seed of the problem.
        segments: observation, action, observation, …, action.
        reward: what the environment paid, summed over turns; NaN if it was not scored.
        score: the verdict's, which wrappers leave alone; NaN if it was not scored.
        turn_rewards: what it paid at each turn.
        max_tokens: the most tokens of an action, where a proposal had a limit of its own.
        finished: whether the episode came to its end: False where the limit of tokens cut the last
            action off, or where the context was full.
        status: the verdict's status, or "context" where the context was full before the end.
        texts: each action as text, and what the verdict says, for samples that people look at.
        heard: the prompt and the observations as text.
        info: named numbers, such as the verdict's parts.
        target: the tokens of the oracle's full response, where the estimator asks for beliefs.
        beliefs: the mean log-probability of these tokens before the first action and after each.
        agents: which agent wrote each action, by the environment's ``info["agent"]`` before it.
        seat: of the game, where one model plays both seats: each seat's turns are an episode of
            their own, which is compared with those of the same seat only.
        weight: by what its loss is multiplied.
        left_out: whether it only counts in its group's statistics, and is not trained on.
        demonstrated: whether it was given instead of sampled; without a reward it takes no part in
            statistics.
        bare_prompt: the prompt without its hint, where the episode began with one.
        hint_opening: how a response begins that follows the hint.
    """

    group: int
    task: str
    difficulty: int | None
    problem_seed: int | None
    segments: list[Segment] = field(default_factory=list)
    reward: float = float("nan")
    score: float = float("nan")
    turn_rewards: list[float] = field(default_factory=list)
    max_tokens: int | None = None
    finished: bool = False
    status: str = ""
    texts: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    info: dict[str, float] = field(default_factory=dict)
    target: tuple[int, ...] = ()
    beliefs: list[float] = field(default_factory=list)
    agents: list[int] = field(default_factory=list)
    seat: int = 0
    weight: float = 1.0
    left_out: bool = False
    demonstrated: bool = False
    bare_prompt: str = ""
    hint_opening: str = ""

    @property
    def actions(self) -> list[Segment]:
        """The segments that the model wrote."""
        return [segment for segment in self.segments if segment.logps is not None]

    @property
    def n_tokens(self) -> int:
        """All tokens, observations included."""
        return sum(len(segment.tokens) for segment in self.segments)

    @property
    def n_trained(self) -> int:
        """The tokens that the model wrote."""
        return sum(len(segment.tokens) for segment in self.actions)


def row_of(episode: Episode) -> dict[str, Any]:
    """Return an episode as JSON can hold it, for what callbacks keep in checkpoints."""
    return asdict(episode)


def episode_of(row: Mapping[str, Any]) -> Episode:
    """Return the episode that `row_of` gave, whose tuples may have become lists."""
    segments = [
        Segment(
            tuple(each["tokens"]),
            None if each["logps"] is None else tuple(each["logps"]),
            tuple((start, version) for start, version in each["versions"]),
        )
        for each in row["segments"]
    ]
    return Episode(**{**row, "segments": segments, "target": tuple(row["target"])})


@dataclass(slots=True)
class Group:
    """The episodes of one problem.

    Where one model plays both seats of a game, it has the episodes of both: first of each game that
    of the seat which moves first. What is asked of scores is then asked of this seat, since those
    of both always have the same mean.

    Attributes:
        proposal: what was posed.
        episodes: at least one.
        step: of the run, for which it was played.
    """

    proposal: Proposal
    episodes: list[Episode]
    step: int = 0

    @property
    def posed(self) -> Episode:
        """The first episode that says what was posed: one whose environment broke may not."""
        return next((each for each in self.episodes if each.segments), self.episodes[0])

    @property
    def arm(self) -> tuple[str, int | None]:
        """The task that posed it, empty if nothing was posed, and its level."""
        return self.posed.task, self.posed.difficulty

    @property
    def scores(self) -> list[float]:
        """The verdicts' scores, without those of episodes that were not scored."""
        return self._scored(self.episodes)

    def _scored(self, episodes: Sequence[Episode]) -> list[float]:
        return [e.score for e in episodes if e.seat == self.posed.seat and not math.isnan(e.score)]

    @property
    def unaided(self) -> list[float]:
        """The scores of episodes without a hint, or all where none was without."""
        bare = [each for each in self.episodes if not each.bare_prompt]
        return self._scored(bare) or self.scores

    @property
    def rewards(self) -> list[float]:
        """What the environment paid, without episodes that were not scored."""
        return [each.reward for each in self.episodes if not math.isnan(each.reward)]

    @property
    def version(self) -> int | None:
        """The oldest version of the weights that any of its tokens was sampled from, if known."""
        actions = [action for episode in self.episodes for action in episode.actions]
        return min((version for each in actions for _, version in each.versions), default=None)

    @property
    def informative(self) -> bool:
        """Whether there is something to learn: rewards that differ, or a demonstration."""
        return differ(self.episodes) or any(each.demonstrated for each in self.episodes)


def differ(episodes: Sequence[Episode]) -> bool:
    """Whether the rewards of a group differ, each seat's among themselves."""
    paid = {(each.seat, each.reward) for each in episodes if not math.isnan(each.reward)}
    return len(paid) > len({seat for seat, _ in paid})
