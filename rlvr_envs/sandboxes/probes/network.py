"""Probes of the network and of every other kind of socket."""

import contextlib
import socket
import threading

from rlvr_envs.sandboxes.base import Limits, Result
from rlvr_envs.sandboxes.probes.bench import (
    KERNEL_REFUSALS,
    REFUSALS,
    Bench,
    Probes,
    account,
    first,
)

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all


@probe
def tcp_to_the_host(bench: Bench) -> str:
    """A program opens no TCP connection to the machine it runs on."""
    seen = bench.attempts(
        """
        for address in VALUES["addresses"]:
            attempt(address, socket.create_connection, (address, VALUES["port"]), 2)
        """,
        {"addresses": bench.host.addresses(), "port": bench.host.tcp_port},
    )
    return first(bench.host.reached("tcp"), seen)


@probe
def udp_to_the_host(bench: Bench) -> str:
    """A program sends no UDP datagram to the machine it runs on."""
    result = bench.python(
        """
        for address in VALUES["addresses"]:
            try:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                with socket.socket(family, socket.SOCK_DGRAM) as sender:
                    sender.sendto(b"out", (address, VALUES["port"]))
            except OSError:
                pass
        say("END")
        """,
        {"addresses": bench.host.addresses(), "port": bench.host.udp_port},
    )
    return first(bench.host.reached("udp"), _ended(result))


@probe
def other_machines(bench: Bench) -> str:
    """No route leads to other machines, by TCP or UDP."""
    # The address belongs to documentation (RFC 5737): nobody is disturbed if a packet leaves.
    return bench.attempts(
        """
        def connect(kind):
            with socket.socket(socket.AF_INET, kind) as made:
                made.setblocking(False)
                return made.connect(("192.0.2.1", 53))
        attempt("tcp", connect, socket.SOCK_STREAM)
        attempt("udp", connect, socket.SOCK_DGRAM)
        """
    )


@probe
def name_lookup(bench: Bench) -> str:
    """Names of machines are not resolved."""
    result = bench.python(
        """
        try:
            say("resolved", socket.getaddrinfo("example.com", 80)[0][4])
        except OSError:
            pass
        say("END")
        """
    )
    said = result.stdout.decode(errors="replace").strip()
    return f"it {said}" if "resolved" in said else _ended(result)


@probe
def abstract_socket(bench: Bench) -> str:
    """The host's abstract Unix sockets are out of reach."""
    seen = bench.attempts(
        """
        def connect():
            with socket.socket(socket.AF_UNIX) as made:
                made.connect("\\0" + VALUES["name"])
        attempt("connect", connect)
        """,
        {"name": bench.host.abstract},
    )
    return first(bench.host.reached("abstract"), seen)


@probe
def path_socket(bench: Bench) -> str:
    """Unix sockets in the file system, such as docker.sock, are out of reach."""
    paths = [
        bench.host.unix_path,
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
        "/dev/log",
    ]
    seen = bench.attempts(
        """
        def connect(path):
            with socket.socket(socket.AF_UNIX) as made:
                made.connect(path)
        for path in VALUES["paths"]:
            attempt(path, connect, path)
        """,
        {"paths": paths},
    )
    return first(bench.host.reached("unix"), seen)


@probe
def datagram_socket(bench: Bench) -> str:
    """A pair of sockets does not reach a Unix socket of the host, by an address in a datagram."""
    seen = bench.attempts(
        """
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
            def send():
                mine, other = socket.socketpair(socket.AF_UNIX, kind)
                return mine.sendto(b"bait", VALUES["path"])
            attempt(str(kind), send)
        """,
        {"path": bench.host.datagram_path},
    )
    return first(bench.host.reached("datagram"), seen)


