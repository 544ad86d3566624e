"""Look at runs in a browser: episodes, comparisons, scores by level.

    rlvr view runs/first                       a page on this machine, until Ctrl-C
    rlvr view runs/before runs/after           several runs, also of rlvr train
    rlvr view runs/first --out page            files, for a static server or to open directly

A page of the same runs is written anew; one of other runs is replaced with --force only.

RUN is the folder of a run, a folder that holds runs, or FOLDER:policy. The page shows the episodes
that had ended when the command began.
"""

import argparse
import tempfile
import webbrowser
from pathlib import Path

from rlvr_envs.cli import _text
from rlvr_envs.cli._text import say
from rlvr_envs.evaluation.runs import open_runs

HELP = "look at runs in a browser"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a folder, or FOLDER:policy")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the page there instead of serving it"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace the page of other runs in FOLDER"
    )
    parser.add_argument(
        "--port",
        type=_text.natural,
        default=0,
        metavar="N",
        help="of 127.0.0.1 (default: a free one)",
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address only")


def run(args: argparse.Namespace) -> int:
    """Write the page, and serve it unless it is to be kept."""
    from rlvr_envs.evaluation.page import check_replaceable, mark_of
    from rlvr_envs.evaluation.viewer.index import DATA, MAIN, write_page

    runs = open_runs(args.runs)
    if args.out is not None:
        if not args.force:
            check_replaceable(args.out / DATA / MAIN, mark_of(run.path for run in runs))
        count = write_page(runs, args.out)
        say(f"{args.out / 'index.html'}: {_episodes(count)}")
        return 0
    with tempfile.TemporaryDirectory(prefix="rlvr-view-") as folder:
        count = write_page(runs, Path(folder))
        _serve(Path(folder), args.port, count, browser=not args.no_browser)
    return 0


def _serve(folder: Path, port: int, count: int, *, browser: bool) -> None:
    from rlvr_envs.evaluation.viewer.serve import HOST, server

    with server(folder, port) as serving:
        address = f"http://{HOST}:{serving.server_address[1]}/"
        say(f"{_episodes(count)} at {address} (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(address)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            say("")


def _episodes(count: int) -> str:
    return f"{count:,} {'episode' if count == 1 else 'episodes'}"
