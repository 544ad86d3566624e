"""Generating and judging 100,000 problems on each executor: the same bytes, and what it costs.

    python benchmarks/executor.py

Serial, processes of this machine and Ray (nodes of one CPU each, as processes of this machine) take
turns. More workers than cores show what is lost by them, not what a cluster gains.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import results_file

from rlvr_envs.datasets.generate import generate
from rlvr_envs.datasets.plan import Plan
from rlvr_envs.datasets.read import read_rows
from rlvr_envs.datasets.score import judge, oracle_samples
from rlvr_envs.datasets.split import WHOLE
from rlvr_envs.executors import Executor, Processes, Serial

TASKS = ("Gcd-v0", "Derivative-v0", "SubsetSum-v0", "Anagram-v0")
COUNT = 25_000  # of each


def main() -> None:
    """Measure, print and store."""
    parser = results_file.parser(__doc__, "executor")
    parser.add_argument("--count", type=int, default=COUNT, help="problems of each task")
    args = parser.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    digests = set()
    for name, opened in _executors().items():
        with opened() as executor, tempfile.TemporaryDirectory() as folder:
            found, digest = _measure(executor, Path(folder), args.count)
        digests.add(digest)
        rows[name] = found
        print(name, found, file=sys.stderr)
    if len(digests) > 1:
        raise SystemExit(f"the executors wrote different bytes: {digests}")
    base = rows["processes, 2 workers"]
    for row in rows.values():
        row["generate_ratio"] = round(base["generate_s"] / row["generate_s"], 2)
        row["judge_ratio"] = round(base["judge_s"] / row["judge_s"], 2)
    figures = {
        "problems": args.count * len(TASKS),
        "sha256_of_all_files": digests.pop(),
        "executors": results_file.table(rows),
    }
    head = results_file.head(
        "seconds to generate (each oracle's answer checked) and to judge problems at difficulty "
        "2; ratios are speeds beside two processes; all executors wrote the same bytes",
        "ray",
        tasks=list(TASKS),
    )
    results_file.store(args, head, figures, rows, whole=args.count == COUNT)
    print(json.dumps(figures, indent=1))


def _executors() -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {
        "serial": Serial,
        "processes, 1 worker": lambda: Processes(1),
        "processes, 2 workers": lambda: Processes(2),
    }
    for nodes in (1, 2, 4):
        found[f"ray, {nodes} nodes of 1 worker"] = lambda nodes=nodes: _on_ray(nodes)
    return found


@contextmanager
def _on_ray(nodes: int) -> Iterator[Executor]:
    import ray
    from ray.cluster_utils import Cluster

    from rlvr_envs.executors.ray import RayExecutor

    with ExitStack() as stack:
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        stack.callback(cluster.shutdown)
        for _ in range(nodes):
            cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        stack.callback(ray.shutdown)
        yield stack.enter_context(RayExecutor())


def _measure(executor: Executor, folder: Path, count: int) -> tuple[dict[str, Any], str]:
    plan = Plan(
        sources=tuple((f"rlvr/{task}", count) for task in TASKS),
        seed=0,
        difficulty="2",
        splits=WHOLE,
        shard_rows=10_000,
    )
    # The first problems pay for imports and for starting workers.
    generate(_small(plan), folder / "warm", executor=executor)
    began = time.perf_counter()
    generate(plan, folder / "data", executor=executor)
    generated = time.perf_counter() - began
    samples = oracle_samples(read_rows(folder / "data"))
    began = time.perf_counter()
    right = sum(verdict.score == 1.0 for _, verdict in judge(samples, executor=executor))
    judged = time.perf_counter() - began
    if right != count * len(TASKS):
        raise SystemExit(f"{right} of {count * len(TASKS)} answers of the oracle are right")
    digest = hashlib.sha256()
    for path in sorted((folder / "data").rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return {"generate_s": round(generated, 1), "judge_s": round(judged, 1)}, digest.hexdigest()


def _small(plan: Plan) -> Plan:
    from dataclasses import replace

    return replace(plan, sources=tuple((task, 200) for task, _ in plan.sources), seed=1)


if __name__ == "__main__":
    main()
