"""What worker processes do for the server: play a turn, make rows, judge rows.

Every function here is pure: an episode is its arguments, the options of its reset and the actions
so far, so any worker can go on with it. A worker keeps the environments that it played last, and
plays what it lacks again. So a worker that dies takes nothing with it.
"""

import copy
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, RlvrEnvsError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.seeding import SEED_LIMIT, stream
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.datasets.split import read_splits, split_of

# Environments that a process keeps between the turns of their episodes.
_KEPT = 512
# A tenth of all problems are of the smallest split: so many draws never miss it in practice.
_SPLIT_DRAWS = 2000

SPLITS = read_splits("train=0.8,validation=0.1,test=0.1")


class Episode(NamedTuple):
    """What an episode depends on.

    Attributes:
        key: names the episode, once in the life of the server.
        arguments: of `TextEnv`, as JSON text.
        options: of its reset; they name one problem.
    """

    key: str
    arguments: str
    options: Mapping[str, Any]


class Turn(NamedTuple):
    """What an environment answers.

    Attributes:
        text: the observation.
        reward: the reward of this turn; None after a reset, and where the turn was not scored.
        done: whether the episode is over.
        metadata: the task, the turn, and at the end the verdict in parts. Never the reference.
        in_sandbox: whether answers of this task are judged by a sandbox.
    """

    text: str
    reward: float | None
    done: bool
    metadata: dict[str, Any]
    in_sandbox: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request could not be served, in a sentence for the client: the request is at fault."""

    reason: str


@lru_cache(maxsize=256)
def _prototype(arguments: str) -> TextEnv:
    return _distrusted(TextEnv(**json.loads(arguments), with_reference=False))


def _distrusted(env: TextEnv) -> TextEnv:
    """Return an environment whose knobs a client chose: it opens nothing that they name."""
    env.source.distrust()
    return env


def check_arguments(arguments: str) -> str:
    """Return the id of the source that the arguments of an environment name.

    Raises:
        RlvrEnvsError: an argument is unknown or out of range.
    """
    return _prototype(arguments).source.id


class _Kept:
    """Environments in the middle of their episodes, the oldest dropped first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, tuple[TextEnv, int]] = OrderedDict()

    def take(self, key: str) -> tuple[TextEnv, int] | None:
        with self._lock:
            return self._found.pop(key, None)

    def keep(self, key: str, env: TextEnv, taken: int) -> None:
        with self._lock:
            self._found[key] = env, taken
            if len(self._found) > _KEPT:
                self._found.popitem(last=False)


_kept = _Kept()


def begin(episode: Episode) -> Turn | Refusal:
    """Pose the problem of an episode."""
    try:
        env, text, info = _reset(episode)
    except RlvrEnvsError as error:
        return Refusal(str(error))
    _kept.keep(episode.key, env, 0)
    in_sandbox = env.instance.task.judged_in_sandbox
    return Turn(text, None, False, info, in_sandbox)


def _reset(episode: Episode) -> tuple[TextEnv, str, dict[str, Any]]:
    # A copy shares the source, which has no state; reset renews all that an episode changes.
    env = copy.copy(_prototype(episode.arguments))
    text, info = env.reset(options=dict(episode.options))
    return env, text, info


def act(episode: Episode, actions: Sequence[str]) -> Turn | Refusal:
    """Take the last of these actions; those before it have been taken already.

    A turn that could not be judged is played again, once, in a new environment.
    """
    found = _kept.take(episode.key)
    try:
        env, taken = found if found is not None else (_reset(episode)[0], 0)
        turn = _play(env, actions[taken:])
        if turn.done and turn.reward is None:
            env = _reset(episode)[0]
            turn = _play(env, actions)
    except RlvrEnvsError as error:  # such as a compiler that is missing here
        return Refusal(str(error))
    if not turn.done:
        _kept.keep(episode.key, env, len(actions))
    return turn


def _play(env: TextEnv, actions: Sequence[str]) -> Turn:
    for action in actions[:-1]:
        env.step(action)
    text, reward, terminated, truncated, info = env.step(actions[-1])
    verdict = info.pop("verdict", None)
    if verdict is not None:
        info |= {"truncated": truncated, **verdict.to_json()}
    scored = verdict is None or verdict.scored
    return Turn(text, reward if scored else None, terminated or truncated, info)


def unjudged(reason: str, *, timeout: bool = False) -> Turn:
    """Return the turn of an answer that a worker could not judge."""
    verdict = Verdict.timeout(reason) if timeout else Verdict.verifier_error(reason)
    metadata = {"scored": verdict.scored, "truncated": False, **verdict.to_json()}
    return Turn("", verdict.score if verdict.scored else None, True, metadata)


def problem_of_split(arguments: str, split: str, index: int) -> int | Refusal:
    """Return the problem seed of a task of a split; splits share no problem.

    A problem's split follows from its fingerprint, as in our datasets.
    """
    source = _prototype(arguments).source
    rng = stream("served split", source.id, split, index)
    for seed in rng.integers(SEED_LIMIT, size=_SPLIT_DRAWS).tolist():
        if split_of(source.draw(seed).fingerprint(), SPLITS) == split:
            return int(seed)
    return Refusal(f"{source.id} has no problem of the split {split!r}: raise the difficulty")


def make_rows(request: Mapping[str, Any]) -> list[Row] | Refusal:
    """Return the rows of a request to ``/problems``: seeds are ``seed``, ``seed + 1``, ..."""
    wanted = dict(request)
    task_id, seed, count = wanted.pop("id"), wanted.pop("seed"), wanted.pop("count")
    knobs = wanted.pop("knobs")
    given = {name: value for name, value in wanted.items() if value is not None}
    try:
        overlap = set(knobs) & {"id", "seed", "problem_seed", *given}
        if overlap:
            raise ConfigError(f"not a knob: {', '.join(sorted(overlap))}")
        env = _distrusted(TextEnv(task_id, with_reference=False, **given, **knobs))
        return [_row(env, seed + i) for i in range(count)]
    except RlvrEnvsError as error:
        return Refusal(str(error))


def _row(env: TextEnv, seed: int) -> Row:
    env.reset(seed=seed)
    return env.instance.to_row()


def judge(row: Row, response: str | list[str]) -> Verdict | Refusal:
    """Judge a response to a row; what could not be judged is judged once more."""
    try:
        try:
            instance = Instance.from_row(row)
        except RlvrEnvsError:
            raise
        except Exception as error:  # noqa: BLE001 - such as a list where an id should be
            return Refusal(f"not a row: {type(error).__name__}: {error}")
        verdict = instance.judge(response)
        return verdict if verdict.scored else instance.judge(response)
    except RlvrEnvsError as error:
        return Refusal(str(error))


_FUNCTIONS = {each.__name__: each for each in (begin, act, problem_of_split, make_rows, judge)}


def call(name: str, *arguments: Any) -> object:
    """Run one of the functions above; what the server sends to its workers."""
    return _FUNCTIONS[name](*arguments)
