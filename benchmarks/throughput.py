"""Problems and verdicts a second for every task, beside other libraries.

A problem is counted with its prompt. Verdicts are measured on full responses: the oracle's, and
another problem's (readable and, as a rule, wrong). Rates are per second of CPU time of the
measuring process and of the jobs that it has run in sandboxes; pooled rates are per second of
wall-clock time, since the work is done elsewhere.

    python benchmarks/throughput.py --install-peers              # math, into throughput.json
    python benchmarks/throughput.py --domain puzzles             # into throughput_puzzles.json
    python benchmarks/throughput.py --domain np_hard             # into throughput_np_hard.json
    python benchmarks/throughput.py --domain verilog             # into throughput_verilog.json
    python benchmarks/throughput.py --domain puzzles Sudoku-v0   # a part alone: printed

Every task, and every pair of `throughput_pairs`, is measured in a process of its own, in which the
two sides of a pair take turns for several rounds: ratios hold although the machine's speed drifts.

The libraries are put into benchmarks/.peers and are not dependencies; RLVE-gym also needs torch.
Each is called as its documentation has users call it. Of reasoning-gym a problem is an item of the
data set; answers travel in <answer> tags and are taken out by its own `extract_answer`. Of RLVE-gym
a problem is a call of `generator`, repeated until it succeeds, and one of `prompt_generator`: that
includes the thread which `generator` starts as its time limit and the seeding of torch and numpy,
up to half a millisecond; a verdict is a call of `verifier`. math-verify judges our math problems.
Interactive tasks are measured without verdicts, and so are pairs whose other side keeps no answer.
Tasks of Verilog are made at other difficulties too; their verdicts are measured by verilog.py.
`right` is the share of a side's own answers that it gives full marks.
"""

import argparse
import importlib.util
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import fresh_process
import results_file
from throughput_pairs import PAIRS, RG, RLVE, Pair

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.executor import Processes
from rlvr_envs.core.parallel import ParallelJudge
from rlvr_envs.core.task import IndexedTask, InteractiveTask
from rlvr_envs.sandboxes.base import Job, Result
from rlvr_envs.sandboxes.sandbox import Sandbox

PEERS = Path(__file__).resolve().parent / ".peers"
PACKAGES = {"reasoning_gym": "reasoning-gym==0.1.25", "Gym": "rlve-gym==0.0.1"}
MADE = "{} problems made a second of CPU time, that of jobs in sandboxes included"
MEASURED = (
    "{} problems made and answers judged a second of CPU time, and beside other libraries; "
    "ratios are of medians of the rounds; pooled rates are by wall-clock time"
)
SAMPLE = 64  # problems of a task that verification is measured on, or as many as
SAMPLED = 0.5  # CPU seconds make, and two at least
LEAST = 4  # calls that a rate is of: problems of a task differ
# Problems a second that a task must reach at difficulty 5, or say why not.
FLOORS = {"math": 20.0, "np_hard": 5.0, "puzzles": 5.0, "verilog": 20.0}
MORE_DIFFICULTIES = {"verilog": (0, 10)}

# Tasks under the floor, each with its reason: the rest of a sentence, which stands on its page.
SLOW: dict[str, str] = {
    "MonitorWriting-v0": "a faulty version counts only if synthesis accepts it, a simulation tells "
    "it from the design and the known monitor detects it, and each is synthesised in a process of "
    "its own",
    "TestbenchWriting-v0": "a faulty version counts only if synthesis accepts it and a simulation "
    "tells it from the design, and each is synthesised in a process of its own",
    "VerilogCompletion-v0": "a gap is made only where a simulation shows that it matters, so "
    "that the design is synthesised with and without it",
    "VerilogOptimisation-v0": "the sizes of a design's writings are known only after synthesis of "
    "each",
    "VerilogRepair-v0": "a mistake counts only if a simulation tells the module from the correct "
    "one and from the module before it, and each is synthesised in a process of its own",
}

Rates = dict[str, float]
Measures = dict[str, Callable[[float], float]]


class Side(NamedTuple):
    """A library at work on one kind of problem."""

    make: Callable[[], object]  # a new problem with its prompt
    problems: list[Any]
    answers: list[str]  # to those problems, as a model would give them; or none
    judge: Callable[[Any, str], float]  # 1.0 is full marks


_jobs: list[float] = []  # CPU seconds of each job in a sandbox


