"""Where work runs: the protocol of executors, and those of one machine.

`rlvr_envs.executors` opens them by name, and has the one of a Ray cluster.
"""

import importlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self, TypeVar

from rlvr_envs.core.errors import ConfigError, DependencyError, WorkerError
from rlvr_envs.core.workers import Outcome, WorkerPool

__all__ = [
    "Call",
    "Executor",
    "Outcome",
    "Processes",
    "Serial",
    "batched",
    "check_executor",
    "find_function",
]

Item = TypeVar("Item")

# Tasks may hold large worlds.
MEMORY_MIB = 4096
# A new worker has to import the tasks and warm their caches, which costs as much as judging
# thousands of plain answers.
RECYCLE_AFTER = 50_000


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function.

    Attributes:
        arguments: of the function; they are pickled where the function runs elsewhere.
        in_sandbox: whether the function waits for a sandbox, which has processes of its own: such
            a call runs in a thread beside the sandboxes.

    Examples:
        >>> from rlvr_envs.executors import Call, Serial
        >>> [outcome] = Serial().map("math:gcd", [Call((12, 18))], cpu_s=1)
        >>> outcome.value
        6
    """

    arguments: tuple[Any, ...]
    in_sandbox: bool = False


class Executor(ABC):
    """Runs calls of a function, with the same outcomes wherever that is.

    A call may run more than once, after a worker or a machine was lost, so a function has to be
    pure. Use an executor in a ``with`` statement, or close it.

    Examples:
        >>> from rlvr_envs.executors import Executor, open_executor
        >>> with open_executor("serial") as executor:
        ...     isinstance(executor, Executor)
        True
    """

    @abstractmethod
    def map(
        self, function: str, calls: Iterable[Call], *, cpu_s: float, batch: int = 64
    ) -> Iterator[Outcome]:
        """Yield the outcome of each call, in order.

        Calls are taken from the iterable as they are needed, a bounded number ahead of what has
        been yielded. A call that fails is an outcome with an error and harms no other.

        Args:
            function: ``"package.module:name"``.
            calls: what to call it with.
            cpu_s: CPU seconds that a call may use, where a process of its own runs it.
            batch: how many calls travel together.

        Raises:
            DependencyError: something that a call needs is missing here.
        """

    def close(self) -> None:  # noqa: B027 - nothing to do where nothing was started
        """End what was started; may be repeated."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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


def check_executor(value: object) -> None:
    """Check that an argument is an executor, or None.

    Raises:
        ConfigError: it is something else, such as the name of one.
    """
    if not (value is None or isinstance(value, Executor)):
        raise ConfigError(f"an executor is what `open_executor` returns, got {value!r:.80}")


class Serial(Executor):
    """Runs calls one after the other in this process; limits of CPU time do not hold here.

    Examples:
        >>> from rlvr_envs.executors import Call, Serial
        >>> with Serial() as executor:
        ...     roots = list(executor.map("math:sqrt", [Call((4,)), Call((9,))], cpu_s=1))
        >>> [root.value for root in roots]
        [2.0, 3.0]
    """

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
        preload: modules to import before the first worker starts.
        memory_mib: see `open_executor`.

    Raises:
        ConfigError: ``workers`` is less than 1.

    Examples:
        >>> from rlvr_envs.executors import Call, Processes
        >>> with Processes(workers=1) as executor:
        ...     roots = list(executor.map("math:sqrt", [Call((4,)), Call((9,))], cpu_s=1))
        >>> [root.value for root in roots]
        [2.0, 3.0]
    """

    def __init__(
        self,
        workers: int | None = None,
        preload: tuple[str, ...] = (),
        memory_mib: int | None = MEMORY_MIB,
    ) -> None:
        self._pool = WorkerPool(
            workers=workers, memory_mib=memory_mib, recycle_after=RECYCLE_AFTER, preload=preload
        )
        self.workers = self._pool.workers
        self._threads = ThreadPoolExecutor(self.workers, "rlvr-executor-sandbox")
        self._batches = ThreadPoolExecutor(2, "rlvr-executor")

    def map(
        self, function: str, calls: Iterable[Call], *, cpu_s: float, batch: int = 64
    ) -> Iterator[Outcome]:
        """Yield the outcome of each call, in order; see `Executor.map`."""
        under_way: deque[Future[list[Outcome]]] = deque()
        try:
            # Two parts at once, so that no worker waits for the slowest call of a part.
            for part in batched(calls, batch * self.workers):
                under_way.append(self._batches.submit(self.run, function, part, cpu_s))
                if len(under_way) > 1:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            for left in under_way:
                left.cancel()

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
        for threads in (self._batches, self._threads):
            threads.shutdown(wait=False, cancel_futures=True)
