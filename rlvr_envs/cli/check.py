"""Run the conformance checks on ids, and explain each: what it asks, what was seen."""

import argparse
import contextlib
import io
from collections.abc import Iterator

from rlvr_envs.cli._text import add_json, say, say_json
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
    add_json(parser, "a list of {id, check, status (passed, failed, not applicable), asked, seen}")


def run(args: argparse.Namespace) -> int:
    """Print a line a check; the exit status is 1 if one fails."""
    names = args.only or list(CHECKS)
    for name in names:
        if name not in CHECKS:
            hint = did_you_mean(name, CHECKS)
            raise ConfigError(f"no check {name!r}{hint} (known: {', '.join(CHECKS)})")
    ids = registry.task_ids() if args.id == ["all"] else [registry.find(i).id for i in args.id]
    results = [found for task_id in ids for found in _checked(task_id, names, args)]
    failed = sum(found["status"] == "failed" for found in results)
    if args.json:
        say_json(results)
    else:
        say(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _checked(task_id: str, names: list[str], args: argparse.Namespace) -> Iterator[dict[str, str]]:
    """Yield what came of each check, told at once unless JSON is asked for."""
    if not args.json:
        say(task_id)
    subject = Subject(task_id, thorough=args.thorough)
    for name in names:
        status, seen = _outcome(subject, name)
        asked = (CHECKS[name].__doc__ or "").strip().splitlines()[0]
        if not args.json:
            say(
                {
                    "passed": f"  ok    {name}: {asked}",
                    "not applicable": f"  -     {name}: {seen}",
                    "failed": f"  FAIL  {name}\n        asked: {asked}\n        seen:  {seen}",
                }[status],
                flush=status == "failed",
            )
        yield {"id": task_id, "check": name, "status": status, "asked": asked, "seen": seen}


def _outcome(subject: Subject, name: str) -> tuple[str, str]:
    """Return the status of a check, and what was seen where it did not pass."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # some checks render a problem
            CHECKS[name](subject)
    except NotApplicable as reason:
        return "not applicable", str(reason)
    except (ConformanceError, Exception) as error:  # noqa: BLE001 - a task under test may do anything
        kind = "" if isinstance(error, ConformanceError) else f"{type(error).__name__}: "
        return "failed", f"{kind}{error}"
    return "passed", ""
