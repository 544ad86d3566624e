"""Run the conformance checks on ids, and explain each: what it asks, what was seen."""

import argparse
import contextlib
import io
import sys

from rlvr_envs.cli._text import say
from rlvr_envs.conformance import CHECKS, ConformanceError, NotApplicable, Subject
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, did_you_mean

HELP = "run the conformance checks on a task, with explanations"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", nargs="+", help="ids of tasks, with or without rlvr/; or 'all'")
    parser.add_argument(
        "--only", action="append", metavar="CHECK", help="run only this check (repeatable)"
    )
    parser.add_argument(
        "--thorough", action="store_true", help="look at three times as many problems, or more"
    )


def run(args: argparse.Namespace) -> int:
    """Print a line a check; the exit status is 1 if one fails."""
    names = args.only or list(CHECKS)
    for name in names:
        if name not in CHECKS:
            hint = did_you_mean(name, CHECKS)
            raise ConfigError(f"no check {name!r}{hint} (known: {', '.join(CHECKS)})")
    ids = registry.task_ids() if args.id == ["all"] else [registry.find(i).id for i in args.id]
    failed = 0
    for task_id in ids:
        say(task_id)
        subject = Subject(task_id, thorough=args.thorough)
        for name in names:
            failed += not _passes(subject, name)
    say(f"{len(ids) * len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _passes(subject: Subject, name: str) -> bool:
    check = CHECKS[name]
    asked = (check.__doc__ or "").strip().splitlines()[0]
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # some checks render a problem
            check(subject)
    except NotApplicable as reason:
        say(f"  -     {name}: {reason}")
    except (ConformanceError, Exception) as error:  # noqa: BLE001 - a task under test may do anything
        kind = "" if isinstance(error, ConformanceError) else f"{type(error).__name__}: "
        say(f"  FAIL  {name}\n        asked: {asked}\n        seen:  {kind}{error}")
        sys.stdout.flush()
        return False
    else:
        say(f"  ok    {name}: {asked}")
    return True
