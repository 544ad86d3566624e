"""The configuration that a run was begun with, kept in its folder; and configurations in YAML."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.config import Config, flat, from_groups
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.core.files import replaced

CONFIG = "config.json"

# What may differ when a run goes on: it changes when and where, not what is computed.
_FREE = (
    *("out", "steps", "resume", "stop_after", "evaluate_every", "evaluate_problems", "patience"),
    *("evaluate_samples", "save_every", "keep", "samples", "report", "threads", "micro_tokens"),
    *("sampler", "plugins"),
)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads ``5e-4`` as a number, as YAML 1.2 does; PyYAML asks for a point in it."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+\Z"), list("-+0123456789")
)


def read_yaml(path: Path) -> Config:
    """Return the configuration of a YAML file: groups of settings, and a ``preset`` to begin with.

    Raises:
        ConfigError: it cannot be read, or has what a configuration does not.
    """
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _Loader) or {}  # noqa: S506 - a safe one
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {error}{did_you_mean_path(path)}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} is to hold groups of settings, got {values!r:.80}")
    start = str(values.pop("preset", "default"))
    return from_groups(values, preset(start, plugins=tuple(values.get("plugins", ()))))


def write_config(config: Config, folder: Path) -> None:
    """Keep what was asked for, with which versions and which plug-ins."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for package in ("rlvr-envs", "torch", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout
            found[package] = ""
    chosen = (config.estimator, config.loss, config.aggregation, config.correction)
    row = {
        "config": asdict(config),
        "versions": found,
        "plugins": {
            each.plugin.kind: {"name": each.name, "settings": each.settings}
            for each in (*chosen, *config.callbacks)
        },
        "files": _digests(config),
    }
    with replaced(folder / CONFIG) as file:
        file.write((json.dumps(row, indent=2) + "\n").encode())


def _digests(config: Config) -> list[str]:
    return [plugins.load_file(path) for path in config.plugins]


def read_config(folder: Path) -> Config:
    """Return the configuration that a run was begun with.

    Raises:
        ConfigError: the folder holds none, or one of another version.
    """
    return from_groups(_row(folder)["config"])


def _row(folder: Path) -> Mapping[str, Any]:
    path = folder / CONFIG
    try:
        row: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(row["config"], dict) or not isinstance(row["files"], list):
            raise ConfigError(f"{path} is of another version")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"there is no run in {folder}: {error}") from error
    return row


def check_same(config: Config, folder: Path) -> Config:
    """Return what a run was begun with.

    Raises:
        ConfigError: the run would not go on as it began.
    """
    before, now = flat(read_config(folder)), flat(config)
    changed = [
        f"{name} was {before[name]!r} and is {now[name]!r}"
        for name in now
        if name not in _FREE and before[name] != now[name]
    ]
    if _row(folder)["files"] != _digests(config):
        changed.append("a plug-in file is not what it was")
    if changed:
        raise ConfigError(
            f"the run in {folder} cannot go on with other settings: {'; '.join(changed)}"
        )
    return read_config(folder)
