"""Running programs: how they end, what comes back, and what lasts."""

import os
import threading

import pytest

from rlvr_envs.core.errors import ConfigError, SandboxError, SandboxUnavailable, UsageError
from rlvr_envs.sandboxes import sandbox as module
from rlvr_envs.sandboxes.backend import Backend
from rlvr_envs.sandboxes.base import Case, Job, Limits, RunStatus
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.sandbox import Sandbox, make_backend, strongest_backend
from rlvr_envs.sandboxes.shared import shared_sandbox, use_backend
from rlvr_envs.sandboxes.slot import runner


def python(code, **more):
    return Job(script="main.py", files={"main.py": code.encode()}, **more)


def shell(command, **more):
    return Job(argv=("/bin/sh", "-c", command), **more)


@pytest.mark.parametrize(
    ("code", "status", "exit_code"),
    [
        ("print('hi')", "ok", 0),
        ("raise SystemExit(3)", "nonzero_exit", 3),
        ("exit('no')", "nonzero_exit", 1),
        ("1 / 0", "nonzero_exit", 1),
        ("def f(:", "nonzero_exit", 1),
        ("import os; os.abort()", "signal", None),
        ("while True: pass", "cpu_timeout", None),
        ("import time; time.sleep(60)", "wall_timeout", None),
        ("x = []\nwhile True: x.append(b'a' * 10**6)", "memory", None),
        ("while True: print('x' * 1000)", "output_limit", None),
        ("open('f', 'wb').write(bytes(40 * 2**20))", "file_limit", 1),
    ],
)
def test_how_a_program_ends(sandbox, code, status, exit_code):
    # On a loaded machine there may be little time to spend, and each page may cost more of it.
    cpu_s, wall_s = 0.5 if "pass" in code else 10, 1.5 if "sleep" in code else 60
    result = sandbox.run(python(code, limits=Limits(cpu_s=cpu_s, wall_s=wall_s)))
    assert (result.status.value, result.exit_code) == (status, exit_code)
    assert bool(result.detail) == (status != "ok")
    assert result.backend == sandbox.backend
    assert result.isolation == sandbox.isolation


def test_children_count_for_the_cpu_limit(sandbox):
    code = "import os\nfor _ in range(4): os.fork()\nwhile True: pass"
    result = sandbox.run(python(code, limits=Limits(cpu_s=1, wall_s=30)))
    assert result.status is RunStatus.CPU_TIMEOUT
    assert result.cpu_s < 5


def test_a_script_is_an_ordinary_main_module(sandbox):
    code = """
import sys, atexit, threading, time, __main__
atexit.register(print, "bye")
value = 5
def late():
    time.sleep(0.05)
    print("thread")
threading.Thread(target=late).start()
class A: pass
print(__name__, __main__.value, sys.argv, A.__module__, sys.stdin.read())
"""
    result = sandbox.run(python(code, args=("a", "b"), stdin=b"text"))
    assert result.stdout == b"__main__ 5 ['main.py', 'a', 'b'] __main__ text\nthread\nbye\n"
    assert result.ok


def test_a_traceback_shows_the_program_alone(sandbox):
    result = sandbox.run(python("def f():\n    return 1 / 0\nf()"))
    assert b'File "main.py", line 3' in result.stderr
    assert b"ZeroDivisionError" in result.stderr
    assert b"slot.py" not in result.stderr


def test_hash_order_is_the_same_in_every_slot():
    job = python("print([hash(w) for w in ('a', 'b', 'spam')])")
    with Sandbox(slots=1) as one, Sandbox(slots=1) as other:
        assert one.run(job).stdout == other.run(job).stdout


def test_random_numbers_differ_from_run_to_run(sandbox):
    job = python("import random; print(random.random())")
    assert sandbox.run(job).stdout != sandbox.run(job).stdout


def test_output_is_cut_and_counted(sandbox):
    limits = Limits(stdout_kib=1, stderr_kib=1)
    code = "import sys; sys.stdout.write('a' * 5000); sys.stderr.write('b' * 4000)"
    result = sandbox.run(python(code, limits=limits))
    assert result.stdout == b"a" * 1024
    assert result.stderr == b"b" * 1024
    assert (result.stdout_bytes, result.stderr_bytes) == (5000, 4000)
    assert result.stdout_truncated
    assert result.stderr_truncated


def test_any_byte_goes_in_and_comes_out(sandbox):
    every = bytes(range(256)) * 300
    code = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"
    result = sandbox.run(python(code, stdin=every, limits=Limits(stdout_kib=128)))
    assert result.stdout == every
    job = shell("cat data/in > out", files={"data/in": every}, collect=("out", "absent"))
    assert sandbox.run(job).files == {"out": every}


def test_large_input_that_nobody_reads(sandbox):
    assert sandbox.run(python("print(1)", stdin=b"x" * 3_000_000)).stdout == b"1\n"


