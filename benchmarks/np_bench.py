"""Simple heuristics and the oracle on every optimisation task, in NP-Bench's four size bands.

For each task and band: SR, the share of feasible answers, and AR, the mean ratio of an answer's
objective to the best known (0 where it is not feasible). `greedy` is the task's own heuristic;
`climbing` takes its random moves that are no worse, and `annealing` also some that are, both from
the greedy answer and for a fixed wall-clock time on each problem, so their numbers depend on the
machine. `oracle` is the reference, and `proven` says how often that is known to be optimal;
`beats` is how often a policy found something better.

    python benchmarks/np_bench.py --problems 20 --seconds 1

The figures published for models (NP-Engine, arXiv:2510.16476, README of its repository) are on
NP-Bench's own problems, of the same sizes as our band `bench` but drawn and referenced otherwise:
beside, not against, ours.
"""

import math
import sys
import time
from statistics import fmean
from typing import Any

import results_file

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.generators.optimisation.task import (
    BANDS,
    Infeasible,
    OptimisationTask,
    Unreadable,
)

POLICIES = ("greedy", "climbing", "annealing", "oracle")
MEASURES = ("SR", "AR", "score", "solved", "beats")
MEASURED = (
    "share of feasible answers (SR) and ratio to the best known (AR) of simple heuristics on "
    "optimisation tasks; cells are SR/AR in per cent"
)
WARMTH = 0.05  # of annealing at first, relative to the objective

# NP-Bench's domains, and which tasks of ours belong to them.
DOMAINS = {
    "graph": ("MaximumClique-v0", "MaximumIndependentSet-v0", "GraphColoring-v0"),
    "schedule": ("MeetingScheduling-v0",),
    "partition": ("MinimumBisection-v0",),
    "selection": ("SubsetSum-v0", "SetCover-v0", "Knapsack-v0"),
    "planning": ("TravelingSalesman-v0", "LongestCycle-v0"),
}

# Published SR/AR in per cent: the five domains in the order above, then their mean.
PUBLISHED = {
    "o3": "97.0/86.4 99.0/94.5 100/51.4 87.4/87.3 74.0/65.1 91.5/76.9",
    "gpt-4o": "64.7/29.3 79.0/59.8 100/53.0 14.7/9.3 52.0/29.6 62.1/36.2",
    "Qwen2.5-7B-NP": "89.7/27.8 85.0/43.5 99.0/53.8 93.7/79.1 98.2/28.9 93.1/46.6",
    "DS-V3.1-Thinking": "- - - - - 88.8/79.9",
    "Qwen3-235B-Thinking": "- - - - - 82.3/70.7",
    "Qwen3-32B": "- - - - - 70.7/57.6",
    "Qwen3-8B": "- - - - - 57.5/45.4",
    "Qwen2.5-72B": "- - - - - 43.4/26.5",
    "Qwen2.5-7B": "- - - - - 29.6/14.6",
}


def optimisation_tasks() -> list[str]:
    """Return the names of the registered tasks whose answers have an objective."""
    return [
        task_id.removeprefix("rlvr/")
        for task_id in registry.task_ids("np_hard")
        if issubclass(registry.find(task_id).task_type, OptimisationTask)
    ]


def search(
    task: OptimisationTask[Any, Any], problem: Any, rng: Rng, seconds: float, warmth: float
) -> str:
    """Return the best answer of a local search from the greedy one, by the task's own moves."""
    answer = best = task.baseline(rng, problem)
    sign = 1 if task.sense == "max" else -1
    value = top = _value(task, problem, answer, sign)
    begin = time.perf_counter()
    while (spent := (time.perf_counter() - begin) / seconds) < 1 and value > -math.inf:
        moved = task.neighbour(problem, answer, rng)
        found = _value(task, problem, moved, sign)
        heat = warmth * max(1, abs(top)) * (1 - spent)
        if found >= value or (heat > 0 and rng.random() < math.exp((found - value) / heat)):
            answer, value = moved, found
        if value > top:
            best, top = answer, value
    return best


def _value(task: OptimisationTask[Any, Any], problem: Any, answer: str, sign: int) -> float:
    try:
        return sign * task.measure(problem, answer)
    except (Infeasible, Unreadable):
        return -math.inf


def reached(name: str, band: str, problems: int, seconds: float) -> list[dict[str, Any]]:
    """Return what each policy reached on each problem of a task and band."""
    env = TextEnv(f"rlvr/{name}", difficulty=BANDS[band])
    found = []
    for seed in range(problems):
        instance = env.source.draw(seed)
        task, problem = instance.task, instance.problem
        if not isinstance(task, OptimisationTask):
            raise SystemExit(f"{name} is no optimisation task: {', '.join(optimisation_tasks())}")
        greedy = task.baseline(stream("np_bench", "greedy", seed), problem)
        answers = {"greedy": greedy, "oracle": task.solve(problem)}
        for policy, warmth in (("climbing", 0.0), ("annealing", WARMTH)):
            rng = stream("np_bench", policy, name, band, seed)
            answers[policy] = search(task, problem, rng, seconds, warmth)
        row: dict[str, Any] = {"proven": float(task.reference(problem).proven)}
        for policy in POLICIES:
            verdict = task.verify(problem, answers[policy])
            row[policy] = {
                "SR": verdict.parts["feasible"],
                "AR": verdict.parts["ratio"],
                "score": verdict.score,
                "solved": float(verdict.score == 1.0),
                "beats": verdict.parts.get("beats_reference", 0.0),
            }
        found.append(row)
    return found


