"""Benchmark RL algorithms on frozen suites, and compare them with intervals.

    rlvr bench list
    rlvr bench run tiny-v1 grpo dapo "mine=default(loss='cispo')" --out runs/bench
    rlvr bench compare runs/bench/grpo runs/bench/mine
    rlvr bench report runs/bench/* --out report.html
    rlvr bench verify runs/bench/mine

The same `run` command goes on where it was interrupted. For trainers of others:

    rlvr bench export tiny-v1 gcd --out job
    rlvr bench score job checkpoints --name my_trainer --out runs/bench/my_trainer

docs/benchmark.md has the protocol: what is free, what is fixed, and how results are published.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlvr_envs.cli import _text
from rlvr_envs.cli._progress import ProgressBar
from rlvr_envs.cli._text import say
from rlvr_envs.core.errors import ConfigError, DependencyError, did_you_mean
from rlvr_envs.core.extras import hint
from rlvr_envs.core.files import replaced

if TYPE_CHECKING:
    from rlvr_envs.bench.plan import Progress
    from rlvr_envs.bench.results import Run
    from rlvr_envs.bench.suite import Suite

HELP = "benchmark RL algorithms on frozen suites"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their arguments."""
    commands = parser.add_subparsers(dest="bench", required=True, metavar="COMMAND")

    def command(
        name: str, work: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        sub.set_defaults(work=work)
        return sub

    listing = command("list", _list, "show the suites, or the experiments of one")
    listing.add_argument("suite", nargs="?", metavar="SUITE", help="a suite, or a file of one")
    _text.add_json(
        listing,
        "a list, or of one suite an object, of {suite, title, status, draft, hash, experiments: "
        "[{experiment, axis, samples, tokens, question}], seeds}",
    )
    _add_run(command("run", _run, "train and test algorithms on a suite"))
    comparing = command("compare", _compare, "show which algorithms differ, with intervals")
    _add_entries(comparing)
    _add_common(comparing)
    _text.add_json(comparing, "everything that is compared, by experiment and algorithm")
    reporting = command("report", _report, "write a page that compares algorithms")
    _add_entries(reporting)
    _add_common(reporting)
    reporting.add_argument(
        "--out", type=Path, default=Path("report.html"), help="default: report.html"
    )
    reporting.add_argument("--table", type=Path, metavar="FILE", help="a Markdown table as well")
    check = command("verify", _verify, "compute the scores of entries again and check the rules")
    _add_entries(check)
    check.add_argument("--partial", action="store_true", help="runs may be missing")
    _text.add_json(check, "a list of {entry, passed, runs, rescored, unseen, faults}")
    _add_export(command("export", _export, "write what another trainer needs for an experiment"))
    _add_score(command("score", _score, "test what another trainer has made, as an entry"))
    pack = command("submit", _submit, "write entries to be published, with their responses")
    pack.add_argument("entries", type=Path, nargs="+", metavar="ENTRY", help="a folder of runs")
    pack.add_argument("--to", type=Path, required=True, metavar="DIR", help="such as leaderboard")
    pack.add_argument(
        "--partial", action="store_true", help="runs may be missing, in a draft suite"
    )
    pack.add_argument(
        "--all-points", action="store_true", help="keep the responses of all evaluations"
    )
    freeze = command("freeze", _freeze, "make the next draft of a suite from this version's tasks")
    freeze.add_argument("suite", metavar="SUITE", help="a draft suite, or a file of one")
    freeze.add_argument("--rebuild", action="store_true", help="make all start checkpoints anew")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="a suite, or a file of one")
    parser.add_argument(
        "algorithms",
        nargs="+",
        metavar="ALGORITHM",
        help="a preset of `rlvr train --list`, LABEL=PRESET(setting=value, …), or baselines "
        "(or a group of them, such as baselines:core)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs/bench"), help="holds a folder for each"
    )
    parser.add_argument("--experiments", nargs="+", default=[], metavar="E", help="default: all")
    parser.add_argument("--seeds", type=_seeds, default=(), metavar="S", help="such as 0-9 or 0,3")
    parser.add_argument(
        "--plugin", nargs="+", default=[], metavar="FILE", help="Python files of yours"
    )
    parser.add_argument(
        "--validate", action="store_true", help="test on validation problems, to choose settings"
    )
    parser.add_argument(
        "--tuned-runs", type=_text.natural, default=0, metavar="N", help="runs that settings took"
    )
    parser.add_argument("--no-progress", action="store_true", help="show no progress on stderr")
    _text.add_executor(parser, "train", default="this process")


