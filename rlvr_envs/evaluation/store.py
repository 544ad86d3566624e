"""The folder of a run: its configuration, its problems, and its episodes as they end.

``problems.jsonl`` and ``episodes.jsonl`` only grow, one line a question or an episode. A line is
handed to the operating system as soon as it is known, a problem before its first episode, so
neither Ctrl-C nor ``kill -9`` loses one; a last line that was cut off is removed when the run is
resumed. One process writes, which holds a lock on ``episodes.jsonl``.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.files import JsonLine, json_lines, open_to_append, replaced

Record = dict[str, Any]

CONFIG = "run.json"
EPISODES = "episodes.jsonl"
PROBLEMS = "problems.jsonl"
ANCHORS = "anchors.jsonl"  # games between the opponents, of a run that has some
SUMMARY = "summary.json"
REPORT = "report.html"
TRAINED = "config.json"  # of a run of `rlvr train`, which has a folder of its own

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
# What an episode may have; those of older versions lack some of it.
_OPTIONAL: dict[str, type | tuple[type, ...]] = {
    "question": str,
    "replies": list,
    "fingerprint": (str, _NONE),
    "finish": str,
    "tokens": int,
    "prompt_tokens": int,
    "attempts": int,
    "waited_s": (int, float),
    "opponent": str,
    "side": str,
}
# What every line of `ANCHORS` has: the points are those of who moved first.
_ANCHOR_FIELDS: dict[str, type | tuple[type, ...]] = {
    "position": str,
    "task": str,
    "difficulty": (int, _NONE),
    "first": str,
    "second": str,
    "points": (int, float),
}
# What every problem has, of the row's keys those that showing and judging rely on.
_PROBLEM_FIELDS: dict[str, type | tuple[type, ...]] = {
    "question": str,
    "id": str,
    "config": dict,
    "prompt": str,
    "answer_format": str,
    "reference": (str, list, _NONE),
    "fingerprint": str,
}
# A larger one begins with the episodes of a smaller one.
_GROWING = ("episodes", "samples")

_CHUNK = 1 << 16


class RunFolder:
    """One run on disk; opens it for appending and locks it against a second process.

    A run may grow: in problems of each id and level, in samples, and by policies.

    Attributes:
        path: the folder.
        config: the configuration of the whole run, with the policies that it had before.
        fingerprints: question → fingerprint of its problem, of all stored problems.
        repaired: whether a line that was cut off has been removed.

    Raises:
        ConfigError: the folder holds a run with another configuration, or a larger one.
        RowError: a line of the problems is malformed.
        UsageError: another process is writing to it.
    """

    def __init__(self, path: Path, config: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        self.path = path
        if (path / TRAINED).exists() and not (path / CONFIG).exists():
            raise ConfigError(f"{path} holds a run of `rlvr train`: use another --out")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the run folder {str(path)!r} cannot be made: {error}") from error
        self._file = open_to_append(path / EPISODES)
        self._problems: int | None = None
        self._anchors: int | None = None
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(f"another process is writing to {path}") from error
            self.config = self._merged(config, versions)
            self.repaired = _cut_torn_line(self._file)
            self._problems = open_to_append(path / PROBLEMS)
            self.repaired |= _cut_torn_line(self._problems)
            self.fingerprints = {
                problem["question"]: str(problem["fingerprint"])
                for problem in read_problems(path / PROBLEMS)
            }
        except BaseException:
            self.close()
            raise

    def _merged(self, config: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, Any]:
        """Return the configuration of this run and what it held before, and store it."""
        target = self.path / CONFIG
        # What is compared is what would be written, so that tuples and lists are equal.
        wanted: dict[str, Any] = json.loads(json.dumps(config))
        if not target.exists():
            if os.fstat(self._file).st_size:
                raise ConfigError(
                    f"{self.path} holds {EPISODES} but no {CONFIG}: use another --out"
                )
            write_json(target, {"config": wanted, "versions": dict(versions)})
            return wanted
        whole = read_config(self.path)
        stored = whole["config"]
        before, named = stored.get("policies", {}), wanted.get("policies", {})
        merged = {**wanted, "policies": {**before, **named}}
        counts = [name for name in _GROWING if isinstance(stored.get(name), int)]
        fewer = [name for name in counts if merged.get(name, 0) < stored[name]]
        if fewer:
            told = " and ".join(f"{stored[name]} {name}" for name in fewer)
            raise ConfigError(
                f"{self.path} holds a run of {told}, and fewer would leave out some of them: ask "
                f"for at least {told}, or use another --out"
            )
        # As large as before and with the same policies, it has to be the same run.
        same = merged | {name: stored[name] for name in counts}
        same["policies"] = {name: merged["policies"][name] for name in before}
        if changes := _differences({"policies": {}, **stored}, same):
            raise ConfigError(
                f"{self.path} holds a run with another configuration ({'; '.join(changes)}): "
                "use the same one to resume it, or another --out"
            )
        if merged != stored:
            write_json(target, whole | {"config": merged})
        return merged

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one finished episode."""
        _append(self._file, record)

    def add_problem(self, problem: Mapping[str, Any]) -> None:
        """Write the problem of a question, unless it is stored."""
        question = problem["question"]
        if question not in self.fingerprints and self._problems is not None:
            _append(self._problems, problem)
            self.fingerprints[question] = problem["fingerprint"]

    def anchor_games(self) -> list[Record]:
        """Return the games between built-in players on disk, and get ready for more."""
        if self._anchors is None:
            self._anchors = open_to_append(self.path / ANCHORS)
            self.repaired |= _cut_torn_line(self._anchors)
        return list(read_anchor_games(self.path / ANCHORS))

    def add_anchor_game(self, game: Mapping[str, Any]) -> None:
        """Write a game between built-in players; after `anchor_games`."""
        if self._anchors is not None:
            _append(self._anchors, game)

    def records(self) -> Iterator[Record]:
        """Yield the episodes on disk, in the order in which they ended."""
        yield from read_records(self.path / EPISODES)

    def close(self) -> None:
        """Release the folder."""
        for file in (self._anchors, self._problems, self._file):  # the last one is locked
            if file is not None:
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_config(folder: Path) -> dict[str, Any]:
    """Return what ``run.json`` of a run holds: its configuration and the versions.

    Raises:
        ConfigError: the folder holds no run.
    """
    path = folder / CONFIG
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        config = found["config"]
        readable = isinstance(config, dict) and isinstance(config.get("policies", {}), dict)
    except FileNotFoundError:
        raise ConfigError(f"{str(folder)!r} holds no run of `rlvr eval`: no {CONFIG}") from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ConfigError(f"{path} is not the configuration of a run: {error!r}") from error
    if not readable:
        raise ConfigError(f"{path} is not the configuration of a run: it is {config!r:.80}")
    return cast(dict[str, Any], found)


