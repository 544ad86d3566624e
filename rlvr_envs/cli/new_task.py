"""Write the first version of a task, its test and its change note: they run as they are.

In a checkout of this project the files go where they belong. Elsewhere, give --into a folder of
your own package; the entry point to add is printed.
"""

import argparse
import re
from importlib.resources import files
from pathlib import Path
from string import Template

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, did_you_mean

HELP = "write a new task's files: rlvr new-task puzzles/LightsOut"

_NAME = re.compile(r"[A-Z][A-Za-z0-9]*", re.ASCII)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("task", metavar="DOMAIN/Name", help="for example puzzles/LightsOut")
    parser.add_argument("--into", type=Path, help="a folder of your own package, for its tasks")
    parser.add_argument("--root", type=Path, default=Path(), help="the checkout (default: here)")


def run(args: argparse.Namespace) -> int:
    """Write the files and say what comes next; existing files are never touched."""
    domain, name = _read(args.task)
    values = {
        "name": name,
        "domain": domain,
        "title": re.sub(r"(?<!^)(?=[A-Z])", " ", name).capitalize(),
        "answer_format": "boxed" if domain == "math" else "tag",
    }
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    plan = _plan(args, domain, snake)
    taken = [str(path) for path in plan if path.exists()]
    if taken:
        raise ConfigError(f"these files exist already: {', '.join(taken)}")
    for path, template in plan.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = files("rlvr_envs.cli").joinpath(f"templates/{template}.txt").read_text("utf-8")
        path.write_text(Template(text).substitute(values), encoding="utf-8")
        print(f"wrote {path}")
    if args.into:
        print("name the module in your pyproject.toml:\n\n[project.entry-points.'rlvr_envs.tasks']")
        print(f'{snake} = "YOUR_PACKAGE.{snake}"\n')
    print(f"next: fill it in, then  rlvr check {name}-v0  and  pytest --update-golden tests/golden")
    return 0


def _read(text: str) -> tuple[str, str]:
    domain, slash, name = text.partition("/")
    if not slash or not _NAME.fullmatch(name):
        raise ConfigError(f"a task is named DOMAIN/Name, such as puzzles/LightsOut, got {text!r}")
    if domain not in registry.DOMAINS:
        hint = did_you_mean(domain, registry.DOMAINS)
        raise ConfigError(f"no domain {domain!r}{hint} (known: {', '.join(registry.DOMAINS)})")
    if f"{registry.NAMESPACE}/{name}-v0" in registry.all_ids():
        raise ConfigError(f"{registry.NAMESPACE}/{name}-v0 exists already")
    return domain, name


def _plan(args: argparse.Namespace, domain: str, snake: str) -> dict[Path, str]:
    """Return path → template."""
    if args.into:
        return {args.into / f"{snake}.py": "task", args.into / f"test_{snake}.py": "test_task"}
    root: Path = args.root
    if not (root / "rlvr_envs" / "envs").is_dir():
        raise ConfigError(
            f"{root.resolve()} is no checkout of rlvr_envs: go to one, name it with --root, or "
            "give --into a folder of your own package"
        )
    return {
        root / f"rlvr_envs/envs/{domain}/{snake}.py": "task",
        root / f"tests/unit/envs/{domain}/test_{snake}.py": "test_task",
        root / f"changes/{snake}.env.md": "change",
    }
