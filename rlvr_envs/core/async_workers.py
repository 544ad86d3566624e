"""The worker pool for an event loop: items come one by one, and replies are read as they come."""

import asyncio
import pickle
from collections import deque
from contextlib import suppress

from rlvr_envs.core._fork_server import Worker
from rlvr_envs.core._job import Job, Outcome
from rlvr_envs.core.errors import UsageError, WorkerError
from rlvr_envs.core.workers import WorkerPool

_GUARD_EVERY_S = 1.0
# A worker gets so many items at once, where more wait: few, so that a slow one holds up few.
_BATCH = 8


class _LoopRegistry:
    """Watches channels by the event loop."""

    def __init__(self, job: "AsyncWorkers") -> None:
        self._job = job
        self._loop = asyncio.get_running_loop()

    def register(self, fd: int, event: int, /) -> None:
        self._loop.add_reader(fd, self._job.on_readable, fd)

    def unregister(self, fd: int, /) -> None:
        self._loop.remove_reader(fd)


class AsyncWorkers(Job[WorkerPool]):
    """A `Job` without end. Make it, use it and close it in one event loop.

    Workers are started in a thread, so that the loop never waits for one.

    Args:
        pool: the workers; nobody else may use them meanwhile.
        function: ``"package.module:qualname"``, called for every item.
        cpu_s: CPU seconds that an item may use.
    """

    def __init__(self, pool: WorkerPool, function: str, cpu_s: float) -> None:
        super().__init__(pool, function, [], cpu_s)
        self._packed: dict[int, bytes] = {}
        self.items = self._packed
        self.poll = _LoopRegistry(self)
        self._loop = asyncio.get_running_loop()
        self._futures: dict[int, asyncio.Future[tuple[Outcome, int | None]]] = {}
        self._near: dict[int, int | None] = {}
        self._count = 0
        self._starting: set[asyncio.Future[Worker | None]] = set()
        self._guard = self._loop.create_task(self._watch())

    def submit(
        self, *arguments: object, near: int | None = None
    ) -> "asyncio.Future[tuple[Outcome, int | None]]":
        """Return what will hold the outcome of an item, and the worker's process id.

        Args:
            arguments: of the function.
            near: the process id of the worker to prefer, for what it has cached.
        """
        packed = pickle.dumps(arguments)
        index, self._count = self._count, self._count + 1
        self._packed[index] = packed
        self._near[index] = near
        self._futures[index] = self._loop.create_future()
        self.todo.append(index)
        self._dispatch()
        return self._futures[index]

    def on_readable(self, fd: int) -> None:
        """Read what a worker has written; the loop calls this."""
        lane = self.lanes.get(fd)
        if lane is not None:
            self._progress(fd, lane)
            self._dispatch()

    def _dispatch(self) -> None:
        while self.todo:
            worker = self.pool.take_idle(self._near[self.todo[0]])
            if worker is None:
                self._start_one()
                return
            share = -(-len(self.todo) // (2 * self.pool.workers))
            size = min(share, _BATCH, self.pool.recycle_after - worker.served)
            self._assign(worker, deque(self.todo.popleft() for _ in range(size)))
        if self.again:
            self._start_one()

    def _assign(self, worker: Worker, batch: deque[int]) -> None:
        self._near.update(dict.fromkeys(batch, worker.pid))
        super()._assign(worker, batch)

    def _start_one(self) -> None:
        """Start a worker in a thread, if fewer run than may."""
        if len(self.lanes) + len(self._starting) >= self.pool.workers:
            return
        started = self._loop.run_in_executor(None, lambda: self.pool.take(wait=True, fresh=True))
        self._starting.add(started)
        started.add_done_callback(self._started)

    def _started(self, started: "asyncio.Future[Worker | None]") -> None:
        self._starting.discard(started)
        if started.cancelled():
            return
        error = started.exception()
        if error is not None:
            self._give_up(error)
            return
        worker = started.result()
        if worker is None:
            return
        if self.again:
            self._assign(worker, deque([self.again.popleft()]))
        else:
            self.pool.give(worker)
        self._dispatch()

    def _give_up(self, error: BaseException) -> None:
        """End what waits: no worker can be started, or the pool is closed."""
        fault = error if isinstance(error, WorkerError) else WorkerError(str(error))
        while self.todo or self.again:
            self._book((self.todo or self.again).popleft(), Outcome(None, fault))

    def _book(self, index: int, outcome: Outcome) -> None:
        self.lost.discard(index)
        del self._packed[index]
        future, near = self._futures.pop(index), self._near.pop(index)
        if not future.done():
            future.set_result((outcome, near))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_GUARD_EVERY_S)
            self._expire()
            self._dispatch()

    def close(self) -> None:
        """End the workers; what is under way ends with an error."""
        self._guard.cancel()
        for fd in list(self.lanes):
            lane = self._leave(fd)
            self.pool.discard(lane.worker)
            self.todo.extend(lane.batch)
        with suppress(UsageError):
            self.pool.close()
        self._give_up(UsageError("the worker pool is closed"))
