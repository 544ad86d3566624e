"""Executors of one machine."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from rlvr_envs.core.errors import ConfigError, DependencyError, WorkerError
from rlvr_envs.core.workers import WorkerPool
from rlvr_envs.executors.base import Call, Executor, Outcome

Item = TypeVar("Item")

# A worker of the pool serves tasks of ours, which may hold large worlds and do not leak.
_MEMORY_MIB = 4096
_RECYCLE_AFTER = 10**6


def find_function(name: str) -> Callable[..., object]:
    """Return the function of a name such as ``"package.module:name"``.

    Raises:
        ConfigError: the name has another form.
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise ConfigError(f"a function is named 'package.module:name', got {name!r}")
    found: Callable[..., object] = getattr(importlib.import_module(module), attribute)
    return found


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Return the items in lists of a size; the last one may be shorter."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part


def _call(function: Callable[..., object], call: Call) -> Outcome:
    try:
        return Outcome(function(*call.arguments))
    except DependencyError:  # nothing can be done here before something is installed
        raise
    except Exception as error:  # noqa: BLE001 - as a worker reports it
        return Outcome(None, WorkerError(f"{type(error).__name__}: {error}"))


class Serial(Executor):
    """Runs calls one after the other in this process; limits of CPU time do not hold here."""

    def map(
        self, function: str, calls: Iterable[Call], *, cpu_s: float, batch: int = 64
    ) -> Iterator[Outcome]:
        """Yield the outcome of each call, in order; see `Executor.map`."""
        found = find_function(function)
        for call in calls:
            yield _call(found, call)


class Processes(Executor):
    """Runs calls in isolated worker processes of this machine.

    Args:
        workers: how many; as many as this process may use cores by default.

    Raises:
        ConfigError: ``workers`` is less than 1.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._pool = WorkerPool(
            workers=workers, memory_mib=_MEMORY_MIB, recycle_after=_RECYCLE_AFTER
        )
        self.workers = self._pool.workers
        self._threads = ThreadPoolExecutor(self.workers, "rlvr-executor")

    def map(
        self, function: str, calls: Iterable[Call], *, cpu_s: float, batch: int = 64
    ) -> Iterator[Outcome]:
        """Yield the outcome of each call, in order; see `Executor.map`."""
        for part in batched(calls, batch * self.workers):
            yield from self.run(function, part, cpu_s)

    def run(self, function: str, calls: Sequence[Call], cpu_s: float) -> list[Outcome]:
        """Return the outcome of each call, in order."""
        found = find_function(function)
        waiting = [
            self._threads.submit(_call, found, call) if call.in_sandbox else None for call in calls
        ]
        plain = [call.arguments for call in calls if not call.in_sandbox]
        try:
            in_workers = iter(self._pool.map(function, plain, cpu_s=cpu_s))
        except WorkerError as error:  # no worker could be started at all
            in_workers = iter([Outcome(None, error)] * len(plain))
        return [next(in_workers) if each is None else each.result() for each in waiting]

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
