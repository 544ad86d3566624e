"""Runs the server's work outside of its event loop, a bounded amount at once.

Verifiers meet hostile answers in the worker pool. Tasks whose answers a sandbox judges run in
threads of this process, because the pool of sandboxes lives here.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rlvr_envs.core.async_workers import AsyncWorkers
from rlvr_envs.core.errors import RlvrEnvsError, WorkerError
from rlvr_envs.core.executor import MEMORY_MIB, RECYCLE_AFTER
from rlvr_envs.core.parallel import CPU_S
from rlvr_envs.core.workers import Outcome, WorkerPool
from rlvr_envs.serving import episodes

_CALL = f"{episodes.__name__}:call"


class Busy(RlvrEnvsError):
    """So much work waits already that no more is accepted."""


class Work:
    """Calls of `rlvr_envs.serving.episodes`, and the processes that take them.

    Args:
        workers: processes, and threads that wait for sandboxes.
        limit: calls that may wait or run at once.
        preload: modules that the processes import before they start.
    """

    def __init__(self, workers: int, limit: int, preload: tuple[str, ...] = ()) -> None:
        self.limit = limit
        self.pending = 0
        self._pool = WorkerPool(
            workers=workers,
            memory_mib=MEMORY_MIB,
            recycle_after=RECYCLE_AFTER,
            preload=(episodes.__name__, *preload),
        )
        self._sandboxed = ThreadPoolExecutor(workers, "rlvr-serve-sandbox")
        self._workers: AsyncWorkers

    def start(self) -> None:
        """Begin to take work, in the event loop that calls this."""
        self._workers = AsyncWorkers(self._pool, _CALL, CPU_S)

    async def run(
        self, name: str, *arguments: Any, near: int | None = None, in_sandbox: bool = False
    ) -> tuple[Outcome, int | None]:
        """Return the outcome of a function of `episodes`, and the process that it ran in.

        The work goes on when the caller is cancelled: an action that was accepted is taken.

        Args:
            name: of the function.
            arguments: its own.
            near: the process to prefer, for what it has cached.
            in_sandbox: whether a sandbox judges, so that a thread waits for it here.

        Raises:
            Busy: too much waits.
        """
        if self.pending >= self.limit:
            raise Busy(
                f"{self.pending} requests wait or run, the most this server takes at once: send "
                "this one again in a moment"
            )
        future: asyncio.Future[tuple[Outcome, int | None]]
        if in_sandbox:
            loop = asyncio.get_running_loop()
            future = loop.run_in_executor(self._sandboxed, _attempt, name, arguments)
        else:
            future = self._workers.submit(name, *arguments, near=near)
        self.pending += 1
        future.add_done_callback(self._finished)
        return await asyncio.shield(future)

    def _finished(self, _: object) -> None:
        self.pending -= 1

    def close(self) -> None:
        """End the processes; what still runs is lost."""
        self._workers.close()
        self._sandboxed.shutdown(wait=False, cancel_futures=True)


def _attempt(name: str, arguments: tuple[Any, ...]) -> tuple[Outcome, None]:
    try:
        return Outcome(episodes.call(name, *arguments)), None
    except Exception as error:  # noqa: BLE001 - a fault of ours must not look like an answer
        return Outcome(None, WorkerError(f"{type(error).__name__}: {error}")), None
