"""What every backend is: a way to start slot servers; and the channel to one of them."""

import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from rlvr_envs.core.errors import SandboxError, SandboxUnavailable
from rlvr_envs.sandboxes import headers, slot
from rlvr_envs.sandboxes.toolchains import closure, python_needs

# A slot that is not ready by then, on however loaded a machine, never will be.
START_TIMEOUT_S = 30.0

# No honest answer of a slot is larger: outputs and collected files are limited.
MAX_FRAME_BYTES = 1 << 30

# What jobs see of the machine, read-only: programs, libraries, and the few files below /etc
# without which a toolchain does not start.
SHOWN = (
    "/usr",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/R",
    "/etc/java-11-openjdk",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/java-25-openjdk",
    "/etc/ssl/openssl.cnf",
    "/etc/perl",
    "/etc/nsswitch.conf",
)


class Channel(ABC):
    """A connection to one slot server; used by one thread at a time."""

    @abstractmethod
    def send(self, frame: bytes) -> None:
        """Send bytes.

        Raises:
            SandboxError: the slot is gone.
        """

    @abstractmethod
    def receive(self, count: int, deadline: float) -> bytes:
        """Return exactly that many bytes, by a deadline of `time.monotonic`.

        Raises:
            SandboxError: the slot is gone, or did not answer in time.
        """

    @abstractmethod
    def close(self) -> None:
        """End the slot and everything in it; may be called again."""

    @abstractmethod
    def forget(self) -> None:
        """Drop the connection that a forked child inherited, without ending the parent's slot."""

    def ask(
        self, message: Mapping[str, Any], timeout_s: float, blobs: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a message with the blobs that it refers to by number; return the same of the answer.

        Raises:
            SandboxError: the slot is gone, broke, or did not answer in time.
        """
        head = {**message, "blobs": [len(blob) for blob in blobs]}
        text = json.dumps(head).encode()
        deadline = time.monotonic() + timeout_s
        self.send(b"".join((struct.pack(">II", len(text), sum(head["blobs"])), text, *blobs)))
        words, size = struct.unpack(">II", self.receive(8, deadline))
        if words + size > MAX_FRAME_BYTES:
            raise SandboxError(f"the slot announced an answer of {words + size} bytes")
        answer = json.loads(self.receive(words, deadline))
        data = self.receive(size, deadline)
        parts, start = [], 0
        for length in answer.pop("blobs"):
            parts.append(data[start : start + length])
            start += length
        return answer, parts


class Backend(ABC):
    """Starts slots; holds no running thing itself.

    Attributes:
        name: what the user calls it.
        isolation: what keeps jobs in, in a few words; every result carries it.
        accounted_by_kernel: whether the kernel counts what a job uses, in a cgroup; None before
            the first slot has started.
        hides_programs: whether a job that states its programs can run no other, likewise.
        same_programs: whether jobs see the programs of this machine, at the same paths.
    """

    same_programs: bool = False
    name: ClassVar[str]
    isolation: ClassVar[str]
    accounted_by_kernel: bool | None = None
    hides_programs: bool | None = None

    def headers_at(self, folder: str) -> str:
        """Return where compilers see the folder of precompiled headers; empty if they do not."""
        return ""

    @abstractmethod
    def start(self) -> Channel:
        """Start a slot and return the channel to it, ready for jobs.

        Raises:
            SandboxUnavailable: this backend does not work here; the message says why and what to
                install.
        """


class LocalChannel(Channel):
    """A slot server on this machine, reached through a socket."""

    def __init__(self, python: str) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        # -I would also ignore PYTHONHASHSEED, and a program that prints a set would get another
        # verdict from another slot. The environment is empty otherwise, the server takes the
        # current directory off sys.path, and -s and -S leave out all that a user installed.
        argv = [python, "-s", "-S", "-B", "-X", "utf8", "-c", slot.BOOTSTRAP]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - a fixed command
                argv,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"},
                cwd="/",
                start_new_session=True,
            )
        try:
            self.send(slot.program())
        except SandboxError:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process that stands guard over the slot."""
        return self._process.pid

    def send(self, frame: bytes) -> None:
        try:
            self._socket.settimeout(START_TIMEOUT_S)
            self._socket.sendall(frame)
        except OSError as error:
            raise SandboxError(f"the slot is gone{self._last_words()}") from error

    def receive(self, count: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                part = self._socket.recv(min(count - len(parts), 1 << 20))
            except TimeoutError as error:
                raise SandboxError("the slot did not answer in time") from error
            except OSError as error:
                raise SandboxError(f"the slot is gone ({error})") from error
            if not part:
                raise SandboxError(f"the slot is gone{self._last_words()}")
            parts += part
        return bytes(parts)

    def _last_words(self) -> str:
        """Return what the server wrote to its standard error, if it wrote anything."""
        stderr = self._process.stderr
        if stderr is None or not select.select([stderr], [], [], 0.2)[0]:
            return ""
        words = os.read(stderr.fileno(), 4096).decode(errors="replace").strip()
        return f": {words.splitlines()[-1]}" if words else ""

    def close(self) -> None:
        self._socket.close()
        try:
            self._process.wait(timeout=5.0)  # the guard ends what is left and cleans up
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def forget(self) -> None:
        self._socket.close()
        self._process.returncode = 0  # not our child: there is nothing to wait for
        if self._process.stderr is not None:
            self._process.stderr.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preload:
    """Modules that the interpreter of a slot has loaded, so that the jobs forked from it have them.

    They may be extension modules of this process's Python, which the slots run on then. Only what
    is loaded already works in a job: the folders themselves are not shown to it.

    Attributes:
        modules: the names to import, in order.
        folders: where they are found, after the standard library.
        files: path here → path at which jobs may read and execute it, see `LocalBackend.place`.
    """

    modules: tuple[str, ...]
    folders: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)


class LocalBackend(Backend):
    """A backend that starts its slots on this machine.

    Args:
        shown: paths that jobs may read beside the usual ones.
        preload: what the interpreter of the slots loads beforehand.
        cgroups: whether the kernel counts what jobs use, where a cgroup may be made.
    """

    tier: ClassVar[str]
    same_programs = True

    def __init__(
        self,
        shown: tuple[str, ...] = (),
        *,
        preload: Preload | None = None,
        cgroups: bool = True,
    ) -> None:
        self._cgroups = cgroups
        self._shown = shown
        self._preload = preload

    def place(self, path: str) -> str:
        """Return where jobs find a file of the preload: only a root of their own can move it."""
        if self._preload is None or self.tier != "namespaces":
            return path
        return self._preload.files[path]

    def headers_at(self, folder: str) -> str:
        return {"namespaces": headers.PLACE, "landlock": folder}.get(self.tier, "")

    def start(self) -> Channel:
        if sys.platform != "linux":
            raise SandboxUnavailable(
                f"the {self.name} sandbox needs Linux, this is {sys.platform}: use the docker one"
            )
        preload = self._preload
        python, prefix = interpreter() if preload is None else own_interpreter()
        channel = LocalChannel(python)
        start: dict[str, Any] = {
            "tier": self.tier,
            "client": os.getpid(),
            "outer_id": _unused_id(channel.pid),
            "shown": [*SHOWN, *prefix, *self._shown],
            "usual": [*SHOWN[1:], *self._shown],
            "python": closure(python_needs(python)),
            "scratch": _scratch(),
            "cgroups": self._cgroups,
        }
        placed: dict[str, str] = {}
        if preload is not None:
            placed = {path: self.place(path) for path in preload.files}
            start["modules"], start["folders"] = preload.modules, preload.folders
            start["usual"] += placed.values()
        folder = headers.top_folder()
        if folder is not None and (place := self.headers_at(str(folder))):
            placed[str(folder)] = place
        start["placed"] = placed
        try:
            answer, _ = channel.ask(start, START_TIMEOUT_S)
        except SandboxError as error:
            channel.close()
            raise SandboxUnavailable(f"the {self.name} sandbox does not start: {error}") from error
        if "error" in answer:
            channel.close()
            raise SandboxUnavailable(
                f"the {self.name} sandbox does not work here: {answer['error']}{self.advice()}"
            )
        self.accounted_by_kernel = answer["accounted"]
        self.hides_programs = answer["landlock"] >= 1 and self.tier != "process"
        return channel

    def advice(self) -> str:
        """Return what to do where this backend does not work."""
        return ""


def _unused_id(pid: int) -> int:
    """Return a user id that no account has and no other slot uses."""
    return 1_000_000 + pid


def _scratch() -> str:
    import tempfile

    return tempfile.gettempdir()


@lru_cache(maxsize=1)
def interpreter() -> tuple[str, tuple[str, ...]]:
    """Return the Python that runs slots, and what has to be shown for it.

    The system's is preferred: it lies where jobs can see it, and forks faster than a larger one.
    """
    for path in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if _is_recent(path):
            return path, ()
    return own_interpreter()


def own_interpreter() -> tuple[str, tuple[str, ...]]:
    """Return the Python that runs this process, outside its virtual environment, likewise."""
    base = Path(sys.base_prefix).resolve()
    return str(Path(sys._base_executable).resolve()), (str(base),)  # type: ignore[attr-defined]


def _is_recent(path: str) -> bool:
    if not os.access(path, os.X_OK):
        return False
    with suppress(OSError, subprocess.SubprocessError):
        code = "import sys; sys.exit(sys.version_info < (3, 9))"
        command = [path, "-I", "-S", "-c", code]
        return subprocess.run(command, check=False, timeout=20).returncode == 0  # noqa: S603
    return False
