"""Watching the processes of a job: CPU time, memory, and what is left."""

from __future__ import annotations

import os
import re
import resource
import time
from functools import cache
from typing import Any

from rlvr_envs.sandboxes.slot.basics import MIB, MOST_BETWEEN_LOOKS_S
from rlvr_envs.sandboxes.slot.cgroup import Group
from rlvr_envs.sandboxes.slot.folders import Box

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
# What a socket can hold is in nobody's resident set: beyond what ordinary programs have open, each
# descriptor counts as a socket that is full.
FREE_DESCRIPTORS, SOCKET_BUFFER = 16, 2 * 212992
# Page tables take 8 bytes for each page that was touched: looked at where they may be large.
LARGE_PAGES = 1 << 22
FIRST_STACK = 25  # of the fields of `stat_of`


# Here a slot has a pid namespace of its own, so every other process in it belongs to the job.
OWN_PROCESSES = frozenset({"namespaces", "docker"})


def family(tier: str, group: Group | None = None) -> list[int]:
    """Return the processes of the current job."""
    if group is not None and tier not in OWN_PROCESSES:  # however they descend from one another
        me = os.getpid()
        return [pid for pid in group.members() if pid != me]
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


def use_of(pid: int, floor: int = 0) -> tuple[int, float, float, int, int, bool] | None:
    """Return what a process uses, or None where it is gone.

    That is: its start, its own CPU seconds, those of the children it has waited for, its resident
    bytes that no file backs, its number of tasks, and whether one of them has work to do.

    Args:
        pid: the process.
        floor: the bytes that are not its own, if it is a fork of this process.
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
    if fields[FIRST_STACK] == own_stack():  # pages that a forked process shares with this one
        resident = max(0, resident - floor)
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
    """Return the resident bytes of a process that no file backs, large page tables included."""
    with open(f"/proc/{process}/statm", "rb") as file:
        pages = file.read().split()
    resident = (int(pages[1]) - int(pages[2])) * PAGE
    return resident + (tables_of(process) if int(pages[0]) > LARGE_PAGES else 0)


def tables_of(process: str) -> int:
    """Return the bytes of a process's page tables."""
    with open(f"/proc/{process}/status", "rb") as file:
        found = re.search(rb"VmPTE:\s*(\d+) kB", file.read())
    return int(found[1]) << 10 if found else 0


@cache
def own_stack() -> bytes:
    """Return the address of this process's stack, which its forks share until they exec."""
    return stat_of("self")[FIRST_STACK]


def own_memory() -> int:
    """Return the bytes of this process that its forks share with it."""
    try:
        return memory_of("self")
    except OSError:
        return 0


def works(pid: int) -> bool | None:
    """Return whether a thread of a process has work to do, or None where it is gone."""
    try:
        fields = stat_of(str(pid))
        return fields[0] == b"R" or (int(fields[17]) > 1 and has_busy_thread(pid))
    except OSError:
        return None


class Watch:
    """What a running step has used, and the first limit that it broke.

    Where the slot has a group, the kernel counts; elsewhere it is a sample of what `/proc` shows.
    """

    def __init__(
        self,
        tier: str,
        box: Box,
        limits: dict[str, Any],
        ended_cpu: float,
        group: Group | None = None,
    ) -> None:
        self.tier, self.box, self.limits, self.ended_cpu = tier, box, limits, ended_cpu
        self.group = group
        self._next_walk = 0.0
        self._began = self._looked = time.monotonic()
        self.idle = 0.0  # seconds in which no task of the job ran or waited for a processor
        self._sees = False
        self.floor = own_memory()
        self.memory, self.now = 0, 0  # bytes and tasks at the last look
        self.peak, self.tasks, self.cpu = 0, 0, 0.0
        self.killed = False  # whether the kernel ended a process for want of memory
        self._seen: dict[tuple[int, int], float] = {}
        if group is not None:
            room = limits["memory_mib"] + 2 * limits["disk_mib"]
            group.limit(room * MIB, limits["processes"])
            self._base, self._files = group.count(), box.in_memory()

    def look(self) -> str:
        """Return the status that a broken limit gives, or an empty string."""
        busy = self._sample() if self.group is None else self._count(self.group)
        if self.cpu > self.limits["cpu_s"]:
            return "cpu_timeout"
        if self.killed or self.memory > self.limits["memory_mib"] * MIB:
            return "memory"
        if self.now > self.limits["processes"]:
            return "process_limit"
        began = time.monotonic()
        if began >= self._next_walk:
            if self.box.over(self.limits):
                return "file_limit"
            # Looking through many files takes long: at most a tenth of the time goes there.
            self._next_walk = began + 10 * (time.monotonic() - began)
        return self._guard(began, busy)

    def _count(self, group: Group) -> bool:
        """Take in what the kernel counted; return whether a process has work to do."""
        self.settle(group)
        for pid in family(self.tier, group):
            state = works(pid)
            self._sees |= state is not None
            if state:
                return True
        return False

    def settle(self, group: Group) -> None:
        """Take in what the kernel counted until now, of processes that are gone, too."""
        now, base, files = group.count(), self._base, self.box.in_memory()
        self.memory = now.memory - base.memory
        if files is not None and self._files is not None:  # the files have limits of their own
            self.memory += max(0, now.shared - files - (base.shared - self._files))
        self.now = now.tasks - base.tasks
        self.cpu = max(self.cpu, now.cpu_s - base.cpu_s)
        self.killed = now.killed > base.killed
        self.peak, self.tasks = max(self.peak, self.memory), max(self.tasks, self.now)

    def _sample(self) -> bool:
        """Take in what `/proc` shows; return whether a process has work to do."""
        alive, memory, tasks, busy = 0.0, 0, 0, False
        for pid in family(self.tier):
            use = use_of(pid, self.floor)
            if use is not None:
                start, own, waited_for, resident, count, active = use
                self._sees, busy = True, busy or active
                self._seen[pid, start] = own
                alive += own + waited_for
                memory += resident
                tasks += count
        # A process whose parent does not wait for it leaves no trace in anybody's account: what
        # was seen of it counts.
        ended = children_cpu() - self.ended_cpu
        self.cpu = max(self.cpu, alive + ended, sum(self._seen.values()))
        self.memory, self.now = memory, tasks
        self.peak, self.tasks = max(self.peak, memory), max(self.tasks, tasks)
        return busy

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
