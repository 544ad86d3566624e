"""Where processes of a test meet; for the programs beside this file."""

import random
import socket

# Systems take the ports of connections, and those that a program leaves to them, from above
# (Linux from 32768, others from 49152). What was free there when asked may be taken when used, be
# it by the sockets of the very processes that are to meet.
BELOW = range(20_000, 30_000)


def free_ports(count):
    """Return ports of this machine at which nobody listens."""
    found = filter(is_free, random.sample(BELOW, len(BELOW)))
    return [next(found) for _ in range(count)]


def is_free(port):
    with socket.socket() as place:
        return place.connect_ex(("127.0.0.1", port)) != 0
