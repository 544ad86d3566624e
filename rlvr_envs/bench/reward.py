"""What a training episode earns where somebody else's trainer judges rows.

An experiment may change the reward of training, such as by a noisy verifier. That is done by
wrappers around the environment, so a row is played here as our own agent plays it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from rlvr_envs import wrappers
from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.agents.grpo.plugins import parse_call
from rlvr_envs.bench.results import Response
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Row
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.wrappers.played import EpisodeReward
from rlvr_envs.wrappers.shaping import ShapedReward


class Reward:
    """A reward function for one process and thread.

    Args:
        fixed: the settings that belong to the experiment; its ``wrappers`` are applied.
        seed: of what these draw.

    Raises:
        ConfigError: a wrapper changes more than the reward.
    """

    def __init__(self, fixed: Mapping[str, Any], *, seed: int) -> None:
        named = wrappers_of(fixed)
        if beyond := beyond_reward(named):
            raise ConfigError(
                f"{beyond} changes the episodes themselves: no reward function can do that"
            )
        self._make_env = EnvMaker((), named, {})
        self._envs: dict[tuple[str, int | None], gymnasium.Env[str, str]] = {}
        self._seed, self._played = seed, 0

    def __call__(self, row: str | Row, response: Response) -> float | None:
        """Return what a response to a row earns; None where it could not be scored.

        Args:
            row: as it was exported, or its JSON text.
            response: what the model wrote, or its actions where the task has several turns.

        Raises:
            RowError: the row was altered.
        """
        given: Row = json.loads(row) if isinstance(row, str) else row
        key = (given["id"], given.get("difficulty"))
        if key not in self._envs:
            self._envs[key] = self._make_env(*key)
        env = self._envs[key]
        self._played += 1
        seed = draw_seed(stream("bench reward", self._seed, self._played))
        env.reset(seed=seed, options={"problem": given})
        earned = 0.0
        for action in [response] if isinstance(response, str) else response:
            _, paid, terminated, truncated, info = env.step(action)
            earned += float(paid)
            if terminated or truncated:
                return earned if info["scored"] else None
        return earned


def wrappers_of(fixed: Mapping[str, Any]) -> Sequence[str]:
    """Return the wrappers that belong to an experiment, from the inside out."""
    return tuple(fixed.get("wrappers", ()))


def beyond_reward(named: Sequence[str]) -> str:
    """Return the first of some wrappers that changes more than the reward, or nothing."""
    for text in named:
        kind = getattr(wrappers, parse_call(text)[0], None)
        if kind is None or not issubclass(kind, (EpisodeReward, ShapedReward)):
            return text
    return ""
