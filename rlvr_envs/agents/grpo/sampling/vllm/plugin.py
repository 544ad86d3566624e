"""Runs inside vLLM: a backend of its weight transfer that reads the weights from a file.

vLLM finds it by the entry point ``vllm.general_plugins`` of this package, which has to be installed
beside it, and uses it at ``--weight-transfer-config '{"backend": "rlvr_file"}'``. It goes by vLLM
0.32's `WeightTransferEngine`; nothing else imports this module.
"""

from dataclasses import dataclass

from safetensors import safe_open
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
)


@dataclass
class FileInit(WeightTransferInitInfo):  # type: ignore[misc]
    """Nothing has to be agreed on beforehand."""


@dataclass
class FileUpdate(WeightTransferUpdateInfo):  # type: ignore[misc]
    """Where the weights are.

    Attributes:
        path: of a safetensors file, on a disk that trainer and server share.
    """

    path: str


class FileEngine(WeightTransferEngine[FileInit, FileUpdate]):  # type: ignore[misc]
    """Takes all weights of the model from files."""

    init_info_cls = FileInit
    update_info_cls = FileUpdate
    _names: frozenset[str] | set[str] = frozenset()

    def init_transfer_engine(self, init_info: FileInit) -> None:
        """Do nothing: there is no connection."""

    def start_weight_update(self) -> None:
        """Make the layers ready for values in the checkpoint's form."""
        if not self._names:  # at first, when a weight that is tied to another counts once
            self._names = {name for name, _ in self.model.named_parameters()}
        initialize_layerwise_reload(self.model)

    def receive_weights(self, update_info: FileUpdate) -> None:
        """Load the weights of a file, which has to hold all of them.

        What it raises ends the update, so that another can begin.

        Raises:
            ValueError: a weight of the model is not in the file.
        """
        with safe_open(update_info.path, framework="pt", device="cpu") as file:
            pairs = ((name, file.get_tensor(name)) for name in file.keys())  # noqa: SIM118
            loaded = self.model.load_weights(pairs)
        missing = self._names - loaded
        if missing:
            raise ValueError(f"{update_info.path} lacks the weights {sorted(missing)[:5]}")

    def finish_weight_update(self) -> None:
        """Bring the layers into the form that the engine computes with."""
        finalize_layerwise_reload(self.model, self.model_config)
        # vLLM 0.32 passes over a layer whose weight is another's. On a CPU such a layer has a copy
        # of the weight in another order, which would stay as it was.
        seen: set[int] = set()
        for layer in self.model.modules():
            weight = getattr(layer, "weight", None)
            if id(weight) in seen and getattr(layer, "quant_method", None) is not None:
                layer.quant_method.process_weights_after_loading(layer)
            if weight is not None:
                seen.add(id(weight))

    def shutdown(self) -> None:
        """Do nothing: there is no connection."""
