"""Rate the policies of several runs on one scale, from their games against built-in players.

    rlvr eval Hex-v0 --policy oracle --opponents random,mcts:50,optimal --out runs/first
    rlvr eval Hex-v0 --policy random --opponents random,mcts:50,optimal --out runs/second
    rlvr ratings runs/first runs/second

Evaluate all runs with the same ids, levels and --seed, so that the positions are the same. Only
tasks and levels that all runs have count. A run that is still going on is rated as far as it is.
FOLDER:policy takes one policy of a run.
"""

import argparse

from rlvr_envs.cli import _text
from rlvr_envs.cli._text import say
from rlvr_envs.evaluation.matches import rate_runs
from rlvr_envs.evaluation.ratings import Ratings
from rlvr_envs.evaluation.table import rating_notes, rating_tables

HELP = "rate policies from games against built-in players"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="the folder of a run, or FOLDER:policy"
    )
    _text.add_json(parser, "reference, notes, and groups by overall, task and difficulty")


def run(args: argparse.Namespace) -> int:
    """Print the ratings; status 1 if no policy has a rating."""
    found = rate_runs(args.runs)
    if args.json:
        _text.say_json(found.to_json())
    else:
        say(rating_text(found))
    players = found.groups["overall"][0].players
    return 0 if any(each.rating is not None and not each.anchor for each in players) else 1


def rating_text(ratings: Ratings) -> str:
    """Return the tables of ratings as text, and what is to be known of them."""
    parts = []
    for place, table in enumerate(rating_tables(ratings, _text.width())):
        title = f"Ratings by {table.header[0]}" if place else "Ratings"
        parts.append(f"{title}\n\n{_text.table(table.header, table.rows)}")
    return "\n\n".join([*parts, *map(_text.fill, rating_notes(ratings))])
