"""Runs the server's work outside of its event loop, a bounded amount at once.

Verifiers meet hostile answers in the worker pool. Tasks whose answers a sandbox judges run in
threads of this process, because the pool of sandboxes lives here.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from rlvr_envs.core.errors import RlvrEnvsError, WorkerError
from rlvr_envs.core.parallel import CPU_S, RECYCLE_AFTER
from rlvr_envs.core.workers import Outcome, WorkerPool
from rlvr_envs.serving import episodes

_CALL = f"{episodes.__name__}:call"
# Few enough that a slow answer holds up few others, many enough to share the cost of a message.
_BATCH = 8
_MEMORY_MIB = 4096


class Busy(RlvrEnvsError):
    """So much work waits already that no more is accepted."""


@dataclass(slots=True)
class _Item:
    arguments: tuple[Any, ...]
    future: "asyncio.Future[Outcome]" = field(repr=False)


class Work:
    """A queue of calls of `rlvr_envs.serving.episodes`, and the processes that take them.

    Args:
        workers: processes, and threads that wait for sandboxes.
        limit: calls that may wait or run at once.
        preload: modules that the processes import before they start.
    """

    def __init__(self, workers: int, limit: int, preload: tuple[str, ...] = ()) -> None:
        self.limit = limit
        self.pending = 0
        self._loop: asyncio.AbstractEventLoop
        self._pool = WorkerPool(
            workers=workers,
            memory_mib=_MEMORY_MIB,
            recycle_after=RECYCLE_AFTER,
            preload=(episodes.__name__, *preload),
        )
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._sandboxed = ThreadPoolExecutor(workers, "rlvr-serve-sandbox")
        self._dispatchers = [
            threading.Thread(target=self._dispatch, name=f"rlvr-serve-{i}", daemon=True)
            for i in range(workers)
        ]

    def start(self) -> None:
        """Begin to take work, for the event loop that calls this."""
        self._loop = asyncio.get_running_loop()
        for thread in self._dispatchers:
            thread.start()

    async def run(self, name: str, *arguments: Any, in_sandbox: bool = False) -> Outcome:
        """Return the outcome of a function of `episodes`, named, with these arguments.

        The work goes on when the caller is cancelled: an action that was accepted is taken.

        Raises:
            Busy: the queue is full.
        """
        if self.pending >= self.limit:
            raise Busy(
                f"{self.pending} requests wait or run, the most this server takes at once: send "
                "this one again in a moment"
            )
        future: asyncio.Future[Outcome]
        if in_sandbox:
            future = self._loop.run_in_executor(self._sandboxed, _attempt, (name, *arguments))
        else:
            future = self._loop.create_future()
            self._queue.put(_Item((name, *arguments), future))
        self.pending += 1
        future.add_done_callback(self._finished)
        return await asyncio.shield(future)

    def _finished(self, _: object) -> None:
        self.pending -= 1

    def close(self) -> None:
        """End the processes; what still runs is lost."""
        for _ in self._dispatchers:
            self._queue.put(None)
        self._pool.close()
        self._sandboxed.shutdown(wait=False, cancel_futures=True)

    def _dispatch(self) -> None:
        """Hand work to the pool, for ever; runs in a thread."""
        while (first := self._queue.get()) is not None:
            batch = [first]
            while len(batch) < _BATCH and not self._queue.empty():
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:  # another thread was faster
                    break
                if item is None:
                    self._queue.put(None)
                    break
                batch.append(item)
            self._run(batch)

    def _run(self, batch: list[_Item]) -> None:
        def answer(index: int, outcome: Outcome) -> None:
            self._tell(batch[index].future, outcome)

        try:
            self._pool.map(
                _CALL, [item.arguments for item in batch], cpu_s=CPU_S, on_outcome=answer
            )
        except Exception as error:  # noqa: BLE001 - the pool is closed, or no worker starts
            fault = error if isinstance(error, WorkerError) else WorkerError(str(error))
            for item in batch:
                self._tell(item.future, Outcome(None, fault))

    def _tell(self, future: "asyncio.Future[Outcome]", outcome: Outcome) -> None:
        def settle() -> None:
            if not future.done():
                future.set_result(outcome)

        call: Callable[..., object] = self._loop.call_soon_threadsafe
        try:
            call(settle)
        except RuntimeError:  # the loop is closed: nobody waits
            return


def _attempt(arguments: tuple[Any, ...]) -> Outcome:
    try:
        return Outcome(episodes.call(*arguments))
    except Exception as error:  # noqa: BLE001 - a fault of ours must not look like an answer
        return Outcome(None, WorkerError(f"{type(error).__name__}: {error}"))
