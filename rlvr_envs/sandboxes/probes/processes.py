"""Probes of other processes: what a program sees of them and does to them, and what outlives it."""

from pathlib import Path

from rlvr_envs.sandboxes.base import Limits, RunStatus
from rlvr_envs.sandboxes.probes.bench import (
    Bench,
    Probes,
    account,
    at_most,
    ended_as,
    first,
    honest,
    let_through,
    token,
)
from rlvr_envs.sandboxes.probes.host import survivors

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all

# For a limit of 24: where the kernel counts all processes of a user, and others of them end
# meanwhile, a few more can be had.
_TASKS = 32


def _pids(bench: Bench) -> dict[str, int]:
    return {"bait": bench.host.bait.pid, "address": bench.host.bait_address}


@probe
def proc_of_others(bench: Bench) -> str:
    """The environment, memory and files of other processes are not readable through /proc."""
    result = bench.python(
        """
        def others():
            listed = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
            return {1, os.getppid(), VALUES["bait"], *listed} - {os.getpid()}
        try:
            pids = others()
        except OSError:
            pids = {1, os.getppid(), VALUES["bait"]}
        def content(path):
            found = open(path, "rb").read(1000)
            if not found:
                raise FileNotFoundError(errno.ENOENT, path)
            return found
        for pid in sorted(pids)[:50]:
            for name in ("environ", "maps", "mem", "auxv", "stack", "syscall", "io"):
                attempt(f"{pid} {name}", content, f"/proc/{pid}/{name}")
            for name in ("fd", "cwd/", "root/", "map_files"):
                attempt(f"{pid} {name}", os.listdir, f"/proc/{pid}/{name}")
            attempt(f"{pid} exe", os.readlink, f"/proc/{pid}/exe")
        say("END")
        """,
        _pids(bench),
    )
    if bench.host.secret.encode() in result.stdout:
        return "a secret of the host came out"
    return let_through(result)


@probe
def proc_list(bench: Bench) -> str:
    """The host's processes are not even listed."""
    result = bench.python(
        """
        try:
            say(*[name for name in os.listdir("/proc") if name.isdecimal()])
        except OSError as error:
            say("refused")
        """
    )
    listed = result.stdout.split()
    if not listed:
        return f"the program did not get to its end: {account(result)}"
    seen = len(listed)
    return f"it sees {seen} processes" if seen > 4 else ended_as(result, RunStatus.OK)


@probe
def ptrace(bench: Bench) -> str:
    """No other process can be traced."""
    seen = bench.attempts(
        """
        LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        LIBC.ptrace.restype = ctypes.c_long
        for pid in (1, os.getppid(), VALUES["bait"]):
            for name, request in (("attach", 16), ("seize", 0x4206)):
                attempt(f"{name} {pid}", call, "ptrace", request, pid, None, None)
        """,
        _pids(bench),
    )
    return first(bench.host.bait_harmed(), seen)


@probe
def memory_of_others(bench: Bench) -> str:
    """The memory of no other process can be read or written across processes."""
    return bench.attempts(
        """
        class Vector(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
        here = ctypes.create_string_buffer(16)
        local = Vector(ctypes.addressof(here), 16)
        def read(pid, address):
            remote = Vector(address, 16)
            system("process_vm_readv", pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
            return here.raw
        attempt("bait", read, VALUES["bait"], VALUES["address"])
        attempt("pid 1", read, 1, 0)
        attempt("parent", read, os.getppid(), 0)
        """,
        _pids(bench),
    )


@probe
def descriptors_of_others(bench: Bench) -> str:
    """No file descriptor can be taken from another process."""
    return bench.attempts(
        """
        def steal(pid):
            held = system("pidfd_open", pid, 0)
            return [system("pidfd_getfd", held, fd, 0) for fd in (0, 1, 2, 3)]
        for pid in (1, os.getppid(), VALUES["bait"]):
            attempt(str(pid), steal, pid)
        """,
        _pids(bench),
        refusals=frozenset({"EPERM", "EACCES", "ENOSYS", "ESRCH"}),
    )


@probe
def limits_of_others(bench: Bench) -> str:
    """Limits and priorities of other processes cannot be changed."""
    # Each is set to what it already is, so that a sandbox which lets it happen does no harm: a
    # hard limit on the machine's first process would be inherited until the next boot.
    return bench.attempts(
        """
        def limit(pid):
            resource.prlimit(pid, resource.RLIMIT_CPU, resource.prlimit(pid, resource.RLIMIT_CPU))
        def priority(pid):
            os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))
        for pid in (1, os.getppid(), VALUES["bait"]):
            attempt(f"limit {pid}", limit, pid)
            attempt(f"affinity {pid}", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)))
            attempt(f"priority {pid}", priority, pid)
        def group():
            # Of a group of its own, or else of the job's; never of the user: that may be you.
            child = os.fork()
            if child == 0:
                try:
                    os.setsid()
                except OSError:
                    pass
                try:
                    os.setpriority(os.PRIO_PGRP, 0, os.getpriority(os.PRIO_PGRP, 0))
                except OSError as error:
                    os._exit(error.errno)
                os._exit(0)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code:
                raise OSError(code, "priority")
        attempt("priority of a group", group)
        """,
        _pids(bench),
    )


