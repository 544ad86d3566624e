"""The sandbox that verifiers share: one for the process, started when it is first needed."""

import os
import threading

from rlvr_envs.sandboxes.sandbox import Sandbox

# Names the backend where `use_backend` was not called; `process` here counts as asked for.
VARIABLE = "RLVR_SANDBOX"

_held: dict[str, Sandbox] = {}
_wanted: list[str] = []
_locks: list[threading.Lock] = []


def _make_lock() -> None:
    _locks[:] = [threading.Lock()]


_make_lock()
os.register_at_fork(after_in_child=_make_lock)  # another thread may hold it at that moment


def shared_sandbox() -> Sandbox:
    """Return the sandbox of this process.

    Raises:
        SandboxUnavailable: no backend works here, or the chosen one does not.
        ConfigError: the chosen backend does not exist.
    """
    name = _wanted[-1] if _wanted else os.environ.get(VARIABLE, "auto")
    with _locks[0]:
        if name not in _held:
            _held[name] = Sandbox(name, allow_unsafe=name == "process")
        return _held[name]


def use_backend(name: str, *, allow_unsafe: bool = False) -> Sandbox:
    """Choose the backend of the shared sandbox for this process, and return it.

    Raises:
        SandboxUnavailable: it does not work here.
        ConfigError: there is no such backend, or it is unsafe and that was not allowed.
    """
    with _locks[0]:
        if name not in _held:
            _held[name] = Sandbox(name, allow_unsafe=allow_unsafe)
        _wanted[:] = [name]
        return _held[name]


def end_shared() -> None:
    """End the sandboxes of this process, those at work too; the next call starts a new one."""
    with _locks[0]:
        held = list(_held.values())
        _held.clear()
    for sandbox in held:
        sandbox.close()