@pytest.mark.parametrize(
    "trick", ["ln -s /etc/passwd out", "mkfifo out", "mkdir out", "ln -s . out"]
)
def test_only_regular_files_are_collected(sandbox, trick):
    result = sandbox.run(shell(trick, collect=("out", "out/passwd")))
    assert result.ok
    assert not result.files


def test_what_compiles_once_runs_many_times(sandbox):
    source = b'#include <stdio.h>\nint main(void){int n; scanf("%d",&n); printf("%d\\n", n * n); }'
    job = Job(argv=("./a.out",), compile=("gcc", "a.c"), files={"a.c": source})
    results = sandbox.run_batch(job, [Case(stdin=b"%d" % n) for n in range(20)])
    assert [int(result.stdout) for result in results] == [n * n for n in range(20)]


def test_what_does_not_compile(sandbox):
    job = Job(argv=("./a.out",), compile=("gcc", "a.c"), files={"a.c": b"int main( {"})
    results = sandbox.run_batch(job, [Case(), Case()])
    assert [result.status for result in results] == [RunStatus.COMPILE_ERROR] * 2
    assert b"error" in results[0].stderr


def test_a_binary_of_the_submission_is_not_run_when_compiling_fails(sandbox):
    files = {"a.c": b"int main( {", "a.out": b"#!/bin/sh\necho pwned\n"}
    job = Job(argv=("/bin/sh", "a.out"), compile=("gcc", "a.c"), files=files)
    result = sandbox.run(job)
    assert result.status is RunStatus.COMPILE_ERROR
    assert b"pwned" not in result.stdout


def test_the_cases_of_a_batch_share_nothing(sandbox):
    code = """
import os
seen = [name for place in ('.', os.environ['TMPDIR']) for name in os.listdir(place)]
print(sorted(seen), open('main.py').read().count('spo' + 'ilt'))
for place in ('.', os.environ['TMPDIR']):
    os.makedirs(place + '/deep/er')
    open(place + '/left', 'w').write('x')
    os.chmod(place + '/deep/er', 0)
    os.chmod(place + '/deep', 0)
open('main.py', 'a').write('# spoilt')
"""
    results = sandbox.run_batch(python(code), [Case()] * 3)
    assert {result.stdout for result in results} == {b"['main.py'] 1\n"}, results[0].stderr


def test_a_batch_ends_at_the_first_fault_if_asked(sandbox):
    job = python("import sys; sys.exit(int(input()))")
    cases = [Case(stdin=code) for code in (b"0", b"7", b"0")]
    codes = [result.exit_code for result in sandbox.run_batch(job, cases, stop_on_fault=True)]
    assert codes == [0, 7]
    assert len(sandbox.run_batch(job, cases)) == 3
    assert sandbox.run_batch(job, []) == []


def test_the_environment_is_constant(sandbox, monkeypatch):
    monkeypatch.setenv("SECRET", "value")
    code = "import os; print(sorted(os.environ), os.environ['X'] == os.environ['TMPDIR'] + '/y')"
    result = sandbox.run(python(code, env={"X": "$TMPDIR/y"}))
    assert result.stdout == b"['HOME', 'LANG', 'PATH', 'TMPDIR', 'X'] True\n"


def test_a_missing_program_is_the_programs_fault(sandbox):
    result = sandbox.run(Job(argv=("no-such-program",)))
    assert (result.status, result.exit_code) == (RunStatus.NONZERO_EXIT, 127)


def test_a_session_keeps_files_and_nothing_else(sandbox):
    with sandbox.session() as session:
        session.write("data/in.txt", b"one")
        job = python("open('out.txt', 'w').write(open('data/in.txt').read() * 2); print('done')")
        assert session.run(job).stdout == b"done\n"
        assert session.read("out.txt") == b"oneone"
        assert session.read("absent") is None
        assert session.read("out.txt", most=3) is None
        session.run(shell("sleep 600 & echo $! > pid"))
        alive = session.run(shell("kill -0 $(cat pid) && echo alive || echo dead"))
        assert alive.stdout == b"dead\n"
        assert session.run(shell("ls")).stdout.split() == [b"data", b"main.py", b"out.txt", b"pid"]
    with pytest.raises(SandboxError, match="closed"):
        session.run(job)
    session.close()


def test_a_link_does_not_lead_a_sessions_writes_outside(sandbox):
    with sandbox.session() as session:
        session.run(shell("ln -s /etc etc; ln -s /proc/self/mem mem; echo mine > kept"))
        session.write("etc/passwd", b"x")  # which replaces the link
        assert session.read("etc/passwd") == b"x"
        session.write("mem", b"plain")
        assert session.read("mem") == b"plain"
        assert session.read("kept") == b"mine\n"


