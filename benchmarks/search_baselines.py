"""What policies without a plan earn on the search tasks, beside the oracle.

Each policy plays ordinary episodes of `gym.make` and sees what an agent sees:

- closed book: no call at all. The number 1, the first name of the question, or "unanswerable";
- majority: no call either, but the most frequent answer of another sample of the same task and
  difficulty; or, by wording, of the questions there that begin alike;
- one search: one query, the question itself or the first name in it, and at most one look at the
  first page that it finds. The answer is that page's title, the first name or the first number on
  it, how many other pages were found, or all their titles;
- random candidate: a name, or where the question asks for a number a number, drawn from the first
  three pages that the question finds.

    python benchmarks/search_baselines.py --problems 200 --training 400

Every task and difficulty is measured in child processes of `--at-once` problems and merged into
the results file when it is complete; what is there already is not measured again without `--again`.
In the end docs/search_baselines.md is written from the results.
"""

import argparse
import json
import math
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium

import rlvr_envs
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.search._task import SearchTask

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "search_baselines.json"
PAGE = ROOT / "docs" / "search_baselines.md"
DIFFICULTIES = (0, 2, 5, 10)
TRAINING_FROM = 1_000_000  # seeds of the sample from which the majority is learnt
Z = 1.96  # of a normal distribution: 95 in 100 lie within so many deviations

Ask = Callable[[str], str]  # makes a call and returns its result
Policy = Callable[[str, Ask], str]  # takes the question and returns the answer

_FRAME = re.compile(r"<information>\n(.*)\n</information>\n\([^()]*\)", re.DOTALL)
_HIT = re.compile(r"^(.+?) \(([a-z-]+)\): ", re.MULTILINE)
_COUNT = re.compile(r"(\d+) found")
_LINK = re.compile(r"\[([A-Z][^\]]*)\]\(")
_NUMBER = re.compile(r"(?<![\w,#])\d[\d,]*")
_NAME = re.compile(r"(?<!^)\b[A-Z]\w+(?: (?:of |to |from |by )?(?:\([a-z ]+\)|[A-Z]\w+))*")
_WANTS_NUMBER = re.compile(r"How many|At how many|In which year|What is")


def question_of(prompt: str) -> str:
    """Return the question alone."""
    return prompt.split("Question: ", 1)[1].split("\n", 1)[0]


def wording(question: str) -> str:
    """Return how a question begins, and whether it joins two things."""
    return " ".join([*question.split()[:4], "and" if " and " in question else ""])


def first_name(question: str) -> str:
    """Return the first name in a question, which does not stand at its beginning."""
    found = _NAME.search(question)
    return found[0] if found else question


def hits(result: str) -> list[tuple[str, str]]:
    """Return titles and ids of the pages that a search found."""
    return _HIT.findall(result)


def one_search(query: Callable[[str], str], answer: Callable[[str, Ask], str]) -> Policy:
    """Return the policy of a query, and of what it makes of the result."""
    return lambda question, ask: answer(ask(f"<search>{query(question)}</search>"), ask)


def top_page(result: str, ask: Ask) -> str:
    """Return the first page found, without the lines that name it."""
    found = hits(result)
    return ask(f"<access>{found[0][1]}</access>").partition("\n")[2] if found else ""


def top_title(result: str, _: Ask) -> str:
    """Return the title of the first page."""
    return next((title for title, _ in hits(result)), "nothing")


def top_name(result: str, ask: Ask) -> str:
    """Return the first name on the first page that is not its own."""
    return next(iter(_LINK.findall(top_page(result, ask))), "nothing")


def top_number(result: str, ask: Ask) -> str:
    """Return the first number on the first page."""
    return next(iter(_NUMBER.findall(top_page(result, ask))), "nothing")


def others(result: str, _: Ask) -> str:
    """Return how many pages were found beside the first."""
    count = _COUNT.match(result)
    return "0" if count is None else str(int(count[1]) - 1)


def other_titles(result: str, _: Ask) -> str:
    """Return all titles of the first part but the first."""
    return ", ".join(title for title, _ in hits(result)[1:]) or "nothing"


def candidate(question: str, ask: Ask) -> str:
    """Return a name or number drawn from the first three pages."""
    found = hits(ask(f"<search>{question}</search>"))[:3]
    text = "\n".join(ask(f"<access>{page}</access>").partition("\n")[2] for _, page in found)
    if _WANTS_NUMBER.match(question):
        options = _NUMBER.findall(text)
    else:
        options = [*_LINK.findall(text), *(title for title, _ in found)]
    if not options:
        return "nothing"
    drawn: str = options[int(stream("search_baselines", question).integers(len(options)))]
    return drawn


