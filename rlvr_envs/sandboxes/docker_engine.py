"""Reaching a Docker engine (or Podman's imitation of one), and keeping it tidy.

Every container carries a label that names the process it belongs to. A container ends by itself
when that process does; whatever was left behind nevertheless is removed by the next owner.
"""

import importlib
import os
import socket
import time
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import SandboxUnavailable
from rlvr_envs.core.extras import hint

OWNER_LABEL = "rlvr-envs.sandbox.owner"
TIMEOUT_S = 60
REMOVAL_S = 10.0


def client_library() -> Any:
    """Return the docker package.

    Raises:
        SandboxUnavailable: it is not installed.
    """
    try:
        return importlib.import_module("docker")
    except ImportError as error:
        raise SandboxUnavailable(
            f"the docker sandbox needs the docker client: {hint('docker')}"
        ) from error


def engine_error() -> type[Exception]:
    """Return what the client raises when the engine refuses something."""
    error: type[Exception] = client_library().errors.DockerException
    return error


def usual_host() -> str:
    """Return the address of the engine that the environment names, or of the socket found."""
    for variable in ("RLVR_DOCKER_HOST", "DOCKER_HOST"):
        if os.environ.get(variable):
            return os.environ[variable]
    folders = ["/run", os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"]
    sockets = ["docker.sock", "podman/podman.sock"]
    places = [Path(folder, name) for name in sockets for folder in folders]
    return f"unix://{next(filter(_is_socket, places), places[0])}"


def _is_socket(path: Path) -> bool:
    try:
        return path.is_socket()
    except PermissionError:  # another user's folder
        return False


def is_local(host: str) -> bool:
    """Whether the engine sees this machine's files."""
    return host.startswith("unix://")


def connect(host: str) -> Any:
    """Return a client of an engine that answers.

    Raises:
        SandboxUnavailable: with the reason and what to do.
    """
    docker = client_library()
    if is_local(host):
        _check_socket(host.removeprefix("unix://"))
    try:
        settings = docker.utils.kwargs_from_env(environment={**os.environ, "DOCKER_HOST": host})
        return docker.APIClient(version="auto", timeout=TIMEOUT_S, **settings)
    except (docker.errors.DockerException, OSError, ValueError) as error:
        raise SandboxUnavailable(
            f"no docker engine answers at {host}: {error}; start one, or set RLVR_DOCKER_HOST"
        ) from error


def _check_socket(path: str) -> None:
    """Tell apart why a socket cannot be used, which the client's error does not."""
    reason = "there is no such socket; start Docker or Podman, or set RLVR_DOCKER_HOST"
    try:
        with socket.socket(socket.AF_UNIX) as attempt:
            attempt.settimeout(TIMEOUT_S)
            attempt.connect(path)
            return
    except PermissionError:
        reason = "permission denied; join the group that owns the socket (often 'docker')"
    except ConnectionRefusedError:
        reason = "nobody listens there; start the engine"
    except FileNotFoundError:
        pass
    except OSError as error:
        reason = str(error)
    raise SandboxUnavailable(f"the docker engine at unix://{path} cannot be reached: {reason}")


def is_podman(api: Any) -> bool:
    """Whether it is Podman that answers."""
    components = api.version().get("Components") or []
    return any("podman" in str(part.get("Name", "")).lower() for part in components)


def owner_of(pid: int) -> str:
    """Return what tells a process of this machine from every other, later ones included.

    Three words: the machine since it was started, the pid namespace with the process in it, and
    when the process began. The last is empty if there is no such process.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    space = Path("/proc/self/ns/pid").stat().st_ino
    try:
        began = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        began = ""
    return f"{boot} {space}:{pid} {began}"


def is_left_over(owner: str) -> bool:
    """Whether a container's owner was a process of this machine that is no more."""
    boot, _, rest = owner.partition(" ")
    place, _, _ = rest.partition(" ")
    space, _, pid = place.partition(":")
    ours = owner_of(os.getpid()).startswith(f"{boot} {space}:") and pid.isdigit()
    return ours and owner_of(int(pid)) != owner


def remove_leftovers(api: Any) -> None:
    """Remove the containers of processes that ended without doing so."""
    for container in api.containers(all=True, filters={"label": OWNER_LABEL}):
        if is_left_over((container.get("Labels") or {}).get(OWNER_LABEL, "")):
            remove(api, container["Id"])


def remove(api: Any, container: str) -> None:
    """Kill and remove a container; return when it is gone, whoever removes it."""
    errors = client_library().errors
    deadline = time.monotonic() + REMOVAL_S
    while time.monotonic() < deadline:
        try:
            api.remove_container(container, force=True, v=True)
        except errors.NotFound:
            return
        except (errors.DockerException, OSError) as error:
            if "in progress" not in str(error):
                return  # the engine is gone; the end of its input has ended the container
        time.sleep(0.02)
