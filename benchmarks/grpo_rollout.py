"""Ways to sample of `grpo.py`: our slots, and transformers' own.

Every episode has a length of its own from a fixed list, and the end token is switched off. Our
slots and our plain `generate` end each row at its length; a batch of `generate` goes on until its
longest row is done, whatever the others do, so what has no lengths of rows loses nothing by being
told only the longest. Only tokens up to the lengths count.
"""

from typing import Any

import torch
from grpo_clock import Clock, Make
from grpo_models import PAD, Workload
from transformers import GenerationConfig

from rlvr_envs.agents.grpo.sampling.generate import GenerateSampler, sampling
from rlvr_envs.agents.grpo.sampling.slots import SlotOptions, SlotSampler


def ways(work: Workload) -> tuple[dict[str, Make], dict[str, str]]:
    """Return the makers of the ways, and why others are left out."""
    found: dict[str, Make] = {
        "ours eager": lambda: Ours(work, graphs=False),
        "generate": lambda: Plain(work),
    }
    graphs: dict[str, Make] = {
        "ours graph": lambda: Ours(work, graphs=True),
        "generate static compiled": lambda: Static(work),
    }
    if work.gpu:
        return found | graphs, {}
    return found, dict.fromkeys(graphs, "works with CUDA graphs, which need a GPU")


class Ours:
    """Our slots."""

    def __init__(self, work: Workload, *, graphs: bool) -> None:
        self.requests = work.requests
        self.notes: dict[str, Any] = {}
        self.sampler = SlotSampler(
            work.model(work.low),
            (),
            PAD,
            slots=work.slots,
            context=work.prompt + work.tokens,
            options=SlotOptions(graphs=graphs),
        )

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        clock.mark()
        completions = self.sampler.generate(self.requests, seed=seed)
        clock.mark()
        self.notes = {"utilisation": round(self.sampler.stats.utilisation, 3)}
        return [sum(len(each.tokens) for each in completions)]


class Plain:
    """`generate` as our fallback calls it, in batches as wide as there are slots."""

    def __init__(self, work: Workload) -> None:
        self.requests = work.requests
        self.notes: dict[str, Any] = {}
        self.sampler = GenerateSampler(work.model(work.low), (), PAD, batch_size=work.slots)

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        clock.mark()
        completions = self.sampler.generate(self.requests, seed=seed)
        clock.mark()
        return [sum(len(each.tokens) for each in completions)]


class Static:
    """`generate` with a static cache, whose steps transformers compiles; no log-probabilities."""

    def __init__(self, work: Workload) -> None:
        self.work, self.model = work, work.model(work.low)
        self.notes: dict[str, Any] = {}
        self.settings = GenerationConfig(
            do_sample=True,
            top_k=0,
            max_new_tokens=work.tokens,
            pad_token_id=PAD,
            cache_implementation="static",
        )

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        work = self.work
        torch.manual_seed(seed)
        clock.mark()
        with sampling(self.model, None):
            for start in range(0, work.episodes, work.slots):
                batch = work.requests[start : start + work.slots]
                ids = torch.full((len(batch), work.prompt), PAD)
                attention = torch.zeros_like(ids)
                for row, mask, request in zip(ids, attention, batch, strict=True):
                    row[-len(request.prompt) :] = torch.tensor(request.prompt)
                    mask[-len(request.prompt) :] = 1
                output = self.model.generate(
                    input_ids=ids.to(work.device),
                    attention_mask=attention.to(work.device),
                    generation_config=self.settings,
                )
                output[:, work.prompt :].tolist()  # as a trainer would need them
        clock.mark()
        return [sum(work.limits)]
