"""Counting by the kernel: the cgroup of a slot, which holds one job at a time.

The server and all that it starts live in the group, so that a job costs no move from one group to
another, which takes milliseconds. What the group counts beyond this process's own use is the job's,
also of processes that nobody saw and nobody waited for, and of memory in no process's map: page
tables, shared memory, buffers of sockets and pipes.
"""

from __future__ import annotations

import os
import resource
import time
from typing import NamedTuple

from rlvr_envs.sandboxes.slot.basics import MIB
from rlvr_envs.sandboxes.slot.walls import put

# Of which hierarchy each file is in the first version; the second has a single one.
FILES_OF_V1 = {
    "procs": ("memory", "cgroup.procs"),
    "cpu": ("cpuacct", "cpuacct.usage"),
    "usage": ("memory", "memory.usage_in_bytes"),
    "stat": ("memory", "memory.stat"),
    "kernel": ("memory", "memory.kmem.usage_in_bytes"),
    "events": ("memory", "memory.oom_control"),
    "tasks": ("pids", "pids.current"),
    "swap": ("memory", "memory.swappiness"),
    "max": ("memory", "memory.limit_in_bytes"),
    "most_tasks": ("pids", "pids.max"),
    "reclaim": ("memory", "memory.force_empty"),
}
FILES_OF_V2 = {
    "procs": ("", "cgroup.procs"),
    "cpu": ("", "cpu.stat"),
    "usage": ("", "memory.current"),
    "stat": ("", "memory.stat"),
    "events": ("", "memory.events"),
    "tasks": ("", "pids.current"),
    "swap": ("", "memory.swap.max"),
    "max": ("", "memory.max"),
    "most_tasks": ("", "pids.max"),
    "reclaim": ("", "memory.reclaim"),
}
READ = ("procs", "cpu", "usage", "stat", "kernel", "events", "tasks")
OPTIONAL = ("kernel", "swap", "reclaim")  # not every kernel has them
# What the wall leaves beside a job's own memory: for buffers of this process.
SLACK = 32 * MIB
# More that earlier jobs left in the kernel's caches is given back before the next one starts.
LEFT_BEHIND = 64 * MIB
REMOVING_S = 5.0
PREFIX = "rlvr-slot-"


class Counted(NamedTuple):
    """What a group has used, without this process's own CPU time."""

    cpu_s: float
    memory: int  # bytes of processes, and of the kernel for them
    shared: int  # bytes of shared memory, and of files in memory
    tasks: int
    killed: int  # processes that the kernel ended since the group had no memory left


class Group:
    """A cgroup made for this slot, or the one of our container.

    Args:
        folders: the directory in each hierarchy; of the second version, a single one under "".
        made: whether the directories are ours, so that limits can be set and the server can join.
    """

    def __init__(self, folders: dict[str, str], *, made: bool) -> None:
        self.folders, self.made = folders, made
        self._version = 2 if "" in folders else 1
        self._files: dict[str, int] = {}
        names = FILES_OF_V2 if self._version == 2 else FILES_OF_V1
        try:
            for key, (hierarchy, name) in names.items():
                reads = key in READ and key != "procs"
                if reads or made or key == "procs":
                    flags = os.O_RDONLY if reads or not made else os.O_RDWR
                    self._open(key, f"{folders[hierarchy]}/{name}", flags)
        except (OSError, KeyError):
            self.close()
            raise

    def _open(self, key: str, path: str, flags: int) -> None:
        try:
            self._files[key] = os.open(path, flags | os.O_CLOEXEC)
        except OSError:
            try:  # some files are for writing alone
                self._files[key] = os.open(path, (flags & ~os.O_RDWR) | os.O_WRONLY | os.O_CLOEXEC)
            except OSError:
                if key not in OPTIONAL:
                    raise

    def close(self) -> None:
        """Let go of the files."""
        for fd in self._files.values():
            os.close(fd)
        self._files = {}

    def join(self) -> None:
        """Move this process into the group; all that it starts from here on is in it, too."""
        for folder in self.folders.values():
            put(f"{folder}/cgroup.procs", "0")
        if "swap" in self._files:
            os.write(self._files["swap"], b"0")

    def remove(self) -> None:
        """Remove the directories, once the last process in them is gone."""
        deadline = time.monotonic() + REMOVING_S
        for folder in self.folders.values():
            while True:
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    pass
                except OSError:
                    if time.monotonic() < deadline:
                        time.sleep(0.005)
                        continue
                break

    def limit(self, memory: int, tasks: int) -> None:
        """Let the kernel stop a job at so many bytes and tasks more than there are now."""
        if not self.made:
            return
        used, now = self._number("usage"), self._number("tasks")
        if used > LEFT_BEHIND and "reclaim" in self._files:
            self._put("reclaim", used if self._version == 2 else 0)
            used = self._number("usage")
        self._put("max", used + memory + SLACK)
        self._put("most_tasks", now + tasks)

    def _put(self, key: str, value: int) -> None:
        try:
            os.pwrite(self._files[key], b"%d" % value, 0)
        except OSError:  # not all could be reclaimed: then the watch alone decides
            pass

    def members(self) -> list[int]:
        """Return the processes of the group that can be seen from here."""
        parts: list[bytes] = []
        while part := os.pread(self._files["procs"], 1 << 16, sum(len(known) for known in parts)):
            parts.append(part)
        return [pid for pid in map(int, b"".join(parts).split()) if pid]

    def count(self) -> Counted:
        """Return what was used so far."""
        stat = self._table("stat")
        if self._version == 1:
            cpu = self._number("cpu") / 1e9
            memory = stat["rss"] + (self._number("kernel") if "kernel" in self._files else 0)
        else:
            cpu = self._table("cpu")["usage_usec"] / 1e6
            memory = stat["anon"] + stat.get("sock", 0) - stat.get("slab_reclaimable", 0)
            memory += stat.get("kernel", stat.get("slab", 0) + stat.get("pagetables", 0))
        mine = resource.getrusage(resource.RUSAGE_SELF)
        tasks, killed = self._number("tasks"), self._table("events").get("oom_kill", 0)
        cpu -= mine.ru_utime + mine.ru_stime
        return Counted(cpu, memory, stat["shmem"], tasks, killed)

    def _number(self, key: str) -> int:
        return int(os.pread(self._files[key], 32, 0))

    def _table(self, key: str) -> dict[str, int]:
        words = os.pread(self._files[key], 1 << 13, 0).split()
        return {
            name.decode(): int(value) for name, value in zip(words[::2], words[1::2], strict=True)
        }


