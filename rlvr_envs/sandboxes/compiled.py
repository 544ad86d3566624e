"""What compiling left in a working directory, kept for later jobs that would compile the same.

Compilers read hostile input, so an entry is only ever found under the digest of all that decides
what the compile command makes: whoever writes a source can spoil what that same source gets, and
nothing else. Entries live in the memory of this process. A slot hands over what lies there after
the compiler has ended and before the program first runs, and each run gets a copy.
"""

import hashlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.base import Job, Result, RunStatus, job_digest
from rlvr_envs.sandboxes.languages import find_tool

MIB = 1 << 20
CACHE_MIB = 64

# A compiler that was ended, or failed by itself, may succeed the next time.
_CHANCE = re.compile(rb"signal|killed|terminated|panicked|internal compiler error", re.IGNORECASE)
_NOT_STARTED = (126, 127)

_ENTRY_BYTES = 512  # of an entry beside its contents, roughly
_SHARE = 4  # no entry takes more than this part of the cache


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling a job came to.

    Attributes:
        files: path → mode and content, of a job that compiles.
        failure: the result of one that does not.
    """

    files: Mapping[str, tuple[int, bytes]] = field(default_factory=dict)
    failure: Result | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        contents = sum(len(name) + len(content) for name, (_, content) in self.files.items())
        told = (self.failure.stdout, self.failure.stderr) if self.failure else ()
        return _ENTRY_BYTES + contents + sum(map(len, told))


class CompileCache:
    """The least recently used entries go when there is no more room; thread-safe.

    A forked child starts with an empty one.

    Attributes:
        hits: how many jobs did not have to compile.
        misses: how many had to.
        size: bytes of all entries.

    Args:
        mib: how many MiB all entries may take together; 0 keeps nothing.
    """

    def __init__(self, mib: float = CACHE_MIB) -> None:
        number = isinstance(mib, int | float) and not isinstance(mib, bool)
        if not number or not 0 <= mib < 1e6:
            raise ConfigError(f"compile_cache_mib is a number of MiB from 0, got {mib!r}")
        self._most = int(mib * MIB)
        self._open()

    def _open(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, Compiled] = OrderedDict()
        self.hits = self.misses = self.size = 0

    @property
    def most_of_one(self) -> int:
        """How many bytes one entry may take."""
        return self._most // _SHARE

    def find(self, key: str) -> Compiled | None:
        """Return the entry of a key, and count whether there was one."""
        if self._pid != os.getpid():
            self._open()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(key)
            return entry

    def keep(self, key: str, entry: Compiled) -> None:
        """Keep an entry, unless the key has one or it is too large."""
        with self._lock:
            if key in self._entries or entry.size > self.most_of_one:
                return
            self._entries[key] = entry
            self.size += entry.size
            while self.size > self._most:
                self.size -= self._entries.popitem(last=False)[1].size


def compile_key(job: Job, *, same_programs: bool) -> str:
    """Return a digest of all that decides what compiling a job makes, within one sandbox.

    Args:
        job: one with something to compile.
        same_programs: whether the compiler is one of this machine, which may be replaced.
    """
    step = Job(
        argv=job.compile,
        files=job.files,
        env=job.env,
        limits=job.compile_limits,
        programs=job.compile_programs,
    )
    tools = (job.compile[0], *(job.compile_programs or ())) if same_programs else ()
    stamps = repr([tool_stamp(tool) for tool in tools])
    return hashlib.sha256(f"{job_digest(step)} {stamps}".encode()).hexdigest()


def tool_stamp(tool: str) -> tuple[str, int, int, int] | None:
    """Return what tells one version of a program from another; None where there is no such one."""
    found = find_tool(tool)
    if found is None:
        return None
    real = Path(found).resolve()
    stat = real.stat()
    return str(real), stat.st_size, stat.st_mtime_ns, stat.st_ino


def is_lasting(failure: Result, status: RunStatus) -> bool:
    """Whether compiling would fail in the same way again.

    Args:
        failure: the result that tells of it.
        status: of the compiler itself.
    """
    return (
        status is RunStatus.NONZERO_EXIT
        and failure.exit_code not in _NOT_STARTED
        and not failure.stdout_truncated  # the end would tell of chance
        and not failure.stderr_truncated
        and not _CHANCE.search(failure.stdout + failure.stderr)
    )
