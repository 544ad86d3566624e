import contextlib
import io
import itertools
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.core.errors import ConfigError, SandboxError, SandboxUnavailable
from rlvr_envs.core.extras import hint
from rlvr_envs.sandboxes import docker, docker_engine, docker_image, headers, slot
from rlvr_envs.sandboxes.backend import interpreter
from rlvr_envs.sandboxes.docker import DockerBackend, DockerOptions
from rlvr_envs.sandboxes.docker_channel import Demultiplexer, DockerChannel


def piece(stream, content):
    return struct.pack(">BxxxI", stream, len(content)) + content


def frame(payload):
    return struct.pack(">I", len(payload)) + payload


class Engine:
    """Stands in for the engine's client; the container's first process is a thread here."""

    def __init__(self, first_process):
        self.first_process = first_process
        self.started, self.removed = [], []

    def attach_socket(self, container, params):
        assert params == {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        assert not self.started, "attached too late: the beginning would be lost"
        here, self.there = socket.socketpair()
        return here

    def start(self, container):
        self.started.append(container)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with self.there, contextlib.suppress(ConnectionError):  # the client hangs up
            stream = self.there.makefile("rb")
            (length,) = struct.unpack(">I", stream.read(4))
            assert stream.read(length) == slot.source().encode()
            self.first_process(stream, self.there.sendall)

    def inspect_container(self, container):
        return {"State": {"Running": False, "ExitCode": 137, "OOMKilled": True}}

    def remove_container(self, container, *, force, v):
        if container in self.removed:
            raise docker_engine.client_library().errors.NotFound("gone")
        self.removed.append(container)


@pytest.fixture(scope="module", autouse=True)
def client():
    return pytest.importorskip("docker", reason=f"needs {hint('docker')}")


# --- the stream -----------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40)), max_size=8),
    st.lists(st.integers(0, 400), max_size=12),
)
def test_streams_are_told_apart_wherever_they_are_cut(pieces, cuts):
    data = b"".join(piece(stream, content) for stream, content in pieces)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    incoming = Demultiplexer()
    for begin, end in itertools.pairwise(edges):
        incoming.feed(data[begin:end])
    expected = b"".join(content for stream, content in pieces if stream == 1)
    assert bytes(incoming.stdout) == expected
    errors = b"".join(content for stream, content in pieces if stream == 2)
    assert incoming.stderr == errors.decode("utf-8", "replace").strip()


def test_only_the_end_of_standard_error_is_kept():
    incoming = Demultiplexer()
    incoming.feed(piece(2, b"x" * 100_000 + b"the end"))
    assert incoming.stderr.endswith("xthe end")
    assert len(incoming.stderr) < 10_000


def test_nothing_is_taken_before_all_of_it_is_there():
    incoming = Demultiplexer()
    incoming.feed(piece(1, b"abc"))
    assert incoming.take(4) is None
    incoming.feed(piece(1, b"de"))
    assert incoming.take(4) == b"abcd"
    assert incoming.take(1) == b"e"


# --- the channel ----------------------------------------------------------------------------


def soon(seconds=20.0):
    return time.monotonic() + seconds


def test_bytes_arrive_through_crumbs_and_noise():
    def echo(stream, send):
        for byte in stream.read(4):
            for crumb in piece(1, bytes([byte, byte])) + piece(2, b"a warning\n"):
                send(bytes([crumb]))
        stream.read()

    engine = Engine(echo)
    channel = DockerChannel(engine, "c1")
    channel.send(b"\xff\x00")
    channel.send(b"ab")
    assert channel.receive(3, soon()) == b"\xff\xff\x00"
    assert channel.receive(0, soon()) == b""
    assert channel.receive(5, soon()) == b"\x00aabb"
    channel.close()
    channel.close()
    assert engine.started == engine.removed == ["c1"]


def test_a_large_answer_arrives_whole():
    content = bytes(range(256)) * 12_000

    def answer(stream, send):
        send(piece(1, content[:1000]) + piece(1, content[1000:]))
        stream.read()

    channel = DockerChannel(Engine(answer), "c1")
    assert channel.receive(len(content), soon(60)) == content
    channel.close()


def test_the_end_of_the_container_is_an_error_with_its_last_words():
    def die(stream, send):
        send(piece(2, b"Traceback ...\nOSError: no room\n"))

    channel = DockerChannel(Engine(die), "c1")
    with pytest.raises(SandboxError, match=r"137, out of memory\): OSError: no room"):
        channel.receive(1, soon())
    channel.close()


def test_silence_is_an_error():
    channel = DockerChannel(Engine(lambda stream, send: stream.read()), "c1")
    with pytest.raises(SandboxError, match="did not answer in time"):
        channel.receive(1, soon(0.05))
    channel.close()


