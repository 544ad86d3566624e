"""What the kernel puts around a job: call filters, Landlock, namespaces, a root of its own."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import stat
import struct
from functools import cache

from rlvr_envs.sandboxes.slot.basics import INNER_ID, Fault, check, libc

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
    "_sysctl": (156, None), "create_module": (174, None), "get_kernel_syms": (177, None),
    "io_cancel": (210, 3), "io_destroy": (207, 1), "io_getevents": (208, 4),
    "io_pgetevents": (333, 292), "io_setup": (206, 0), "io_submit": (209, 2),
    "modify_ldt": (154, None), "nfsservctl": (180, 42), "query_module": (178, None),
    "remap_file_pages": (216, 234), "socketpair": (53, 199), "splice": (275, 76),
    "sysfs": (139, None), "tee": (276, 77), "uselib": (134, None), "ustat": (136, None),
    "vmsplice": (278, 75),
}
# Programs do without these, and look for another way if they are told that there is no such call.
ABSENT = {"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit"}
ABSENT |= {"remap_file_pages", "splice", "tee", "vmsplice"}
# Of the calls from 424 on, those that programs may make: every other one, also of kernels to come,
# does not exist for them.
NEWER = {
    "pidfd_send_signal": 424, "pidfd_open": 434, "close_range": 436, "openat2": 437,
    "faccessat2": 439, "epoll_pwait2": 441, "landlock_create_ruleset": 444,
    "landlock_add_rule": 445, "landlock_restrict_self": 446, "futex_waitv": 449, "fchmodat2": 452,
    "map_shadow_stack": 453, "futex_wake": 454, "futex_wait": 455, "futex_requeue": 456,
    "mseal": 462,
}
# fmt: on
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# The last call below 424: the table up to there is finished, and has been gone through.
LAST_OLD = (334, 294)
# Not refused outright: allowed, or decided by their arguments below.
CONDITIONAL = {"clone", "clone3", "ioctl", "mmap", "personality", "socket", "socketpair", "capset"}
CONDITIONAL |= {"setsid", "setpgid"}
CONDITIONAL |= {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
# What a process may do to itself but not to another, which would be the server: the number of the
# argument that says to whom. It means a process only where the argument before it says so.
ONLY_TO_ITSELF = {"prlimit64": 0, "sched_setaffinity": 0, "setpriority": 1, "ioprio_set": 1}
WHICH_IS_A_PROCESS = {"setpriority": 0, "ioprio_set": 1}
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

    def require(self, name: str, argument: int, value: int, code: int) -> None:
        """Let the call fail unless an argument has a value; what follows decides further."""
        number = call_number(name)
        if number is not None:
            self._add(self.EQUAL, number, 0, 4)
            self._add(self.LOAD, 16 + 8 * argument)
            self._add(self.EQUAL, value, 1, 0)
            self._add(self.RETURN, self._error(code))
            self._add(self.LOAD, 0)

    def program(self) -> bytes:
        """Return the finished filter, which knows the rest of the old calls, and `NEWER`."""
        for number in NEWER.values():
            self._add(self.EQUAL, number, 0, 1)
            self._add(self.RETURN, self.ALLOW)
        self._add(self.AT_LEAST, LAST_OLD[MACHINES[os.uname().machine][0]] + 1, 0, 1)
        self._add(self.RETURN, self._error(errno.ENOSYS))
        self._add(self.RETURN, self.ALLOW)
        return b"".join(self.code)


def filter_of(tier: str, *, shares: bool = False) -> bytes:
    """Return the filter that refuses the system calls that no job needs.

    Args:
        tier: of the slot.
        shares: whether anonymous shared memory is allowed, which only a cgroup counts.
    """
    wall = Filter()
    for name in CALLS:
        if name not in CONDITIONAL and name not in ONLY_TO_ITSELF:
            wall.refuse(name, errno.ENOSYS if name in ABSENT else errno.EPERM)
    wall.refuse("clone3", errno.ENOSYS)  # its flags cannot be seen, and everybody falls back
    if tier == "landlock":  # without a pid namespace, the process group is what holds a job
        wall.refuse("setsid", errno.EPERM)
        wall.refuse("setpgid", errno.EPERM)
        wall.refuse("socket", errno.EACCES)
        # A pair that takes addresses could send to any socket of the host.
        wall.require("socketpair", 0, 1, errno.EACCES)
        connected = [(Filter.EQUAL, 1, 0), (Filter.EQUAL, 5, 0), (Filter.AT_LEAST, 0, errno.EACCES)]
        wall.judge("socketpair", 1, connected, mask=0xF)
    else:
        unix = [(Filter.EQUAL, 1, 0), (Filter.AT_LEAST, 0, errno.EACCES)]
        wall.judge("socket", 0, unix)
    flags = [(Filter.ANY_BIT, sum(NAMESPACE_FLAGS), errno.EPERM)]
    wall.judge("clone", 0, flags)
    wall.judge("ioctl", 1, [(Filter.EQUAL, r, errno.EPERM) for r in (TIOCSTI, TIOCLINUX)])
    same = [(Filter.EQUAL, 0, 0), (Filter.EQUAL, 0xFFFFFFFF, 0), (Filter.AT_LEAST, 0, errno.EPERM)]
    wall.judge("personality", 0, same)
    for name, which in WHICH_IS_A_PROCESS.items():
        wall.require(name, 0, which, errno.EPERM)
    for name, argument in ONLY_TO_ITSELF.items():
        allowed = -1 if name == "setpriority" else 0
        itself = [(Filter.EQUAL, 0, allowed), (Filter.AT_LEAST, 0, errno.EPERM)]
        wall.judge(name, argument, itself)
    # Shared anonymous pages that are let go of stay in memory and are in nobody's resident set.
    both = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
    if not shares:
        wall.judge("mmap", 3, [(Filter.EQUAL, both, errno.EPERM)], mask=both)
    return wall.program()


def install(program: bytes) -> None:
    """Put a filter on this process, which can gain no privileges, and all that it will start."""
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    check(libc.prctl(PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


@cache
def landlock_abi() -> int:
    """Return the kernel's version of Landlock; below 1 there is none."""
    if os.uname().machine not in MACHINES:
        return 0
    return int(libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint(1)))


