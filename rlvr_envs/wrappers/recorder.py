"""Episodes kept as lines of JSON, from which they can be posed and played again."""

import json
import math
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, RowError, did_you_mean_path
from rlvr_envs.wrappers.shaping import check_wraps_text

# In the row, or a key of its own.
_ELSEWHERE = (
    *("task", "domain", "difficulty", "problem_seed", "turn", "verdict", "reference"),
    *("void_turn", "out_of_turns"),
)


class Recorder(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    r"""Writes each finished episode to a folder as one line of JSON, as the agent saw it here.

    A line has ``row`` (the problem as a dataset row), ``prompt``, ``actions``, ``observations``
    (what each action was answered with), ``rewards`` (of each action), ``reward`` (their sum),
    ``reward_parts``, ``verdict``, ``scored``, ``terminated``, ``truncated``, ``seed`` and
    ``episode`` (the last seed given to `reset`, and how many episodes have begun since), ``time``
    (when it ended, in seconds since 1970) and ``info`` (what other wrappers told at the end).
    Episodes that are left before their end are not written.

    Any number of environments and processes may share the folder: each has a file of its own. What
    `reset` poses is what is recorded, so put it outside of every other wrapper.

    Args:
        env: an environment of this package, wrapped or not.
        folder: where the lines go; made when the first one is written.

    Raises:
        ConfigError: the environment is another one.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Recorder, read_records
        >>> env = Recorder(gymnasium.make("rlvr/Gcd-v0", difficulty=0), "episodes")
        >>> prompt, info = env.reset(seed=0)
        >>> step = env.step(r"\boxed{16}")
        >>> env.close()
        >>> [record["reward"] for record in read_records("episodes")]
        [1.0]
    """

    def __init__(self, env: gymnasium.Env[str, str], folder: str | os.PathLike[str]) -> None:
        RecordConstructorArgs.__init__(self, folder=os.fspath(folder))
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        self._lines = Lines(Path(folder))
        self._seed: int | None = None
        self._episode = -1
        self._played: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem."""
        prompt, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._seed, self._episode = int(seed), -1
        self._episode += 1
        self._played = {"prompt": prompt, "actions": [], "observations": [], "rewards": []}
        return prompt, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; write the episode once it is over."""
        text, reward, terminated, truncated, info = self.env.step(action)
        for name, value in (("actions", action), ("observations", text), ("rewards", reward)):
            self._played[name].append(value)
        if terminated or truncated:
            self._lines.write(self._record(info, terminated=terminated, truncated=truncated))
        return text, float(reward), terminated, truncated, info

    def _record(
        self, info: Mapping[str, Any], *, terminated: bool, truncated: bool
    ) -> dict[str, Any]:
        base: Any = self.env.unwrapped
        own = ("scored", "reward_parts")
        return {
            "row": base.instance.to_row(),
            **self._played,
            "reward": math.fsum(self._played["rewards"]),
            "reward_parts": info.get("reward_parts"),
            "verdict": info["verdict"].to_json(),
            "scored": info["scored"],
            "terminated": bool(terminated),
            "truncated": bool(truncated),
            "seed": self._seed,
            "episode": self._episode,
            "time": time.time(),
            "info": {k: v for k, v in info.items() if k not in (*_ELSEWHERE, *own)},
        }


class Lines:
    """Appends lines of JSON to a file in a folder that nobody else writes to.

    A line is written in one go and taken back if there is no room for all of it. A process that is
    killed meanwhile leaves at most one unfinished line, the last of a file that nobody goes on
    with; `read_records` leaves it out. A forked child and a copy have a file of their own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pid = 0
        self._path = folder

    def __reduce__(self) -> tuple[type["Lines"], tuple[Path]]:
        return Lines, (self._folder,)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record.

        Raises:
            OSError: it cannot be written; what is in the file stays whole.
        """
        content = _line(record)
        if self._pid != os.getpid():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._pid = os.getpid()
            self._path = self._folder / f"{self._pid}-{secrets.token_hex(8)}.jsonl"
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            before = os.fstat(file).st_size
            if os.write(file, content) < len(content):
                os.ftruncate(file, before)
                raise OSError(f"there is no room for a line of {len(content)} bytes: {self._path}")
        finally:
            os.close(file)


def read_records(folder: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    r"""Yield the episodes of a folder, file by file; unfinished last lines are left out.

    Raises:
        ConfigError: there is no such folder.
        RowError: a whole line is no JSON object.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Recorder, read_records
        >>> with Recorder(gymnasium.make("rlvr/Gcd-v0", difficulty=0), "episodes") as env:
        ...     prompt, info = env.reset(seed=0)
        ...     step = env.step(r"\boxed{16}")
        >>> next(read_records("episodes"))["actions"]
        ['\\boxed{16}']
    """
    if not Path(folder).is_dir():
        raise ConfigError(f"there is no folder {os.fspath(folder)!r}{did_you_mean_path(folder)}")
    for path in sorted(Path(folder).glob("*.jsonl")):
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield _parsed(line, f"{path}, line {number}")


def replay(env: gymnasium.Env[str, str], record: Mapping[str, Any]) -> dict[str, Any]:
    r"""Play the actions of a record in an environment and return the info that they end with.

    The environment poses the recorded problem again; its wrappers may be others. The key
    ``replayed_reward`` of the info is the sum of the rewards.

    Raises:
        RowError: the record has no problem that can be posed, or its actions do not end it.
        ConfigError: the environment is not of this package or does not pose such problems.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Recorder, read_records, replay
        >>> with Recorder(gymnasium.make("rlvr/Gcd-v0", difficulty=0), "episodes") as env:
        ...     prompt, info = env.reset(seed=0)
        ...     step = env.step(r"\boxed{16}")
        >>> [record] = read_records("episodes")
        >>> replay(gymnasium.make("rlvr/Gcd-v0"), record)["replayed_reward"]
        1.0
    """
    if not isinstance(env.unwrapped, TextEnv):
        raise ConfigError(f"replay needs an environment of this package, got {env!r:.80}")
    missing = [name for name in ("row", "actions") if name not in record]
    if missing:
        raise RowError(f"the record lacks {' and '.join(missing)}")
    env.reset(options={"problem": record["row"]})
    rewards = []
    for action in record["actions"]:
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(float(reward))
        if terminated or truncated:
            return {**info, "replayed_reward": math.fsum(rewards)}
    raise RowError(f"the episode was not over after {len(record['actions'])} actions")


def _line(record: Mapping[str, Any]) -> bytes:
    plain = finite(record)
    try:
        line = json.dumps(plain, ensure_ascii=False, default=repr, allow_nan=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can hold
        line = json.dumps(plain, default=repr, allow_nan=False).encode()
    return line + b"\n"


def finite(value: Any) -> Any:
    """Return a value with None for numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise RowError(f"{where} is no JSON: {error}") from error
    if not isinstance(record, dict):
        raise RowError(f"{where} is no object but {record!r:.80}")
    return record
