"""Probes of what a job inherits, what it leaves to the next one, and of the result's channel."""

import hashlib
import json
import os
import textwrap
import threading

from rlvr_envs.sandboxes.base import Case, Job, Limits, RunStatus
from rlvr_envs.sandboxes.probes.bench import (
    CALM,
    Bench,
    Probes,
    account,
    ended_as,
    first,
    honest,
    python_job,
    token,
)
from rlvr_envs.sandboxes.probes.host import entries_named, survivors

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all

# A job may meet any slot of a pool: what is planted and looked for is repeated this often.
_TIMES = 4
# What a job's environment may hold: constant, and nothing of the host's.
_VARIABLES = {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "PWD", "SHLVL", "_"}
_VARIABLES |= {"PYTHONHASHSEED", "OLDPWD"}


@probe
def honest_program(bench: Bench) -> str:
    """An honest program runs, reads its input and its arguments, and hands back files."""
    job = Job(
        script="main.py",
        files={"main.py": b"import sys, data.part\nprint(input(), sys.argv[1:], data.part.x)\n"}
        | {"data/part.py": b"x = 5\nopen('out.txt', 'w').write('written')\n"},
        args=("a b", "c"),
        stdin=b"line\n",
        limits=CALM,
        collect=("out.txt",),
    )
    result = bench.sandbox.run(job)
    files = "" if dict(result.files) == {"out.txt": b"written"} else "the file was not collected"
    shell = bench.shell("read x; echo got:$x; exit 3")
    code = "" if shell.exit_code == 3 else f"expected exit 3: {account(shell)}"
    return first(honest(result, b"line ['a b', 'c'] 5\n"), files, code)


@probe
def descriptors(bench: Bench) -> str:
    """A program inherits no descriptor but the three standard streams."""
    source = """
        found = []
        for fd in range(3, 2048):
            try:
                os.fstat(fd)
            except OSError:
                continue
            found.append(fd)
        say(found)
    """
    script = "i=3; while [ $i -lt 10 ]; do if (: <&$i) 2>/dev/null; then echo open $i; fi; "
    shell = bench.shell(script + "i=$((i+1)); done; echo END")
    return first(honest(bench.python(source), b"[]\n"), honest(shell, b"END\n"))


@probe
def environment(bench: Bench) -> str:
    """The environment is constant and holds nothing of the host's."""
    source = "say(json.dumps(dict(os.environ)))"
    results = [bench.python(source), bench.shell(f"exec /usr/bin/python3 -c '{_PRINT}'")]
    for result in results:
        try:
            found = json.loads(result.stdout)
        except ValueError:
            return f"the environment was not shown: {account(result)}"
        extra = sorted(set(found) - _VARIABLES)
        if extra or bench.host.secret in str(found):
            return f"variables beyond the constant few: {', '.join(extra)}"
    return ""


_PRINT = "import os, json; print(json.dumps(dict(os.environ)))"


@probe
def forged_result(bench: Bench) -> str:
    """Text that imitates the result, in any descriptor, does not change the result."""
    result = bench.python(
        """
        import gc, struct
        claim = {"ok": True, "compile": None, "results": [{"status": "ok", "exit_code": 0,
                 "signal": None, "cpu_s": 0, "wall_s": 0, "peak": 0, "peak_memory_mib": 0,
                 "stdout": "forged", "stderr": "", "stdout_bytes": 6, "stderr_bytes": 0,
                 "files": {}, "detail": ""}]}
        body = json.dumps(claim).encode()
        frame = struct.pack(">I", len(body)) + body
        def write(fd):
            try:
                os.write(fd, frame)
            except OSError:
                pass
        for fd in (0, *range(3, 1024)):
            write(fd)
        for held in gc.get_objects():
            if isinstance(held, socket.socket):
                try:
                    held.sendall(frame)
                except OSError:
                    pass
        try:
            for fd in os.listdir(f"/proc/{os.getppid()}/fd"):
                write(os.open(f"/proc/{os.getppid()}/fd/{fd}", os.O_WRONLY))
        except OSError:
            pass
        os.write(1, b"honest")
        os._exit(7)
        """
    )
    if result.stdout != b"honest" or result.exit_code != 7:
        return f"expected 'honest' and status 7, got {result.stdout[:60]!r}: {account(result)}"
    return ended_as(result, RunStatus.NONZERO_EXIT)


@probe
def interpreter_takeover(bench: Bench) -> str:
    """A program that takes over the interpreter it was forked from changes only itself."""
    source = """
        import builtins, gc
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            try:
                frame.f_globals.update({name: None for name in list(frame.f_globals)
                                        if not name.startswith("__")})
            except Exception:
                pass
        for held in gc.get_objects():
            if isinstance(held, dict) and "results" in held:
                held.clear()
        os._exit = sys.exit = lambda *_: None
        builtins.print = builtins.open = builtins.exec = None
        sys.modules.clear()
    """
    for _ in range(_TIMES):
        result = bench.python(source)
        if result.status is RunStatus.SANDBOX_ERROR:
            return account(result)
    return honest(bench.python("say('END')"), b"END\n")