@probe
def interfaces(bench: Bench) -> str:
    """No network interface but the loopback one is there, and none is up."""
    # Reading the flags of an interface by SIOCGIFFLAGS shows one that is in use.
    return bench.attempts(
        """
        import fcntl, struct
        def up(name):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
                request = fcntl.ioctl(made, 0x8913, struct.pack("16sh22x", name.encode(), 0))
            if not struct.unpack("16sh22x", request)[1] & 1:
                raise OSError(errno.ENETDOWN, name)
        def names():
            try:
                return [name for _, name in socket.if_nameindex() if name != "lo"]
            except OSError:
                return []
        for name in [*names(), "eth0"]:
            attempt(name, up, name)
        """
    )


@probe
def netlink(bench: Bench) -> str:
    """The network cannot be configured through netlink."""
    # RTM_NEWLINK for a dummy interface; the kernel answers with an error message (type 2).
    return bench.attempts(
        """
        import struct
        def add_interface():
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as made:
                body = struct.pack("BxHiII", 0, 0, 0, 0, 0)
                kind = struct.pack("HH", 10, 1) + b"dummy\\0" + b"\\0\\0"
                link = struct.pack("HH", 4 + len(kind), 18) + kind
                message = body + link
                head = struct.pack("IHHII", 16 + len(message), 16, 0x605, 1, 0)
                made.sendto(head + message, (0, 0))
                answer = made.recv(4096)
                code = -struct.unpack_from("i", answer, 16)[0]
                if code:
                    raise OSError(code, "netlink")
        attempt("add an interface", add_interface)
        """,
        refusals=REFUSALS | {"EOPNOTSUPP"},
    )


@probe
def raw_sockets(bench: Bench) -> str:
    """No raw or packet socket can be opened."""
    return bench.attempts(
        """
        for name, family, kind, protocol in [
            ("icmp", socket.AF_INET, socket.SOCK_RAW, 1),
            ("icmp6", socket.AF_INET6, socket.SOCK_RAW, 58),
            ("packet", socket.AF_PACKET, socket.SOCK_RAW, 0x300),
            ("packet datagram", socket.AF_PACKET, socket.SOCK_DGRAM, 0x300),
        ]:
            attempt(name, socket.socket, family, kind, protocol)
        """
    )


@probe
def unusual_sockets(bench: Bench) -> str:
    """Families of sockets that pass by network namespaces, or are seldom tested, are closed."""
    return bench.attempts(
        """
        families = {"vsock": 40, "alg": 38, "bluetooth": 31, "can": 29, "tipc": 30, "rds": 21,
                    "xdp": 44, "smc": 43, "key": 15, "kcm": 41, "phonet": 35, "nfc": 39}
        for name, number in families.items():
            for kind in (1, 2, 3, 5):
                attempt(f"{name} {kind}", socket.socket, number, kind, 0)
        """,
        refusals=REFUSALS | {"EINVAL"},  # the family is unknown to this kernel
    )


@probe
def listening(bench: Bench) -> str:
    """A program that listens cannot be reached from the host."""
    with socket.socket() as scout:
        scout.bind(("127.0.0.1", 0))
        port = scout.getsockname()[1]
    over, reached = threading.Event(), []

    def knock() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                reached.append(port)
            over.wait(0.02)

    visitor = threading.Thread(target=knock, daemon=True)
    visitor.start()
    result = bench.python(
        """
        try:
            with socket.socket() as door:
                door.bind(("0.0.0.0", VALUES["port"]))
                door.listen()
                time.sleep(0.5)
        except OSError:
            pass
        say("END")
        """,
        {"port": port},
        limits=Limits(cpu_s=2, wall_s=20),
    )
    over.set()
    visitor.join()
    return "the host connected to a port that the program opened" if reached else _ended(result)


@probe
def sockets_by_detour(bench: Bench) -> str:
    """Sockets cannot be made through another door: io_uring, or a pair that is sent away."""
    return bench.attempts(
        """
        attempt("io_uring", system, "io_uring_setup", 1, None)
        attempt("socket of x32", system_number, 0x40000000 | 41, 2, 1, 0)
        """,
        refusals=KERNEL_REFUSALS,
    )


def _ended(result: Result) -> str:
    """Return a complaint unless the program got to its end."""
    return "" if result.ok and result.stdout.endswith(b"END\n") else account(result) or "no END"
