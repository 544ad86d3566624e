"""A function that nodes of a test cluster run, and that leaves a trace of each run."""

import os
import signal
import time
from pathlib import Path


def traced(number, folder, action=""):
    """Runs on a node: do as told, and leave a trace."""
    Path(folder, f"{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    if action == "sleep":
        time.sleep(0.2)
    elif action == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif action == "hang":
        9**9**9
    elif action == "kill host" and in_host():
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def in_host():
    return "ray::" in Path("/proc/self/cmdline").read_text()
