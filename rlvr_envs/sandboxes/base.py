"""What a sandbox is asked and what it answers; the same for every backend.

A `Job` is data, a `Result` is data, and nothing here decides whether a result is *right*: expected
outputs and comparison stay outside (`rlvr_envs.verifiers.program`).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from rlvr_envs.core.errors import ConfigError

# A machine that takes so many times as long as an idle one could lets nothing be said of a program.
STARVED = 20


class RunStatus(StrEnum):
    """How a run ended; only ``ok`` and ``nonzero_exit`` are ends of the program's own choosing.

    Examples:
        >>> from rlvr_envs.sandboxes import RunStatus
        >>> RunStatus("cpu_timeout") is RunStatus.CPU_TIMEOUT
        True
    """

    OK = "ok"
    NONZERO_EXIT = "nonzero_exit"
    SIGNAL = "signal"  # it crashed
    CPU_TIMEOUT = "cpu_timeout"  # it and its children used more CPU time than allowed
    WALL_TIMEOUT = "wall_timeout"  # it slept or waited, and not for a processor, for too long
    MEMORY = "memory"
    OUTPUT_LIMIT = "output_limit"
    FILE_LIMIT = "file_limit"  # file size, disk space or number of files
    PROCESS_LIMIT = "process_limit"
    COMPILE_ERROR = "compile_error"
    SANDBOX_ERROR = "sandbox_error"  # our fault or the machine's: never scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use; a batch applies them to each of its cases.

    Attributes:
        cpu_s: CPU seconds, summed over all processes; what a time limit judges.
        wall_s: seconds in which none of its processes runs or waits for a processor, only a guard
            against programs that sleep; None is ``4 * cpu_s + 2``.
        memory_mib: resident memory of all processes together, in MiB.
        processes: processes and threads at a time.
        open_files: file descriptors of one process.
        file_mib: size of one file, in MiB.
        disk_mib: size of the working directory, and of ``/tmp``, in MiB.
        inodes: number of files and directories in each of the two.
        stdout_kib: what is kept of the standard output, in KiB.
        stderr_kib: what is kept of the standard error, in KiB.
        output_kib: what may be written to either before the program is killed, in KiB.

    Examples:
        >>> from rlvr_envs.sandboxes import Job, Limits, Sandbox
        >>> endless = {"main.py": b"while True: pass"}
        >>> with Sandbox() as sandbox:
        ...     sandbox.run(Job(script="main.py", files=endless, limits=Limits(cpu_s=0.2))).status
        <RunStatus.CPU_TIMEOUT: 'cpu_timeout'>
    """

    cpu_s: float = 2.0
    wall_s: float | None = None
    memory_mib: int = 256
    processes: int = 64
    open_files: int = 64
    file_mib: int = 16
    disk_mib: int = 64
    inodes: int = 4096
    stdout_kib: int = 64
    stderr_kib: int = 16
    output_kib: int = 1024

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is None and name == "wall_s":
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value < 1e6:
                raise ConfigError(f"the limit {name} is a number above 0, got {value!r}")

    @property
    def wall(self) -> float:
        """The guard against sleeping, in seconds."""
        return 4 * self.cpu_s + 2 if self.wall_s is None else self.wall_s

    @property
    def longest(self) -> float:
        """The seconds after which a run is the machine's failure, however little it worked."""
        return STARVED * (self.cpu_s + self.wall)


