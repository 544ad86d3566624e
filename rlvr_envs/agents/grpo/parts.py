"""Environments and wrappers from the text that a configuration has for them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from rlvr_envs import wrappers
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.plugins import parse_call
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.evaluation.plan import read_difficulties

Cell = tuple[str, int | None]  # a task's id, and a rung of its ladder
MakeEnv = Callable[[str | None, int | None], gymnasium.Env[str, str]]


def read_task(text: str) -> tuple[str, dict[str, Any]]:
    """Return full id and knobs of ``Gcd-v0`` or ``MathDataset-v0(path="train.jsonl")``.

    Raises:
        ConfigError: knobs are no plain values.
        RegistrationError: there is no such task.
    """
    name, bracket, _ = text.partition("(")
    knobs = parse_call(f"task{text[len(name) :]}")[1] if bracket else {}
    return registry.full_id(name.strip()), knobs


def cells_of(config: Config) -> list[Cell]:
    """Return all pairs of a task and a rung; tasks without a ladder have the rung None.

    Raises:
        ConfigError: a task stands there twice, or the difficulty is none.
    """
    tasks = [read_task(text)[0] for text in config.data.tasks]
    twice = sorted({task for task in tasks if tasks.count(task) > 1})
    if twice:
        raise ConfigError(f"a task stands in tasks once, with one set of knobs; got twice: {twice}")
    rungs = read_difficulties(config.data.difficulty)
    return [cell for task in tasks for cell in _rungs(task, rungs)]


def _rungs(task: str, rungs: Sequence[int | None]) -> list[Cell]:
    if task not in registry.mixture_ids():
        try:
            registry.find(task).task_type.Config.at(0)
        except ConfigError:  # the rows of a data set are as hard as they are
            return [(task, None)]
    return [(task, rung) for rung in rungs]


class EnvMaker:
    """Makes environments of a task and a rung; None stands for the first task.

    Wrappers that remember problems, such as `HintOnFailure`, share what they remember with the same
    wrapper of all other environments, as the episodes of a group have to. It is this maker's state.

    Args:
        tasks: ids, with their knobs, as `read_task` reads them.
        wrapped_in: wrappers from the inside out, as `parse_call` reads them.
        knobs: settings of all tasks.

    Raises:
        ConfigError: there is no such wrapper.
    """

    def __init__(
        self, tasks: Sequence[str], wrapped_in: Sequence[str], knobs: Mapping[str, Any]
    ) -> None:
        self._tasks = dict(map(read_task, tasks))
        self._knobs = dict(knobs)
        self._calls = [parse_call(text) for text in wrapped_in]
        for name, _ in self._calls:
            _known("wrapper", name, _wrappers())
        self._memories: dict[str, Any] = {}
        self._states: dict[str, Any] = {}  # of memories that are not made yet
        self._lock = threading.Lock()

    def __call__(self, task: str | None, difficulty: int | None) -> gymnasium.Env[str, str]:
        """Return a new environment."""
        name = registry.full_id(task) if task else next(iter(self._tasks))
        knobs = self._knobs | self._tasks.get(name, {})
        env: gymnasium.Env[str, str] = TextEnv(name, difficulty=difficulty, **knobs)
        with self._lock:
            for place, (name, arguments) in enumerate(self._calls):
                env = self._wrapped(env, f"{place} {name}", name, arguments)
        return env

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
