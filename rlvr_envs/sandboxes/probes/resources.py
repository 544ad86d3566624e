"""Probes of the limits on memory, disk, files and output."""

import contextlib

from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.probes.bench import (
    Bench,
    Probes,
    account,
    at_most,
    ended_as,
    first,
    honest,
    python_job,
    token,
)
from rlvr_envs.sandboxes.probes.host import survivors

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all

_MEMORY = Limits(cpu_s=10, wall_s=30, memory_mib=96)


@probe
def memory(bench: Bench) -> str:
    """Memory of one process is limited."""
    result = bench.python(
        """
        held = []
        for _ in range(200):
            held.append(b"x" * (8 << 20))
            say(8 * len(held))
        """,
        limits=_MEMORY,
    )
    return first(at_most(result, 96, "MiB held", RunStatus.MEMORY), _memory_end(result))


@probe
def memory_without_address_limit(bench: Bench) -> str:
    """Memory is limited for programs that may reserve more than they use."""
    source = """
        import mmap
        held = []
        for _ in range(150):
            area = mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for place in range(0, 8 << 20, 4096):
                area[place] = 1
            held.append(area)
            say(8 * len(held))
    """
    result = bench.sandbox.run(_unreserved(source))
    return first(at_most(result, 96, "MiB held", RunStatus.MEMORY), _memory_end(result))


@probe
def memory_in_children(bench: Bench) -> str:
    """Memory is summed over processes."""
    name = token()
    result = bench.python(
        """
        mark(VALUES["name"])
        told, tell = os.pipe()
        for _ in range(8):
            if os.fork() == 0:
                held = b"x" * (40 << 20)
                os.write(tell, b"x")
                time.sleep(60)
        for _ in range(8):
            os.read(told, 1)
        say("all of them hold 40 MiB")
        """,
        {"name": name},
        limits=_MEMORY,
    )
    held = "eight processes held 320 MiB at once, the limit is 96" if result.stdout else ""
    return first(survivors(name), held, ended_as(result, RunStatus.MEMORY, RunStatus.WALL_TIMEOUT))


@probe
def memory_in_page_tables(bench: Bench) -> str:
    """Page tables count too: 200 MiB of them, for pages of zeros that are in no resident set."""
    source = """
        import mmap
        say(0)
        LIBC.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE
        libc_mmap = LIBC.mmap
        libc_mmap.restype = ctypes.c_void_p
        kinds = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        libc_mmap.argtypes = kinds
        chunk, held, count = 1 << 33, [], 0
        for _ in range(25):
            private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
            area = libc_mmap(None, chunk, mmap.PROT_READ, private, -1, 0)
            if area in (None, ctypes.c_void_p(-1).value):
                break
            for place in range(area, area + chunk, 2 << 20):  # one page of the table each
                ctypes.c_char.from_address(place).value
                count += 4096
            say(count >> 20)
    """
    result = bench.sandbox.run(_unreserved(source))
    return at_most(result, 96, "MiB of page tables", RunStatus.MEMORY)


@probe
def memory_in_many_processes(bench: Bench) -> str:
    """Memory counts that many processes hold in small parts, each a program of its own."""
    name = token()
    result = bench.python(
        """
        mark(VALUES["name"])
        told, tell = os.pipe()
        os.set_inheritable(tell, True)
        program = "import os, sys, time; held = b'x' * (9 << 20); "
        program += "os.write(int(sys.argv[1]), b'x'); time.sleep(60)"
        for _ in range(55):
            if os.fork() == 0:
                command = [sys.executable, "-I", "-S", "-c", program, str(tell)]
                os.execv(sys.executable, command)
        for _ in range(55):
            os.read(told, 1)
        time.sleep(0.5)
        say("all of them held 9 MiB")
        """,
        {"name": name},
        limits=Limits(cpu_s=10, wall_s=30, memory_mib=256),
    )
    held = "55 processes held 495 MiB at once, the limit is 256" if result.stdout else ""
    return first(survivors(name), held, ended_as(result, RunStatus.MEMORY))


@probe
def memory_out_of_sight(bench: Bench) -> str:
    """Memory that is in no process's map counts too: anonymous files, and shared pages let go."""
    source = """
        import mmap
        count = 0
        held = []
        try:
            for _ in range(40):
                held.append(os.memfd_create("bait"))
                for _ in range(12):
                    os.write(held[-1], b"x" * (1 << 20))
                count += 12
                say(count)
        except OSError:
            say(count)
        chunk = 4 << 20
        try:
            area = mmap.mmap(-1, 600 << 20)
        except OSError:
            area = b""
        for start in range(0, len(area), chunk):
            area[start : start + chunk] = b"x" * chunk
            area.madvise(mmap.MADV_DONTNEED, start, chunk)
            count += 4
            say(count)
    """
    result = bench.sandbox.run(_unreserved(source))
    return at_most(result, 96, "MiB held unseen", RunStatus.MEMORY)


