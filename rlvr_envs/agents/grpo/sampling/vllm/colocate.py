"""vLLM in the trainer's own process, which gives it the weights and takes turns with it on a GPU.

Experimental: it was run with vLLM 0.32 on a CPU, where vLLM cannot sleep, and on no GPU.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request, Weights
from rlvr_envs.agents.grpo.sampling.vllm.client import ServerError
from rlvr_envs.agents.grpo.sampling.vllm.requests import checked, ended_of, parameters_of
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import pip_install


class VllmColocateSampler:
    """Continues sequences with a vLLM engine in this process.

    Args:
        model: a folder with the model's configuration, as transformers writes it; its weights are
            not read, since `update` gives them.
        end_tokens: what ends a completion.
        context: the most tokens of prompt and completion.
        dtype: the precision that it computes with.
        memory: which part of the GPU's memory the engine may take while it samples.
        sleeps: whether `release` frees that memory (vLLM's sleep mode at level 2); a CPU lacks it.
        options: further arguments of `vllm.LLM`.

    Raises:
        ConfigError: several processes train.
        DependencyError: vLLM is missing.
    """

    concurrent = False  # it takes turns with training

    def __init__(  # noqa: PLR0913 - every argument is a number or a name of the engine
        self,
        model: str | Path,
        end_tokens: Iterable[int],
        *,
        context: int,
        dtype: str = "bfloat16",
        memory: float = 0.3,
        sleeps: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            raise ConfigError(
                "the engine in the trainer's process knows no other workers: train with one "
                "process, or sample from a vLLM server"
            )
        # So that weights are handed over where they are, not to another process.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        try:
            import vllm
        except ImportError as error:
            raise DependencyError(
                f"sampling with vLLM in the trainer's process needs vllm: {pip_install('vllm')}"
            ) from error
        self._ends = frozenset(end_tokens)
        self._params = vllm.SamplingParams
        with torch.random.fork_rng():  # vLLM seeds the generators of the whole process
            self._engine = vllm.LLM(
                model=str(model),
                skip_tokenizer_init=True,
                load_format="dummy",
                max_model_len=context,
                dtype=dtype,
                gpu_memory_utilization=memory,
                enable_sleep_mode=sleeps,
                logprobs_mode="processed_logprobs",
                **(options or {}),
            )
        self._sleeps, self._asleep = sleeps, False
        self._weights: Weights | None = None
        self._version = 0
        self._loaded = False

    def update(self, weights: Weights, version: int) -> None:
        """Take these weights before the next sample (`Sampler.update`)."""
        self._weights, self._version, self._loaded = weights, version, False

    def release(self) -> None:
        """Give the GPU's memory back until the next call, which loads the weights again."""
        if self._sleeps and not self._asleep:
            self._engine.sleep(level=2)
            self._asleep, self._loaded = True, False

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order (`Sampler.generate`).

        Raises:
            ConfigError: a request cannot be sampled, or `update` was never called.
            ServerError: the engine does not return what is needed.
        """
        checked(requests, temperature)
        self._ready()
        parameters = [
            self._params(**parameters_of(number, each, self._ends, temperature, seed))
            for number, each in enumerate(requests)
        ]
        prompts = [{"prompt_token_ids": list(each.prompt)} for each in requests]
        outputs = self._engine.generate(prompts, parameters, use_tqdm=False) if prompts else []
        return [
            self._completion(output.outputs[0], request)
            for output, request in zip(outputs, requests, strict=True)
        ]

    def _ready(self) -> None:
        """Have the weights of the last `update` in the engine."""
        if self._weights is None:
            raise ConfigError(
                "the engine has no weights yet: call `update` before the first `generate`, also "
                "where a run is resumed"
            )
        if self._loaded:
            return
        if self._asleep:
            self._engine.wake_up(tags=["weights"])
        given = {"weights_iterator": iter(self._weights())}
        self._engine.collective_rpc("reload_weights", kwargs=given)
        self._engine.update_weight_version(str(self._version))
        if self._asleep:
            self._engine.wake_up(tags=["kv_cache"])
            self._asleep = False
        if not self._engine.reset_prefix_cache():
            raise ServerError("vLLM kept its prefix cache, which is of older weights")
        self._loaded = True

    def _completion(self, output: Any, request: Request) -> Completion:
        tokens = tuple(output.token_ids)
        pairs = zip(tokens, output.logprobs or (), strict=False)
        logps = tuple(float(each[token].logprob) for token, each in pairs)
        ended = ended_of(tokens, logps, request, self._ends, output.finish_reason)
        spans = tuple((span.start, int(span.version)) for span in output.weight_versions or ())
        if spans != ((0, self._version),):
            raise ServerError(
                f"vLLM says that versions {spans} sampled a completion, not {self._version}"
            )
        return Completion(tokens, logps, ended, spans)