@probe
def leftover_files(bench: Bench) -> str:
    """Files of one job are not there for the next, nor left on the host."""
    name = token()
    planting = bench.python(
        """
        folders = [os.getcwd(), tempfile.gettempdir(), os.environ.get("HOME", "."), "/dev/shm",
                   "/var/tmp", "/run", "/run/lock", "/dev/mqueue", "/", "..", "/tmp"]
        for folder in folders:
            try:
                open(f"{folder}/{VALUES['name']}", "w").write("left")
            except OSError:
                pass
        say("END")
        """,
        {"name": name},
    )
    seen = [bench.python(_LOOK_FOR_FILES, {"name": name}) for _ in range(_TIMES)]
    return first(
        entries_named(name),
        honest(planting, b"END\n"),
        *[honest(result, b"[]\n") for result in seen],
    )


_LOOK_FOR_FILES = """
found = []
for top in (os.getcwd(), tempfile.gettempdir(), "/dev/shm", "/var/tmp", "/run", "/", "..", "/tmp"):
    try:
        found += [os.path.join(top, name) for name in os.listdir(top) if VALUES["name"] in name]
    except OSError:
        pass
say(found)
"""


@probe
def leftover_ipc(bench: Bench) -> str:
    """Shared memory, semaphores and queues of one job are not there for the next."""
    name = token()
    key = int(hashlib.sha256(name.encode()).hexdigest()[:7], 16)
    values = {"name": name, "key": key}
    source = """
        CREATE = 0o1000 if VALUES["create"] else 0
        def mq():
            flags = os.O_RDWR | (os.O_CREAT if CREATE else 0)
            return system("mq_open", VALUES["name"].encode(), flags, 0o666, None)
        attempt("shm", system, "shmget", VALUES["key"], 4096, CREATE | 0o666)
        attempt("sem", system, "semget", VALUES["key"], 1, CREATE | 0o666)
        attempt("msg", system, "msgget", VALUES["key"], CREATE | 0o666)
        attempt("mq", mq)
    """
    planted = bench.python(source, {**values, "create": True})
    seen = [bench.attempts(source, {**values, "create": False}) for _ in range(_TIMES)]
    return first(_shared_on_host(key), ended_as(planted, RunStatus.OK), *seen)


def _shared_on_host(key: int) -> str:
    for kind in ("shm", "sem", "msg"):
        try:
            with open(f"/proc/sysvipc/{kind}", encoding="utf-8") as table:  # noqa: PTH123
                keys = [line.split()[0] for line in table]
        except OSError:
            continue
        if str(key) in keys:
            return f"the job left an object of kind {kind} on the host"
    return ""


@probe
def leftover_memory(bench: Bench) -> str:
    """What an earlier job was, read and wrote is not in the memory of a later one."""
    name = token()
    earlier = [
        bench.python(
            f"secret = 'source-{name}'\nos.write(1, sys.stdin.buffer.read())\n",
            {"argument": f"argument-{name}"},
            stdin=f"input-{name}".encode() * 50,
        )
        for _ in range(_TIMES)
    ]
    seen = [bench.python(_SEARCH, {"half": name[:7], "rest": name[7:]}) for _ in range(_TIMES)]
    return first(
        ended_as(earlier[0], RunStatus.OK), *[honest(result, b"searched []\n") for result in seen]
    )


# The whole name must not be in this program's own memory; what it finds it does not keep.
_SEARCH = """
import gc, re
half, rest = VALUES["half"].encode(), VALUES["rest"].encode()
found = set()
def search(data):
    place = data.find(half)
    while place >= 0:
        if data[place + len(half) : place + len(half) + len(rest)] == rest:
            found.add(re.sub(rb"[^a-z]", b"", data[max(0, place - 10) : place]).decode())
        place = data.find(half, place + 1)
try:
    with open("/proc/self/maps") as maps:
        areas = [line.split() for line in maps if line.split()[1].startswith("rw")]
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for area in areas:
            low, high = (int(part, 16) for part in area[0].split("-"))
            for start in range(low, high, 1 << 20):
                try:
                    memory.seek(start)
                    search(memory.read(min(high - start, (1 << 20) + 64)))
                except (OSError, OverflowError, ValueError):
                    break
except OSError:
    for held in gc.get_objects():
        search(repr(held)[:100000].encode() if isinstance(held, (dict, list, tuple)) else b"")
say("searched", sorted(found))
"""


