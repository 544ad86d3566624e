"""List the programming languages, whether this machine has them, and how to get those it lacks."""

import argparse
import re
import shlex
import subprocess

from rlvr_envs.cli._text import add_json, say, say_json, table
from rlvr_envs.sandboxes import languages

HELP = "list the programming languages and what this machine has of them"

_VERSION_S = 20.0  # a toolchain that takes longer to say its version has none to show
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json(parser, "a list of {name, installed, version, install}")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    rows = [_row(languages.find(name)) for name in languages.names()]
    if args.json:
        say_json(rows)
        return 0
    cells = [
        (
            str(r["name"]),
            "installed" if r["installed"] else "missing",
            str(r["version"]),
            str(r["install"]),
        )
        for r in rows
    ]
    say(table(("language", "state", "version", "install with"), cells))
    return 0


def _row(language: languages.Language) -> dict[str, str | bool]:
    installed = language.available()
    return {
        "name": language.name,
        "installed": installed,
        "version": _version(language) if installed else "",
        "install": language.install,
    }


def _version(language: languages.Language) -> str:
    """Return the first number with a dot that the toolchain prints, or nothing."""
    tool, *words = shlex.split(language.version)
    found = languages.find_tool(tool)
    if found is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603  # a command of the languages' file, without a shell
            [found, *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_VERSION_S,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    number = _NUMBER.search(done.stdout or done.stderr)
    return number[0] if number else ""
