"""Whether the agent learns: a tiny model on a registered environment, on one CPU core.

    python benchmarks/grpo_learning.py                         # one turn, three seeds
    python benchmarks/grpo_learning.py --task GuessNumber-v0   # several turns

For each seed the model imitates solved problems for a while, then learns from rewards alone. What
is compared is the score of sampled answers to held-out problems, before and after the latter. It
is sharpening: the model already gives the right answer now and then, and learns to do so surely.
Every run goes on from its checkpoints in one process after another where the machine limits the CPU
time of a process.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import sys
import time
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import torch
from transformers import LlamaForCausalLM  # noqa: F401 - imported once, before the forks

import rlvr_envs
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.model import checkpoint
from rlvr_envs.agents.grpo.tracking.metrics import read
from rlvr_envs.agents.grpo.train import train

ROOT = Path(__file__).parents[1]
SETTINGS = {
    "Derivative-v0": Config(warm_start=70, steps=100, max_tokens=16, evaluate_problems=200),
    "GuessNumber-v0": Config(
        warm_start=120, steps=100, max_tokens=10, context=320, evaluate_problems=64, groups=16
    ),
}
COMMON = {
    "group_size": 8,
    "learning_rate": 5e-4,
    "threads": 1,
    "device": "cpu",
    "keep": 1,
}
STEPS_A_PIECE = 12  # where CPU time is limited
COLOURS = ("#3b6fd4", "#c2571a", "#2a8f5b", "#8a4fbf", "#666666")


def settings(task: str, seed: int, out: Path, steps: int | None) -> Config:
    """Return the settings of a run."""
    config = replace(SETTINGS[task], tasks=(task,), seed=seed, out=str(out), **COMMON)
    steps = steps or config.steps
    # Held-out problems are asked when imitation ends, and at the end.
    return replace(config, steps=steps, evaluate_every=config.warm_start)


def learn(config: Config) -> dict[str, object]:
    """Train in as many processes as it takes, and return what was measured."""
    folder = Path(config.out)
    shutil.rmtree(folder, ignore_errors=True)
    limited = resource.getrlimit(resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY
    piece = STEPS_A_PIECE if limited else config.warm_start + config.steps
    last = f"step-{config.warm_start + config.steps:08d}"
    began = time.perf_counter()
    while (newest := checkpoint.newest(folder / "checkpoints")) is None or newest.name != last:
        child = os.fork()
        if not child:
            resume = (folder / "config.json").exists()
            train(replace(config, resume=resume, stop_after=piece), quiet=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        after = checkpoint.newest(folder / "checkpoints")
        if status and after == newest:
            if piece == 1:
                sys.exit(f"a piece of the run in {folder} failed")
            piece = (piece + 1) // 2
    seconds = time.perf_counter() - began
    rows = read(folder)
    start, end = config.warm_start, config.warm_start + config.steps
    return {
        "seed": config.seed,
        "held_out": {
            "before": {name: rows[start][f"held_out/{name}"] for name in ("score", "greedy")},
            "after": {name: rows[end][f"held_out/{name}"] for name in ("score", "greedy")},
        },
        "score": [rows[step]["score/mean"] for step in range(start + 1, end + 1)],
        "entropy": [rows[step].get("entropy") for step in range(start + 1, end + 1)],
        "seconds": round(seconds, 1),
    }


def gain(run: dict[str, object]) -> str:
    """Return in words what a run has brought."""
    before, after = run["held_out"]["before"], run["held_out"]["after"]
    return (
        f"{before['score']:.3f} -> {after['score']:.3f} "
        f"(greedy {before['greedy']:.3f} -> {after['greedy']:.3f}), {run['seconds']} s"
    )


def provenance() -> dict[str, object]:
    """Return what ran and where."""
    return {
        "versions": {
            "rlvr_envs": rlvr_envs.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "transformers")},
        },
        "machine": f"{os.cpu_count()} CPUs, one thread",
    }


def chart(runs: list[dict[str, object]], window: int = 5) -> str:
    """Return the score of sampled training answers by step, one line a seed, as SVG."""
    wide, high, left, top, below = 560, 250, 46, 16, 34
    steps = max(len(run["score"]) for run in runs)

    def at(step: float, score: float) -> str:
        x = left + (wide - left - 12) * step / max(1, steps - 1)
        return f"{x:.1f},{top + (high - top - below) * (1 - score):.1f}"

    lines = []
    for score in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = at(0, score).split(",")[1]
        lines.append(
            f'<line x1="{left}" x2="{wide - 12}" y1="{y}" y2="{y}" stroke="#888" opacity="0.3"/>'
            f'<text x="{left - 6}" y="{float(y) + 4}" text-anchor="end">{score:g}</text>'
        )
    for run, colour in zip(runs, COLOURS * len(runs), strict=False):
        scores = run["score"]
        smooth = [
            sum(part) / len(part)
            for part in (scores[max(0, i - window + 1) : i + 1] for i in range(len(scores)))
        ]
        points = " ".join(at(step, score) for step, score in enumerate(smooth))
        lines.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    bottom = high - 10
    lines.append(f'<text x="{wide / 2}" y="{bottom}" text-anchor="middle">steps of GRPO</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        'aria-label="score of sampled answers by step, one line for each seed" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#888">'
        f"{''.join(lines)}</svg>\n"
    )


def main(args: argparse.Namespace) -> None:
    """Run every seed, print the table, and write the results."""
    torch.set_num_threads(1)
    runs = []
    for seed in args.seeds:
        found = learn(settings(args.task, seed, args.runs / f"{args.task}-{seed}", args.steps))
        runs.append(found)
        print(f"{args.task} seed {seed}: held-out score {gain(found)}", flush=True)
    config = asdict(settings(args.task, args.seeds[0], args.runs, args.steps))
    result = {
        "command": "python benchmarks/grpo_learning.py " + " ".join(sys.argv[1:]),
        **provenance(),
        "config": {k: v for k, v in config.items() if k not in ("out", "seed")},
        "runs": runs,
    }
    args.out.mkdir(parents=True, exist_ok=True)
    name = f"grpo_learning_{args.task.removesuffix('-v0').lower()}"
    (args.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    args.pictures.mkdir(parents=True, exist_ok=True)
    (args.pictures / f"{name}.svg").write_text(chart(runs), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", choices=SETTINGS, default="Derivative-v0")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, help="of GRPO; by default those of the task")
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_learning"))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--pictures", type=Path, default=ROOT / "docs" / "images")
    main(parser.parse_args())
