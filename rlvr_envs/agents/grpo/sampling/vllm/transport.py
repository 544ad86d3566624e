"""Ways to hand a vLLM server new weights.

Each speaks the protocol of vLLM's weight transfer. The server is paused meanwhile: see
`server.VllmSampler.update`.
"""

import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Protocol

from torch import Tensor

from rlvr_envs.agents.grpo.sampling.vllm.client import VllmClient
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import pip_install
from rlvr_envs.core.files import replaced_path

# The name of our backend within vLLM: see `plugin`.
FILE_BACKEND = "rlvr_file"


class Transport(Protocol):
    """Hands weights to a server."""

    @property
    def backend(self) -> str | None:
        """The backend of ``--weight-transfer-config`` that the server needs; None for any."""

    def connect(self) -> None:
        """Agree with the server; before the first `send`, once.

        Raises:
            ConfigError: the server was not started for this.
            DependencyError: a package is missing here.
            ServerError: it gives no answer.
        """

    def send(self, tensors: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Give the server all weights, by their names in checkpoints, and their version.

        Raises:
            ServerError: the server did not take them, and must not sample until it has.
        """

    def version(self) -> str:
        """Return the version that the server says its weights have."""


class FileTransport:
    """Weights as a file on a disk that trainer and server share, read by our plug-in in vLLM.

    The server needs this package beside it, and
    ``--weight-transfer-config '{"backend": "rlvr_file"}'``.

    Args:
        client: of the server.
        folder: where the file is written; the server has to see it under the same path.
    """

    backend: str | None = FILE_BACKEND

    def __init__(self, client: VllmClient, folder: str | Path) -> None:
        self._client, self._folder = client, Path(folder).absolute()

    def connect(self) -> None:
        """Have the server make its side ready."""
        self._client.post("/init_weight_transfer_engine", {"init_info": {}})

    def send(self, tensors: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Write the file and have the server load it (`Transport.send`)."""
        path = write(self._folder, tensors)
        self._client.post("/start_weight_update")
        self._client.post("/update_weights", {"update_info": {"path": str(path)}})
        self._client.post("/finish_weight_update", {"weight_version": version})

    def version(self) -> str:
        """Return the version that the server says its weights have."""
        return server_version(self._client)


class ReloadTransport:
    """Weights as a file on a shared disk, which an unmodified vLLM reloads.

    vLLM only logs a warning if a weight is missing from the file. On a CPU, vLLM 0.32 reloads but a
    part of a model whose head is tied to its embeddings, so such a model is refused there.

    Args:
        client: of the server.
        folder: where the file is written; the server has to see it under the same path.
    """

    backend: str | None = None

    def __init__(self, client: VllmClient, folder: str | Path) -> None:
        self._client, self._folder = client, Path(folder).absolute()
        self._on_cpu = False

    def connect(self) -> None:
        """Ask where the server computes."""
        info = self._client.get("/server_info?config_format=json")["vllm_config"]
        self._on_cpu = (info.get("device_config") or {}).get("device") == "cpu"

    def send(self, tensors: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Write the file and have the server load it (`Transport.send`).

        Raises:
            ConfigError: the server is on a CPU, and the model's head is tied to its embeddings.
        """
        whole = dict(tensors)
        if self._on_cpu and not any(name.endswith("lm_head.weight") for name in whole):
            raise ConfigError(
                "vLLM on a CPU does not reload a head that is tied to the embeddings, and would "
                'sample from the old one: choose the transport "file"'
            )
        path = write(self._folder, whole.items())
        how = {"weights_path": str(path.parent)}
        self._client.post("/collective_rpc", {"method": "reload_weights", "kwargs": how})
        self._client.post("/update_weight_version", {"new_version": version})

    def version(self) -> str:
        """Return the version that the server says its weights have."""
        return server_version(self._client)


class DeviceTransport:
    """Weights from GPU to GPU, by vLLM's own trainer side: experimental, it has not been run.

    The server needs ``--weight-transfer-config '{"backend": "nccl"}'`` (or ``"ipc"``), and for
    ``ipc``, where trainer and server share a GPU, ``VLLM_ALLOW_INSECURE_SERIALIZATION=1``.

    Args:
        client: of the server.
        backend: ``nccl`` or ``ipc``.
        address: of this machine, as the server sees it, for ``nccl``.

    Raises:
        DependencyError: vLLM is missing here.
    """

    def __init__(
        self, client: VllmClient, backend: Literal["nccl", "ipc"], *, address: str = "127.0.0.1"
    ) -> None:
        try:
            from vllm.distributed.weight_transfer.clients import HTTPVLLMWeightSyncClient
        except ImportError as error:
            raise DependencyError(
                f"the transport {backend!r} needs vLLM beside the trainer: {pip_install('vllm')}"
            ) from error
        if backend not in ("nccl", "ipc"):
            raise ConfigError(f"a transport between GPUs is 'nccl' or 'ipc', got {backend!r}")

        class Sync(HTTPVLLMWeightSyncClient):  # type: ignore[misc]
            """vLLM's requests, sent by our client, with the version at the end."""

            version = ""

            def _post(self, path: str, json: dict[str, Any] | None = None) -> None:
                client.post(f"/{path}", json)

            def finish_weight_update(self, weight_version: str | None = None) -> None:
                super().finish_weight_update(self.version)

        self.backend: str | None = backend
        self._client, self._address, self._sync = client, address, Sync(client.url)
        self._tensors: list[tuple[str, Tensor]] = []
        self._engine: Any = None

    def connect(self) -> None:
        """Do nothing yet: the sizes of the weights are needed, so `send` does it."""

    def send(self, tensors: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Send the weights while the server receives them (`Transport.send`)."""
        self._tensors[:] = [(name, tensor.detach()) for name, tensor in tensors]
        self._sync.version = version
        if self._engine is None:
            self._engine = self._connected()
        self._engine.send_weights()
        self._tensors.clear()

    def version(self) -> str:
        """Return the version that the server says its weights have."""
        return server_version(self._client)

    def _connected(self) -> Any:
        from vllm.distributed.weight_transfer import WeightTransferTrainerFactory
        from vllm.distributed.weight_transfer.base import ParamMeta, WeightSource

        tensors = self._tensors

        class Source(WeightSource):  # type: ignore[misc]
            """The weights that `send` was given."""

            def metadata(self) -> list[Any]:
                return [ParamMeta(name, each.dtype, tuple(each.shape)) for name, each in tensors]

            def __iter__(self) -> Any:
                return iter(tensors)

        init: Any
        if self.backend == "ipc":
            from vllm.distributed.weight_transfer.ipc_engine import IPCTrainerInitInfo

            init = IPCTrainerInitInfo(rank=0, packed=True)
        else:
            from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo

            workers = int(self._client.get("/get_world_size")["world_size"])
            init = NCCLTrainerInitInfo(self._address, free_port(), workers + 1, rank=0)
        return WeightTransferTrainerFactory.trainer_init(init, client=self._sync, source=Source())


def server_version(client: VllmClient) -> str:
    """Return the version that a server says its weights have.

    Raises:
        ServerError: it gives no answer.
    """
    return str((client.get("/weight_info") or {}).get("weight_version"))


def write(folder: Path, tensors: Iterable[tuple[str, Tensor]]) -> Path:
    """Write weights aside and rename the file, so that whoever reads it sees all or nothing.

    Raises:
        ConfigError: the folder cannot be written to.
    """
    from safetensors.torch import save_file

    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors}
    path = folder / "model.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replaced_path(path) as beside:
            save_file(whole, beside, metadata={"format": "pt"})
    except OSError as error:
        raise ConfigError(
            f"the weights for the server cannot be written to {folder}: {error}; name a folder "
            "with room on a disk that the server reads too"
        ) from error
    return path


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("", 0))
        return int(bound.getsockname()[1])


def named(
    kind: str, client: VllmClient, folder: str | Path, *, address: str = "127.0.0.1"
) -> Transport:
    """Return the transport of a name: ``file``, ``reload``, ``nccl`` or ``ipc``.

    Raises:
        ConfigError: there is none of that name.
        DependencyError: it needs a package that is missing here.
    """
    if kind == "file":
        return FileTransport(client, folder)
    if kind == "reload":
        return ReloadTransport(client, folder)
    if kind == "nccl":
        return DeviceTransport(client, "nccl", address=address)
    if kind == "ipc":
        return DeviceTransport(client, "ipc")
    raise ConfigError(f"no transport {kind!r}; there are: file, reload, nccl, ipc")
