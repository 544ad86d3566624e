"""A limit on the turns of an episode that may change from one episode to the next."""

from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.shaping import check_wraps_text

HorizonLike = int | Callable[[], int]
REASON = "horizon"  # of a truncation, in info["truncated_by"]


class Horizon(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Truncates an episode after so many turns, as curricula over the horizon do (AgentGym-RL).

    The number is read when an episode begins and holds until it ends; the environment's own limit
    holds too. ``info["horizon"]`` tells it. An episode that it cuts off has no reward, and
    ``info["truncated_by"]`` is ``"horizon"``; the verdict's detail says it in words.

    `horizon` can be set, also from outside of a worker process:
    ``envs.set_attr("horizon", 20)``. A callable is called in the process of the environment, so
    in an ``AsyncVectorEnv`` it is a copy that learns nothing of the trainer; set the number there.

    Args:
        env: an environment of this package, wrapped or not.
        horizon: a number of turns from 1, or what returns it, such as the ``horizon`` method of
            `rlvr_envs.curricula.GrowingHorizon`.
        announce: whether to tell the agent: the prompt then ends in a sentence with the number.

    Raises:
        ConfigError: the horizon is no number of turns, or there is another one inside.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Horizon
        >>> env = Horizon(gymnasium.make("rlvr/GuessNumber-v0"), 1)
        >>> prompt, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step("Hm.")
        >>> truncated, info["truncated_by"]
        (True, 'horizon')
    """

    def __init__(
        self, env: gymnasium.Env[str, str], horizon: HorizonLike, *, announce: bool = False
    ) -> None:
        RecordConstructorArgs.__init__(self, horizon=horizon, announce=announce)
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        inside: object = env
        while isinstance(inside, gymnasium.Wrapper):
            if isinstance(inside, Horizon):
                raise ConfigError("there is a Horizon inside already: set its horizon instead")
            inside = inside.env
        self._limit = TurnLimit(env.unwrapped, horizon)
        self._announce = announce

    @property
    def horizon(self) -> int:
        """The number of turns that an episode has which begins now."""
        return turns(self._limit.horizon)

    @horizon.setter
    def horizon(self, horizon: HorizonLike) -> None:
        self._limit.horizon = checked(horizon)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem with the horizon of this moment."""
        prompt, info = self.env.reset(seed=seed, options=options)
        limit = self._limit.begin()
        if self._announce:
            prompt += announcement(limit)
        return prompt, {**info, "horizon": limit}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; the turn that reaches the horizon is the last."""
        text, reward, terminated, truncated, info = self.env.step(action)
        info = {**info, "horizon": self._limit.current}
        if truncated and self._limit.binding:
            info["truncated_by"] = REASON
        return text, float(reward), terminated, truncated, info


class TurnLimit:
    """The turn limit of one environment, and what sets it.

    Attributes:
        horizon: a number of turns, or what returns it.
        current: the turns of the running episode.
        binding: whether it has fewer than the environment would give it.
    """

    def __init__(self, env: object, horizon: HorizonLike) -> None:
        if not isinstance(env, TextEnv):
            raise ConfigError(f"a horizon needs an environment of this package, got {env!r:.80}")
        self._env = env
        self.horizon = checked(horizon)
        self.current = 0
        self.binding = False

    def begin(self) -> int:
        """Give the episode that has just begun its limit, and return it."""
        own = self._env.turn_limit
        horizon = turns(self.horizon)
        self.current, self.binding = min(horizon, own), horizon < own
        self._env.turn_limit = self.current
        return self.current


def announcement(limit: int) -> str:
    """Return what a prompt ends in where the agent is told its horizon."""
    if limit == 1:
        return "\n\nYou have a single message, which must be the answer."
    return f"\n\nYou have {limit} messages in all, the last of which must be the answer."


def checked(horizon: HorizonLike) -> HorizonLike:
    """Return a horizon if it can be one; raise `ConfigError` otherwise."""
    if not callable(horizon):
        turns(horizon)
    return horizon


def turns(horizon: HorizonLike) -> int:
    """Return the number of turns that a horizon is at this moment."""
    number = horizon() if callable(horizon) else horizon
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ConfigError(f"a horizon is an integer from 1, or returns one; got {number!r}")
    return number
