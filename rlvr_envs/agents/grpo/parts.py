"""Environments, wrappers and curricula from the text that a configuration has for them."""

import ast
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium

from rlvr_envs import curricula, wrappers
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.curricula import Curriculum, Proposal

MakeEnv = Callable[[str | None, int | None], gymnasium.Env[str, str]]


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and arguments of ``NAME`` or ``NAME(argument=value, …)``.

    Raises:
        ConfigError: it is neither, or a value is no Python literal.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            given = {word.arg: _plain(word.value) for word in tree.keywords if word.arg}
            if len(given) == len(tree.keywords):
                return tree.func.id, given
    except (SyntaxError, ValueError):
        pass
    raise ConfigError(f"expected NAME or NAME(argument=value, …) with plain values, got {text!r}")


def _plain(node: ast.expr) -> Any:
    """Return a constant, a number with its sign, or a tuple or list of them."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Tuple() | ast.List():
            return tuple(_plain(part) for part in node.elts)
    raise ValueError(ast.dump(node))


class EnvMaker:
    """Makes environments of a task and a rung; None stands for the first task.

    Wrappers that remember problems, such as `HintOnFailure`, share what they remember with the same
    wrapper of all other environments, as the episodes of a group have to. It is this maker's state.

    Args:
        tasks: ids.
        wrapped_in: wrappers from the inside out, as `parse_call` reads them.
        knobs: settings of the tasks.

    Raises:
        ConfigError: there is no such wrapper.
    """

    def __init__(
        self, tasks: Sequence[str], wrapped_in: Sequence[str], knobs: Mapping[str, Any]
    ) -> None:
        self._tasks, self._knobs = tasks, dict(knobs)
        self._calls = [parse_call(text) for text in wrapped_in]
        for name, _ in self._calls:
            _known("wrapper", name, _wrappers())
        self._memories: dict[str, Any] = {}
        self._states: dict[str, Any] = {}  # of memories that are not made yet
        self._lock = threading.Lock()

    def __call__(self, task: str | None, difficulty: int | None) -> gymnasium.Env[str, str]:
        """Return a new environment."""
        env: gymnasium.Env[str, str] = TextEnv(
            task or self._tasks[0], difficulty=difficulty, **self._knobs
        )
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


def make_curriculum(
    text: str, tasks: Sequence[str], difficulties: Sequence[int | None], seed: int
) -> Curriculum:
    """Return the curriculum of a text, over these tasks and rungs.

    Raises:
        ConfigError: there is none of that name, or its arguments do not fit.
    """
    name, given = parse_call(text)
    ids = [registry.full_id(task) for task in tasks]
    arms = [(task, rung) for task in ids for rung in difficulties]
    low, high = difficulties[0] or 0, difficulties[-1] or 0
    own: dict[str, tuple[Callable[..., Curriculum], dict[str, Any]]] = {
        "fixed": (
            curricula.Fixed,
            {"proposals": [Proposal(task=task, difficulty=rung) for task, rung in arms]},
        ),
        "linear": (curricula.Linear, {"tasks": ids, "start": low, "end": high}),
        "rising_window": (curricula.RisingWindow, {"tasks": ids, "start": low}),
        "success_band": (curricula.SuccessBand, {"highest": dict.fromkeys(ids, high)}),
        "dump": (curricula.Dump, {"arms": arms}),
        "prompt_gdro": (curricula.PromptGdro, {"arms": arms}),
        "rollout_gdro": (curricula.RolloutGdro, {"arms": arms}),
        "weakness": (curricula.Weakness, {"arms": arms}),
    }
    _known("curriculum", name, own)
    make, defaults = own[name]
    made: Curriculum = _made(f"curriculum {name}", make, **{**defaults, "seed": seed, **given})
    return made


def _known(what: str, name: str, names: Sequence[str] | Mapping[str, Any]) -> None:
    if name not in names:
        hint = did_you_mean(name, tuple(names))
        raise ConfigError(f"no {what} {name!r}{hint} (known: {', '.join(sorted(names))})")


def _made(what: str, make: Callable[..., Any], *positional: Any, **arguments: Any) -> Any:
    try:
        return make(*positional, **arguments)
    except TypeError as error:  # an argument that it does not have, or lacks
        raise ConfigError(f"{what}: {error}") from error
