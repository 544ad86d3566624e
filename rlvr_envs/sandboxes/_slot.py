"""The slot server: runs programs one job at a time, walled in, and reports how they ended.

This file is a program of its own. Every backend starts it in a clean interpreter with an empty
environment, and speaks frames with it over its standard input and output: two lengths, a JSON
object, and the bytes that the object refers to by number. It uses the standard library alone and
nothing of this package, since in a container there is no package.

The tiers differ in how a job is walled in; everything else is the same:

- ``namespaces``: this process unshares user, pid, mount, net, ipc, uts and cgroup namespaces and
  pivots into a read-only root. Every job gets pid, mount and ipc namespaces of its own below
  those, with an init that runs the steps, so that nothing outlives its job.
- ``docker``: this process is the first process of a container.
- ``landlock``: Landlock, seccomp and limits alone, in a directory of its own.
- ``process``: limits alone.

Whoever reads this as an attacker: a job knows its own source and input, and no more. What goes in
and what comes out is kept in memory that forks do not inherit; what is right is decided elsewhere.
"""

from __future__ import annotations

import atexit
import builtins
import codecs
import ctypes
import errno
import gc
import json
import mmap
import os
import re
import resource
import select
import signal
import stat
import struct
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Answer = tuple[dict[str, Any], Sequence[memoryview]]
    Serve = Callable[["Runner", dict[str, Any], list[memoryview]], Answer]

MIB = 1 << 20
FIRST_LOOK_S = 0.01  # short programs end before anybody looks at them
LOOK_EVERY_S = 0.02  # on average: at times that a job cannot foresee
MOST_BETWEEN_LOOKS_S = 0.1  # what a look stands for: this process may have waited itself
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
ENVIRONMENT = {"PATH": ":".join(SYSTEM_PATH), "LANG": "C.UTF-8"}
INNER_ID = 1000  # user and group of jobs inside the namespaces
STACK = 64 * MIB
# RLIMIT_AS is only a backstop for the watch on resident memory: stacks of threads and mappings
# that are never touched count against it too.
ADDRESS_SLACK = 1024 * MIB

# Imported once, so that a forked Python job does not pay for them.
PRELOAD = (
    *("bisect", "collections", "copy", "datetime", "decimal", "enum", "fractions"),
    *("functools", "heapq", "io", "itertools", "json", "math", "operator", "random", "re"),
    *("string", "typing"),
)

libc = ctypes.CDLL(None, use_errno=True)
keeping_gil = ctypes.PyDLL(None, use_errno=True)


class Fault(Exception):
    """The sandbox itself failed; never the program's doing."""


class UserTaken(Fault):
    """The kernel counts processes of others with ours; a container with another user may do."""


def check(result: int, what: str) -> int:
    """Return the result of a system call; raise OSError, with what it was for, if it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


# --- frames ---------------------------------------------------------------------------------


def private_memory(size: int) -> memoryview:
    """Return memory that no forked child gets to see.

    A forked Python job could otherwise find there what this server has read and captured: inputs
    of other cases, sources and outputs of other jobs.
    """
    area = mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_DONTFORK)
    return memoryview(area)[:size]


def read_into(fd: int, view: memoryview) -> bool:
    """Fill memory from a descriptor; return whether there was enough to read."""
    done = 0
    while done < len(view):
        count = os.readv(fd, [view[done : done + MIB]])
        if not count:
            return False
        done += count
    return True


def write_all(fd: int, data: Any) -> None:
    """Write all of something."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:MIB]) :]


