"""What several subcommands need: reading difficulties, numbers and knobs, tables, and printing."""

import argparse
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, TextIO

from rlvr_envs.core.parallel import CPU_S
from rlvr_envs.core.terminal import harmless
from rlvr_envs.executors import EXECUTORS, Executor, open_executor

# Levels have no end, but one more zero typed by mistake would work for hours in silence.
MAX_LEVEL = 1000

_NUMBER = re.compile(r"-?[\d.]+%?|–")
_DAY_S = 86_400.0
_LEAST_WRAP = 24  # a last column narrower than this is not worth wrapping


def say(*parts: object, file: TextIO | None = None, end: str = "\n", flush: bool = False) -> None:
    """Print, as everything here is printed: no file, model or server speaks to the terminal."""
    text = harmless(" ".join(map(str, parts)))
    print(text, file=file, end=end, flush=flush)


def difficulty(text: str) -> int | tuple[int, int]:
    """Read ``"3"`` or ``"0-5"``."""
    low, dash, high = text.partition("-")
    try:
        found = (int(low), int(high)) if dash else (int(low), int(low))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"a difficulty is a number such as 3, or a range such as 0-5, got {text!r}"
        ) from None
    difficulties(text)
    if found[0] > found[1]:
        raise argparse.ArgumentTypeError(f"the range {text!r} is empty: the lowest comes first")
    return found if dash else found[0]


def difficulties(text: str) -> str:
    """Return the text of several difficulties; its form is for its plan to judge, its size here."""
    for part in text.split(","):
        for number in part.partition(":")[0].split("-"):
            level = number.strip().lstrip("0")
            if level.isdecimal() and (len(level) > len(str(MAX_LEVEL)) or int(level) > MAX_LEVEL):
                raise argparse.ArgumentTypeError(
                    f"a difficulty is at most {MAX_LEVEL} here (10 is hard for the strongest "
                    f"models), got {text!r:.40}"
                )
    return text


def whole(text: str) -> int:
    """Read an integer."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"an integer is needed, got {text!r:.40}") from None


def natural(text: str) -> int:
    """Read an integer from 0."""
    return _integer(text, 0)


def positive(text: str) -> int:
    """Read an integer from 1."""
    return _integer(text, 1)


def seconds(text: str) -> float:
    """Read a number above 0 and at most a day."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= _DAY_S:
        raise argparse.ArgumentTypeError(f"seconds above 0, at most a day, got {text!r:.40}")
    return found


def _integer(text: str, least: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) >= least):
        raise argparse.ArgumentTypeError(f"an integer from {least} is needed, got {text!r:.40}")
    return int(text)


def add_knobs(parser: argparse.ArgumentParser) -> None:
    """Declare ``--knob``, which is the same everywhere."""
    parser.add_argument(
        "--knob",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a knob of a single task (repeatable; `rlvr show ID` lists them)",
    )


def add_json(parser: argparse.ArgumentParser, schema: str) -> None:
    """Declare ``--json``; the schema says in a line what is printed."""
    parser.add_argument("--json", action="store_true", help=f"print JSON alone: {schema}")


def say_json(data: object) -> None:
    """Print data as JSON."""
    say(json.dumps(data, indent=1))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as text with aligned columns; numbers are flush right, but in the first one.

    In a terminal that is too narrow, the last column is wrapped if it is text.
    """
    columns = [[row[i] for row in rows] for i in range(len(header))]
    widths = [max(map(len, (name, *cells))) for name, cells in zip(header, columns, strict=True)]
    right = [
        i > 0 and bool(cells) and all(map(_is_number, cells)) for i, cells in enumerate(columns)
    ]
    room = width() - sum(widths[:-1]) - 2 * (len(widths) - 1)
    wrap = room if sys.stdout.isatty() and room >= _LEAST_WRAP and not right[-1] else None
    lines = []
    for row in (header, *rows):
        *cells, last = (
            cell.rjust(size) if flush else cell.ljust(size)
            for cell, size, flush in zip(row, widths, right, strict=True)
        )
        pieces = textwrap.wrap(last, wrap) if wrap else [last]
        lead = "".join(f"{cell}  " for cell in cells)
        lines += [f"{lead}{piece}".rstrip() for piece in pieces[:1] or [""]]
        lines += [" " * len(lead) + piece for piece in pieces[1:]]
    return "\n".join(lines)


def _is_number(cell: str) -> bool:
    """Whether a cell is a number, with its interval or without."""
    return _NUMBER.fullmatch(cell.partition(" [")[0].partition("×")[0]) is not None


def fill(text: str, indent: int = 0) -> str:
    """Return a text whose long lines are broken between words, where a terminal would break them.

    What is read by a program, through a pipe, stays as it is.
    """
    if not sys.stdout.isatty():
        return text
    room = max(_LEAST_WRAP, width() - indent)
    lines = text.split("\n")
    return "\n".join(
        line
        if len(line) <= room
        else textwrap.fill(line, room, break_long_words=False, break_on_hyphens=False)
        for line in lines
    )


def width() -> int:
    """Return the columns of the terminal; a pipe has 100."""
    return shutil.get_terminal_size((100, 24)).columns


def add_judging(parser: argparse.ArgumentParser, rows: str, work: str) -> None:
    """Declare what judging the rows of others takes: trust, a limit, and where it is done."""
    parser.add_argument(
        "--trust-rows",
        action="store_true",
        help=f"let {rows} open the files, folders (also to write) and servers they name",
    )
    parser.add_argument(
        "--cpu-s",
        type=seconds,
        default=CPU_S,
        metavar="S",
        help=f"CPU seconds to {work}, but for serial (default: {CPU_S:g})",
    )
    add_executor(parser, "judge", "processes")


def add_executor(
    parser: argparse.ArgumentParser, work: str, default: str = "processes, if --workers > 1"
) -> None:
    """Declare where work runs."""
    group = parser.add_argument_group(f"where to {work}; the results are the same")
    group.add_argument("--executor", choices=EXECUTORS, help=f"default: {default}")
    group.add_argument(
        "--workers", type=positive, metavar="N", help="processes (of each node, on Ray)"
    )
    group.add_argument("--address", metavar="A", help="of a Ray cluster: auto or ray://HOST:10001")


def executor_of(args: argparse.Namespace, **options: Any) -> Executor:
    """Return the executor that the arguments ask for, with other options of `open_executor`."""
    return open_executor(args.executor, workers=args.workers, address=args.address, **options)
