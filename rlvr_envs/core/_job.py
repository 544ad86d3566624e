"""One `WorkerPool.map` under way: batches, limits, and the second try of what was lost.

What decides about an item is its own doing: a value, an exception, CPU time or memory above the
limit. What the machine does to it decides nothing. An item whose worker died, was killed by
another process (the kernel's out-of-memory killer, say) or was ended by the wall-clock guard is
tried once more, alone and in a fresh worker; if that is lost too, its outcome is an error.
"""

import math
import pickle
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rlvr_envs.core import _worker
from rlvr_envs.core._fork_server import START_LIMIT_S, Worker
from rlvr_envs.core.errors import (
    WorkerDied,
    WorkerError,
    WorkerKilled,
    WorkerMemory,
    WorkerTimeout,
)

MAX_BATCH = 32  # items sent at once; more would amortise nothing that still costs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item: a value, or the error that stands in its place.

    Examples:
        >>> from rlvr_envs.executors import Call, Serial
        >>> list(Serial().map("math:gcd", [Call((12, 18))], cpu_s=1))
        [Outcome(value=6, error=None)]
    """

    value: object
    error: WorkerError | None = None


def guard_s(cpu_s: float) -> float:
    """Return how long to wait for an item that may use ``cpu_s`` seconds of CPU time.

    A machine with eight busy processes for each core grants a ninth of the time on the wall, and
    the worker's timer may be late. Only an item that waits for something meets the guard, which
    is a fault of ours.
    """
    return 60.0 + 20.0 * cpu_s


class _Lane:
    """One worker with the rest of its batch; the first item is the one it is busy with."""

    __slots__ = ("batch", "expires", "worker")

    def __init__(self, worker: Worker, batch: deque[int]) -> None:
        self.worker = worker
        self.batch = batch
        self.expires = time.monotonic() + START_LIMIT_S


class Registry(Protocol):
    """What is told which channels to watch: `select.poll`, or an event loop."""

    def register(self, fd: int, event: int, /) -> object:
        """Watch a channel."""

    def unregister(self, fd: int, /) -> object:
        """Watch it no longer."""


class Pool(Protocol):
    """What a job asks of the pool that it is under way in."""

    workers: int
    recycle_after: int

    @property
    def closed(self) -> bool:
        """Whether the pool was closed."""

    def take(self, *, wait: bool, fresh: bool = False) -> Worker | None:
        """Lend a worker; without ``wait``, None unless one is free."""

    def give(self, worker: Worker) -> None:
        """Take a worker back whose work is done."""

    def discard(self, worker: Worker) -> object:
        """Kill a worker and return its exit code, if known."""


AnyPool = TypeVar("AnyPool", bound=Pool)


class Job(Generic[AnyPool]):
    """The items of one call of `WorkerPool.map`, driven by the thread that called it."""

    def __init__(
        self,
        pool: AnyPool,
        function: str,
        items: list[bytes],
        cpu_s: float,
        on_outcome: Callable[[int, Outcome], object] | None = None,
    ) -> None:
        self.pool = pool
        self.function = function
        self.items: Sequence[bytes] | dict[int, bytes] = items
        self.cpu_s = cpu_s
        self.on_outcome = on_outcome
        self.guard_s = guard_s(cpu_s)
        self.todo = deque(range(len(items)))
        self.again: deque[int] = deque()  # lost once; tried alone when nothing else is under way
        self.lost: set[int] = set()
        self.outcomes: dict[int, Outcome] = {}
        self.lanes: dict[int, _Lane] = {}
        self.poll: Registry = select.poll()

    def run(self) -> list[Outcome]:
        """Return the outcomes in the order of the items."""
        try:
            while self.todo or self.lanes or self.again:
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
            share = math.ceil(len(self.todo) / (2 * self.pool.workers))
            size = min(share, MAX_BATCH, self.pool.recycle_after - worker.served)
            self._assign(worker, deque(self.todo.popleft() for _ in range(size)))
        if self.again and not self.lanes:
            worker = self.pool.take(wait=True, fresh=True)
            if worker is not None:
                self._assign(worker, deque([self.again.popleft()]))

    def _assign(self, worker: Worker, batch: deque[int]) -> None:
        try:
            worker.served += len(batch)
            lane = _Lane(worker, batch)
            request = (self.function, [self.items[index] for index in batch], self.cpu_s)
            self.poll.register(worker.channel.fileno(), select.POLLIN)
            self.lanes[worker.channel.fileno()] = lane
            # A worker that ended just now is found by the poll, one that does not read by the
            # guard.
            with suppress(OSError):
                _worker.send(worker.channel, pickle.dumps(request))
        except BaseException:  # such as Ctrl-C
            self.pool.discard(worker)
            raise

    def _wait(self) -> None:
        expires = min(lane.expires for lane in self.lanes.values())
        wait_ms = max(0, math.ceil((expires - time.monotonic()) * 1000))
        for fd, _ in self.poll.poll(wait_ms):  # type: ignore[attr-defined]  # `run` has a real one
            self._progress(fd, self.lanes[fd])
        self._expire()

    def _expire(self) -> None:
        now = time.monotonic()
        for fd, lane in list(self.lanes.items()):
            if lane.expires <= now:
                guard = f"its wall-clock guard ended it ({self.guard_s:g} s for an item)"
                self._fail(fd, WorkerKilled(guard))

    def _progress(self, fd: int, lane: _Lane) -> None:
        frames = lane.worker.read()
        if frames is None:
            self._fail(fd, None)
            return
        for frame in frames:
            # The parent's own clock, from when it learns that the item before has ended.
            lane.expires = time.monotonic() + self.guard_s
            if frame == _worker.READY:
                continue
            kind, value = pickle.loads(frame)  # noqa: S301 - see `workers`
            if kind in (_worker.MEMORY, _worker.TIMEOUT):
                reached = WorkerMemory("the memory limit was met")
                self._fail(fd, reached if kind == _worker.MEMORY else self._timeout())
                return
            outcome = Outcome(None, WorkerError(value)) if kind == _worker.ERROR else Outcome(value)
            self._book(lane.batch.popleft(), outcome)
        if not lane.batch:
            self.pool.give(self._leave(fd).worker)

    def _timeout(self) -> WorkerTimeout:
        return WorkerTimeout(f"it needs more than {self.cpu_s:g} s of CPU time")

    def _fail(self, fd: int, error: WorkerError | None) -> None:
        """Blame the item that the worker was busy with, and put the rest of its batch back.

        Without an error the exit code of the worker says what happened.
        """
        lane = self._leave(fd)
        code = self.pool.discard(lane.worker)
        if error is None:
            error = self._timeout() if code == -signal.SIGPROF else _death(code)
        index = lane.batch.popleft()
        self.todo.extendleft(reversed(lane.batch))
        if isinstance(error, WorkerDied) and index not in self.lost and not self.pool.closed:
            self.lost.add(index)
            self.again.append(index)
        else:
            self._book(index, Outcome(None, error))

    def _book(self, index: int, outcome: Outcome) -> None:
        self.outcomes[index] = outcome
        if self.on_outcome is not None:
            self.on_outcome(index, outcome)

    def _leave(self, fd: int) -> _Lane:
        self.poll.unregister(fd)
        return self.lanes.pop(fd)


def _death(code: object) -> WorkerDied:
    """Return the error for a worker that ended; its exit code is None where nobody knows it."""
    if not isinstance(code, int):
        return WorkerKilled("the worker is gone, and so is the server that started it")
    if code >= 0:
        return WorkerDied(f"the worker ended without an answer (exit code {code})")
    name = signal.Signals(-code).name
    kind = WorkerKilled if -code in (signal.SIGKILL, signal.SIGTERM) else WorkerDied
    return kind(f"the worker ended without an answer (signal {name})")
