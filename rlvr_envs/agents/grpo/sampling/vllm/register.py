"""What vLLM calls as each of its processes starts: it makes `plugin`'s backend known there."""

from contextlib import suppress


def register() -> None:
    """Name our backend to vLLM, once for each process."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    with suppress(ValueError):  # vLLM may load its plug-ins again in a process that has them
        WeightTransferEngineFactory.register_engine(
            "rlvr_file", "rlvr_envs.agents.grpo.sampling.vllm.plugin", "FileEngine"
        )