class Control:
    """The channel to the client."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self._writing = reading, writing

    @classmethod
    def take(cls) -> Control:
        """Move the channel away from the standard streams, where a job could meet it."""
        control = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        return control

    def read(self) -> tuple[dict[str, Any], list[memoryview]] | None:
        """Return the next message with the blobs it refers to, or None if the client is gone."""
        head = bytearray(8)
        if not read_into(self.reading, memoryview(head)):
            return None
        words, size = struct.unpack(">II", head)
        text, memory = bytearray(words), private_memory(size)
        if not read_into(self.reading, memoryview(text)) or not read_into(self.reading, memory):
            return None
        message = json.loads(text)
        blobs, start = [], 0
        for length in message.pop("blobs", ()):
            blobs.append(memory[start : start + length])
            start += length
        return message, blobs

    def write(self, message: dict[str, Any], blobs: Sequence[memoryview] = ()) -> None:
        """Send a message with the blobs it refers to."""
        text = json.dumps({**message, "blobs": [len(blob) for blob in blobs]}).encode()
        write_all(self._writing, struct.pack(">II", len(text), sum(map(len, blobs))) + text)
        for blob in blobs:
            write_all(self._writing, blob)

    def close(self) -> None:
        """Leave the channel to others."""
        os.close(self.reading)
        os.close(self._writing)


# --- the kernel's walls ---------------------------------------------------------------------

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x08000000, 0x10000000, 0x20000000
CLONE_NEWNET, CLONE_NEWTIME = 0x40000000, 0x00000080
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS = 1, 4, 8
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 22, 24, 36, 38

# System call numbers: (x86_64, aarch64); None where the machine has no such call. From 424 on,
# all machines share them.
# fmt: off
CALLS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91),
    "chroot": (161, 51), "clock_adjtime": (305, 266), "clock_settime": (227, 112),
    "clone": (56, 220), "clone3": (435, 435), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioctl": (16, 29), "ioperm": (173, None), "iopl": (172, None), "ioprio_set": (251, 30),
    "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "landlock_add_rule": (445, 445), "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446), "lookup_dcookie": (212, 18), "mbind": (237, 235),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "migrate_pages": (256, 238),
    "mmap": (9, 222), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "move_pages": (279, 239), "mq_open": (240, 180), "msgget": (68, 186),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41), "prlimit64": (302, 261), "process_madvise": (440, 440),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142),
    "request_key": (249, 218), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "semget": (64, 190),
    "set_mempolicy": (238, 237), "setdomainname": (171, 162), "sethostname": (170, 161),
    "setns": (308, 268), "setpgid": (109, 154), "setpriority": (141, 140), "setsid": (112, 157),
    "settimeofday": (164, 170), "shmget": (29, 194), "socket": (41, 198), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97),
    "userfaultfd": (323, 282), "vhangup": (153, 58),
}
# fmt: on
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# Not refused outright: allowed, or decided by their arguments below.
CONDITIONAL = {"clone", "clone3", "ioctl", "mmap", "personality", "socket", "capset", "setsid"}
CONDITIONAL |= {"setpgid", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
# What a process may do to itself but not to another, which would be the server: the number of the
# argument that says to whom.
ONLY_TO_ITSELF = {"prlimit64": 0, "sched_setaffinity": 0, "setpriority": 1, "ioprio_set": 1}
# The other calls about scheduling are refused, and a priority stays what it is: a job that gave way
# to all others could wait for a processor for ever, and that counts as the machine's doing.
NAMESPACE_FLAGS = (
    *(CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID),
    *(CLONE_NEWNET, CLONE_NEWTIME),
)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


def call_number(name: str) -> int | None:
    """Return the number of a system call on this machine."""
    return CALLS[name][MACHINES[os.uname().machine][0]]


class Filter:
    """A seccomp filter, put together from classic BPF instructions."""

    LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
    ALLOW, KILL = 0x7FFF0000, 0x80000000

    def __init__(self) -> None:
        self.code: list[bytes] = []
        self._add(self.LOAD, 4)  # the architecture
        self._add(self.EQUAL, MACHINES[os.uname().machine][1], 1, 0)
        self._add(self.RETURN, self.KILL)
        self._add(self.LOAD, 0)  # the number of the call
        self._add(self.AT_LEAST, 0x40000000, 0, 1)  # the x32 variants
        self._add(self.RETURN, self._error(errno.ENOSYS))

    def _add(self, code: int, value: int, jump: int = 0, otherwise: int = 0) -> None:
        self.code.append(struct.pack("HBBI", code, jump, otherwise, value))

    @staticmethod
    def _error(code: int) -> int:
        return 0x00050000 | code

    def refuse(self, name: str, code: int) -> None:
        """Let the call fail with an error."""
        number = call_number(name)
        if number is not None:
            self._add(self.EQUAL, number, 0, 1)
            self._add(self.RETURN, self._error(code))

    def judge(
        self, name: str, argument: int, tests: list[tuple[int, int, int]], mask: int = 0xFFFFFFFF
    ) -> None:
        """Decide a call by an argument: (instruction, value, error), the first that holds.

        Error 0 allows the call, and -1 pretends that it was made.
        """
        number = call_number(name)
        if number is None:
            return
        self._add(self.EQUAL, number, 0, 2 * len(tests) + 3)
        self._add(self.LOAD, 16 + 8 * argument)
        self._add(self.AND, mask)
        for instruction, value, code in tests:
            self._add(instruction, value, 0, 1)
            self._add(self.RETURN, self._error(max(code, 0)) if code else self.ALLOW)
        self._add(self.RETURN, self.ALLOW)

    def program(self) -> bytes:
        """Return the finished filter."""
        self._add(self.RETURN, self.ALLOW)
        return b"".join(self.code)


def filter_of(tier: str) -> bytes:
    """Return the filter that refuses the system calls that no job needs."""
    wall = Filter()
    for name in CALLS:
        if name not in CONDITIONAL and name not in ONLY_TO_ITSELF:
            wall.refuse(name, errno.EPERM)
    wall.refuse("clone3", errno.ENOSYS)  # its flags cannot be seen, and everybody falls back
    if tier == "landlock":  # without a pid namespace, the process group is what holds a job
        wall.refuse("setsid", errno.EPERM)
        wall.refuse("setpgid", errno.EPERM)
        wall.refuse("socket", errno.EACCES)
    else:
        unix = [(Filter.EQUAL, 1, 0), (Filter.AT_LEAST, 0, errno.EACCES)]
        wall.judge("socket", 0, unix)
    flags = [(Filter.ANY_BIT, sum(NAMESPACE_FLAGS), errno.EPERM)]
    wall.judge("clone", 0, flags)
    wall.judge("ioctl", 1, [(Filter.EQUAL, r, errno.EPERM) for r in (TIOCSTI, TIOCLINUX)])
    same = [(Filter.EQUAL, 0, 0), (Filter.EQUAL, 0xFFFFFFFF, 0), (Filter.AT_LEAST, 0, errno.EPERM)]
    wall.judge("personality", 0, same)
    for name, argument in ONLY_TO_ITSELF.items():
        allowed = -1 if name == "setpriority" else 0
        itself = [(Filter.EQUAL, 0, allowed), (Filter.AT_LEAST, 0, errno.EPERM)]
        wall.judge(name, argument, itself)
    # Shared anonymous pages that are let go of stay in memory and are in nobody's resident set.
    both = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
    wall.judge("mmap", 3, [(Filter.EQUAL, both, errno.EPERM)], mask=both)
    return wall.program()


def install(program: bytes) -> None:
    """Put a filter on this process, which can gain no privileges, and all that it will start."""
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    check(libc.prctl(PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


def landlock_abi() -> int:
    """Return the kernel's version of Landlock; below 1 there is none."""
    if os.uname().machine not in MACHINES:
        return 0
    return int(libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint(1)))


