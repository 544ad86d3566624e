"""The folder of a dataset: files that are either whole or absent, and the manifest that lists them.

A file is written beside its place, flushed to the disk and renamed; then the manifest that lists
it is, in the same way. Whenever the process is killed, the manifest tells the truth.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.files import remove_drafts, replaced, replaced_path
from rlvr_envs.core.instance import Row
from rlvr_envs.core.tables import require_pyarrow
from rlvr_envs.core.version import __version__
from rlvr_envs.datasets.rows import arrow_table, json_line

MANIFEST = "manifest.json"
CARD = "README.md"
DATA = "data"
_LISTED = ("name", "split", "sha256")


def sha256_of(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half done, not even after a power cut."""
    with replaced(path) as file:
        file.write(content)


def write_rows(path: Path, rows: list[Row], file_format: str) -> str:
    """Write rows as a whole JSONL or Parquet file and return its digest."""
    with replaced_path(path) as beside:
        if file_format == "jsonl":
            with beside.open("wb") as file:
                file.writelines(json_line(row) for row in rows)
        else:
            arrow = require_pyarrow()
            arrow.parquet.write_table(arrow_table(arrow, rows), beside, compression="zstd")
        return sha256_of(beside)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the lock goes when the process does.

    Raises:
        ConfigError: another run is at work in it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigError(f"another run is writing to {str(folder)!r}") from error
        yield
    finally:
        os.close(handle)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a dataset folder, or None where there is none.

    Raises:
        ConfigError: it cannot be read.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest = json.loads(path.read_bytes())
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"{str(path)!r} is not a manifest: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), list):
        raise ConfigError(f"{str(path)!r} is not the manifest of a dataset")
    return manifest


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that a manifest lists, with the digest that it had when it was written."""

    path: Path
    split: str
    sha256: str

    def check(self) -> None:
        """Check that the file is as it was written.

        Raises:
            ConfigError: it was altered or lost.
        """
        if not self.path.is_file() or sha256_of(self.path) != self.sha256:
            raise ConfigError(
                f"{str(self.path)!r} does not match its sha256 in {MANIFEST}: it was altered or "
                "lost. Get the dataset again, or name the file itself in place of its folder to "
                "read it as it is"
            )


def listed_files(folder: Path, manifest: dict[str, Any]) -> list[Listed]:
    """Return the files that a manifest lists, all of them below its folder.

    Raises:
        ConfigError: an entry is malformed, or names something outside of the folder.
    """
    found = []
    for entry in manifest["files"]:
        values = [entry.get(key) if isinstance(entry, dict) else None for key in _LISTED]
        if not all(isinstance(value, str) for value in values):
            raise ConfigError(f"{MANIFEST} lists {entry!r:.80}: a file has {', '.join(_LISTED)}")
        name = Path(str(values[0]))
        if name.is_absolute() or ".." in name.parts:  # links are fine: the digest has to match
            raise ConfigError(
                f"{MANIFEST} lists {values[0]!r:.80}, which is not in {str(folder)!r}"
            )
        found.append(Listed(folder / name, str(values[1]), str(values[2])))
    return found


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest of a dataset folder."""
    write_whole(folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())


def open_manifest(folder: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest to go on from, a fresh one in a new or empty folder.

    Raises:
        ConfigError: the folder holds something else, or a dataset of another plan or version, or
            one of its files was altered or lost.
    """
    for place in (folder, folder / DATA):
        remove_drafts(place)
    manifest = read_manifest(folder)
    if manifest is None:
        if any(folder.iterdir()):
            raise ConfigError(f"{str(folder)!r} holds other files: name a new or empty folder")
        manifest = {"version": __version__, "plan": plan, "complete": False, "files": []}
        write_manifest(folder, manifest)
    if manifest["version"] != __version__:
        raise ConfigError(
            f"{str(folder)!r} was begun by version {manifest['version']}, this is {__version__}: "
            "go on with that one, or name a new folder"
        )
    if manifest["plan"] != plan:
        keys = plan.keys() | manifest["plan"].keys()
        told = "; ".join(
            f"{key} was {manifest['plan'].get(key)!r}, now {plan.get(key)!r}"
            for key in sorted(keys)
            if manifest["plan"].get(key) != plan.get(key)
        )
        raise ConfigError(f"{str(folder)!r} holds a dataset of another plan ({told})")
    for file in listed_files(folder, manifest):
        file.check()
    return manifest
