"""Episodes of several turns for a trainer: an environment that plays rows, one after the other.

A trainer's loop must not end because an environment broke, and what broke must not count as a bad
answer. So a fault gives an episode without a score. What the user has to mend is raised.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import (
    ConfigError,
    DependencyError,
    RegistrationError,
    RowError,
    UsageError,
)
from rlvr_envs.core.gym_ids import register_ids

MakeEnv = Callable[[], gymnasium.Env[str, str]]

OVER = "The episode is over. Send no further message."

# What the user has to mend, as opposed to what may go well the next time.
MENDABLE = (
    ConfigError,
    DependencyError,
    RegistrationError,
    RowError,
    UsageError,
    gymnasium.error.Error,
)

_log = logging.getLogger(__name__)


class RowEpisodes:
    """Plays an episode of a row, and then one of the next row.

    Args:
        env: the id of an environment, or a function that makes one; None for the environment of
            each row's own id. An environment of this package replays the row itself; another, such
            as one on a server, is given the row's ``problem_seed`` and ``difficulty``.
        arguments: what `gymnasium.make` gets beside the id.
    """

    def __init__(self, env: str | MakeEnv | None = None, /, **arguments: Any) -> None:
        if arguments and not isinstance(env, str):
            raise ConfigError(f"the arguments {', '.join(arguments)} need the id of an environment")
        self._source, self._arguments = env, arguments
        self._envs: dict[str, gymnasium.Env[str, str]] = {}
        self._env: gymnasium.Env[str, str] | None = None
        self._rewards: list[float] = []
        self._scored = True
        self.over = True

    def begin(self, row: str | Mapping[str, Any]) -> str:
        """Pose the problem of a row and return the prompt.

        A fault of the environment gives an episode that is over, without a score.

        Raises:
            ConfigError: the environment poses another problem than the row's.
            RowError: the row is no JSON, or it is incomplete or was altered.
        """
        data = _row(row)
        self._rewards, self._scored, self.over = [], True, False
        try:
            self._env = env = self._open(data["id"])
            return _pose(env, data)
        except MENDABLE:
            raise
        except Exception as error:  # noqa: BLE001 - a broken environment must not end the training
            return self._fault(error)

    def act(self, text: str) -> str:
        """Take a message and return the environment's reply; once the episode is over, `OVER`.

        Raises:
            DependencyError: the task needs a program or package that is missing here.
        """
        if self.over or self._env is None:
            return OVER
        try:
            reply, reward, terminated, truncated, info = self._env.step(text)
        except MENDABLE:
            raise
        except Exception as error:  # noqa: BLE001 - a broken environment must not end the training
            return self._fault(error)
        self._rewards.append(float(reward))
        self.over = terminated or truncated
        self._scored = bool(info.get("scored", True))
        return reply

    @property
    def reward(self) -> float | None:
        """What the environment has paid so far; None where our own fault left it without a score.

        An episode that the model did not bring to its end has earned nothing but that.
        """
        return sum(self._rewards) if self._scored else None

    def close(self) -> None:
        """Close the environments."""
        while self._envs:
            self._envs.popitem()[1].close()
        self._env, self.over = None, True

    def _open(self, row_id: str) -> gymnasium.Env[str, str]:
        name = row_id if self._source is None else ""
        if name not in self._envs:
            self._envs[name] = self._made(name)
        return self._envs[name]

    def _made(self, row_id: str) -> gymnasium.Env[str, str]:
        if callable(self._source):
            return self._source()
        register_ids()  # tasks that were added after the import
        made: gymnasium.Env[str, str] = gymnasium.make(
            self._source or row_id, disable_env_checker=True, **self._arguments
        )
        return made

    def _fault(self, error: Exception) -> str:
        _log.warning("an episode is left out: %s: %s", type(error).__name__, error)
        self._scored, self.over = False, True
        self._envs = {name: env for name, env in self._envs.items() if env is not self._env}
        self._env = None
        return OVER


def _row(row: str | Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        data = json.loads(row) if isinstance(row, str) else row
    except ValueError as error:
        raise RowError(f"a row is the JSON text of an object, got {row!r:.80}") from error
    if not isinstance(data, Mapping) or "id" not in data:
        raise RowError(f"a row is an object with an id, got {data!r:.80}")
    return data


def _pose(env: gymnasium.Env[str, str], row: Mapping[str, Any]) -> str:
    if isinstance(env.unwrapped, TextEnv):
        return env.reset(seed=0, options={"problem": row})[0]
    names = ("problem_seed", "difficulty")
    options = {name: row[name] for name in names if row.get(name) is not None}
    if "problem_seed" not in options:
        raise ConfigError(f"this row of {row['id']} has no problem_seed: play it in this process")
    prompt, _ = env.reset(options=options)
    if row.get("prompt", "") not in prompt:
        raise ConfigError(
            f"{env.unwrapped!r:.80} poses another problem than the row of {row['id']}: the version "
            "there, the task's settings or the answer format are not those of the row"
        )
    return prompt
