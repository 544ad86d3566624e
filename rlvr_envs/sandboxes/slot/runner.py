"""Running the programs of a job, and saying how they ended."""

from __future__ import annotations

import atexit
import builtins
import errno
import json
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
from typing import Any, NoReturn

from rlvr_envs.sandboxes.slot.basics import (
    ADDRESS_SLACK,
    ENVIRONMENT,
    FIRST_LOOK_S,
    LOOK_EVERY_S,
    MIB,
    STACK,
    SYSTEM_PATH,
    Fault,
    check,
    libc,
)
from rlvr_envs.sandboxes.slot.cgroup import Group
from rlvr_envs.sandboxes.slot.folders import Box
from rlvr_envs.sandboxes.slot.frames import private_memory, write_all
from rlvr_envs.sandboxes.slot.walls import (
    DEVICES,
    LL_DEVICES,
    LL_EXECUTE,
    LL_READ,
    LL_READ_DIR,
    LL_SHOWN,
    LL_WRITE,
    NO_CAPABILITIES,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    add_rules,
    filter_of,
    forget_rules,
    install,
    landlock_abi,
    new_ruleset,
    put,
    rules_of,
)
from rlvr_envs.sandboxes.slot.watch import OWN_PROCESSES, Watch, children_cpu, family


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

    def __init__(
        self,
        tier: str,
        box: Box,
        shown: list[str],
        uid: int | None,
        group: Group | None = None,
    ) -> None:
        self.tier, self.box, self.shown, self.uid, self.group = tier, box, shown, uid, group
        self.client = -1  # where the end of the client is seen by no guard outside
        self.other_tasks = 0  # of the same user, where RLIMIT_NPROC counts them
        self._every: list[bytes] = []
        self._usual: list[bytes] = []
        self._python: list[bytes] = []
        # Whether the kernel counts shared memory; without that, nobody sees it.
        shares = group is not None and box.in_memory() is not None
        self._filter = b"" if tier == "process" else filter_of(tier, shares=shares)

    def step(self, what: dict[str, Any]) -> dict[str, Any]:
        """Run one program to its end, and everything that it started; return its result."""
        limits = what["limits"]
        most = limits["output_kib"] << 10
        out = Stream(limits["stdout_kib"] << 10, most)
        err = Stream(limits["stderr_kib"] << 10, most)
        read_end, write_end = os.pipe()
        before = children_cpu()
        watch = Watch(self.tier, self.box, limits, before, self.group)
        # Whatever can be made ready is made ready before the fork, after which every page touched
        # is a page copied.
        program = Program(self, what, (read_end, out.outside, err.outside))
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            program.become()
        program.close()
        broken = self._attend(pid, (out, err), (write_end, what["stdin"]), watch)
        if not broken and not ended_well(pid):
            broken = watch.look()  # what it leaves behind tells a fork bomb
        wall = time.monotonic() - began
        status, used = self._end(pid)
        for stream in (out, err):
            stream.drain()
            os.close(stream.inside)
        if self.group is not None:
            watch.settle(self.group)
        if broken == "starved":
            raise Fault(f"in {wall:.0f} s the machine did not give it the CPU time that it may use")
        result: dict[str, Any] = {
            "accounted": self.group is not None,
            "cpu_s": max(0.0, watch.cpu, 0.0 if self.group else children_cpu() - before),
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
            kill_family(self.tier, pid, self.group)
        _, status, used = os.wait4(pid, 0)
        while True:
            try:
                if self.tier not in OWN_PROCESSES:
                    kill_family(self.tier, 0, self.group)
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
        if watch.killed:
            return "memory"
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

    def prepare(self, start: dict[str, Any]) -> None:
        """Open what the rules of every job name, once: programs, devices, and Python's own."""
        if self.tier == "process" or landlock_abi() < 1:
            return
        devices = rules_of([f"/dev/{name}" for name in DEVICES], LL_READ | LL_WRITE)
        if self.tier == "landlock":
            every = rules_of([*self.shown, "/proc/self"], LL_SHOWN)
            usual = rules_of([*start["usual"], "/proc/self"], LL_SHOWN)
            usual += rules_of(self.shown, LL_READ_DIR)
        else:
            every = rules_of(["/"], LL_SHOWN)
            usual = rules_of(["/etc", *start.get("usual", ())], LL_SHOWN)
            usual += rules_of(["/"], LL_READ_DIR)  # names are seen in any case
        self._every, self._usual = every + devices, usual + devices
        self._python = rules_of(list(start.get("python", ())), LL_SHOWN)

    def ruleset(self, what: dict[str, Any]) -> int:
        """Return the Landlock ruleset of a program that starts now, or -1."""
        if self.tier == "process":
            return -1
        ruleset = new_ruleset()
        if ruleset < 0:
            return -1
        programs, fresh = what["programs"], []
        if programs is None:
            add_rules(ruleset, self._every)
        else:
            add_rules(ruleset, self._usual)
            fresh = rules_of(programs, LL_SHOWN)
            if what["script"]:
                add_rules(ruleset, self._python)
            if what["reads_all"]:
                fresh += rules_of(self.shown if self.tier == "landlock" else ["/"], LL_READ)
            if self.tier != "landlock":  # in its namespace, a job sees its own processes alone
                fresh += rules_of(["/proc"], LL_READ)
        own = ~LL_DEVICES & ~(LL_EXECUTE if what["script"] and programs is not None else 0)
        fresh += rules_of([self.box.work, self.box.tmp], own)
        add_rules(ruleset, fresh)
        forget_rules(fresh)
        return ruleset

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
        self.script, self.args, self.argv = what["script"], what["args"], what["argv"]
        # Read by the child alone: as objects of this process, all later cases would inherit them.
        self.own_args = -1
        if what["own_args"]:
            self.own_args = os.memfd_create("args")
            write_all(self.own_args, what["own_args"])
        self.limits = runner.limits_of(what)
        home = {"HOME": runner.box.work, "TMPDIR": runner.box.tmp}
        self.environment = {**ENVIRONMENT, **home}
        self.environment.update((name, expand(text, home)) for name, text in what["env"].items())
        self.ruleset = runner.ruleset(what)

    def close(self) -> None:
        """In the parent: drop what only the child needs."""
        for fd in (*self.streams, self.ruleset, self.own_args):
            if fd >= 0:
                os.close(fd)

    def _read_own_args(self) -> list[str]:
        """Return the arguments of this case alone."""
        if self.own_args < 0:
            return []
        os.lseek(self.own_args, 0, os.SEEK_SET)
        with open(self.own_args, "rb") as file:
            return [str(text) for text in json.load(file)]

    def become(self) -> NoReturn:
        """In the forked child: put up the walls and turn into the program."""
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.setsid()
            args = [*self.args, *self._read_own_args()]
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
                run_script(self.script, args, self.environment)
            os.execve(path, [*self.argv, *args], self.environment)
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


def kill_family(tier: str, leader: int, group: Group | None = None) -> None:
    """Kill a process group and every descendant; without a pid namespace, as far as it is seen."""
    if leader:
        try:
            os.killpg(leader, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    for pid in family(tier, group):
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
    # Last: no file of a job can stand in for the standard library.
    sys.path.extend(filter(None, environment.get("PYTHONPATH", "").split(":")))
    sys.path.append(os.getcwd())
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
