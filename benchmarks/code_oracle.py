"""The oracle of every code task at difficulties 0 to 10, in every language that is installed.

    python benchmarks/code_oracle.py [--problems 2]

A task without a language of its own is played once. Anything but full marks is listed with its
problem seed, and the exit status is then 1. Wall-clock seconds, since the work is done by slots.
"""

import dataclasses
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import results_file

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.shared import shared_sandbox

DIFFICULTIES = range(11)
MEASURED = (
    "the oracle of every code task at difficulties 0 to 10, each of its languages a combination; "
    "the median is that of the combinations' medians, in wall-clock seconds"
)


def combinations(task_id: str, chosen: list[str]) -> list[dict[str, Any]]:
    """Return the knobs under which a task is played: one set for each language it can use."""
    knobs = {field.name for field in dataclasses.fields(registry.find(task_id).task_type.Config)}
    if "language" in knobs:
        return [{"language": name} for name in chosen]
    if {"source", "target"} <= knobs:  # each language once on either side
        pairs = zip(chosen, chosen[1:] + chosen[:1], strict=True)
        return [{"source": source, "target": target} for source, target in pairs]
    return [{}]


def play(task_id: str, knobs: dict[str, Any], difficulty: int, seed: int) -> tuple[str, float]:
    """Return what is wrong with the oracle's verdict on a problem, and how long judging took."""
    row = rlvr_envs.make_problem(task_id, seed=seed, difficulty=difficulty, **knobs)
    solution = rlvr_envs.solve(row)
    begin = time.perf_counter()
    verdict = rlvr_envs.verify(row, solution)
    elapsed = time.perf_counter() - begin
    if verdict.score == 1.0:
        return "", elapsed
    return f"problem_seed {row['problem_seed']}: {verdict.status} {verdict.detail}", elapsed


def summary(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of each task over its languages, and how long judging took."""
    lines, tasks = raw["results"], {}
    for task_id in dict.fromkeys(line["task"] for line in lines):
        own = [line for line in lines if line["task"] == task_id]
        tasks[task_id] = {
            "languages": len(own),
            "problems": sum(line["problems"] for line in own),
            "full_marks": sum(line["full_marks"] for line in own),
            "judging_median_s": round(statistics.median(x["judging_median_s"] for x in own), 4),
            "judging_longest_s": max(line["judging_longest_s"] for line in own),
        }
    return {
        "languages": raw["languages"],
        "problems": sum(line["problems"] for line in lines),
        "full_marks": sum(line["full_marks"] for line in lines),
        "failures": raw["failures"],
        "tasks": tasks,
    }


def main() -> int:
    """Play everything, print a line for each task and language, and store the results."""
    parser = results_file.parser(__doc__, "code_oracle")
    parser.add_argument("--problems", type=int, default=2, help="at each difficulty")
    parser.add_argument("--task", action="append", help="only this one; may be repeated")
    args = parser.parse_args()
    chosen = languages.installed()
    sandbox = shared_sandbox()
    print(f"{len(chosen)} languages: {' '.join(chosen)}; sandbox: {sandbox.backend}")
    found = [i for i in registry.task_ids("code") if not args.task or i in args.task]
    tasks = [i for i in found if not issubclass(registry.find(i).task_type, IndexedTask)]
    lines, failures = [], []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        for task_id in tasks:
            for knobs in combinations(task_id, chosen):
                jobs = [(d, s) for d in DIFFICULTIES for s in range(args.problems)]
                played = list(threads.map(lambda job, i=task_id, k=knobs: play(i, k, *job), jobs))
                wrong = [
                    f"{task_id} {knobs} difficulty {difficulty}: {reason}"
                    for (difficulty, _), (reason, _) in zip(jobs, played, strict=True)
                    if reason
                ]
                seconds = sorted(elapsed for _, elapsed in played)
                line = {
                    "task": task_id,
                    **knobs,
                    "problems": len(played),
                    "full_marks": len(played) - len(wrong),
                    "judging_median_s": round(seconds[len(seconds) // 2], 4),
                    "judging_longest_s": round(seconds[-1], 4),
                }
                print(
                    " ".join(str(value) for value in line.values()),
                    *wrong,
                    sep="\n    ",
                    flush=True,
                )
                lines.append(line)
                failures += wrong
    total = sum(line["problems"] for line in lines)
    print(f"{total - len(failures)} of {total} with full marks")
    head = results_file.head(MEASURED, sandbox=sandbox.backend)
    raw = {"languages": chosen, "results": lines, "failures": failures}
    results_file.store(args, head, summary(raw), raw, whole=not args.task)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