def _add_entries(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entries", nargs="+", type=Path, metavar="ENTRY", help="a folder of runs")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="a suite, or a file of one")
    parser.add_argument("experiment", metavar="EXPERIMENT", help="one of the suite's")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="new or empty")
    parser.add_argument("--seed", type=_text.natural, default=0, help="of the run (default: 0)")
    parser.add_argument("--to", metavar="FORMAT", help="trl, verl, openrlhf or nemo-gym as well")


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="the folder that export wrote")
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="a folder of checkpoints, each with a usage.json, or a JSONL file of responses",
    )
    parser.add_argument("--name", required=True, help="of the algorithm")
    parser.add_argument("--out", type=Path, required=True, metavar="ENTRY", help="added to")
    parser.add_argument("--source", default="", help="where the algorithm comes from")
    parser.add_argument("--version", default="", help="of what implements it")
    parser.add_argument("--settings", type=_settings, default={}, metavar="JSON", help="its own")
    parser.add_argument(
        "--tuned-runs", type=_text.natural, default=0, metavar="N", help="runs that settings took"
    )
    parser.add_argument("--validate", action="store_true", help="test on validation problems")
    parser.add_argument(
        "--metered", action="store_true", help="`rlvr serve --bench` counted the samples"
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--common", action="store_true", help="compare the runs that all have, where some lack any"
    )


def _seeds(text: str) -> tuple[int, ...]:
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.partition("-")
        found += range(_text.natural(low), _text.natural(high if dash else low) + 1)
    if not found or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"seeds are such as 0-9 or 0,3, each once, got {text!r}")
    return tuple(found)


def _settings(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}, in {text!r:.80}") from None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"settings are a JSON object, got {text!r:.80}")
    return found


def run(args: argparse.Namespace) -> int:
    """Run the subcommand."""
    if find_spec("pydantic") is None:
        raise DependencyError(f"the benchmark needs pydantic: {hint('train')}")
    status: int = args.work(args)
    return status


