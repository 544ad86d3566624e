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

import rlvr_envs
from rlvr_envs.cli._parser import Parser
from rlvr_envs.cli._text import say
from rlvr_envs.core.errors import RlvrEnvsError

# What may befall a disk in the middle of a run.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


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
