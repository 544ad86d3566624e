"""The header ``<bits/stdc++.h>`` of C++, parsed once for each g++ and its flags.

Parsing it is most of what compiling a short program costs. The machine's own g++ precompiles the
machine's own header, outside of any sandbox, since nothing of a job takes part; jobs see the result
read-only, and g++ uses it by itself where it fits, and the header where it does not. It is kept in
the user's cache folder, and used only if nobody else could have written it and it is what was
written.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlvr_envs.sandboxes.base import Job
from rlvr_envs.sandboxes.compiled import tool_stamp
from rlvr_envs.sandboxes.languages import TOOL_DIRECTORIES, find_tool

HEADER = "bits/stdc++.h"

# Searched after the folders that a command names, and before the system's.
VARIABLE = "CPLUS_INCLUDE_PATH"

# Where a slot that has a root of its own shows all that is kept.
PLACE = "/opt/precompiled-headers"

_COMPILER = "g++"
_MAGIC = b"gpch"  # of what g++ precompiles; clang, which answers to the name too, makes another
WORTH = 3  # programs of a process before it is made, which takes as long as three programs
_KEPT = 4  # for as many kinds of flags, at some 120 MiB each
_TIMEOUT_S = 300.0

# Flags that a header can be precompiled with, and words that do not concern it.
_FLAGS = re.compile(r"-(O\w*|std=[\w+]+|W[\w+=-]*|pedantic[\w-]*|pthread|march=[\w-]+)")
_OTHER = re.compile(r"-l\w+|-static")

# What g++ reads where the precompiled one does not fit, or was read already.
_STUB = f"#include_next <{HEADER}>\n"


def top_folder() -> Path | None:
    """Return the folder of all precompiled headers, made if it is missing.

    None without g++, or where somebody else could change what is in it.
    """
    if find_tool(_COMPILER) is None:
        return None
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # Root's home is closed to the users that jobs run as.
    usual = Path("/var/cache" if os.geteuid() == 0 else "~/.cache")
    try:
        top = (given if given.is_absolute() else usual.expanduser()) / "rlvr_envs" / "headers"
        for folder in (top.parent, top):
            if not folder.exists():
                folder.mkdir(parents=True)
                folder.chmod(0o755)
        top = top.resolve()
        safe = _is_ours(top) and all(map(_is_guarded, top.parents))
    except (OSError, RuntimeError):
        return None
    return top if safe and ":" not in str(top) else None


def _is_ours(path: Path) -> bool:
    """Whether nobody else can change a file or a folder."""
    found = path.lstat()
    return (
        found.st_uid == os.geteuid()
        and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        and not stat.S_ISLNK(found.st_mode)
    )


def _is_guarded(folder: Path) -> bool:
    """Whether nobody else but root can exchange what is in a folder and ours."""
    found = folder.stat()
    shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX
    return found.st_uid in {0, os.geteuid()} and not shared


class PrecompiledHeaders:
    """The precompiled headers that one sandbox hands to its compilers."""

    def __init__(self) -> None:
        self._uses: Counter[str] = Counter()
        self._failed: set[str] = set()
        self._checked: dict[Path, tuple[int, ...]] = {}

    def variables(self, job: Job, place: Callable[[str], str]) -> dict[str, str]:
        """Return the variables with which a job's compiler finds one; none where none would fit.

        Args:
            job: one with something to compile.
            place: returns where its compiler sees `top_folder`, empty if it does not.
        """
        flags = _flags(job)
        top = top_folder() if flags is not None else None
        if flags is None or top is None or not (at := place(str(top))):
            return {}
        name = hashlib.sha256(repr((flags, tool_stamp(_COMPILER))).encode()).hexdigest()[:32]
        return {VARIABLE: f"{at}/{name}"} if self._ready(top / name, flags) else {}

    def _ready(self, folder: Path, flags: tuple[str, ...]) -> bool:
        """Whether there is one to use; it is made when it is worth the while."""
        if folder.name in self._failed:
            return False
        if self._sound(folder):
            return True
        self._uses[folder.name] += 1
        if self._uses[folder.name] < WORTH:
            return False
        with _locked(folder.parent) as ours:
            if not ours:  # another process makes it: this program does without
                return False
            if not self._sound(folder) and not _make(folder, flags):
                self._failed.add(folder.name)
        return folder.name not in self._failed and self._sound(folder)

    def _sound(self, folder: Path) -> bool:
        """Whether a folder holds what was written there, and what that was made of is the same."""
        made, stub, manifest = _files(folder)
        try:
            if not all(map(_is_ours, (folder, made.parent, made, stub, manifest))):
                return False
            seen = tuple(n for path in (made, stub, manifest) for n in _stamp(path))
            if self._checked.get(folder) == seen:
                return True
            told = json.loads(manifest.read_text("utf-8"))
            sound = (
                stub.read_text("utf-8") == _STUB
                and all(_stamp(Path(path))[:2] == [*pair] for path, pair in told["read"].items())
                and _digest(made) == told["digest"]
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False
        if sound:
            self._checked[folder] = seen
        return sound


def _flags(job: Job) -> tuple[str, ...] | None:
    """Return the flags that matter; None where a job's compiler would not use the header."""
    if not job.compile or job.compile[0] != _COMPILER or job.env:
        return None
    if not any(HEADER.encode() in content for content in job.files.values()):
        return None
    words = list(job.compile[1:])
    if "-o" in words[:-1]:
        place = words.index("-o")
        del words[place : place + 2]
    words = [word for word in words if word not in job.files and not _OTHER.fullmatch(word)]
    return tuple(words) if all(map(_FLAGS.fullmatch, words)) else None