def count_jobs() -> None:
    """From now on, count what jobs in sandboxes use."""
    run = Sandbox.run

    def counted(sandbox: Sandbox, job: Job) -> Result:
        result = run(sandbox, job)
        _jobs.append(result.cpu_s)
        return result

    Sandbox.run = counted  # type: ignore[method-assign]


def cpu_s() -> float:
    """Return the CPU seconds that this process and its jobs in sandboxes have used."""
    return time.process_time() + sum(_jobs)


def rate(work: Iterable[Callable[[], object]], seconds: float) -> float:
    """Return calls a second of CPU time; ``work`` is gone through again and again.

    The clock is read after blocks of calls, which grow while they are short: it is coarse.
    """
    calls, block, endless = 0, 1, itertools.cycle(work)
    begin = cpu_s()
    while True:
        for call in itertools.islice(endless, block):
            call()
        calls += block
        elapsed = cpu_s() - begin
        if elapsed >= seconds and calls >= LEAST:
            return calls / elapsed
        if elapsed < seconds / 8:
            block *= 2


def sample(draw: Callable[[int], Any]) -> list[Any]:
    """Return problems by their number, fewer where they take long to make."""
    found: list[Any] = []
    begin = cpu_s()
    while len(found) < SAMPLE and (len(found) < 2 or cpu_s() - begin < SAMPLED):
        found.append(draw(len(found)))
    return found


def measures(side: Side) -> Measures:
    """Return measure → function of its duration."""
    found: Measures = {"generate": partial(rate, [side.make])}
    if side.answers:
        others = [*side.answers[1:], side.answers[0]]
        for name, answers in (("verify_own", side.answers), ("verify_other", others)):
            cases = zip(side.problems, answers, strict=True)
            work = [partial(side.judge, problem, answer) for problem, answer in cases]
            found[name] = partial(rate, work)
        own = zip(side.problems, side.answers, strict=True)
        right = statistics.fmean(float(side.judge(p, a) > 1 - 1e-6) for p, a in own)
        found["right"] = lambda s: right
    return found


def ours(task_id: str, knobs: Mapping[str, Any]) -> Side:
    """Return one of our tasks with knobs, of which the difficulty is one."""
    spec = registry.find(task_id)
    chosen = {} if issubclass(spec.task_type, IndexedTask) else dict(knobs)
    env = TextEnv(task_id, **{**dict(spec.example), **chosen})
    seeds = itertools.count(SAMPLE)  # new ones: what synthesis makes of a design is kept
    problems = sample(env.source.draw)
    made_alone = issubclass(spec.task_type, InteractiveTask) or spec.domain == "verilog"
    return Side(
        make=lambda: env.source.draw(next(seeds)).prompt(),
        problems=problems,
        answers=[] if made_alone else [str(problem.solution()) for problem in problems],
        judge=lambda problem, response: float(problem.judge(response).score),
    )


def reasoning_gym(pair: Pair) -> Side:
    """Return a data set of reasoning-gym."""
    import reasoning_gym as rg
    from reasoning_gym.utils import extract_answer

    data = rg.create_dataset(pair.name, **{"size": 10**9, "seed": 1, **pair.theirs})
    index = itertools.count()
    items = sample(lambda i: data[i])
    answers = [item["answer"] or item["metadata"].get("example_answer") for item in items]
    return Side(
        make=lambda: data[next(index)],
        problems=items,
        answers=[f"<answer>{answer}</answer>" for answer in answers] if all(answers) else [],
        judge=lambda item, response: float(data.score_answer(extract_answer(response), item)),
    )


def rlve_gym(pair: Pair) -> Side:
    """Return an environment of RLVE-gym."""
    from Gym import environments

    kind = getattr(environments, f"{pair.name}_Environment")
    seeds, env = itertools.count(), kind()

    def make() -> str:
        while not env.generator(next(seeds), dict(pair.theirs)):
            pass
        return str(env.prompt_generator())

    def kept(_: int) -> Any:
        problem = kind()
        while not problem.generator(next(seeds), dict(pair.theirs)):
            pass
        return problem

    problems = sample(kept)
    answers = [problem.parameter.get("reference_answer") for problem in problems]
    return Side(
        make=make,
        problems=problems,
        answers=[f"<answer>{answer}</answer>" for answer in answers] if all(answers) else [],
        judge=lambda problem, response: float(problem.verifier(response)["accuracy"]),
    )