def means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means over the problems of a task and band."""
    return {
        "problems": len(rows),
        "proven": round(fmean(row["proven"] for row in rows), 3),
        "policies": {
            policy: {key: round(fmean(row[policy][key] for row in rows), 4) for key in MEASURES}
            for policy in POLICIES
        },
    }


def by_domain(results: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return policy → domain → SR/AR in per cent of the band ``bench``, as published ones are."""
    table: dict[str, dict[str, str]] = {}
    for policy in POLICIES:
        means = {}
        for domain, names in DOMAINS.items():
            found = [results[name]["bench"] for name in names if "bench" in results.get(name, {})]
            if len(found) == len(names):
                means[domain] = [
                    100 * fmean(row["policies"][policy][key] for row in found) for key in MEASURES
                ]
        if len(means) == len(DOMAINS):
            means["all"] = [fmean(column) for column in zip(*means.values(), strict=True)]
        table[policy] = {domain: f"{m[0]:.1f}/{m[1]:.1f}" for domain, m in means.items()}
    columns = [*DOMAINS, "all"]
    published = {
        f"{model} (published)": dict(zip(columns, cells.split(), strict=True))
        for model, cells in PUBLISHED.items()
    }
    return table | published


def show(results: dict[str, Any]) -> None:
    """Print a line for each task and band, and the domains beside the published figures."""
    print(f"{'task':28}{'band':8}{'proven':>7}  " + "".join(f"{p:>14}" for p in POLICIES))
    for name, bands in sorted(results.items()):
        for band in (band for band in BANDS if band in bands):
            row = bands[band]
            cells = [cell(row["policies"][policy]) for policy in POLICIES]
            print(f"{name:28}{band:8}{row['proven']:>7.2f}  " + "".join(f"{c:>14}" for c in cells))
    columns = [*DOMAINS, "all"]
    print(f"\n{'SR/AR in per cent, bench':34}" + "".join(f"{c:>12}" for c in columns))
    for who, figures in by_domain(results).items():
        print(f"{who:34}" + "".join(f"{figures.get(c, '-'):>12}" for c in columns))


def cell(found: dict[str, float]) -> str:
    """Return SR/AR in per cent."""
    return f"{100 * found['SR']:.1f}/{100 * found['AR']:.1f}"


def summary(results: dict[str, Any]) -> dict[str, Any]:
    """Return the domains beside published figures, every band over all tasks, and `bench` by task.

    Args:
        results: task → band → means.
    """
    bands = {}
    for band in BANDS:
        found = [row[band] for row in results.values() if band in row]
        if found:
            every = {p: [row["policies"][p] for row in found] for p in POLICIES}
            whole = {p: {k: fmean(row[k] for row in every[p]) for k in MEASURES} for p in POLICIES}
            bands[band] = {
                "tasks": len(found),
                "proven": round(fmean(row["proven"] for row in found), 3),
                **{p: cell(whole[p]) for p in POLICIES},
                "annealing_beats": round(whole["annealing"]["beats"], 4),
            }
    last = {name: bands["bench"] for name, bands in sorted(results.items()) if "bench" in bands}
    return {
        "problems_of_each_task_and_band": [
            min(row["problems"] for bands in results.values() for row in bands.values()),
            max(row["problems"] for bands in results.values() for row in bands.values()),
        ],
        "bench_by_domain": by_domain(results),
        "all_tasks_by_band": bands,
        "bench_by_task": {
            name: {"proven": row["proven"]} | {p: cell(row["policies"][p]) for p in POLICIES}
            for name, row in last.items()
        },
    }


def main() -> int:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "np_bench")
    parser.add_argument("--tasks", nargs="*", help="ids (default: every optimisation task)")
    parser.add_argument("--bands", nargs="*", default=list(BANDS), choices=list(BANDS))
    parser.add_argument("--problems", type=int, default=20, help="of each task and band")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each local search")
    args = parser.parse_args()
    raw: dict[str, Any] = {}
    for name in args.tasks or optimisation_tasks():
        task = name.removeprefix("rlvr/")
        for band in args.bands:
            raw.setdefault(task, {})[band] = reached(task, band, args.problems, args.seconds)
            print(f"measured {task} {band}", file=sys.stderr)
    results = {n: {band: means(rows) for band, rows in row.items()} for n, row in raw.items()}
    show(results)
    head = results_file.head(MEASURED, "numpy", "ortools", seconds_of_a_search=args.seconds)
    whole = not args.tasks and set(args.bands) == set(BANDS)
    results_file.store(args, head, summary(results), raw, whole=whole)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
