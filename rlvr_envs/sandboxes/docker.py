"""Slots in containers: the slot server is a container's first process, reached over its streams.

A container is started once and then serves a thousand jobs, so a job costs milliseconds and not
the start of a container. The engine may be Docker's, or Podman's behind Docker's interface, local
or remote, with any runtime that it knows (``runsc`` for gVisor).
"""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, SandboxError, SandboxUnavailable
from rlvr_envs.sandboxes import docker_engine, docker_image, headers
from rlvr_envs.sandboxes.backend import SHOWN, START_TIMEOUT_S, Backend, Channel, interpreter
from rlvr_envs.sandboxes.docker_channel import DockerChannel, command, label
from rlvr_envs.sandboxes.toolchains import closure, python_needs

USERS = range(20_000, 60_000)  # within what rootless engines map
USERS_TRIED = 4  # before a start fails because each of them has processes elsewhere


class UserTaken(SandboxUnavailable):
    """Processes elsewhere on the machine have the user of a container; another user may be free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions:
    """Which engine, and what a container may use.

    Attributes:
        host: address of the engine's socket, ``unix://…`` or ``tcp://…``; empty for the variables
            RLVR_DOCKER_HOST and DOCKER_HOST, and then for the usual places of Docker and Podman.
        image: ``host`` (this machine's /usr in an empty skeleton), ``python`` (a copy of its
            Python), or the name of an image that the engine has and that has a python3; empty for
            the variable RLVR_DOCKER_IMAGE, and then ``host``, or ``python`` on a remote engine.
        runtime: of the container, such as ``runsc``; empty for the variable RLVR_DOCKER_RUNTIME,
            and then for the engine's default.
        memory_mib: of a container; what it writes to ``/work`` and ``/tmp`` counts.
        processes: of a container.
        disk_mib: size of each of ``/work`` and ``/tmp``.
        inodes: number of files in each of the two; Podman does not limit it.
        cpus: processors that a container may keep busy; None for all.
    """

    host: str = ""
    image: str = ""
    runtime: str = ""
    memory_mib: int = 2048
    processes: int = 256
    disk_mib: int = 256
    inodes: int = 16384
    cpus: float | None = None

    def __post_init__(self) -> None:
        if min(self.memory_mib, self.processes, self.disk_mib, self.inodes) < 1:
            raise ConfigError(f"the limits of a container are numbers above 0, got {self}")
        if self.cpus is not None and self.cpus <= 0:
            raise ConfigError(f"cpus is a number above 0 or None, got {self.cpus!r}")

    def resolved(self) -> "DockerOptions":
        """Return the options with the environment's say and the defaults filled in."""
        host = self.host or docker_engine.usual_host()
        image = self.image or os.environ.get("RLVR_DOCKER_IMAGE", "")
        runtime = self.runtime or os.environ.get("RLVR_DOCKER_RUNTIME", "")
        image = image or ("host" if docker_engine.is_local(host) else "python")
        return replace(self, host=host, image=image, runtime=runtime)


