"""How fast the agent samples, beside the other ways of sampling from a model of transformers.

One process measures all ways in turn and in rounds, on one model with random weights and one
workload: groups of equal prompts, and for each episode a fixed length drawn beforehand, without end
tokens, so that every way samples as many tokens. What counts is wanted tokens a second.

    python benchmarks/grpo.py --size 135M                  # on a GPU
    python benchmarks/grpo.py --size toy --device cpu --groups 4 --group-size 4    # a quick look

Training and whole steps, and TRL, are not in it yet.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

import rlvr_envs
from rlvr_envs.agents.grpo.sampling.generate import GenerateSampler, sampling
from rlvr_envs.agents.grpo.sampling.sampler import Request
from rlvr_envs.agents.grpo.sampling.slots import SlotOptions, SlotSampler
from rlvr_envs.core.seeding import integer, integers, stream

# SmolLM2-135M's shape; a Llama in Qwen2.5-1.5B's; and one for a look on the CPU.
SIZES = {
    "toy": {
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    "135M": {
        "vocab_size": 49_152,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "tie_word_embeddings": True,
    },
    "1.5B": {
        "vocab_size": 151_936,
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
    },
}

Way = Callable[[int], int]  # a seed → how many wanted tokens were sampled


def workload(args: argparse.Namespace) -> list[Request]:
    """Return the requests: prompts of differing lengths, and lengths that most often are short."""
    rng = stream("benchmark grpo")
    vocabulary = SIZES[args.size]["vocab_size"]
    requests = []
    for _ in range(args.groups):
        length = integer(rng, args.prompt // 2, args.prompt)
        prompt = integers(rng, 0, vocabulary - 1, length)
        for _ in range(args.group_size):
            # A few reach the limit, as answers do; the mean is a third of it.
            wanted = min(1.0, float(rng.exponential(1 / 3)))
            requests.append(Request(prompt, max(1, round(args.tokens * wanted))))
    return requests


class Ours:
    """Our slots, with the utilisation of the last run."""

    def __init__(
        self, model: Any, requests: list[Request], args: argparse.Namespace, *, graphs: bool
    ) -> None:
        self.requests = requests
        self.sampler = SlotSampler(
            model,
            (),
            0,
            slots=args.slots,
            context=args.prompt + args.tokens,
            options=SlotOptions(graphs=graphs),
        )
        self.utilisation = 0.0

    def __call__(self, seed: int) -> int:
        completions = self.sampler.generate(self.requests, seed=seed)
        self.utilisation = round(self.sampler.stats.utilisation, 3)
        return sum(len(each.tokens) for each in completions)


def ways(
    model: Any, requests: list[Request], args: argparse.Namespace
) -> dict[str, Callable[[], Way]]:
    """Return what makes each of the ways that are compared."""

    def generate(seed: int) -> int:
        sampler = GenerateSampler(model, (), 0, batch_size=args.slots)
        return sum(len(each.tokens) for each in sampler.generate(requests, seed=seed))

    found: dict[str, Callable[[], Way]] = {
        "ours eager": lambda: Ours(model, requests, args, graphs=False),
        "generate": lambda: generate,
    }
    if args.device == "cuda":
        found["ours graph"] = lambda: Ours(model, requests, args, graphs=True)
        found["generate static"] = lambda: lambda seed: static(model, requests, args, seed)
    return found


def static(model: Any, requests: list[Request], args: argparse.Namespace, seed: int) -> int:
    """Sample by transformers' static cache, whose steps it compiles; no log-probabilities."""
    torch.manual_seed(seed)
    settings = GenerationConfig(
        do_sample=True,
        top_k=0,
        max_new_tokens=args.tokens,
        pad_token_id=0,
        cache_implementation="static",
    )
    wanted = 0
    with sampling(model, None):
        for start in range(0, len(requests), args.slots):
            batch = requests[start : start + args.slots]
            ids = torch.zeros(len(batch), args.prompt, dtype=torch.long)
            attention = torch.zeros_like(ids)
            for row, mask, request in zip(ids, attention, batch, strict=True):
                row[-len(request.prompt) :] = torch.tensor(request.prompt)
                mask[-len(request.prompt) :] = 1
            model.generate(
                input_ids=ids.to(args.device),
                attention_mask=attention.to(args.device),
                generation_config=settings,
            )
            wanted += sum(request.max_tokens for request in batch)
    return wanted


def peak_gib(make: Callable[[], Way]) -> float:
    """Return the most memory that was taken, the model's included, with no other way around."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    way = make()
    for seed in range(2):
        way(seed)
    torch.cuda.synchronize()
    taken: int = torch.cuda.max_memory_allocated()
    return round(taken / 2**30, 2)


def measure(
    makers: dict[str, Callable[[], Way]], args: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Return tokens a second and memory of each way: medians of rounds, in rotated order."""
    gpu = args.device == "cuda"
    peaks = {name: peak_gib(make) if gpu else None for name, make in makers.items()}
    compared = {name: make() for name, make in makers.items()}
    rates: dict[str, list[float]] = {name: [] for name in compared}
    for way in compared.values():
        for seed in range(2):  # a graph is captured at the second use of a shape
            way(seed)
    names = list(compared)
    for turn in range(args.rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            begin = time.perf_counter()
            tokens = compared[name](2 + turn)
            if gpu:
                torch.cuda.synchronize()
            rates[name].append(tokens / (time.perf_counter() - begin))
    return {
        name: {
            "tokens_per_s": round(statistics.median(rates[name])),
            "all": [round(rate) for rate in rates[name]],
            "peak_gib": peaks[name],
            "utilisation": getattr(compared[name], "utilisation", None),
        }
        for name in names
    }


def machine(device: str) -> dict[str, Any]:
    """Return what the numbers depend on."""
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "threads": torch.get_num_threads(),
        "versions": {name: version(name) for name in ("torch", "transformers")},
        "rlvr_envs": rlvr_envs.__version__,
    }


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="135M")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--groups", type=int, default=64)
    parser.add_argument("--group-size", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=128, help="tokens of a prompt, at most")
    parser.add_argument("--tokens", type=int, default=128, help="tokens of an episode, at most")
    parser.add_argument("--slots", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a file; without it nothing is stored")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    dtype = torch.bfloat16 if args.device == "cuda" else torch.float32
    context = args.prompt + args.tokens
    config = LlamaConfig(max_position_embeddings=context, **SIZES[args.size])
    model = LlamaForCausalLM(config).to(args.device, dtype)
    requests = workload(args)
    settings = {key: value for key, value in vars(args).items() if key != "out"}
    result = {
        "command": "python benchmarks/grpo.py "
        + " ".join(f"--{key.replace('_', '-')} {value}" for key, value in settings.items()),
        "machine": machine(args.device),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "dtype": str(dtype),
        "wanted_tokens": sum(request.max_tokens for request in requests),
        "rollout": measure(ways(model, requests, args), args),
    }
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
