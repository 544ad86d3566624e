"""The parent's handles on the fork server and its workers; `rlvr_envs.core.workers` owns both."""

import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import IO, cast

from rlvr_envs.core import _worker
from rlvr_envs.core.errors import WorkerDied

START_LIMIT_S = 300.0  # a guard for imports, which count against no item's limit

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from rlvr_envs.core._worker import serve; serve(int(sys.argv[2]))"
)
_ENVIRONMENT = {
    # One thread each: workers are the parallelism, and thread stacks would eat the memory limit.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # How long sympy works depends on the order of its sets, which must not differ between runs.
    "PYTHONHASHSEED": "0",
}


class ForkServer:
    """The parent's handle on one fork server; the pool serialises the calls."""

    def __init__(self) -> None:
        if not sys.executable:
            raise WorkerDied("workers need a Python interpreter, and sys.executable names none")
        self._control, theirs = socket.socketpair()
        path = json.dumps([str(entry) or os.getcwd() for entry in sys.path])  # noqa: PTH109
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                [sys.executable, "-c", _BOOT, path, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env=os.environ | _ENVIRONMENT,
                start_new_session=True,  # Ctrl-C in a terminal is the parent's business
            )
        self._control.settimeout(START_LIMIT_S)
        with cast(IO[bytes], self.process.stderr) as errors:
            try:
                ready = _worker.receive(self._control)
            except OSError:
                ready = None
            if ready is None:
                self.process.kill()
                told = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                self.close()
                raise WorkerDied(f"the fork server of the worker pool did not start: {told}")

    def spawn(self, modules: tuple[str, ...], memory_mib: int | None) -> "Worker":
        """Fork a worker that has imported these modules."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                answer = self._ask("spawn", modules, memory_mib, fd=theirs.fileno())
        except BaseException:
            ours.close()
            raise
        if isinstance(answer, int):
            return Worker(self, answer, ours)
        ours.close()
        raise WorkerDied(f"a worker could not be forked: {answer}")

    def reap(self, pid: int) -> object:
        """Wait for a killed worker and return its exit code, or None if nobody knows it."""
        with suppress(OSError, EOFError):
            return self._ask("reap", pid)
        return None

    def _ask(self, *request: object, fd: int | None = None) -> object:
        try:
            _worker.send(self._control, pickle.dumps(request))
            if fd is not None:
                socket.send_fds(self._control, [b"f"], [fd])
            reply = _worker.receive(self._control)
        except BaseException:
            # A reply that comes later would be taken for the reply to another request.
            self.process.kill()
            self._control.close()
            raise
        if reply is None:
            raise EOFError("the fork server ended")
        answer: object = pickle.loads(reply)  # noqa: S301 - sent by our own child
        return answer

    def close(self) -> None:
        """End the server, and with it every worker."""
        self._control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def forget(self) -> None:
        """Let go of the server in a forked child, where it belongs to the parent."""
        self._control.close()
        self.process.returncode = 0  # the child is not its parent and cannot wait for it


class Worker:
    """The parent's end of one worker."""

    __slots__ = ("_buffer", "channel", "pid", "served", "server")

    def __init__(self, server: ForkServer, pid: int, channel: socket.socket) -> None:
        self.server = server
        self.pid = pid
        self.channel = channel
        self.served = 0
        self._buffer = bytearray()
        channel.settimeout(START_LIMIT_S)

    def lost(self) -> bool:
        """Whether an idle worker has gone: it has nothing to say, so only its end is readable."""
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        return bool(poll.poll(0))

    def read(self) -> list[bytes] | None:
        """Return the frames that have come; None when the worker ended."""
        try:
            piece = self.channel.recv(1 << 20)
        except OSError:
            return None
        if not piece:
            return None
        self._buffer += piece
        frames, start, header = [], 0, _worker.HEADER
        while len(self._buffer) - start >= header.size:
            (size,) = header.unpack_from(self._buffer, start)
            end = start + header.size + size
            if end > len(self._buffer):
                break
            frames.append(bytes(memoryview(self._buffer)[start + header.size : end]))
            start = end
        del self._buffer[:start]
        return frames

    def kill(self) -> None:
        """Kill the process, which stays known until the fork server is told to reap it."""
        # With the fork server gone the worker is gone too, and its process id is no longer ours.
        if self.server.process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