# Rights of Landlock on files.
LL_EXECUTE, LL_WRITE, LL_READ, LL_READ_DIR, LL_TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
LL_DEVICES = (1 << 6) | (1 << 11)  # make character and block devices
LL_SHOWN = LL_EXECUTE | LL_READ | LL_READ_DIR


def every_right(abi: int) -> int:
    """Return all rights on files that a version of Landlock knows."""
    every = (1 << 13) - 1
    every |= (1 << 13 if abi >= 2 else 0) | (LL_TRUNCATE if abi >= 3 else 0)
    return every | (1 << 15 if abi >= 5 else 0)


def new_ruleset() -> int:
    """Return a Landlock ruleset that allows no file, no TCP and no signals to the outside.

    -1 where there is no Landlock.
    """
    abi = landlock_abi()
    if abi < 1:
        return -1
    known = 8 if abi < 4 else 16 if abi < 6 else 24
    attribute = struct.pack("QQQ", every_right(abi), 3, 3)[:known]
    return check(libc.syscall(444, attribute, ctypes.c_size_t(len(attribute)), 0), "landlock")


def rule_of(path: str, access: int) -> bytes:
    """Return the rule that allows something below a path; it keeps the path open.

    Empty where the path does not exist, or without Landlock.
    """
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return b""
    abi = landlock_abi()
    of_files = LL_EXECUTE | LL_WRITE | LL_READ | (LL_TRUNCATE if abi >= 3 else 0)
    access &= every_right(abi) if stat.S_ISDIR(os.fstat(fd).st_mode) else of_files
    if not access:
        os.close(fd)
        return b""
    return struct.pack("=Qi", access, fd)


def rules_of(paths: list[str], access: int) -> list[bytes]:
    """Return the rules for paths, those that do not exist left out."""
    return [rule for rule in (rule_of(path, access) for path in paths) if rule]


def add_rules(ruleset: int, rules: list[bytes]) -> None:
    """Allow what some rules allow."""
    for rule in rules:
        check(libc.syscall(445, ruleset, 1, rule, 0), "landlock")


def forget_rules(rules: list[bytes]) -> None:
    """Close the paths of rules."""
    for rule in rules:
        os.close(struct.unpack("=Qi", rule)[1])


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
    os.symlink("/tmp", f"{top}/dev/shm")  # noqa: S108 - semaphores and shared memory by name
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
