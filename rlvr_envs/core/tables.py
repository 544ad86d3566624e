"""Tables in files: JSONL and Parquet, read record by record, each with the place it stands at.

A file of a million lines has a bad one sooner or later. Reading never stops at it: a bad line is
an `Entry` with a fault, and the caller decides whether to raise, to skip or to count.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError

JSONL_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet",)


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
        raise ConfigError(f"there is no file {str(path)!r}")
    if path.suffix in JSONL_SUFFIXES:
        return _jsonl(path)
    if path.suffix in PARQUET_SUFFIXES:
        return _parquet(path, columns)
    known = ", ".join((*JSONL_SUFFIXES, *PARQUET_SUFFIXES))
    raise ConfigError(f"{str(path)!r} is no table: its name should end in one of {known}")


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
        raise DependencyError(
            'Parquet files need pyarrow: pip install "rlvr-envs[report]"'
        ) from error
    return arrow