@probe
def signal_the_host(bench: Bench) -> str:
    """A process of the host receives no signal, by number or by a broadcast to all."""
    result = bench.python(
        """
        def send(pid, number):
            try:
                os.kill(pid, number)
            except OSError:
                pass
        signal.signal(signal.SIGURG, signal.SIG_IGN)
        for number in (signal.SIGURG, signal.SIGUSR1, signal.SIGKILL):
            send(VALUES["bait"], number)
        send(-1, signal.SIGURG)
        try:
            signal.pidfd_send_signal(os.pidfd_open(VALUES["bait"]), signal.SIGKILL)
        except OSError:
            pass
        say("END")
        """,
        _pids(bench),
    )
    return first(bench.host.bait_harmed(), honest(result, b"END\n"))


@probe
def kill_the_parent(bench: Bench) -> str:
    """Killing the parent or process 1 does not turn a program's end into a fault of ours."""
    # Process 1 only where it belongs to the sandbox: killing the machine's would end the machine.
    own_init = bench.sandbox.backend in {"namespaces", "docker"}
    result = bench.python(
        """
        for pid in {1, os.getppid()} if VALUES["own_init"] else {os.getppid()}:
            for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
        time.sleep(0.2)
        say("END")
        sys.exit(3)
        """,
        {"own_init": own_init},
    )
    if result.exit_code != 3 or result.stdout != b"END\n":
        return f"the end of the program was lost: {account(result)}"
    return ended_as(result, RunStatus.NONZERO_EXIT)


@probe
def kill_the_group(bench: Bench) -> str:
    """A program that kills its whole process group kills itself, and nothing of ours."""
    result = bench.python("say('END')\nos.killpg(0, signal.SIGKILL)\n")
    if result.stdout != b"END\n" or result.signal != 9:
        return f"expected the program's own end by signal 9, got {account(result)}"
    return ended_as(result, RunStatus.SIGNAL)


@probe
def other_programs(bench: Bench) -> str:
    """A Python program can run no other interpreter or compiler, nor load one as a library."""
    return bench.attempts(
        """
        import glob
        def run(*command):
            child = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
            if b"Permission denied" in child.stderr or b"not found" in child.stderr:
                raise PermissionError(errno.EACCES, "by the loader")
            return child.returncode
        def load(path):
            with open(path, "rb") as file:
                return file.read(4)
        for name in VALUES["programs"]:
            path = "/usr/bin/" + name
            attempt(name, run, path, "--version")
            attempt(name + " by the loader", run, VALUES["loader"], path, "--version")
        for name in VALUES["libraries"]:
            for path in glob.glob(f"/usr/lib/*/{name}.so*"):
                attempt(path, load, path)
        """,
        {
            "programs": ["sh", "bash", "perl", "awk", "node", "gcc", "lua5.4", "ruby", "java"],
            "loader": str(next(Path("/").glob("lib*/ld-*.so.*"), "/lib/ld.so")),
            "libraries": ["libperl", "liblua*", "libnode", "libruby*", "libgccjit", "libtcc"],
        },
    )


@probe
def fork_bomb(bench: Bench) -> str:
    """No more processes can be made than the limit says."""
    name = token()
    result = bench.python(
        """
        mark(VALUES["name"])
        made = 1
        for _ in range(400):
            try:
                if os.fork() == 0:
                    time.sleep(20)
                    os._exit(0)
            except OSError:
                break
            made += 1
            say(made)
        """,
        {"name": name},
        limits=Limits(cpu_s=3, wall_s=15, processes=24),
    )
    return first(survivors(name), at_most(result, _TASKS, "processes", RunStatus.PROCESS_LIMIT))


@probe
def fork_storm(bench: Bench) -> str:
    """A fork bomb that doubles as fast as it can ends with its job."""
    name = token()
    result = bench.python(
        """
        mark(VALUES["name"])
        say("END")
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        {"name": name},
        limits=Limits(cpu_s=0.5, wall_s=2, processes=32),
    )
    statuses = (RunStatus.CPU_TIMEOUT, RunStatus.WALL_TIMEOUT, RunStatus.PROCESS_LIMIT)
    return first(survivors(name), ended_as(result, *statuses, RunStatus.SIGNAL))


@probe
def thread_bomb(bench: Bench) -> str:
    """Threads count as processes do."""
    result = bench.python(
        """
        threading.stack_size(65536)
        made = 1
        try:
            for _ in range(400):
                threading.Thread(target=time.sleep, args=(10,), daemon=True).start()
                made += 1
                say(made)
        except (RuntimeError, MemoryError):
            say(made)
        os._exit(0)
        """,
        limits=Limits(cpu_s=3, wall_s=15, processes=24),
    )
    return at_most(result, _TASKS, "threads", RunStatus.PROCESS_LIMIT)