@probe
def memory_in_sockets(bench: Bench) -> str:
    """What waits in the buffers of sockets, many in each of many processes, counts too."""
    source = """
        say(0)
        told, tell = os.pipe()
        for _ in range(40):
            if os.fork() == 0:
                held, sent = [], 0
                try:
                    while True:
                        held.append(socket.socketpair())
                        for end in held[-1]:
                            end.setblocking(False)
                            try:
                                while True:
                                    sent += end.send(b"x" * 65536)
                            except BlockingIOError:
                                pass
                except OSError:
                    pass
                os.write(tell, b"%08d" % sent)
                time.sleep(20)
        total = 0
        for _ in range(40):
            total += int(os.read(told, 8))
            say(total >> 20)
        time.sleep(0.5)
    """
    result = bench.python(source, limits=Limits(cpu_s=10, wall_s=30, memory_mib=96))
    return at_most(result, 96, "MiB in sockets", RunStatus.MEMORY)


@probe
def disk(bench: Bench) -> str:
    """The disk space of the working directory and of /tmp is limited, and nothing else is there."""
    result = bench.python(
        """
        places = [os.getcwd(), tempfile.gettempdir(), "/dev/shm", "/var/tmp", "/run/lock"]
        places = {os.path.realpath(place) for place in places}  # one may be a link to another
        written = 0
        for place in places:
            try:
                for number in range(60):
                    with open(f"{place}/fill{number}", "wb", buffering=0) as file:
                        for _ in range(4):
                            written += file.write(b"x" * (1 << 20)) >> 20
                    say(written)
            except OSError:
                pass
        say(written)
        """,
        limits=Limits(cpu_s=10, wall_s=60, disk_mib=24, file_mib=8, memory_mib=512),
    )
    return at_most(result, 2 * 24, "MiB written", RunStatus.FILE_LIMIT)


@probe
def inodes(bench: Bench) -> str:
    """The number of files is limited."""
    result = bench.python(
        """
        made = 0
        places = [os.getcwd(), tempfile.gettempdir(), "/dev/shm"]
        for place in {os.path.realpath(place) for place in places}:  # one may be a link to another
            try:
                for number in range(3000):
                    os.close(os.open(f"{place}/{number}", os.O_CREAT | os.O_WRONLY))
                    made += 1
                    if made % 100 == 0:
                        say(made)
            except OSError:
                pass
        say(made)
        """,
        limits=Limits(cpu_s=10, wall_s=60, inodes=400),
    )
    return at_most(result, 2 * 400, "files made", RunStatus.FILE_LIMIT)


