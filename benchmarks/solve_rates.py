"""How often a language model without tools is right, by difficulty level.

    python benchmarks/solve_rates.py ask FOLDER      # prompts.txt, and of which problems they are
    python benchmarks/solve_rates.py judge FOLDER --model "NAME, without tools"
    python benchmarks/solve_rates.py ask FOLDER --levels 16 24 --problems 2 --tasks Gcd-v0 Sudoku-v0
    python benchmarks/solve_rates.py say FOLDER --problem 7 < message.txt     # one turn of several

The first command writes the prompts of 60 tasks of one turn: four problems of each at the levels 0,
3, 6 and 10. The model answers below lines such as ``===== ANSWER 7 =====`` in answers.txt; with
``--parts N`` there are N files of either kind, for N samplers side by side. In a task of several
turns the model says its messages one by one with ``say``, which prints what it sees next. The
second command judges all of them. The summary has a line for each task, which its page shows.
"""

import argparse
import json
import math
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import results_file

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.task import IndexedTask, InteractiveTask

TASKS = {"math": 18, "code": 9, "np_hard": 9, "puzzles": 15, "verilog": 9}
LEVELS = (0, 3, 6, 10)
PROBLEMS = 4
FIRST_SEED = 900_000
MEASURED = "the share of problems that a language model solves without tools, by difficulty level"
_ANSWER = re.compile(r"^===== ANSWER (\d+) =====\n", re.MULTILINE)

Json = results_file.Json
Place = tuple[str, int, int]  # id, level, seed


def chosen() -> list[str]:
    """Return the ids of the tasks that are asked: every nth of a domain that has one turn."""
    found = []
    for domain, count in TASKS.items():
        ids = [task_id for task_id in registry.task_ids(domain) if _has_one_turn(task_id)]
        found += [ids[int(i * len(ids) / count)] for i in range(count)]
    return found


def _has_one_turn(task_id: str) -> bool:
    """Whether a task has levels, and its episodes one turn."""
    return not issubclass(registry.find(task_id).task_type, IndexedTask | InteractiveTask)


def ask(args: argparse.Namespace) -> None:
    """Write the prompts, and beside them which problem each is of; tasks stay together."""
    folder = args.folder
    prompts: dict[Place, str] = {}
    for task_id in [f"rlvr/{name}" for name in args.tasks] or chosen():
        for level in args.levels:
            env = TextEnv(task_id, difficulty=level)
            for seed in range(FIRST_SEED, FIRST_SEED + args.problems):
                prompts[task_id, level, seed] = env.reset(seed=seed)[0]
    folder.mkdir(parents=True, exist_ok=True)
    for number, places in enumerate(dealt(prompts, args.parts)):
        text = "".join(
            f"===== PROBLEM {n} =====\n{prompts[place]}\n\n" for n, place in enumerate(places, 1)
        )
        (folder / f"prompts{number}.txt").write_text(text, encoding="utf-8")
        (folder / f"places{number}.json").write_text(json.dumps(places), encoding="utf-8")


def dealt(prompts: dict[Place, str], parts: int) -> list[list[Place]]:
    """Return the problems of each part, the easiest first; parts are about as long to read."""
    length: dict[str, int] = defaultdict(int)
    for (task_id, *_), prompt in prompts.items():
        length[task_id] += len(prompt)
    tasks: list[list[str]] = [[] for _ in range(parts)]
    most = math.ceil(len(length) / parts)
    for task_id in sorted(length, key=lambda name: -length[name]):
        free = [part for part in tasks if len(part) < most]
        min(free, key=lambda part: sum(length[name] for name in part)).append(task_id)
    return [
        sorted((place for place in prompts if place[0] in part), key=lambda place: place[1])
        for part in tasks
    ]


