"""A group that is sampled until it holds a signal (Reinforce-Ada)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, isnan
from typing import Any, Literal

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.curricula._seeded import checked, need_between, need_counts
from rlvr_envs.curricula.base import Curriculum, Played, Proposal
from rlvr_envs.curricula.nested import Nested


class AdaptiveGroup:
    """Asks for more episodes of one problem round by round, then picks those to train on.

    "Reinforce-Ada: An Adaptive Sampling Framework for Reinforce-Style LLM Training",
    arXiv 2510.04996. A round has ``batch`` episodes, and there are at most ``rounds``. A score
    above ``positive_above`` is positive. Sampling stops after a round in which the group has

    - mode "positive": at least one positive,
    - mode "balanced": at least keep / 2 positives and as many negatives.

    Trained on are ``keep`` episodes, half of them positive and half negative; where one side has
    too few, the other fills up. An advantage is the score less the mean of **all** that were
    sampled, so that picking does not bias the baseline; ``scaled`` also divides by their standard
    deviation.

    8 episodes a round, 4 rounds, 4 kept, 0.7 and no scaling are the published settings. Of a side
    the earliest are kept. The shares that the authors' code keeps of groups that never finish were
    not verified against it: here they keep what there is, and if all scores are the same, all
    advantages are 0.

    Args:
        mode: when to stop.
        keep: how many episodes to train on, an even number.
        batch: the episodes of a round.
        rounds: the most rounds.
        positive_above: the score above which an episode is positive.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import AdaptiveGroup
        >>> group = AdaptiveGroup(keep=2, batch=4)
        >>> group.add([1.0, 0.0, 0.0, 0.0])
        >>> group.wanted(), group.chosen()
        (0, [0, 1])
        >>> group.advantages()
        [0.75, -0.25]
    """

    def __init__(
        self,
        mode: Literal["positive", "balanced"] = "balanced",
        *,
        keep: int = 4,
        batch: int = 8,
        rounds: int = 4,
        positive_above: float = 0.7,
    ) -> None:
        if mode not in {"positive", "balanced"}:
            raise ConfigError(f"mode is 'positive' or 'balanced', got {mode!r}")
        need_counts(keep=keep, batch=batch, rounds=rounds)
        need_between(0, 1, positive_above=positive_above)
        if keep % 2:
            raise ConfigError(f"keep is even, half of each side; got {keep}")
        self.mode, self.keep, self.batch, self.rounds = mode, keep, batch, rounds
        self.positive_above = positive_above
        self._round = 0
        self._scores: list[float] = []

    @property
    def scores(self) -> tuple[float, ...]:
        """All scores so far."""
        return tuple(self._scores)

    def wanted(self) -> int:
        """Return how many episodes to sample next; 0 once the group is finished."""
        return 0 if self._round >= self.rounds or self._satisfied() else self.batch

    def add(self, scores: Sequence[float]) -> None:
        """Take down a round's scores, without those of episodes that were not scored.

        Raises:
            ConfigError: a score is not a number in [0, 1].
            UsageError: the group is finished.
        """
        if not self.wanted():
            raise UsageError("the group is finished: wanted() is 0")
        self._scores += checked("this problem", scores)
        self._round += 1

    def chosen(self) -> list[int]:
        """Return which episodes to train on, as indices into all scores."""
        positive, negative = self._sides()
        half = self.keep // 2
        few = min(len(positive), max(half, self.keep - len(negative)))
        return sorted(positive[:few] + negative[: self.keep - few])

    def advantages(self, *, scaled: bool = False) -> list[float]:
        """Return the advantages of the chosen episodes, against all that were sampled."""
        if not self._scores:
            return []
        mean = sum(self._scores) / len(self._scores)
        centred = [self._scores[index] - mean for index in self.chosen()]
        if not scaled:
            return centred
        variance = sum((score - mean) ** 2 for score in self._scores) / len(self._scores)
        return [each / (variance**0.5 + 1e-6) for each in centred]

    def _sides(self) -> tuple[list[int], list[int]]:
        positive = [i for i, score in enumerate(self._scores) if score > self.positive_above]
        negative = [i for i, score in enumerate(self._scores) if score <= self.positive_above]
        return positive, negative

    def _satisfied(self) -> bool:
        positive, negative = map(len, self._sides())
        if self.mode == "positive":
            return positive >= 1
        return min(positive, negative) >= self.keep // 2

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""
        return {"round": self._round, "scores": list(self._scores)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state.

        Raises:
            ConfigError: it is not one that `state_dict` returned.
        """
        try:
            scores = checked("this problem", state["scores"])
            need_counts(least=0, round=state["round"])
        except (KeyError, TypeError) as error:
            raise ConfigError(f"not the state of a group: {state!r:.200}") from error
        self._round, self._scores = state["round"], scores


class AdaptiveGroups(Nested):
    """Plays every group as an `AdaptiveGroup`, of problems that another curriculum proposes.

    The first round has ``batch`` episodes. Those that are not chosen stay in their group, where
    baselines are taken over all, but are left out of the loss. What could not be scored is never
    chosen and counts in no rule.

    Args:
        over: what is posed.
        group: the settings, as a group that is not used itself; None for the published ones.

    Examples:
        >>> from rlvr_envs.curricula import AdaptiveGroups, Fixed, Proposal
        >>> curriculum = AdaptiveGroups(Fixed([Proposal(task="rlvr/Gcd-v0", difficulty=2)]))
        >>> curriculum.propose().samples
        8
    """

    def __init__(self, over: Curriculum, *, group: AdaptiveGroup | None = None) -> None:
        self.group = group or AdaptiveGroup()
        kept = ("mode", "keep", "batch", "rounds", "positive_above")
        super().__init__(over, 0, {name: getattr(self.group, name) for name in kept})

    def _of(self, group: Played) -> AdaptiveGroup:
        """Return what is known of a group; rounds are told by how many episodes it has."""
        made = AdaptiveGroup(
            self.group.mode,
            keep=self.group.keep,
            batch=self.group.batch,
            rounds=self.group.rounds,
            positive_above=self.group.positive_above,
        )
        scores = [each.score for each in group.episodes if not isnan(each.score)]
        rounds = ceil(len(group.episodes) / made.batch)
        made.load_state_dict({"round": rounds, "scores": scores})
        return made

    def propose(self) -> Proposal:
        """Return what the inner curriculum proposes, with the size of the first round."""
        return replace(super().propose(), samples=self.group.batch)

    def allot(self, proposals: list[Proposal]) -> list[Proposal]:
        """Return the proposals: the sizes are this curriculum's."""
        return proposals

    def more(self, group: Played) -> int:
        """Return the size of the next round, 0 once the group is finished."""
        return self._of(group).wanted()

    def observe(self, group: Played) -> None:
        """Leave out what is not chosen."""
        scored = [each for each in group.episodes if not isnan(each.score)]
        chosen = set(self._of(group).chosen())
        for place, episode in enumerate(scored):
            episode.left_out = place not in chosen
        super().observe(group)
