"""Whether each preset's mechanism acts in training: a few steps of the tiny model by every preset.

    python benchmarks/grpo_mechanisms.py                    # all of them, minutes on one core
    python benchmarks/grpo_mechanisms.py --presets dapo gspo

All begin with the same imitation and sample the same first step, in groups of one size, so that the
first step's change of the weights tells presets apart: the preset whose change is most alike is
named, with the cosine between both. Minibatches, penalties and clipping are each preset's own. What
share of trained tokens had a ratio other than 1, and what share was clipped (an advantage, but no
gradient), is over all steps.
"""

import argparse
import shutil
from pathlib import Path
from statistics import fmean
from typing import Any

import results_file
import torch
from safetensors.torch import load_file

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import preset, recipes
from rlvr_envs.agents.grpo.tracking.metrics import read
from rlvr_envs.agents.grpo.train import train

# Presets of which wrappers or callbacks are a part are left out: what they do is not in the loss.
# The stored answers of the initial policy are an exception, since a loss is made for them.
NAMES = [
    each.name
    for each in recipes()
    if "wrappers" not in each.settings
    and each.settings.get("callbacks", ()) in ((), ("initial_solutions",))
]
# One turn, and several: some methods tell turns apart.
TASKS = ("Derivative-v0", "GuessNumber-v0")
SIZES: dict[str, Any] = {
    "tasks": TASKS,
    "groups": 5,  # of which GRPO-λ takes the best fifth
    "group_size": 9,  # odd, as the median needs
    "temperature": 1.0,
    "max_tokens": 12,
    "overlong_buffer": 6,
    "context": 320,
    "learning_rate": 1e-4,
    "warmup": 0,
    "max_rounds": 2,
    "device": "cpu",
    "threads": 1,
    "save_every": 1,  # the first step is compared
    "keep": 99,
}
MEASURED = (
    "share of trained tokens whose ratio is not 1 and share that is clipped, over a few steps by "
    "each preset; and the preset whose first step changes the weights most alike, with the cosine"
)


def imitation(args: argparse.Namespace) -> str:
    """Return a model that has imitated solved problems: where every preset begins."""
    out = args.runs / "imitation"
    shutil.rmtree(out, ignore_errors=True)
    config = preset(**SIZES).replace(
        warm_start=args.warm_start, steps=1, stop_after=args.warm_start, warmup=10, out=str(out)
    )
    return str(train(config.replace(keep=1, save_every=1000), quiet=True))


def settings(name: str, model: str, args: argparse.Namespace) -> Config:
    """Return a preset at the benchmark's sizes."""
    config = preset(name, **SIZES, model=model, steps=args.steps, out=str(args.runs / name))
    if any("initial_solutions" in each for each in config.algorithm.callbacks):
        config = config.replace(callbacks=("initial_solutions(problems=32, replay=16)",))
    return config


def change(folder: Path, model: str) -> torch.Tensor:
    """Return by how much the first step changed the weights, as one vector of length 1."""
    first = next((folder / "checkpoints").glob("*1")) / "model.safetensors"
    before, after = load_file(Path(model) / "model.safetensors"), load_file(first)
    flat = torch.cat([(after[name] - before[name]).flatten() for name in sorted(before)])
    return flat / flat.norm().clamp(min=1e-30)


def told(config: Config) -> str:
    """Return what an update of a preset is, in short."""
    algorithm = config.algorithm
    parts = [algorithm.estimator, algorithm.loss, algorithm.aggregation]
    parts += [f"{config.updates} updates"]
    if algorithm.kl != "none":
        parts.append(f"{algorithm.kl} {algorithm.kl_coef:g}")
    return "; ".join(parts)


def run(name: str, model: str, args: argparse.Namespace) -> tuple[dict[str, Any], torch.Tensor]:
    """Train by a preset, and return what was measured and the change of the weights."""
    config = settings(name, model, args)
    folder = Path(config.output.out)
    shutil.rmtree(folder, ignore_errors=True)
    train(config, quiet=True)
    rows = [row for row in read(folder).values() if "ratio/mean" in row]
    found = {
        "settings": told(config),
        "ratio not 1": round(fmean(row["ratio/moved"] for row in rows if "ratio/moved" in row), 3),
        "clipped": round(fmean(row.get("clip_fraction", 0.0) for row in rows), 3),
        "greatest ratio": round(max(row["ratio/max"] for row in rows), 2),
    }
    return found, change(folder, model)


def main(args: argparse.Namespace) -> None:
    """Train by each preset, print a line for each, and store the results."""
    model = imitation(args)
    rows: dict[str, dict[str, Any]] = {}
    changes: dict[str, torch.Tensor] = {}
    for name in args.presets:
        rows[name], changes[name] = run(name, model, args)
        print(f"{name:30} {rows[name]}", flush=True)
    for name, row in rows.items():
        alike = {other: float(changes[name] @ changes[other]) for other in rows if other != name}
        nearest = max(alike, key=alike.__getitem__, default="")
        row["nearest"], row["cosine"] = nearest, round(alike.get(nearest, 0.0), 4)
    head = results_file.head(MEASURED, "torch", "transformers", tasks=list(TASKS), steps=args.steps)
    table = results_file.table(rows)
    results_file.store(args, head, table, rows, whole=len(rows) == len(NAMES))


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_mechanisms")
    parser.add_argument("--presets", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--warm-start", type=int, default=120)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_mechanisms"))
    main(parser.parse_args())
