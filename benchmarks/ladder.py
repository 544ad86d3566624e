"""How hard the levels of puzzles and NP-hard tasks are: the work of solving, a baseline's success.

For every level, over the same number of problems: the mean of `effort` (search nodes, states, or
the solver's deterministic work; the number of turns of an interactive game), the mean score of a
simple baseline (`guess` of a puzzle, `greedy` of an optimisation task) and the share of problems
that it solves outright, the length of the prompt, and problems a second of CPU time. Effort and
scores are deterministic; only the rates vary.

    python benchmarks/ladder.py              # all tasks of both domains
    python benchmarks/ladder.py Sudoku-v0    # one task anew; the summary keeps the others' lines

Every task and difficulty is measured in a process of its own. The summary has a line for each task,
since the pages of the tasks draw its curves from there.
"""

import itertools
import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean, stdev
from typing import Any

import fresh_process
import results_file

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.task import InteractiveTask

DOMAINS = ("np_hard", "puzzles")
RUNGS = (0, 2, 4, 6, 8, 10)
Json = dict[str, Any]
RATED = 0.4  # CPU seconds for a rate
CURVES = ("effort", "baseline", "solved")
MEASURED = (
    "effort of an exact search or the reference solver, and a simple baseline's score and share of "
    "problems solved, by difficulty"
)


def baseline(task: Any, problem: Any, seed: int) -> float | None:
    """Return what a simple baseline earns, or None where there is none."""
    if hasattr(task, "greedy"):
        return float(task.verify(problem, task.greedy(problem)).score)
    if hasattr(task, "guess"):
        answer = task.guess(problem, stream("ladder", "guess", seed))
        return float(task.verify(problem, answer).score)
    return None


def effort(task: Any, problem: Any) -> int:
    """Return what solving costs; of a game, the number of turns that the oracle takes."""
    if isinstance(task, InteractiveTask):
        return len(task.play(problem))
    return int(task.effort(problem)) if hasattr(task, "effort") else 0


def cell(task_id: str, rung: int, problems: int, seconds: float) -> dict[str, Any]:
    """Measure one task on one level."""
    env = TextEnv(task_id, difficulty=rung)
    efforts: list[int] = []
    scores: list[float] = []
    chars: list[int] = []
    begin = time.process_time()
    for seed in range(problems):
        instance = env.source.draw(seed)
        efforts.append(effort(instance.task, instance.problem))
        score = baseline(instance.task, instance.problem, seed)
        scores += [] if score is None else [score]
        chars.append(len(instance.prompt()))
        if time.process_time() - begin > seconds:
            break
    solved = [float(score == 1.0) for score in scores]
    return {
        "problems": len(efforts),
        "effort": round(fmean(efforts), 1),
        "effort_error": round(error(efforts), 1),
        "baseline": round(fmean(scores), 3) if scores else None,
        "baseline_error": round(error(scores), 3),
        "solved": round(fmean(solved), 3) if scores else None,
        "solved_error": round(error(solved), 3),
        "chars": round(fmean(chars)),
        "per_second": rate(env),
    }


def error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def rate(env: TextEnv) -> float:
    """Return problems, with their prompts, a second of CPU time."""
    begin = time.process_time()
    for seed in itertools.count():
        env.source.draw(seed).prompt()
        elapsed = time.process_time() - begin
        if elapsed > RATED:
            return round((seed + 1) / elapsed, 1)
    raise AssertionError("counting has no end")


def falls(rungs: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Return the steps on which effort falls, or the baseline solves more, beyond chance."""
    found: dict[str, list[str]] = {"effort": [], "solved": []}
    steps = sorted(rungs.items(), key=lambda item: int(item[0]))
    for (low, one), (high, other) in itertools.pairwise(steps):
        for name, sign in (("effort", 1), ("solved", -1)):
            before, after = one.get(name), other.get(name)
            if before is None or after is None:
                continue
            noise = 2 * (one[f"{name}_error"] ** 2 + other[f"{name}_error"] ** 2) ** 0.5
            if sign * (before - after) > noise:
                found[name].append(f"{low} to {high}")
    return {name: places for name, places in found.items() if places}


def curve(rungs: Json) -> Json:
    """Return what a task's page draws, by difficulty; None where a cell failed."""
    rows = [rungs[str(rung)] for rung in RUNGS]
    counts = [row.get("problems", 0) for row in rows]
    return {"problems": [min(counts), max(counts)]} | {
        key: [row.get(key) for row in rows] for key in CURVES
    }


def summary(curves: dict[str, Json], falling: dict[str, Json]) -> Json:
    """Return the curves of all tasks, and where they do not rise."""
    steps = len(RUNGS) - 1
    with_baseline = sum(row["solved"][0] is not None for row in curves.values())
    return {
        "steps": {"effort": steps * len(curves), "solved": steps * with_baseline},
        "not_monotone": falling,
        "faults": sum(row["effort"].count(None) for row in curves.values()),
        "fewest_problems": min(row["problems"][0] for row in curves.values()),
        "difficulties": list(RUNGS),
        "tasks": results_file.table(dict(sorted(curves.items()))),
    }


def figures_of(tasks: dict[str, Json]) -> Json:
    """Return the summary's figures of measured cells, by task and difficulty."""
    falling = {task_id: bad for task_id, row in tasks.items() if (bad := falls(row))}
    return summary({task_id: curve(row) for task_id, row in tasks.items()}, falling)


def merged(stored: Json, head: Json, anew: Json) -> tuple[Json, Json]:
    """Return the stored summary's beginning and figures, with some tasks measured anew."""
    old, new = stored.pop("figures"), results_file.rows_of(anew["tasks"])
    tasks = results_file.rows_of(old["tasks"])
    day = f"{head['date']}, rlvr_envs {head['versions']['rlvr_envs']}"
    later = stored.get("measured_later", {}) | dict.fromkeys(new, day)
    still = {k: bad for k, bad in old["not_monotone"].items() if k not in new}
    figures = summary(tasks | new, still | anew["not_monotone"])
    return stored | {"measured_later": later}, figures


def main() -> int:
    """Measure, store, and print what does not rise."""
    parser = results_file.parser(__doc__, "ladder")
    parser.add_argument("tasks", nargs="*", help="ids (default: both domains)")
    parser.add_argument("--problems", type=int, default=60, help="on each level, at most")
    parser.add_argument("--seconds", type=float, default=5.0, help="of CPU time for a level, about")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    ids = [registry.find(name).id for name in args.tasks]
    ids = ids or [task_id for domain in DOMAINS for task_id in registry.task_ids(domain)]
    jobs = [(task_id, rung, args.problems, args.seconds) for task_id in ids for rung in RUNGS]
    tasks: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(lambda job: fresh_process.measured(__file__, *job), jobs)
        for (task_id, rung, *_), row in zip(jobs, found, strict=True):
            tasks.setdefault(task_id, {})[str(rung)] = row
    head = results_file.head(MEASURED, "numpy", "ortools", "z3-solver")
    figures = figures_of(tasks)
    print(json.dumps(figures["not_monotone"], indent=1))
    args.out = args.out or results_file.RESULTS / "ladder.json"
    if args.tasks and args.out.exists():
        head, figures = merged(json.loads(args.out.read_text("utf-8")), head, figures)
    results_file.store(args, head, figures, tasks)
    return 0


if __name__ == "__main__":
    raise SystemExit(0 if fresh_process.asked(cell) else main())