def judge(folder: Path) -> list[Json]:
    """Return the verdict on each answer; a problem without one counts as not solved."""
    rows = []
    for found in sorted(folder.glob("places*.json")):
        number, places = (
            int(found.stem.removeprefix("places")),
            json.loads(found.read_text("utf-8")),
        )
        path = folder / f"answers{number}.txt"
        parts = _ANSWER.split(path.read_text(encoding="utf-8") if path.exists() else "")
        answers = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
        for n, (task_id, level, seed) in enumerate(places, 1):
            env = TextEnv(task_id, difficulty=level)
            env.reset(seed=seed)
            several = said(messages_of(folder, number, n))
            verdict = verdict_on(env, several or [answers.get(n, "").strip()])
            rows.append({"task": task_id, "level": level, "seed": seed} | verdict)
    return rows


def verdict_on(env: TextEnv, messages: list[str]) -> Json:
    """Return the score of an episode and what the verdict says; one that has not ended has 0."""
    for message in messages:
        _, _, terminated, truncated, info = env.step(message)
        if terminated or truncated:
            verdict = info["verdict"]
            score, detail = verdict.score, verdict.detail[:300]
            return {"score": score, "status": str(verdict.status), "detail": detail}
    return {"score": 0.0, "status": "wrong", "detail": "the episode has not ended"}


def messages_of(folder: Path, part: int, number: int) -> Path:
    """Return the file of the messages of one problem of several turns, a JSON string a line."""
    return folder / f"messages{part}_{number}.jsonl"


def said(path: Path) -> list[str]:
    """Return the messages so far."""
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )


def say(folder: Path, part: int, number: int, message: str) -> str:
    """Keep one more message of a problem of several turns, and return what it brings."""
    path = messages_of(folder, part, number)
    task_id, level, seed = json.loads((folder / f"places{part}.json").read_text("utf-8"))[
        number - 1
    ]
    env = TextEnv(task_id, difficulty=level)
    env.reset(seed=seed)
    for earlier in said(path):
        if any(env.step(earlier)[2:4]):
            return "The episode has ended."
    observation, _, terminated, truncated, _ = env.step(message)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(message) + "\n")
    return observation + "\nThe episode has ended." * (terminated or truncated)


def figures_of(rows: list[Json]) -> Json:
    """Return the shares solved by level, of each task and of all tasks of a domain."""
    by_task: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    by_domain: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        task_id, level = row["task"], row["level"]
        solved = float(row["score"] == 1.0)
        by_task[task_id][level].append(solved)
        for name in (registry.find(task_id).domain, "all"):
            by_domain[name][level].append(solved)

    def shares(found: dict[str, dict[int, list[float]]]) -> Json:
        lines = {
            name: {f"level {level}": round(fmean(solved[level]), 3) for level in sorted(solved)}
            for name, solved in sorted(found.items())
        }
        return results_file.table(lines)

    return {
        "problems": len(rows),
        "not_answered_readably": sum(row["status"] == "unparsable" for row in rows),
        "unscored": sum(row["status"] in ("verifier_error", "undecided") for row in rows),
        "domains": shares(by_domain),
        "tasks": shares(by_task),
    }


def main() -> None:
    """Write prompts, or judge answers and store how many are right."""
    parser = results_file.parser(__doc__, "solve_rates")
    parser.add_argument("do", choices=("ask", "say", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", nargs="+", default=[], metavar="NAME", help="others to ask")
    parser.add_argument("--levels", nargs="+", type=int, default=LEVELS, metavar="LEVEL")
    parser.add_argument("--problems", type=int, default=PROBLEMS, help="of a task and a level")
    parser.add_argument("--parts", type=int, default=1, help="files of prompts")
    parser.add_argument("--part", type=int, default=0, help="of which part `say` is (default: 0)")
    parser.add_argument("--problem", type=int, help="which one `say` answers, by its number")
    parser.add_argument("--model", help="which answered, and with what")
    args: argparse.Namespace = parser.parse_args()
    if args.do == "ask":
        ask(args)
        return
    if args.do == "say":
        if args.problem is None:
            parser.error("say with --problem which problem the message answers")
        print(say(args.folder, args.part, args.problem, sys.stdin.read()))
        return
    if not args.model:
        parser.error("say with --model which model answered, and with what")
    rows = judge(args.folder)
    figures = {"model": args.model} | figures_of(rows)
    print(json.dumps(figures["domains"], indent=1))
    results_file.store(args, results_file.head(MEASURED, "numpy"), figures, rows)


if __name__ == "__main__":
    main()
