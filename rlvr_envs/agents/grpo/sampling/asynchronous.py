"""Sampling ahead of training: a thread plays the next batches while the current one is trained on.

How far ahead is bounded by versions of the weights. It takes an engine with weights of its own
(`Sampler.concurrent`), such as vLLM; with a bound of 0 there is no thread, and any engine will do.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from rlvr_envs.core.errors import ConfigError

Group = TypeVar("Group")


class Ahead(Generic[Group]):
    """Gives the training loop its batches, in their order, and plays further ones meanwhile.

    While step n is trained on, with weights of version n, the batches up to n + `max_staleness` may
    be played; the next one begins when `take` is called for the step after that, and so after the
    engine was given that step's weights. So no group that is used is more than `max_staleness`
    versions old, as long as each step adds one. What is older all the same is dropped, and counted.

    With `max_staleness` 0, `take` plays the batch itself, as a loop without this class would.

    Args:
        play: plays the batch of a number and returns its groups. It runs in a thread, one batch at
            a time, in the order of the numbers.
        oldest: returns the lowest version of the weights that a group's tokens were sampled from.
        max_staleness: how many versions a group may be behind the weights that it is used for.
        first: the number of the first batch: where a run is resumed, that of its next step.

    Attributes:
        dropped: how many groups were too old.

    Raises:
        ConfigError: the bound is below 0.
    """

    def __init__(
        self,
        play: Callable[[int], Sequence[Group]],
        oldest: Callable[[Group], int],
        *,
        max_staleness: int,
        first: int = 0,
    ) -> None:
        if max_staleness < 0:
            raise ConfigError(
                f"max_staleness is 0 (play and train in turns) or more, got {max_staleness}"
            )
        self.dropped = 0
        self._play, self._oldest, self._bound = play, oldest, max_staleness
        self._next = first  # the batch that is played next
        self._last = first + max_staleness  # the last one that may be played now
        self._ready: deque[Sequence[Group] | BaseException] = deque()
        self._change = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def take(self, version: int) -> list[Group]:
        """Return the next batch, but for its groups that are too old for weights of a version.

        A batch all of whose groups are too old is passed over. A batch that `play` returned
        without groups is not.

        Raises:
            Exception: what `play` raised for this batch.
        """
        while True:
            batch = self._batch()
            kept = [group for group in batch if version - self._oldest(group) <= self._bound]
            self.dropped += len(batch) - len(kept)
            if kept or not batch:
                return kept

    def _batch(self) -> Sequence[Group]:
        if not self._bound:
            batch = self._play(self._next)
            self._next += 1
            return batch
        with self._change:
            if self._closed:
                raise RuntimeError("no batch can be taken after `close`")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="rollouts", daemon=True)
                self._thread.start()
            else:
                self._last += 1
                self._change.notify_all()
            self._change.wait_for(lambda: self._ready)
            found = self._ready[0]
            if isinstance(found, BaseException):  # it stays: nothing comes after it
                raise found
            self._ready.popleft()
            return found

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._next <= self._last)
                if self._closed:
                    return
                number = self._next
            found: Sequence[Group] | BaseException
            try:
                found = self._play(number)
            except BaseException as error:  # noqa: BLE001 - it is raised where the batch is taken
                found = error
            with self._change:
                self._ready.append(found)
                self._next += 1
                self._change.notify_all()
                if isinstance(found, BaseException):
                    return

    def close(self) -> None:
        """Stop, after the batch that is being played; batches that wait are lost."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()