class DockerBackend(Backend):
    """Starts slots in containers.

    Args:
        options: which engine, and what a container may use; the environment is read here.
    """

    name = "docker"
    isolation = "container: no network, no capabilities, read-only root, memory and pids limits"

    def __init__(self, options: DockerOptions | None = None) -> None:
        self.options = (options or DockerOptions()).resolved()
        self.same_programs = self.options.image == "host"
        self._api: Any = None
        self._image = ""
        self._python = "python3"
        self._shown: dict[str, str] = {}
        self._pid = 0

    def headers_at(self, folder: str) -> str:
        return headers.PLACE if self.same_programs else ""

    def start(self) -> Channel:
        self._reach()
        for _ in range(USERS_TRIED - 1):
            with suppress(UserTaken):
                return self._start()
        return self._start()

    def _start(self) -> Channel:
        try:
            channel = DockerChannel(self._api, self._create())
        except (docker_engine.engine_error(), SandboxError, OSError) as error:
            self._pid = 0  # another engine may answer next time, without our image
            raise SandboxUnavailable(self._failed(error)) from error
        try:
            python = closure(python_needs(self._python)) if self.same_programs else ()
            answer, _ = channel.ask({"tier": "docker", "python": python}, START_TIMEOUT_S)
        except SandboxError as error:
            channel.close()
            raise SandboxUnavailable(self._failed(error)) from error
        if "error" in answer:
            channel.close()
            failure = UserTaken if answer.get("again") else SandboxUnavailable
            raise failure(self._failed(answer["error"]))
        self.accounted_by_kernel = answer["accounted"]
        self.hides_programs = answer["landlock"] >= 1 and self.same_programs
        return channel

    def _failed(self, reason: object) -> str:
        return (
            f"a container of {self._image} at {self.options.host} does not start: {reason} "
            "(the image needs a python3 of at least 3.9)"
        )

    def _reach(self) -> None:
        """Connect, once in each process; clear what dead owners left, and make the image ready."""
        if self._pid == os.getpid():
            return
        self._api = docker_engine.connect(self.options.host)
        try:
            docker_engine.remove_leftovers(self._api)
            self._check_runtime()
            self._choose_image()
        except (docker_engine.engine_error(), OSError) as error:
            raise SandboxUnavailable(
                f"the docker engine at {self.options.host} refused: {error}"
            ) from error
        self._pid = os.getpid()

    def _check_runtime(self) -> None:
        runtime = self.options.runtime
        if runtime and docker_engine.is_podman(self._api):
            raise SandboxUnavailable(
                f"Podman runs all containers with its own runtime and would ignore {runtime!r}: "
                f"start podman --runtime {runtime} system service, and name none here"
            )

    def _choose_image(self) -> None:
        image, host = self.options.image, self.options.host
        if image == "host":
            if not docker_engine.is_local(host):
                raise SandboxUnavailable(
                    f"the host image shows this machine's /usr, which the engine at {host} does "
                    "not have: choose image='python', or name one of its images"
                )
            self._python, prefix = interpreter()
            self._shown = {path: path for path in (*SHOWN, *prefix) if Path(path).exists()}
            if (folder := headers.top_folder()) is not None:
                self._shown[str(folder)] = self.headers_at(str(folder))
            self._image = docker_image.ensure_host_image(self._api)
        elif image == "python":
            self._python = interpreter()[0]
            self._image = docker_image.ensure_python_image(self._api, self._python)
        elif self._api.images(name=image, quiet=True):
            self._image = image
        else:
            raise SandboxUnavailable(
                f"the docker engine has no image {image!r}: docker pull {image}, or leave "
                "RLVR_DOCKER_IMAGE empty for an image made from this machine"
            )

    def _create(self) -> str:
        """Create a container, not started yet, and return its id."""
        user = secrets.choice(USERS)  # one each: the kernel counts processes by user
        container = self._api.create_container(
            self._image,
            entrypoint=command(self._python),
            command=[],
            environment={"PYTHONHASHSEED": "0", "LANG": "C.UTF-8"},
            user=f"{user}:{user}",
            stdin_open=True,  # and, attached, closed with its one client
            tty=False,
            hostname="sandbox",
            working_dir="/",
            labels=label(),
            host_config=self._host_config(user),
            use_config_proxy=False,  # the user's proxy is of no use without a network
        )
        return str(container["Id"])

    def _host_config(self, user: int) -> Any:
        """Return the walls of a container."""
        options, ulimit = self.options, docker_engine.client_library().types.Ulimit
        # An image has /tmp open to all and no /work; any other mode of theirs would win.
        room = f"rw,exec,nosuid,nodev,size={options.disk_mib}m,mode=1777"
        if not docker_engine.is_podman(self._api):  # which refuses these
            room += f",uid={user},gid={user},nr_inodes={options.inodes}"
        return self._api.create_host_config(
            network_mode="none",
            read_only=True,
            tmpfs={"/work": room, "/tmp": room},  # noqa: S108 - private to the container
            binds=[f"{path}:{place}:ro" for path, place in self._shown.items()],
            ipc_mode="none",  # no writable /dev/shm
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            mem_limit=f"{options.memory_mib}m",
            memswap_limit=f"{options.memory_mib}m",
            pids_limit=options.processes,
            nano_cpus=None if options.cpus is None else round(options.cpus * 1e9),
            ulimits=[  # all given: Podman would raise ours instead, which it may not
                ulimit(name="nofile", soft=1024, hard=1024),
                ulimit(name="nproc", soft=4096, hard=4096),
                ulimit(name="core", soft=0, hard=0),
            ],
            log_config={"Type": "none", "Config": {}},  # else every frame goes to a file
            runtime=options.runtime or None,
            init=False,
            auto_remove=True,
        )
