"""The protocol of executors."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from rlvr_envs.core.workers import Outcome

__all__ = ["Call", "Executor", "Outcome"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function.

    Attributes:
        arguments: of the function; they are pickled where the function runs elsewhere.
        in_sandbox: whether the function waits for a sandbox, which has processes of its own: such
            a call runs in a thread beside the sandboxes.
    """

    arguments: tuple[Any, ...]
    in_sandbox: bool = False


class Executor(ABC):
    """Runs calls of a function, with the same outcomes wherever that is.

    A call may run more than once, after a worker or a machine was lost, so a function has to be
    pure. Use an executor in a ``with`` statement, or close it.
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