def ruleset_of(readable: list[str], writable: list[str], devices: list[str]) -> int:
    """Return a Landlock ruleset: some paths, no TCP, no signals to the outside; -1 for none."""
    abi = landlock_abi()
    if abi < 1:
        return -1
    execute, write, read, read_dir, truncate = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
    devices_and_sockets = (1 << 6) | (1 << 11)  # make character and block devices
    every = (1 << 13) - 1
    every |= (1 << 13 if abi >= 2 else 0) | (truncate if abi >= 3 else 0)
    every |= 1 << 15 if abi >= 5 else 0
    of_files = execute | write | read | (truncate if abi >= 3 else 0)
    attribute = struct.pack("QQQ", every, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = check(libc.syscall(444, attribute, ctypes.c_size_t(len(attribute)), 0), "landlock")
    for paths, access in (
        (readable, execute | read | read_dir),
        (writable, every & ~devices_and_sockets),
        (devices, read | write),
    ):
        for path in paths:
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            allowed = access if stat.S_ISDIR(os.fstat(fd).st_mode) else access & of_files
            rule = struct.pack("=Qi", allowed, fd)
            check(libc.syscall(445, ruleset, 1, rule, 0), f"landlock {path}")
            os.close(fd)
    return ruleset


def drop_bounding_set() -> None:
    """Let no program that is started from here on gain a capability; those we have stay."""
    for number in range(64):
        if libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0:
            break


NO_CAPABILITIES = struct.pack("II", 0x20080522, 0), struct.pack("6I", *[0] * 6)


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount, or raise OSError."""
    words = [word.encode() if word else None for word in (source, target, kind)]
    result = libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None)
    check(result, f"mount {target}")


def bind(fd: int, target: str) -> None:
    """Show an open file or directory at a path, for reading only, with everything below it."""
    mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC)
    read_only = struct.pack("QQQQ", 1 | 2 | 4, 0, 0, 0)  # read-only, no set-uid, no devices
    recursive = 0x8000
    number, size = call_number("mount_setattr"), ctypes.c_size_t(len(read_only))
    if libc.syscall(number, -100, target.encode(), recursive, read_only, size) == 0:
        return
    kept = os.statvfs(target).f_flag & ~0x1000  # a remount must repeat the flags that are there
    mount("", target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def enter_user_namespace(outer: int) -> None:
    """Become an ordinary user of a namespace in which we have every capability.

    As root, the user outside is a number that nobody else has, so that slots cannot touch one
    another; otherwise it is the user we are.
    """
    uid, gid, me = os.geteuid(), os.getegid(), os.getpid()
    if uid:
        check(libc.unshare(CLONE_NEWUSER), "unshare(user)")
        put("/proc/self/setgroups", "deny")
        put("/proc/self/uid_map", f"{INNER_ID} {uid} 1")
        put("/proc/self/gid_map", f"{INNER_ID} {gid} 1")
        return
    ready, go = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(go)
        os.read(ready, 1)
        try:
            put(f"/proc/{me}/uid_map", f"{INNER_ID} {outer} 1")
            put(f"/proc/{me}/gid_map", f"{INNER_ID} {outer} 1")
        except OSError:
            os._exit(1)
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER), "unshare(user)")
    os.write(go, b"x")
    if os.waitpid(helper, 0)[1]:
        raise Fault(f"the user namespace could not be mapped to user {outer}")
    os.close(ready)
    os.close(go)


def become_inner_user() -> None:
    """Where root made the namespace: be its user, and keep the capabilities."""
    os.setgroups([])
    libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setresgid(INNER_ID, INNER_ID, INNER_ID)
    os.setresuid(INNER_ID, INNER_ID, INNER_ID)
    header = ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0))
    data = (ctypes.c_uint32 * 6)()
    check(libc.capget(header, data), "capget")
    data[0], data[3] = data[1], data[4]  # what is permitted becomes effective
    check(libc.capset(header, data), "capset")
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def put(path: str, text: str) -> None:
    """Write a text to a file of the kernel."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


# Not /dev/zero: a shared mapping of it is memory that no limit sees.
DEVICES = ("null", "full", "random", "urandom")


def open_paths(places: dict[str, str]) -> dict[str, int]:
    """Return a descriptor for each path that exists, by the place where jobs will see it."""
    return {places[p]: os.open(p, os.O_PATH) for p in places if os.path.exists(p)}


def build_root(sources: dict[str, int]) -> None:
    """Pivot into a read-only root that shows some paths of the machine and nothing else."""
    nodes = {name: os.open(f"/dev/{name}", os.O_PATH) for name in DEVICES}
    top = "/tmp"  # noqa: S108 - only a place to mount on, in a namespace of our own
    mount("", "/", None, MS_REC | MS_PRIVATE)
    mount("tmpfs", top, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
    for name in ("etc", "proc", "dev", "tmp", "work", "old"):
        os.mkdir(f"{top}/{name}")
    for name in ("bin", "lib", "lib32", "lib64", "sbin"):
        if os.path.islink(f"/{name}") and "/usr" in sources:
            os.symlink(os.readlink(f"/{name}"), f"{top}/{name}")
    for path, fd in sources.items():
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            os.makedirs(top + path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(top + path), exist_ok=True)
            os.close(os.open(top + path, os.O_CREAT | os.O_WRONLY))
        bind(fd, top + path)
        os.close(fd)
    for name, fd in nodes.items():
        os.close(os.open(f"{top}/dev/{name}", os.O_CREAT | os.O_WRONLY))
        mount(f"/proc/self/fd/{fd}", f"{top}/dev/{name}", None, MS_BIND)
        os.close(fd)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{top}/dev/{name}")
    os.symlink("/proc/self/fd", f"{top}/dev/fd")
    write_accounts(f"{top}/etc")
    try:
        mount("proc", f"{top}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except OSError:  # where /proc is masked already, as in a container, jobs do without
        pass
    os.chdir(top)
    check(libc.syscall(call_number("pivot_root"), b".", b"old"), "pivot_root")
    check(libc.umount2(b"old", 2), "umount of the old root")
    os.rmdir("/old")
    os.chdir("/")
    mount("", "/", None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def write_accounts(folder: str) -> None:
    """Write the few names that programs look up."""
    lines = f"root:x:0:0::/:/bin/sh\nsandbox:x:{INNER_ID}:{INNER_ID}::/work:/bin/sh\n"
    for name, text in (
        ("passwd", lines),
        ("group", f"root:x:0:\nsandbox:x:{INNER_ID}:\n"),
        ("hosts", "127.0.0.1 localhost\n"),
    ):
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)


# --- the working directory ------------------------------------------------------------------


def open_beneath(root: int, path: str, flags: int) -> int:
    """Open a file below a directory and follow no link; when creating, make room for it first."""
    *folders, name = path.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            if flags & os.O_CREAT and not is_folder(here, folder):
                clear(here, folder)
                os.mkdir(folder, 0o755, dir_fd=here)
            deeper = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_PATH, dir_fd=here)
            os.close(here)
            here = deeper
        if flags & os.O_CREAT:
            clear(here, name)
            flags |= os.O_EXCL
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, 0o644, dir_fd=here)
    finally:
        os.close(here)


def is_folder(here: int, name: str) -> bool:
    """Whether a name of a directory is a directory, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=here).st_mode)
    except FileNotFoundError:
        return False


def clear(here: int, name: str) -> None:
    """Delete whatever has a name in a directory."""
    if not is_folder(here, name):
        try:
            os.unlink(name, dir_fd=here)
        except FileNotFoundError:
            pass
        return
    os.chmod(name, 0o700, dir_fd=here)
    fd = os.open(name, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
    try:
        wipe(fd)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=here)


class Box:
    """The two directories that a job may write to: where it works, and ``/tmp``.

    Here they are made afresh by deleting what is in them; `MountedBox` mounts new ones.
    """

    def __init__(self, work: str, tmp: str, owner: int | None) -> None:
        self.work, self.tmp, self.owner = work, tmp, owner

    def fresh(self, limits: dict[str, Any]) -> None:
        """Empty both directories."""
        del limits
        for path in (self.work, self.tmp):
            fd = self._open(path)
            try:
                wipe(fd)
            finally:
                os.close(fd)

    def _open(self, path: str) -> int:
        """Open one of the two directories, whatever the job has done to its mode."""
        try:
            os.chmod(path, 0o755)
        except PermissionError:
            pass  # it belongs to somebody else, and then a job cannot change it either
        return os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW)

    def write(self, path: str, content: memoryview, mode: int = 0o644) -> None:
        """Write a file into the working directory."""
        root = self._open(self.work)
        try:
            fd = open_beneath(root, path, os.O_WRONLY | os.O_CREAT)
            try:
                write_all(fd, content)
                os.fchmod(fd, mode)
                if self.owner is not None:
                    os.fchown(fd, self.owner, self.owner)
            finally:
                os.close(fd)
        finally:
            os.close(root)

    def read(self, path: str, most: int) -> memoryview | None:
        """Return a file of the working directory: a regular file, at most so large, or None."""
        root = self._open(self.work)
        try:
            fd = open_beneath(root, path, os.O_RDONLY)
        except OSError:
            return None
        finally:
            os.close(root)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_size > most:
                return None
            content = private_memory(found.st_size)
            return content if read_into(fd, content) else None
        finally:
            os.close(fd)

    def snapshot(self) -> dict[str, tuple[int, memoryview]]:
        """Return the regular files of the working directory with their modes."""
        files: dict[str, tuple[int, memoryview]] = {}
        root = self._open(self.work)
        try:
            for folder, _, names, here in os.fwalk(".", dir_fd=root, follow_symlinks=False):
                for name in names:
                    found = os.stat(name, dir_fd=here, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=here)
                        content = private_memory(found.st_size)
                        read_into(fd, content)
                        os.close(fd)
                        path = os.path.normpath(os.path.join(folder, name))
                        files[path] = (stat.S_IMODE(found.st_mode) & 0o755 | 0o400, content)
        finally:
            os.close(root)
        return files

    def full(self) -> bool:
        """Whether a directory has no room for another page or file."""
        return False

    def over(self, limits: dict[str, Any]) -> bool:
        """Whether a directory holds more than it may; nothing else limits it."""
        for top in (self.work, self.tmp):
            size, count = 0, 0
            for folder, folders, names in os.walk(top):
                count += len(folders) + len(names)
                if count > limits["inodes"]:
                    return True
                for name in names:
                    try:
                        size += os.lstat(f"{folder}/{name}").st_blocks * 512
                    except OSError:
                        continue
            if size > limits["disk_mib"] * MIB:
                return True
        return False


class MountedBox(Box):
    """Both directories are file systems in memory, of limited size and number of files."""

    def __init__(self) -> None:
        super().__init__("/work", "/tmp", None)  # noqa: S108 - private to the job
        self._mounted: dict[str, tuple[str, int, int]] = {}

    def fresh(self, limits: dict[str, Any]) -> None:
        options = f"size={limits['disk_mib']}m,nr_inodes={limits['inodes']},mode=755"
        for path in (self.work, self.tmp):
            if path in self._mounted:
                if self._mounted[path] == self._state(path, options):
                    continue  # nothing was ever put there or looked for
                check(libc.umount2(path.encode(), 2), f"umount {path}")
            mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)
            self._mounted[path] = self._state(path, options)

    def _state(self, path: str, options: str) -> tuple[str, int, int]:
        """Return what changes with the first use of a directory, and cannot be changed back."""
        found = os.stat(path)
        return options, found.st_ctime_ns, found.st_atime_ns

    def full(self) -> bool:
        return any(
            room.f_bavail == 0 or room.f_ffree == 0
            for room in map(os.statvfs, (self.work, self.tmp))
        )

    def over(self, limits: dict[str, Any]) -> bool:
        return False  # there is no way to be


class LimitedBox(Box):
    """Directories that the container has limited, perhaps less than a job asks for."""

    full = MountedBox.full

    def over(self, limits: dict[str, Any]) -> bool:
        for room in map(os.statvfs, (self.work, self.tmp)):
            size = (room.f_blocks - room.f_bfree) * room.f_frsize
            if size > limits["disk_mib"] * MIB or room.f_files - room.f_ffree > limits["inodes"]:
                return True
        return False


def wipe(top: int) -> None:
    """Delete everything below a directory, however deep and however it is protected.

    Directories move up to the top before they are emptied, so that depth costs nothing. Nothing
    may be running that could change them meanwhile.
    """
    serial = 0
    while names := os.listdir(top):
        for name in names:
            if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
                os.unlink(name, dir_fd=top)
                continue
            os.chmod(name, 0o700, dir_fd=top)
            here = os.open(name, os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for child in os.listdir(here):
                    if stat.S_ISDIR(os.lstat(child, dir_fd=here).st_mode):
                        os.chmod(child, 0o700, dir_fd=here)
                        serial += 1
                        os.rename(
                            child, f".up{serial}-{os.getpid()}", src_dir_fd=here, dst_dir_fd=top
                        )
                    else:
                        os.unlink(child, dir_fd=here)
            finally:
                os.close(here)
            os.rmdir(name, dir_fd=top)


# --- watching a job -------------------------------------------------------------------------

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


class Stream:
    """One output of a step: keeps its beginning, counts all of it."""

    def __init__(self, keep: int, most: int) -> None:
        self.most, self.total, self._length = most, 0, 0
        self._memory = private_memory(keep)
        self._rest: memoryview | None = None  # where what is not kept goes
        self.inside, self.outside = os.pipe()
        os.set_blocking(self.inside, False)

    @property
    def kept(self) -> memoryview:
        """What is kept of it."""
        return self._memory[: self._length]

    def _spare(self) -> memoryview:
        if self._rest is None:
            self._rest = private_memory(1 << 16)
        return self._rest

    def drain(self) -> bool:
        """Read what is there; return whether the writers have all closed."""
        while self.total <= self.most:
            room = self._memory[self._length :]
            try:
                count = os.readv(self.inside, [room or self._spare()])
            except BlockingIOError:
                return False
            if not count:
                return True
            self.total += count
            self._length += min(count, len(room))
        return False


class Runner:
    """Runs the steps of a job, one at a time; is the parent of all its processes."""

    def __init__(self, tier: str, box: Box, shown: list[str], uid: int | None) -> None:
        self.tier, self.box, self.shown, self.uid = tier, box, shown, uid
        self.client = -1  # where the end of the client is seen by no guard outside
        self.other_tasks = 0  # of the same user, where RLIMIT_NPROC counts them
        self._filter = b"" if tier == "process" else filter_of(tier)

    def step(self, what: dict[str, Any]) -> dict[str, Any]:
        """Run one program to its end, and everything that it started; return its result."""
        limits = what["limits"]
        most = limits["output_kib"] << 10
        out = Stream(limits["stdout_kib"] << 10, most)
        err = Stream(limits["stderr_kib"] << 10, most)
        read_end, write_end = os.pipe()
        before = children_cpu()
        # Whatever can be made ready is made ready before the fork, after which every page touched
        # is a page copied.
        program = Program(self, what, (read_end, out.outside, err.outside))
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            program.become()
        program.close()
        watch = Watch(self.tier, self.box, limits, before)
        broken = self._attend(pid, (out, err), (write_end, what["stdin"]), watch)
        if not broken and not ended_well(pid):
            broken = watch.look()  # what it leaves behind tells a fork bomb
        wall = time.monotonic() - began
        status, used = self._end(pid)
        for stream in (out, err):
            stream.drain()
            os.close(stream.inside)
        if broken == "starved":
            raise Fault(f"in {wall:.0f} s the machine did not give it the CPU time that it may use")
        result: dict[str, Any] = {
            "cpu_s": max(0.0, children_cpu() - before, watch.cpu),
            "wall_s": wall,
            "peak": max(watch.peak, used.ru_maxrss << 10),
            "stdout": out.kept,
            "stderr": err.kept,
            "stdout_bytes": out.total,
            "stderr_bytes": err.total,
            "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "files": self._collect(what),
        }
        result["status"], result["detail"] = self._classify(broken, result, watch)
        return result

    def _attend(
        self,
        pid: int,
        streams: tuple[Stream, Stream],
        feed: tuple[int, memoryview],
        watch: Watch,
    ) -> str:
        """Feed and drain the program until it ends or breaks a limit; return which."""
        write_end, data = feed
        poll = select.poll()
        ended = os.pidfd_open(pid)
        poll.register(ended, select.POLLIN)
        by_fd = {stream.inside: stream for stream in streams}
        for fd in by_fd:
            poll.register(fd, select.POLLIN)
        os.set_blocking(write_end, False)
        poll.register(write_end, select.POLLOUT)
        if self.client >= 0:
            poll.register(self.client, 0)  # whether it hangs up
        next_look = time.monotonic() + FIRST_LOOK_S
        try:
            while True:
                now = time.monotonic()
                if now >= next_look:
                    next_look = now + LOOK_EVERY_S * (0.5 + os.urandom(1)[0] / 256)
                    broken = watch.look()
                    if broken:
                        return broken
                events = poll.poll(max(0.0, next_look - now) * 1000 + 0.5)
                for fd, event in events:
                    if fd == ended:
                        return ""
                    if fd == self.client:
                        os._exit(1)  # and with the first process of a container ends all of it
                    if fd == write_end:
                        data = feed_some(write_end, data, event)
                        if not data:
                            poll.unregister(write_end)
                            os.close(write_end)
                            write_end = -1
                    elif by_fd[fd].drain():
                        poll.unregister(fd)
                    elif by_fd[fd].total > by_fd[fd].most:
                        return "output_limit"
        finally:
            os.close(ended)
            if write_end >= 0:
                os.close(write_end)

    def _end(self, pid: int) -> tuple[int, Any]:
        """Kill and reap every process of the step; return how its first one ended."""
        if self.tier in OWN_PROCESSES:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
        else:
            kill_family(self.tier, pid)
        _, status, used = os.wait4(pid, 0)
        while True:
            try:
                if self.tier not in OWN_PROCESSES:
                    kill_family(self.tier, 0)
                os.waitpid(-1, 0)
            except ChildProcessError:
                return status, used

    def _collect(self, what: dict[str, Any]) -> dict[str, memoryview]:
        most = what["limits"]["file_mib"] * MIB
        found = {path: self.box.read(path, most) for path in what["collect"]}
        return {path: content for path, content in found.items() if content is not None}

    def _classify(self, broken: str, result: dict[str, Any], watch: Watch) -> tuple[str, str]:
        """Return the status of a step and a sentence about it."""
        limits = watch.limits
        said = {
            "cpu_timeout": f"it used more than {limits['cpu_s']:g} s of CPU time",
            "wall_timeout": f"it slept or waited for more than {limits['wall_s']:g} s",
            "memory": f"it used more than {limits['memory_mib']} MiB of memory",
            "output_limit": f"it wrote more than {limits['output_kib']} KiB",
            "process_limit": f"it had more than {limits['processes']} processes and threads",
            "file_limit": "it ran into a limit on its files",
        }
        if not broken:
            broken = self._broken_at_the_end(result, watch)
        if broken:
            return broken, said[broken]
        if result["signal"] is not None:
            number = result["signal"]
            try:
                name = signal.Signals(number).name
            except ValueError:
                name = f"signal {number}"
            return "signal", f"it was ended by {name}"
        if result["exit_code"]:
            return "nonzero_exit", f"it ended with exit status {result['exit_code']}"
        return "ok", ""

    def _broken_at_the_end(self, result: dict[str, Any], watch: Watch) -> str:
        """Return the limit that explains how a step ended, or an empty string."""
        limits, number = watch.limits, result["signal"]
        if number == signal.SIGXCPU or result["cpu_s"] > limits["cpu_s"]:
            return "cpu_timeout"
        if max(result["stdout_bytes"], result["stderr_bytes"]) > limits["output_kib"] << 10:
            return "output_limit"
        if result["peak"] - watch.floor > limits["memory_mib"] * MIB:
            return "memory"
        if self.box.over(limits):  # since the last look
            return "file_limit"
        if number is None and not result["exit_code"]:
            return ""
        last_words = result["stderr"][-4096:]
        if OUT_OF_MEMORY.search(last_words):
            return "memory"
        if number == signal.SIGXFSZ or self.box.full() or OUT_OF_FILES.search(last_words):
            return "file_limit"
        if watch.tasks >= limits["processes"] or OUT_OF_TASKS.search(last_words):
            return "process_limit"
        return ""

    def ruleset(self) -> int:
        """Return the Landlock ruleset of a program that starts now, or -1."""
        if self.tier == "process":
            return -1
        readable = [*self.shown, "/proc/self"] if self.tier == "landlock" else ["/"]
        devices = [f"/dev/{name}" for name in DEVICES]
        return ruleset_of(readable, [self.box.work, self.box.tmp], devices)

    def limits_of(self, what: dict[str, Any]) -> list[tuple[int, tuple[int, int]]]:
        """Return the kernel's limits for a program, which also stop what two looks would miss."""
        limits = what["limits"]
        cpu = int(limits["cpu_s"]) + 1
        memory = limits["memory_mib"] * MIB + ADDRESS_SLACK
        tasks = limits["processes"] + self.other_tasks
        wanted = [
            (resource.RLIMIT_CPU, (cpu, cpu + 1)),
            (resource.RLIMIT_FSIZE, (limits["file_mib"] * MIB,) * 2),
            (resource.RLIMIT_NOFILE, (limits["open_files"],) * 2),
            (resource.RLIMIT_NPROC, (tasks, tasks)),
        ]
        if what["limit_address_space"]:
            wanted.append((resource.RLIMIT_AS, (memory, memory)))
        return [(kind, within_the_machines(kind, pair)) for kind, pair in wanted]

    def wall_off(self, ruleset: int) -> None:
        """In the forked child: give up every right that a program must not have."""
        if self.uid is not None:
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)
        if self.tier == "process":
            return
        libc.capset(*NO_CAPABILITIES)
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if ruleset >= 0:
            check(libc.syscall(446, ruleset, 0), "landlock")
            os.close(ruleset)
        install(self._filter)


