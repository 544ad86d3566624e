"""The `rlvr` command: finds its subcommands among the modules of this package.

A subcommand is a module with ``HELP`` (a line), ``add_arguments(parser)`` and
``run(args) -> int`` (the exit status); its name is the module's, with dashes. ``PARSER`` may hold
arguments of its parser.
"""

import argparse
import errno
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Never

import rlvr_envs
from rlvr_envs.cli._text import say, whole
from rlvr_envs.core.errors import RlvrEnvsError, did_you_mean

# What may befall a disk in the middle of a run.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


class Parser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` whose errors are one line, with a suggestion."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # argparse looks an argument's type up here first, and its own words name the type only.
        self.register("type", int, whole)
        self.register("type", float, _number)

    def error(self, message: str) -> Never:
        """Print a line and end the program with the status 2."""
        what = message.removeprefix("argument ")
        if what.startswith("the following arguments are required"):
            what = f"{what} (see {self.prog} --help)"
        say(f"{self.prog}: {' '.join(what.split())}", file=sys.stderr)
        raise SystemExit(2)

    def parse_known_args(  # type: ignore[override]  # as the base with both arguments given
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return the arguments; a parser without subcommands leaves nothing over."""
        given = sys.argv[1:] if args is None else list(args)
        self._check_options(given)
        found, left = super().parse_known_args(given, namespace)
        if left and self._subparsers is None:
            places = [a.metavar or a.dest for a in self._actions if not a.option_strings]
            takes = ", ".join(map(str, places)) or "options only"
            what = f"{left[0]!r} is one argument too many"
            self.error(f"{what}: {self.prog} takes {takes} (see {self.prog} --help)")
        return found, left

    def _check_options(self, given: Sequence[str]) -> None:
        """Refuse an unknown option before argparse misses a required one in its stead."""
        known = self._option_string_actions
        for word in given:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                return
            name = word.partition("=")[0]
            if not self._is_option(word) or name in known or name[:2] in known:
                continue
            if name.startswith("--") and any(option.startswith(name) for option in known):
                continue  # an abbreviation
            long = [option for option in known if option.startswith("--")]
            hint = did_you_mean(f"--{name.lstrip('-')}", long)
            self.error(f"there is no option {name!r}{hint} (see {self.prog} --help)")

    def _is_option(self, word: str) -> bool:
        if len(word) < 2 or word[0] not in self.prefix_chars or " " in word:
            return False
        try:
            float(word)
        except ValueError:
            return True
        return False

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):
            what = f"there is no command {value!r}"
        else:
            what = f"{_name(action)} cannot be {value!r}"
        self.error(f"{what}{did_you_mean(str(value), known)} (known: {', '.join(known)})")


def _name(action: argparse.Action) -> str:
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number is needed, got {text!r:.40}") from None


def commands() -> dict[str, str]:
    """Return subcommand → module, sorted."""
    package = importlib.import_module("rlvr_envs.cli")
    modules = [info.name for info in pkgutil.iter_modules(package.__path__) if not info.ispkg]
    public = [name for name in modules if name != "main" and not name.startswith("_")]
    return {name.replace("_", "-").rstrip("-"): f"rlvr_envs.cli.{name}" for name in sorted(public)}


def build_parser(names: Sequence[str]) -> Parser:
    """Return the parser with these subcommands, whose modules it imports."""
    parser = Parser(prog="rlvr", description=_first_line(rlvr_envs))
    parser.add_argument("--version", action="version", version=f"rlvr {rlvr_envs.__version__}")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = commands()
    for name in names:
        module = importlib.import_module(modules[name])
        description = (module.__doc__ or module.HELP).strip()
        sub = parsers.add_parser(
            name,
            help=module.HELP,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **getattr(module, "PARSER", {}),
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def _parsed(given: Sequence[str]) -> argparse.Namespace:
    """Return the arguments as the subcommand reads them; no other one is imported.

    Help and errors name all of them.
    """
    known, command = list(commands()), given[0] if given else ""
    if command in known:
        return build_parser([command]).parse_args(given)
    parser = build_parser(known)
    if not command:
        parser.error(f"name a command: {', '.join(known)} (see rlvr COMMAND --help)")
    return parser.parse_args(given)


def _first_line(module: ModuleType) -> str | None:
    """Return the first line of a module's docstring, which ``python -OO`` leaves out."""
    return (module.__doc__ or "").partition("\n")[0] or None


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; errors of the user's making are one line on stderr and exit status 2."""
    # Read when torch is loaded. By default its threads wait in a busy loop, which on a machine with
    # other work costs many times the CPU time of the work itself.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    given = sys.argv[1:] if argv is None else list(argv)
    try:
        args = _parsed(given)
    except KeyboardInterrupt:
        return 130
    try:
        status = int(args.run(args))
    except RlvrEnvsError as error:
        # A message with lines of its own, such as a compiler's, is one line here all the same.
        say(f"rlvr {args.command}: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        say(f"rlvr {args.command}: interrupted; what was finished is kept", file=sys.stderr)
        return 130
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            kept = "; what was finished is kept" if error.errno in _FULL else ""
            what = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            say(f"rlvr {args.command}: {what}{kept}", file=sys.stderr)
            return 1
        # The reader of a pipe (head, less) has gone; Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status
