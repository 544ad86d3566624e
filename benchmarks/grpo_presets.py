"""Whether every preset learns: each from the same imitation, on one task and one CPU core.

    python benchmarks/grpo_presets.py                      # all of them
    python benchmarks/grpo_presets.py --presets dapo drpo

The model, the task, the learning rate and the seed are those of `grpo_learning.py`; what a preset
sets is its own. One run each at toy size says whether a preset works at all, and not which one is
best: held-out scores of 200 problems are good to about 0.07, and other seeds begin elsewhere.
"""

import argparse
from pathlib import Path
from typing import Any

import results_file
from grpo_learning import COMMON, PACKAGES, SETTINGS, gain, learn

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import recipes, settings_of

TASK = "Derivative-v0"
NAMES = [each.name for each in recipes() if not each.settings.get("self_play")]  # of games
MEASURED = (
    "held-out score before and after GRPO by each preset, sampled and of the likeliest answer, all "
    "from the same SFT warm-up"
)


def settings(name: str, args: argparse.Namespace) -> Config:
    """Return a preset's settings for the task."""
    plain = SETTINGS[TASK].replace(tasks=(TASK,), seed=args.seed, overlong_buffer=8)
    config = plain.replace(**{**COMMON, **settings_of(name)}, out=str(args.runs / name))
    return config.replace(steps=args.steps, evaluate_every=config.optimiser.warm_start)


def summary(runs: dict[str, Any]) -> dict[str, Any]:
    """Return a line for each preset."""

    def row(run: dict[str, Any]) -> dict[str, float]:
        before, after = run["held_out"]["before"], run["held_out"]["after"]
        return {
            "sampled before": before["score"],
            "sampled after": after["score"],
            "likeliest before": before["greedy"],
            "likeliest after": after["greedy"],
            "seconds": run["seconds"],
            "CPU s": run["cpu_s"],
        }

    return {"task": TASK, **results_file.table({name: row(run) for name, run in runs.items()})}


def main(args: argparse.Namespace) -> None:
    """Train by each preset, print a line for each, and store the results."""
    runs = {}
    for name in args.presets:
        found = runs[name] = learn(settings(name, args))
        print(f"{name:22} {gain(found)}", flush=True)
    head = results_file.head(MEASURED, *PACKAGES)
    results_file.store(args, head, summary(runs), runs, whole=len(runs) == len(NAMES))


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_presets")
    parser.add_argument("--presets", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_presets"))
    main(parser.parse_args())