def within_the_machines(kind: int, pair: tuple[int, int]) -> tuple[int, int]:
    """Return a limit, lowered to the one this process has itself, which it may not pass."""
    ceiling = resource.getrlimit(kind)[1]
    if ceiling == resource.RLIM_INFINITY:
        return pair
    return min(pair[0], ceiling), min(pair[1], ceiling)


class Program:
    """A program about to start: all that the forked child needs, made ready before the fork."""

    def __init__(self, runner: Runner, what: dict[str, Any], streams: tuple[int, int, int]) -> None:
        self.runner, self.streams = runner, streams
        self.script, self.args = what["script"], what["args"]
        self.argv = [*what["argv"], *what["args"]]
        self.limits = runner.limits_of(what)
        home = {"HOME": runner.box.work, "TMPDIR": runner.box.tmp}
        self.environment = {**ENVIRONMENT, **home}
        self.environment.update((name, expand(text, home)) for name, text in what["env"].items())
        self.ruleset = runner.ruleset()

    def close(self) -> None:
        """In the parent: drop what only the child needs."""
        for fd in (*self.streams, self.ruleset):
            if fd >= 0:
                os.close(fd)

    def become(self) -> NoReturn:
        """In the forked child: put up the walls and turn into the program."""
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.setsid()
            for target, fd in enumerate(self.streams):
                os.dup2(fd, target)
            ruleset = -1 if self.ruleset < 0 else os.dup2(self.ruleset, 3)
            os.closerange(ruleset + 1 if ruleset >= 0 else 3, 4096)
            os.umask(0o022)
            os.chdir(self.runner.box.work)
            for kind, value in self.limits:
                set_limit(kind, value)
            try:
                put("/proc/self/oom_score_adj", "1000")
            except OSError:
                pass
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            path = "" if self.script else find_program(self.argv[0])
            self.runner.wall_off(ruleset)
            if self.script:
                run_script(self.script, self.args, self.environment)
            os.execve(path, self.argv, self.environment)
        except FileNotFoundError as error:
            os.write(2, f"{error.filename or self.argv[:1]}: not found\n".encode())
            os._exit(127)
        except BaseException as error:
            os.write(2, f"the sandbox could not start the program: {error!r}\n".encode())
            os._exit(126)


