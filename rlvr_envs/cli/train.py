"""Train a model on environments with the reference GRPO agent.

`rlvr train PRESET --tasks Gcd-v0 …`: a preset is a published recipe, and every setting beside it
replaces one of the recipe's. `rlvr train --list` names the presets, `rlvr train --help` tells all
settings.
"""

import argparse
import os
import shlex
import sys
from dataclasses import fields, replace
from pathlib import Path

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.config_file import CONFIG, read_config
from rlvr_envs.agents.grpo.presets import PRESETS, preset
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint

HELP = "train a model with the reference GRPO agent"

# The arguments are tyro's, made from the fields of the configuration; nothing here is an option.
PARSER = {"add_help": False, "prefix_chars": "\0"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take all that comes."""
    parser.add_argument("arguments", nargs="*")


def run(args: argparse.Namespace) -> int:
    """Train, and say where the result is."""
    given = list(args.arguments)
    if given == ["--list"]:
        for name, settings in PRESETS.items():
            print(f"{name}: {', '.join(f'{key}={value}' for key, value in settings.items())}")
        return 0
    try:
        import tyro
    except ImportError as error:
        raise DependencyError(f"training needs tyro: {hint('train')}") from error
    named = given.pop(0) if given and not given[0].startswith("-") else "default"
    start, begun = preset(named), _begun(given)
    if begun is not None:  # a recipe that it was not begun with is refused later
        start = replace(begun, **PRESETS[named])
    config = tyro.cli(
        type(start),
        default=start,
        args=given,
        prog=f"rlvr train {named}",
        description=f"{__doc__}\nPresets: {', '.join(PRESETS)}. {len(fields(start))} settings:",
    )
    from rlvr_envs.agents.grpo.train import train

    try:
        newest = train(config)
    except KeyboardInterrupt:
        print(_how_to_go_on(config), file=sys.stderr)
        raise
    if os.environ.get("RANK", "0") == "0":  # of several workers one talks
        print(f"the newest checkpoint: {newest}", file=sys.stderr)
        print(f"to draw the run: rlvr plot {shlex.quote(config.out)}", file=sys.stderr)
    return 0


def _how_to_go_on(config: Config) -> str:
    """Say what an interrupted run has kept."""
    from rlvr_envs.agents.grpo.model import checkpoint
    from rlvr_envs.agents.grpo.run import CHECKPOINTS

    kept = checkpoint.newest(Path(config.out) / CHECKPOINTS)
    if kept is None:
        return f"there is no checkpoint yet: --resume --out {shlex.quote(config.out)} begins anew"
    out = shlex.quote(config.out)
    return f"to go on from {kept}: rlvr train --resume --out {out}"


def _begun(given: list[str]) -> Config | None:
    """Return what the run was begun with, if there is one to go on with."""
    asked = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    asked.add_argument("--out", default=Config.out)
    asked.add_argument("--resume", action="store_true")
    asked.add_argument("--tasks", nargs="*")
    told, _ = asked.parse_known_args(given)
    if told.resume and (Path(told.out) / CONFIG).is_file():
        # Wherever the folder is now, and without the limit of the last process.
        return replace(read_config(Path(told.out)), out=told.out, stop_after=None)
    if told.resume and not told.tasks:
        raise ConfigError(f"there is no run in {told.out} to go on with: give its folder by --out")
    return None
