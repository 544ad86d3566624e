r"""Write a dataset in the shape that a trainer reads.

  rlvr export --to verl my_dataset --out verl_data --format parquet
  rlvr export --to sft rows.jsonl --out sft.jsonl

A folder is written with a file for each split; a name that ends in .jsonl or .parquet is written
as one file, and needs --split where the dataset has several. Interactive tasks, which a trainer
plays by other settings, get a file of their own beside it, such as train.interactive.jsonl; sft
writes their dialogues with the rest.
"""

import argparse
from pathlib import Path

from rlvr_envs.cli._text import add_json, say, say_json
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.tables import JSONL_SUFFIXES, PARQUET_SUFFIXES
from rlvr_envs.datasets.export import EXPORTS, NEMO_GYM_PLAYER, VERL_PLAYER, write_export
from rlvr_envs.datasets.plan import FILE_FORMATS
from rlvr_envs.datasets.read import read_rows, split_files

# By export: what plays the rows of interactive tasks.
PLAYERS = {
    "trl": "give GRPOTrainer an environment_factory or a rollout_func",
    "verl": f"register an agent loop by the name {VERL_PLAYER!r}, which the rows ask for",
    "openrlhf": "set --train.agent_func_path",
    "nemo_gym": f"configure a gymnasium_agent by the name {NEMO_GYM_PLAYER!r}, which they ask for",
    "verifiers": "use a taskset whose Env plays them",
}

HELP = "write a dataset in the shape that a trainer reads"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("dataset", type=Path, help="a JSONL or Parquet file or a dataset folder")
    parser.add_argument("--to", required=True, choices=EXPORTS, help="the shape")
    parser.add_argument("--out", type=Path, required=True, help="a file or a folder")
    parser.add_argument("--split", metavar="NAME", help="of a dataset folder; all by default")
    parser.add_argument(
        "--trust-rows", action="store_true", help="let rows open the files and servers they name"
    )
    parser.add_argument(
        "--format", choices=FILE_FORMATS, default="jsonl", help="of the files in a folder"
    )
    add_json(parser, "a list of {file, split, rows}")


def run(args: argparse.Namespace) -> int:
    """Write the export."""
    splits = list(split_files(args.dataset, args.split))
    single = args.out.suffix in (*JSONL_SUFFIXES, *PARQUET_SUFFIXES)
    if single and len(splits) > 1:
        raise ConfigError(
            f"{str(args.dataset)!r} has the splits {', '.join(splits)}: name one with --split, "
            "or a folder with --out"
        )
    if not single and args.out.is_file():
        raise ConfigError(f"{str(args.out)!r} is a file: its name should end in .jsonl or .parquet")
    if args.dataset.exists() and args.out.exists() and args.dataset.samefile(args.out):
        raise ConfigError(f"--out names {str(args.dataset)!r} itself: name another file or folder")
    (args.out.parent if single else args.out).mkdir(parents=True, exist_ok=True)
    files: list[dict[str, object]] = []
    for split in splits:
        path = args.out if single else args.out / f"{split}.{args.format}"
        for written, count in write_export(
            args.to, read_rows(args.dataset, split, trusted=args.trust_rows), path, split
        ).items():
            files.append({"file": str(written), "split": split, "rows": count})
            if args.json:
                continue
            note = f" of interactive tasks: {PLAYERS[args.to]}" if written != path else ""
            say(f"{written}: {count} {'row' if count == 1 else 'rows'}{note}")
    if args.json:
        say_json(files)
    return 0
