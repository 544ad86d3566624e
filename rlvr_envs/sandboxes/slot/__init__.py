"""The slot server: runs programs one job at a time, walled in, and reports how they ended.

It is a program of its own. Every backend starts it in a clean interpreter with an empty
environment, and speaks frames with it over its standard input and output: two lengths, a JSON
object, and the bytes that the object refers to by number. It uses the standard library alone and
nothing else of this package, since in a container there is no package: `source` joins its modules
to one text, in the order of `MODULES`, and `BOOTSTRAP` runs that text as it arrives.

The tiers differ in how a job is walled in; everything else is the same:

- ``namespaces``: the server unshares user, pid, mount, net, ipc, uts and cgroup namespaces and
  pivots into a read-only root. Every job gets pid, mount and ipc namespaces of its own below
  those, with an init that runs the steps, so that nothing outlives its job.
- ``docker``: the server is the first process of a container.
- ``landlock``: Landlock, seccomp and limits alone, in a directory of its own.
- ``process``: limits alone.

Whoever reads this as an attacker: a job knows its own source and input, and no more. What goes in
and what comes out is kept in memory that forks do not inherit; what is right is decided elsewhere.
"""

import ast
from functools import cache
from pathlib import Path

MODULES = ("basics", "frames", "walls", "cgroup", "folders", "watch", "runner", "serve", "start")

# The first process reads the server's text from its standard input, where the frames follow it. So
# any image with a Python will do, on a remote engine, too.
BOOTSTRAP = """
import os
def take(count):
    parts = []
    while count:
        part = os.read(0, count)
        if not part:
            raise SystemExit
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
source = take(int.from_bytes(take(4), "big"))
exec(compile(source, "slot.py", "exec"), {"__name__": "__main__", "__file__": "/slot.py"})
"""


def program() -> bytes:
    """Return what `BOOTSTRAP` reads first: the length of the server's text, and the text."""
    text = source().encode()
    return len(text).to_bytes(4, "big") + text


@cache
def source() -> str:
    """Return the server as one text, without what its modules import of each other."""
    parts = ["from __future__ import annotations"]
    for name in MODULES:
        text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.parse(text).body:
            own = isinstance(node, ast.ImportFrom) and (node.module or "").startswith(__name__)
            future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if own or future:
                lines[node.lineno - 1 : node.end_lineno] = [""] * (
                    (node.end_lineno or node.lineno) - node.lineno + 1
                )
        parts.append("\n".join(lines))
    return "\n".join(parts)
