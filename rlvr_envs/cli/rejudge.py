"""Judge the responses of a run of `rlvr eval` again, by today's verifiers.

    rlvr rejudge runs/first
    rlvr rejudge runs/first --out runs/first-today

The responses and the problems are those in the folder: no model is asked, and the folder is not
changed. The output says which verdicts are other ones now. --out writes a new run with them, which
`rlvr eval` can go on with. Episodes in which the policy failed stay as they are.

The folder may be anybody's: its responses are judged in processes with limits of CPU time and
memory, and a problem that would open a file, a folder or a server that it names is refused, unless
you say --trust-rows.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from rlvr_envs.cli import _text
from rlvr_envs.cli._progress import ProgressBar
from rlvr_envs.cli._text import say
from rlvr_envs.evaluation.rejudging import Change, Rejudged, rejudge
from rlvr_envs.evaluation.summary import Group
from rlvr_envs.evaluation.table import estimate_text

HELP = "judge the responses of a run again"
# So many changed episodes are printed; --json has all of them.
_SHOWN = 100
_DETAIL_CHARS = 160


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="the folder of the run")
    parser.add_argument(
        "--out", type=Path, metavar="NEW", help="a new folder for the run with the new verdicts"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--skip-bad-rows",
        action="store_true",
        help="leave episodes unscored whose problem cannot be used, rather than stop",
    )
    _text.add_judging(parser, "problems", "judge a response")
    parser.add_argument("--no-progress", action="store_true", help="show no progress on stderr")


def run(args: argparse.Namespace) -> int:
    """Judge the responses and print what changed."""
    args.executor = args.executor or "processes"
    with ExitStack() as stack:
        bar = stack.enter_context(ProgressBar("episodes", hidden=args.no_progress))
        found = rejudge(
            args.run_folder,
            out=args.out,
            trusted=args.trust_rows,
            skip_bad_rows=args.skip_bad_rows,
            executor=stack.enter_context(_text.executor_of(args)),
            cpu_s=args.cpu_s,
            progress=lambda done, total: bar.update(done, total, ""),
        )
    for fault in found.faults:
        say(fault, file=sys.stderr)
    if args.json:
        say(json.dumps(found.to_json(), indent=2))
    else:
        _print(found)
    return 0


def _print(found: Rejudged) -> None:
    judged = sum(found.counts.values())
    say(f"{judged} episodes judged again, {len(found.changes)} of them with another verdict")
    if found.kept:
        say(f"{found.kept} episodes without a response to judge stay as they are")
    if found.new_prompts:
        told = f"{found.new_prompts} of {found.problems} problems have another prompt in this"
        say(f"{told} version; they were judged as they were asked")
    if found.counts:
        rows = [[old, new, str(count)] for (old, new), count in found.counts.items()]
        say(f"\n{_text.table(['was', 'is', 'episodes'], rows)}")
    if found.changes:
        head = ["policy", "task", "level", "problem", "sample", "was", "is", "detail"]
        say(f"\n{_text.table(head, [_cells(change) for change in found.changes[:_SHOWN]])}")
        if len(found.changes) > _SHOWN:
            say(f"… and {len(found.changes) - _SHOWN} more, which --json lists")
        rows = [
            [str(old.by["policy"]), _score(old), _score(new)]
            for old, new in zip(found.before["overall"], found.after["overall"], strict=True)
        ]
        say(f"\n{_text.table(['policy', 'score was', 'score is'], rows)}")
    if found.folder is not None:
        say(f"\nthe run with the new verdicts: {found.folder}")


def _score(group: Group) -> str:
    return estimate_text(group.score)


def _cells(change: Change) -> list[str]:
    detail = " ".join(change.detail.split())
    return [
        change.policy,
        str(change.task),
        "default" if change.difficulty is None else str(change.difficulty),
        change.problem,
        str(change.sample),
        _verdict(change.old_status, change.old_score),
        _verdict(change.new_status, change.new_score),
        detail if len(detail) <= _DETAIL_CHARS else f"{detail[: _DETAIL_CHARS - 1]}…",
    ]


def _verdict(status: str, score: float | None) -> str:
    return f"{status} (unscored)" if score is None else f"{status} ({score:.3g})"
