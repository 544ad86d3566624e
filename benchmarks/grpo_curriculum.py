"""A curriculum against a fixed mixture of difficulties, at equal samples, on the real agent.

    python benchmarks/grpo_curriculum.py                      # five seeds
    python benchmarks/grpo_curriculum.py --curriculum "dump(window=64)"

For each seed a tiny model imitates solved problems of all levels. From there it is trained twice,
by groups of levels drawn evenly and by those that the curriculum proposes: as many steps, groups
and episodes. What is compared is the score of sampled answers to held-out problems, the mean over
all levels: the same problems for both. The interval is of the mean of the paired differences
(Student's t, 95 %); each run has a process and one thread of its own.
"""

import argparse
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import results_file
from own_process import trained
from scipy.stats import t as student

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import preset

FIXED = "fixed"
PACKAGES = ("torch", "transformers")
MEASURED = (
    "held-out score of sampled answers before and after GRPO, levels drawn evenly (fixed) or by a "
    "curriculum; differences paired by seed, 95 % interval of their mean"
)


def settings(args: argparse.Namespace, curriculum: str, seed: int) -> Config:
    """Return the settings of a run."""
    name = curriculum.partition("(")[0]
    return preset(
        tasks=(args.task,),
        difficulty=args.difficulty,
        curriculum=curriculum,
        warm_start=args.warm_start,
        steps=args.steps,
        groups=8,
        group_size=8,
        max_tokens=args.max_tokens,
        learning_rate=5e-4,
        # Held-out problems are asked when imitation ends, and at the end.
        evaluate_every=args.warm_start,
        evaluate_problems=args.problems,
        threads=1,
        device="cpu",
        keep=1,
        seed=seed,
        out=str(args.runs / f"{args.task}-{name}-{seed}"),
    )


def learn(config: Config) -> dict[str, Any]:
    """Train in a process of its own, and return the held-out scores before and after."""
    rows, cpu_s = trained(config)
    start = config.optimiser.warm_start
    end = start + config.optimiser.steps
    sampled = sum(row.get("groups/drawn", 0.0) for row in rows.values())
    return {
        "seed": config.seed,
        "curriculum": config.data.curriculum,
        "before": held_out(rows[start]),
        "after": held_out(rows[end]),
        "episodes": round(sampled * config.sampling.group_size),
        "cpu_s": cpu_s,
    }


def held_out(row: dict[str, float]) -> dict[str, float]:
    """Return the score over all levels, and of each."""
    found = {"score": row["held_out/score"]}
    for name, value in row.items():
        if name.startswith("held_out/") and name.count("/") == 2:
            found[f"level {name.rpartition('/')[2]}"] = value
    return {name: round(value, 4) for name, value in found.items()}


def row(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run in a line."""
    scores = {
        f"{name} {when}": run[when][name] for when in ("before", "after") for name in run[when]
    }
    return scores | {"episodes": run["episodes"], "CPU s": run["cpu_s"]}


def compared(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the paired differences between the curriculum and the fixed mixture, by seed."""
    by_seed: dict[int, dict[bool, float]] = {}
    for run in runs:
        by_seed.setdefault(run["seed"], {})[run["curriculum"] == FIXED] = run["after"]["score"]
    differences = [pair[False] - pair[True] for pair in by_seed.values()]
    mean = fmean(differences)
    found: dict[str, Any] = {
        "differences": [round(each, 4) for each in differences],
        "mean": round(mean, 4),
        "interval": None,  # one seed says nothing of others
    }
    if len(differences) > 1:
        half = student.ppf(0.975, len(differences) - 1) * stdev(differences)
        half /= len(differences) ** 0.5
        found["interval"] = [round(float(mean + side), 4) for side in (-half, half)]
    return found


def main(args: argparse.Namespace) -> None:
    """Run both for every seed, print a line for each, and store the results."""
    runs = []
    for seed in args.seeds:
        pair = [learn(settings(args, each, seed)) for each in (FIXED, args.curriculum)]
        counts = {run["episodes"] for run in pair}
        if len(counts) > 1:
            raise SystemExit(f"the runs of seed {seed} sampled {counts} episodes: not comparable")
        for run in pair:
            told = f"{run['before']['score']:.3f} -> {run['after']['score']:.3f}"
            print(f"seed {seed} {run['curriculum']}: {told}, {run['cpu_s']} CPU s", flush=True)
        runs += pair
    result = compared(runs)
    print(f"difference {result['mean']:+.4f}, 95 % interval {result['interval']}")
    figures = {
        "task": args.task,
        "difficulty": args.difficulty,
        "curriculum": args.curriculum,
        "steps": args.steps,
        "compared": result,
        **results_file.table({f"{run['seed']} {run['curriculum']}": row(run) for run in runs}),
    }
    head = results_file.head(MEASURED, *PACKAGES)
    results_file.store(args, head, figures, runs, whole=len(args.seeds) >= 5)


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_curriculum")
    parser.add_argument("--task", default="Derivative-v0")
    parser.add_argument("--difficulty", default="0-1", help="the levels")
    parser.add_argument("--curriculum", default="success_band", help="as `rlvr train` takes it")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--warm-start", type=int, default=110)
    parser.add_argument("--steps", type=int, default=50, help="of GRPO")
    parser.add_argument("--max-tokens", type=int, default=16)
    parser.add_argument("--problems", type=int, default=50, help="held-out, of each level")
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_curriculum"))
    main(parser.parse_args())
