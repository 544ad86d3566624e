"""The engines as plug-ins.

What an engine takes: ``model``, the model that is trained, as it may sample; ``chat``, which knows
what ends an action; ``context``, the most tokens of an episode; ``dtype``, what to compute in, None
for the weights' own; ``folder``, of the run; ``workers``, the processes that train together.

An engine whose decorator has a ``check`` is checked by it in the preflight, with its settings and
the context.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.model.distributed import Workers
from rlvr_envs.agents.grpo.plugins import sampler
from rlvr_envs.agents.grpo.sampling.sampler import Sampler


@sampler
def slots(model: Any, chat: Chat, context: int, dtype: Any, *, slots: int = 256) -> Sampler:
    """Return our own engine, which continues up to ``slots`` episodes at a time."""
    from rlvr_envs.agents.grpo.sampling.slots import SlotOptions, SlotSampler

    return SlotSampler(
        model,
        chat.end_tokens,
        chat.pad_token,
        slots=slots,
        context=context,
        options=SlotOptions(dtype=dtype),
    )


@sampler
def generate(model: Any, chat: Chat, context: int, dtype: Any, *, batch_size: int = 256) -> Sampler:
    """Return transformers' plain generate, in batches."""
    from rlvr_envs.agents.grpo.sampling.generate import GenerateSampler

    return GenerateSampler(
        model, chat.end_tokens, chat.pad_token, batch_size=batch_size, context=context, dtype=dtype
    )


def _check_vllm(settings: Mapping[str, Any], context: int) -> None:
    """Find out whether the server can do what is needed."""
    from rlvr_envs.agents.grpo.sampling.vllm.client import VllmClient
    from rlvr_envs.agents.grpo.sampling.vllm.server import VllmSampler
    from rlvr_envs.agents.grpo.sampling.vllm.transport import named

    client = VllmClient(settings["url"], api_key_env=settings["api_key_env"], attempts=1)
    try:
        transport = named(settings["transport"], client, settings["folder_seen_by_both"] or ".")
        VllmSampler(client, (), transport=transport).check(context)
    finally:
        client.close()


@sampler(check=_check_vllm)
def vllm(  # noqa: PLR0913 - three parts of the run, and the server's settings
    chat: Chat,
    folder: Path,
    workers: Workers,
    *,
    url: str = "http://localhost:8000",
    transport: Literal["file", "reload", "nccl", "ipc"] = "file",
    folder_seen_by_both: str = "",
    api_key_env: str = "RLVR_SERVER_KEY",
    address: str = "127.0.0.1",
) -> Sampler:
    """Return a vLLM server, which is given the weights after every update."""
    from rlvr_envs.agents.grpo.sampling.vllm.client import VllmClient
    from rlvr_envs.agents.grpo.sampling.vllm.server import VllmSampler
    from rlvr_envs.agents.grpo.sampling.vllm.transport import named

    client = VllmClient(url, api_key_env=api_key_env)
    where = Path(folder_seen_by_both or folder / "weights")
    return VllmSampler(
        client,
        chat.end_tokens,
        transport=named(transport, client, where, address=address),
        run=workers.broadcast_object(secrets.token_hex(4)),
        sends=workers.is_main,
    )


@sampler
def vllm_colocate(  # noqa: PLR0913 - five parts of the run, and settings
    model: Any,
    chat: Chat,
    context: int,
    dtype: Any,
    folder: Path,
    *,
    memory: float = 0.3,
    sleeps: bool = True,
) -> Sampler:
    """Return a vLLM engine in this process, which sleeps while the model is trained."""
    from rlvr_envs.agents.grpo.sampling.vllm.colocate import VllmColocateSampler

    place = folder / "engine"
    model.config.save_pretrained(place)
    return VllmColocateSampler(
        place,
        chat.end_tokens,
        context=context,
        dtype="bfloat16" if dtype is not None else "float32",
        memory=memory,
        sleeps=sleeps,
    )
