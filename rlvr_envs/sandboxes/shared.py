"""The sandbox that verifiers share: one for the process, started when it is first needed."""

import os
import threading

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.compiled import CACHE_MIB
from rlvr_envs.sandboxes.sandbox import Sandbox

# Names the backend where `use_backend` was not called; `process` here counts as asked for.
VARIABLE = "RLVR_SANDBOX"

# The size of its compile cache in MiB; 0 turns the cache off.
CACHE_VARIABLE = "RLVR_COMPILE_CACHE_MIB"

_held: dict[str, Sandbox] = {}
_wanted: list[str] = []
_locks: list[threading.Lock] = []


def _make_lock() -> None:
    _locks[:] = [threading.Lock()]


_make_lock()
os.register_at_fork(after_in_child=_make_lock)  # another thread may hold it at that moment


def shared_sandbox() -> Sandbox:
    r"""Return the sandbox of this process.

    Raises:
        SandboxUnavailable: no backend works here, or the chosen one does not.
        ConfigError: the chosen backend does not exist, or a variable is no number.

    Examples:
        >>> from rlvr_envs.sandboxes.base import Job
        >>> from rlvr_envs.sandboxes.shared import shared_sandbox
        >>> shared_sandbox().run(Job(argv=("echo", "hello"))).stdout
        b'hello\n'
    """
    name = _wanted[-1] if _wanted else os.environ.get(VARIABLE, "auto")
    with _locks[0]:
        if name not in _held:
            _held[name] = _sandbox(name, allow_unsafe=name == "process")
        return _held[name]


def use_backend(name: str, *, allow_unsafe: bool = False) -> Sandbox:
    """Choose the backend of the shared sandbox for this process, and return it.

    Raises:
        SandboxUnavailable: it does not work here.
        ConfigError: there is no such backend, or it is unsafe and that was not allowed.

    Examples:
        >>> from rlvr_envs.sandboxes.shared import use_backend
        >>> sandbox = use_backend("docker")  # doctest: +SKIP
    """
    with _locks[0]:
        if name not in _held:
            _held[name] = _sandbox(name, allow_unsafe=allow_unsafe)
        _wanted[:] = [name]
        return _held[name]


def _sandbox(name: str, *, allow_unsafe: bool) -> Sandbox:
    text = os.environ.get(CACHE_VARIABLE, str(CACHE_MIB))
    try:
        size = float(text)
    except ValueError:
        raise ConfigError(f"{CACHE_VARIABLE} is a number of MiB from 0, got {text!r}") from None
    return Sandbox(name, allow_unsafe=allow_unsafe, compile_cache_mib=size)


def end_shared() -> None:
    """End the sandboxes of this process, those at work too; the next call starts a new one."""
    with _locks[0]:
        held = list(_held.values())
        _held.clear()
    for sandbox in held:
        sandbox.close()
