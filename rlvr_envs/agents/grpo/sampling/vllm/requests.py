"""What vLLM is asked for, over HTTP and in this process alike, and what its answers have to be."""

import math
from collections.abc import Collection, Sequence
from typing import Any

from rlvr_envs.agents.grpo.sampling.sampler import Request
from rlvr_envs.agents.grpo.sampling.vllm.client import ServerError
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import draw_seed, stream

# Sampling from the model's distribution as it is, whatever the model's own settings say.
_NEUTRAL: dict[str, Any] = {
    "n": 1,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "ignore_eos": True,  # only the end tokens that are asked for end a completion
    "logprobs": 0,  # of the sampled token alone
    "detokenize": False,
}

# vLLM raises lower temperatures to it, or takes them for 0.
_LEAST_TEMPERATURE = 0.01


def checked(requests: Sequence[Request], temperature: float) -> None:
    """Refuse what vLLM cannot sample.

    Raises:
        ConfigError: a prompt is empty, or a number is out of range.
    """
    if temperature != 0 and not _LEAST_TEMPERATURE <= temperature < math.inf:
        raise ConfigError(
            f"vLLM samples at temperature 0 or from {_LEAST_TEMPERATURE} on, got {temperature}"
        )
    for request in requests:
        if not request.prompt or request.max_tokens < 1:
            raise ConfigError("a prompt has at least one token, and max_tokens is at least 1")


def parameters_of(
    number: int, request: Request, ends: Collection[int], temperature: float, seed: int
) -> dict[str, Any]:
    """Return vLLM's `SamplingParams` for the request of a number, which has a seed of its own."""
    return {
        **_NEUTRAL,
        "max_tokens": request.max_tokens,
        "temperature": temperature,
        "seed": int(draw_seed(stream("server sampler", seed, number)) % 2**31),
        "stop_token_ids": sorted(ends),
    }


def ended_of(
    tokens: Sequence[int],
    logps: Sequence[float],
    request: Request,
    ends: Collection[int],
    reason: object,
) -> bool:
    """Return whether a completion ended at an end token, having checked that it can be trained on.

    Raises:
        ServerError: it cannot.
    """
    # vLLM says -9999 where it has none.
    if len(logps) != len(tokens) or not all(-9000 < logp <= 1e-3 for logp in logps):
        raise ServerError(
            f"the server returned {len(tokens)} tokens, but not a log-probability of each: "
            f"{list(logps[:4])}"
        )
    ended = bool(tokens) and tokens[-1] in ends
    if not ended and len(tokens) < request.max_tokens:
        raise ServerError(
            f"a completion of {len(tokens)} tokens, of {request.max_tokens} at most, ended for the "
            f"reason {reason!r} without an end token {sorted(ends)}: is the server's context "
            "shorter, or was the request aborted?"
        )
    if len(tokens) > request.max_tokens or any(token in ends for token in tokens[:-1]):
        raise ServerError("the server goes on after an end token or the limit of tokens")
    return ended
