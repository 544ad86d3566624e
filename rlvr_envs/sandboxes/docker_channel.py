"""The channel to a slot server that is the first process of a container."""

import os
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from typing import Any

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.sandboxes import docker_engine, slot
from rlvr_envs.sandboxes.backend import START_TIMEOUT_S, Channel

STDERR_KEPT = 4096


class Demultiplexer:
    """Takes the engine's stream apart: standard output, and the end of standard error.

    The engine sends pieces: a byte for the stream, three of nothing, four of length, the content.
    They arrive cut anywhere.
    """

    def __init__(self) -> None:
        self.stdout = bytearray()
        self._stderr: deque[int] = deque(maxlen=STDERR_KEPT)
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in what has arrived."""
        at, rest = 0, self._rest
        rest += data
        while len(rest) - at >= 8:
            stream, length = struct.unpack_from(">BxxxI", rest, at)
            if len(rest) - at - 8 < length:
                break
            content = rest[at + 8 : at + 8 + length]
            if stream == 1:
                self.stdout += content
            else:
                self._stderr.extend(content)
            at += 8 + length
        del rest[:at]

    def take(self, count: int) -> bytes | None:
        """Return that much of the standard output, or None if it is not all here."""
        if len(self.stdout) < count:
            return None
        taken = bytes(self.stdout[:count])
        del self.stdout[:count]
        return taken

    @property
    def stderr(self) -> str:
        """The end of the standard error."""
        return bytes(self._stderr).decode("utf-8", "replace").strip()


class DockerChannel(Channel):
    """Starts a container that was created, and speaks with its first process.

    Closing the connection closes that process's standard input, which ends it: a container does
    not outlive its client, however the client ends.

    Args:
        api: the engine's client.
        container: the id of a container with `slot.BOOTSTRAP` as its program.
    """

    def __init__(self, api: Any, container: str) -> None:
        self._api, self._container = api, container
        self._incoming = Demultiplexer()
        self._attached: Any = None
        try:
            streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            self._attached = api.attach_socket(container, params=streams)
            self._socket: socket.socket = getattr(self._attached, "_sock", self._attached)
            api.start(container)
            self.send(slot.program())
        except BaseException:
            self.close()
            raise

    def send(self, frame: bytes) -> None:
        try:
            self._socket.settimeout(START_TIMEOUT_S)
            self._socket.sendall(frame)
        except OSError as error:
            raise SandboxError(f"the container is gone: {error}{self._last_words()}") from error

    def receive(self, count: int, deadline: float) -> bytes:
        while (taken := self._incoming.take(count)) is None:
            try:
                self._socket.settimeout(max(0.001, deadline - time.monotonic()))
                part = self._socket.recv(1 << 20)
            except TimeoutError as error:
                words = self._last_words()
                raise SandboxError(f"the container did not answer in time{words}") from error
            except OSError as error:
                raise SandboxError(f"the container is gone: {error}{self._last_words()}") from error
            if not part:
                raise SandboxError(f"the container ended{self._how()}{self._last_words()}")
            self._incoming.feed(part)
        return taken

    def close(self) -> None:
        if self._attached is not None:
            with suppress(OSError):  # wakes a thread that is waiting for an answer
                self._socket.shutdown(socket.SHUT_RDWR)
        self._detach()
        container, self._container = self._container, ""
        if container:
            docker_engine.remove(self._api, container)

    def forget(self) -> None:
        self._container = ""
        self._detach()

    def _detach(self) -> None:
        attached, self._attached = self._attached, None
        if attached is not None:
            attached.close()
            self._socket.close()

    def _last_words(self) -> str:
        words = self._incoming.stderr
        return f": {words.splitlines()[-1]}" if words else ""

    def _how(self) -> str:
        """Return how the container ended, if the engine still knows: it removes it at once."""
        try:
            state = self._api.inspect_container(self._container)["State"]
        except (docker_engine.engine_error(), OSError, KeyError):
            return ""
        if state.get("Running"):
            return ""
        memory = ", out of memory" if state.get("OOMKilled") else ""
        return f" (exit status {state.get('ExitCode')}{memory})"


def command(python: str) -> list[str]:
    """Return the command of a container, as `LocalChannel` starts a slot, and why."""
    return [python, "-s", "-S", "-B", "-X", "utf8", "-c", slot.BOOTSTRAP]


def label() -> dict[str, str]:
    """Return the label that says whose a container is."""
    return {docker_engine.OWNER_LABEL: docker_engine.owner_of(os.getpid())}
