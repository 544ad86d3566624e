"""Hostile programs in numbers, and the ends of whoever started them."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from patience import eventually

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.sandboxes.base import Job, Limits, RunStatus
from rlvr_envs.sandboxes.probes import PROBES
from rlvr_envs.sandboxes.probes.bench import python_job, token
from rlvr_envs.sandboxes.probes.host import processes_named
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.selfcheck import self_check
from rlvr_envs.sandboxes.slot.cgroup import PREFIX

# Every one of them tries to leave a process behind.
HOSTILE = {
    "daemon": """
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                os.setsid()
            if os.fork() == 0:
                for number in set(range(1, 32)) - {9, 17, 19}:
                    signal.signal(number, signal.SIG_IGN)
                time.sleep(30)
            os._exit(0)
    """,
    "closed": """
        if os.fork() == 0:
            os.closerange(0, 64)
            with contextlib.suppress(OSError):
                os.setpgid(0, 0)
            time.sleep(30)
    """,
    "crowd": """
        for _ in range(10):
            if os.fork() == 0:
                with contextlib.suppress(OSError):
                    os.setsid()
                time.sleep(30)
    """,
    "hopper": """
        if os.fork() == 0:
            while True:
                with contextlib.suppress(OSError):
                    if os.fork():
                        os._exit(0)
    """,
    "command": """
        work = "import time\\nwhile True: time.sleep(1)"
        subprocess.Popen([sys.executable, "-ISc", work, VALUES["name"]],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    """,
    "stopped": """
        if os.fork() == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(30)
    """,
    "threads": """
        for _ in range(5):
            threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        if os.fork() == 0:
            threading.Thread(target=time.sleep, args=(30,)).start()
            time.sleep(30)
        os._exit(0)
    """,
    "crash": """
        if os.fork() == 0:
            time.sleep(30)
        os.abort()
    """,
}


def hostile_job(kind, name):
    source = "import contextlib\nmark(VALUES['name'])\n"
    body = HOSTILE[kind].strip("\n").split("\n")
    source += "\n".join(line[8:] for line in body)
    return python_job(source, {"name": name}, Limits(cpu_s=2, wall_s=10))


@pytest.fixture
def scratch(monkeypatch):
    """An empty folder that takes the place of /tmp for sandboxes; users other than us enter it."""
    folder = Path(tempfile.mkdtemp(prefix="rlvr-scratch-"))
    folder.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


def outside():
    """The mount points and control groups of the machine, but for those of container engines.

    Nor are those of slots at work counted, which other tests have beside this one.
    """
    mounts = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    top = Path("/sys/fs/cgroup")
    groups = {*top.glob("*/*"), *top.glob(f"**/{PREFIX}*")}
    found = mounts | {str(path) for path in groups if not at_work(path.name)}
    return {path for path in found if "docker" not in path}


def at_work(group):
    """Whether it is the group of a slot whose guard, which its name tells, lives."""
    guard = group.removeprefix(PREFIX).partition("-")[0]
    return group.startswith(PREFIX) and Path(f"/proc/{guard}").exists()


def left_behind(scratch, before):
    """What a sandbox left on the machine besides processes."""
    return sorted(map(str, scratch.iterdir())) + sorted(outside() - before)


def descendants(pid):
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


@pytest.fixture(scope="module")
def sandboxes():
    """Sandboxes by backend, kept from probe to probe, as a trainer keeps them."""
    kept = {}

    def get(name):
        if name not in kept:
            kept[name] = Sandbox(name)
        return kept[name]

    yield get
    for sandbox in kept.values():
        sandbox.close()


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_every_probe_is_contained(backend, probe, sandboxes):
    (found,) = self_check(sandboxes(backend), [probe])
    assert not found.faulty, found.detail
    if found.gap:
        pytest.xfail(f"known gap of {backend}: {found.gap}")


def run_hostile_jobs(backend, count, scratch):
    name, before = token(), outside()
    ended = {}
    with Sandbox(backend, slots=2, allow_unsafe=True) as sandbox:

        def work(which):
            for number in range(which, count, 2):
                kind = list(HOSTILE)[number // 2 % len(HOSTILE)]
                result = sandbox.run(hostile_job(kind, name))
                ended[number] = (kind, result.status, len(processes_named(name)) > 40)

        threads = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alive = processes_named(name)  # before the slots end: no job outlives its result
    assert alive == []
    assert len(ended) == count
    expected = dict.fromkeys(HOSTILE, RunStatus.OK) | {"crash": RunStatus.SIGNAL}
    assert {(kind, status) for kind, status, _ in ended.values()} == set(expected.items())
    assert not any(crowded for *_, crowded in ended.values())
    assert left_behind(scratch, before) == []


def test_a_hundred_hostile_jobs_leave_nothing(backend, scratch):
    run_hostile_jobs(backend, 100, scratch)


def test_even_the_unsafe_backend_leaves_nothing(scratch):
    run_hostile_jobs("process", 100, scratch)


@pytest.mark.slow
def test_a_thousand_hostile_jobs_leave_nothing(backend, scratch):
    run_hostile_jobs(backend, 1000, scratch)


TRAINER = """
import sys, threading, time
from rlvr_envs.sandboxes.base import Job, Limits
from rlvr_envs.sandboxes.sandbox import Sandbox
sandbox = Sandbox(sys.argv[1], slots=2)
source = '''
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"NAME", 0, 0, 0)
open("litter", "w").write("x")
for _ in range(3):
    os.fork()
time.sleep(120)
'''.replace("NAME", sys.argv[2])
job = Job(script="main.py", files={"main.py": source.encode()}, limits=Limits(wall_s=120))
session = sandbox.session()
session.write("kept", b"x")
threading.Thread(target=session.run, args=(job,), daemon=True).start()
threading.Thread(target=sandbox.run, args=(job,), daemon=True).start()
print("ready", flush=True)
time.sleep(120)
"""


def start_trainer(backend, name):
    command = [sys.executable, "-c", TRAINER, backend, name]
    trainer = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert trainer.stdout.readline() == b"ready\n"
    assert eventually(lambda: len(processes_named(name)) >= 16)
    return trainer


def test_nothing_survives_a_trainer_that_is_killed(backend, scratch):
    name, before = token(), outside()
    trainer = start_trainer(backend, name)
    family = descendants(trainer.pid)
    trainer.kill()
    trainer.communicate()
    assert eventually(lambda: not processes_named(name)), "jobs survived"
    assert eventually(lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()])
    assert eventually(lambda: not left_behind(scratch, before)), left_behind(scratch, before)


# Adopts what its children leave, so that it sees every survivor; trainers are forks of it.
KILLED_AT_ANY_MOMENT = """
import ctypes, os, sys, tempfile, time
from pathlib import Path
from rlvr_envs.sandboxes.probes.bench import python_job
from rlvr_envs.sandboxes.sandbox import Sandbox

tempfile.gettempdir()  # tries a file, which a trainer that is killed meanwhile would leave

def children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
job = python_job("if os.fork() == 0: time.sleep(60)")
for step in range(25):
    trainer = os.fork()
    if trainer == 0:
        with Sandbox(sys.argv[1], slots=1) as sandbox:
            while True:
                sandbox.run(job)
    time.sleep(step * 0.012)
    os.kill(trainer, 9)
    deadline = time.monotonic() + 60
    while children() and time.monotonic() < deadline:
        while children() and os.waitpid(-1, os.WNOHANG)[0]:
            pass
        time.sleep(0.005)
    if children():
        names = [Path(f"/proc/{pid}/cmdline").read_text() for pid in children()]
        sys.exit(f"killed after {step * 12} ms, a trainer left {names}")
"""


@pytest.mark.parametrize("local", ["namespaces", "landlock"])
def test_a_trainer_may_be_killed_at_any_moment(local, backend, scratch):
    if backend != local:
        pytest.skip("each local backend once; an engine ends containers by itself")
    before = outside()
    command = [sys.executable, "-c", KILLED_AT_ANY_MOMENT, backend]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    assert left_behind(scratch, before) == []


@pytest.mark.parametrize("local", ["namespaces", "landlock"])
def test_a_slot_that_is_killed_leaves_nothing_and_the_next_job_runs(local, backend, scratch):
    if backend != local:
        pytest.skip("each local backend once")
    name, before = token(), outside()
    known = set(descendants(os.getpid()))
    with Sandbox(backend, slots=1) as sandbox:
        session = sandbox.session()
        lost = []

        def run():
            try:
                source = "mark(VALUES['name'])\ntime.sleep(60)"
                session.run(python_job(source, {"name": name}, Limits(wall_s=60)))
            except SandboxError as error:
                lost.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        assert eventually(lambda: processes_named(name))
        # The slot before its job: it would still tell how the job ended, which is no loss.
        for pid in sorted(set(descendants(os.getpid())) - known):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        thread.join(30)
        assert len(lost) == 1
        assert eventually(lambda: not processes_named(name))
        honest = Job(script="main.py", files={"main.py": b"print(6 * 7)"})
        assert sandbox.run(honest).stdout == b"42\n"
        session.close()
    # Where the guard was killed as well, the slot's folder stays; its processes do not.
    left = left_behind(scratch, before)
    assert [path for path in left if "/rlvr-slot-" not in path] == []


AS_SOMEBODY_ELSE = """
import json, os, sys, tempfile
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.selfcheck import self_check
"x".encode("idna")  # what is imported late may lie where only root can read
user = int(sys.argv[2])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
os.environ["HOME"] = "/nonexistent"
with Sandbox(sys.argv[1]) as sandbox:
    found = self_check(sandbox)
print(json.dumps([[each.name, each.passed, each.gap, each.detail] for each in found]))
"""


@pytest.mark.slow  # the probes again; `make test-sandboxes` as an ordinary user runs them too
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; others are one")
@pytest.mark.parametrize("local", ["namespaces", "landlock"])
def test_every_probe_is_contained_for_an_ordinary_user(local, backend):
    if backend != local:
        pytest.skip("each local backend once; the docker engine is root's here")
    command = [sys.executable, "-c", AS_SOMEBODY_ELSE, backend, "54321"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(PROBES)
    failed = {name: detail for name, passed, gap, detail in found if not passed and not gap}
    assert failed == {}


def test_threads_share_a_sandbox_among_hostile_jobs(backend):
    name, wrong = token(), []
    with Sandbox(backend, slots=3) as sandbox:

        def work(which):
            for number in range(6):
                if number % 2:
                    sandbox.run(hostile_job(list(HOSTILE)[(which + number) % len(HOSTILE)], name))
                text = f"{which} {number}"
                job = python_job("say(sys.stdin.read())", stdin=text.encode())
                result = sandbox.run(job)
                if result.stdout != f"{text}\n".encode():
                    wrong.append(result)

        threads = [threading.Thread(target=work, args=(which,)) for which in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert processes_named(name) == []
    assert wrong == []


def test_a_forked_child_and_its_parent_both_go_on(backend):
    job = python_job("say(6 * 7)")
    with Sandbox(backend, slots=1) as sandbox:
        assert sandbox.run(job).stdout == b"42\n"
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.write(writing, sandbox.run(job).stdout)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading, "rb") as said:
            assert said.read() == b"42\n"
        assert os.waitpid(child, 0)[1] == 0
        assert sandbox.run(job).stdout == b"42\n"
