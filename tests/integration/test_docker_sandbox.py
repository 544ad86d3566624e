"""The docker backend against a real engine.

``scripts/docker_engine.sh pytest tests/integration/test_docker_sandbox.py`` brings the engine.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from patience import eventually

from rlvr_envs.core.errors import SandboxError, SandboxUnavailable
from rlvr_envs.sandboxes import docker_engine, docker_image
from rlvr_envs.sandboxes.backend import SHOWN
from rlvr_envs.sandboxes.base import Case, Job, Limits, RunStatus
from rlvr_envs.sandboxes.docker import DockerBackend, DockerOptions
from rlvr_envs.sandboxes.sandbox import Sandbox, probe

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def host():
    """Address of an engine that works; a required one that does not is a failure."""
    required = "docker" in os.environ.get("RLVR_REQUIRE_BACKENDS", "").split(",")
    if not required and not os.environ.get("RLVR_DOCKER_HOST"):
        pytest.skip("RLVR_DOCKER_HOST names no engine: run under scripts/docker_engine.sh")
    address = docker_engine.usual_host()
    probe(DockerBackend(DockerOptions(host=address)))
    return address


@pytest.fixture(scope="module")
def api(host):
    client = docker_engine.connect(host)
    yield client
    client.close()


@pytest.fixture(scope="module")
def sandbox(host):
    with Sandbox(DockerBackend(DockerOptions(host=host)), slots=2) as shared:
        yield shared


def python(source, **options):
    return Job(script="main.py", files={"main.py": source.encode()}, **options)


def ours(api):
    """Return the ids of the containers that this process owns."""
    label = f"{docker_engine.OWNER_LABEL}={docker_engine.owner_of(os.getpid())}"
    return {each["Id"] for each in api.containers(all=True, filters={"label": label})}


# --- what a program finds in a container ----------------------------------------------------


def test_a_program_has_no_privileges(sandbox):
    result = sandbox.run(
        python("""
import os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"):
    print(name, int(status[name], 16))
print("root", 0 in os.getresuid() + os.getresgid() + tuple(os.getgroups()))
""")
    )
    assert result.ok, result
    lines = result.stdout.decode().splitlines()
    assert lines[:4] == ["CapEff 0", "CapPrm 0", "CapBnd 0", "CapAmb 0"]
    assert lines[4:] == ["NoNewPrivs 1", "Seccomp 2", "root False"]


def test_the_network_is_a_closed_loop(sandbox):
    result = sandbox.run(
        python("""
print([line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line])
import socket
try:
    socket.create_connection(("127.0.0.1", 1))
except OSError as error:
    print(type(error).__name__)
""")
    )
    assert result.stdout.splitlines() == [b"['lo']", b"PermissionError"]


def test_only_two_directories_are_writable(sandbox):
    result = sandbox.run(
        python("""
import os
found = []
for top, folders, names in os.walk("/", followlinks=False):
    if top == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
    try:
        open(top + "/x", "w")
        found.append(top)
    except OSError:
        pass
print(sorted(found))
print([path for path in ("/usr", "/dev/shm") if os.access(path, os.W_OK)])
""")
    )
    assert result.stdout == b"['/tmp', '/work']\n[]\n", result


def test_the_server_is_out_of_reach(sandbox):
    result = sandbox.run(
        python("""
import os, signal
for path in ("/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/fd/0"):
    try:
        open(path, "rb").read(1)
        print("read", path)
    except OSError:
        pass
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
    try:
        os.kill(1, number)
    except OSError:
        pass