@probe
def file_size(bench: Bench) -> str:
    """One file cannot be larger than its limit, written, sparse or reserved."""
    result = bench.python(
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        handle = os.open("large", os.O_CREAT | os.O_RDWR)
        try:
            for _ in range(20):
                os.write(handle, b"x" * (1 << 20))
        except OSError:
            pass
        for action in (os.ftruncate, lambda fd, size: os.posix_fallocate(fd, 0, size)):
            try:
                action(handle, 1 << 40)
            except OSError:
                pass
        say(os.fstat(handle).st_size >> 10)
        """,
        limits=Limits(cpu_s=10, wall_s=30, file_mib=4),
    )
    return at_most(result, 4 << 10, "KiB in one file")


@probe
def deep_folders(bench: Bench) -> str:
    """Folders deeper than any path is long, and odd names, do not break the clean-up."""
    result = bench.python(
        """
        try:
            for name in ("\\n", "-rf *", "\\x1b[31m", "x" * 255, os.fsdecode(b"\\xff\\xfe")):
                open(name, "w").close()
            for _ in range(1500):
                os.mkdir("d" * 100)
                os.chdir("d" * 100)
        except OSError:
            pass
        say("END")
        """
    )
    stopped = result.status is RunStatus.FILE_LIMIT
    early = "" if stopped or result.stdout == b"END\n" else account(result)
    return first(early, ended_as(result, RunStatus.OK, RunStatus.FILE_LIMIT))


@probe
def nested_folders(bench: Bench) -> str:
    """1,500 folders in one another, each still named by a path, cause no fault of ours."""
    source = """
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        time.sleep(0.2)
        say("END")
    """
    results = [bench.python(source)]
    with contextlib.closing(bench.sandbox.session()) as session:
        results += [session.run(python_job(text)) for text in (source, "say('END')")]
    stopped = RunStatus.FILE_LIMIT
    return first(*[honest(each, b"END\n") for each in results if each.status is not stopped])


@probe
def open_files(bench: Bench) -> str:
    """The number of open files is limited."""
    result = bench.python(
        """
        held = []
        try:
            for _ in range(3000):
                held.append(os.open("main.py", os.O_RDONLY))
        except OSError:
            pass
        say(len(held))
        """,
        limits=Limits(cpu_s=5, wall_s=30, open_files=40),
    )
    return at_most(result, 40, "open files")


@probe
def output_flood(bench: Bench) -> str:
    """A flood on both output streams is cut off, and neither blocks the other."""
    limits = Limits(cpu_s=10, wall_s=30, stdout_kib=16, stderr_kib=8, output_kib=256)
    result = bench.python(
        """
        threading.Thread(target=lambda: [os.write(2, b"e" * 65536) for _ in range(4000)]).start()
        for _ in range(4000):
            os.write(1, b"o" * 65536)
        """,
        limits=limits,
    )
    kept = len(result.stdout) > 16 << 10 or len(result.stderr) > 8 << 10
    too_much = "more was kept than the limits allow" if kept else ""
    flagged = result.stdout_truncated or result.stderr_truncated
    missing = "" if flagged else "the cut is not flagged"
    return first(too_much, ended_as(result, RunStatus.OUTPUT_LIMIT), missing)


@probe
def output_and_input(bench: Bench) -> str:
    """Output below the limit never blocks a program that does not read its input."""
    result = bench.python(
        """
        os.write(2, b"e" * 300000)
        left = 300000
        while left:
            left -= os.write(1, b"o" * min(left, 50000))
        """,
        stdin=b"i" * 2_000_000,
        limits=Limits(cpu_s=5, wall_s=30, stdout_kib=512),
    )
    return honest(result, b"o" * 300_000)


@probe
def output_bytes(bench: Bench) -> str:
    """Bytes that are no text, and escapes of terminals, come back as they are."""
    data = bytes(range(256)) * 8 + b"\x1b[2J\xed\xa0\x80\xff\xfe\0\r\n"
    result = bench.python(
        """
        data = bytes(range(256)) * 8 + b"\\x1b[2J\\xed\\xa0\\x80\\xff\\xfe\\0\\r\\n"
        os.write(1, data)
        os.write(2, data)
        """
    )
    mangled = "the error stream was changed" if result.stderr != data else ""
    return first(honest(result, data), mangled)


@probe
def raise_limits(bench: Bench) -> str:
    """A program cannot raise its own limits, or change its priority in either direction."""
    return bench.attempts(
        """
        def higher(name):
            kind = getattr(resource, name)
            soft, hard = resource.getrlimit(kind)
            if hard == resource.RLIM_INFINITY:
                return "unlimited"
            pair = (ctypes.c_ulong * 2)(hard + 4096, hard + 4096)
            call("setrlimit", kind, pair)
        for name in ("RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE"):
            attempt(name, higher, name)
        def nice(by):
            before = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, 0, before + by)
            if os.getpriority(os.PRIO_PROCESS, 0) == before:
                raise PermissionError(errno.EPERM, "it had no effect")
        for by in (-5, 5):
            attempt(f"nice {by}", nice, by)
        attempt("idle", lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
        attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
        """
    )


@probe
def core_file(bench: Bench) -> str:
    """A crash leaves no core file."""
    result = bench.python(
        """
        resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
        say("END")
        os.abort()
        """,
        collect=("core", "core.1", "core.2"),
    )
    left = f"collected {sorted(result.files)}" if result.files else ""
    early = "" if result.stdout == b"END\n" else account(result)
    return first(left, early, ended_as(result, RunStatus.SIGNAL))


def _memory_end(result: Result) -> str:
    """Return a complaint unless memory was what ended the program."""
    if result.status is RunStatus.NONZERO_EXIT and b"MemoryError" in result.stderr:
        return ""
    return ended_as(result, RunStatus.MEMORY)


def _unreserved(source: str) -> Job:
    job = python_job(source)
    return Job(
        script=job.script,
        files=job.files,
        args=job.args,
        limits=_MEMORY,
        limit_address_space=False,
    )