# The limits that are the same for every job; the server has them already.
CONSTANT_LIMITS = (
    (resource.RLIMIT_CORE, (0, 0)),
    (resource.RLIMIT_STACK, (STACK, STACK)),
    (resource.RLIMIT_MEMLOCK, (0, 0)),
    (resource.RLIMIT_MSGQUEUE, (0, 0)),
    (resource.RLIMIT_SIGPENDING, (256, 256)),
)


def set_limit(kind: int, value: tuple[int, int]) -> None:
    """Set a limit of the kernel, or the one that is there already where that is lower."""
    try:
        resource.setrlimit(kind, value)
    except ValueError:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (min(value[0], hard), hard))


OUT_OF_MEMORY = re.compile(
    rb"MemoryError|bad_alloc|annot allocate|OutOfMemoryError|[Oo]ut of memory|heap out of"
    rb"|not enough memory"
)
OUT_OF_FILES = re.compile(rb"No space left on device|File too large|Too many open files")
OUT_OF_TASKS = re.compile(rb"Resource temporarily unavailable|can't start new thread")


def ended_well(pid: int) -> bool:
    """Whether a process that has ended did so with status 0; it can still be waited for."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return ended is not None and ended.si_status == 0


def feed_some(fd: int, data: memoryview, event: int) -> memoryview:
    """Write some of the standard input; return what is left, nothing if nobody reads any more."""
    if event & (select.POLLERR | select.POLLHUP):
        return data[:0]
    try:
        return data[os.write(fd, data[:65536]) :] if data else data
    except BlockingIOError:
        return data
    except OSError:
        return data[:0]


def kill_family(tier: str, leader: int) -> None:
    """Kill a process group and every descendant; without a pid namespace, as far as it is seen."""
    if leader:
        try:
            os.killpg(leader, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    for pid in family(tier):
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def expand(text: str, known: dict[str, str]) -> str:
    """Return a text in which ``$NAME`` is replaced for the known names."""
    for name, value in known.items():
        text = text.replace(f"${name}", value)
    return text


def find_program(name: str) -> str:
    """Return the path of a program; raise FileNotFoundError where there is none."""
    if "/" in name:
        return name
    for folder in SYSTEM_PATH:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(errno.ENOENT, "not found", name)


def run_script(path: str, args: list[str], environment: dict[str, str]) -> NoReturn:
    """Run a Python file as ``__main__`` in this fork of the server, and end the process."""
    os.environ.clear()
    os.environ.update(environment)
    for name, fd, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        kind = "backslashreplace" if fd == 2 else "strict" if fd else "surrogateescape"
        stream = open(fd, mode, encoding="utf-8", errors=kind, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.argv = [path, *args]
    sys.path.append(os.getcwd())  # last: no file of a job can stand in for the standard library
    sys.modules["random"].seed()  # else all forks draw alike
    module = type(sys)("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    code = 0
    try:
        with open(path, "rb") as file:
            source = file.read()
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except SystemExit as request:
        code = exit_code(request)
    except BaseException as error:
        tail = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, tail)
        code = 1
    finish(code)


def exit_code(request: SystemExit) -> int:
    """Return the exit status that the interpreter gives a SystemExit."""
    if request.code is None:
        return 0
    if isinstance(request.code, int):
        return request.code & 0xFF
    try:
        print(request.code, file=sys.stderr)  # noqa: T201
    except (OSError, ValueError):
        pass
    return 1


def finish(code: int) -> NoReturn:
    """End as the interpreter does: wait for threads, run the exit functions, flush."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        code = code or 120
    os._exit(code)