def test_closing_wakes_whoever_waits():
    channel = DockerChannel(Engine(lambda stream, send: stream.read()), "c1")
    said = []

    def wait():
        with pytest.raises(SandboxError) as caught:
            channel.receive(1, soon(60))
        said.append(str(caught.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    channel.close()
    waiting.join(20)
    assert said
    assert "in time" not in said[0]


def test_a_forked_child_forgets_without_removing():
    engine = Engine(lambda stream, send: stream.read())
    channel = DockerChannel(engine, "c1")
    channel.forget()
    channel.close()
    assert engine.removed == []


def test_a_container_that_does_not_start_is_removed(client):
    engine = Engine(None)

    def refuse(container):
        raise client.errors.APIError("no such runtime")

    engine.start = refuse
    with pytest.raises(client.errors.APIError):
        DockerChannel(engine, "c1")
    engine.there.close()
    assert engine.removed == ["c1"]


def test_the_bootstrap_runs_what_it_is_sent_and_leaves_the_rest():
    program = b"import os; print(__name__, os.read(0, 5))"
    answer = subprocess.run(
        [sys.executable, "-s", "-S", "-c", slot.BOOTSTRAP],
        input=frame(program) + b"frame",
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert answer.stdout.split() == [b"__main__", b"b'frame'"]


# --- whose a container is -------------------------------------------------------------------


def test_owners_are_told_apart():
    child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    alive = docker_engine.owner_of(child.pid)
    assert not docker_engine.is_left_over(alive)
    boot, place, began = alive.split()
    assert docker_engine.is_left_over(f"{boot} {place} {int(began) - 1}"), "the number was reused"
    assert not docker_engine.is_left_over(f"another-boot {place} {began}")
    assert not docker_engine.is_left_over(f"{boot} 1:{child.pid} {began}"), "not our pid namespace"
    child.communicate()
    assert docker_engine.is_left_over(alive)


@pytest.mark.parametrize("label", ["", "x", "a b c", "a b:c d"])
def test_a_strange_label_is_left_alone(label):
    assert not docker_engine.is_left_over(label)


def test_only_leftovers_are_removed():
    mine, dead = docker_engine.owner_of(1), docker_engine.owner_of(2**22 + 1)

    class Listing(Engine):
        def containers(self, *, all, filters):  # noqa: A002 - the client's name
            assert all
            assert filters == {"label": docker_engine.OWNER_LABEL}
            labels = [{docker_engine.OWNER_LABEL: owner} for owner in (mine, f"{dead} 7")]
            return [{"Id": str(i), "Labels": found} for i, found in enumerate([*labels, None])]

    engine = Listing(None)
    docker_engine.remove_leftovers(engine)
    assert engine.removed == ["1"]


def test_removal_waits_for_another_remover(client):
    answers = iter(["removal of container c1 is already in progress"] * 3)

    class Busy:
        asked = 0

        def remove_container(self, container, *, force, v):
            self.asked += 1
            text = next(answers, None)
            raise client.errors.APIError(text) if text else client.errors.NotFound("gone")

    engine = Busy()
    docker_engine.remove(engine, "c1")
    assert engine.asked == 4


# --- where the engine is --------------------------------------------------------------------


def test_the_environment_names_the_engine(monkeypatch):
    monkeypatch.delenv("RLVR_DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "tcp://b:1")
    assert docker_engine.usual_host() == "tcp://b:1"
    monkeypatch.setenv("RLVR_DOCKER_HOST", "unix:///a")
    assert docker_engine.usual_host() == "unix:///a"
    assert DockerOptions().resolved().host == "unix:///a"
    assert DockerOptions(host="tcp://c:1").resolved().host == "tcp://c:1"


def test_a_rootless_socket_is_found(monkeypatch, tmp_path):
    monkeypatch.delenv("RLVR_DOCKER_HOST", raising=False)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(docker_engine, "_is_socket", lambda path: path.is_relative_to(tmp_path))
    assert docker_engine.usual_host() == f"unix://{tmp_path}/docker.sock"


def test_the_default_image_follows_the_engine(monkeypatch):
    monkeypatch.delenv("RLVR_DOCKER_IMAGE", raising=False)
    assert DockerOptions(host="unix:///x").resolved().image == "host"
    assert DockerOptions(host="tcp://x:1").resolved().image == "python"
    monkeypatch.setenv("RLVR_DOCKER_IMAGE", "gcc:13")
    assert DockerOptions(host="unix:///x").resolved().image == "gcc:13"


@pytest.mark.parametrize("wrong", [{"memory_mib": 0}, {"processes": -1}, {"cpus": 0.0}])
def test_limits_are_above_zero(wrong):
    with pytest.raises(ConfigError, match="above 0"):
        DockerOptions(**wrong)


# --- what is said where it does not work ----------------------------------------------------


def refusal(**options):
    with pytest.raises(SandboxUnavailable) as caught:
        DockerBackend(DockerOptions(**options)).start()
    return str(caught.value)


def test_a_missing_client_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "docker", None)
    assert "pip install 'docker>=" in refusal(host="unix:///x")


def test_a_missing_socket(tmp_path):
    said = refusal(host=f"unix://{tmp_path}/docker.sock")
    assert "no such socket" in said
    assert "RLVR_DOCKER_HOST" in said


@pytest.fixture
def short_path():
    """A folder whose name leaves room for a socket's, which has at most 107 characters."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_a_socket_without_an_engine(short_path):
    path = short_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    assert "nobody listens" in refusal(host=f"unix://{path}")


def test_a_socket_of_another_group(monkeypatch):
    class Forbidden(socket.socket):
        def connect(self, address):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(docker_engine.socket, "socket", Forbidden)
    assert "join the group" in refusal(host="unix:///run/docker.sock")


def test_an_engine_that_is_no_engine(short_path):
    path = short_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def hang_up():
            for _ in range(2):
                server.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        assert "no docker engine answers" in refusal(host=f"unix://{path}")


class Empty:
    """An engine that has nothing."""

    def containers(self, **_):
        return []

    def images(self, **_):
        return []


def test_a_missing_image(monkeypatch):
    monkeypatch.setattr(docker_engine, "connect", lambda host: Empty())
    assert "docker pull nothing:1" in refusal(host="unix:///x", image="nothing:1")


def test_a_host_image_on_a_remote_engine(monkeypatch):
    monkeypatch.setattr(docker_engine, "connect", lambda host: Empty())
    assert "image='python'" in refusal(host="tcp://x:1", image="host")


def test_after_a_failure_the_engine_is_asked_for_everything_again(monkeypatch, client):
    class Restarted(Empty):
        def images(self, **_):
            return ["there"]

        def version(self):
            return {}

        def create_host_config(self, **_):
            return {}

        def create_container(self, *_, **__):
            raise client.errors.ImageNotFound("it was there before")

    asked = []
    monkeypatch.setattr(docker_engine, "connect", lambda host: asked.append(host) or Restarted())
    backend = DockerBackend(DockerOptions(host="unix:///x"))
    for _ in range(2):
        with pytest.raises(SandboxUnavailable, match="it was there before"):
            backend.start()
    assert len(asked) == 2


def test_an_engine_that_refuses(monkeypatch, client):
    class Angry(Empty):
        def containers(self, **_):
            raise client.errors.APIError("not allowed")

    monkeypatch.setattr(docker_engine, "connect", lambda host: Angry())
    assert "refused: not allowed" in refusal(host="unix:///x")


# --- the walls ------------------------------------------------------------------------------


def created(monkeypatch, client, *, engine="Engine", **options):
    """Return what the engine would be asked to create."""

    class Recorder(client.APIClient):
        def version(self, api_version=True):
            return {"Components": [{"Name": engine}]}

        def containers(self, **_):
            return []

        def images(self, **_):
            return ["there"]

        def create_container_from_config(self, config, name=None, platform=None):
            self.config = config
            raise client.errors.APIError("enough")

    recorder = Recorder(base_url="unix:///nowhere", version="1.41")
    monkeypatch.setattr(docker_engine, "connect", lambda host: recorder)
    assert "enough" in refusal(host="unix:///nowhere", **options)
    return recorder.config


def test_precompiled_headers_of_this_machine_are_shown_to_its_own_compilers(
    monkeypatch, client, tmp_path
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(headers, "find_tool", lambda tool: f"/usr/bin/{tool}")
    shown = f"{tmp_path.resolve()}/rlvr_envs/headers:{headers.PLACE}:ro"
    assert shown in created(monkeypatch, client)["HostConfig"]["Binds"]
    assert not created(monkeypatch, client, image="gcc:13")["HostConfig"].get("Binds")
    folder = "/var/cache/headers"
    assert DockerBackend(DockerOptions(image="host")).headers_at(folder) == headers.PLACE
    assert DockerBackend(DockerOptions(image="gcc:13")).headers_at(folder) == ""


def test_every_wall_is_asked_for(monkeypatch, client):
    config = created(monkeypatch, client, memory_mib=512, processes=99, disk_mib=32, cpus=1.5)
    host = config["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["Memory"] == host["MemorySwap"] == 512 << 20
    assert host["PidsLimit"] == 99
    assert host["NanoCpus"] == 1_500_000_000
    assert host["IpcMode"] == "none"
    assert host["AutoRemove"] is True
    assert host["Init"] is False
    assert host["LogConfig"]["Type"] == "none"
    assert {limit["Name"] for limit in host["Ulimits"]} == {"nofile", "nproc", "core"}
    assert "Privileged" not in host
    assert all(bind.endswith(":ro") for bind in host["Binds"])
    for room in host["Tmpfs"].values():
        assert {"exec", "size=32m", "mode=1777", "nosuid", "nodev"} <= set(room.split(","))
    uid, gid = map(int, config["User"].split(":"))
    assert uid == gid >= 20_000
    assert config["StdinOnce"] is config["OpenStdin"] is True
    assert config["Tty"] is False


def test_podman_is_not_asked_for_what_it_refuses(monkeypatch, client):
    config = created(monkeypatch, client, engine="Podman Engine")
    assert "nr_inodes" not in str(config["HostConfig"]["Tmpfs"])
    config = created(monkeypatch, client)
    assert "nr_inodes" in str(config["HostConfig"]["Tmpfs"])


def test_a_runtime_is_passed_through(monkeypatch, client):
    assert created(monkeypatch, client, runtime="runsc")["HostConfig"]["Runtime"] == "runsc"


def test_podman_would_ignore_a_runtime(monkeypatch):
    class Podman(Empty):
        def version(self):
            return {"Components": [{"Name": "Podman Engine"}]}

    monkeypatch.setattr(docker_engine, "connect", lambda host: Podman())
    assert "would ignore 'runsc'" in refusal(host="unix:///x", runtime="runsc")


def test_a_named_image_sees_nothing_of_the_machine(monkeypatch, client):
    config = created(monkeypatch, client, image="gcc:13")
    assert not config["HostConfig"].get("Binds")
    assert config["Image"] == "gcc:13"
    assert config["Entrypoint"][0] == "python3"


# --- images ---------------------------------------------------------------------------------


class Importer:
    """An engine that remembers what was imported."""

    def __init__(self):
        self.imported = {}

    def images(self, *, name, quiet):
        return [name] if name in self.imported else []

    def import_image_from_data(self, data, *, repository, tag):
        self.imported[repository] = data
        return '{"status":"sha256:1"}'


def test_the_skeleton_is_imported_once_and_open_where_it_must_be():
    engine = Importer()
    name = docker_image.ensure_host_image(engine)
    first = engine.imported[name]
    assert docker_image.ensure_host_image(engine) == name
    assert engine.imported == {name: first}
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        modes = {entry.name: entry.mode for entry in tar if entry.isdir()}
    assert modes["tmp"] == modes["work"] == 0o1777
    assert modes["etc"] == 0o755


def test_the_python_image_holds_what_python_loads(tmp_path):
    engine = Importer()
    python = interpreter()[0]
    name = docker_image.ensure_python_image(engine, python)
    with tarfile.open(fileobj=io.BytesIO(engine.imported[name])) as tar:
        names = tar.getnames()
    assert python.lstrip("/") in names
    assert any(name.endswith("/heapq.py") for name in names)
    assert any("libc.so" in name for name in names)
    assert any("ld-linux" in name for name in names)
    assert not any("/idlelib/" in name for name in names)
    assert len(names) == len(set(names))


def test_a_python_that_does_not_run_is_said_to():
    with pytest.raises(SandboxUnavailable, match="does not run"):
        docker_image.ensure_python_image(Importer(), "/no/such/python3")


def test_an_engine_that_does_not_import():
    class Full(Importer):
        def import_image_from_data(self, data, *, repository, tag):
            return '{"error":"no space left on device"}'

    with pytest.raises(SandboxUnavailable, match="no space left"):
        docker_image.ensure_host_image(Full())


def test_the_client_library_is_loaded_only_when_used():
    code = "import sys; import rlvr_envs.sandboxes.docker; print('docker' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=120
    )
    assert answer.stdout == "False\n"
    assert docker.DockerBackend.name == "docker"


def test_a_start_that_never_answers_is_unavailable(monkeypatch):
    backend = DockerBackend(DockerOptions(host="unix:///x"))
    engine = Engine(lambda stream, send: stream.read())
    monkeypatch.setattr(backend, "_reach", lambda: setattr(backend, "_api", engine))
    monkeypatch.setattr(backend, "_create", lambda: "c1")
    monkeypatch.setattr(docker, "START_TIMEOUT_S", 0.05)
    with pytest.raises(SandboxUnavailable, match="did not answer in time"):
        backend.start()
    assert engine.removed == ["c1"]
