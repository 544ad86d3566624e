"""Isolated worker processes: where our verifiers meet hostile answers.

A computation such as ``9**9**9`` holds the interpreter lock for minutes: no thread, signal handler
or asyncio timeout can end it, so only another process helps. The pool gives each item a limit of
CPU time and one of memory, and these decide. How long an item takes by the clock on the wall
depends on what else the machine does, so that decides nothing: see `rlvr_envs.core._job`.

What is trusted: the *functions* run here are ours and named in code; the *answers* they are
given are hostile data. Replies are unpickled in the parent, so never let an answer choose the
function, and never run a model's code here: that is what `rlvr_envs.sandboxes` is for.

How workers start. A program without ``if __name__ == "__main__"`` and a notebook cannot use
multiprocessing's start methods, and forking a program that has threads is unsafe. So the pool
starts one clean ``python -c`` child, the fork server, gives it our ``sys.path``, and has it fork
the workers: a killed worker is replaced in milliseconds, and imports are paid once. A module's
``WORKER_PRELOAD``, a tuple of module names, says what else to import before its functions run;
imports never count against an item's limit.
"""

import atexit
import os
import pickle
import threading
from collections.abc import Callable, Sequence
from typing import Self
from weakref import WeakSet

from rlvr_envs.core._fork_server import ForkServer, Worker
from rlvr_envs.core._job import Job, Outcome
from rlvr_envs.core.errors import ConfigError, DependencyError, UsageError, WorkerDied

__all__ = ["Outcome", "WorkerPool", "shared_pool"]

_CLOSED = "the worker pool is closed; make a new one"
_MAX_CPU_S = 86_400.0


