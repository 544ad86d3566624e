"""What a step's episodes are worth: rewards side by side by group, handed to an estimator.

N groups have G episodes at most; of a game whose seats are both trained, each seat is a group here.
Tables are (N, G), (N, G, K) by turn or (N, G, T) by token, NaN
where there is no such episode, turn or token, unless said.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import overlong_penalty
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.core.errors import ConfigError

# What an estimator takes that changes with the weights: it is called again at every update.
MOVING = ("log_ratios", "mean_logps")


class Credit(NamedTuple):
    """What an estimator may return instead of a tensor of advantages.

    Attributes:
        advantages: (N, G), (N, G, K) or (N, G, T).
        kept: (N, G), false for episodes not to train on; None for all.
        scales: (N, G, K), what a loss that takes ``scales`` is handed by token; None for 1.
    """

    advantages: Tensor
    kept: Tensor | None = None
    scales: Tensor | None = None


@dataclass(frozen=True)
class Groups:
    """A step's episodes as estimators see them.

    Attributes:
        episodes: of all workers, whole groups.
        config: says how overlong answers are paid, and the longest action.
        shifts: log(policy / old policy) of episodes, by their place; none where nothing has moved.
    """

    episodes: Sequence[Episode]
    config: Config
    shifts: Mapping[int, Tensor] = field(default_factory=dict)

    @cached_property
    def place(self) -> Tensor:
        """(B, 2), each episode's row and column; a group's seats have rows of their own."""
        rows: dict[tuple[int, int], int] = {}
        columns: dict[int, int] = {}
        place = []
        for episode in self.episodes:
            row = rows.setdefault((episode.group, episode.seat), len(rows))
            column = columns[row] = columns.get(row, -1) + 1
            place.append((row, column))
        return torch.tensor(place)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(N, G); G is at least 2, so that who is alone is without others to everybody."""
        most = self.place.amax(0)
        return int(most[0]) + 1, max(2, int(most[1]) + 1)

    def table(self, of: Callable[[Episode], float], empty: float = torch.nan) -> Tensor:
        """Return (N, G) numbers of the episodes."""
        found = torch.full(self.shape, empty)
        found[self.place[:, 0], self.place[:, 1]] = torch.tensor(
            [float(of(episode)) for episode in self.episodes]
        )
        return found

    def tables(self, of: Callable[[Episode], Sequence[float]], empty: float = torch.nan) -> Tensor:
        """Return (N, G, K) numbers of the episodes, K of the longest."""
        rows = [torch.tensor([float(each) for each in of(episode)]) for episode in self.episodes]
        found = torch.full((*self.shape, max(1, *map(len, rows))), empty)
        for (row, column), values in zip(self.place.tolist(), rows, strict=True):
            found[row, column, : len(values)] = values
        return found

    def spread(self, table: Tensor) -> Tensor:
        """Return each episode's entry of a table, (B, …)."""
        return table[self.place[:, 0], self.place[:, 1]]

    @cached_property
    def rewards(self) -> Tensor:
        """(N, G), what was paid, with the penalty on length if there is one."""
        earned = self.table(lambda episode: episode.reward)
        algorithm, longest = self.config.algorithm, self.config.sampling.max_tokens
        if algorithm.overlong != "penalty":
            return earned
        left = self.table(lambda episode: _tokens_left(episode, longest), 0.0)
        buffer = algorithm.overlong_buffer
        return earned + overlong_penalty(longest - left, longest=longest, buffer=buffer)

    @cached_property
    def scores(self) -> Tensor:
        """(N, G), the verdicts' scores, which no wrapper and no penalty changes."""
        return self.table(lambda episode: episode.score)

    @cached_property
    def lengths(self) -> Tensor:
        """(N, G), trained tokens, 0 where there is no episode."""
        return self.table(lambda episode: episode.n_trained, 0.0)

    @cached_property
    def finished(self) -> Tensor:
        """(N, G), 1 where the episode came to its end."""
        return self.table(lambda episode: episode.finished, 0.0)

    @cached_property
    def turn_rewards(self) -> Tensor:
        """(N, G, K), what was paid at each turn, the penalty on length at the last."""
        table = self.tables(lambda episode: episode.turn_rewards)
        paid = self.table(lambda episode: episode.reward)
        for row, column in self.place.tolist():
            alive = int((~table[row, column].isnan()).sum())
            if paid[row, column].isnan() or not alive:
                table[row, column] = torch.nan
            else:
                table[row, column, alive - 1] += self.rewards[row, column] - paid[row, column]
        return table

    @property
    def longest(self) -> int:
        """The most tokens that an action may have."""
        return self.config.sampling.max_tokens

    @cached_property
    def tokens(self) -> Tensor:
        """(N, G, T), the ids of all tokens, observations included; -1 where there is none."""
        return self.tables(
            lambda episode: [token for part in episode.segments for token in part.tokens], -1.0
        ).long()

    @cached_property
    def trained(self) -> Tensor:
        """(N, G, T), true where the model wrote the token."""
        return self.tables(
            lambda episode: [
                float(part.logps is not None) for part in episode.segments for _ in part.tokens
            ],
            0.0,
        ).bool()

    @cached_property
    def labels(self) -> Tensor:
        """(N, G), a number for each task."""
        names = sorted({episode.task for episode in self.episodes})
        return self.table(lambda episode: names.index(episode.task), -1.0).long()

    @cached_property
    def agents(self) -> Tensor:
        """(N, G, K), which agent wrote each turn; -1 where there is none."""
        return self.tables(
            lambda episode: episode.agents or [0] * len(episode.actions), -1.0
        ).long()

    @cached_property
    def beliefs(self) -> Tensor:
        """(N, G, K + 1), mean log-probability of the solution's tokens before and after turns."""
        return self.tables(lambda episode: episode.beliefs)

    @cached_property
    def mean_logps(self) -> Tensor:
        """(N, G), the mean log-probability of an episode's tokens under the weights as they are."""
        means = []
        for place, episode in enumerate(self.episodes):
            said = [logp for part in episode.actions for logp in part.logps or ()]
            moved = float(self.shifts[place]) if place in self.shifts else 0.0
            means.append((sum(said) + moved) / max(1, len(said)))
        values = iter(means)
        return self.table(lambda _: next(values), 0.0)

    @cached_property
    def log_ratios(self) -> Tensor:
        """(N, G), log(policy / policy that sampled) of whole episodes; 0 before anything moves."""
        shifts = iter(
            [float(self.shifts.get(place, torch.zeros(()))) for place in range(len(self.episodes))]
        )
        return self.table(lambda _: next(shifts), 0.0)

    @cached_property
    def info(self) -> Callable[[str], Tensor]:
        """Return a table of what verdicts or wrappers told under a name."""
        return lambda name: self.table(lambda episode: episode.info.get(name, torch.nan))