CLOSED: dict[str, Policy] = {
    "one": lambda question, ask: "1",
    "own name": lambda question, ask: first_name(question),
    "unanswerable": lambda question, ask: "unanswerable",
}
QUERIES: dict[str, Callable[[str], str]] = {
    "question": lambda question: question,
    "name": lambda question: f'"{first_name(question)}"',
}
TAKEN = {
    "title": top_title,
    "first name": top_name,
    "first number": top_number,
    "count": others,
    "all": other_titles,
}
ONE_SEARCH: dict[str, Policy] = {
    f"{query}, {taken}": one_search(QUERIES[query], TAKEN[taken])
    for query in QUERIES
    for taken in TAKEN
}
POLICIES: dict[str, Policy] = CLOSED | ONE_SEARCH | {"random candidate": candidate}


def episode(env: Any, row: dict[str, Any], policy: Policy) -> float:
    """Play a policy on a problem and return its reward."""
    prompt, _ = env.reset(options={"problem": row})

    def ask(call: str) -> str:
        while True:
            text = env.step(call)[0]
            framed = _FRAME.fullmatch(text)
            if framed is None:
                raise SystemExit(f"not a result: {text!r}")
            if "did not respond" not in framed[1]:
                return framed[1]

    answer = policy(question_of(prompt), ask)
    _, reward, terminated, _, info = env.step(f"<answer>{answer}</answer>")
    if not terminated or not info["scored"]:
        raise SystemExit(f"the episode ended without a score: {info['verdict']}")
    return float(reward)


def oracle(env: Any, row: dict[str, Any]) -> float:
    """Return what the oracle earns."""
    env.reset(options={"problem": row})
    reward = 0.0
    for action in row["reference"]:
        reward = env.step(action)[1]
    return float(reward)


def tasks() -> list[str]:
    """Return the names of the tasks over fictional worlds."""
    from rlvr_envs.core import registry

    found = (registry.find(task_id) for task_id in registry.task_ids("search"))
    return [
        spec.id.removeprefix("rlvr/") for spec in found if issubclass(spec.task_type, SearchTask)
    ]


def learnt(name: str, difficulty: int, seeds: range) -> list[list[str]]:
    """Return wordings and right answers of a sample."""
    source = TextEnv(f"rlvr/{name}", difficulty=difficulty).source
    problems = (source.draw(seed).problem for seed in seeds)
    return [
        [wording(problem.question), ", ".join(forms[0] for forms in problem.answers)]
        for problem in problems
    ]


def most(answers: Iterable[str]) -> str:
    """Return the most frequent answer, of several the first in order."""
    return min(Counter(answers).items(), key=lambda item: (-item[1], item[0]))[0]


def majorities(sample: list[list[str]]) -> dict[str, str]:
    """Return the most frequent answer for each wording; for "" that of all questions."""
    known = {told for told, _ in sample}
    table = {told: most(answer for other, answer in sample if other == told) for told in known}
    return table | {"": most(answer for _, answer in sample)}


def played(name: str, difficulty: int, seeds: range, table: dict[str, str]) -> list[dict[str, Any]]:
    """Return what each policy earned on each problem."""
    env = gymnasium.make(f"rlvr/{name}", difficulty=difficulty, disable_env_checker=True)
    policies = POLICIES | {
        "majority": lambda question, ask: table[""],
        "majority by wording": lambda question, ask: table.get(wording(question), table[""]),
    }
    rows = []
    for seed in seeds:
        instance = env.unwrapped.source.draw(seed)  # type: ignore[attr-defined]
        row = instance.to_row()
        rows.append(
            {
                "hops": sum(1 for hop in instance.problem.plan if hop.relation),
                "oracle": oracle(env, row),
                **{policy: episode(env, row, play) for policy, play in policies.items()},
            }
        )
    return rows


