"""How hard the difficulty levels are: the work of solving, a baseline's success.

For every level, over the same number of problems: the mean of the task's `effort`, the mean score
of its `baseline` and the share of problems that it solves outright, the length of the prompt, and
problems a second of CPU time. Effort and scores are deterministic; only the rates vary.

    python benchmarks/levels.py              # all tasks of all domains
    python benchmarks/levels.py Sudoku-v0    # one task anew; the summary keeps the others' lines

Every task and difficulty is measured in a process of its own. The summary has a line for each task,
since the pages of the tasks draw its curves from there.
"""

import itertools
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from typing import Any

import fresh_process
import results_file

from rlvr_envs.conformance.levels import baseline_verdict
from rlvr_envs.conformance.subject import Drawn, standard_error
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.task import IndexedTask

LEVELS = (0, 2, 4, 6, 8, 10)
Json = dict[str, Any]
RATED = 0.4  # CPU seconds for a rate
CURVES = ("effort", "baseline", "solved")
MEASURED = "the effort of solving, and a baseline's score and share of problems solved, by level"


def cell(task_id: str, level: int, problems: int, seconds: float) -> dict[str, Any]:
    """Measure one task on one level."""
    env = TextEnv(task_id, difficulty=level)
    efforts: list[float] = []
    scores: list[float] = []
    chars: list[int] = []
    begin = time.process_time()
    for seed in range(problems):
        instance = env.source.draw(seed)
        efforts.append(instance.task.effort(instance.problem))
        scores.append(baseline_verdict(Drawn(instance)).score)
        chars.append(len(instance.prompt()))
        if time.process_time() - begin > seconds:
            break
    solved = [float(score == 1.0) for score in scores]
    return {
        "problems": len(efforts),
        "effort": round(fmean(efforts), 1),
        "effort_error": round(standard_error(efforts), 1),
        "baseline": round(fmean(scores), 3),
        "baseline_error": round(standard_error(scores), 3),
        "solved": round(fmean(solved), 3),
        "solved_error": round(standard_error(solved), 3),
        "chars": round(fmean(chars)),
        "per_second": rate(env),
    }


def rate(env: TextEnv) -> float:
    """Return problems, with their prompts, a second of CPU time."""
    begin = time.process_time()
    for seed in itertools.count():
        env.source.draw(seed).prompt()
        elapsed = time.process_time() - begin
        if elapsed > RATED:
            return round((seed + 1) / elapsed, 1)
    raise AssertionError("counting has no end")


def falls(levels: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Return the steps on which effort falls, or the baseline solves more, beyond chance."""
    found: dict[str, list[str]] = {"effort": [], "solved": []}
    steps = sorted(levels.items(), key=lambda item: int(item[0]))
    for (low, one), (high, other) in itertools.pairwise(steps):
        for name, sign in (("effort", 1), ("solved", -1)):
            before, after = one.get(name), other.get(name)
            if before is None or after is None:
                continue
            noise = 2 * (one[f"{name}_error"] ** 2 + other[f"{name}_error"] ** 2) ** 0.5
            if sign * (before - after) > noise:
                found[name].append(f"{low} to {high}")
    return {name: places for name, places in found.items() if places}


def curve(levels: Json) -> Json:
    """Return what a task's page draws, by difficulty; None where a cell failed."""
    rows = [levels[str(level)] for level in LEVELS]
    counts = [row.get("problems", 0) for row in rows]
    return {"problems": [min(counts), max(counts)]} | {
        key: [row.get(key) for row in rows] for key in CURVES
    }


def summary(curves: dict[str, Json], falling: dict[str, Json]) -> Json:
    """Return the curves of all tasks, and where they do not rise."""
    steps = len(LEVELS) - 1
    return {
        "steps": steps * len(curves),
        "not_monotone": falling,
        "faults": sum(row["effort"].count(None) for row in curves.values()),
        "fewest_problems": min(row["problems"][0] for row in curves.values()),
        "difficulties": list(LEVELS),
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


def _indexed(task_id: str) -> bool:
    """Whether a task's problems are the rows of a file, which have no levels."""
    return issubclass(registry.find(task_id).task_type, IndexedTask)


def main() -> int:
    """Measure, store, and print what does not rise."""
    parser = results_file.parser(__doc__, "levels")
    parser.add_argument("tasks", nargs="*", help="ids (default: all tasks with levels)")
    parser.add_argument("--problems", type=int, default=60, help="on each level, at most")
    parser.add_argument("--seconds", type=float, default=5.0, help="of CPU time for a level, about")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    ids = [registry.find(name).id for name in args.tasks]
    ids = ids or [name for name in registry.task_ids() if not _indexed(name)]
    jobs = [(task_id, level, args.problems, args.seconds) for task_id in ids for level in LEVELS]
    tasks: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(lambda job: fresh_process.measured(__file__, *job), jobs)
        for (task_id, level, *_), row in zip(jobs, found, strict=True):
            tasks.setdefault(task_id, {})[str(level)] = row
    head = results_file.head(MEASURED, "numpy", "ortools", "z3-solver")
    figures = figures_of(tasks)
    print(json.dumps(figures["not_monotone"], indent=1))
    args.out = args.out or results_file.RESULTS / "levels.json"
    if args.tasks and args.out.exists():
        head, figures = merged(json.loads(args.out.read_text("utf-8")), head, figures)
    results_file.store(args, head, figures, tasks)
    return 0


if __name__ == "__main__":
    raise SystemExit(0 if fresh_process.asked(cell) else main())