# --- serving --------------------------------------------------------------------------------


def run_job(runner: Runner, request: dict[str, Any], blobs: list[memoryview]) -> Answer:
    """Compile if there is something to compile, then run every case in a fresh box."""
    job = request["job"]
    box = runner.box
    files = {path: (0o644, blobs[number]) for path, number in job["files"].items()}
    compiled = None
    if job["compile"]:
        fill(box, files, job["compile_limits"])
        compiled = runner.step(compile_step(job))
        if compiled["status"] != "ok":
            return answer_of(compiled, [])
        files = box.snapshot()
    results = []
    for case in request["cases"]:
        fill(box, files, job["limits"])
        results.append(runner.step(run_step(job, case, blobs)))
        if request["stop_on_fault"] and results[-1]["status"] != "ok":
            break
    return answer_of(compiled, results)


def answer_of(compiled: dict[str, Any] | None, results: list[dict[str, Any]]) -> Answer:
    """Return the message about some results, with their bytes apart."""
    blobs: list[memoryview] = []

    def apart(result: dict[str, Any]) -> dict[str, Any]:
        message = dict(result)
        for name in ("stdout", "stderr"):
            message[name] = len(blobs)
            blobs.append(result[name])
        message["files"] = {}
        for path, content in result["files"].items():
            message["files"][path] = len(blobs)
            blobs.append(content)
        return message

    first = None if compiled is None else apart(compiled)
    return {"compile": first, "results": [apart(result) for result in results]}, blobs