def credit(groups: Groups) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the advantages of a step's episodes, which to train on, and scales if there are any.

    Returns:
        Advantages (B, K), where K is 1, or the number of turns or tokens for estimators that tell
        those apart; a boolean (B,) that is false for what was not scored and what is left out; and
        scales (B, K) or None.

    Raises:
        ConfigError: the estimator returned another shape, or what is no number.
    """
    choice = groups.config.estimator
    found: Any = choice(groups)
    given = found if isinstance(found, Credit) else Credit(found)
    unscored = groups.spread(groups.rewards).isnan()
    worth = _spread(choice.name, given.advantages, unscored, groups)
    # Demonstrations without a reward are learned from all the same.
    demonstrated = torch.tensor([episode.demonstrated for episode in groups.episodes])
    kept = ~unscored | demonstrated
    if given.kept is not None:
        kept &= groups.spread(given.kept)
    kept &= torch.tensor([_counts(episode, groups.config) for episode in groups.episodes])
    scales = None if given.scales is None else groups.spread(given.scales)
    return worth, kept, scales


def _spread(name: str, advantages: object, unscored: Tensor, groups: Groups) -> Tensor:
    """Return advantages by episode (B, K), with 0 where there was no score and is no number."""
    told = f"the estimator {name} is to return finite advantages of shape {groups.shape} (or by "
    told += "turn or token, with one more dimension)"
    if not isinstance(advantages, Tensor) or advantages.shape[:2] != groups.shape:
        raise ConfigError(f"{told}, got {getattr(advantages, 'shape', advantages)!r:.80}")
    worth = groups.spread(advantages)
    worth = worth if worth.ndim > 1 else worth[:, None]
    worth = worth.masked_fill(unscored[:, None] & ~worth.isfinite(), 0.0)
    if advantages.ndim > 3 or not worth.isfinite().all():
        raise ConfigError(
            f"{told}, also where all rewards of a group are equal. Got {advantages!r:.200} for the "
            f"rewards {groups.rewards!r:.200}"
        )
    return worth


def _counts(episode: Episode, config: Config) -> bool:
    """Whether an episode may be trained on, as far as the configuration's masks go."""
    algorithm = config.algorithm
    if episode.left_out or (algorithm.overlong == "mask" and not episode.finished):
        return False
    return not any(episode.info.get(name) for name in algorithm.leave_out)


def _tokens_left(episode: Episode, max_tokens: int) -> int:
    """Return how far the longest action stayed under the limit of its tokens."""
    longest = max((len(action.tokens) for action in episode.actions), default=0)
    return (episode.max_tokens or max_tokens) - longest
