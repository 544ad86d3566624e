"""List the registered ids, one a line, with their domain and what they are about."""

import argparse

from rlvr_envs.cli._text import add_json, say, say_json, table
from rlvr_envs.core import registry

HELP = "list the registered ids"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--domain", help=f"only this domain ({', '.join(registry.DOMAINS)})")
    add_json(parser, "a list of {id, domain, about}")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    ids = registry.task_ids(args.domain)
    mixtures = {} if args.domain else registry.mixture_ids()
    rows = [
        {"id": i, "domain": domain or "all", "about": "a mixture of its tasks"}
        for i, domain in mixtures.items()
        if i in registry.all_ids()
    ]
    for task_id in ids:
        spec = registry.find(task_id)
        about = (spec.task_type.__doc__ or "").strip().splitlines()
        rows.append(
            {"id": task_id, "domain": spec.domain, "about": about[0] if about else ""},
        )
    if args.json:
        say_json(rows)
    else:
        several = len({r["domain"] for r in rows} - {"all"}) > 1
        names = ("id", "domain", "about") if several else ("id", "about")
        say(table(names, [[r[name] for name in names] for r in rows]))
    return 0
