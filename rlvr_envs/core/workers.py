"""Isolated worker processes: where our verifiers meet hostile answers.

A computation such as ``9**9**9`` holds the interpreter lock for minutes: no thread, signal or
asyncio timeout can end it, so only another process helps. The pool gives each item a wall-clock
deadline that the parent enforces with SIGKILL, and a memory limit.

What is trusted: the *functions* run here are ours and named in code; the *answers* they are
given are hostile data. Replies are unpickled in the parent, so never let an answer choose the
function, and never run a model's code here: that is what `rlvr_envs.sandboxes` is for.

How workers start. A program without ``if __name__ == "__main__"`` and a notebook cannot use
multiprocessing's start methods, and forking a program that has threads is unsafe. So the pool
starts one clean ``python -c`` child, the fork server, gives it our ``sys.path``, and has it fork
the workers: a killed worker is replaced in milliseconds, and imports are paid once. A module's
``WORKER_PRELOAD``, a tuple of module names, says what else to import before its functions run;
imports never count against a deadline.
"""

import atexit
import math
import os
import pickle
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from weakref import WeakSet

from rlvr_envs.core import _worker
from rlvr_envs.core._fork_server import START_LIMIT_S, ForkServer, Worker
from rlvr_envs.core.errors import (
    ConfigError,
    DependencyError,
    UsageError,
    WorkerDied,
    WorkerError,
    WorkerMemory,
    WorkerTimeout,
)

_CLOSED = "the worker pool is closed; make a new one"
MAX_BATCH = 32  # items sent at once; more would amortise nothing that still costs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item: a value, or the error that stands in its place."""

    value: object
    error: WorkerError | None
    elapsed_s: float