def fill(box: Box, files: dict[str, tuple[int, memoryview]], limits: dict[str, Any]) -> None:
    """Make the box anew with some files in it."""
    box.fresh(limits)
    for path, (mode, content) in files.items():
        box.write(path, content, mode)


NOTHING = memoryview(b"")


def compile_step(job: dict[str, Any]) -> dict[str, Any]:
    """Return the step that compiles a job."""
    plain = {"argv": job["compile"], "script": "", "args": [], "stdin": NOTHING, "collect": []}
    return {**job, **plain, "limits": job["compile_limits"], "limit_address_space": False}


def run_step(job: dict[str, Any], case: dict[str, Any], blobs: list[memoryview]) -> dict[str, Any]:
    """Return the step that runs a case of a job."""
    return {**job, "stdin": blobs[case["stdin"]], "args": [*job["args"], *case["args"]]}


def run_in_session(runner: Runner, request: dict[str, Any], blobs: list[memoryview]) -> Answer:
    """Serve one request of a session, whose files persist."""
    box = runner.box
    if request["op"] == "write":
        box.write(request["path"], blobs[0])
        return {"ok": True}, []
    if request["op"] == "read":
        content = box.read(request["path"], request["most"])
        return {"found": content is not None}, [] if content is None else [content]
    job = request["job"]
    for path, number in job["files"].items():
        box.write(path, blobs[number])
    compiled = runner.step(compile_step(job)) if job["compile"] else None
    if compiled is not None and compiled["status"] != "ok":
        return answer_of(compiled, [])
    steps = [run_step(job, case, blobs) for case in request["cases"]]
    return answer_of(compiled, [runner.step(step) for step in steps])


def reply(control: Control, runner: Runner, request: Any, serve: Serve) -> None:
    """Serve a request; a failure of ours is reported as one."""
    try:
        answer = serve(runner, *request)
    except Exception as error:
        answer = {"fault": f"{type(error).__name__}: {error}"}, []
    control.write(*answer)


def serve_session(control: Control, runner: Runner, limits: dict[str, Any]) -> bool:
    """Serve a session to its end; return whether the client is still there."""
    runner.box.fresh(limits)
    control.write({"ok": True})
    while (request := control.read()) is not None:
        if request[0]["op"] == "end":
            return True
        reply(control, runner, request, run_in_session)
    return False


def serve_directly(control: Control, runner: Runner) -> None:
    """Serve jobs where this process is the parent of all of a job's processes."""
    while (request := control.read()) is not None:
        operation = request[0]["op"]
        if operation == "session":
            if not serve_session(control, runner, request[0]["limits"]):
                return
        elif operation == "run":
            reply(control, runner, request, run_job)
        runner.box.fresh({})
        if operation != "run":
            control.write({"ok": True})


def serve_in_namespaces(control: Control, runner: Runner) -> None:
    """Serve jobs, each by an init in pid and mount namespaces of its own.

    This process never reads a request, so that it has nothing to pass on to the next job.
    """
    while True:
        select.select([control.reading], [], [])
        init = clone_init()
        if init == 0:
            be_init(control, runner)
        if os.waitpid(init, 0)[1]:  # the client is gone, or the init failed and said nothing
            return


