"""What a core and a driver do in a second, by domain: the costs that docs/scale.md multiplies.

    python benchmarks/scale.py

One process works alone, so its time is that of a core: keep the machine quiet. The driver is the
process that opened an executor (Ray, one node): its own CPU seconds say how much of the work
elsewhere it can keep up with.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import results_file

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.source import open_source
from rlvr_envs.datasets.generate import generate
from rlvr_envs.datasets.plan import Plan
from rlvr_envs.datasets.rows import json_line
from rlvr_envs.datasets.score import Sample, judge
from rlvr_envs.datasets.split import WHOLE
from rlvr_envs.evaluation import evaluate
from rlvr_envs.executors import Executor, open_executor

DIFFICULTY = 2

Item = TypeVar("Item")
Result = TypeVar("Result")


def main() -> None:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "scale")
    parser.add_argument("--count", type=int, default=400, help="problems of each domain")
    parser.add_argument("--domains", nargs="+", choices=registry.DOMAINS, help="default: all")
    args = parser.parse_args()
    ids = {domain: source_id for source_id, domain in registry.mixture_ids().items() if domain}
    rows: dict[str, dict[str, Any]] = {}
    stored = {}
    for domain in args.domains or registry.DOMAINS:
        rows[domain], stored[domain] = measure(ids[domain], args.count)
        print(domain, rows[domain], file=sys.stderr, flush=True)
    with open_executor("ray", workers=2) as executor:  # later, for it is never quite idle
        for domain, samples in stored.items():
            rows[domain] |= driver(ids[domain], samples, executor)
            print(domain, rows[domain], file=sys.stderr, flush=True)
    head = results_file.head(
        f"milliseconds of a core for a problem, a solution, a verdict and an episode at difficulty "
        f"{DIFFICULTY}, and of the driver's CPU; what follows a second, and the cores that a "
        "driver keeps at work",
        "ray",
        problems=args.count,
    )
    whole = args.domains is None and args.count == parser.get_default("count")
    figures = {"costs": results_file.table(rows), "follows": results_file.table(follows(rows))}
    results_file.store(args, head, figures, rows, whole=whole)
    print(json.dumps(figures, indent=1))


def measure(source_id: str, count: int) -> tuple[dict[str, Any], list[Sample]]:
    """Return the costs of a domain's tasks, drawn as its mixture draws them, and solved rows."""
    source = open_source(source_id, difficulty=DIFFICULTY)
    for seed in range(count, count + 20):  # imports, caches and sandboxes
        first = source.draw(seed)
        first.judge(first.solution())
    draw_ms, instances = cost(source.draw, range(count))
    solve_ms, solutions = cost(lambda instance: instance.solution(), instances)
    pairs = list(zip(instances, solutions, strict=True))
    judge_ms, verdicts = cost(lambda pair: pair[0].judge(pair[1]), pairs)
    if any(verdict.score != 1.0 for verdict in verdicts):
        raise SystemExit(f"an answer of the oracle of {source_id} is not right")
    env = TextEnv(source_id, difficulty=DIFFICULTY)
    numbered = list(enumerate(solutions))
    episode_ms, turns = cost(lambda each: play(env, *each), numbered)
    stored = [instance.to_row() for instance in instances]
    found = {
        "problem_ms": draw_ms,
        "solution_ms": solve_ms,
        "verdict_ms": judge_ms,
        "episode_ms": episode_ms,
        "turns": round(sum(turns) / count, 1),
        "row_bytes": round(sum(len(json_line(row)) for row in stored) / count),
    }
    return found, [Sample(i, row, 0, solutions[i]) for i, row in enumerate(stored)]


def driver(source_id: str, samples: Sequence[Sample], executor: Executor) -> dict[str, float]:
    """Return the driver's CPU milliseconds for a row, a verdict and an episode."""
    count = len(samples)
    found = {}
    plan = Plan(
        sources=((source_id, count),),
        seed=0,
        difficulty=str(DIFFICULTY),
        splits=WHOLE,
        shard_rows=count,
    )
    asked = {"difficulty": DIFFICULTY, "episodes": count, "executor": executor}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        works: dict[str, Callable[[], object]] = {
            "generate": lambda: generate(plan, out / "data", executor=executor),
            "verify": lambda: list(judge(samples, executor=executor)),
            "eval": lambda: evaluate(source_id, "constant:0", **asked, out=out / "run"),
        }
        for name, work in works.items():
            before = time.process_time()
            work()
            spent = time.process_time() - before
            found[f"driver_{name}_ms"] = round(1000 * spent / count, 3)
    return found


def cost(function: Callable[[Item], Result], items: Sequence[Item]) -> tuple[float, list[Result]]:
    """Return the milliseconds of a call, and the results."""
    began = time.perf_counter()
    results = [function(item) for item in items]
    return round(1000 * (time.perf_counter() - began) / len(items), 3), results


def play(env: TextEnv, seed: int, solution: str | list[str]) -> int:
    """Play the oracle's actions, and return how many there were."""
    env.reset(options={"problem_seed": seed})
    actions = [solution] if isinstance(solution, str) else solution
    for turn, action in enumerate(actions, 1):
        if any(env.step(action)[2:4]):
            return turn
    raise SystemExit(f"the oracle's episode of problem {seed} of {env.source.id} does not end")


def follows(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what a core and a driver do in a second, and the drivers that many nodes need."""
    found = {}
    for domain, row in rows.items():
        checked_ms = row["problem_ms"] + row["solution_ms"] + row["verdict_ms"]
        work = {"generate": checked_ms, "verify": row["verdict_ms"], "eval": row["episode_ms"]}
        each: dict[str, Any] = {}
        for name, ms in work.items():
            driver_ms = row[f"driver_{name}_ms"]
            each[f"{name}_a_core"] = round(1000 / ms)
            each[f"{name}_a_driver"] = round(1000 / driver_ms)
            each[f"{name}_cores"] = round(ms / driver_ms)
        found[domain] = each
    return found


if __name__ == "__main__":
    main()
