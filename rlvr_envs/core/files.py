"""Files that others may read or write at the same time: replaced whole, and folders locked."""

import fcntl
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from rlvr_envs.core.errors import ConfigError, RowError, UsageError

LOCK = "run.lock"
_DRAFT = re.compile(r"\..+\.[0-9a-f]{16}")


@contextmanager
def replaced_path(path: Path) -> Iterator[Path]:
    """Yield the path of a new, empty file that takes the place of ``path`` once it is written.

    At any time, also after a power cut, there is the old file or the new one; if the block raises,
    the old one stays. The new file has a name that nobody can foresee and is not made through a
    link.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    beside.open("xb").close()
    try:
        yield beside
        _sync(beside)
        beside.replace(path)
        _sync(path.parent)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of ``path`` once it is written: see `replaced_path`."""
    with replaced_path(path) as beside, beside.open("wb") as file:
        yield file


class JsonLine(NamedTuple):
    """A line of a file: its number from 1, its place in bytes, itself, and what it holds."""

    number: int
    place: int
    text: bytes
    data: dict[str, Any]


def json_lines(
    path: Path, fault_of: Callable[[dict[str, Any]], str] | None = None, remedy: str = ""
) -> Iterator[JsonLine]:
    """Yield the lines of a JSONL file that grows; a last line that was cut off is passed over.

    Args:
        path: of the file.
        fault_of: returns what is wrong with an object; empty if nothing is.
        remedy: what to do about a line that is wrong, for the error.

    Raises:
        RowError: a line holds no object, or a wrong one.
    """
    place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            data: Any = None
            try:
                data = json.loads(line)
                if not isinstance(data, dict):
                    fault = f"no object: {data!r:.40}"
                else:
                    fault = fault_of(data) if fault_of is not None else ""
            except (ValueError, RecursionError) as error:
                fault = f"not JSON: {error}"
            if fault:
                told = f"{path}, line {number}: {fault}"
                raise RowError(f"{told}; {remedy}" if remedy else told)
            yield JsonLine(number, place, line, data)
            place += len(line)


def remove_drafts(folder: Path) -> None:
    """Remove what a killed process left of files that were to replace others."""
    for left in folder.glob(".*"):
        if is_draft(left):
            left.unlink(missing_ok=True)


def is_draft(path: Path) -> bool:
    """Return whether a path is named like a file that is to replace another."""
    return _DRAFT.fullmatch(path.name) is not None


def appended(path: Path) -> BinaryIO:
    """Do what `open_to_append` does, and return a file that buffers."""
    return os.fdopen(open_to_append(path), "ab")


def open_to_append(path: Path) -> int:
    """Open a file to read and to add to its end; return its descriptor.

    It is made if it is not there, but never through a link.

    Raises:
        OSError: it is a link, or cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o644)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder, which is made if it is not there.

    The lock ends with the process, whatever ends it. A file system without locks has none.

    Raises:
        ConfigError: the folder cannot be made or written to.
        UsageError: another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(folder / LOCK, flags, 0o644)
    except OSError as error:
        raise ConfigError(f"the folder {str(folder)!r} cannot be written to: {error}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise UsageError(
                f"another process ({holder}) is writing to {folder}: wait until it ends, or choose "
                "another folder"
            ) from error
        except OSError:  # no locks here: better without one than not at all
            pass
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
