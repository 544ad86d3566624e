"""The folder of a run: its configuration, and its episodes as they end.

``episodes.jsonl`` only grows, one line an episode. Every line is handed to the operating system
as soon as its episode ends, so neither Ctrl-C nor ``kill -9`` loses one; a last line that was cut
off is removed when the run is resumed.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from rlvr_envs.core.errors import ConfigError, RowError, UsageError
from rlvr_envs.core.files import replaced

Record = dict[str, Any]

CONFIG = "run.json"
EPISODES = "episodes.jsonl"
SUMMARY = "summary.json"
REPORT = "report.html"

_NONE = type(None)
# What every episode has, and of what type; the statistics rely on it.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "key": str,
    "policy": str,
    "id": str,
    "task": (str, _NONE),
    "domain": (str, _NONE),
    "difficulty": (int, _NONE),
    "problem_seed": (int, _NONE),
    "index": (int, _NONE),
    "sample": int,
    "response": (str, list, _NONE),
    "answer": (str, _NONE),
    "verdict": dict,
    "scored": bool,
    "turns": int,
    "response_chars": int,
    "elapsed_s": (int, float),
}

# What an episode may have besides, and statistics look at.
_OPTIONAL_FIELDS: dict[str, type | tuple[type, ...]] = {
    "finish": str,
    "tokens": int,
    "prompt_tokens": int,
    "attempts": int,
    "waited_s": (int, float),
}

_CHUNK = 1 << 16


class RunFolder:
    """One run on disk; opens it for appending and locks it against a second process.

    Raises:
        ConfigError: the folder holds a run with another configuration.
        UsageError: another process is writing to it.
    """

    def __init__(self, path: Path, config: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the run folder {str(path)!r} cannot be made: {error}") from error
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path / EPISODES, flags, 0o644)
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(f"another process is writing to {path}") from error
            self._check(config, versions)
            self.repaired = _cut_torn_line(self._file)
        except BaseException:
            os.close(self._file)
            raise

    def _check(self, config: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        target = self.path / CONFIG
        # What is compared is what would be written, so that tuples and lists are equal.
        wanted = json.loads(json.dumps(config))
        if not target.exists():
            if os.fstat(self._file).st_size:
                raise ConfigError(
                    f"{self.path} holds {EPISODES} but no {CONFIG}: use another --out"
                )
            write_json(target, {"config": wanted, "versions": dict(versions)})
            return
        try:
            stored = json.loads(target.read_text(encoding="utf-8"))["config"]
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise ConfigError(f"{target} is not the configuration of a run: {error!r}") from error
        if stored != wanted:
            changes = "; ".join(_differences(stored, wanted))
            raise ConfigError(
                f"{self.path} holds a run with another configuration ({changes}): "
                "use the same one to resume it, or another --out"
            )

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one finished episode."""
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace")
        data = memoryview(line + b"\n")
        while data:  # a single write unless the disk is nearly full
            data = data[os.write(self._file, data) :]

    def records(self) -> Iterator[Record]:
        """Yield the episodes on disk, in the order in which they ended."""
        yield from read_records(self.path / EPISODES)

    def close(self) -> None:
        """Release the folder."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_records(path: Path) -> Iterator[Record]:
    """Yield the episodes of a file; a last line that was cut off is passed over.

    Raises:
        RowError: another line is not an episode.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            record = None
            try:
                record = json.loads(line)
                fault = _fault(record)
            except (ValueError, RecursionError) as error:
                fault = f"not JSON: {error}"
            if fault:
                told = f"{path}, line {number}: {fault}"
                raise RowError(f"{told}; remove the line to have its episode asked again")
            yield cast(Record, record)


def _fault(record: object) -> str:
    """Return what keeps a line from being an episode, if anything does."""
    if not isinstance(record, dict):
        return f"an episode is an object, got {record!r:.40}"
    for name in _FIELDS:
        if name not in record:
            return f"the episode has no {name!r}"
    for name, kinds in (_FIELDS | _OPTIONAL_FIELDS).items():
        if name in record and not isinstance(record[name], kinds):
            return f"{name!r} is {record[name]!r:.40}"
    verdict = record["verdict"]
    if not isinstance(verdict.get("status"), str):
        return "the verdict has no status"
    score = verdict.get("score")
    if record["scored"] and not (isinstance(score, (int, float)) and 0 <= score <= 1):
        return f"a score is a number from 0 to 1, got {score!r:.40}"
    return ""


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write JSON so that a reader sees the old file or the new one, never half of it."""
    with replaced(path) as file:
        file.write(f"{json.dumps(data, indent=2, ensure_ascii=False)}\n".encode())


def _cut_torn_line(file: int) -> bool:
    """Cut the file behind its last line end; return whether there was anything to cut."""
    size = end = os.fstat(file).st_size
    while end > 0:
        start = max(0, end - _CHUNK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)
    return end < size


def _differences(old: Any, new: Any, where: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in sorted({*old, *new}):
            found += _differences(old.get(key), new.get(key), f"{where}.{key}".lstrip("."))
        return found
    return [] if old == new else [f"{where} was {old!r}, is {new!r}"]
