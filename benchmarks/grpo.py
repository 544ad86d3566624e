r"""How fast the agent samples, trains and takes whole steps, beside TRL and plain transformers.

All ways of a part are measured in one process and take turns, on models with the same random
weights and on one workload, which `grpo_models.Workload` makes from fixed lists.

    python benchmarks/grpo.py --size 135m --out benchmarks/results/grpo_135m.json       # on a GPU
    python benchmarks/grpo.py --size 1.5b --out benchmarks/results/grpo_1.5b.json
    python benchmarks/grpo.py --size toy --device cpu --fork --groups 4 --group-size 4 \
        --prompt 16 --tokens 16 --slots 8 --micro-tokens 128 --steps 1 --rounds 1   # a quick look

rollout: tokens sampled a second. Every episode has a length of its own, drawn beforehand, and the
end token is switched off, so all ways sample the same lengths (`grpo_rollout`, `grpo_trl`). Weights
are in the precision of computing.

train: tokens trained on a second, prompts included and padding not, with one optimiser step on one
batch (`grpo_ours.Update`, `grpo_trl.Update`). The norms of the gradients tell whether the loss is
the same.

step: whole steps of `train` and of `GRPOTrainer.train()`, on the same prompts and with the same
rewards. Here the end token has a probability that makes lengths ragged. Weights are float32 and
computing is bfloat16, unless a way's name says otherwise. Tokens are all that went through.

`--fork` measures each part in a process of its own, which finds no memory that another has taken;
`--only` and `--ways` leave out the rest.
"""

import argparse
import multiprocessing
from collections.abc import Callable
from fnmatch import fnmatch
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import grpo_ours
import grpo_rollout
import grpo_trl
import results_file
import torch
from grpo_clock import Make, gpu_name, measure, mfu
from grpo_models import SIZES, Workload

MEASURED = (
    "tokens sampled, trained on and taken through whole steps a second, ours beside TRL's and "
    "plain transformers; medians of the rounds, with the least and the most as spread"
)
SAMPLES = "all_tokens_per_s"
TRL = ("trl default", "trl continuous batching")

Ways = tuple[dict[str, Make], dict[str, str]]  # how to make each, and why others are left out


def rollout(work: Workload) -> Ways:
    """Return the ways to sample."""
    found, skipped = grpo_rollout.ways(work)
    for name in TRL:
        found[name] = partial(grpo_trl.Sampling, work, batching=name != TRL[0])
    return found, skipped


def train(work: Workload) -> Ways:
    """Return the ways to train."""
    found: dict[str, Make] = {}
    for suffix, checkpointing in (("", False), (" checkpointing", True)):
        for side, update in (("ours", grpo_ours.Update), ("trl", grpo_trl.Update)):
            found[f"{side}{suffix}"] = partial(update, work, checkpointing=checkpointing)
    return found, {}


def step(work: Workload) -> Ways:
    """Return the ways to take whole steps."""
    ours = partial(grpo_ours.Steps, work, end=ragged(work), checkpointing=False)
    trl = partial(grpo_trl.Steps, work, end=ragged(work), gradient_checkpointing=False)
    found: dict[str, Make] = {
        "ours": partial(ours, engine="slots"),
        "ours with generate": partial(ours, engine="generate"),
        TRL[0]: trl,
        TRL[1]: partial(trl, use_transformers_continuous_batching=True),
    }
    if work.gpu:  # on the CPU all is float32
        found["trl default bfloat16 weights"] = partial(trl, dtype=torch.bfloat16)
    return found, {}


def ragged(work: Workload) -> float:
    """Return an end token's probability, for a mean length of a third of the most or so."""
    return min(0.5, 3 / work.tokens)


# How to measure each part: warm-ups, and whether the ways stand alone. Samplers stand side by side;
# optimisers are too large for that. Whole steps begin with a warm-up of their own.
PARTS: dict[str, tuple[Callable[[Workload], Ways], int, bool]] = {
    "rollout": (rollout, 2, False),  # a graph is captured at the second use of a shape
    "train": (train, 1, True),
    "step": (step, 0, True),
}


