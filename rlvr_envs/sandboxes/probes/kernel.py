"""Probes of system calls that a program has no use for, and that sandboxes were escaped by.

Arguments are chosen so that a call that is let through does no harm, and so that a kernel that
granted it answers something else than a refusal.
"""

import json

from rlvr_envs.sandboxes.base import Result, RunStatus
from rlvr_envs.sandboxes.probes.bench import (
    KERNEL_REFUSALS,
    Bench,
    Probes,
    account,
    ended_as,
)

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all


@probe
def nested_user_namespace(bench: Bench) -> str:
    """No user namespace can be made, which would give capabilities back."""
    return bench.attempts(
        """
        USER = 0x10000000
        def born(name, *arguments):
            child = system(name, *arguments)
            if child == 0:
                os._exit(0)
            return child
        class Arguments(ctypes.Structure):
            _fields_ = [(f"field{i}", ctypes.c_uint64) for i in range(11)]
        arguments = Arguments(field0=USER, field4=signal.SIGCHLD)
        attempt("clone", born, "clone", USER | signal.SIGCHLD, 0, 0, 0, 0)
        attempt("clone3", born, "clone3", ctypes.byref(arguments), ctypes.sizeof(arguments))
        attempt("unshare", call, "unshare", USER)
        attempt("unshare with mounts", call, "unshare", USER | 0x20000)
        """,
        refusals=KERNEL_REFUSALS | {"ENOSPC"},
    )


