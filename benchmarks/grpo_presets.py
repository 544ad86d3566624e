"""Whether every preset learns: each from the same imitation, on one task and one CPU core.

    python benchmarks/grpo_presets.py                      # all of them
    python benchmarks/grpo_presets.py --presets dapo drpo

The model, the task, the learning rate and the seed are those of `grpo_learning.py`; what a preset
sets is its own. One run each at toy size says whether a preset works at all, and not which one is
best: held-out scores of 200 problems are good to about 0.07, and other seeds begin elsewhere.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import torch
from grpo_learning import COMMON, ROOT, SETTINGS, gain, learn, provenance

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import PRESETS

TASK = "Derivative-v0"


def settings(name: str, args: argparse.Namespace) -> Config:
    """Return a preset's settings for the task."""
    plain = replace(SETTINGS[TASK], tasks=(TASK,), seed=args.seed, overlong_buffer=8)
    config = replace(plain, **{**COMMON, **PRESETS[name]}, out=str(args.runs / name))
    return replace(config, steps=args.steps, evaluate_every=config.warm_start)


def main(args: argparse.Namespace) -> None:
    """Train by each preset, print a line for each, and write the results."""
    torch.set_num_threads(1)
    runs = {}
    for name in args.presets:
        found = runs[name] = learn(settings(name, args))
        print(f"{name:22} {gain(found)}", flush=True)
    result = {
        "command": f"python benchmarks/grpo_presets.py --seed {args.seed} --steps {args.steps}",
        **provenance(),
        "task": TASK,
        "runs": runs,
    }
    args.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    (args.out / "grpo_presets.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=list(PRESETS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_presets"))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    main(parser.parse_args())
