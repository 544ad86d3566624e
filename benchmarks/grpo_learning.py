"""Whether the agent learns: a tiny model on a registered environment, on one CPU core.

    python benchmarks/grpo_learning.py                         # one turn, three seeds
    python benchmarks/grpo_learning.py --task GuessNumber-v0   # several turns

For each seed the model imitates solved problems for a while, then learns from rewards alone. What
is compared is the score of sampled answers to held-out problems, before and after the latter. It
is sharpening: the model already gives the right answer now and then, and learns to do so surely.
Every run has a process of its own.
"""

import argparse
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import results_file
from own_process import trained

from rlvr_envs.agents.grpo.config import Config, flat
from rlvr_envs.agents.grpo.presets import preset

ROOT = Path(__file__).parents[1]
SETTINGS = {
    "Derivative-v0": preset(warm_start=58, steps=100, max_tokens=16, evaluate_problems=200),
    "GuessNumber-v0": preset(
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
PACKAGES = ("torch", "transformers")
MEASURED = (
    "score of sampled answers to held-out problems (and of the likeliest answer: greedy) before "
    "and after GRPO, on one thread; score and entropy of training are means of ten steps"
)
COLOURS = ("#3b6fd4", "#c2571a", "#2a8f5b", "#8a4fbf", "#666666")


def settings(task: str, seed: int, out: Path, steps: int | None) -> Config:
    """Return the settings of a run."""
    config = SETTINGS[task].replace(tasks=(task,), seed=seed, out=str(out), **COMMON)
    # Held-out problems are asked when imitation ends, and at the end.
    return config.replace(
        steps=steps or config.optimiser.steps, evaluate_every=config.optimiser.warm_start
    )


def learn(config: Config) -> dict[str, Any]:
    """Train in a process of its own, and return what was measured."""
    began = time.perf_counter()
    rows, cpu_s = trained(config)
    seconds = time.perf_counter() - began
    start = config.optimiser.warm_start
    end = start + config.optimiser.steps
    return {
        "seed": config.seed,
        "held_out": {
            "before": {name: rows[start][f"held_out/{name}"] for name in ("score", "greedy")},
            "after": {name: rows[end][f"held_out/{name}"] for name in ("score", "greedy")},
        },
        "score": [rows[step]["score/mean"] for step in range(start + 1, end + 1)],
        "entropy": [rows[step].get("entropy") for step in range(start + 1, end + 1)],
        "seconds": round(seconds, 1),
        "cpu_s": cpu_s,
    }


def in_short(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run with means of ten steps for its curves."""

    def tens(values: list[float | None]) -> list[float | None]:
        parts = (values[start : start + 10] for start in range(0, len(values), 10))
        told = ([value for value in part if value is not None] for part in parts)
        return [round(fmean(part), 3) if part else None for part in told]

    return run | {"score": tens(run["score"]), "entropy": tens(run["entropy"])}


def chosen(config: Config) -> dict[str, Any]:
    """Return the settings that are not the agent's own defaults."""
    plain = flat(Config())
    return {
        name: value
        for name, value in flat(config).items()
        if value != plain[name] and name not in ("out", "seed")
    }


def gain(run: dict[str, Any]) -> str:
    """Return in words what a run has brought."""
    before, after = run["held_out"]["before"], run["held_out"]["after"]
    return (
        f"{before['score']:.3f} -> {after['score']:.3f} "
        f"(greedy {before['greedy']:.3f} -> {after['greedy']:.3f}), {run['seconds']} s"
    )


def chart(runs: list[dict[str, Any]], window: int = 5) -> str:
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
    """Run every seed, print a line for each, and store the results and the chart."""
    runs = []
    for seed in args.seeds:
        found = learn(settings(args.task, seed, args.runs / f"{args.task}-{seed}", args.steps))
        runs.append(found)
        print(f"{args.task} seed {seed}: held-out score {gain(found)}", flush=True)
    args.name = f"grpo_learning_{args.task.removesuffix('-v0').lower()}"
    config = settings(args.task, args.seeds[0], args.runs, args.steps)
    head = results_file.head(MEASURED, *PACKAGES)
    figures = {"settings": chosen(config), "runs": [in_short(run) for run in runs]}
    results_file.store(args, head, figures, runs)
    args.pictures.mkdir(parents=True, exist_ok=True)
    (args.pictures / f"{args.name}.svg").write_text(chart(runs), encoding="utf-8")


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_learning_TASK")
    parser.add_argument("--task", choices=SETTINGS, default="Derivative-v0")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, help="of GRPO; by default those of the task")
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_learning"))
    parser.add_argument("--pictures", type=Path, default=ROOT / "docs" / "images")
    main(parser.parse_args())