class WorkerPool:
    """A pool of isolated processes, started on first use; safe to use from any thread.

    Args:
        workers: how many processes at most; as many as this process may use cores by default.
        memory_mib: what a worker may allocate beyond what its imports have mapped; None for no
            limit.
        recycle_after: a worker retires after this many items.
        preload: modules to import before the first worker starts.

    Raises:
        ConfigError: an argument is out of range.
        DependencyError: the platform has no ``fork``.
    """

    def __init__(
        self,
        *,
        workers: int | None = None,
        memory_mib: int | None = 1024,
        recycle_after: int = 500,
        preload: tuple[str, ...] = (),
    ) -> None:
        workers = _cores() if workers is None else workers
        for name, value in (
            ("workers", workers),
            ("memory_mib", 1 if memory_mib is None else memory_mib),
            ("recycle_after", recycle_after),
        ):
            if type(value) is not int or value < 1:
                raise ConfigError(f"{name} must be an integer, at least 1, got {value!r}")
        if not hasattr(os, "fork"):
            raise DependencyError("isolated workers need Linux, macOS or another POSIX system")
        self.workers = workers
        self._memory_mib = memory_mib
        self.recycle_after = recycle_after
        self._modules = dict.fromkeys(preload)
        self._closed = False
        self._reset()
        _POOLS.add(self)

    def _reset(self) -> None:
        self._lock = threading.Condition()  # guards the fields below; never held for long
        self._server_lock = threading.Lock()  # one conversation with the fork server at a time
        self._server: ForkServer | None = None
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._slots = self.workers  # processes that may still be started
        self._waiting = 0

    def call(self, function: str, *args: object, cpu_s: float = 1.0) -> object:
        """Return what ``"package.module:qualname"`` returns for these arguments.

        Waits for a free worker as long as it takes.

        Raises:
            WorkerTimeout: it used more than ``cpu_s`` seconds of CPU time.
            WorkerMemory: the memory limit was met.
            WorkerDied: the worker ended without an answer, twice.
            WorkerKilled: it was killed from outside, twice, or its wall-clock guard ended it.
            WorkerError: the function raised; the text holds the name and text of its exception.
        """
        (outcome,) = self.map(function, [args], cpu_s=cpu_s)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def map(
        self,
        function: str,
        items: Sequence[tuple[object, ...]],
        *,
        cpu_s: float = 1.0,
        on_outcome: Callable[[int, Outcome], object] | None = None,
    ) -> list[Outcome]:
        """Return the outcome of every item, in order; errors are outcomes, not raised.

        Each item may use ``cpu_s`` seconds of CPU time. Items travel in batches, but a worker
        that is lost takes only the item that it was busy with; the rest of its batch goes to
        another. ``on_outcome`` is called in this thread with the number of an item and its
        outcome as soon as there is one.
        """
        module, colon, qualname = function.partition(":")
        if not (module and colon and qualname):
            raise ConfigError(f"a function is named 'package.module:qualname', got {function!r}")
        if not 0 < cpu_s <= _MAX_CPU_S:
            raise ConfigError(f"cpu_s must be above 0 and at most {_MAX_CPU_S:g}, got {cpu_s}")
        self._modules.setdefault(module)
        packed = [pickle.dumps(item) for item in items]
        return Job(self, function, packed, cpu_s, on_outcome).run()

    def close(self) -> None:
        """Kill the workers; calls still under way end with `WorkerKilled`. May be repeated."""
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.kill()
            self._all.clear()
            idle, self._idle = self._idle, []
            self._lock.notify_all()
        for worker in idle:
            worker.channel.close()
        with self._server_lock:
            if self._server is not None:
                self._server.close()
                self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def take_idle(self, near: int | None = None) -> Worker | None:
        """Lend a worker that is there and idle, if one is: that process ``near``, if it is."""
        with self._lock:
            self._require_open()
            pids = [worker.pid for worker in self._idle]
            worker = self._idle.pop(pids.index(near) if near in pids else -1) if pids else None
        if worker is not None and worker.lost():
            self.discard(worker)
            return self.take_idle(near)
        return worker

    def take(self, *, wait: bool, fresh: bool = False) -> Worker | None:
        """Lend a worker; without ``wait``, None unless one is free that nobody waits for.

        A ``fresh`` worker has served no item before.
        """
        while True:
            with self._lock:
                while True:
                    self._require_open()
                    free = self._idle or self._slots
                    if free and (wait or not self._waiting):
                        break
                    if not wait:
                        return None
                    self._waiting += 1
                    try:
                        self._lock.wait()
                    finally:
                        self._waiting -= 1
                new = not self._idle or (fresh and self._slots > 0)
                worker = None if new else self._idle.pop()
                self._slots -= worker is None
            if worker is None:
                return self._start()
            if not fresh and not worker.lost():
                return worker
            self.discard(worker)

    def give(self, worker: Worker) -> None:
        """Take a worker back whose work is done."""
        with self._lock:
            if not self._closed and worker.served < self.recycle_after:
                self._idle.append(worker)
                self._lock.notify()
                return
        self.discard(worker)

    def discard(self, worker: Worker) -> object:
        """Kill a worker and return its exit code, if known; another may start in its place."""
        with self._lock:
            known = worker in self._all
            if known:
                self._all.remove(worker)
                worker.kill()
        worker.channel.close()
        code = None
        if known:
            with self._server_lock:
                code = worker.server.reap(worker.pid)
            with self._lock:
                self._slots += 1
                self._lock.notify()
        return code

    def _start(self) -> Worker:
        try:
            with self._server_lock:
                self._require_open()
                worker = self._spawn(tuple(self._modules))
        except BaseException:
            with self._lock:
                self._slots += 1
                self._lock.notify()
            raise
        with self._lock:
            if not self._closed:
                self._all.add(worker)
                return worker
        worker.channel.close()
        raise UsageError(_CLOSED)

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError(_CLOSED)

    def _spawn(self, modules: tuple[str, ...]) -> Worker:
        if self._server is None:
            self._server = ForkServer()
        try:
            return self._server.spawn(modules, self._memory_mib)
        except (OSError, EOFError):
            # It was killed, or an import brought it down. The next one imports nothing early, so
            # that a module which cannot be imported harms only the workers that need it.
            self._server.close()
            self._server = ForkServer()
        try:
            return self._server.spawn((), self._memory_mib)
        except (OSError, EOFError) as error:
            raise WorkerDied(f"no worker could be started: {error}") from error

    def forget(self) -> None:
        """Start afresh in a forked child: what is inherited belongs to the parent."""
        for worker in self._all:
            worker.channel.close()
        if self._server is not None:
            self._server.forget()
        self._reset()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_POOLS: WeakSet[WorkerPool] = WeakSet()
_shared: WorkerPool | None = None
_shared_lock = threading.Lock()


def shared_pool() -> WorkerPool:
    """Return this process's own pool, which starts on first use and closes at exit."""
    global _shared  # noqa: PLW0603 - one per process is the point
    with _shared_lock:
        if _shared is None:
            _shared = WorkerPool()
            atexit.register(_shared.close)
        return _shared


def _forget_all() -> None:
    global _shared_lock  # noqa: PLW0603 - another thread may have held it at the fork
    _shared_lock = threading.Lock()
    for pool in _POOLS:
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
