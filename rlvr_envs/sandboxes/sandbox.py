"""The sandbox: one interface over every backend."""

import json
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

from rlvr_envs.core.errors import ConfigError, SandboxError, SandboxUnavailable, did_you_mean
from rlvr_envs.sandboxes.backend import Backend, Channel
from rlvr_envs.sandboxes.base import Case, Job, Limits, Result, RunStatus, check_path
from rlvr_envs.sandboxes.compiled import (
    CACHE_MIB,
    CompileCache,
    Compiled,
    compile_key,
    is_lasting,
)
from rlvr_envs.sandboxes.docker import DockerBackend
from rlvr_envs.sandboxes.headers import PrecompiledHeaders
from rlvr_envs.sandboxes.landlock import LandlockBackend
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.pool import MAX_SESSIONS, SlotPool
from rlvr_envs.sandboxes.process import ProcessBackend
from rlvr_envs.sandboxes.toolchains import closure

# The strongest first; `auto` takes the first that runs a job.
BACKENDS: dict[str, type[Backend]] = {
    "namespaces": NamespacesBackend,
    "docker": DockerBackend,
    "landlock": LandlockBackend,
    "process": ProcessBackend,
}

# Beyond the limits of a job: for a loaded machine, and for the slot's own work.
GRACE_S = 30.0


