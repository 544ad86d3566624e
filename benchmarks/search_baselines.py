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

In the end docs/search_baselines.md is written from the summary.
"""

import argparse
import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium
import results_file

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.search_episodes.task import SearchTask

ROOT = Path(__file__).resolve().parents[1]
MEASURED = (
    "mean rewards of policies without a plan on the search tasks, beside the oracle; 'best one "
    "search of several hops' is over the questions that need more than one relation"
)
PAGE = ROOT / "docs" / "search_baselines.md"
DIFFICULTIES = (0, 2, 5, 10)
TRAINING_FROM = 1_000_000  # seeds of the sample from which the majority is learnt
SEVERAL = "best one search of several hops"
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


def played(name: str, difficulty: int, table: dict[str, str], seeds: range) -> list[dict[str, Any]]:
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


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means of every policy, and of one search on questions of several hops."""
    long = [row for row in rows if row["hops"] > 1]
    found = {policy: fmean(row[policy] for row in rows) for policy in rows[0] if policy != "hops"}
    several = [fmean(row[policy] for row in long) for policy in ONE_SEARCH if long]
    return {
        "problems": len(rows),
        "of several hops": len(long),
        **{policy: round(mean, 4) for policy, mean in found.items()},
        SEVERAL: round(max(several), 4) if several else None,
    }


def figures(results: dict[str, dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return a line for each task and difficulty, under the names of its columns."""
    rows = {
        f"{name} {difficulty}": found
        for name, levels in sorted(results.items())
        for difficulty, found in sorted(levels.items(), key=lambda item: int(item[0]))
    }
    return results_file.table(rows)


def measure(name: str, difficulty: int, args: argparse.Namespace, pool: Executor) -> dict[str, Any]:
    """Return the majority's answers, and what each policy earned on each problem."""

    def spread(work: Callable[[range], list[Any]], first: int, count: int) -> list[Any]:
        size = -(-count // args.jobs)
        shares = [
            range(begin, min(begin + size, first + count))
            for begin in range(first, first + count, size)
        ]
        return list(itertools.chain.from_iterable(pool.map(work, shares)))

    table = majorities(spread(partial(learnt, name, difficulty), TRAINING_FROM, args.training))
    rows = spread(partial(played, name, difficulty, table), 0, args.problems)
    return {"majority": table[""], "rows": rows}


def interval(mean: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval; between 0 and 1, scores vary no more than yes and no do."""
    middle = (mean + Z * Z / (2 * count)) / (1 + Z * Z / count)
    half = math.sqrt(mean * (1 - mean) / count + (Z / (2 * count)) ** 2) * Z / (1 + Z * Z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


COLUMNS = ["task", "difficulty", "problems", "oracle", "one search", "one search, several hops"]
COLUMNS += ["random candidate", "majority", "by wording", "closed book"]


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of the table."""

    def cell(mean: float, count: int = row["problems"]) -> str:
        low, high = interval(mean, count)
        return f"{mean:.3f} ({low:.2f}-{high:.2f})"

    long, best = row["of several hops"], row[SEVERAL]
    return [
        str(row["problems"]),
        cell(row["oracle"]),
        cell(max(row[policy] for policy in ONE_SEARCH)),
        "none" if best is None else f"{cell(best, long)} of {long}",
        cell(row["random candidate"]),
        cell(row["majority"]),
        cell(row["majority by wording"]),
        cell(max(row[policy] for policy in CLOSED)),
    ]


def page(command: str | list[str], found: dict[str, Any]) -> str:
    """Return the documentation page of some figures."""
    lines = [
        "# What trivial policies earn on the search tasks",
        "",
        "Mean rewards with 95 % intervals. The columns *one search* and *closed book* show the",
        f"best of their {len(ONE_SEARCH)} and {len(CLOSED)} policies, chosen by these very",
        "problems, so they lean upwards; `benchmarks/search_baselines.py` says what the policies",
        "do, and `benchmarks/results/search_baselines.json` holds all of them. Questions of",
        "*several hops* need more than one relation looked up, all branches together.",
        "",
        *(f"    {each}" for each in ([command] if isinstance(command, str) else command)),
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
    ]
    for key, row in results_file.rows_of(found).items():
        lines.append(f"| {' | '.join([*key.split(), *cells(row)])} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, store, and write the page."""
    parser = results_file.parser(__doc__, "search_baselines")
    parser.add_argument("--tasks", nargs="*", help="names (default: every task)")
    parser.add_argument("--difficulties", nargs="*", type=int, default=list(DIFFICULTIES))
    parser.add_argument("--problems", type=int, default=200, help="of each task and difficulty")
    parser.add_argument("--training", type=int, default=400, help="problems for the majority")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--page", type=Path, help=f"default: {PAGE.name}, of a whole run alone")
    args = parser.parse_args()
    raw: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(args.jobs) as pool:
        for name, difficulty in itertools.product(args.tasks or tasks(), args.difficulties):
            found = measure(name, difficulty, args, pool)
            raw.setdefault(name, {})[str(difficulty)] = found
            print(f"measured {name} {difficulty}", file=sys.stderr)
    results = {n: {d: summary(row["rows"]) for d, row in rows.items()} for n, rows in raw.items()}
    whole = not args.tasks and set(args.difficulties) == set(DIFFICULTIES)
    head = results_file.head(MEASURED, training=args.training)
    results_file.store(args, head, figures(results), raw, whole=whole)
    text = page(head["command"], figures(results))
    target = args.page or (PAGE if whole and not args.out else None)
    if target:
        target.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
