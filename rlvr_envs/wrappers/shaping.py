"""A wrapper that gives an episode the reward of a scheme and leaves its verdict alone."""

from collections.abc import Mapping
from typing import Any

import gymnasium

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.wrappers.schemes import Scheme


class ShapedReward(gymnasium.Wrapper[str, str, str, str]):
    """Replaces the reward that an episode ends with by that of a scheme.

    ``info["verdict"]`` stays as it is, so evaluation never sees a shaped reward.
    ``info["reward_parts"]`` says where the reward comes from: names and numbers that add up to it.
    An episode that is not scored has reward 0 and stays not scored.

    Args:
        env: an environment of this package, wrapped or not.
        scheme: what the reward is.

    Raises:
        ConfigError: the environment is another one or, at the end of an episode, its verdicts do
            not have the parts that the scheme needs.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import ShapedReward, ToolCosts
        >>> env = ShapedReward(gymnasium.make("rlvr/ChainSearch-v0"), ToolCosts(per_call=0.02))
    """

    def __init__(self, env: gymnasium.Env[str, str], scheme: Scheme) -> None:
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        self.scheme = scheme

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; the reward of the last step is the scheme's."""
        text, earned, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):
            return text, float(earned), terminated, truncated, info
        by_task = not truncated and len(action) <= MAX_RESPONSE_CHARS
        reward = shaped(self.scheme, info["verdict"], float(earned), info["task"], by_task=by_task)
        parts = booked(self.scheme, info.get("reward_parts"), float(earned), reward)
        return text, reward, terminated, truncated, {**info, "reward_parts": parts}


def shaped(scheme: Scheme, verdict: Verdict, earned: float, task: str, *, by_task: bool) -> float:
    """Return the reward of an episode.

    Args:
        scheme: what the reward is.
        verdict: that the episode ended with.
        earned: its reward so far.
        task: the id that posed the problem.
        by_task: whether the task itself gave the verdict; those that an environment gives, as
            where turns run out, have no parts.

    Raises:
        ConfigError: the scheme needs a part that the task's verdict does not have.
    """
    if not verdict.scored:
        return 0.0
    missing = [name for name in scheme.needs if name not in verdict.parts]
    if missing and not by_task:
        return scheme.cut_off(earned)
    if missing:
        known = ", ".join(sorted(verdict.parts)) or "none"
        raise ConfigError(
            f"the reward scheme {scheme.name!r} needs {', '.join(missing)} among the parts of a "
            f"verdict, and the parts of {task} are: {known}; wrap an environment that counts them"
        )
    return scheme.reward(verdict, earned)


def booked(
    scheme: Scheme, before: Mapping[str, float] | None, earned: float, reward: float
) -> dict[str, float]:
    """Return the parts of a reward, which add up to it."""
    if not scheme.adds:
        return {scheme.name: reward}
    return {**(before or {"environment": earned}), scheme.name: reward - earned}


def check_wraps_text(wrapper: object, unwrapped: object) -> None:
    """Raise `ConfigError` unless what is wrapped is an environment of this package."""
    if not isinstance(unwrapped, TextEnv):
        raise ConfigError(
            f"{type(wrapper).__name__} wraps an environment of this package, such as "
            f"gymnasium.make('rlvr/Search-v0'), got {unwrapped!r:.80}"
        )
