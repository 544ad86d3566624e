"""Rewards from a whole episode: its verdict, what the agent wrote, and a seed for chance.

Schemes that need no more than the verdict are in `rlvr_envs.wrappers.schemes`.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np

from rlvr_envs.core.seeding import Rng, draw_seed, stream
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.wrappers.shaping import check_wraps_text

# What is read of the info that an episode ends with.
ENDING = ("verdict", "task", "problem_seed", "reference")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An episode that is over, as a scheme sees it.

    Attributes:
        verdict: that it ended with; always a scored one.
        actions: what the agent wrote, message by message.
        earned: the reward of the last step so far.
        seed: for schemes with chance in them: of the episode and of what was written in it, so
            that episodes of a group differ even if all were reset with the same seed.
        problem: a text that the episodes of a problem share.
        truncated: whether it was cut off before the agent was done.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Overlong, Played
        >>> played = Played(verdict=Verdict.correct(), actions=("x" * 100,), earned=1.0, seed=0)
        >>> Overlong(limit=100, buffer=40).parts(played)
        {'overlong': -1.0}
    """

    verdict: Verdict
    actions: tuple[str, ...]
    earned: float
    seed: int
    problem: str = ""
    truncated: bool = False


class EpisodeScheme(Protocol):
    """What turns a played episode into its reward.

    Attributes:
        name: of the scheme, in ``info["reward_parts"]`` of an episode that is not scored.
        adds: whether its parts are added to the reward so far; otherwise they replace it.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import EpisodeReward, Played
        >>> class Brief:
        ...     name, adds = "brief", True
        ...
        ...     def parts(self, played: Played) -> dict[str, float]:
        ...         return {"brief": 0.1 if len(played.actions[-1]) < 80 else 0.0}
        >>> env = EpisodeReward(gymnasium.make("rlvr/Gcd-v0"), Brief())
    """

    name: ClassVar[str]
    adds: ClassVar[bool]

    def parts(self, played: Played) -> dict[str, float]:
        """Return the named numbers that make up the reward, or that are added to it."""


class EpisodeReward(gymnasium.Wrapper[str, str, str, str]):
    """Gives an episode the reward of an `EpisodeScheme` at its end; the verdict stays.

    ``info["reward_parts"]`` adds up to the reward. An episode that is not scored has reward 0 and
    stays not scored. Chance depends on ``reset(seed=...)``, on how many episodes have begun since
    and on what the agent wrote; without any seed it differs from run to run.

    Args:
        env: an environment of this package, wrapped or not.
        scheme: what the reward is.

    Raises:
        ConfigError: the environment is another one.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import EpisodeReward, Overlong
        >>> env = EpisodeReward(gymnasium.make("rlvr/Gcd-v0"), Overlong(limit=100, buffer=40))
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("x" * 100)[4]["reward_parts"]
        {'environment': 0.0, 'overlong': -1.0}
    """

    def __init__(self, env: gymnasium.Env[str, str], scheme: EpisodeScheme) -> None:
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        self.scheme = scheme
        self._log = EpisodeLog()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem."""
        prompt, info = self.env.reset(seed=seed, options=options)
        self._log.reseed(seed)
        self._log.begin()
        return prompt, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; the reward of the last step is the scheme's."""
        text, earned, terminated, truncated, info = self.env.step(self.handed(action))
        self._log.actions.append(action)
        if not (terminated or truncated):
            return text, float(earned), terminated, truncated, info
        before = info.get("reward_parts")
        ending = {**info, "truncated": truncated}
        reward, parts = self._log.settle(self.scheme, ending, float(earned), before)
        return text, reward, terminated, truncated, {**info, "reward_parts": parts}

    def handed(self, action: str) -> str:
        """Return what the environment gets of a message; the scheme sees all of it."""
        return action


class EpisodeLog:
    """What is known of the running episode of one environment.

    Args:
        member: the number of the environment among those that were seeded together.
    """

    def __init__(self, member: int = 0) -> None:
        self._member = member
        self._rng: Rng | None = None
        self._seed = 0
        self.actions: list[str] = []

    def reseed(self, seed: int | None) -> None:
        """Begin a new sequence of episode seeds, or go on with the old one if there is no seed."""
        if seed is None and self._rng is None:
            seed = draw_seed(np.random.default_rng())
        if seed is not None:
            self._rng = stream("played", int(seed), self._member)

    def begin(self) -> None:
        """Forget the last episode and draw the next one's seed."""
        self.actions = []
        if self._rng is not None:
            self._seed = draw_seed(self._rng)

    def _mixed(self) -> int:
        """Return a seed of the episode and of the messages in it."""
        digest = hashlib.blake2b(digest_size=16)
        for action in self.actions:
            digest.update(f"{len(action)}:{action}".encode("utf-8", "surrogatepass"))
        return draw_seed(stream("played", self._seed, digest.hexdigest()))

    def settle(
        self,
        scheme: EpisodeScheme,
        ending: Mapping[str, Any],
        earned: float,
        before: Mapping[str, float] | None,
    ) -> tuple[float, dict[str, float]]:
        """Return the reward of an episode that has just ended, and its parts.

        Args:
            scheme: what the reward is.
            ending: the info of the last step, or what `ENDING` names of it, and ``truncated``.
            earned: the reward of the last step so far.
            before: its parts, None where it has none.
        """
        if not ending["verdict"].scored:
            return 0.0, {scheme.name: 0.0}
        drawn = ending["problem_seed"]  # None for a row of a dataset
        played = Played(
            verdict=ending["verdict"],
            actions=tuple(self.actions),
            earned=earned,
            seed=self._mixed(),
            problem=f"{ending['task']}/{ending['reference'] if drawn is None else drawn}",
            truncated=bool(ending["truncated"]),
        )
        parts = scheme.parts(played)
        if not scheme.adds:
            return math.fsum(parts.values()), parts
        booked = dict(before or {"environment": earned})
        for name, value in parts.items():
            booked[name] = booked.get(name, 0.0) + value
        return earned + math.fsum(parts.values()), booked