def sweep(parent: str) -> None:
    """Remove the empty groups of guards that were killed."""
    try:
        names = [name for name in os.listdir(parent) if name.startswith(PREFIX)]
    except OSError:
        return
    for name in names:
        if not os.path.exists(f"/proc/{name[len(PREFIX) :].partition('-')[0]}"):
            try:
                os.rmdir(f"{parent}/{name}")
            except OSError:  # something of it still runs, and its limits with it
                pass


def new_group(mounts: str = "/proc/self/mountinfo", own: str = "/proc/self/cgroup") -> Group | None:
    """Return a group made for this slot, or None where we may not make one that counts all."""
    name = f"{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    for places in places_for_groups(mounts, own):
        for parent in places.values():
            sweep(parent)
        made: dict[str, str] = {}
        try:
            for hierarchy, parent in places.items():
                os.mkdir(f"{parent}/{name}")
                made[hierarchy] = f"{parent}/{name}"
            return Group(made, made=True)
        except (OSError, KeyError):
            for folder in made.values():
                os.rmdir(folder)
    return None


def container_group() -> Group | None:
    """Return the group of our container, to read what it counts.

    None where it is not shown, or where it holds more than this process.
    """
    for places in places_for_groups("/proc/self/mountinfo", "/proc/self/cgroup")[:2]:
        try:
            group = Group(places, made=False)
            if group.count().tasks == 1:
                return group
            group.close()
        except (OSError, KeyError, ValueError):
            continue
    return None


def places_for_groups(mounts: str, own: str) -> list[dict[str, str]]:
    """Return where a group could be made, hierarchy → directory, the best first.

    That is below our own group, so that its limits hold for the slot, too. In the second version a
    group with processes in it hands out no controllers: there the groups above it follow, where a
    service manager has delegated them to us.
    """
    try:
        with open(own, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
        with open(mounts, encoding="utf-8") as file:
            mounted = [line.split() for line in file]
    except OSError:
        return []
    paths = {kind: path for _, kinds, path in lines for kind in kinds.split(",")}
    places: dict[str, str] = {}
    unified = top_of_unified = ""
    for words in mounted:
        root, top, after = words[3], words[4], words[words.index("-") + 1 :]
        for kind in ("memory", "cpuacct", "pids"):
            if after[0] == "cgroup" and kind in after[2].split(",") and kind in paths:
                places[kind] = top + within(paths[kind], root)
        if after[0] == "cgroup2" and "" in paths:
            unified, top_of_unified = top + within(paths[""], root), top
    found = [places] if len(places) == 3 else []
    while unified:
        found.append({"": unified})
        if unified == top_of_unified:
            break
        unified = os.path.dirname(unified)
    return found


def within(path: str, root: str) -> str:
    """Return a group's path below the mount that shows it from a root on; "" for the root."""
    inside = path[len(root) :] if root != "/" and (path + "/").startswith(root + "/") else path
    return inside.rstrip("/")