print("done")
""")
    )
    assert result.stdout == b"done\n", result
    assert sandbox.run(python("print(1)")).stdout == b"1\n"


def test_the_environment_of_the_host_stays_out(sandbox, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_TRAINER", "hunter2")
    code = "import os; print(dict(os.environ)); print(open('/proc/1/cmdline').read())"
    assert b"hunter2" not in sandbox.run(python(code)).stdout


def test_compiled_programs_run_in_batches(sandbox):
    source = b'#include <stdio.h>\nint main(){int a;scanf("%d",&a);printf("%d\\n",a*a);}'
    job = Job(argv=("./a",), compile=("cc", "-o", "a", "a.c"), files={"a.c": source})
    results = sandbox.run_batch(job, [Case(stdin=b"%d" % i) for i in range(20)])
    assert [result.stdout for result in results] == [b"%d\n" % (i * i) for i in range(20)]


def test_sessions_keep_files_apart_from_jobs(sandbox):
    with sandbox.session() as session:
        session.write("kept.txt", b"here")
        assert session.run(python("print(open('kept.txt').read())")).stdout == b"here\n"
        assert sandbox.run(python("open('kept.txt')")).status is RunStatus.NONZERO_EXIT
        assert session.read("kept.txt") == b"here"


# --- what a hostile program does to its container -------------------------------------------


@pytest.mark.parametrize(
    ("attack", "status"),
    [
        ("import os\nwhile True: os.fork()", RunStatus.PROCESS_LIMIT),
        ("x = bytearray(600 << 20)\nx[::4096] = x[::4096]\nprint(len(x))", RunStatus.MEMORY),
        ("while True: pass", RunStatus.CPU_TIMEOUT),
        ("import time; time.sleep(60)", RunStatus.WALL_TIMEOUT),
        ("while True: print('x' * 4000)", RunStatus.OUTPUT_LIMIT),
    ],
)
def test_a_limit_ends_the_program_and_not_the_container(host, api, attack, status):
    backend = DockerBackend(DockerOptions(host=host))
    with Sandbox(backend, slots=1) as own:
        own.run(python("print('warm')"))
        before = ours(api)
        limits = Limits(cpu_s=1.0, wall_s=6.0, memory_mib=128, processes=16)
        assert own.run(python(attack, limits=limits)).status is status
        assert own.run(python("print('alive')")).stdout == b"alive\n"
        assert ours(api) == before


def test_the_kernel_keeps_the_limit_on_threads(sandbox):
    # all at once: no look of the supervisor falls in between
    threads = (
        "import _thread, time\nfor n in range(200):\n  _thread.start_new_thread(time.sleep, (9,))"
    )
    result = sandbox.run(python(threads, limits=Limits(processes=8)))
    assert result.status is RunStatus.PROCESS_LIMIT
    assert b"can't start new thread" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="starts a process as another user")
def test_a_user_with_processes_elsewhere_is_given_up(host, api, monkeypatch):
    taken, free = 59_998, 59_999
    users = [taken, free]
    monkeypatch.setattr("rlvr_envs.sandboxes.docker.USERS", range(taken, free + 1))
    monkeypatch.setattr("secrets.choice", lambda _: users.pop(0))
    other = subprocess.Popen(["sleep", "60"], user=taken, group=taken)
    try:
        with Sandbox("docker", slots=1) as sandbox:
            shown = sandbox.run(python("import os; print(os.getuid())"))
            assert shown.stdout == b"%d\n" % free
        users += [taken] * 9
        with pytest.raises(
            SandboxUnavailable, match=f"processes of the machine run as user {taken}"
        ):
            Sandbox("docker", slots=1).run(python("0"))
    finally:
        other.kill()
        other.wait()


def test_orphans_end_with_their_job(host):
    code = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
print("left")
"""
    look = "import os; print(sorted(name for name in os.listdir('/proc') if name.isdigit()))"
    with Sandbox(DockerBackend(DockerOptions(host=host)), slots=1) as own:
        assert own.run(python(code)).stdout == b"left\n"
        assert len(own.run(python(look)).stdout.split()) == 2  # the server and the job


def test_the_container_itself_limits_memory(host):
    """Where a job's own limit allows more than the container has, the kernel ends the job."""
    options = DockerOptions(host=host, memory_mib=128)
    with Sandbox(DockerBackend(options), slots=1) as own:
        code = "x = bytearray(400 << 20)\nx[::4096] = x[::4096]\nprint(len(x))"
        result = own.run(python(code, limits=Limits(memory_mib=1024)))
        assert not result.ok
        assert b"419430400" not in result.stdout
        assert own.run(python("print('alive')")).stdout == b"alive\n"


# --- the life of a container ----------------------------------------------------------------


def test_closing_removes_every_container(host, api):
    before = ours(api)
    with Sandbox(DockerBackend(DockerOptions(host=host)), slots=2) as own:
        session = own.session()
        own.run(python("print(1)"))
        assert len(ours(api)) == len(before) + 2
        session.close()
    assert ours(api) == before


def test_a_container_killed_at_work_is_a_fault_and_not_an_answer(host, api):
    before = ours(api)
    with Sandbox(DockerBackend(DockerOptions(host=host)), slots=1) as own:
        session = own.session()
        (mine,) = ours(api) - before
        threading.Timer(0.5, api.kill, [mine]).start()
        with pytest.raises(SandboxError, match="container"):
            session.run(python("import time; time.sleep(20)", limits=Limits(wall_s=30)))
        assert own.run(python("print('again')")).stdout == b"again\n"