class Sandbox:
    r"""Runs programs that nobody vouches for.

    Slots start when they are needed. Thread-safe; usable as a context manager; used in a forked
    child, it starts slots of its own.

    Args:
        backend: namespaces, docker, landlock, process, a `Backend`, or ``auto``, which takes the
            strongest of the first three that really runs a job here.
        slots: how many jobs may run at a time; by default one for each core.
        sessions: how many sessions may be open at a time, each with a slot of its own.
        allow_unsafe: allows the process backend, which isolates nothing.
        compile_cache_mib: how much of what was compiled is kept for jobs that compile the same
            again, in MiB of this process's memory; 0 turns that off.
        precompiled_headers: whether g++ is given ``<bits/stdc++.h>`` precompiled.

    Attributes:
        compile_cache: what is kept, and how often it served.

    Raises:
        SandboxUnavailable: the backend does not work here; the message says why.
        ConfigError: there is no such backend, or it was not allowed.

    Examples:
        >>> from rlvr_envs.sandboxes import Job, Sandbox
        >>> with Sandbox(slots=1) as sandbox:
        ...     sandbox.run(Job(script="main.py", files={"main.py": b"print(6 * 7)"})).stdout
        b'42\n'
    """

    def __init__(
        self,
        backend: str | Backend = "auto",
        *,
        slots: int | None = None,
        sessions: int = MAX_SESSIONS,
        allow_unsafe: bool = False,
        compile_cache_mib: float = CACHE_MIB,
        precompiled_headers: bool = True,
    ) -> None:
        self._headers = PrecompiledHeaders() if precompiled_headers else None
        self.compile_cache = CompileCache(compile_cache_mib)
        if isinstance(backend, Backend):
            chosen = backend
        elif backend == "auto":
            chosen = strongest_backend()
        else:
            chosen = make_backend(backend)
        if isinstance(chosen, ProcessBackend) and not allow_unsafe:
            raise ConfigError(
                "the process sandbox isolates nothing: a program can do whatever you can; "
                "pass allow_unsafe=True if you trust every program"
            )
        self._pool = SlotPool(chosen, slots, sessions)
        self.backend, self.isolation = chosen.name, chosen.isolation

    @property
    def accounted_by_kernel(self) -> bool:
        """Whether the kernel counts the CPU time, memory and processes of a job, in a cgroup.

        Elsewhere they are estimates, which a program can evade: a task that pays for speed refuses
        to score there.

        Raises:
            SandboxUnavailable: no slot could be started.
        """
        return bool(self._started().accounted_by_kernel)

    @property
    def hides_programs(self) -> bool:
        """Whether a job that states its programs, as those of `Language.job` do, runs no others.

        Elsewhere a program can hand its work to any interpreter or compiler of the machine.

        Raises:
            SandboxUnavailable: no slot could be started.
        """
        return bool(self._started().hides_programs)

    def _started(self) -> Backend:
        """Return the backend, once it has started a slot."""
        backend = self._pool.backend
        if backend.hides_programs is None:
            with self._pool.slot():
                pass
        return backend

    def run(self, job: Job) -> Result:
        """Run a job once; what the program does never raises.

        Raises:
            SandboxUnavailable: no slot could be started.
        """
        return self.run_batch(job, [Case(stdin=job.stdin)])[0]

    def run_batch(
        self, job: Job, cases: Sequence[Case], *, stop_on_fault: bool = False
    ) -> list[Result]:
        """Compile once, then run every case as a process of its own in a fresh box.

        What an equal job compiled before is taken from the compile cache.

        Args:
            job: the program; its ``stdin`` is not used.
            cases: what each run reads and is told.
            stop_on_fault: whether to end after the first result whose status is not ``ok``.

        Returns:
            A result for each case, in order; fewer where a fault stopped the batch. Where
            compiling failed, each is that failure.

        Raises:
            SandboxUnavailable: no slot could be started.
        """
        if not cases:
            return []
        backend, key, known = self._pool.backend, "", None
        if job.compile:
            key = compile_key(job, same_programs=backend.same_programs)
            known = self.compile_cache.find(key)
        if known is not None and known.failure is not None:
            results = [known.failure] * len(cases)
        else:
            request = _Request(job, cases, backend)
            request.message["stop_on_fault"] = stop_on_fault
            request.compiled(known, self.compile_cache.most_of_one)
            if self._headers is not None and known is None:
                request.message["compile_env"] = self._headers.variables(job, backend.headers_at)
            answer, blobs = self._ask(request, _longest(job, len(cases)))
            results = self._results(answer, blobs, len(cases))
            self._keep_compiled(key, answer, blobs, results[0])
        return results[:1] if stop_on_fault and not results[0].ok else results

    def _keep_compiled(
        self, key: str, answer: Mapping[str, Any], blobs: Sequence[bytes], first: Result
    ) -> None:
        """Keep what a slot has compiled, or why it could not, where that would not change."""
        if answer.get("made"):
            made = {path: (mode, blobs[number]) for path, (mode, number) in answer["made"].items()}
            self.compile_cache.keep(key, Compiled(files=made))
        elif first.status is RunStatus.COMPILE_ERROR and is_lasting(
            first, RunStatus(answer["compile"]["status"])
        ):
            self.compile_cache.keep(key, Compiled(failure=first))

    def session(self, limits: Limits | None = None) -> "SandboxSession":
        """Open a working directory that persists from run to run, in a slot of its own.

        Args:
            limits: of the working directory (disk and inodes).

        Raises:
            SandboxUnavailable: no slot could be started.
            SandboxError: too many sessions are open.
        """
        return SandboxSession(self, self._pool, limits or Limits())

    def close(self) -> None:
        """End every slot."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, request: "_Request", timeout_s: float) -> tuple[dict[str, Any], Sequence[bytes]]:
        """Put a request to a slot; a fault is tried once more, in a new one, alone."""
        try:
            return self._asked(request, timeout_s)
        except SandboxError:
            pass
        try:
            return self._asked(request, timeout_s, alone=True)
        except SandboxError as error:
            return {"fault": str(error)}, ()

    def _asked(
        self, request: "_Request", timeout_s: float, *, alone: bool = False
    ) -> tuple[dict[str, Any], Sequence[bytes]]:
        with self._pool.slot(alone=alone) as channel:
            answer, blobs = channel.ask(request.message, timeout_s, request.blobs)
            if "fault" in answer:
                raise SandboxError(answer["fault"])  # ends the slot as well
            return answer, blobs

    def _results(
        self, answer: Mapping[str, Any], blobs: Sequence[bytes], count: int
    ) -> list[Result]:
        if "fault" in answer:
            return [Result.fault(answer["fault"], self.backend, self.isolation)] * count
        if answer["compile"] is not None and answer["compile"]["status"] != "ok":
            return [self._result(answer["compile"], blobs, compiling=True)] * count
        return [self._result(run, blobs) for run in answer["results"]]

    def _result(
        self, run: Mapping[str, Any], blobs: Sequence[bytes], *, compiling: bool = False
    ) -> Result:
        status, detail = RunStatus(run["status"]), run["detail"]
        if compiling:
            status, detail = RunStatus.COMPILE_ERROR, f"it does not compile: {detail}"
        return Result(
            status=status,
            exit_code=run["exit_code"],
            signal=run["signal"],
            cpu_s=run["cpu_s"],
            wall_s=run["wall_s"],
            peak_memory_mib=run["peak"] / (1 << 20),
            stdout=blobs[run["stdout"]],
            stderr=blobs[run["stderr"]],
            stdout_bytes=run["stdout_bytes"],
            stderr_bytes=run["stderr_bytes"],
            files={name: blobs[number] for name, number in run["files"].items()},
            detail=detail,
            backend=self.backend,
            isolation=self.isolation,
            accounted_by_kernel=run["accounted"],
        )


class SandboxSession:
    """A working directory whose files persist from run to run; processes do not.

    Examples:
        >>> from rlvr_envs.sandboxes import Job, Sandbox
        >>> with Sandbox() as sandbox, sandbox.session() as session:
        ...     session.write("notes.txt", b"kept")
        ...     session.run(Job(argv=("cat", "notes.txt"))).stdout
        b'kept'
    """

    def __init__(self, sandbox: Sandbox, pool: SlotPool, limits: Limits) -> None:
        self._sandbox = sandbox
        self._channel = pool.open_session()
        self._finalizer = weakref.finalize(self, pool.end_session, self._channel)
        self._pid = os.getpid()
        self._ask({"op": "session", "limits": _limits_message(limits)}, GRACE_S)

    def run(self, job: Job) -> Result:
        """Run a job among the files that are there; the job's own are written first.

        Raises:
            SandboxError: the session is lost or closed.
        """
        request = _Request(job, [Case(stdin=job.stdin)], self._sandbox._pool.backend)
        answer, blobs = self._ask(request.message, _longest(job, 1), request.blobs)
        return self._sandbox._results(answer, blobs, 1)[0]

    def write(self, path: str, content: bytes) -> None:
        """Write a file of the working directory.

        Raises:
            ConfigError: the path is not plain and relative.
            SandboxError: there is no room for it, or the session is lost or closed.
        """
        self._ask({"op": "write", "path": check_path(path)}, GRACE_S, [content])

    def read(self, path: str, most: int = 1 << 20) -> bytes | None:
        """Return a regular file of at most so many bytes, or None where there is no such file.

        Raises:
            ConfigError: the path is not plain and relative.
            SandboxError: the session is lost or closed.
        """
        request = {"op": "read", "path": check_path(path), "most": most}
        answer, blobs = self._ask(request, GRACE_S)
        return blobs[0] if answer["found"] else None

    def close(self) -> None:
        """End the session; may be called again."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(
        self, request: Mapping[str, Any], timeout_s: float, blobs: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[bytes]]:
        if not self._finalizer.alive:
            raise SandboxError("this sandbox session is closed")
        if self._pid != os.getpid():
            raise SandboxError("a sandbox session belongs to the process that opened it")
        try:
            answer, found = self._channel.ask(request, timeout_s, blobs)
        except SandboxError:
            self.close()
            raise
        if "fault" in answer:
            raise SandboxError(answer["fault"])
        return answer, found


