"""Problems and verdicts a second for every task, beside reasoning-gym and math-verify.

One run measures everything in turn, so that ratios hold although the machine's speed drifts.
A problem is counted with its prompt. Verdicts are measured on full responses: the oracle's, and
another problem's (readable and, as a rule, wrong). Rates are per second of CPU time of this
process; pooled rates are per second of wall-clock time, since the work is done elsewhere.

    python benchmarks/throughput.py --install-peers

reasoning-gym is put into benchmarks/.peers and is not a dependency. In the pairs its configurations
are its defaults and ours is a low rung, which poses problems of about that size; a pair says which
library makes and judges such problems faster, not that they are equally hard. Its answers travel
in <answer> tags and are taken out by its own `extract_answer`.
"""

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.parallel import ParallelJudge
from rlvr_envs.core.task import IndexedTask

PEERS = Path(__file__).resolve().parent / ".peers"
RESULTS = Path(__file__).resolve().parent / "results" / "throughput.json"
SAMPLE = 64  # problems of a task that verification is measured on
FLOOR = 20.0  # problems a second that a task must reach at difficulty 5, or say why not

# Our task: the reasoning-gym dataset that asks the most alike.
PAIRS = {
    "BaseConversion-v0": "base_conversion",
    "CalendarArithmetic-v0": "calendar_arithmetic",
    "ComplexArithmetic-v0": "complex_arithmetic",
    "CoordinateGeometry-v0": "advanced_geometry",
    "DecimalArithmetic-v0": "decimal_arithmetic",
    "FractionArithmetic-v0": "fraction_simplification",
    "FunctionComposition-v0": "list_functions",
    "Gcd-v0": "gcd",
    "IndefiniteIntegral-v0": "intermediate_integration",
    "LinearEquation-v0": "simple_equations",
    "MatrixProduct-v0": "manipulate_matrix",
    "NextTerm-v0": "number_sequence",
    "PolynomialDivision-v0": "polynomial_multiplication",
    "PolynomialRoots-v0": "polynomial_equations",
    "PrimeFactorization-v0": "prime_factorization",
    "Probability-v0": "coin_flip",
    "RandomCalculation-v0": "basic_arithmetic",
    "UnitConversion-v0": "bitwise_arithmetic",
    "WordProblem-v0": "gsm_symbolic",
}

# Tasks under the floor, each with its reason.
SLOW: dict[str, str] = {}


def rate(work: Iterable[Callable[[], object]], seconds: float) -> float:
    """Return calls a second of CPU time; ``work`` is gone through again and again."""
    begin = time.process_time()
    for calls, call in enumerate(itertools.cycle(work), start=1):
        call()
        if calls % 8 == 0 or calls == 1:
            elapsed = time.process_time() - begin
            if elapsed >= seconds:
                return calls / elapsed
    raise ValueError("there is no work to measure")


def ours(task_id: str, difficulty: int) -> dict[str, Callable[[float], float]]:
    """Return measure → function of its duration, for one of our tasks."""
    spec = registry.find(task_id)
    indexed = issubclass(spec.task_type, IndexedTask)
    env = TextEnv(task_id, difficulty=None if indexed else difficulty, **dict(spec.example))
    seeds = itertools.count()
    instances = [env.source.draw(seed) for seed in range(SAMPLE)]
    right = [str(instance.solution()) for instance in instances]
    wrong = [*right[1:], right[0]]
    judged = zip(instances, right, wrong, strict=True)
    own, other = [], []
    for instance, good, bad in judged:
        own.append(lambda i=instance, r=good: i.judge(r))
        other.append(lambda i=instance, r=bad: i.judge(r))
    return {
        "generate": lambda s: rate([lambda: env.source.draw(next(seeds)).prompt()], s),
        "verify_own": lambda s: rate(own, s),
        "verify_other": lambda s: rate(other, s),
    }


def reasoning_gym(name: str) -> dict[str, Callable[[float], float]]:
    """Return the same measures for a dataset of reasoning-gym at its defaults."""
    import reasoning_gym as rg
    from reasoning_gym.utils import extract_answer

    data = rg.create_dataset(name, size=10**9, seed=1)
    index = itertools.count()
    items = [data[i] for i in range(SAMPLE)]
    answers = [f"<answer>{item['answer']}</answer>" for item in items]
    own, other = [], []
    for item, good, bad in zip(items, answers, [*answers[1:], answers[0]], strict=True):
        own.append(lambda i=item, r=good: data.score_answer(extract_answer(r), i))
        other.append(lambda i=item, r=bad: data.score_answer(extract_answer(r), i))
    return {
        "generate": lambda s: rate([lambda: data[next(index)]], s),
        "verify_own": lambda s: rate(own, s),
        "verify_other": lambda s: rate(other, s),
    }


def math_verify(task_id: str, difficulty: int) -> dict[str, Callable[[float], float]]:
    """Return the same verification measures for math-verify on our problems' answers."""
    from math_verify import parse, verify

    env = TextEnv(task_id, difficulty=difficulty)
    instances = [env.source.draw(seed) for seed in range(SAMPLE)]
    golds = [f"${instance.reference()}$" for instance in instances]
    right = [str(instance.solution()) for instance in instances]
    calls = {"verify_own": right, "verify_other": [*right[1:], right[0]]}

    def judge(gold: str, response: str) -> bool:
        return bool(
            verify(
                parse(gold, parsing_timeout=None),
                parse(response, parsing_timeout=None),
                timeout_seconds=None,
            )
        )

    def measure(responses: list[str]) -> Callable[[float], float]:
        pairs = list(zip(golds, responses, strict=True))
        return lambda s: rate([lambda g=g, r=r: judge(g, r) for g, r in pairs], s)

    return {name: measure(responses) for name, responses in calls.items()}


