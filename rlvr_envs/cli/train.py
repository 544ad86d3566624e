"""Train a model on environments with the reference GRPO agent.

`rlvr train PRESET --tasks Gcd-v0 …`: a preset is a published recipe, and every setting beside it
replaces one of the recipe's. `rlvr train --list` names the presets (with --json as
a list of {name, paper, differs, settings}), `rlvr train --help` tells all settings, and
`--config run.yaml` takes them from a file.
"""

import argparse
import io
import os
import re
import shlex
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from rlvr_envs.cli._text import say, say_json
from rlvr_envs.core.errors import ConfigError, DependencyError, did_you_mean
from rlvr_envs.core.extras import needs

if TYPE_CHECKING:
    from rlvr_envs.agents.grpo.config import Config

HELP = "train a model with the reference GRPO agent"

# The arguments are tyro's, made from the fields of the configuration; nothing here is an option.
PARSER = {"add_help": False, "prefix_chars": "\0"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take all that comes."""
    parser.add_argument("arguments", nargs="*")


def run(args: argparse.Namespace) -> int:
    """Train, and say where the result is."""
    try:
        import tyro

        from rlvr_envs.agents.grpo.model.checkpoint import best_of
        from rlvr_envs.agents.grpo.train import train
    except ImportError as error:
        raise DependencyError(needs("training", error, "train")) from error
    from rlvr_envs.agents.grpo.config import Config, flat

    given = _together(args.arguments)
    if "--list" in given:
        return _list(given)
    start, rest = _start(given)
    told = io.StringIO()
    try:
        with redirect_stderr(told):
            config = tyro.cli(
                tyro.conf.OmitArgPrefixes[Config],
                default=start,
                args=rest,
                prog="rlvr train [PRESET]",
                description=f"{__doc__}\n{_plugins()}" if {"--help", "-h"} & set(rest) else __doc__,
            )
    except SystemExit as end:
        if not end.code:  # help was asked for
            raise
        raise ConfigError(_fault(told.getvalue(), flat(start))) from None
    try:
        newest = train(config)
    except KeyboardInterrupt:
        say(_how_to_go_on(config.output.out), file=sys.stderr)
        raise
    if os.environ.get("RANK", "0") == "0":  # of several workers one talks
        say(f"the newest checkpoint: {newest}", file=sys.stderr)
        if best := best_of(newest.parent):
            say(f"the best on held-out problems: {best}", file=sys.stderr)
        say(f"to draw the run: rlvr plot {shlex.quote(config.output.out)}", file=sys.stderr)
    return 0


def _fault(told: str, settings: Iterable[str]) -> str:
    """Return in a line what tyro says in a box: the part between its title and its first rule."""
    lines = [line.strip("│╭╮╰╯─- ") for line in told.strip("\n").splitlines()][1:]
    what = " ".join(takewhile(bool, dropwhile(lambda line: not line, lines)))
    unknown = re.match(r"Unrecognized options: (--?[^\s,=]+)", what)
    if unknown:
        words = (*settings, "config", "help", "list", "plugin")
        names = [f"--{word.replace('_', '-')}" for word in words]
        what = f"there is no option {unknown[1]!r}{did_you_mean(unknown[1], names)}"
    choice = re.match(r"invalid choice '(.*)' for argument '(.*)'\. Expected one of \((.*)\)", what)
    if choice:
        known = re.findall(r"'(.*?)'", choice[3])
        hint = did_you_mean(choice[1], known)
        return f"{choice[2]} cannot be {choice[1]!r}{hint} (known: {', '.join(known)})"
    what = what.removeprefix("Error parsing ").removeprefix("Config: ")
    return f"{what} (see rlvr train --help)"


def _list(given: list[str]) -> int:
    """Print the presets, those of plug-in files too."""
    from rlvr_envs.agents.grpo import plugins
    from rlvr_envs.agents.grpo.presets import recipes

    for path in _early(given).plugins:
        plugins.load_file(path)
    if "--json" in given:
        names = ("name", "paper", "differs", "settings")
        say_json([{name: getattr(each, name) for name in names} for each in recipes()])
        return 0
    for each in recipes():
        settings = ", ".join(f"{key}={value}" for key, value in each.settings.items())
        differs = f" (differs: {each.differs})" if each.differs else ""
        say(f"{each.name}: {each.paper}{differs}: {settings}")
    return 0


def _plugins() -> str:
    """Tell what can be named where a plug-in is expected, and with which settings."""
    from rlvr_envs.agents.grpo.plugins import REGISTRIES

    parts = ["What can be named, with its settings:"]
    for registry in REGISTRIES:
        parts += [f"\n{registry.kind}:", *(f"  {plugin.help}" for plugin in registry)]
    return "\n".join(parts)


def _how_to_go_on(folder: str) -> str:
    """Say what an interrupted run has kept."""
    from rlvr_envs.agents.grpo.lifecycle import CHECKPOINTS
    from rlvr_envs.agents.grpo.model import checkpoint

    kept = checkpoint.newest(Path(folder) / CHECKPOINTS)
    if kept is None:
        return f"there is no checkpoint yet: --resume --out {shlex.quote(folder)} begins anew"
    out = shlex.quote(folder)
    return f"to go on from {kept}: rlvr train --resume --out {out}"


def _together(given: list[str]) -> list[str]:
    """Return the arguments with a list that comes in pieces as one, as ``--tasks A --tasks B``."""
    lists = _lists()
    part: list[str] = []
    parts = [part]
    begun: dict[str, list[str]] = {}
    for word in given:
        if not word.startswith("--"):
            part.append(word)
            continue
        option, equals, value = word.partition("=")
        option = "--plugins" if option == "--plugin" else option
        name = option[2:].replace("-", "_")
        if name not in lists:
            part = [word]
            parts.append(part)
            continue
        if name not in begun:
            begun[name] = [option]
            parts.append(begun[name])
        part = begun[name]
        part += [value] * bool(equals)
    return [word for part in parts for word in part]


def _lists() -> set[str]:
    """Return the settings that are lists of any length."""
    from rlvr_envs.agents.grpo.config import GROUPS, Config

    return {
        name
        for kind in (Config, *GROUPS.values())
        for name, hinted in get_type_hints(kind).items()
        if get_args(hinted)[-1:] == (...,)
    }


def _early(given: list[str]) -> argparse.Namespace:
    """Return what has to be known before the rest can be read."""
    asked = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    asked.add_argument("--config")
    asked.add_argument("--out", default="runs/grpo")
    asked.add_argument("--resume", action="store_true")
    asked.add_argument("--tasks", nargs="*")
    asked.add_argument("--plugins", "--plugin", nargs="*", default=[])
    try:
        return asked.parse_known_args(given)[0]
    except argparse.ArgumentError as error:
        raise ConfigError(str(error).removeprefix("argument ")) from None


def _start(given: list[str]) -> "tuple[Config, list[str]]":
    """Return the configuration that the arguments change, and the arguments without its name."""
    from rlvr_envs.agents.grpo.config_file import CONFIG, read_config, read_yaml
    from rlvr_envs.agents.grpo.presets import preset, settings_of

    named = given.pop(0) if given and not given[0].startswith("-") else None
    early = _early(given)
    if early.config is not None:
        told = f"--config={early.config}"
        if told in given:
            given.remove(told)
        else:
            place = given.index("--config")
            del given[place : place + 2]
        if named is not None:
            raise ConfigError(f"give a preset ({named}) or --config, whose file may name a preset")
        return read_yaml(Path(early.config)), given
    if early.resume and (Path(early.out) / CONFIG).is_file():
        # Wherever the folder is now, and without the limit of the last process.
        begun = read_config(Path(early.out)).replace(out=early.out, stop_after=None)
        if named is not None:  # a recipe that it was not begun with is refused later
            begun = begun.replace(**settings_of(named))
        return begun, given
    if early.resume and not early.tasks:
        raise ConfigError(f"there is no run in {early.out} to go on with: give its folder by --out")
    return preset(named or "default", plugins=tuple(early.plugins)), given
