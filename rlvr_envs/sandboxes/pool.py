"""Slots: started when needed, handed out one at a time, replaced when they break or grow old."""

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rlvr_envs.core.errors import ConfigError, SandboxError, UsageError
from rlvr_envs.sandboxes.backend import Backend, Channel

# A slot is replaced after that many jobs, so that nothing can pile up in it.
RECYCLE_AFTER = 1000

# An idle slot holds about 10 MiB of its own.
MAX_SESSIONS = 256


class _Turn:
    """A job that waits for its turn.

    Attributes:
        alone: whether no other job may run beside it.
        came: set when its turn came, or the pool was closed.
        counted: whether its turn came, so that it counts among the jobs that run.
    """

    __slots__ = ("alone", "came", "counted")

    def __init__(self, alone: bool) -> None:
        self.alone, self.counted = alone, False
        self.came = threading.Event()


class SlotPool:
    """At most ``slots`` slots for jobs, and as many more as there are open sessions.

    Thread-safe. In a forked child it starts slots of its own.

    Args:
        backend: what starts slots.
        slots: how many jobs may run at a time; by default one for each core that we may use.
        sessions: how many sessions may be open at a time.
    """

    def __init__(
        self, backend: Backend, slots: int | None = None, sessions: int = MAX_SESSIONS
    ) -> None:
        wanted = len(os.sched_getaffinity(0)) if slots is None else slots
        if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
            raise ConfigError(f"slots is an integer from 1, got {slots!r}")
        self.backend, self.slots, self.sessions = backend, wanted, sessions
        self._open(os.getpid())
        _POOLS.add(self)

    def _open(self, pid: int) -> None:
        self._pid = pid
        self._free: list[tuple[Channel, int]] = []
        self._lent: set[Channel] = set()
        self._running = 0
        self._exclusive = False  # whether the job that runs is to run alone
        self._waiting: deque[_Turn] = deque()
        self._in_session = 0
        self._closed = False
        self._change = threading.Lock()

    def _here(self) -> None:
        """In a forked child, forget the parent's slots."""
        if self._pid != os.getpid():
            for channel in [*(channel for channel, _ in self._free), *self._lent]:
                channel.forget()
            self._open(os.getpid())

    @contextmanager
    def slot(self, *, alone: bool = False) -> Iterator[Channel]:
        """Lend a slot; one whose use raises an error is ended and not lent again.

        Args:
            alone: whether no other slot of this pool may run a job meanwhile; sessions may.

        Raises:
            SandboxUnavailable: no slot could be started.
            UsageError: the pool is closed.
        """
        self._here()
        with self._admitted(alone):
            with self._change:
                channel, jobs = self._free.pop() if self._free else (None, 0)
            if channel is None:
                channel = self.backend.start()
            with self._lending(channel):
                yield channel
            self._take_back(channel, jobs + 1)

    @contextmanager
    def _admitted(self, alone: bool) -> Iterator[None]:
        """Wait until another job may run, first come, first served, and count it while it does."""
        turn = _Turn(alone)
        try:
            with self._change:
                self._check_open()
                self._waiting.append(turn)
                self._admit()
            turn.came.wait()
            if not turn.counted:
                self._check_open()
            yield
        finally:
            with self._change:
                if turn.counted:
                    self._running -= 1
                    self._exclusive &= not alone
                elif turn in self._waiting:
                    self._waiting.remove(turn)
                self._admit()

    def _admit(self) -> None:
        """Give those who wait their turn, in order, as far as there is room."""
        while self._waiting and self._has_room(self._waiting[0].alone):
            turn = self._waiting.popleft()
            self._running += 1
            self._exclusive = turn.alone
            turn.counted = True
            turn.came.set()

    def _has_room(self, alone: bool) -> bool:
        if alone:
            return self._running == 0
        return self._running < self.slots and not self._exclusive

    @contextmanager
    def _lending(self, channel: Channel) -> Iterator[None]:
        with self._change:
            self._lent.add(channel)
        try:
            yield
        except BaseException:
            channel.close()
            raise
        finally:
            with self._change:
                self._lent.discard(channel)

    def _take_back(self, channel: Channel, jobs: int) -> None:
        with self._change:
            keep = jobs < RECYCLE_AFTER and not self._closed
            if keep:
                self._free.append((channel, jobs))
        if not keep:
            channel.close()

    def open_session(self) -> Channel:
        """Start a slot that belongs to a session until `end_session`.

        Raises:
            SandboxUnavailable: no slot could be started.
            SandboxError: too many sessions are open.
        """
        self._here()
        with self._change:
            self._check_open()
            if self._in_session >= self.sessions:
                raise SandboxError(
                    f"{self.sessions} sandbox sessions are open: close some, or allow more"
                )
            self._in_session += 1
        try:
            channel = self.backend.start()
        except BaseException:
            with self._change:
                self._in_session -= 1
            raise
        with self._change:
            self._lent.add(channel)
        return channel

    def end_session(self, channel: Channel) -> None:
        """End the slot of a session; may be called again."""
        with self._change:
            held = channel in self._lent
            self._lent.discard(channel)
            self._in_session -= held
        if held:
            channel.close()

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError("this sandbox is closed")

    def close(self) -> None:
        """End every slot, also those that are at work; may be called again."""
        if self._pid != os.getpid():
            return
        with self._change:
            self._closed = True
            ending = [*(channel for channel, _ in self._free), *self._lent]
            self._free, self._lent = [], set()
            for turn in self._waiting:
                turn.came.set()
            self._waiting.clear()
        for channel in ending:
            with suppress(OSError):
                channel.close()


_POOLS: "weakref.WeakSet[SlotPool]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for pool in list(_POOLS):
        pool.close()