def measured(measures: dict[str, Callable[[float], float]], seconds: float) -> dict[str, float]:
    """Run each measure once."""
    return {name: round(measure(seconds), 1) for name, measure in measures.items()}


def _generate_many(job: tuple[str, int, int, int]) -> int:
    task_id, difficulty, first, count = job
    env = TextEnv(task_id, difficulty=difficulty)
    return sum(len(env.source.draw(first + i).prompt()) > 0 for i in range(count))


def pooled(difficulty: int, count: int, workers: int) -> dict[str, float]:
    """Return rates of the whole math mixture: one process, and a pool, by the wall clock."""
    source = "rlvr/Math-v0"
    env = TextEnv(source, difficulty=difficulty)
    instances = [env.source.draw(seed) for seed in range(count)]
    responses = [str(instance.solution()) for instance in instances]
    found = {}

    def timed(name: str, work: Callable[[], Any]) -> None:
        begin = time.perf_counter()
        work()
        found[name] = round(count / (time.perf_counter() - begin), 1)

    timed("generate_single", lambda: _generate_many((source, difficulty, 0, count)))
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(_generate_many, [(source, difficulty, 0, 2)] * workers))  # warm
        share = count // workers
        jobs = [(source, difficulty, i * share, share) for i in range(workers)]
        timed("generate_pooled", lambda: list(pool.map(_generate_many, jobs)))
    judge = ParallelJudge(workers)
    judge.judge(instances[:8], responses[:8])  # warm
    timed("verify_single", lambda: [i.judge(r) for i, r in zip(instances, responses, strict=True)])
    timed("verify_pooled", lambda: judge.judge(instances, responses))
    judge.close()
    return found


def machine() -> dict[str, object]:
    """Return what the numbers depend on."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "versions": {name: version(name) for name in ("numpy", "sympy", "math-verify")},
        "rlvr_envs": rlvr_envs.__version__,
    }


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure everything in turn, several rounds, and keep the medians."""
    rounds: dict[str, list[dict[str, float]]] = {}
    for turn in range(args.rounds):
        for task_id in args.tasks or registry.task_ids("math"):
            name = task_id.removeprefix("rlvr/")
            columns = {"ours": lambda n=name: ours(n, args.difficulty)}
            if name in PAIRS and not args.no_peers:
                columns["reasoning_gym"] = lambda n=name: reasoning_gym(PAIRS[n])
                columns["paired"] = lambda n=name: ours(n, args.pair_difficulty)
                columns["math_verify"] = lambda n=name: math_verify(n, args.pair_difficulty)
            for who, measures in columns.items():
                found = measured(measures(), args.seconds)
                rounds.setdefault(f"{name} {who}", []).append(found)
            print(f"round {turn + 1}: {name}", file=sys.stderr)
    return {
        key: {m: statistics.median(r[m] for r in found) for m in found[0]}
        for key, found in rounds.items()
    }


def summary(medians: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Return the ratios of the pairs, and the tasks under the floor."""
    ratios: dict[str, dict[str, float]] = {}
    for name in PAIRS:
        our, peer = medians.get(f"{name} paired"), medians.get(f"{name} reasoning_gym")
        if our and peer:
            ratios[name] = {m: round(our[m] / peer[m], 2) for m in our}
            plain = medians[f"{name} math_verify"]
            ratios[name] |= {f"{m}_vs_math_verify": round(our[m] / plain[m], 2) for m in plain}
    keys = next(iter(ratios.values()), {})
    slow = {
        key.split()[0]: found["generate"]
        for key, found in medians.items()
        if key.endswith(" ours") and found["generate"] < FLOOR
    }
    return {
        "pairs": ratios,
        "median_ratio": {m: statistics.median(r[m] for r in ratios.values()) for m in keys},
        "under_the_floor": {
            name: [r, SLOW.get(name, "NO REASON GIVEN")] for name, r in slow.items()
        },
    }


def main() -> int:
    """Measure, print the summary and store everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="ids (default: the whole math domain)")
    parser.add_argument("--difficulty", type=int, default=5)
    parser.add_argument("--pair-difficulty", type=int, default=1, help="ours, in the pairs")
    parser.add_argument("--seconds", type=float, default=0.2, help="of CPU time, for each measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--install-peers", action="store_true", help="pip install reasoning-gym")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    if args.install_peers and not PEERS.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(PEERS)]
        subprocess.run([*pip, "reasoning-gym==0.1.25"], check=True)
    sys.path.append(str(PEERS))  # at the end: our own versions of shared packages win
    medians = run(args)
    result = {
        "command": "python benchmarks/throughput.py " + " ".join(sys.argv[1:]),
        "machine": machine(),
        "unit": "per second of CPU time; pooled: per second of wall-clock time",
        "difficulty": args.difficulty,
        "pair_difficulty": args.pair_difficulty,
        "summary": summary(medians),
        "pooled": pooled(args.difficulty, 4000, os.cpu_count() or 1),
        "medians": medians,
    }
    args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({"summary": result["summary"], "pooled": result["pooled"]}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
