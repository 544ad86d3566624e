"""Say what this machine has for rlvr_envs, what is missing, and how to get it."""

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import re

import rlvr_envs
from rlvr_envs.cli._text import table
from rlvr_envs.core import registry
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.workers import WorkerPool

# The extras that this version uses; the others are reserved for domains to come.
PURPOSES = {
    "report": "report pages, Parquet files, endpoints, progress bars",
    "train": "models on this machine (local:...)",
    "dev": "tests and checks of this project",
    "docs": "the documentation site",
}

HELP = "what this machine has, what is missing and how to get it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: there are none."""
    del parser


def run(args: argparse.Namespace) -> int:
    """Print the report; the exit status is 1 if something that every task needs is broken."""
    del args
    print(f"rlvr_envs {rlvr_envs.__version__}, Python {platform.python_version()}")
    print(f"{platform.platform()}, {os.cpu_count()} cores, user {_user()}\n")
    broken = _core()
    print()
    print(table(("extra", "for", "state"), _extras()))
    domains = ", ".join(f"{name} ({len(registry.task_ids(name))})" for name in _domains())
    print(f"\n{len(registry.task_ids())} tasks in the domains {domains}")
    return 1 if broken else 0


def _user() -> str:
    return "root" if os.geteuid() == 0 else f"{os.geteuid()} (not root)"


def _domains() -> list[str]:
    return [name for name in registry.DOMAINS if registry.task_ids(name)]


def _core() -> bool:
    """Print the state of what every task needs; return whether something is broken."""
    broken = False
    for package in ("gymnasium", "numpy", "sympy", "math-verify"):
        version = _version(package)
        broken |= version is None
        print(f"  {package:12} {version or 'MISSING: pip install rlvr-envs'}")
    try:
        with WorkerPool(workers=1) as pool:
            works = pool.call("math:factorial", 5, deadline_s=10.0) == 120
        print(f"  {'worker pool':12} {'works' if works else 'BROKEN: it computes wrongly'}")
    except RlvrEnvsError as error:
        works = False
        print(f"  {'worker pool':12} BROKEN: {error}")
    return broken or not works


def _extras() -> list[tuple[str, str, str]]:
    """Return a row for each extra: its name, what it is for, and its state."""
    packages: dict[str, list[str]] = {}
    for requirement in importlib.metadata.requires("rlvr-envs") or []:
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        package = re.match(r"[\w.-]+", requirement)
        if extra and package and extra[1] in PURPOSES:
            packages.setdefault(extra[1], []).append(package[0])
    rows = []
    for name, purpose in PURPOSES.items():
        needed = packages.get(name, [])
        missing = [found for found in needed if _version(found) is None]
        hint = f"lacks {', '.join(missing)}: " if len(missing) < len(needed) else ""
        state = f'{hint}pip install "rlvr-envs[{name}]"' if missing else "installed"
        rows.append((name, purpose, state))
    return rows


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
