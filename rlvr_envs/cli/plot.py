"""Draw the curves of training runs: rewards, lengths, losses, solve rates, held-out scores.

    rlvr plot runs/gcd               writes runs/gcd/curves.html
    rlvr plot runs/gcd --out gcd.html
    rlvr plot runs/gcd runs/dapo     two runs, a colour each
    rlvr plot runs/gcd-*             of runs that differ in their seeds: mean and interval
    rlvr plot runs/gcd --fit         and the sigmoid that says where the reward will end

Runs whose settings differ in the seed alone are drawn as one line with a 95 % interval; a folder
that holds several runs stands for such a set. The page needs no network; a picture (.png, .svg,
.pdf) needs the package kaleido. A page of the same runs is drawn anew; any other file is replaced
with --force only.
"""

import argparse
import dataclasses
from pathlib import Path

from rlvr_envs.cli import _text
from rlvr_envs.cli._text import say

HELP = "draw the curves of training runs"

PAGE = "curves.html"  # in the folder of the first run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path, help="the folder of a run")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="an .html, .png, .svg or .pdf file (default: curves.html in the first RUN)",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE whatever it was made of")
    together = parser.add_mutually_exclusive_group()
    together.add_argument(
        "--seeds", action="store_true", help="draw all runs as one, whatever their settings"
    )
    together.add_argument("--each", action="store_true", help="draw every run by itself")
    parser.add_argument(
        "--fit",
        action="store_true",
        help="fit reward and held-out score over steps (ScaleRL) and print the curves",
    )
    parser.add_argument(
        "--smooth",
        type=_text.positive,
        metavar="STEPS",
        help="average over so many steps (default: a twentieth of the run)",
    )
    _text.add_json(
        parser,
        "{out, runs: [{name, seeds}], fits: [{run, metric, start, asymptote, midpoint, exponent, "
        "residual, points, last}]}",
    )


def run(args: argparse.Namespace) -> int:
    """Draw, and print the path of the file."""
    from rlvr_envs.agents.grpo.tracking.curves import load
    from rlvr_envs.agents.grpo.tracking.plot import draw, fit, need_plotly
    from rlvr_envs.agents.grpo.tracking.scaling import FEWEST
    from rlvr_envs.evaluation.page import check_replaceable, mark_of

    need_plotly()
    out, mark = args.out or args.runs[0] / PAGE, mark_of(args.runs)
    series = load(args.runs, seeds=args.seeds, each=args.each)
    fits = fit(series) if args.fit else {}
    if not args.force:
        check_replaceable(out, mark)
    draw(series, out, window=args.smooth, fits=fits, mark=mark)
    if args.json:
        _text.say_json(
            {
                "out": str(out),
                "runs": [{"name": each.name, "seeds": len(each.runs)} for each in series],
                "fits": [
                    {"run": name, "metric": metric, **dataclasses.asdict(curve)}
                    for (name, metric), curve in fits.items()
                ],
            }
        )
        return 0
    say(out)
    for (name, metric), curve in fits.items():
        say(f"{name}, {metric}: {curve}")
    if args.fit and not fits:
        say(f"nothing could be fitted: it takes {FEWEST} steps or more with rewards")
    return 0
