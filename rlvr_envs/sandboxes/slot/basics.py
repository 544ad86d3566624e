"""Constants of the slot server, the C library, and its errors."""

from __future__ import annotations

import ctypes
import os

MIB = 1 << 20
FIRST_LOOK_S = 0.01  # short programs end before anybody looks at them
LOOK_EVERY_S = 0.02  # on average: at times that a job cannot foresee
MOST_BETWEEN_LOOKS_S = 0.1  # what a look stands for: this process may have waited itself
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
ENVIRONMENT = {"PATH": ":".join(SYSTEM_PATH), "LANG": "C.UTF-8"}
INNER_ID = 1000  # user and group of jobs inside the namespaces
STACK = 64 * MIB
# RLIMIT_AS is only a backstop for the watch on resident memory: stacks of threads and mappings
# that are never touched count against it too.
ADDRESS_SLACK = 1024 * MIB

# Imported once, so that a forked Python job does not pay for them.
PRELOAD = (
    *("bisect", "collections", "copy", "datetime", "decimal", "enum", "fractions"),
    *("functools", "heapq", "io", "itertools", "json", "math", "operator", "random", "re"),
    *("string", "typing"),
)

libc = ctypes.CDLL(None, use_errno=True)
keeping_gil = ctypes.PyDLL(None, use_errno=True)


class Fault(Exception):
    """The sandbox itself failed; never the program's doing."""


class UserTaken(Fault):
    """The kernel counts processes of others with ours; a container with another user may do."""


def check(result: int, what: str) -> int:
    """Return the result of a system call; raise OSError, with what it was for, if it failed."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