def _list(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.suite import load, suite_names

    if args.suite:
        suite = load(args.suite)
        if args.json:
            _text.say_json(_json(suite))
            return 0
        say(f"{suite.name}: {suite.title}\n{_state(suite)}\n")
        rows = [
            [e.name, e.axis, str(e.samples), str(e.tokens), e.question] for e in suite.experiments
        ]
        say(_text.table(("experiment", "axis", "samples", "tokens", "question"), rows))
        return 0
    suites = [load(name) for name in suite_names()]
    if args.json:
        _text.say_json([_json(suite) for suite in suites])
        return 0
    rows = [
        [s.name, str(len(s.experiments)), str(len(s.seeds)), _state(s), s.title] for s in suites
    ]
    say(_text.table(("suite", "experiments", "seeds", "state", "what for"), rows))
    return 0


def _json(suite: "Suite") -> dict[str, Any]:
    names = ("axis", "samples", "tokens", "question")
    return {
        "suite": suite.name,
        "title": suite.title,
        "status": suite.status,
        "draft": suite.draft,
        "hash": suite.hash,
        "experiments": [
            {"experiment": each.name} | {name: getattr(each, name) for name in names}
            for each in suite.experiments
        ],
        "seeds": list(suite.seeds),
    }


def _state(suite: "Suite") -> str:
    draft = "frozen" if suite.status == "frozen" else f"draft {suite.draft}"
    return f"{draft}, hash {suite.hash:.12}"


def _run(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.algorithm import Choice
    from rlvr_envs.bench.plan import Plan, run_plan
    from rlvr_envs.bench.suite import load

    plan = Plan(
        suite=load(args.suite),
        choices=tuple(
            Choice.read(text, args.plugin) for given in args.algorithms for text in _texts(given)
        ),
        experiments=tuple(args.experiments),
        seeds=args.seeds,
        split="validation" if args.validate else "test",
        tuned_runs=args.tuned_runs,
    )
    with (
        _text.executor_of(args, memory_mib=None) as executor,
        ProgressBar("runs", hidden=args.no_progress) as bar,
    ):
        folders = run_plan(plan, args.out, executor=executor, progress=_teller(bar))
    for folder in folders:
        say(folder)
    return 0


def _texts(given: str) -> Sequence[str]:
    """Return the algorithms that an argument stands for."""
    from rlvr_envs.bench.baselines import BASELINES

    word, _, group = given.partition(":")
    if word != "baselines":
        return [given]
    if group and group not in BASELINES:
        hint = did_you_mean(group, BASELINES)
        raise ConfigError(f"no group of baselines {group!r}{hint} (known: {', '.join(BASELINES)})")
    return [text for name, texts in BASELINES.items() if group in ("", name) for text in texts]


def _teller(bar: ProgressBar) -> "Callable[[Progress], None]":
    def tell(progress: "Progress") -> None:
        run = progress.run
        name = f"{run.algorithm.name} {run.experiment} {run.seed}" if run else ""
        if run and run.failed:
            say(f"{name} failed: {run.failed}", file=sys.stderr)
        bar.update(progress.done, progress.total, name)

    return tell


def _compared(args: argparse.Namespace) -> "tuple[Suite, list[list[Run]]]":
    from rlvr_envs.bench.results import read_runs
    from rlvr_envs.bench.suite import load

    entries = [read_runs(entry) for entry in args.entries]
    return load(entries[0][0].suite), entries


def _compare(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.compare import compare, tables

    comparison = compare(*_compared(args), common=args.common)
    if args.json:
        _text.say_json(comparison.to_json())
        return 0
    say(f"{comparison.suite}, {comparison.split} problems, hash {comparison.suite_hash:.12}")
    for each in tables(comparison):
        say(f"\n{_text.table(each.header, each.rows)}")
    return 0


def _report(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.compare import compared
    from rlvr_envs.bench.entries import gather
    from rlvr_envs.bench.report import write_report, write_table
    from rlvr_envs.evaluation.page import require_plotly

    require_plotly()  # before the comparison, which takes a while
    entries = gather(*_compared(args), common=args.common)
    comparison = compared(entries)
    say(write_report(comparison, entries, args.out))
    if args.table:
        say(write_table(comparison, args.table))
    return 0


def _verify(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.results import read_runs
    from rlvr_envs.bench.suite import load
    from rlvr_envs.bench.verify import verify

    suites = [load(read_runs(entry)[0].suite) for entry in args.entries]
    faulty, told = 0, []
    for suite, entry in zip(suites, args.entries, strict=True):
        report = verify(suite, entry, partial=args.partial)
        told.append({"entry": str(entry), "passed": not report.faults, **asdict(report)})
        faulty += bool(report.faults)
        if args.json:
            continue
        for fault in report.faults:
            say(f"{entry}: {fault}", file=sys.stderr)
        state = "REJECTED" if report.faults else "passed"
        unseen = f", {report.unseen} without responses" if report.unseen else ""
        say(f"{entry}: {state}, {report.runs} runs, {report.rescored} evaluations rescored{unseen}")
    if args.json:
        _text.say_json(told)
    return 1 if faulty else 0


def _export(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.export import export
    from rlvr_envs.bench.suite import load

    job = export(load(args.suite), args.experiment, args.out, seed=args.seed, to=args.to)
    say(f"{args.out}: {job.samples} samples, checkpoints after the shares {job.fractions}")
    return 0


def _score(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.export import read_export
    from rlvr_envs.bench.results import Algorithm
    from rlvr_envs.bench.score import score_checkpoints, score_responses
    from rlvr_envs.bench.store import Entry
    from rlvr_envs.bench.suite import load

    job, _ = read_export(args.job)
    suite = load(job.suite)
    if suite.hash != job.suite_hash:
        raise ConfigError(
            f"{args.job} is of {job.suite} with the hash {job.suite_hash:.12}, and this version "
            f"has {suite.hash:.12}: export and train again"
        )
    score = score_checkpoints if args.results.is_dir() else score_responses
    entry = Entry(args.out)
    run, answers = score(
        suite,
        job.experiment,
        args.results,
        algorithm=Algorithm(
            name=args.name,
            source=args.source,
            version=args.version,
            settings=args.settings,
            tuned_runs=args.tuned_runs,
        ),
        seed=job.seed,
        split="validation" if args.validate else "test",
        trust="metered" if args.metered else "self-reported",
    )
    entry.add(run, answers)
    last = run.points[-1]
    say(f"{args.out}: {job.experiment}, seed {job.seed}: {last.score:.3f} after {last.samples}")
    return 0


def _submit(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.results import read_runs
    from rlvr_envs.bench.store import pack

    packed = []
    firsts = [read_runs(entry)[0] for entry in args.entries]  # before anything is written
    for entry, first in zip(args.entries, firsts, strict=True):
        out = args.to / first.suite / first.algorithm.name
        pack(entry, out, all_points=args.all_points)
        packed.append(out)
        say(out)
    return _verify(argparse.Namespace(entries=packed, partial=args.partial, json=False))


def _freeze(args: argparse.Namespace) -> int:
    from rlvr_envs.bench.freeze import freeze
    from rlvr_envs.bench.suite import SUITES, load, write

    suite = load(args.suite)
    path = (
        Path(args.suite)
        if args.suite.endswith(".json")
        else Path(str(SUITES)) / f"{suite.name}.json"
    )
    made = freeze(suite, rebuild=args.rebuild, tell=lambda text: say(text, file=sys.stderr))
    with replaced(path) as file:
        file.write(write(made).encode())
    say(f"{path}: {_state(made)}")
    return 0
