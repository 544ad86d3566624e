"""Print a script that completes the command line of `rlvr` with Tab.

    rlvr completion bash > ~/.local/share/bash-completion/completions/rlvr
    rlvr completion zsh > ~/.zfunc/_rlvr          (a folder of $fpath)
    rlvr completion fish > ~/.config/fish/completions/rlvr.fish

It completes commands, options, ids, presets, suites, languages and files. The names stand in the
script, so that completing starts no Python: print it again after an update.
"""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rlvr_envs.cli._text import say
from rlvr_envs.core import registry
from rlvr_envs.core.errors import DependencyError
from rlvr_envs.core.extras import hint
from rlvr_envs.evaluation.policies import PolicyKinds

HELP = "print a script that completes this command in a shell"

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    parser.add_argument("shell", choices=SHELLS, help="what to write it for")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError as error:
        raise DependencyError(f"shell completion needs shtab: {hint('completion')}") from error
    say(shtab.complete(_parser(shtab.FILE), shell=args.shell))
    return 0


def _parser(file: Any) -> argparse.ArgumentParser:
    """Return the parser of all commands, with what each argument may be."""
    from rlvr_envs.cli.main import build_parser, commands

    parser = build_parser(list(commands()))
    subparsers = _subparsers(parser)
    subparsers["train"] = _train()
    names = _names()
    for sub in subparsers.values():
        for each in (sub, *_subparsers(sub).values()):
            for action in each._actions:
                _describe(action, names, file)
    return parser


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: dict[str, argparse.ArgumentParser] = action.choices
            return found
    return {}


def _describe(action: argparse.Action, names: dict[str, Sequence[str]], file: Any) -> None:
    """Say what an argument may be: one of some names, or a file."""
    name = action.option_strings[-1] if action.option_strings else action.dest
    if action.choices is None and names.get(name):
        action.choices = names[name]
    elif action.type is Path:
        action.complete = file  # type: ignore[attr-defined]  # which shtab reads


def _names() -> dict[str, Sequence[str]]:
    """Return what may stand for an argument, by its last option or its name."""
    from rlvr_envs.conformance import CHECKS

    ids = [i.removeprefix(f"{registry.NAMESPACE}/") for i in registry.all_ids()]
    presets: list[str] = []
    suites: list[str] = []
    with suppress(ImportError):  # without the extra train there is nothing to name
        from rlvr_envs.agents.grpo.presets import recipes

        presets = [recipe.name for recipe in recipes()]
    with suppress(ImportError):
        from rlvr_envs.bench.suite import suite_names

        suites = suite_names()
    return {
        **dict.fromkeys(("id", "ids", "--tasks"), ids),
        "--domain": list(registry.DOMAINS),
        "--only": list(CHECKS),
        "--policy": [*PolicyKinds.plain, *(f"{kind}:" for kind in PolicyKinds.valued)],
        "preset": presets,
        "algorithms": presets,
        "suite": suites,
    }


def _train() -> argparse.ArgumentParser:
    """Return what `rlvr train` takes; tyro, which reads it, has no such parser to look at."""
    parser = argparse.ArgumentParser(prog="rlvr train")
    parser.add_argument("preset", nargs="?")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--list", action="store_true")
    with suppress(ImportError):
        from rlvr_envs.agents.grpo.config import GROUPS, Config

        for kind in (Config, *GROUPS.values()):
            for name, hinted in get_type_hints(kind).items():
                if name in GROUPS:
                    continue
                choices = get_args(hinted) if get_origin(hinted) is Literal else None
                option = f"--{name.replace('_', '-')}"
                parser.add_argument(option, choices=choices, nargs="*" if name == "tasks" else None)
    return parser
