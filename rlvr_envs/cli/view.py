"""Look at runs in a browser: episodes, comparisons, scores by level.

    rlvr view runs/first                       a page on this machine, until Ctrl-C
    rlvr view runs/before runs/after           several runs, also of rlvr train
    rlvr view runs/first --out page            files, for a static server or to open directly

A page of the same runs is written anew; one of other runs is replaced with --force only.

RUN is the folder of a run, a folder that holds runs, or FOLDER:policy. The page shows the episodes
that have ended; load it again to see more of a run that goes on.
"""

import argparse
import shutil
import tempfile
import threading
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
        _serve(_Pages(args.runs, Path(folder)), args.port, browser=not args.no_browser)
    return 0


class _Pages:
    """The page of some runs, made anew where a run has grown; the one before stays too.

    Args:
        runs: as the command line names them.
        folder: gets a folder for each page.
    """

    def __init__(self, runs: list[str], folder: Path) -> None:
        self._runs, self.folder = runs, folder
        self._lock = threading.Lock()
        self._sizes: list[int] = []
        self._number = 0
        self.count = 0

    def newest(self) -> str:
        """Return the name of the folder of a page that shows all episodes that have ended."""
        from rlvr_envs.evaluation.viewer.index import write_page

        with self._lock:
            runs = open_runs(self._runs)
            sizes = [run.size for run in runs]
            if sizes != self._sizes:
                self.count = write_page(runs, self.folder / str(self._number + 1))
                self._number, self._sizes = self._number + 1, sizes
                shutil.rmtree(self.folder / str(self._number - 2), ignore_errors=True)
        return str(self._number)


def _serve(pages: _Pages, port: int, *, browser: bool) -> None:
    from rlvr_envs.evaluation.viewer.serve import HOST, server

    pages.newest()
    with server(pages.folder, port, pages.newest) as serving:
        address = f"http://{HOST}:{serving.server_address[1]}/"
        say(f"{_episodes(pages.count)} at {address} (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(address)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            say("")


def _episodes(count: int) -> str:
    return f"{count:,} {'episode' if count == 1 else 'episodes'}"