def read_records(path: Path) -> Iterator[Record]:
    """Yield the episodes of a file; a last line that was cut off is passed over.

    Raises:
        RowError: another line is not an episode.
    """
    for line in json_lines(path, _fault, "remove the line to have its episode asked again"):
        yield line.data


def read_problems(path: Path) -> Iterator[Record]:
    """Yield the problems of a file: rows with a ``question``, and ``shots`` where there were some.

    A last line that was cut off is passed over, and a file that is not there holds nothing.

    Raises:
        RowError: another line is not a problem.
    """
    for line in _stored_problems(path):
        yield line.data


def _stored_problems(path: Path) -> Iterator[JsonLine]:
    if path.exists():
        remedy = "remove the line to have the problem written again on resume"
        yield from json_lines(path, _problem_fault, remedy)


def read_anchor_games(path: Path) -> Iterator[Record]:
    """Yield the games between built-in players of a file; a missing file holds none.

    Raises:
        RowError: a line is not such a game.
    """
    if path.exists():
        remedy = "remove the line to have the game played again on resume"
        yield from (line.data for line in json_lines(path, _anchor_fault, remedy))


class Problems:
    """The stored problems of a run by the keys of their questions; read one by one when asked for.

    Args:
        folder: of the run. One of an older version may hold no problems.

    Raises:
        RowError: a line is malformed.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / PROBLEMS
        self._places: dict[str, int] = {}
        for line in _stored_problems(self._path):
            self._places.setdefault(line.data["question"], line.place)

    def __len__(self) -> int:
        return len(self._places)

    def of(self, record: Mapping[str, Any]) -> Record | None:
        """Return the problem that an episode answers, or None if it is not stored."""
        place = self._places.get(question_of(record))
        if place is None:
            return None
        with self._path.open("rb") as file:
            file.seek(place)
            problem: Record = json.loads(file.readline())
        known = record.get("fingerprint")
        return problem if known in (None, problem["fingerprint"]) else None


def question_of(record: Mapping[str, Any]) -> str:
    """Return the key of an episode's question, which older records have in their own key only."""
    found = record.get("question")
    if isinstance(found, str):
        return found
    return str(record["key"])[len(record["policy"]) + 1 :].rpartition("|")[0]


def position_of(question: str) -> str:
    """Return a question without its opponent and side, which leaves the position of a match.

    Games from one position are alike, as samples of one problem are. Other questions stay whole.
    """
    return question.partition(" ")[0]


def _field_fault(
    data: Record, fields: Mapping[str, type | tuple[type, ...]], what: str, *, needed: bool = True
) -> str:
    for name, kinds in fields.items():
        if name not in data:
            if needed:
                return f"the {what} has no {name!r}"
        elif not isinstance(data[name], kinds):
            return f"{name!r} is {data[name]!r:.40}"
    return ""


def _problem_fault(data: Record) -> str:
    """Return what keeps a line from being a problem, if anything does."""
    return _field_fault(data, _PROBLEM_FIELDS, "problem")


def _anchor_fault(data: Record) -> str:
    """Return what keeps a line from being a game between built-in players, if anything does."""
    fault = _field_fault(data, _ANCHOR_FIELDS, "game")
    if not fault and data["points"] not in (0, 0.5, 1):
        return f"points are 0, 0.5 or 1, got {data['points']!r}"
    return fault


def _fault(record: Record) -> str:
    """Return what keeps a line from being an episode, if anything does."""
    fault = _field_fault(record, _FIELDS, "episode")
    fault = fault or _field_fault(record, _OPTIONAL, "episode", needed=False)
    if fault:
        return fault
    verdict = record["verdict"]
    if not isinstance(verdict.get("status"), str):
        return "the verdict has no status"
    score = verdict.get("score")
    if record["scored"] and not (isinstance(score, (int, float)) and 0 <= score <= 1):
        return f"a score is a number from 0 to 1, got {score!r:.40}"
    return ""


def json_line(data: Mapping[str, Any]) -> bytes:
    """Return an object as a line of a run's files; a lone surrogate is escaped."""
    line = json.dumps(data, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return line + b"\n"


def _append(file: int, data: Mapping[str, Any]) -> None:
    rest = memoryview(json_line(data))
    while rest:  # a single write unless the disk is nearly full
        rest = rest[os.write(file, rest) :]


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
