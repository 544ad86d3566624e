"""Environments and wrappers from the text that a configuration has for them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from rlvr_envs import wrappers
from rlvr_envs.agents.grpo.plugins import parse_call
from rlvr_envs.agents.grpo.problems import expand, has_levels
from rlvr_envs.core import registry
from rlvr_envs.core.both_seats import BothSeats
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, did_you_mean

MakeEnv = Callable[[str | None, int | None], gymnasium.Env[str, str]]


class EnvMaker:
    """Makes environments of a task and a level; None stands for the first task.

    Tasks without levels, such as those of data sets, are made without one.

    Wrappers that remember problems, such as `HintOnFailure`, share what they remember with the same
    wrapper of all other environments, as the episodes of a group have to. It is this maker's state.

    Args:
        tasks: ids, with their knobs, as `read_task` reads them; a mixture stands for its tasks.
        wrapped_in: wrappers from the inside out, as `parse_call` reads them.
        knobs: settings of all tasks.

    Raises:
        ConfigError: there is no such wrapper.
    """

    def __init__(
        self, tasks: Sequence[str], wrapped_in: Sequence[str], knobs: Mapping[str, Any]
    ) -> None:
        self._tasks, _ = expand(tasks)
        self._knobs = dict(knobs)
        self._calls = [parse_call(text) for text in wrapped_in]
        for name, _ in self._calls:
            _known("wrapper", name, _wrappers())
        self._memories: dict[str, Any] = {}
        self._states: dict[str, Any] = {}  # of memories that are not made yet
        self._lock = threading.Lock()

    def __call__(self, task: str | None, difficulty: int | None) -> gymnasium.Env[str, str]:
        """Return a new environment."""
        if task is None and not self._tasks:
            raise ConfigError("a proposal without a task needs tasks in the configuration")
        name = next(iter(self._tasks)) if task is None else registry.full_id(task)
        knobs = self._knobs | self._tasks.get(name, {})
        level = difficulty if has_levels(name) else None
        env = self.bare(name, level, knobs)
        with self._lock:
            for place, (name, arguments) in enumerate(self._calls):
                env = self._wrapped(env, f"{place} {name}", name, arguments)
        return env

    def bare(
        self, name: str, level: int | None, knobs: Mapping[str, Any]
    ) -> gymnasium.Env[str, str]:
        """Return what the wrappers go around."""
        return TextEnv(name, difficulty=level, **knobs)

    def _wrapped(
        self, env: gymnasium.Env[str, str], key: str, name: str, arguments: Mapping[str, Any]
    ) -> gymnasium.Env[str, str]:
        shared = {"memory": self._memories[key]} if key in self._memories else {}
        wrapped: Any = _made(
            f"wrapper {name}", getattr(wrappers, name), env, **{**arguments, **shared}
        )
        memory = vars(wrapped).get("memory")
        if memory is not None and not shared:
            self._memories[key] = memory
            if key in self._states:
                memory.load_state_dict(self._states.pop(key))
        made: gymnasium.Env[str, str] = wrapped
        return made

    def state_dict(self) -> dict[str, Any]:
        """Return what the wrappers remember, as JSON can hold it."""
        with self._lock:
            made = {key: memory.state_dict() for key, memory in self._memories.items()}
            return {**self._states, **made}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` returned; environments may be there already."""
        with self._lock:
            self._states = {key: value for key, value in state.items() if key not in self._memories}
            for key, memory in self._memories.items():
                if key in state:
                    memory.load_state_dict(state[key])


def both_seats(make_env: MakeEnv) -> MakeEnv:
    """Return what makes environments in which the agent plays both seats."""

    def make(task: str | None, difficulty: int | None) -> gymnasium.Env[str, str]:
        return BothSeats(make_env(task, difficulty))

    return make


def _wrappers() -> list[str]:
    """Return the names of the wrappers, without those of what they are made with."""
    found = [(name, getattr(wrappers, name)) for name in wrappers.__all__]
    return [n for n, kind in found if isinstance(kind, type) and issubclass(kind, gymnasium.Env)]


def _known(what: str, name: str, names: Sequence[str] | Mapping[str, Any]) -> None:
    if name not in names:
        hint = did_you_mean(name, tuple(names))
        raise ConfigError(f"no {what} {name!r}{hint} (known: {', '.join(sorted(names))})")


def _made(what: str, make: Callable[..., Any], *positional: Any, **arguments: Any) -> Any:
    try:
        return make(*positional, **arguments)
    except TypeError as error:  # an argument that it does not have, or lacks
        raise ConfigError(f"{what}: {error}") from error