@pytest.mark.parametrize("busy", [False, True])
def test_a_killed_trainer_leaves_no_container(host, api, busy):
    code = f"""
import os, signal, threading
from rlvr_envs.sandboxes.base import Job, Limits
from rlvr_envs.sandboxes.docker import DockerBackend, DockerOptions
from rlvr_envs.sandboxes.sandbox import Sandbox
sandbox = Sandbox(DockerBackend(DockerOptions(host={host!r})), slots=1)
files = {{"main.py": b"print(1)", "spin.py": b"while True: pass"}}
sandbox.run(Job(script="main.py", files=files))
if {busy}:
    work = Job(script="spin.py", files=files, limits=Limits(cpu_s=3))
    threading.Thread(target=sandbox.run, args=[work], daemon=True).start()
threading.Event().wait(0.5)
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    trainer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=120
    )
    assert trainer.returncode == -signal.SIGKILL, trainer.stderr
    place = f":{int(trainer.stdout)} "

    def left():
        found = api.containers(all=True, filters={"label": docker_engine.OWNER_LABEL})
        return [each for each in found if place in each["Labels"][docker_engine.OWNER_LABEL]]

    assert eventually(lambda: not left()), left()


def test_what_a_dead_owner_left_is_removed(host, api):
    gone = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    dead = docker_engine.owner_of(gone.pid)
    gone.communicate()
    backend = DockerBackend(DockerOptions(host=host))
    backend.start().close()
    image = api.images(quiet=True)[0]
    created = [
        api.create_container(image, "x", labels={docker_engine.OWNER_LABEL: owner})["Id"]
        for owner in (dead, docker_engine.owner_of(1), "another-machine 4026531836:7 1")
    ]
    DockerBackend(DockerOptions(host=host)).start().close()
    left = {container["Id"] for container in api.containers(all=True)}
    for container in created[1:]:
        docker_engine.remove(api, container)
    assert [container in left for container in created] == [False, True, True]


# --- other images, engines and runtimes -----------------------------------------------------


def test_a_copied_python_and_a_named_image(host, api):
    backend = DockerBackend(DockerOptions(host=host, image="python"))
    code = "import os, sqlite3, ssl; print(os.path.exists('/usr/bin/env'), 6 * 7)"
    with Sandbox(backend, slots=1) as own:
        assert own.run(python(code)).stdout == b"False 42\n"
    name = api.images(name="localhost/rlvr-sandbox-python-*")[0]["RepoTags"][0]
    with Sandbox(DockerBackend(DockerOptions(host=host, image=name)), slots=1) as own:
        assert own.run(python(code)).stdout == b"False 42\n"


class Relay:
    """Makes a local engine a remote one: TCP on one side, its socket on the other."""

    def __init__(self, path):
        self.path = path
        self.server = socket.create_server(("127.0.0.1", 0))
        self.host = f"tcp://127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client):
        with client, socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self.path)
            back = threading.Thread(target=self._pass_on, args=[engine, client], daemon=True)
            back.start()
            self._pass_on(client, engine)
            back.join()

    @staticmethod
    def _pass_on(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_a_remote_engine(host):
    if not docker_engine.is_local(host):
        pytest.skip("the engine is a remote one already, so every other test is this one")
    relay = Relay(host.removeprefix("unix://"))
    try:
        with Sandbox(DockerBackend(DockerOptions(host=relay.host)), slots=1) as own:
            result = own.run(python("print(input())", stdin=b"far away"))
            assert result.stdout == b"far away\n", result
    finally:
        relay.server.close()


def test_an_unknown_runtime_is_unavailable(host, api):
    before = ours(api)
    backend = DockerBackend(DockerOptions(host=host, runtime="no-such-runtime"))
    with pytest.raises(SandboxUnavailable, match="no-such-runtime"):
        backend.start()
    assert ours(api) == before


def test_an_image_without_python_is_unavailable(host, api):
    before = ours(api)
    DockerBackend(DockerOptions(host=host)).start().close()
    name = api.images(name="localhost/rlvr-sandbox-host-*")[0]["RepoTags"][0]
    with pytest.raises(SandboxUnavailable, match="needs a python3"):
        DockerBackend(DockerOptions(host=host, image=name)).start()  # the skeleton, without /usr
    assert ours(api) == before


INSIDE = """
import sys, types
package = types.ModuleType("rlvr_envs")  # the container has no Gymnasium to import the rest with
package.__path__ = ["/package"]
sys.modules["rlvr_envs"] = package
from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.sandboxes.base import Job
from rlvr_envs.sandboxes.sandbox import Sandbox

try:
    Sandbox("namespaces").run(Job(argv=("true",)))
except SandboxUnavailable as error:
    print("namespaces:", "unshare" in str(error))
code = b"try: open('/package/py.typed')\\nexcept OSError as error: print(error.errno)"
with Sandbox("auto", slots=1) as sandbox:
    print(sandbox.backend, sandbox.run(Job(script="a.py", files={"a.py": code})).stdout)
"""


@pytest.mark.parametrize("user", ["0:0", "1000:1000"])
def test_landlock_serves_inside_an_ordinary_container(host, api, user):
    if not docker_engine.is_local(host):
        pytest.skip("the container has to see this machine's files")
    package = Path(docker_engine.__file__).resolve().parents[1]
    shown = [f"{path}:{path}:ro" for path in SHOWN if Path(path).exists()]
    container = api.create_container(
        docker_image.ensure_host_image(api),
        command=["/usr/bin/python3", "-B", "-c", INSIDE],
        user=user,
        host_config=api.create_host_config(
            binds=[*shown, f"{package}:/package:ro"], network_mode="none"
        ),
        use_config_proxy=False,
    )["Id"]
    try:
        api.start(container)
        api.wait(container, timeout=60)
        lines = api.logs(container).decode()
    finally:
        api.remove_container(container, force=True)
    assert lines == "namespaces: True\nlandlock b'13\\n'\n"
