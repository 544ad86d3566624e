"""Records a terminal in which `rlvr play` is played, as the picture in the README.

    python scripts/record_play.py            # writes docs/images/play.svg
    python scripts/record_play.py --check    # fails if the picture is not what a run shows today

The command really runs, in a pseudo-terminal. What is typed is the way of the oracle. The picture
leaves out the rules below the question, and says so.
"""

import argparse
import io
import os
import pty
import re
import select
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from rlvr_envs.core.env import TextEnv

TASK, LEVEL, SEED = "TemporalSearch-v0", 0, 4
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "play.svg"
COLUMNS = 100
COMMAND = ["rlvr", "play", TASK, "--difficulty", str(LEVEL), "--seed", str(SEED), "--episodes", "1"]

_PROMPT = b"> "
_STYLE = re.compile(rb"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"\x1b\[\??[0-9;]*[A-Za-ln-z]|\r")  # all but colours, which end in m
_RULES = re.compile(r"(\nEvery person, .*?)(?=\n(?:\x1b\[[0-9;]*m)?> )", re.DOTALL)
_FONTS = re.compile(r" *@font-face \{.*?\}\n", re.DOTALL)  # which a browser would fetch
_PATIENCE_S = 60.0


def typed() -> list[str]:
    """Return what the oracle would do, in the short forms that a person types."""
    env = TextEnv(TASK, difficulty=LEVEL)
    env.reset(seed=SEED)
    task, problem = env.instance.task, env.instance.problem
    hand = task.shorthand(problem)
    *_, info = env.step(task.solve(problem))
    return [hand.shorten(action) for action in info["reference"]]


def recorded(lines: list[str]) -> str:
    """Run the command in a terminal, type the lines, and return all that it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(
            COLUMNS=str(COLUMNS), LINES="60", TERM="xterm-256color", INPUTRC="/dev/null"
        )
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            os.environ.pop(name, None)
        start = "import sys; from rlvr_envs.cli.main import main; sys.exit(main())"
        os.execv(  # noqa: S606
            sys.executable, [sys.executable, "-c", start, *COMMAND[1:]]
        )
    shown, todo = b"", list(lines)
    seen = 0
    while True:
        ready, _, _ = select.select([terminal], [], [], _PATIENCE_S)
        if not ready:
            os.kill(pid, 9)
            raise SystemExit(f"the command shows nothing new after {shown[-200:]!r}")
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the end, on Linux
            break
        if not part:
            break
        shown += part
        if todo and _STYLE.sub(b"", shown[seen:]).endswith(_PROMPT):
            os.write(terminal, todo.pop(0).encode() + b"\n")
            seen = len(shown)
    os.waitpid(pid, 0)
    return _CONTROL.sub("", shown.decode(errors="replace"))


def picture(text: str) -> str:
    """Return a terminal's text as SVG."""
    text = _RULES.sub(
        lambda rules: f"\n\x1b[2m[{rules[1].count(chr(10))} lines of rules and calls]\x1b[0m\n",
        text,
    )
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.assemble(("$ ", "dim"), " ".join(COMMAND)))
    console.print(Text.from_ansi(text.strip("\n")), soft_wrap=True)
    svg = console.export_svg(title=f"rlvr play {TASK}", unique_id="play")
    return re.sub(r"[ \t]+\n", "\n", _FONTS.sub("", svg))


def main() -> None:
    """Write the picture, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    fresh = picture(recorded(typed()))
    if args.check:
        if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != fresh:
            raise SystemExit(f"{PICTURE.name} is stale: python scripts/record_play.py")
        return
    PICTURE.write_text(fresh, encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
