"""The parser of every subcommand: what is wrong with a command line is said in one line."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Never

from rlvr_envs.cli._text import say, whole
from rlvr_envs.core.errors import did_you_mean


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