@probe
def other_namespaces(bench: Bench) -> str:
    """No namespace of another kind can be made."""
    return bench.attempts(
        """
        kinds = {"mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x08000000,
                 "uts": 0x04000000, "cgroup": 0x02000000, "time": 0x80}
        for name, flag in kinds.items():
            attempt(name, call, "unshare", flag)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def join_namespaces(bench: Bench) -> str:
    """No namespace of another process can be joined."""
    return bench.attempts(
        """
        def join(pid, kind):
            system("setns", system("pidfd_open", pid, 0), kind)
        for pid in (os.getpid(), os.getppid(), 1):
            for kind in (0x20000, 0x40000000, 0x20000000):
                attempt(f"{pid} {kind:x}", join, pid, kind)
        """,
        refusals=KERNEL_REFUSALS | {"ESRCH"},
    )


@probe
def mounts(bench: Bench) -> str:
    """Nothing can be mounted or unmounted, by the old calls or the new ones."""
    return bench.attempts(
        """
        os.mkdir("m")
        attempt("mount", call, "mount", b"none", b"m", b"tmpfs", 0, None)
        attempt("bind", call, "mount", b"/", b"m", None, 4096, None)
        attempt("umount", call, "umount2", b"m", 0)
        attempt("fsopen", system, "fsopen", b"tmpfs", 0)
        attempt("open_tree", system, "open_tree", -100, b"m", 1)
        attempt("move_mount", system, "move_mount", -1, b"", -1, b"", 0)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def change_root(bench: Bench) -> str:
    """The root directory cannot be changed."""
    return bench.attempts(
        """
        attempt("chroot", call, "chroot", b".")
        attempt("pivot_root", system, "pivot_root", b".", b".")
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def file_handles(bench: Bench) -> str:
    """Files cannot be opened by handles, which pass by paths and mounts."""
    return bench.attempts(
        """
        handle = (ctypes.c_uint32 * 8)(8, 1, 2, 0)
        def reopen(name):
            return system("open_by_handle_at", os.open(name, os.O_RDONLY), handle, 0)
        for name in ("/", ".", "/usr"):
            attempt(name, reopen, name)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def io_uring(bench: Bench) -> str:
    """io_uring, which runs system calls past a filter, is closed."""
    return bench.attempts(
        'attempt("setup", system, "io_uring_setup", 1, None)', refusals=KERNEL_REFUSALS
    )


@probe
def bpf(bench: Bench) -> str:
    """No BPF program or map can be loaded."""
    return bench.attempts(
        """
        attributes = (ctypes.c_uint32 * 32)(2, 4, 8, 1)
        attempt("map", system, "bpf", 0, attributes, 128)
        attempt("program", system, "bpf", 5, (ctypes.c_uint32 * 32)(), 128)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def performance_events(bench: Bench) -> str:
    """Performance events of the kernel are closed."""
    return bench.attempts(
        'attempt("open", system, "perf_event_open", None, 0, -1, -1, 0)', refusals=KERNEL_REFUSALS
    )


@probe
def keyrings(bench: Bench) -> str:
    """Keyrings, which jobs would share, are closed."""
    return bench.attempts(
        """
        attempt("keyctl", system, "keyctl", 0, -3, 0, 0, 0)
        attempt("add_key", system, "add_key", b"user", b"bait", b"x", 1, -2)
        attempt("request_key", system, "request_key", b"user", b"bait", None, -2)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def page_faults(bench: Bench) -> str:
    """userfaultfd, which stretches races in the kernel, is closed."""
    return bench.attempts('attempt("open", system, "userfaultfd", 1)', refusals=KERNEL_REFUSALS)


@probe
def kernel_modules(bench: Bench) -> str:
    """The kernel and its modules cannot be replaced."""
    return bench.attempts(
        """
        attempt("init_module", system, "init_module", None, 0, b"")
        attempt("finit_module", system, "finit_module", -1, b"", 0)
        attempt("delete_module", system, "delete_module", b"rlvr_no_such_module", 0)
        attempt("kexec_load", system, "kexec_load", 0, 99, None, 0)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def administration(bench: Bench) -> str:
    """The machine cannot be restarted, and neither its clock, its name nor its swap changed."""
    return bench.attempts(
        """
        attempt("reboot", system, "reboot", 0, 0, 0, None)
        attempt("settimeofday", system, "settimeofday", None, None)
        attempt("clock_settime", time.clock_settime, time.CLOCK_REALTIME, time.time())
        attempt("sethostname", call, "sethostname", b"x", ctypes.c_size_t(1 << 40))
        attempt("setdomainname", call, "setdomainname", b"x", ctypes.c_size_t(1 << 40))
        attempt("swapon", call, "swapon", b"/nonexistent", 0)
        attempt("swapoff", call, "swapoff", b"/nonexistent")
        attempt("acct", call, "acct", b"/nonexistent/file")
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def kernel_log(bench: Bench) -> str:
    """The kernel's log and file-system events of the machine cannot be read."""
    return bench.attempts(
        """
        attempt("syslog", system, "syslog", 3, ctypes.create_string_buffer(64), 64)
        attempt("fanotify", system, "fanotify_init", 0, 0)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def later_calls(bench: Bench) -> str:
    """System calls that no program needs are closed, and so is every one newer than known."""
    return bench.attempts(
        """
        old = {"modify_ldt": (154, None), "splice": (275, 76), "vmsplice": (278, 75),
               "io_setup": (206, 0), "remap_file_pages": (216, 234)}
        for name, numbers in old.items():
            number = numbers[os.uname().machine != "x86_64"]
            if number is not None:
                attempt(name, system_number, number, -1, None, -1, None, 0, 0)
        for number in (425, 428, 442, 447, 448, 457, 458, 463, *range(464, 520)):
            attempt(str(number), system_number, number, -1, None, -1, None, 0, 0)
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def hardware_ports(bench: Bench) -> str:
    """Ports of the machine's hardware cannot be opened."""
    return bench.attempts(
        """
        if os.uname().machine == "x86_64":
            attempt("iopl", call, "iopl", 3)
            attempt("ioperm", call, "ioperm", 0x3f8, 1, 1)
        attempt("kcmp", system, "kcmp", os.getpid(), os.getppid(), 0, 0, 0)
        """,
        refusals=KERNEL_REFUSALS | {"ESRCH"},
    )


@probe
def terminal_input(bench: Bench) -> str:
    """Characters cannot be pushed into a terminal."""
    return bench.attempts(
        """
        import fcntl
        for fd in (0, 1, 2):
            attempt(f"TIOCSTI {fd}", fcntl.ioctl, fd, 0x5412, b"x")
            attempt(f"TIOCLINUX {fd}", fcntl.ioctl, fd, 0x541C, b"\\x03")
        attempt("terminal", os.open, "/dev/tty", os.O_RDWR)
        def push():
            master, slave = os.openpty()
            if os.fork() == 0:
                try:
                    os.setsid()
                    fcntl.ioctl(slave, 0x540E, 0)
                    fcntl.ioctl(slave, 0x5412, b"x")
                except OSError as error:
                    os._exit(error.errno)
                os._exit(0)
            code = os.waitstatus_to_exitcode(os.wait()[1])
            if code:
                raise OSError(abs(code), "push")
        attempt("own terminal", push)
        """,
        refusals=KERNEL_REFUSALS | {"ENOTTY", "ENOENT", "ENXIO", "EIO"},
    )


@probe
def personality(bench: Bench) -> str:
    """The personality of a process, which turns off address randomisation, stays as it is."""
    return bench.attempts(
        """
        for name, value in (("no randomisation", 0x0040000), ("read implies exec", 0x0400000)):
            attempt(name, call, "personality", ctypes.c_ulong(value))
        """,
        refusals=KERNEL_REFUSALS,
    )


@probe
def privileges(bench: Bench) -> str:
    """A program has no capability, cannot gain any by exec, and a filter watches its calls."""
    result = bench.python(
        """
        head = (ctypes.c_uint32 * 2)(0x20080522, 0)
        sets = (ctypes.c_uint32 * 6)()
        system("capget", head, sets)
        say(json.dumps({
            "capabilities": sum(sets),
            "no_new_privs": LIBC.prctl(39, 0, 0, 0, 0),
            "seccomp": LIBC.prctl(21, 0, 0, 0, 0),
            "root": 0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()),
        }))
        """
    )
    expected = {"capabilities": 0, "no_new_privs": 1, "seccomp": 2, "root": False}
    found = _json(result)
    if found != expected:
        return f"expected {expected}, got {found or account(result)}"
    return ended_as(result, RunStatus.OK)


@probe
def identities(bench: Bench) -> str:
    """A program cannot become another user or group."""
    return bench.attempts(
        """
        attempt("user", os.setresuid, 0, 0, 0)
        attempt("group", os.setresgid, 0, 0, 0)
        attempt("groups", os.setgroups, [0])
        attempt("another user", os.setresuid, 1, 1, 1)
        open("mine", "w").close()
        attempt("give away", os.chown, "mine", 0, 0)
        """,
        refusals=KERNEL_REFUSALS | {"EINVAL"},  # the number is not mapped here
    )


@probe
def owners_rights(bench: Bench) -> str:
    """Programs that run with their owner's rights give none."""
    return bench.attempts(
        """
        def rights(path):
            child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            try:
                time.sleep(0.05)
                with open(f"/proc/{child.pid}/status") as file:
                    ids = next(line for line in file if line.startswith("Uid")).split()[1:]
            finally:
                child.kill()
                child.wait()
            if set(ids) == {str(os.getuid())}:
                raise PermissionError(errno.EPERM, path)
            return ids
        for name in ("su", "passwd", "newgrp", "chsh", "mount", "sudo", "pkexec"):
            attempt(name, rights, "/usr/bin/" + name)
        """
    )


@probe
def foreign_calls(bench: Bench) -> str:
    """System calls by another door (32 bits, x32) are filtered as well."""
    # Machine code for unshare(CLONE_NEWUSER) and keyctl(0, -3) by int 0x80, in a child of its own;
    # a child that the kernel kills was contained.
    return bench.attempts(
        """
        import mmap, struct
        def by_interrupt(number, first, second):
            code = b"\\x53\\xb8" + struct.pack("<I", number) + b"\\xbb" + struct.pack("<I", first)
            code += b"\\xb9" + struct.pack("<I", second) + b"\\xba\\0\\0\\0\\0\\xcd\\x80\\x5b\\xc3"
            page = mmap.mmap(-1, 4096, prot=7)
            page.write(code)
            child = os.fork()
            if child == 0:
                address = ctypes.addressof(ctypes.c_char.from_buffer(page))
                answer = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
                os._exit(-answer if answer < 0 else 0)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code < 0:
                raise PermissionError(errno.EPERM, "killed")
            if code:
                raise OSError(code, "refused")
        if os.uname().machine == "x86_64":
            attempt("unshare by int 0x80", by_interrupt, 310, 0x10000000, 0)
            attempt("keyctl by int 0x80", by_interrupt, 288, 0, 0xFFFFFFFD)
            attempt("ptrace by int 0x80", by_interrupt, 26, 16, os.getppid())
        attempt("unshare of x32", system_number, 0x40000000 | 272, 0x10000000)
        attempt("keyctl of x32", system_number, 0x40000000 | 250, 0, -3, 0)
        """,
        refusals=KERNEL_REFUSALS,
    )


def _json(result: Result) -> object:
    try:
        return json.loads(result.stdout)
    except ValueError:
        return None
