"""The child side of `rlvr_envs.core.workers`: a fork server and the workers it forks.

The fork server is a clean interpreter with one thread. It runs no verifier: it imports modules
once, forks a worker when told to, and reaps what its owner has killed. When its owner goes away,
however that happens, it reads end-of-file and exits, and the kernel kills its workers with it,
busy or not. Every message is a frame: eight bytes of length, then a pickle or nothing.
"""

import ctypes
import gc
import importlib
import os
import pickle
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, reduce
from pathlib import Path
from typing import Any, Final

VALUE: Final = "value"
ERROR: Final = "error"
MEMORY: Final = "memory"
TIMEOUT: Final = "timeout"
READY: Final = b""  # the frame that says: imports are done, the first item starts now

HEADER = struct.Struct(">Q")
_DETAIL_LIMIT = 2000  # characters of an exception's text that are passed on
_PR_SET_PDEATHSIG = 1
# The kernel's timer counts CPU time by ticks and may be some percent early or late. So the clock
# of the process decides, exactly, about an item that ends; the timer ends one that does not.
TIMER_SLACK = 1.5


def send(channel: socket.socket, payload: bytes) -> None:
    """Write one frame."""
    channel.sendall(HEADER.pack(len(payload)) + payload)


def receive(channel: socket.socket) -> bytes | None:
    """Read one frame, or None at the end of the stream."""
    header = _exactly(channel, HEADER.size)
    return None if header is None else _exactly(channel, HEADER.unpack(header)[0])


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        piece = channel.recv(min(size - len(parts), 1 << 20))
        if not piece:
            return None
        parts += piece
    return bytes(parts)


def serve(control_fd: int) -> None:
    """Run the fork server until its owner closes the control socket."""
    control = socket.socket(fileno=control_fd)
    libc = ctypes.CDLL(None, use_errno=True)
    send(control, READY)
    _silence()
    workers: set[int] = set()
    try:
        while (request := receive(control)) is not None:
            command, *arguments = pickle.loads(request)  # noqa: S301 - sent by our own parent
            if command == "spawn":
                _spawn(control, workers, libc, *arguments)
            else:
                send(control, pickle.dumps(_reap(workers, *arguments)))
    finally:
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _silence() -> None:
    """Send what verifiers print to nowhere, once nothing more can fail with a useful message."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def _spawn(
    control: socket.socket,
    workers: set[int],
    libc: ctypes.CDLL,
    modules: Iterable[str],
    memory_mib: int | None,
) -> None:
    _, (fd, *_), _, _ = socket.recv_fds(control, 1, 1)
    for name in modules:
        # A module that cannot be imported fails again, with its message, in the worker.
        with suppress(Exception):
            load(name)
    gc.freeze()  # pages of long-lived objects stay shared with the workers
    server = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        send(control, pickle.dumps(str(error)))
        os.close(fd)
        return
    if pid == 0:
        status = 1
        try:
            control.close()
            _die_with(server, libc)
            _limit(memory_mib)
            work(socket.socket(fileno=fd))
            status = 0
        finally:
            os._exit(status)
    os.close(fd)
    workers.add(pid)
    send(control, pickle.dumps(pid))


def _die_with(server: int, libc: ctypes.CDLL) -> None:
    """Ask the kernel to kill this process when the fork server ends.

    The signal follows the end of the parent *thread*. That is safe here, and would not be with
    a worker started from a pool's caller: the fork server has one thread only.
    """
    if sys.platform == "linux":
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # it ended before the kernel was asked
        os._exit(1)


def _limit(memory_mib: int | None) -> None:
    """Allow ``memory_mib`` beyond what is mapped now; where that cannot be limited, go on."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_mib is None:
        return
    with suppress(OSError, ValueError):  # macOS refuses RLIMIT_AS and has no /proc
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        size = mapped + (memory_mib << 20)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _reap(workers: set[int], pid: int) -> int | None:
    """Wait for a killed worker; return its exit code, negative for a signal."""
    if pid not in workers:
        return None
    workers.remove(pid)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def load(name: str) -> Any:
    """Import a module and what its ``WORKER_PRELOAD`` names."""
    module = importlib.import_module(name)
    for other in getattr(module, "WORKER_PRELOAD", ()):
        importlib.import_module(other)
    return module


@cache
def _resolve(function: str) -> Callable[..., object]:
    module, _, qualname = function.partition(":")
    found: Callable[..., object] = reduce(getattr, qualname.split("."), load(module))
    return found


def work(channel: socket.socket) -> None:
    """Answer requests until the channel closes: READY, then one reply an item as it ends."""
    # Whoever started the fork server may have blocked or ignored the signal that ends an item.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
    while (request := receive(channel)) is not None:
        name, items, cpu_s = pickle.loads(request)  # noqa: S301 - sent by our own parent
        problem: BaseException | None = None
        try:
            _resolve(name)
        except BaseException as error:  # noqa: BLE001 - whatever an import raises is reported
            problem = error
        send(channel, READY)
        for item in items:
            send(channel, _limited(name, item, cpu_s, problem))


def _limited(name: str, item: bytes, cpu_s: float, problem: BaseException | None) -> bytes:
    """Return the reply to one item; one that does not end within its CPU time ends the process.

    The signal of the timer has no handler: its default action ends the process even while C code
    holds the interpreter lock.
    """
    before = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, TIMER_SLACK * cpu_s)
    kind, payload = _attempt(name, item) if problem is None else (ERROR, _text(problem))
    try:
        reply = pickle.dumps((kind, payload))
    except MemoryError:
        reply = pickle.dumps((MEMORY, ""))
    except Exception as error:  # noqa: BLE001 - pickling runs the result's own code
        reply = pickle.dumps((ERROR, f"the result of {name} cannot be sent: {_text(error)}"))
    signal.setitimer(signal.ITIMER_PROF, 0)
    used = time.process_time() - before
    return reply if used <= cpu_s else pickle.dumps((TIMEOUT, ""))


def _attempt(name: str, item: bytes) -> tuple[str, object]:
    try:
        return VALUE, _resolve(name)(*pickle.loads(item))  # noqa: S301 - sent by our own parent
    except MemoryError:
        return MEMORY, ""
    except BaseException as error:  # noqa: BLE001 - SystemExit too must not end the worker
        return ERROR, _text(error)


def _text(error: BaseException) -> str:
    try:
        told = str(error)
    except Exception:  # noqa: BLE001 - the text of a foreign exception is foreign code
        told = "(its text cannot be read)"
    return f"{type(error).__name__}: {told}"[:_DETAIL_LIMIT]