def make_backend(name: str) -> Backend:
    """Return a backend by name.

    Raises:
        ConfigError: there is no such backend.
    """
    if name not in BACKENDS:
        hint = did_you_mean(name, [*BACKENDS, "auto"])
        raise ConfigError(f"no sandbox {name!r}{hint} (known: auto, {', '.join(BACKENDS)})")
    return BACKENDS[name]()


def strongest_backend() -> Backend:
    """Return the strongest backend that runs a job here; the process backend is never taken.

    Raises:
        SandboxUnavailable: none does; the message says why not, for each.
    """
    reasons = []
    for name in ("namespaces", "docker", "landlock"):
        backend = make_backend(name)
        try:
            probe(backend)
        except SandboxUnavailable as error:
            reasons.append(f"\n  {name}: {error}")
        else:
            return backend
    raise SandboxUnavailable(
        f"no sandbox works here, and programs of a model do not run without one:{''.join(reasons)}"
    )


def probe(backend: Backend) -> None:
    """Run a small job.

    Raises:
        SandboxUnavailable: it did not run as it should.
    """
    job = Job(script="probe.py", files={"probe.py": b"print(6 * 7)"})
    with Sandbox(backend, slots=1, allow_unsafe=True) as sandbox:
        result = sandbox.run(job)
    if not result.ok or result.stdout != b"42\n":
        words = result.detail or result.stderr.decode(errors="replace")[-200:]
        raise SandboxUnavailable(f"the {backend.name} sandbox does not run a program: {words}")