def test_nothing_in_the_way_ends_a_session(sandbox):
    with sandbox.session() as session:
        session.run(shell("mkdir -p main.py/a/b && chmod 0 main.py/a; echo x > folder"))
        job = Job(script="main.py", files={"main.py": b"print(1)", "folder/x": b""})
        assert session.run(job).stdout == b"1\n"


def test_sessions_do_not_use_up_the_slots():
    with Sandbox(slots=1) as sandbox, sandbox.session(), sandbox.session():
        assert sandbox.run(python("print(1)")).ok


def test_threads_share_a_sandbox(sandbox):
    outputs = {}

    def work(number):
        outputs[number] = sandbox.run(python(f"print({number})")).stdout

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {n: b"%d\n" % n for n in range(12)}


def test_a_forked_child_has_slots_of_its_own(sandbox):
    sandbox.run(python("print(1)"))
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, sandbox.run(python("print('child')")).stdout)
            sandbox.close()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as output:
        assert output.read() == b"child\n"
    os.waitpid(pid, 0)
    assert sandbox.run(python("print('parent')")).stdout == b"parent\n"


def test_a_slot_that_is_killed_costs_one_retry():
    with Sandbox("namespaces", slots=1) as sandbox:
        sandbox.run(python("print(1)"))
        [(channel, _)] = sandbox._pool._free
        channel._process.kill()
        assert sandbox.run(python("print(2)")).stdout == b"2\n"


class Broken(Backend):
    name, isolation = "broken", "none"

    def start(self):
        channel = NamespacesBackend().start()
        channel._process.kill()
        channel._process.wait()
        assert channel._socket.recv(1) == b""  # it could otherwise still do the job
        return channel


def test_a_slot_that_always_dies_is_a_sandbox_error():
    with Sandbox(Broken(), slots=1) as sandbox:
        result = sandbox.run(python("print(1)"))
    assert result.status is RunStatus.SANDBOX_ERROR
    assert "gone" in result.detail


def test_a_closed_sandbox_says_so():
    sandbox = Sandbox(slots=1)
    sandbox.close()
    with pytest.raises(UsageError, match="closed"):
        sandbox.run(python("print(1)"))


def test_the_unsafe_backend_must_be_asked_for():
    with pytest.raises(ConfigError, match="allow_unsafe=True"):
        Sandbox("process")
    with Sandbox("process", allow_unsafe=True, slots=1) as sandbox:
        assert sandbox.run(python("print(1)")).isolation.startswith("none")


def test_unknown_backends_and_odd_slots_are_refused():
    with pytest.raises(ConfigError, match="did you mean 'namespaces'"):
        make_backend("namespace")
    for slots in (0, True, "2"):
        with pytest.raises(ConfigError, match="slots"):
            Sandbox(slots=slots)


def test_where_nothing_works_the_error_says_why_for_each(monkeypatch):
    def refuse(backend):
        raise SandboxUnavailable(f"no luck with {backend.name}")

    monkeypatch.setattr(module, "probe", refuse)
    with pytest.raises(SandboxUnavailable) as caught:
        strongest_backend()
    for name in ("namespaces", "docker", "landlock"):
        assert f"no luck with {name}" in str(caught.value)


def test_one_sandbox_is_shared():
    assert shared_sandbox() is shared_sandbox()
    assert use_backend(shared_sandbox().backend).backend == shared_sandbox().backend


@pytest.mark.parametrize(
    ("ceiling", "expected"), [(-1, (11, 12)), (100, (11, 12)), (11, (11, 11)), (9, (9, 9))]
)
def test_limits_stay_within_those_of_the_machine(monkeypatch, ceiling, expected):
    """A hard limit cannot be raised, so asking for more would keep a program from starting."""
    monkeypatch.setattr(runner.resource, "getrlimit", lambda kind: (ceiling, ceiling))
    assert runner.within_the_machines(runner.resource.RLIMIT_CPU, (11, 12)) == expected


POOL = """
import mmap, multiprocessing
from multiprocessing import shared_memory
def square(n):
    return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        print(sum(pool.map(square, range(100))))
    area = mmap.mmap(-1, 1 << 20)
    child = multiprocessing.Process(target=area.write, args=(b"told",))
    child.start()
    child.join()
    print(area[:4])
    held = shared_memory.SharedMemory(create=True, size=4096)
    held.buf[:2] = b"ab"
    other = shared_memory.SharedMemory(held.name)
    print(bytes(other.buf[:2]))
    other.close()
    held.close()
    held.unlink()
"""


def test_pools_of_processes_and_shared_memory_work_where_the_kernel_counts():
    with Sandbox("namespaces", slots=1) as sandbox:
        if not sandbox.accounted_by_kernel:
            pytest.skip("no cgroup may be made here")
        result = sandbox.run(python(POOL, limits=Limits(cpu_s=5, wall_s=30)))
    assert result.stdout == b"328350\nb'told'\nb'ab'\n", result.stderr
