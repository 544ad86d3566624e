"""Several processes that train together; one process needs nothing of it.

``accelerate launch`` (or torchrun) starts the processes and tells each by environment variables
which one of how many it is. Each has a share of the episodes. Gradients are synchronised by
``DistributedDataParallel``, which keeps all weights in every process, or by FSDP2
(``accelerate launch --use_fsdp --fsdp_version 2``), which keeps a share of weights, gradients and
optimiser state in each. Both are torch's own: what accelerate makes of a model on the CPU is not
FSDP2, whatever it was told, and could not be tested there.
"""

import atexit
import copy
import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, distributed

from rlvr_envs.agents.grpo.model.policy import unwrapped
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.evaluation.local_model import pick_device

# How long the others wait for one of them, which may be evaluating or writing a checkpoint.
PATIENCE = timedelta(hours=2)

# Groups that were parted from. Whatever holds a group last joins its threads, which may need the
# interpreter's lock for their last tensors. DDP's reducer keeps that lock meanwhile, and so would
# now and then wait for ever; Python's own handle lets go of it, so it has to outlive the model.
_parted: list[Any] = []
atexit.register(_parted.clear)


class Workers:
    """The processes of a run, of which this is one.

    What is said to be for all must be called by all of them, in the same order.

    Attributes:
        rank: this one's number, from 0.
        size: how many there are.
        device: where this one computes.
        sharded: whether each has only a share of the weights (FSDP2).

    Raises:
        ConfigError: there is no such device, the variables of the environment are incomplete, or
            FSDP is asked for in its first version.
    """

    def __init__(self, device: str = "auto") -> None:
        self.rank, self.size = 0, int(os.environ.get("WORLD_SIZE", "1"))
        self.device = torch.device(pick_device(device))
        self.sharded = False
        # Under FSDP2, all weights, as of the last call of `sampling_model`.
        self._copy: Any = None
        if self.size > 1:
            self._meet()

    def _meet(self) -> None:
        lacking = [name for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR") if name not in os.environ]
        if lacking:
            raise ConfigError(
                f"WORLD_SIZE is {self.size}, but {', '.join(lacking)} is not set: start several "
                "processes by accelerate launch, or unset WORLD_SIZE for one"
            )
        self.sharded = os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true"
        if self.sharded and os.environ.get("FSDP_VERSION", "1") != "2":
            raise ConfigError(
                "FSDP works in its second version: accelerate launch --fsdp_version 2"
            )
        # Else transformers would load no weights into all but the first worker's model, of which
        # reference and sampler are copies.
        os.environ["FSDP_CPU_RAM_EFFICIENT_LOADING"] = "false"
        backend = "gloo"
        if self.device.type == "cuda":
            self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
            torch.cuda.set_device(self.device)
            backend = "cpu:gloo,cuda:nccl"
        if not distributed.is_initialized():
            distributed.init_process_group(backend, timeout=PATIENCE)
        self.rank = distributed.get_rank()

    @property
    def is_main(self) -> bool:
        """Whether this is the one that writes files."""
        return self.rank == 0

    def wrap(self, model: Any, optimizer: torch.optim.Optimizer) -> tuple[Any, Any]:
        """Return the model and its optimiser, synchronised; for all, before the first step.

        The main worker's weights become those of all.
        """
        if self.size == 1:
            return model, optimizer
        if not self.sharded:
            return _replicated(model), optimizer
        for weight in model.state_dict().values():
            distributed.broadcast(weight, 0)
        self._copy = copy.deepcopy(model).requires_grad_(False).eval()
        _shard(model, optimizer, self.device)
        return model, optimizer

    def accumulating(self, model: Any, *, last: bool) -> AbstractContextManager[None]:
        """Return the context of a micro-batch, which synchronises in the last one only; for all.

        All need equally many micro-batches: one with fewer gives the rest a loss times 0.
        """
        if self.sharded:
            model.set_requires_gradient_sync(last)
        elif self.size > 1 and not last:
            context: AbstractContextManager[None] = model.no_sync()
            return context
        return nullcontext()

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of a loss to the others'; for all.

        The loss is this worker's share of a sum over all. Synchronising averages, hence the factor.
        """
        (loss * self.size).backward()

    def clip_grad_norm(self, model: Any, limit: float) -> float:
        """Shorten the gradient to a length, and return how long it was; for all."""
        return float(_whole(torch.nn.utils.clip_grad_norm_(model.parameters(), limit)))

    def sum(self, value: float | Tensor) -> float:
        """Return the sum of a number over all; for all."""
        total = torch.tensor(float(value), dtype=torch.float64)
        if self.size > 1:
            distributed.all_reduce(total)
        return float(total)

    def gather_objects(self, value: Any) -> list[Any]:
        """Return what each has given, in the order of their numbers; for all."""
        if self.size == 1:
            return [value]
        gathered = [None] * self.size
        distributed.all_gather_object(gathered, value)
        return gathered

    def broadcast_object(self, value: Any) -> Any:
        """Return what the main worker has given; for all."""
        told = [value]
        if self.size > 1:
            distributed.broadcast_object_list(told, 0)
        return told[0]

    def barrier(self) -> None:
        """Wait for all."""
        self.gather_objects(None)

    def sampling_model(self, model: Any) -> Any:
        """Return a model with all weights, to sample from and to save; for all.

        It is the trained model itself; under FSDP2 a copy, always the same one, which each call
        sets to the weights as they are.
        """
        if not self.sharded:
            return unwrapped(model)
        for module in model.modules():
            # What a forward pass without a backward pass has gathered and kept.
            if hasattr(module, "reshard"):
                module.reshard()
        pairs = zip(model.parameters(), self._copy.parameters(), strict=True)
        with torch.no_grad():
            for shard, weight in pairs:
                weight.copy_(_whole(shard))
        return self._copy

    def full_state_dict(self, model: Any) -> dict[str, Tensor]:
        """Return all weights by the names that the unwrapped model has for them; for all."""
        return dict(self.sampling_model(model).state_dict())

    def optimizer_state(self, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
        """Return the optimiser's state as one process would have it; for all."""
        state: dict[str, Any] = optimizer.state_dict()
        state["state"] = {
            index: {name: _whole(value) for name, value in of_weight.items()}
            for index, of_weight in state["state"].items()
        }
        return state

    def load_optimizer_state(
        self, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
    ) -> None:
        """Take what `optimizer_state` gave, to however many workers; for all, after `wrap`."""
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        shares = {
            index: {name: _share(value, weights[index]) for name, value in of_weight.items()}
            for index, of_weight in state["state"].items()
        }
        optimizer.load_state_dict({**state, "state": shares})

    def close(self) -> None:
        """Part from the others; for all, at the end."""
        if self.size > 1:
            _parted.append(distributed.group.WORLD)
            distributed.destroy_process_group()


def _replicated(model: Any) -> Any:
    wrapper = torch.nn.parallel.DistributedDataParallel
    # Buffers are constants here. torch 2.13 has renamed the option that says so.
    names = inspect.signature(wrapper).parameters
    option = "forward_sync_buffers" if "forward_sync_buffers" in names else "broadcast_buffers"
    return wrapper(model, gradient_as_bucket_view=True, **{option: False})


def _shard(model: Any, optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """Leave each worker its share of the model's weights, and point the optimiser to those."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    names = {id(weight): name for name, weight in model.named_parameters()}
    mesh = init_device_mesh(device.type, (distributed.get_world_size(),))
    again = os.environ.get("FSDP_RESHARD_AFTER_FORWARD", "true").lower() != "false"
    for layer in _layers(model):
        fully_shard(layer, mesh=mesh, reshard_after_forward=again)
    fully_shard(model, mesh=mesh)
    weights = dict(model.named_parameters())
    for group in optimizer.param_groups:
        group["params"] = [weights[names[id(weight)]] for weight in group["params"]]


def _layers(model: Any) -> Iterator[Any]:
    """Yield the modules that transformers says are not to be split: a decoder's layers."""
    kinds = set(getattr(model, "_no_split_modules", None) or ())
    return (module for module in model.modules() if type(module).__name__ in kinds)


def _whole(value: Any) -> Any:
    """Gather a tensor of which each worker has a share; return anything else as it is."""
    return value.full_tensor() if hasattr(value, "full_tensor") else value


def _share(value: Any, weight: Any) -> Any:
    """Return this worker's share of what belongs to a sharded weight and has its shape."""
    if not hasattr(weight, "full_tensor") or getattr(value, "shape", None) != weight.shape:
        return value
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(value.to(weight.device), weight.device_mesh, weight.placements)
