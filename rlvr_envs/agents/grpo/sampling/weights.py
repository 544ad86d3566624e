"""The trained weights as an inference engine loads them: by the names of the model's checkpoints.

Low-rank adapters are merged into the layers that they belong to, on the way, so that the trained
model stays as it is.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.core.errors import ConfigError


def weights_of(model: Any, dtype: torch.dtype | None = None) -> Iterator[tuple[str, Tensor]]:
    """Yield each weight's name and value, one that is tied to another only once.

    Args:
        model: a model of transformers, all of whose weights are here; LoRA adapters of peft are
            merged.
        dtype: convert the values to it; None for the model's own.

    Raises:
        ConfigError: the adapters are of a kind that cannot be merged layer by layer.
    """
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model
    adapted = {name: module for name, module in plain.named_modules() if _is_adapted(module)}
    tied = {name for name, _ in plain.named_parameters(remove_duplicate=False)} - {
        name for name, _ in plain.named_parameters()
    }
    with torch.no_grad():
        for name, value in plain.state_dict().items():
            if name in tied or any(f".{part}" in name for part in ("lora_", "modules_to_save")):
                continue
            layer, base, own = name.partition(".base_layer.")
            found = _merged(adapted[layer], own, value) if base else value
            yield f"{layer}.{own}" if base else name, found if dtype is None else found.to(dtype)


def _is_adapted(module: Any) -> bool:
    return hasattr(module, "base_layer") and hasattr(module, "active_adapters")


def _merged(layer: Any, name: str, value: Tensor) -> Tensor:
    """Return a weight of an adapted layer with what its adapters add."""
    if name != "weight" or layer.disable_adapters or layer.merged:
        return value
    if not hasattr(layer, "get_delta_weight"):
        raise ConfigError(
            f"adapters of the kind {type(layer).__name__} cannot be merged for an inference engine:"
            ' train with LoRA on linear layers or all weights, or sample with engine="slots"'
        )
    for adapter in layer.active_adapters:
        if adapter in layer.lora_A:
            value = value + layer.get_delta_weight(adapter).to(value.dtype)
    return value
