"""Reading rows back: from a JSONL or Parquet file, or from a dataset folder."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.errors import (
    ConfigError,
    RlvrEnvsError,
    RowError,
    did_you_mean,
    did_you_mean_path,
)
from rlvr_envs.core.instance import Instance, Row, TrustedRow
from rlvr_envs.core.parallel import CPU_S
from rlvr_envs.core.problem import check_size
from rlvr_envs.core.tables import JSONL_SUFFIXES, PARQUET_SUFFIXES, entries
from rlvr_envs.datasets.rows import unpack
from rlvr_envs.datasets.store import DATA, listed_files, read_manifest
from rlvr_envs.executors import Call, Executor, Serial

_CHECK = f"{__name__}:fault_of"


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
        ConfigError: there is nothing to read, or no such split, or the manifest is malformed.
    """
    found: dict[str, list[Path]] = {}
    if not path.exists():
        raise ConfigError(f"there is no file or folder {str(path)!r}{did_you_mean_path(path)}")
    manifest = read_manifest(path) if path.is_dir() else None
    if path.is_file():
        found["train"] = [path]
    elif manifest is not None:
        for listed in listed_files(path, manifest):
            found.setdefault(listed.split, []).append(listed.path)
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


def placed_rows(path: Path, split: str | None = None, *, trusted: bool = False) -> Iterator[Placed]:
    """Return the rows of a dataset in order; what cannot be read is a `Placed` with a fault.

    Args:
        path: a file or a folder.
        split: of a folder; all by default.
        trusted: whether tasks may open the files, folders and servers that the rows name.

    Raises:
        ConfigError: there is nothing to read, or no such split, or a file of a dataset is not the
            one that its manifest lists.
    """
    found = split_files(path, split)
    manifest = read_manifest(path) if path.is_dir() else None
    for listed in listed_files(path, manifest) if manifest is not None else ():
        if listed.split in found:
            listed.check()
    for files in found.values():
        for file in files:
            for entry in entries(file):
                if entry.fault:
                    yield Placed(entry.place, {}, entry.fault)
                    continue
                try:
                    row = unpack(entry.data)
                    check_size(row, "row")
                    yield Placed(entry.place, TrustedRow(row) if trusted else row)
                except RowError as error:
                    yield Placed(entry.place, {}, str(error))


def checked_rows(
    path: Path,
    split: str | None = None,
    *,
    trusted: bool = False,
    executor: Executor | None = None,
    cpu_s: float = CPU_S,
) -> Iterator[Placed]:
    """Return the rows of a dataset, each rebuilt once to see that its task takes it.

    Args:
        path: a file or a folder.
        split: of a folder; all by default.
        trusted: whether tasks may open the files, folders and servers that the rows name.
        executor: where they are rebuilt, in this process by default.
        cpu_s: CPU seconds that a row may take, where a process of its own rebuilds it.
    """
    executor = executor or Serial()
    under_way: deque[Placed] = deque()

    def calls() -> Iterator[Call]:
        for placed in placed_rows(path, split, trusted=trusted):
            under_way.append(placed)
            yield Call((None if placed.fault else placed.row,))

    for outcome in executor.map(_CHECK, calls(), cpu_s=cpu_s):
        placed = under_way.popleft()
        fault = placed.fault or str(outcome.error or outcome.value)
        yield Placed(placed.place, placed.row, fault)


def fault_of(row: Row | None) -> str:
    """Return why no task takes a row, empty where one does; what a worker runs."""
    if row is None:
        return ""
    try:
        Instance.from_row(row)
    except RlvrEnvsError as error:
        return str(error)
    return ""


def read_rows(path: Path, split: str | None = None, *, trusted: bool = False) -> Iterator[Row]:
    r"""Return the rows of a dataset.

    Args:
        path: a file or a folder.
        split: of a folder; all by default.
        trusted: whether tasks may open the files, folders and servers that the rows name.

    Raises:
        ConfigError: there is nothing to read, or no such split, or a file of a dataset is not the
            one that its manifest lists.
        RowError: a row cannot be read; the message says where it stands and what is wrong.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> import rlvr_envs
        >>> from rlvr_envs.datasets.read import read_rows
        >>> row = rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0)
        >>> _ = Path("rows.jsonl").write_text(json.dumps(row) + "\n")
        >>> [row["id"] for row in read_rows(Path("rows.jsonl"))]
        ['rlvr/Gcd-v0']
    """
    for placed in placed_rows(path, split, trusted=trusted):
        if placed.fault:
            raise RowError(f"{placed.place}: {placed.fault}")
        yield placed.row
