"""Evaluate policies on tasks, with confidence intervals, tables and a report.

Policies: oracle, random, constant:<text>, recorded:<file.jsonl>, openai:<model> (any
OpenAI-compatible endpoint, see --base-url), local:<folder, file.gguf, hub name or smollm2>.

    rlvr eval Gcd-v0 --policy oracle --policy random --difficulty 0-3 --out runs/gcd

Games against built-in players, from both sides of each position, give ratings (docs/games.md):

    rlvr eval ConnectFour-v0 --policy oracle --opponents random,mcts:50,optimal --difficulty 3

The same command resumes a run that was cut short. With more --episodes or --samples, or another
--policy, it extends the run. Output: run.json, problems.jsonl, episodes.jsonl and summary.json in
the folder of --out, and report.html where plotly is installed.
"""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from rlvr_envs.cli import _text
from rlvr_envs.cli._progress import ProgressBar
from rlvr_envs.cli._text import say
from rlvr_envs.cli.ratings import rating_text
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.evaluation.plan import Plan, expand_ids, read_difficulties, read_knobs
from rlvr_envs.evaluation.policies import make_policies
from rlvr_envs.evaluation.policy import Policy, PolicyOptions
from rlvr_envs.evaluation.runner import Evaluation, Progress, run_plan
from rlvr_envs.evaluation.table import tables
from rlvr_envs.evaluation.usage import cost

_LISTS = frozenset(o.name for o in fields(PolicyOptions) if o.metadata.get("many"))

