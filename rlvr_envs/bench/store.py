"""Entries on disk: the runs of one algorithm on one suite, and the responses they were marked by.

While runs are made, each is appended to `RUNS`, after its responses to `RESPONSES`. A last line
that was cut off is no run. `pack` makes what is published: the responses are compressed.
"""

import json
import lzma
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from rlvr_envs.bench.results import RUNS, Answers, Run, check_alike, read_runs, write_runs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.files import replaced
from rlvr_envs.datasets.rows import json_line

RESPONSES = "responses.jsonl"
PACKED = f"{RESPONSES}.xz"

Key = tuple[str, int, int]  # experiment, seed and number of the evaluation


class Entry:
    """A folder that runs are added to.

    Args:
        folder: made if it is not there.

    Raises:
        ConfigError: what it holds is of another suite or algorithm, or cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[Run] = []
        if (folder / RUNS).exists():
            _mend(folder / RUNS)
            self.runs = read_runs(folder)

    def add(self, run: Run, answers: Sequence[Answers]) -> None:
        """Add a run and the responses of each of its evaluations.

        Raises:
            ConfigError: the entry is of another suite or algorithm, or has the run.
        """
        check_alike([*self.runs, run])
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = [_line((*run.key, point), each) for point, each in enumerate(answers)]
        _append(self.folder / RESPONSES, b"".join(map(json_line, lines)))
        _append(self.folder / RUNS, json_line(run.to_json()))
        self.runs.append(run)


def _line(key: Key, answers: Answers) -> dict[str, Any]:
    named = dict(zip(("experiment", "seed", "point"), key, strict=True))
    return {**named, "sampled": list(answers.sampled), "greedy": list(answers.greedy)}


def _append(path: Path, lines: bytes) -> None:
    _mend(path)
    with path.open("ab") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def _mend(path: Path) -> None:
    """Cut off a last line that was not written to its end."""
    with suppress(FileNotFoundError):
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)


def read_answers(folder: Path) -> dict[Key, Answers]:
    """Return the responses of an entry; of runs that were made twice, the last ones.

    Raises:
        ConfigError: a line is no evaluation.
    """
    found: dict[Key, Answers] = {}
    for number, line in enumerate(_lines(folder), 1):
        try:
            data = json.loads(line)
            key = (str(data["experiment"]), int(data["seed"]), int(data["point"]))
            found[key] = Answers(_responses(data["sampled"]), _responses(data["greedy"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{folder}: responses, line {number}: {error!r}") from error
    return found


def _responses(given: Sequence[Any]) -> tuple[Any, ...]:
    for each in given:
        if not (isinstance(each, str) or all(isinstance(action, str) for action in each)):
            raise TypeError(f"a response is a text or a list of actions, got {each!r:.80}")
    return tuple(each if isinstance(each, str) else tuple(each) for each in given)


def _lines(folder: Path) -> Iterator[bytes]:
    # Runs may be added to an entry that was published.
    for name, opened in ((PACKED, _unpacked), (RESPONSES, _plain)):
        if (folder / name).exists():
            try:
                with opened(folder / name) as file:
                    yield from file
            except (OSError, EOFError, lzma.LZMAError) as error:
                raise ConfigError(f"{folder / name} cannot be read: {error}") from error


def _plain(path: Path) -> IO[bytes]:
    return path.open("rb")


def _unpacked(path: Path) -> IO[bytes]:
    return lzma.open(path, "rb")


def pack(folder: Path, out: Path, *, all_points: bool = False) -> None:
    """Write an entry to be published: without ``all_points``, the last responses of each run.

    Raises:
        ConfigError: responses are missing.
    """
    runs, answers = read_runs(folder), read_answers(folder)
    write_runs(out, runs)
    with replaced(out / PACKED) as file, lzma.open(file, "wb", preset=9) as packed:
        for run in runs:
            last = len(run.points) - 1
            for point in range(0 if all_points else last, last + 1):
                key = (*run.key, point)
                if key not in answers:
                    raise ConfigError(
                        f"{folder} lacks the responses of {run.experiment}, seed {run.seed}"
                    )
                packed.write(json_line(_line(key, answers[key])))
