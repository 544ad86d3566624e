"""Compare runs, problem by problem, on the problems that both answered.

    rlvr compare runs/before runs/after
    rlvr compare runs/first:oracle runs/first:random      two policies of one run
    rlvr compare runs/first                               its policies with the first of them

The first one is the baseline of all others. Differences are means over problems with 95 %
intervals; won, tied and lost count the problems on which the other scores more, the same and less.
"""

import argparse
import json
from collections.abc import Iterable

from rlvr_envs.cli import _text
from rlvr_envs.cli._text import say
from rlvr_envs.core.errors import UsageError
from rlvr_envs.evaluation.compare import (
    BREAKDOWNS,
    PairComparison,
    Paired,
    compare,
    read_series,
)
from rlvr_envs.evaluation.table import estimate_text

HELP = "compare runs, problem by problem"

# A breakdown into more parts than this is left to --json and `rlvr view`.
_MANY_PARTS = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="the folder of a run, or FOLDER:policy"
    )
    parser.add_argument(
        "--problems",
        type=_text.natural,
        default=10,
        metavar="N",
        help="list the N problems that changed most (default: 10)",
    )
    parser.add_argument("--json", action="store_true", help="print the comparisons as JSON")


def run(args: argparse.Namespace) -> int:
    """Compare, and print; status 1 if a pair has no problem in common."""
    series = read_series(args.runs)
    if len(series) < 2:
        raise UsageError(
            f"{args.runs[0]} has one policy: give a second run, or a run with several policies"
        )
    found = [compare(series[0], other) for other in series[1:]]
    if args.json:
        for each in found:
            del each.changes[args.problems :]
        say(json.dumps([each.to_json() for each in found], indent=2))
    else:
        for place, each in enumerate(found):
            say("\n" * bool(place) + _shown(each, args.problems))
    return 0 if all(each.groups["overall"] for each in found) else 1


def _shown(found: PairComparison, most: int) -> str:
    parts = [f"{found.second} compared with {found.first}, the baseline"]
    if found.groups["overall"]:
        parts += [_table("", found.groups["overall"])]
    for name in BREAKDOWNS:
        if 1 < len(found.groups[name]) <= _MANY_PARTS:
            parts.append(_table(name, found.groups[name]))
    if found.changes[:most]:
        parts += [_changes(found, most)]
    for label, alone in ((found.first, found.only_first), (found.second, found.only_second)):
        if alone and found.groups["overall"]:
            parts.append(f"{alone} problems of {label} are not in the other run.")
    if found.note:
        parts.append(f"Note: {found.note}.")
    return "\n\n".join(parts)


def _table(name: str, groups: Iterable[Paired]) -> str:
    header = [name or "all", "problems", "baseline", "other", "difference [95 % CI]"]
    rows = [
        [
            _name(next(iter(each.by.values()))) if each.by else "",
            str(each.problems),
            f"{each.first:.3f}",
            f"{each.second:.3f}",
            estimate_text(each.difference),
            *map(str, (each.won, each.tied, each.lost)),
        ]
        for each in groups
    ]
    return _text.table([*header, "won", "tied", "lost"], rows)


def _changes(found: PairComparison, most: int) -> str:
    rows = [
        [
            (each.task or "–").rpartition("/")[2],
            _name(each.difficulty),
            each.question.rpartition("|")[2],
            f"{each.first:.3f}",
            f"{each.second:.3f}",
            f"{_statuses(each.first_statuses)} → {_statuses(each.second_statuses)}",
        ]
        for each in found.changes[:most]
    ]
    header = ["task", "level", "problem", "baseline", "other", "how they ended"]
    told = f"The {len(rows)} of {len(found.changes)} changed problems that changed most:"
    if len(rows) == len(found.changes):
        told = "The problems that changed:"
    return f"{told}\n\n{_text.table(header, rows)}"


def _statuses(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    return ", ".join(
        status.replace("_", " ") + (f" {count} of {total}" if total > 1 else "")
        for status, count in sorted(counts.items(), key=lambda item: -item[1])
    )


def _name(value: object) -> str:
    return "default" if value is None else str(value)