def _limits_message(limits: Limits) -> dict[str, Any]:
    derived = {"wall_s": limits.wall, "longest_s": limits.longest}
    return {**asdict(limits), **derived, "disk_mib": math.ceil(limits.disk_mib)}


class _Request:
    """A request to run a job: a message, and the bytes that it refers to by number."""

    def __init__(self, job: Job, cases: Sequence[Case], backend: Backend) -> None:
        self._same_programs = backend.same_programs
        self.blobs: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self.message: dict[str, Any] = {
            "op": "run",
            "job": self._job(job),
            "cases": [self._case(case) for case in cases],
        }

    def compiled(self, known: Compiled | None, most: int) -> None:
        """Say what compiling has made before, or how many bytes of what it makes may be told."""
        if known is None:
            self.message["most_made"] = most
            return
        made = known.files.items()
        self.message["made"] = {path: [mode, self._blob(content)] for path, (mode, content) in made}

    def _case(self, case: Case) -> dict[str, int]:
        """Return the numbers of what one case is given, which no other case gets to see."""
        args = json.dumps(case.args).encode() if case.args else b""
        return {"stdin": self._blob(case.stdin), "args": self._blob(args)}

    def _blob(self, content: bytes) -> int:
        """Return the number of some bytes; equal ones travel once."""
        if content not in self._numbers:
            self._numbers[content] = len(self.blobs)
            self.blobs.append(content)
        return self._numbers[content]

    def _job(self, job: Job) -> dict[str, Any]:
        return {
            "argv": list(job.argv),
            "script": job.script,
            "files": {path: self._blob(content) for path, content in job.files.items()},
            "compile": list(job.compile),
            "args": list(job.args),
            "env": dict(job.env),
            "limits": _limits_message(job.limits),
            "compile_limits": _limits_message(job.compile_limits),
            "collect": list(job.collect),
            "limit_address_space": job.limit_address_space,
            "programs": self._programs(job.programs, bool(job.script)),
            "compile_programs": self._programs(job.compile_programs),
        }

    def _programs(self, stated: tuple[str, ...] | None, script: bool = False) -> list[str] | None:
        """Return the paths of what a job states; None where it may see all."""
        if not self._same_programs:  # another machine's have other libraries
            return None
        if stated is None:
            return [] if script else None
        return list(closure(stated))


def _longest(job: Job, cases: int) -> float:
    """Return how long a slot may take, in seconds, before it counts as broken.

    That is what the job may take on an idle machine, and one run that the machine keeps waiting.
    """
    # What fails with precompiled headers is compiled without them.
    steps = [job.compile_limits] * 2 * bool(job.compile) + [job.limits] * cases
    needed = sum(limits.cpu_s + limits.wall + 1.0 for limits in steps)
    return needed + max(limits.longest for limits in steps) + GRACE_S


__all__ = [
    "BACKENDS",
    "Channel",
    "Sandbox",
    "SandboxSession",
    "make_backend",
    "probe",
    "strongest_backend",
]