def interval(mean: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval; between 0 and 1, scores vary no more than yes and no do."""
    middle = (mean + Z * Z / (2 * count)) / (1 + Z * Z / count)
    half = math.sqrt(mean * (1 - mean) / count + (Z / (2 * count)) ** 2) * Z / (1 + Z * Z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return means and intervals: of every policy, and of one search on questions of many hops."""
    policies = [key for key in rows[0] if key != "hops"]
    long = [row for row in rows if row["hops"] > 1]

    def told(some: list[dict[str, Any]], policy: str) -> list[float]:
        mean = fmean(row[policy] for row in some)
        return [round(figure, 4) for figure in (mean, *interval(mean, len(some)))]

    return {
        "problems": len(rows),
        "of_several_hops": len(long),
        "policies": {policy: told(rows, policy) for policy in policies},
        "several_hops": {policy: told(long, policy) for policy in policies} if long else {},
    }


def in_pieces(job: list[Any], first: int, count: int, args: argparse.Namespace) -> Iterator[Any]:
    """Yield what children return for a number of seeds.

    Raises:
        CalledProcessError: a child failed.
    """

    def run(begin: int) -> list[Any]:
        size = min(args.at_once, first + count - begin)
        command = [sys.executable, __file__, "--child", json.dumps([*job, begin, size])]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        found: list[Any] = json.loads(done.stdout)
        return found

    with ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(run, range(first, first + count, args.at_once)):
            yield from found


def measure(name: str, difficulty: int, args: argparse.Namespace) -> dict[str, Any]:
    """Return the means of a task and difficulty."""
    sample = list(in_pieces([name, difficulty, None], TRAINING_FROM, args.training, args))
    table = majorities(sample)
    rows = list(in_pieces([name, difficulty, table], 0, args.problems, args))
    return {"training": args.training, "majority": table[""]} | summary(rows)


def best(figures: dict[str, list[float]], policies: dict[str, Policy]) -> list[float]:
    """Return the figures of the policy that earned most."""
    return max(figures[policy] for policy in policies)


COLUMNS = ["task", "difficulty", "problems", "oracle", "one search", "one search, several hops"]
COLUMNS += ["random candidate", "majority", "by wording", "closed book"]


def cells(found: dict[str, Any]) -> list[str]:
    """Return the cells of a row of the table."""

    def cell(figures: list[float]) -> str:
        mean, low, high = figures
        return f"{mean:.3f} ({low:.2f}-{high:.2f})"

    whole, long = found["policies"], found["several_hops"]
    return [
        str(found["problems"]),
        cell(whole["oracle"]),
        cell(best(whole, ONE_SEARCH)),
        f"{cell(best(long, ONE_SEARCH))} of {found['of_several_hops']}" if long else "none",
        cell(whole["random candidate"]),
        cell(whole["majority"]),
        cell(whole["majority by wording"]),
        cell(best(whole, CLOSED)),
    ]


def page(stored: dict[str, Any]) -> str:
    """Return the documentation page of some results."""
    lines = [
        "# What trivial policies earn on the search tasks",
        "",
        "Mean rewards with 95 % intervals. The columns *one search* and *closed book* show the",
        f"best of their {len(ONE_SEARCH)} and {len(CLOSED)} policies, chosen by these very",
        "problems, so they lean upwards; `benchmarks/search_baselines.py` says what the policies",
        "do, and `benchmarks/results/search_baselines.json` holds all of them. Questions of",
        "*several hops* need more than one relation looked up, all branches together.",
        "",
        *(f"    {command}" for command in stored["commands"]),
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
    ]
    for name, rungs in sorted(stored["results"].items()):
        for rung, found in sorted(rungs.items(), key=lambda item: int(item[0])):
            lines.append(f"| {name} | {' | '.join([rung, *cells(found)])} |")
    return "\n".join(lines) + "\n"


def machine() -> dict[str, object]:
    """Return what the numbers were made with; they depend on the versions alone."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rlvr_envs": rlvr_envs.__version__,
    }


def main() -> int:
    """Measure what is missing, merge it into the stored results and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", nargs="*", help="names (default: every task)")
    parser.add_argument("--difficulties", nargs="*", type=int, default=list(DIFFICULTIES))
    parser.add_argument("--problems", type=int, default=200, help="of each task and difficulty")
    parser.add_argument("--training", type=int, default=400, help="problems for the majority")
    parser.add_argument("--at-once", type=int, default=40, help="problems in a child process")
    parser.add_argument("--jobs", type=int, default=2, help="child processes side by side")
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child is not None:
        name, difficulty, table, first, count = json.loads(args.child)
        seeds = range(first, first + count)
        if table is None:
            print(json.dumps(learnt(name, difficulty, seeds)))
        else:
            print(json.dumps(played(name, difficulty, seeds, table)))
        return 0
    stored = json.loads(args.out.read_text(encoding="utf-8")) if args.out.exists() else {}
    results: dict[str, Any] = stored.get("results", {})
    command = " ".join(["python benchmarks/search_baselines.py", *sys.argv[1:]])
    stored = {"commands": [*stored.get("commands", []), command], "machine": machine()}
    failed = []
    for name in args.tasks or tasks():
        for difficulty in args.difficulties:
            if str(difficulty) in results.get(name, {}) and not args.again:
                continue
            try:
                found = measure(name, difficulty, args)
            except subprocess.CalledProcessError as error:
                failed.append(f"{name} {difficulty}: exit status {error.returncode}")
                continue
            results.setdefault(name, {})[str(difficulty)] = found
            text = json.dumps(stored | {"results": results}, indent=1)
            args.out.write_text(text + "\n", encoding="utf-8")
            print(f"measured {name} {difficulty}", file=sys.stderr)
    text = page(stored | {"results": results})
    args.page.write_text(text, encoding="utf-8")
    print(text)
    print(*failed, sep="\n", end="", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
