"""Tables in files: JSONL, JSON and Parquet, read record by record, each with its place.

A file of a million lines has a bad one sooner or later. Reading never stops at it: a bad line is
an `Entry` with a fault, and the caller decides whether to raise, to skip or to count. Datasets of
problems take rows of them with `read_rows`: those that can be posed, and the others with a reason.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from rlvr_envs.core.errors import ConfigError, DependencyError, did_you_mean_path
from rlvr_envs.core.extras import hint

JSONL_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet",)

_SHOWN = 3  # refused rows that an error quotes

RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a file, or the reason why there is none.

    Attributes:
        place: where it stands, for messages: ``answers.jsonl:12``.
        data: the record; empty where it cannot be read.
        fault: what is wrong with it; empty where nothing is.
    """

    place: str
    data: dict[str, Any]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that cannot be posed or judged, and why.

    Attributes:
        place: where it stands, as of an `Entry`.
        reason: a sentence.
        passing: whether the machine failed on it, or it took too long: it may be posed next time.
    """

    place: str
    reason: str
    passing: bool = False


@dataclass(frozen=True, slots=True)
class RowFile(Generic[RowT]):
    """What a file holds: the rows that can be posed, and those that cannot."""

    path: Path
    rows: tuple[RowT, ...]
    refused: tuple[Refused, ...]

    def complaint(self, reason_chars: int | None = None) -> str:
        """Return a sentence about the refused rows; reasons may be cut to some characters."""
        quoted = self.refused[:_SHOWN]
        shown = "; ".join(f"{row.place}: {row.reason[:reason_chars]}" for row in quoted)
        more = len(self.refused) - _SHOWN
        return shown + (f"; and {more} more" if more > 0 else "")

    def check(
        self, *, lenient: bool, knob: str = "on_bad_row", reason_chars: int | None = None
    ) -> None:
        """Raise where rows were refused that may not be left out.

        Args:
            lenient: whether they may, as long as others are left.
            knob: what makes it so if it is ``"skip"``, for the message.
            reason_chars: how much of a reason the message quotes; all of it by default.

        Raises:
            ConfigError: rows were refused, and no other is left or ``lenient`` is false.
        """
        if not self.refused or (lenient and self.rows):
            return
        advice = f'; {knob}="skip" leaves them out' if self.rows else ""
        raise ConfigError(
            f"{len(self.refused)} of {len(self.refused) + len(self.rows)} rows of "
            f"{str(self.path)!r} cannot be posed: {self.complaint(reason_chars)}{advice}"
        )


class RowFiles(Generic[RowT]):
    """Remembers what files hold.

    A file of which rows were refused for the machine's sake is remembered only while a task that
    leaves them out is in use, so that its problems keep their numbers. Afterwards, and for a task
    that does not, the file is read again.
    """

    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._certain: dict[Hashable, RowFile[RowT]] = {}
        self._in_use: WeakKeyDictionary[object, tuple[Hashable, RowFile[RowT]]]
        self._in_use = WeakKeyDictionary()

    def find(
        self,
        task: object,
        key: Hashable,
        read: Callable[[], RowFile[RowT]],
        *,
        lenient: bool,
        reason_chars: int | None = None,
    ) -> RowFile[RowT]:
        """Return what a file holds, from memory where that is certain.

        Args:
            task: who asks.
            key: of the file, its state, and how it is read.
            read: reads it.
            lenient: as of `RowFile.check`.
            reason_chars: likewise.

        Raises:
            ConfigError: rows were refused that may not be left out.
        """
        used = list(self._in_use.values()) if lenient else []
        found = next((file for other, file in used if other == key), self._certain.get(key))
        if found is None:
            found = read()
        certain = not any(row.passing for row in found.refused)
        if certain:
            self._certain[key] = found
            while len(self._certain) > self._most:
                self._certain.pop(next(iter(self._certain)), None)
        found.check(lenient=lenient, reason_chars=reason_chars)
        if not certain:
            self._in_use[task] = key, found
        return found


def read_rows(
    path: Path, records: Iterable[Entry], pose: Callable[[Entry], RowT | Refused]
) -> RowFile[RowT]:
    """Return what a file holds.

    Args:
        path: the file, for messages.
        records: what stands in it.
        pose: makes a row of a record without a fault, or says why there is none.

    Raises:
        ConfigError: a record has a fault, or there are none.
    """
    rows: list[RowT] = []
    refused: list[Refused] = []
    for entry in records:
        if entry.fault:
            raise ConfigError(f"{entry.place}: {entry.fault}")
        found = pose(entry)
        if isinstance(found, Refused):
            refused.append(found)
        else:
            rows.append(found)
    if not rows and not refused:
        raise ConfigError(f"{str(path)!r} holds no rows")
    return RowFile(path, tuple(rows), tuple(refused))


def entries(path: Path, columns: Sequence[str] | None = None) -> Iterator[Entry]:
    """Return the records of a JSONL or Parquet file; blank lines are none.

    Args:
        path: the file; its suffix says what it is.
        columns: what to read of a Parquet file; everything by default.

    Raises:
        ConfigError: there is no such file, or it is of another kind.
        DependencyError: it is a Parquet file and pyarrow is missing.
    """
    if not path.is_file():
        raise ConfigError(f"there is no file {str(path)!r}{did_you_mean_path(path)}")
    if path.suffix in JSONL_SUFFIXES:
        return _jsonl(path)
    if path.suffix in PARQUET_SUFFIXES:
        return _parquet(path, columns)
    known = ", ".join((*JSONL_SUFFIXES, *PARQUET_SUFFIXES))
    raise ConfigError(f"{str(path)!r} is no table: its name should end in one of {known}")


def json_entries(path: Path, *, grouped: bool = False) -> Iterator[Entry]:
    """Yield the records of a JSON file that holds a list of objects.

    Args:
        path: the file.
        grouped: whether an object will do as well, whose values are such lists, one a category.

    Raises:
        ConfigError: it is not JSON, or holds something else.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{str(path)!r} is not JSON: {error}") from error
    if grouped and isinstance(data, dict):
        data = [row for rows in data.values() if isinstance(rows, list) for row in rows]
    if not isinstance(data, list):
        raise ConfigError(f"{str(path)!r} holds no list of rows; JSONL needs the suffix .jsonl")
    for number, row in enumerate(data):
        fits = isinstance(row, dict)
        fault = "" if fits else f"expected a JSON object, got {row!r:.80}"
        yield Entry(f"{path} row {number}", row if fits else {}, fault)


