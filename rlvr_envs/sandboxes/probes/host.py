"""What the host keeps ready to see whether a program got out: baits, and a view of processes.

Everything here is readable, writable and reachable by anyone, so that nothing but the sandbox
keeps a program from it.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from rlvr_envs.sandboxes.backend import interpreter

_OURS = {"bait.txt", "bait.socket", "datagram.socket"}

# It reports each signal that reaches it, and holds a secret at an address that it tells.
_BAIT_PROCESS = """
import ctypes, signal, sys, time
secret = ctypes.create_string_buffer(sys.argv[1].encode())
def report(number, frame):
    print("signal", number, flush=True)
for name in ("SIGURG", "SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1", "SIGCONT"):
    signal.signal(getattr(signal, name), report)
print(ctypes.addressof(secret), flush=True)
while True:
    time.sleep(60)
"""


class Host:
    """The baits of one self-check; a context manager that removes them all.

    Attributes:
        secret: text that is in every bait and must never come out of a sandbox.
        files: bait files, world-readable and world-writable.
        tcp_port: of a listener on all addresses.
        udp_port: of a listener on all addresses.
        unix_path: of a listening socket that everyone may connect to.
        datagram_path: of a socket for datagrams that everyone may send to.
        abstract: the name of a listening abstract socket, without its NUL.
        bait: a process that must not be signalled, read or traced.
        bait_address: where in its memory it holds the secret.
    """

    def __enter__(self) -> "Host":
        self.secret = f"rlvr-bait-{secrets.token_hex(8)}"
        self._stack = contextlib.ExitStack()
        with self._stack:
            self._plant_files()
            self._listen()
            self._start_bait()
            self._stack.callback(self._stop_bait)
            self._cleanup = self._stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cleanup.close()

    def _plant_files(self) -> None:
        places = [Path(tempfile.gettempdir()), Path("/var/tmp"), Path("/dev/shm"), Path.home()]  # noqa: S108 - where programs look
        self.files = []
        for place in dict.fromkeys(places):
            if not os.access(place, os.W_OK):
                continue
            folder = Path(tempfile.mkdtemp(prefix="rlvr-bait-", dir=place))
            self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.chmod(0o777)
            file = folder / "bait.txt"
            self._bait_file(file)
            self.files.append(file)

    def _listen(self) -> None:
        tcp = self._socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.bind(("0.0.0.0", 0))  # noqa: S104 - a bait is to be found
        udp = self._socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("0.0.0.0", 0))  # noqa: S104 - a bait is to be found
        path = self._socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.unix_path = str(self.files[0].parent / "bait.socket")
        path.bind(self.unix_path)
        datagram = self._socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagram_path = str(self.files[0].parent / "datagram.socket")
        datagram.bind(self.datagram_path)
        for place in (self.unix_path, self.datagram_path):
            Path(place).chmod(0o777)
        abstract = self._socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.abstract = self.secret
        abstract.bind("\0" + self.abstract)
        for listener in (tcp, path, abstract):
            listener.listen()
        self.tcp_port = int(tcp.getsockname()[1])
        self.udp_port = int(udp.getsockname()[1])
        self._sockets = {"tcp": tcp, "udp": udp, "unix": path, "abstract": abstract}
        self._sockets["datagram"] = datagram

    def _socket(self, family: int, kind: int) -> socket.socket:
        made = socket.socket(family, kind)
        made.setblocking(False)
        self._stack.callback(made.close)
        return made

    def _start_bait(self) -> None:
        self.bait = subprocess.Popen(  # noqa: S603 - a fixed command
            [interpreter()[0], "-I", "-S", "-c", _BAIT_PROCESS, self.secret],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"RLVR_BAIT": self.secret},
        )
        if self.bait.stdout is None:
            raise OSError("the bait process has no output")
        self.bait_address = int(self.bait.stdout.readline())
        os.set_blocking(self.bait.stdout.fileno(), False)

    def _stop_bait(self) -> None:
        self.bait.kill()
        self.bait.communicate()

    def reached(self, which: str) -> str:
        """Return what came in at a listener (``tcp udp unix datagram abstract``), or nothing."""
        listener = self._sockets[which]
        with contextlib.suppress(BlockingIOError):
            if which in {"udp", "datagram"}:
                return f"a datagram reached the host: {listener.recv(100)!r}"
            connection, _ = listener.accept()
            connection.close()
            return f"a connection reached the host's {which} socket"
        return ""

    def bait_harmed(self) -> str:
        """Return what happened to the bait process, or nothing."""
        if self.bait.poll() is not None:
            code = self.bait.returncode
            self._stop_bait()
            self._start_bait()
            return f"a process of the host was killed (status {code})"
        said = self.bait.stdout.read() if self.bait.stdout else None
        return f"a process of the host got a {said.decode().strip()}" if said else ""

    def files_harmed(self) -> str:
        """Return which bait file was changed or removed, or nothing; and repair them all."""
        harmed = ""
        for file in self.files:
            intact = file.is_file() and file.read_text() == self.secret
            if not intact or {entry.name for entry in file.parent.iterdir()} - _OURS:
                harmed = harmed or f"the host's file {file} was changed"
                for entry in file.parent.iterdir():
                    if entry.name not in _OURS:
                        entry.unlink()
                self._bait_file(file)
        return harmed

    def _bait_file(self, file: Path) -> None:
        file.unlink(missing_ok=True)
        file.write_text(self.secret)
        file.chmod(0o666)

    def addresses(self) -> list[str]:
        """Return the addresses at which a program could look for the host."""
        found = ["127.0.0.1", "::1"]
        with contextlib.suppress(OSError):
            found += [str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)]
        return list(dict.fromkeys(found))


def processes_named(name: str) -> list[int]:
    """Return the processes of this machine that bear a name or have it among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            comm = (entry / "comm").read_text().strip()
            if comm == name or name.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def survivors(name: str) -> str:
    """Return a sentence on processes with that name that are still alive, or nothing."""
    alive = processes_named(name)
    if not alive:
        return ""
    time.sleep(0.5)
    later = len(processes_named(name))
    return f"{len(alive)} processes outlived the job ({later} of them by half a second)"


def entries_named(text: str) -> str:
    """Return a sentence on files in the host's shared folders whose name holds the text."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/"):  # noqa: S108
        with contextlib.suppress(OSError):
            hits = [entry for entry in Path(place).iterdir() if text in entry.name]
            if hits:
                return f"a file of the job lies on the host: {hits[0]}"
    return ""