def clone_init() -> int:
    """Fork the init of a job into pid and mount namespaces of its own; return as `os.fork` does.

    `os.fork` would need a process between the two, which costs a millisecond. The server has a
    single thread, and the init forks the ordinary way before it runs anything of a job.
    """
    flags = CLONE_NEWPID | CLONE_NEWNS | signal.SIGCHLD
    return check(keeping_gil.syscall(call_number("clone"), flags, 0, 0, 0, 0), "clone for the job")


def be_init(control: Control, runner: Runner) -> NoReturn:
    """The first process of the job's pid namespace: runs its steps and reaps its orphans."""
    alive = False
    try:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        try:
            mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2")
        except OSError:
            pass
        request = control.read()
        if request is not None:
            alive = True
            if request[0]["op"] == "session":
                alive = serve_session(control, runner, request[0]["limits"])
            elif request[0]["op"] == "run":
                reply(control, runner, request, run_job)
            if request[0]["op"] != "run":
                control.write({"ok": True})
    except BaseException as error:
        alive = False
        control.write({"fault": f"init: {type(error).__name__}: {error}"})
    os._exit(0 if alive else 1)


# --- starting -------------------------------------------------------------------------------


def warm_up(start: dict[str, Any]) -> None:
    """Import what Python jobs often need, and what ``site`` would have put into builtins."""
    import _sitebuiltins

    for name in PRELOAD:
        __import__(name)
    usual = list(sys.path)
    sys.path.extend(start.get("folders", ()))
    for name in start.get("modules", ()):
        __import__(name)
    sys.path[:] = usual
    for name in ("ascii", "latin-1", "utf-8"):
        codecs.lookup(name)
    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    sys.dont_write_bytecode = True
    for kind, value in CONSTANT_LIMITS:
        set_limit(kind, value)


def start_in_namespaces(control: Control, start: dict[str, Any]) -> Runner:
    """Fork the server into namespaces of its own; this process stays outside as its guard."""
    client = open_client(start["client"])
    root = os.geteuid() == 0
    enter_user_namespace(start["outer_id"])
    flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    check(libc.unshare(flags | CLONE_NEWCGROUP), "unshare")
    places = {path: path for path in start["shown"]} | start.get("placed", {})
    sources = open_paths(places)  # while we are still who may look anywhere
    if root:
        become_inner_user()
    server = os.fork()
    if server:
        control.close()
        stand_guard(server, client, None)
    os.close(client)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    check(libc.sethostname(b"sandbox", 7), "sethostname")
    build_root(sources)
    drop_bounding_set()
    return Runner("namespaces", MountedBox(), start["shown"], None)


def start_in_directory(control: Control, start: dict[str, Any]) -> Runner:
    """Fork the server; this process stays as its guard, and deletes its directory at the end."""
    tier = start["tier"]
    if tier == "landlock" and landlock_abi() < 1:
        raise Fault("this kernel has no Landlock (it came with Linux 5.13)")
    client = open_client(start["client"])
    uid = start["outer_id"] if os.geteuid() == 0 else None
    folder = f"{start['scratch']}/rlvr-slot-{os.getpid()}-{os.urandom(6).hex()}"
    os.mkdir(folder, 0o711)  # which fails where the name is taken
    for name in ("work", "tmp"):
        os.mkdir(f"{folder}/{name}", 0o700)
        if uid is not None:
            os.chown(f"{folder}/{name}", uid, uid)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    server = os.fork()
    if server:
        control.close()
        stand_guard(server, client, folder)
    os.close(client)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    shown = [*start["shown"], *start.get("placed", ())]
    runner = Runner(tier, Box(f"{folder}/work", f"{folder}/tmp", uid), shown, uid)  # noqa: S108
    runner.other_tasks = tasks_of(os.geteuid() if uid is None else uid)
    return runner


def tasks_of(uid: int) -> int:
    """Return how many processes and threads a user has, which RLIMIT_NPROC counts as well."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return count


def counted_alone(tasks: int) -> bool:
    """Whether the kernel counts no more than these processes and threads for our user.

    It counts those of other containers and of the machine too, which cannot be seen from here.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (tasks + 1, hard))
    try:
        child = os.fork()
    except BlockingIOError:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def open_client(pid: int) -> int:
    """Return a descriptor that becomes readable when the client ends, however it ends."""
    client = os.pidfd_open(pid)
    if os.getppid() != pid:
        raise Fault("the client is gone")
    return client


def stand_guard(server: int, client: int, folder: str | None) -> NoReturn:
    """Wait for the end of the server or of the client, and leave nothing behind."""
    poll = select.poll()
    poll.register(os.pidfd_open(server), select.POLLIN)
    poll.register(client, select.POLLIN)
    poll.poll()
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    if folder is not None:
        while True:  # what a job left has become our child
            kill_family("landlock", 0)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        fd = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
        wipe(fd)
        os.close(fd)
        os.rmdir(folder)
    os._exit(0)


def main() -> None:
    """Read the first frame, put up the walls, and serve until the client is gone."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != folder]
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # init processes must have no handlers at all
    control = Control.take()
    first = control.read()
    if first is None:
        return
    start = first[0]
    try:
        warm_up(start)  # while the interpreter finds its library: perhaps where only root can look
        if start["tier"] == "namespaces":
            runner = start_in_namespaces(control, start)
        elif start["tier"] == "docker":
            libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
            runner = Runner("docker", LimitedBox("/work", "/tmp", None), [], None)  # noqa: S108
            runner.client = control.reading
            runner.other_tasks = tasks_of(os.geteuid())
            if not counted_alone(runner.other_tasks):
                raise UserTaken(f"other processes of the machine run as user {os.geteuid()}")
        else:
            runner = start_in_directory(control, start)
        gc.collect()
        gc.freeze()
    except (OSError, ImportError, Fault) as error:
        control.write({"error": str(error), "again": isinstance(error, UserTaken)})
        return
    control.write({"ok": True, "python": sys.version.split()[0], "landlock": landlock_abi()})
    serve = serve_in_namespaces if start["tier"] == "namespaces" else serve_directly
    serve(control, runner)


if __name__ == "__main__":
    main()
