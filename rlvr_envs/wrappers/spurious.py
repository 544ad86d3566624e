"""Rewards that do not say whether an answer is right: for studies of spurious rewards only.

Some models score better after training on them (arXiv 2505.22653), which says more about what those
models knew before than about the reward. Use them as controls beside the true reward.
"""

from dataclasses import dataclass
from typing import ClassVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.seeding import stream
from rlvr_envs.wrappers.noise import check_probability
from rlvr_envs.wrappers.played import EpisodeReward, Played

# Ours: the source publishes one of its phrases, "first, I need to".
PHRASES = (
    "first, i need to",
    "let me think",
    "let's see",
    "i know that",
    "which means",
    "because",
    "therefore",
    "wait",
    "let me check",
    "on the other hand",
    "to make sure",
    "finally",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """The reward r, or 1 - r with some probability.

    Attributes:
        p: the probability of a flip.
        by: ``"problem"`` flips all episodes of a problem or none, as in the source; ``"episode"``
            flips each by itself.
        seed: of the choice of problems.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Flips, Played
        >>> played = Played(verdict=Verdict.correct(), actions=("7",), earned=1.0, seed=0)
        >>> Flips(p=1.0).parts(played)
        {'random_flips': -1.0}
    """

    p: float = 0.4
    by: str = "problem"
    seed: int = 0

    name: ClassVar[str] = "random_flips"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_probability("p", self.p)
        if self.by not in ("problem", "episode"):
            hint = did_you_mean(str(self.by), ("problem", "episode"))
            raise ConfigError(f"by is 'problem' or 'episode', got {self.by!r}{hint}")

    def parts(self, played: Played) -> dict[str, float]:
        """Return what the flip changes."""
        if not 0.0 <= played.earned <= 1.0:
            raise ConfigError(
                f"RandomFlips takes 1 - r for a reward r in [0, 1], got {played.earned:g}: put it "
                "inside of the wrappers that add or take something"
            )
        key = (self.seed, played.problem) if self.by == "problem" else (played.seed,)
        flipped = stream(self.name, *key).random() < self.p
        return {self.name: 1.0 - 2.0 * played.earned if flipped else 0.0}


class RandomFlips(EpisodeReward, RecordConstructorArgs):
    r"""Flips rewards at random: for studies of spurious rewards. See `Flips` for the arguments.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import RandomFlips
        >>> env = RandomFlips(gymnasium.make("rlvr/Gcd-v0", difficulty=0), p=1.0)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step(r"\boxed{16}")[1]
        0.0
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        p: float = 0.4,
        *,
        by: str = "problem",
        seed: int = 0,
    ) -> None:
        RecordConstructorArgs.__init__(self, p=p, by=by, seed=seed)
        super().__init__(env, Flips(p=p, by=by, seed=seed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """A reward for phrases in what the agent wrote, whether its answer is right or not.

    With n for the number of different phrases that occur, in any case, the reward is
    (1 - weight) * r + weight * min(1, each * n). The source has weight 1 and no limit.

    Attributes:
        phrases: what is looked for.
        each: what a phrase is worth.
        weight: the share of the phrases in the reward, in (0, 1].

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Phrases, Played
        >>> played = Played(verdict=Verdict.wrong("7"), actions=("Wait …",), earned=0.0, seed=0)
        >>> Phrases(phrases=("wait", "let me check")).parts(played)
        {'reasoning_pattern': 0.2}
    """

    phrases: tuple[str, ...] = PHRASES
    each: float = 0.2
    weight: float = 1.0

    name: ClassVar[str] = "reasoning_pattern"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        texts = isinstance(self.phrases, tuple) and all(isinstance(p, str) for p in self.phrases)
        if not texts or not self.phrases or not all(self.phrases):
            raise ConfigError(f"phrases is a tuple of texts, got {self.phrases!r:.80}")
        check_probability("weight", self.weight)
        if not 0.0 < self.each <= 1.0 or self.weight == 0.0:
            raise ConfigError(
                f"each and weight are above 0 and at most 1, got {self.each!r} and {self.weight!r}"
            )

    def parts(self, played: Played) -> dict[str, float]:
        """Return what the phrases add to the reward, or take from it."""
        text = "\n".join(played.actions).casefold()
        found = sum(phrase.casefold() in text for phrase in self.phrases)
        return {self.name: self.weight * (min(1.0, self.each * found) - played.earned)}


class ReasoningPattern(EpisodeReward, RecordConstructorArgs):
    """Pays for phrases of reasoning: for studies of spurious rewards. See `Phrases`.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import ReasoningPattern
        >>> env = ReasoningPattern(gymnasium.make("rlvr/Gcd-v0", difficulty=0), ("wait",), each=1.0)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("Wait …")[1]
        1.0
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        phrases: tuple[str, ...] = PHRASES,
        *,
        each: float = 0.2,
        weight: float = 1.0,
    ) -> None:
        RecordConstructorArgs.__init__(self, phrases=phrases, each=each, weight=weight)
        super().__init__(env, Phrases(phrases=phrases, each=each, weight=weight))