def math_verify(task_id: str, knobs: Mapping[str, Any]) -> Side:
    """Return our problems as math-verify judges them; it makes none."""
    from math_verify import parse, verify

    side = ours(task_id, knobs)

    def judge(problem: Any, response: str) -> float:
        gold = parse(f"${problem.reference()}$", parsing_timeout=None)
        return float(verify(gold, parse(response, parsing_timeout=None), timeout_seconds=None))

    return side._replace(judge=judge)


def cell(label: str, peer: bool, options: dict[str, Any]) -> dict[str, Rates]:
    """Measure a task, or the sides of a pair in turn, and return the rates of every round."""
    sys.path.append(str(PEERS))  # at the end: our own versions of shared packages win
    count_jobs()
    domain = options["domain"]
    sides: dict[str, Measures] = {}
    if not peer:
        sides["ours"] = measures(ours(label, {"difficulty": options["difficulty"]}))
        indexed = issubclass(registry.find(label).task_type, IndexedTask)
        for level in () if indexed else MORE_DIFFICULTIES.get(domain, ()):
            sides[f"at {level}"] = measures(ours(label, {"difficulty": level}))
    else:
        pair = PAIRS[domain][label]
        knobs = pair.ours or {"difficulty": options["pair_difficulty"]}
        library = {RG: reasoning_gym, RLVE: rlve_gym}[pair.library]
        sides[pair.library] = measures(library(pair))
        sides["paired"] = measures(ours(pair.task, knobs))
        if domain == "math":
            sides["math_verify"] = measures(math_verify(pair.task, knobs))
            del sides["math_verify"]["generate"]
    rounds: dict[str, dict[str, list[float]]] = {}
    for _ in range(options["rounds"]):
        for who, found in sides.items():
            for name, measure in found.items():
                rates = rounds.setdefault(f"{label} {who}", {}).setdefault(name, [])
                rates.append(round(measure(options["seconds"]), 2))
    return rounds


def run(args: argparse.Namespace, ids: Sequence[str]) -> dict[str, Any]:
    """Measure every task and every pair of it, each in a process of its own."""
    pairs = {} if args.no_peers else PAIRS[args.domain]
    jobs = [(name, False) for name in ids]
    jobs += [(label, True) for label, pair in pairs.items() if pair.task in ids]
    names = ("domain", "difficulty", "pair_difficulty", "seconds", "rounds")
    options = {name: getattr(args, name) for name in names}
    rounds: dict[str, Any] = {}
    with ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(lambda job: fresh_process.measured(__file__, *job, options), jobs)
        for (label, peer), row in zip(jobs, found, strict=True):
            failed = {f"{label} {'pair' if peer else 'ours'}": row}
            rounds |= failed if "fault" in row else row
    return rounds


