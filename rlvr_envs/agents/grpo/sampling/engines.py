"""The engines as plug-ins.

What an engine takes: ``model``, the model that is trained, as it may sample; ``chat``, which knows
what ends an action; ``context``, the most tokens of an episode; ``dtype``, what to compute in, None
for the weights' own.
"""

from typing import Any

from rlvr_envs.agents.grpo.chat import Chat
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
