"""The configuration that a run was begun with, kept in its folder."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.core.errors import ConfigError

CONFIG = "config.json"

# What may differ when a run goes on: it changes when and where, not what is computed.
_FREE = (
    "out",
    "steps",
    "resume",
    "stop_after",
    "evaluate_every",
    "evaluate_problems",
    "save_every",
    "keep",
    "samples",
    "report",
    "threads",
    "slots",
    "micro_tokens",
    "engine",
    "server",
    "server_model",
    "server_update",
    "server_tempered",
)


def write_config(config: Config, folder: Path) -> None:
    """Keep what was asked for and with which versions."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for package in ("rlvr-envs", "torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout
            found[package] = ""
    row = {"config": asdict(config), "versions": found}
    (folder / CONFIG).write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")


def read_config(folder: Path) -> Config:
    """Return the configuration that a run was begun with.

    Raises:
        ConfigError: the folder holds none, or one of another version.
    """
    path = folder / CONFIG
    try:
        row: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["config"]
        known = {each.name for each in fields(Config)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        if unknown := sorted(set(values) - known):
            raise ConfigError(f"{path} has settings that this version does not: {unknown}")
        return Config(**values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"there is no run in {folder}: {error}") from error


def check_same(config: Config, before: Config) -> None:
    """Raise `ConfigError` if a run would not go on as it began."""
    changed = [
        f"{each.name} was {getattr(before, each.name)!r} and is {getattr(config, each.name)!r}"
        for each in fields(Config)
        if each.name not in _FREE and getattr(before, each.name) != getattr(config, each.name)
    ]
    if changed:
        raise ConfigError(
            f"the run in {config.out} cannot go on with other settings: {'; '.join(changed)}"
        )
