"""Watch what this process writes and whom it calls."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_recorders: list[list[str]] = []
_installed: list[bool] = []


@contextmanager
def record_side_effects(events: list[str]) -> Iterator[None]:
    """Append to ``events`` every file opened for writing and every connection made."""
    if not _installed:  # an audit hook cannot be removed, so there is one for ever
        sys.addaudithook(_hook)
        _installed.append(True)
    _recorders.append(events)
    try:
        yield
    finally:
        _recorders.remove(events)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _recorders or event not in ("open", "socket.connect"):
        return
    if event == "open":
        path, mode = str(args[0]), args[1]
        if not isinstance(mode, str) or not set(mode) & set("wax+"):
            return
        # Importing a module for the first time writes its bytecode.
        if path == os.devnull or "__pycache__" in path:
            return
    _recorders[-1].append(f"{event} {args[0]!r:.100}")