# Compilers need more than the programs they make.
COMPILE_LIMITS = Limits(
    cpu_s=10.0, memory_mib=1024, processes=128, open_files=256, file_mib=64, disk_mib=256
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    r"""A program and how to run it, in a fresh working directory ``/work``.

    Exactly one of ``argv`` and ``script`` is given.

    Attributes:
        argv: the command to run; the first word is an absolute path, or a name that is looked up
            in ``/usr/local/bin``, ``/usr/bin`` and ``/bin``.
        script: a Python file among ``files``, run as ``__main__`` in a fork of an interpreter that
            is already warm: milliseconds instead of tens of them.
        files: relative path → content, written before anything runs.
        compile: a command to run first, or empty; if it fails, the status is ``compile_error``.
        stdin: what the program reads.
        args: further arguments of the command or the script.
        env: variables beside the constant few (``PATH HOME LANG TMPDIR``); ``$HOME`` and
            ``$TMPDIR`` in a value stand for the two directories that the job may write to. Folders
            of ``PYTHONPATH`` come after the standard library where there is a script.
        limits: of the program.
        compile_limits: of the compiler.
        collect: relative paths of files to hand back, if the program wrote them.
        limit_address_space: whether the memory limit also bounds the address space of a process
            (RLIMIT_AS); programs that reserve much more than they use (Node, Go, Java) need False.
        programs: what the command may execute and read of the machine's programs: names, or
            patterns of absolute paths. Libraries that they load are found. None is everything for
            ``argv``; a script has its own interpreter's and no others.
        compile_programs: what the compile command may execute, likewise.

    Examples:
        >>> from rlvr_envs.sandboxes import Job, Sandbox
        >>> job = Job(argv=("sort",), stdin=b"pear\napple\n")
        >>> with Sandbox() as sandbox:
        ...     sandbox.run(job).stdout
        b'apple\npear\n'
    """

    argv: tuple[str, ...] = ()
    script: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    compile: tuple[str, ...] = ()
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    compile_limits: Limits = COMPILE_LIMITS
    collect: tuple[str, ...] = ()
    limit_address_space: bool = True
    programs: tuple[str, ...] | None = None
    compile_programs: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if bool(self.argv) == bool(self.script):
            raise ConfigError("a job has either argv (a command) or script (a Python file)")
        if self.script and self.script not in self.files:
            raise ConfigError(f"the script {self.script!r} is not among the job's files")
        for path in (*self.files, *self.collect):
            check_path(path)
        for name, content in self.files.items():
            if not isinstance(content, bytes):
                raise ConfigError(f"the content of {name!r} is bytes, got {type(content).__name__}")
        words = (*self.argv, *self.compile, *self.args, *self.env, *self.env.values())
        if any("\0" in word for word in words):
            raise ConfigError("no argument and no variable of a job may hold a NUL character")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    r"""One run within a batch.

    Attributes:
        stdin: what the program reads.
        args: arguments, after the job's own.

    Examples:
        >>> from rlvr_envs.sandboxes import Case, Job, Sandbox
        >>> job = Job(script="main.py", files={"main.py": b"print(int(input()) * 2)"})
        >>> with Sandbox() as sandbox:
        ...     results = sandbox.run_batch(job, [Case(stdin=b"3"), Case(stdin=b"4")])
        >>> [result.stdout for result in results]
        [b'6\n', b'8\n']
    """

    stdin: bytes = b""
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a run ended and what it wrote.

    Attributes:
        status: how it ended.
        exit_code: of the program, or None where a signal ended it.
        signal: the number of the signal that ended it, or None.
        cpu_s: CPU seconds of all its processes.
        wall_s: wall-clock seconds.
        peak_memory_mib: the most resident memory seen, in MiB.
        stdout: what it wrote, cut at the limit; the compiler's where compiling failed.
        stderr: likewise.
        stdout_bytes: how much it wrote in all (up to the limit that killed it).
        stderr_bytes: likewise.
        files: what was collected.
        detail: a sentence on anything but ``ok``.
        backend: the name of the backend that ran it.
        isolation: what the backend isolates by.
        accounted_by_kernel: whether the kernel counted CPU time, memory and processes. Elsewhere
            they are samples, which a program can evade: pay for no speed that is measured so.

    Examples:
        >>> from rlvr_envs.sandboxes import Job, Sandbox
        >>> with Sandbox() as sandbox:
        ...     result = sandbox.run(Job(argv=("false",)))
        >>> result.ok, result.exit_code
        (False, 1)
    """

    status: RunStatus
    exit_code: int | None = None
    signal: int | None = None
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_memory_mib: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    files: Mapping[str, bytes] = field(default_factory=dict)
    detail: str = ""
    backend: str = ""
    isolation: str = ""
    accounted_by_kernel: bool = False

    @property
    def ok(self) -> bool:
        """Whether the program ended by itself with exit status 0."""
        return self.status is RunStatus.OK

    @property
    def stdout_truncated(self) -> bool:
        """Whether not all of the standard output was kept."""
        return self.stdout_bytes > len(self.stdout)

    @property
    def stderr_truncated(self) -> bool:
        """Whether not all of the standard error was kept."""
        return self.stderr_bytes > len(self.stderr)

    @classmethod
    def fault(cls, detail: str, backend: str = "", isolation: str = "") -> "Result":
        """A run that told nothing about the program: ``sandbox_error``."""
        status = RunStatus.SANDBOX_ERROR
        return cls(status=status, detail=detail, backend=backend, isolation=isolation)


def check_path(path: str) -> str:
    """Return a path within the working directory; raise `ConfigError` for any other."""
    pure = PurePosixPath(path)
    plain = bool(path) and not pure.is_absolute() and path == str(pure) and ".." not in pure.parts
    if not plain or "\0" in path or path == ".":
        raise ConfigError(
            f"a file of a job has a plain relative path such as 'main.py', got {path!r}"
        )
    return path


def job_digest(job: Job) -> str:
    """Return a digest of everything that decides what a job does, for caches and logs."""
    data: dict[str, Any] = asdict(job)
    data["files"] = {name: hashlib.sha256(job.files[name]).hexdigest() for name in job.files}
    data["stdin"] = hashlib.sha256(job.stdin).hexdigest()
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
