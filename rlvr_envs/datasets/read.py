"""Reading rows back: from a JSONL or Parquet file, or from a dataset folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.errors import ConfigError, RlvrEnvsError, RowError, did_you_mean
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.tables import JSONL_SUFFIXES, PARQUET_SUFFIXES, entries
from rlvr_envs.datasets.rows import unpack
from rlvr_envs.datasets.store import DATA, read_manifest


@dataclass(frozen=True, slots=True)
class Placed:
    """A row and where it stands, or what is wrong there."""

    place: str
    row: Row
    fault: str = ""


def split_files(path: Path, split: str | None = None) -> dict[str, list[Path]]:
    """Return the files of a dataset by split, in order.

    A file is a dataset of one split, "train". A folder is read by its manifest; one without
    holds files named ``<split>-*.jsonl`` or ``.parquet``, in itself or in ``data``.

    Raises:
        ConfigError: there is nothing to read, or no such split.
    """
    found: dict[str, list[Path]] = {}
    if not path.exists():
        raise ConfigError(f"there is no file or folder {str(path)!r}")
    manifest = read_manifest(path) if path.is_dir() else None
    if path.is_file():
        found["train"] = [path]
    elif manifest is not None:
        for file in manifest["files"]:
            found.setdefault(file["split"], []).append(path / file["name"])
    else:
        for file in sorted([*path.iterdir(), *(path / DATA).glob("*")]):
            if file.suffix in (*JSONL_SUFFIXES, *PARQUET_SUFFIXES):
                found.setdefault(file.stem.partition("-")[0], []).append(file)
    if not found:
        raise ConfigError(f"{str(path)!r} holds no rows (JSONL or Parquet files)")
    if split is None:
        return found
    if split not in found:
        hint = did_you_mean(split, found)
        raise ConfigError(f"{str(path)!r} has no split {split!r}{hint} (has: {', '.join(found)})")
    return {split: found[split]}


def placed_rows(path: Path, split: str | None = None) -> Iterator[Placed]:
    """Return the rows of a dataset in order; what cannot be read is a `Placed` with a fault.

    Raises:
        ConfigError: there is nothing to read, or no such split.
    """
    for files in split_files(path, split).values():
        for file in files:
            for entry in entries(file):
                if entry.fault:
                    yield Placed(entry.place, {}, entry.fault)
                    continue
                try:
                    yield Placed(entry.place, unpack(entry.data))
                except RowError as error:
                    yield Placed(entry.place, {}, str(error))


def checked_rows(path: Path, split: str | None = None) -> Iterator[Placed]:
    """Return the rows of a dataset, each rebuilt once to see that its task takes it."""
    for placed in placed_rows(path, split):
        fault = placed.fault or _mistyped(placed.row)
        if not fault:
            try:
                Instance.from_row(placed.row)
            except RlvrEnvsError as error:
                fault = str(error)
            except Exception as error:  # noqa: BLE001 - such as a list where an id should be
                fault = f"not a row: {type(error).__name__}: {error}"
        yield Placed(placed.place, placed.row, fault)


def _mistyped(row: Row) -> str:
    for name in ("id", "answer_format"):
        if not isinstance(row.get(name, ""), str):
            return f"not a row: {name!r} is a text, got {row[name]!r:.80}"
    return ""


def read_rows(path: Path, split: str | None = None) -> Iterator[Row]:
    """Return the rows of a dataset.

    Raises:
        ConfigError: there is nothing to read, or no such split.
        RowError: a row cannot be read; the message says where it stands and what is wrong.
    """
    for placed in placed_rows(path, split):
        if placed.fault:
            raise RowError(f"{placed.place}: {placed.fault}")
        yield placed.row