class WorkerPool:
    """A pool of isolated processes, started on first use; safe to use from any thread.

    Args:
        workers: how many processes at most; as many as this process may use cores by default.
        memory_mib: what a worker may allocate beyond what its imports have mapped.
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
        memory_mib: int = 1024,
        recycle_after: int = 500,
        preload: tuple[str, ...] = (),
    ) -> None:
        workers = _cores() if workers is None else workers
        for name, value in (
            ("workers", workers),
            ("memory_mib", memory_mib),
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

    def call(self, function: str, *args: object, deadline_s: float = 1.0) -> object:
        """Return what ``"package.module:qualname"`` returns for these arguments.

        Waits for a free worker as long as it takes; the deadline counts from the start of the
        function.

        Raises:
            WorkerTimeout: the deadline passed, and the worker was killed.
            WorkerMemory: the memory limit was met.
            WorkerDied: the worker ended without an answer.
            WorkerError: the function raised; the text holds the name and text of its exception.
        """
        (outcome,) = self.map(function, [args], deadline_s=deadline_s)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def map(
        self, function: str, items: Sequence[tuple[object, ...]], *, deadline_s: float = 1.0
    ) -> list[Outcome]:
        """Return the outcome of every item, in order; errors are outcomes, not raised.

        Each item has its own deadline. Items travel in batches, but a worker that must be killed
        takes only the item that it was busy with; the rest of its batch goes to another.
        """
        module, colon, qualname = function.partition(":")
        if not (module and colon and qualname):
            raise ConfigError(f"a function is named 'package.module:qualname', got {function!r}")
        if not deadline_s > 0:
            raise ConfigError(f"deadline_s must be positive, got {deadline_s}")
        self._modules.setdefault(module)
        return _Job(self, function, [pickle.dumps(item) for item in items], deadline_s).run()

    def close(self) -> None:
        """Kill the workers; calls still under way end with `WorkerDied`. May be repeated."""
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

    def take(self, *, wait: bool) -> Worker | None:
        """Lend a worker; without ``wait``, None unless one is free that nobody waits for."""
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
                worker = self._idle.pop() if self._idle else None
                self._slots -= worker is None
            if worker is None:
                return self._start()
            if not worker.lost():
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


class _Lane:
    """One worker with the rest of its batch; the first item is the one it is busy with."""

    __slots__ = ("batch", "expires", "worker")

    def __init__(self, worker: Worker, batch: deque[int]) -> None:
        self.worker = worker
        self.batch = batch
        self.expires = time.monotonic() + START_LIMIT_S


class _Job:
    """One `WorkerPool.map` under way, driven by the thread that called it."""

    def __init__(
        self, pool: WorkerPool, function: str, items: list[bytes], deadline_s: float
    ) -> None:
        self.pool = pool
        self.function = function
        self.items = items
        self.deadline_s = deadline_s
        self.todo = deque(range(len(items)))
        self.outcomes: dict[int, Outcome] = {}
        self.lanes: dict[int, _Lane] = {}
        self.poll = select.poll()

    def run(self) -> list[Outcome]:
        try:
            while self.todo or self.lanes:
                self._dispatch()
                self._wait()
        except BaseException:
            for lane in self.lanes.values():
                self.pool.discard(lane.worker)
            raise
        return [self.outcomes[index] for index in range(len(self.items))]

    def _dispatch(self) -> None:
        while self.todo:
            worker = self.pool.take(wait=not self.lanes)
            if worker is None:
                return
            try:
                self._assign(worker)
            except BaseException:  # such as Ctrl-C
                self.pool.discard(worker)
                raise

    def _assign(self, worker: Worker) -> None:
        share = math.ceil(len(self.todo) / (2 * self.pool.workers))
        size = min(share, MAX_BATCH, self.pool.recycle_after - worker.served)
        batch = deque(self.todo.popleft() for _ in range(size))
        worker.served += size
        fd = worker.channel.fileno()
        self.lanes[fd] = _Lane(worker, batch)
        self.poll.register(fd, select.POLLIN)
        request = pickle.dumps((self.function, [self.items[index] for index in batch]))
        # A worker that ended just now is found by the poll that follows.
        with suppress(BrokenPipeError, ConnectionResetError):
            _worker.send(worker.channel, request)

    def _wait(self) -> None:
        expires = min(lane.expires for lane in self.lanes.values())
        wait_ms = max(0, math.ceil((expires - time.monotonic()) * 1000))
        for fd, _ in self.poll.poll(wait_ms):
            self._progress(fd, self.lanes[fd])
        now = time.monotonic()
        for fd, lane in list(self.lanes.items()):
            if lane.expires <= now:
                spent = self.deadline_s
                self._fail(fd, WorkerTimeout(f"killed at its deadline of {spent:g} s"), spent)

    def _progress(self, fd: int, lane: _Lane) -> None:
        frames = lane.worker.read()
        if frames is None:
            self._fail(fd, WorkerDied("the worker ended without an answer"), 0.0)
            return
        for frame in frames:
            # The parent's own clock, from when it learns that the item before has ended.
            lane.expires = time.monotonic() + self.deadline_s
            if frame == _worker.READY:
                continue
            kind, value, elapsed = pickle.loads(frame)  # noqa: S301 - see the module docstring
            if kind == _worker.MEMORY:
                self._fail(fd, WorkerMemory("the memory limit was met"), elapsed)
                return
            error = WorkerError(value) if kind == _worker.ERROR else None
            self.outcomes[lane.batch.popleft()] = Outcome(
                value if error is None else None, error, elapsed
            )
        if not lane.batch:
            self.pool.give(self._leave(fd).worker)

    def _fail(self, fd: int, error: WorkerError, elapsed_s: float) -> None:
        """Blame the item that the worker was busy with, and put the rest of its batch back."""
        lane = self._leave(fd)
        code = self.pool.discard(lane.worker)
        if isinstance(error, WorkerDied) and isinstance(code, int):
            error = WorkerDied(f"{error} ({_exit(code)})")
        self.outcomes[lane.batch.popleft()] = Outcome(None, error, elapsed_s)
        self.todo.extendleft(reversed(lane.batch))

    def _leave(self, fd: int) -> _Lane:
        self.poll.unregister(fd)
        return self.lanes.pop(fd)


def _exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


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