def _files(folder: Path) -> tuple[Path, Path, Path]:
    """Return what is precompiled, what stands in for the header beside it, and what tells of it."""
    return folder / f"{HEADER}.gch", folder / HEADER, folder / "manifest.json"


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


@contextmanager
def _locked(top: Path) -> Iterator[bool]:
    """Hold the right to write into the folder, if nobody else has it."""
    try:
        fd = os.open(top / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(fd)


def _make(folder: Path, flags: tuple[str, ...]) -> bool:
    """Precompile the header into a folder that appears when it is whole; return whether it did."""
    top = folder.parent
    for left in top.glob("new-*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix="new-", dir=top))
    try:
        made, stub, manifest = _files(new)
        made.parent.mkdir()
        told = _precompile(made, flags)
        stub.write_text(_STUB, "utf-8")
        manifest.write_text(json.dumps(told), "utf-8")
        for path in (new, made.parent, made, stub, manifest):
            path.chmod(0o755 if path.is_dir() else 0o644)
        shutil.rmtree(folder, ignore_errors=True)  # what was not sound
        new.rename(folder)
        kept = [path for path in top.iterdir() if path.is_dir()]
        for old in sorted(kept, key=lambda path: path.stat().st_mtime_ns)[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    except (OSError, ValueError, subprocess.SubprocessError):
        shutil.rmtree(new, ignore_errors=True)
        return False
    return True


def _precompile(made: Path, flags: tuple[str, ...]) -> dict[str, Any]:
    """Precompile the header, and return what tells whether the file is still right.

    Raises:
        OSError, SubprocessError, ValueError: there is no such header, no room, or no such compiler.
    """
    including = f"#include <{HEADER}>\n"
    listing = _run([*flags, "-x", "c++", "-M", "-"], including)
    read = listing.replace("\\\n", " ").partition(":")[2].split()
    (header,) = (path for path in read if path.endswith(HEADER))
    before = {path: _stamp(Path(path))[:2] for path in read}
    _run([*flags, "-x", "c++-header", "-o", str(made), header], "")
    with made.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("this compiler precompiles headers in a way of its own")
    return {"digest": _digest(made), "read": before}


def _run(words: list[str], given: str) -> str:
    """Return what the compiler prints."""
    command = [find_tool(_COMPILER) or _COMPILER, *words]
    env = {"PATH": ":".join(TOOL_DIRECTORIES), "LANG": "C.UTF-8"}
    done = subprocess.run(  # noqa: S603 - the machine's compiler and flags of the caller
        command,
        input=given,
        env=env,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
        timeout=_TIMEOUT_S,
    )
    return done.stdout