def part(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Return what was measured of a part, and what was not and why."""
    work = Workload.of(args)
    makers, skipped = PARTS[name][0](work)
    if reason := grpo_trl.why_not():
        skipped |= {way: reason for way in makers if way.startswith("trl")}
    kept = {
        way: make
        for way, make in makers.items()
        if way not in skipped and any(fnmatch(way, pattern) for pattern in args.ways)
    }
    _, warm_ups, alone = PARTS[name]
    rows = measure(kept, work.device, args.rounds, warm_ups=warm_ups, alone=alone)
    if name != "rollout":
        parameters, device = count(work), gpu_name(work.device)
        for row in rows.values():
            if "failed" not in row:
                row["mfu"] = mfu(row["tokens_per_s"], parameters, device)
    return {"ways": rows, "skipped": skipped, "ratios": ratios(rows)}


def count(work: Workload) -> int:
    """Return the number of the model's parameters."""
    from transformers import LlamaConfig, LlamaForCausalLM

    with torch.device("meta"):
        model = LlamaForCausalLM(LlamaConfig(**SIZES[work.size]))
    return sum(weight.numel() for weight in model.parameters())


def ratios(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Return how many times as fast ours are as TRL's, by tokens a second."""
    speeds = {name: row["tokens_per_s"] for name, row in rows.items() if "failed" not in row}
    return {
        f"{ours} / {theirs}": round(speeds[ours] / speeds[theirs], 2)
        for ours in speeds
        for theirs in speeds
        if ours.startswith("ours") and theirs.startswith("trl")
    }


def apart(work: Callable[[], Any]) -> Any:
    """Return what a function returns in a forked process."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, work))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return {"failed": "the process ended without a result"}
    finally:
        process.join()


def _send(sender: Connection, work: Callable[[], Any]) -> None:
    sender.send(work())


def run(args: argparse.Namespace) -> None:
    """Measure all parts, and print and store what there is after each."""
    if not grpo_trl.why_not() and any(fnmatch(name, p) for p in args.ways for name in TRL):
        grpo_trl.load()
    raw: dict[str, Any] = {}
    name = partial(gpu_name, args.device)
    for each in args.only:
        measured = partial(part, each, args)
        raw[each] = apart(measured) if args.fork else measured()
        head = results_file.head(
            MEASURED,
            *("torch", "transformers", "trl"),
            gpu=apart(name) if args.fork else name(),
            threads=args.threads,
            cuda=torch.version.cuda,
        )
        work = Workload.of(args)
        about = {"parameters": count(work), "dtype": str(work.low)}
        figures = about | {key: in_short(found) for key, found in raw.items()}
        print(results_file.as_text({each: figures[each]}))
        results_file.store(args, head, figures, raw, whole=False)


def in_short(found: dict[str, Any]) -> dict[str, Any]:
    """Return what was measured of a part without the samples."""
    if "ways" not in found:
        return found
    kept = {
        way: {key: value for key, value in row.items() if key != SAMPLES}
        for way, row in found["ways"].items()
    }
    return found | {"ways": kept}


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = results_file.parser(__doc__, "grpo")
    parser.add_argument("--size", choices=SIZES, default="135m")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--ways", nargs="+", default=["*"], help="patterns of names")
    parser.add_argument("--fork", action="store_true", help="each part in a process of its own")
    parser.add_argument("--groups", type=int, default=64)
    parser.add_argument("--group-size", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=128, help="tokens of a prompt, at most")
    parser.add_argument("--tokens", type=int, default=128, help="tokens of an episode, at most")
    parser.add_argument("--slots", type=int, default=512)
    parser.add_argument("--micro-tokens", type=int, default=16_384)
    parser.add_argument("--steps", type=int, default=2, help="whole steps of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Measure, print and store."""
    args = parse()
    torch.set_num_threads(args.threads)
    run(args)


if __name__ == "__main__":
    main()
