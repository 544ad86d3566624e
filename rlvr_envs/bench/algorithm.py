"""What is compared: settings of our agent, read from text and fitted to an experiment.

``NAME`` is a preset, ``NAME(setting=value, …)`` a preset with settings of its own, and
``LABEL=NAME(…)`` gives it the name under which it is compared. An algorithm is free in how it
learns. Model, problems, prompts and limits belong to the suite.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.config import GROUPS, Config, flat, group_of
from rlvr_envs.agents.grpo.plugins import parse_call
from rlvr_envs.agents.grpo.presets import recipes, settings_of
from rlvr_envs.bench.results import Algorithm
from rlvr_envs.bench.suite import Experiment, Suite
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.version import __version__

# Settings that an algorithm may choose, beside all of the groups algorithm and optimiser.
_FREE = ("curriculum", "wrappers", "source", "group_size", "dynamic_sampling", "max_rounds")
_NOT_FREE = ("steps", "micro_tokens")
# In a step of so few samples larger groups would leave too few problems.
LARGEST_GROUP = 8
_LABEL = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9_.+-]*)\s*=\s*(?=[A-Za-z_])(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Choice:
    """An algorithm that our agent runs."""

    label: str  # under which it is compared
    spec: str  # a preset, with settings
    plugins: tuple[str, ...] = ()  # files that register what it names

    @classmethod
    def read(cls, text: str, files: Sequence[str] = ()) -> "Choice":
        """Return the choice of ``[LABEL=]NAME[(setting=value, …)]``.

        Raises:
            ConfigError: the text has another form, there is no such preset or setting, or the
                suite decides the setting.
        """
        match = _LABEL.fullmatch(text)
        label, spec = (match[1], match[2].strip()) if match else ("", text.strip())
        name, given = parse_call(spec)
        if given and not label:
            raise ConfigError(f"name what has settings of its own: LABEL={spec}")
        choice = cls(label or name, spec, tuple(files))
        choice.settings()
        return choice

    def settings(self) -> dict[str, Any]:
        """Return what is set by name: the preset's settings, and then its own."""
        for path in self.plugins:
            plugins.load_file(path)
        name, given = parse_call(self.spec)
        for setting in given:
            check_free(setting)
        return {**settings_of(name), **given}

    def described(self, tuned_runs: int = 0) -> Algorithm:
        """Return what results say of it."""
        name, given = parse_call(self.spec)
        (source,) = (each.paper for each in recipes() if each.name == name)
        return Algorithm(
            name=self.label,
            spec=self.spec,
            source="; ".join([source, *(Path(path).name for path in self.plugins)]),
            version=f"rlvr_envs {__version__}",
            settings={key: list(v) if isinstance(v, tuple) else v for key, v in given.items()},
            tuned_runs=tuned_runs,
        )


def check_free(setting: str) -> None:
    """Check that an algorithm may choose a setting.

    Raises:
        ConfigError: there is none of that name, or the suite decides it.
    """
    group_of(setting)  # which knows what is a setting at all
    if setting not in free_settings():
        raise ConfigError(
            f"the suite decides {setting}: an algorithm may choose {', '.join(free_settings())}"
        )


def free_settings() -> list[str]:
    """Return the settings that an algorithm may choose."""
    own = [
        each.name
        for group in ("algorithm", "optimiser")
        for each in fields(GROUPS[group])
        if each.name not in _NOT_FREE and not each.name.startswith("warm_start")
    ]
    return [*own, *_FREE]


def make_config(
    choice: Choice, suite: Suite, experiment: Experiment, seed: int, places: Mapping[str, Path]
) -> Config:
    """Return the configuration of a run.

    A step has `Experiment.batch` episodes. A preset's group is at most `LARGEST_GROUP`, so that a
    step has several problems; a group size in the choice itself is taken as it is.

    Args:
        choice: the algorithm.
        suite: what it runs in.
        experiment: one of the suite's.
        seed: of the run.
        places: the folders ``start``, ``rows`` (with the training problems) and ``out``.

    Raises:
        ConfigError: settings do not fit each other or the experiment.
    """
    given = parse_call(choice.spec)[1]
    values = {**experiment.settings, **choice.settings()}
    size = int(values.get("group_size", LARGEST_GROUP))
    size = size if "group_size" in given else min(size, LARGEST_GROUP)
    if experiment.batch % size:
        raise ConfigError(
            f"group_size divides the {experiment.batch} episodes of a step, got {size}"
        )
    return Config(plugins=choice.plugins).replace(
        **{
            **values,
            **experiment.fixed,
            "group_size": size,
            "groups": experiment.batch // size,
            "steps": experiment.samples // experiment.batch,
            "source": _source(str(values.get("source", "rows")), places["rows"]),
            "model": str(places["start"]),
            "out": str(places["out"]),
            "max_tokens": experiment.max_tokens,
            "context": experiment.context,
            "temperature": suite.temperature,
            "seed": seed,
            "samples": 0,
            "save_every": 10**9,
        }
    )


def _source(text: str, rows: Path) -> str:
    """Return a source over the suite's training problems."""
    name, given = parse_call(text)
    where = f"rows(path={str(rows)!r}"
    own = "".join(f", {key}={value!r}" for key, value in given.items())
    if name == "rows":
        return f"{where}{own})"
    known = plugins.source.choose(name).settings
    if "over" not in known or "over" in given or "path" in given:
        raise ConfigError(
            f"an algorithm has the suite's own problems: its source is rows or pool, got {text!r}"
        )
    return f"{name}(over={where}){own})"


def changed(config: Config) -> dict[str, Any]:
    """Return the settings of a run that are not the agent's own defaults, without its places."""
    plain = flat(Config())
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in flat(config).items()
        if value != plain[name] and name not in ("out", "seed", "model", "source", "plugins")
    }