HELP = "evaluate policies on tasks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("ids", nargs="+", metavar="ID", help="a task, a domain's mixture or All-v0")
    parser.add_argument(
        "--policy", action="append", required=True, metavar="P", help="see above; may be repeated"
    )
    parser.add_argument(
        "--difficulty",
        type=_text.difficulties,
        metavar="D",
        help="levels: '2', '0,2,5' or '0-5'; each gets --episodes problems (default: the knobs')",
    )
    parser.add_argument(
        "--episodes", type=int, default=20, help="problems of each id and level (default: 20)"
    )
    parser.add_argument(
        "--samples", type=int, default=1, help="responses to each problem (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the problems (default: 0)")
    parser.add_argument("--shots", type=int, default=0, help="solved problems before each question")
    parser.add_argument("--answer-format", help="instead of each task's own")
    _text.add_knobs(parser)
    parser.add_argument(
        "--opponents",
        type=_names,
        default=(),
        metavar="NAMES",
        help="rate the policies in games against these players: 'random,mcts:50,optimal' (mcts:N "
        "is tree search with N playouts a move); the first one is rated 0",
    )
    parser.add_argument("--per-task", action="store_true", help="expand mixtures into their tasks")
    _text.add_executor(
        parser, "play episodes", default="this process, where --workers are threads that judge"
    )
    parser.add_argument(
        "--out", type=Path, help="the folder of the run; goes on with what is there"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument(
        "--per-task-table",
        action="store_true",
        help="print the tasks of a large mixture too, by domain",
    )
    parser.add_argument(
        "--price",
        nargs=2,
        type=_price,
        metavar=("IN", "OUT"),
        help="dollars for a million tokens read and written: also say what the tokens cost, in "
        "the report too",
    )
    parser.add_argument("--no-report", action="store_true", help="write no report.html")
    parser.add_argument("--no-progress", action="store_true", help="show no progress on stderr")
    group = parser.add_argument_group("options of policies that run a model")
    for option in fields(PolicyOptions):
        _add_option(group, option)


def _add_option(group: Any, option: Field[Any]) -> None:
    told, default = option.metadata["help"], option.default
    how: dict[str, Any] = {
        "help": told if default in (None, (), "") else f"{told} (default: {default})"
    }
    if isinstance(default, bool):
        how = {"help": told, "action": "store_true"}
    elif option.metadata.get("many"):
        how |= {"action": "append"}
    else:
        how |= {"type": _reader(option), "default": default}
    if "metavar" in option.metadata:
        how["metavar"] = option.metadata["metavar"]
    group.add_argument(f"--{option.name.replace('_', '-')}", **how)


def _reader(option: Field[Any]) -> Callable[[str], Any]:
    """Return what reads an option; argparse would keep the reason of a ConfigError to itself."""
    read: Callable[[str], Any] = option.metadata.get("read") or type(option.default)
    if isinstance(read, type):  # our parser tells what these need
        return read

    def reader(text: str) -> Any:
        try:
            return read(text)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader


def _options(args: argparse.Namespace) -> PolicyOptions:
    values = {option.name: getattr(args, option.name) for option in fields(PolicyOptions)}
    lists = {name: tuple(value or ()) for name, value in values.items() if name in _LISTS}
    return PolicyOptions(**values | lists)


def run(args: argparse.Namespace) -> int:
    """Run the evaluation and print its table; status 1 if nothing could be scored."""
    plan = Plan(
        ids=expand_ids(args.ids, per_task=args.per_task),
        difficulties=read_difficulties(args.difficulty),
        episodes=args.episodes,
        samples=args.samples,
        seed=args.seed,
        shots=args.shots,
        answer_format=args.answer_format,
        knobs=read_knobs(args.knob),
        opponents=args.opponents,
    )
    policies = make_policies(args.policy, _options(args))
    here = args.executor is None and args.address is None
    with ExitStack() as stack:
        bar = stack.enter_context(ProgressBar("episodes", hidden=args.no_progress))
        done = run_plan(
            plan,
            policies,
            out=args.out,
            workers=args.workers if here else None,
            executor=None if here else stack.enter_context(_text.executor_of(args)),
            progress=_teller(bar),
        )
    _print(args, done, policies)
    _write_report(args, done)
    names = {policy.name for policy in policies}  # the folder may have others from before
    scored = (record["scored"] for record in done.records if record["policy"] in names)
    return 0 if any(scored) else 1


def _teller(bar: ProgressBar) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        name = str(progress.record["policy"]) if progress.record else ""
        bar.update(progress.done, progress.total, name)

    return tell


def _write_report(args: argparse.Namespace, done: Evaluation) -> None:
    if done.folder is None or args.no_report:
        return
    from rlvr_envs.evaluation.report import write_report

    try:
        told = f"report: {write_report(done, price=args.price)}"
    except DependencyError as error:  # the tables and the files are there without it
        told = f"{error}\nThen repeat this command: it writes the page and evaluates nothing twice."
    say(f"\n{told}", file=sys.stderr)


def _print(args: argparse.Namespace, done: Evaluation, policies: list[Policy]) -> None:
    if args.json:
        found = {"config": done.config, **done.to_json()}
        if args.price:
            found["cost"] = _costs(done, args.price)
        say(json.dumps(found, indent=2))
        return
    tasks = sorted({r["task"] for r in done.records if r["task"]})  # None: it gave no problem
    say(tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks")
    say(_tables(args, done))
    for name, dollars in _costs(done, args.price).items() if args.price else ():
        say(f"\ncost of {name}: {'unknown' if dollars is None else f'${dollars:.4f}'}")
    if done.summary.is_wide and not args.per_task_table:
        say(f"\n--per-task-table prints a row for each of the {len(tasks)} tasks.")
    for group in done.summary["overall"]:
        if group.episodes < done.size:
            name = str(group.by["policy"])
            told = f"{name} has {group.episodes} of the run's {done.size} episodes"
            say(f"\n{told}: name it as a --policy to have the others", file=sys.stderr)
    for policy in policies:
        if any(_silent(g.by, g, policy) for g in done.summary["overall"]):
            why = next(r["verdict"] for r in done.records if r["policy"] == policy.name)
            told = f"nothing could be scored for {policy.name}: {why.get('detail')}"
            say(f"\n{told}", file=sys.stderr)


def _tables(args: argparse.Namespace, done: Evaluation) -> str:
    found = tables(done.summary, _text.width(), per_task=args.per_task_table)
    parts = [_text.table(table.header, table.rows) for table in found]
    if done.ratings:
        parts.append(rating_text(done.ratings))
    return "".join(f"\n{part}\n" for part in parts).removesuffix("\n")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(
            f"opponents are names with commas between them, such as 'random,optimal', got {text!r}"
        )
    return names


def _price(text: str) -> float:
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < float("inf"):
        raise argparse.ArgumentTypeError(f"a price is a number from 0, got {text!r}")
    return price


def _costs(done: Evaluation, price: tuple[float, float]) -> dict[str, float | None]:
    """Return what the tokens of each policy cost, None for a policy that does not count them."""
    return {
        str(group.by["policy"]): cost(group.prompt_tokens, group.tokens, price)
        for group in done.summary["overall"]
    }


def _silent(by: dict[str, Any], group: Any, policy: Policy) -> bool:
    return bool(by["policy"] == policy.name and group.unscored == group.episodes)