def _jsonl(path: Path) -> Iterator[Entry]:
    # Bytes, because text mode would also break lines at characters that JSON strings may hold.
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _entry(f"{path}:{number}", line)


def _entry(place: str, line: bytes) -> Entry:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Entry(place, {}, f"not UTF-8: {error.reason} at byte {error.start}")
    except (ValueError, RecursionError) as error:
        return Entry(place, {}, f"not JSON: {error}")
    if not isinstance(data, dict):
        return Entry(place, {}, f"expected a JSON object, got {data!r:.80}")
    return Entry(place, data)


def _parquet(path: Path, columns: Sequence[str] | None) -> Iterator[Entry]:
    arrow = require_pyarrow()
    try:
        file = arrow.parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise ConfigError(f"{str(path)!r} cannot be read as Parquet: {error}") from error
    number = 0
    with file:
        try:
            for batch in file.iter_batches(batch_size=4096, columns=columns and list(columns)):
                for data in batch.to_pylist():
                    yield Entry(f"{path} row {number}", data)
                    number += 1
        except (arrow.ArrowException, OSError) as error:
            told = f"{str(path)!r} is damaged from row {number} on: {error}"
            raise ConfigError(told) from error


def require_pyarrow() -> Any:
    """Return the pyarrow module with ``parquet`` loaded.

    Raises:
        DependencyError: it is not installed.
    """
    try:
        import pyarrow as arrow
        import pyarrow.parquet
    except ImportError as error:
        raise DependencyError(f"Parquet files need pyarrow: {hint('report', 'pyarrow')}") from error
    return arrow
