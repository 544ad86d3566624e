"""Watching the processes of a job: CPU time, memory, and what is left."""

from __future__ import annotations

import os
import resource
import time
from typing import Any

from rlvr_envs.sandboxes.slot.basics import MIB, MOST_BETWEEN_LOOKS_S
from rlvr_envs.sandboxes.slot.folders import Box

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
# What a socket can hold is in nobody's resident set: beyond what ordinary programs have open, each
# descriptor counts as a socket that is full.
FREE_DESCRIPTORS, SOCKET_BUFFER = 16, 2 * 212992


# Here a slot has a pid namespace of its own, so every other process in it belongs to the job.
OWN_PROCESSES = frozenset({"namespaces", "docker"})


def family(tier: str) -> list[int]:
    """Return the processes of the current job."""
    if tier in OWN_PROCESSES:  # whoever shares our pid namespace
        try:
            me = os.getpid()
            return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != me]
        except OSError:
            return []
    found, frontier = [], [os.getpid()]
    while frontier:
        pid = frontier.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            continue
        found += children
        frontier += children
    return found


def use_of(pid: int) -> tuple[int, float, float, int, int, bool] | None:
    """Return what a process uses, or None where it is gone.

    That is: its start, its own CPU seconds, those of the children it has waited for, its resident
    bytes that no file backs, its number of tasks, and whether one of them has work to do.
    """
    try:
        fields = stat_of(str(pid))
        resident = memory_of(str(pid))
        busy = fields[0] == b"R" or (int(fields[17]) > 1 and has_busy_thread(pid))
    except OSError:
        return None
    own = (int(fields[11]) + int(fields[12])) / TICK
    waited_for = (int(fields[13]) + int(fields[14])) / TICK
    ended = fields[0] == b"Z"
    resident += max(0, descriptors_of(pid) - FREE_DESCRIPTORS) * SOCKET_BUFFER
    return int(fields[19]), own, waited_for, resident, 0 if ended else int(fields[17]), busy


def stat_of(process: str) -> list[bytes]:
    """Return what the kernel tells of a process or thread, from its state on."""
    with open(f"/proc/{process}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def has_busy_thread(pid: int) -> bool:
    """Whether a thread of a process runs or waits for a processor."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            if stat_of(f"{pid}/task/{thread}")[0] == b"R":
                return True
        except OSError:
            continue
    return False


def descriptors_of(pid: int) -> int:
    """Return how many descriptors a process has open; 0 where it has ended."""
    folder = f"/proc/{pid}/fd"
    try:
        return os.stat(folder).st_size or len(os.listdir(folder))  # the size is 0 before Linux 6.2
    except OSError:
        return 0


def memory_of(process: str) -> int:
    """Return the resident bytes of a process that no file backs."""
    with open(f"/proc/{process}/statm", "rb") as file:
        pages = file.read().split()
    return (int(pages[1]) - int(pages[2])) * PAGE


def own_memory() -> int:
    """Return the bytes of this process that its forks share with it."""
    try:
        return memory_of("self")
    except OSError:
        return 0


class Watch:
    """What a running step has used, and the first limit that it broke."""

    def __init__(self, tier: str, box: Box, limits: dict[str, Any], ended_cpu: float) -> None:
        self.tier, self.box, self.limits, self.ended_cpu = tier, box, limits, ended_cpu
        self._next_walk = 0.0
        self._began = self._looked = time.monotonic()
        self.idle = 0.0  # seconds in which no task of the job ran or waited for a processor
        self._sees = False
        self.floor = own_memory()
        self.peak, self.tasks, self.cpu = 0, 0, 0.0
        self._seen: dict[tuple[int, int], float] = {}

    def look(self) -> str:
        """Return the status that a broken limit gives, or an empty string."""
        alive, memory, tasks, busy = 0.0, 0, 0, False
        for pid in family(self.tier):
            use = use_of(pid)
            if use is not None:
                start, own, waited_for, resident, count, works = use
                self._sees, busy = True, busy or works
                self._seen[pid, start] = own
                alive += own + waited_for
                # Pages that a forked process shares with this one are not the job's.
                memory += max(0, resident - self.floor)
                tasks += count
        # A process whose parent does not wait for it leaves no trace in anybody's account: what
        # was seen of it counts.
        ended = children_cpu() - self.ended_cpu
        self.cpu = max(self.cpu, alive + ended, sum(self._seen.values()))
        self.peak = max(self.peak, memory)
        self.tasks = max(self.tasks, tasks)
        if self.cpu > self.limits["cpu_s"]:
            return "cpu_timeout"
        if memory > self.limits["memory_mib"] * MIB:
            return "memory"
        if tasks > self.limits["processes"]:
            return "process_limit"
        began = time.monotonic()
        if began >= self._next_walk:
            if self.box.over(self.limits):
                return "file_limit"
            # Looking through many files takes long: at most a tenth of the time goes there.
            self._next_walk = began + 10 * (time.monotonic() - began)
        return self._guard(began, busy)

    def _guard(self, now: float, busy: bool) -> str:
        """Return the status for a job that waits, or for a machine that does not let it work.

        Where no process of the job can be seen, nobody knows which of the two it is.
        """
        if self._sees and not busy:
            self.idle += min(now - self._looked, MOST_BETWEEN_LOOKS_S)
        self._looked = now
        if self.idle > self.limits["wall_s"]:
            return "wall_timeout"
        unseen = self.limits["cpu_s"] + self.limits["wall_s"]
        over = now - self._began > (self.limits["longest_s"] if self._sees else unseen)
        return "starved" if over else ""


def children_cpu() -> float:
    """Return the CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
