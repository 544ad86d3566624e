"""Draw the curves of training runs: rewards, lengths, losses, solve rates, held-out scores.

    rlvr plot runs/gcd --out gcd.html
    rlvr plot runs/gcd runs/dapo              two runs, a colour each
    rlvr plot runs/seed0 runs/seed1 --seeds   their mean and range

A folder that holds several runs stands for one that was repeated with other seeds. The page needs
no network; a picture (.png, .svg, .pdf) needs the package kaleido.
"""

import argparse
from pathlib import Path

from rlvr_envs.cli import _text

HELP = "draw the curves of training runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path, help="the folder of a run")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("curves.html"),
        metavar="FILE",
        help="an .html, .png, .svg or .pdf file (default: curves.html)",
    )
    parser.add_argument("--seeds", action="store_true", help="the runs differ in their seeds only")
    parser.add_argument(
        "--smooth",
        type=_text.positive,
        metavar="STEPS",
        help="average over so many steps (default: a twentieth of the run)",
    )


def run(args: argparse.Namespace) -> int:
    """Draw, and print the path of the file."""
    from rlvr_envs.agents.grpo.tracking.plot import draw

    print(draw(args.runs, args.out, seeds=args.seeds, smooth=args.smooth))
    return 0
