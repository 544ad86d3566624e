r"""Generate a dataset of verifiable problems, with splits, a manifest and a dataset card.

  rlvr generate Gcd-v0 Totient-v0=500 --count 2000 --difficulty 1:0.5,2:0.3,3:0.2 \
      --split train=0.9,test=0.1 --seed 7 --out my_dataset

Interrupt it at any time: the same command goes on where it stopped, and the bytes are the same
as if it had not stopped, with any number of workers.
"""

import argparse
from pathlib import Path

from rlvr_envs.cli import _text
from rlvr_envs.cli._progress import ProgressBar
from rlvr_envs.cli._text import say
from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.datasets.decontaminate import Benchmarks
from rlvr_envs.datasets.generate import generate
from rlvr_envs.datasets.plan import FILE_FORMATS, Plan
from rlvr_envs.datasets.split import read_splits
from rlvr_envs.datasets.store import sha256_of
from rlvr_envs.evaluation.plan import read_knobs

HELP = "generate a dataset of problems"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("ids", nargs="+", metavar="ID[=COUNT]", help="a task or a mixture")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder")
    parser.add_argument(
        "--count",
        type=_text.positive,
        default=1000,
        help="rows of an id without =COUNT (default: 1000)",
    )
    parser.add_argument(
        "--difficulty",
        type=_text.difficulties,
        metavar="D",
        help="levels that share the rows: '3', '0-5' (equal parts) or with weights "
        "'0:0.5,1:0.3,2-4:0.2' (default: the knobs')",
    )
    parser.add_argument("--seed", type=_text.natural, default=0, help="of the dataset (default: 0)")
    parser.add_argument("--split", default="train=1", metavar="S", help="such as train=.9,test=.1")
    parser.add_argument("--format", choices=FILE_FORMATS, default="jsonl")
    parser.add_argument(
        "--shard-rows", type=_text.positive, default=5000, metavar="N", help="rows a shard"
    )
    parser.add_argument("--answer-format", metavar="F", help="instead of each task's own")
    _text.add_knobs(parser)
    parser.add_argument(
        "--check",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="judge each row's reference answer before writing it",
    )
    parser.add_argument(
        "--allow-fewer", action="store_true", help="take what there is when problems run out"
    )
    parser.add_argument(
        "--decontaminate",
        type=Path,
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="leave out questions that overlap with these benchmarks",
    )
    parser.add_argument("--licence", help="of the rows, for the card")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    _text.add_json(parser, "{out, files: [{name, split, rows, sha256}]}")
    _text.add_executor(parser, "draw problems")


def run(args: argparse.Namespace) -> int:
    """Generate the dataset."""
    for path in args.decontaminate:
        if not path.is_file():
            hint = did_you_mean_path(path)
            raise ConfigError(f"there is no file {str(path)!r} to decontaminate against{hint}")
    plan = Plan(
        sources=tuple(_source(text, args.count) for text in args.ids),
        seed=args.seed,
        difficulty=args.difficulty,
        splits=read_splits(args.split),
        knobs=read_knobs(args.knob),
        answer_format=args.answer_format,
        file_format=args.format,
        shard_rows=args.shard_rows,
        check=args.check,
        allow_fewer=args.allow_fewer,
        benchmarks=tuple((path.name, sha256_of(path)) for path in args.decontaminate),
        licence=args.licence,
    )
    benchmarks = Benchmarks.from_files(args.decontaminate) if args.decontaminate else None
    with _text.executor_of(args) as executor, ProgressBar("rows", hidden=args.quiet) as bar:
        manifest = generate(
            plan, args.out, executor=executor, benchmarks=benchmarks, progress=bar.update
        )
    if args.json:
        _text.say_json({"out": str(args.out), "files": manifest["files"]})
        return 0
    for name, _ in plan.splits:
        files = [file for file in manifest["files"] if file["split"] == name]
        plural = "" if len(files) == 1 else "s"
        say(f"{name}: {sum(file['rows'] for file in files)} rows in {len(files)} file{plural}")
    say(f"written to {args.out}")
    return 0


def _source(text: str, count: int) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not equals:
        return name, count
    if not (number.isascii() and number.isdigit()):
        raise ConfigError(f"write an id with its count as ID=500, got {text!r}")
    return name, int(number)