@probe
def inputs_of_other_cases(bench: Bench) -> str:
    """The inputs and arguments of a batch's other cases are not in the memory of a case."""
    names = [token() for _ in range(3)]
    # The argument itself, and the key by which it was found, are this case's own.
    program = _SEARCH.replace('VALUES["half"]', "bytes.fromhex(sys.argv[3]).decode()")
    job = python_job(program.replace('VALUES["rest"]', "bytes.fromhex(sys.argv[4]).decode()"))
    # Each case looks for what the one after it is given, and the last for the first.
    cases = [
        Case(
            stdin=f"input-{name}".encode() * 20,
            args=(f"argument-{name}", *(part.encode().hex() for part in (sought[:7], sought[7:]))),
        )
        for name, sought in zip(names, [*names[1:], names[0]], strict=True)
    ]
    results = bench.sandbox.run_batch(job, cases)
    return first(*[honest(result, b"searched []\n") for result in results])


@probe
def results_of_other_cases(bench: Bench) -> str:
    """How earlier cases of a batch ended, and what they wrote, is not in the memory of a case."""
    source = _SEARCH.replace('VALUES["half"]', '"exit stat"').replace('VALUES["rest"]', '"us 77"')
    job = python_job(
        """
        import gc
        if sys.stdin.read() == "fail":
            sys.exit(77)
        for held in gc.get_objects():
            if isinstance(held, dict) and held.get("exit_code") == 77:
                say("found a result")
        """
        + textwrap.indent(source, "        ")
    )
    results = bench.sandbox.run_batch(job, [Case(stdin=b"fail"), Case(), Case()])
    return first(*[honest(result, b"searched []\n") for result in results[1:]])


@probe
def cases_of_a_batch(bench: Bench) -> str:
    """The cases of a batch find neither files nor processes of one another."""
    source = """
        found = sorted(set(os.listdir(".")) - {"main.py", "__pycache__"})
        found += os.listdir(tempfile.gettempdir())
        open("left", "w").close()
        open(tempfile.gettempdir() + "/left", "w").close()
        open("main.py", "w").write("print('changed')")
        if os.fork() == 0:
            try:
                os.setsid()
            except OSError:
                pass
            mark(VALUES["name"])
            time.sleep(20)
            os._exit(0)
        say(found, sys.stdin.read())
    """
    name = token()
    cases = [Case(stdin=str(number).encode()) for number in range(3)]
    results = bench.sandbox.run_batch(python_job(source, {"name": name}), cases)
    complaints = [
        honest(result, f"[] {number}\n".encode()) for number, result in enumerate(results)
    ]
    return first(survivors(name), *complaints, "" if len(results) == 3 else "results are missing")


@probe
def neighbours(bench: Bench) -> str:
    """Jobs that run at the same time do not find one another."""
    name, results = token(), {}
    port = 20_000 + os.getpid() % 10_000

    def run(which: str, source: str) -> None:
        values = {"name": name, "port": port}
        results[which] = bench.python(source, values, limits=Limits(cpu_s=5, wall_s=30))

    threads = [
        threading.Thread(target=run, args=("door", _OPEN_DOORS)),
        threading.Thread(target=run, args=("visitor", _TRY_DOORS)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return first(honest(results["visitor"], b"found []\n"), ended_as(results["door"], RunStatus.OK))


_OPEN_DOORS = """
mark(VALUES["name"])
held = []
for family, address in ((socket.AF_UNIX, "\\0" + VALUES["name"]),
                        (socket.AF_INET, ("127.0.0.1", VALUES["port"]))):
    try:
        made = socket.socket(family)
        made.bind(address)
        made.listen()
        held.append(made)
    except OSError:
        pass
for folder in ("/dev/shm", "/tmp", tempfile.gettempdir(), "/var/tmp"):
    try:
        open(f"{folder}/{VALUES['name']}", "w").write("here")
    except OSError:
        pass
time.sleep(1)
"""

_TRY_DOORS = """
found = set()
end = time.monotonic() + 0.9
while time.monotonic() < end:
    for family, address in ((socket.AF_UNIX, "\\0" + VALUES["name"]),
                            (socket.AF_INET, ("127.0.0.1", VALUES["port"]))):
        try:
            with socket.socket(family) as made:
                made.connect(address)
            found.add(str(family))
        except OSError:
            pass
    for folder in ("/dev/shm", "/tmp", tempfile.gettempdir(), "/var/tmp"):
        if os.path.exists(f"{folder}/{VALUES['name']}"):
            found.add(folder)
    try:
        for pid in os.listdir("/proc"):
            if pid.isdecimal() and VALUES["name"] in open(f"/proc/{pid}/comm").read():
                found.add("process")
    except OSError:
        pass
    time.sleep(0.02)
say("found", sorted(found))
"""


@probe
def random_numbers(bench: Bench) -> str:
    """Random numbers of two jobs differ: a job cannot foresee what another draws."""
    source = "import random, uuid\nsay(random.getrandbits(64), uuid.uuid4())"
    drawn = [bench.python(source) for _ in range(_TIMES)]
    if len({result.stdout for result in drawn}) < _TIMES:
        return "two jobs drew the same numbers"
    return first(*[ended_as(result, RunStatus.OK) for result in drawn])