def medians_of(rounds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the median of every measure's rounds, and faults as they are."""
    return {
        key: row
        if "fault" in row
        else {name: statistics.median(rates) for name, rates in row.items()}
        for key, row in rounds.items()
    }


def _generate_many(job: tuple[str, int, int, int]) -> int:
    task_id, difficulty, first, count = job
    env = TextEnv(task_id, difficulty=difficulty)
    return sum(len(env.source.draw(first + i).prompt()) > 0 for i in range(count))


def pooled(difficulty: int, count: int, workers: int) -> Rates:
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
    executor = Processes(workers)
    judge = ParallelJudge(executor)
    judge.judge(instances[:8], responses[:8])  # warm
    timed("verify_single", lambda: [i.judge(r) for i, r in zip(instances, responses, strict=True)])
    timed("verify_pooled", lambda: judge.judge(instances, responses))
    executor.close()
    return found


def ratio(our: float, their: float) -> float:
    """Return a quotient to three digits."""
    return float(f"{our / their:.3g}")


def ratios_of(medians: Mapping[str, Any], domain: str) -> dict[str, dict[str, float]]:
    """Return for each pair how many times as fast ours is."""
    ratios: dict[str, dict[str, float]] = {}
    for label, pair in PAIRS[domain].items():
        our, peer = medians.get(f"{label} paired"), medians.get(f"{label} {pair.library}")
        if not our or not peer:
            continue
        names = [name for name in our if name in peer and name != "right"]
        plain = medians.get(f"{label} math_verify", {})
        ratios[label] = {name: ratio(our[name], peer[name]) for name in names}
        ratios[label] |= {
            f"{name}_vs_math_verify": ratio(our[name], plain[name])
            for name in plain
            if name in our and name != "right"
        }
    return ratios


def middle(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of every measure, and of how many rows it is."""
    keys = dict.fromkeys(name for row in rows for name in row)
    found = {
        name: round(statistics.median(row[name] for row in rows if name in row), 3) for name in keys
    }
    return {"count": len(rows)} | found


def summary(medians: Mapping[str, Any], domain: str) -> dict[str, Any]:
    """Return the rates of our tasks in short, the ratios of the pairs, and what is amiss."""
    own = {
        key.split()[0]: {name: rate for name, rate in row.items() if name != "right"}
        for key, row in medians.items()
        if key.endswith(" ours") and "generate" in row
    }
    made = sorted(own, key=lambda name: own[name]["generate"])
    ratios = ratios_of(medians, domain)
    libraries = dict.fromkeys(pair.library for pair in PAIRS[domain].values())
    return {
        "ours, median of tasks": middle(list(own.values())),
        "ours, slowest made": {name: own[name]["generate"] for name in made[:5]},
        **elsewhere(medians, domain, made[:10]),
        "under_the_floor": {
            name: [own[name]["generate"], SLOW.get(name, "NO REASON GIVEN")]
            for name in made
            if own[name]["generate"] < FLOORS[domain]
        },
        "own answers not given full marks": {
            key: row["right"] for key, row in medians.items() if row.get("right", 1) < 1
        },
        "faults": {key: row["fault"] for key, row in medians.items() if "fault" in row},
        "median ratio by library": {
            library: middle([r for n, r in ratios.items() if PAIRS[domain][n].library == library])
            for library in libraries
        },
        "ratios, ours by theirs": ratios,
    }


def elsewhere(medians: Mapping[str, Any], domain: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the problems a second that some tasks make at other difficulties, if measured."""
    levels = MORE_DIFFICULTIES.get(domain, ())
    rows = {
        name: {str(n): medians.get(f"{name} at {n}", {}).get("generate") for n in levels}
        for name in names
    }
    return {"made at other difficulties": results_file.table(rows)} if levels else {}


def install() -> None:
    """Put the libraries that are missing into a folder of their own."""
    missing = [package for name, package in PACKAGES.items() if not (PEERS / name).exists()]
    missing += ["torch"] if importlib.util.find_spec("torch") is None else []
    if missing:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(PEERS)]
        subprocess.run([*pip, *missing], check=True)


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = results_file.parser(__doc__, "throughput")
    parser.add_argument("tasks", nargs="*", help="ids (default: the whole domain)")
    parser.add_argument("--domain", choices=list(PAIRS), default="math")
    parser.add_argument("--difficulty", type=int, default=5)
    parser.add_argument("--pair-difficulty", type=int, default=1, help="ours, in pairs of math")
    parser.add_argument("--seconds", type=float, default=0.2, help="of CPU time, for each measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure at once")
    parser.add_argument("--install-peers", action="store_true", help="pip install the libraries")
    parser.add_argument("--no-peers", action="store_true")
    return parser.parse_args()


def main() -> int:
    """Measure, print the summary and store everything."""
    args = parse()
    if args.install_peers:
        install()
    if args.domain != "math":
        args.name = f"throughput_{args.domain}"
    known = args.tasks or registry.task_ids(args.domain)
    ids = [registry.find(name).id.removeprefix("rlvr/") for name in known]
    rounds = run(args, ids)
    figures = summary(medians_of(rounds), args.domain)
    if args.domain == "math" and not args.tasks:
        figures["pooled"] = pooled(args.difficulty, 4000, os.cpu_count() or 1)
    head = results_file.head(
        (MEASURED if PAIRS[args.domain] else MADE).format(args.domain),
        *("numpy", "sympy", "math-verify", "ortools", "pyosys"),
        difficulty={"tasks": args.difficulty, "pairs of math": args.pair_difficulty},
    )
    alone = args.no_peers or not PAIRS[args.domain]
    peers = {} if alone else dict(each.split("==") for each in PACKAGES.values())
    head["versions"] |= peers
    print(results_file.as_text(figures))
    results_file.store(args, head, figures, rounds, whole=not args.tasks and not args.no_peers)
    return 0


if __name__ == "__main__":
    raise SystemExit(0 if fresh_process.asked(cell) else main())
