"""Where the numbers of a training step go besides the run's own files.

A reporter takes the numbers of each step that are finite: TensorBoard, wandb, trackio, and what a
person sees on stderr, a bar in a terminal where rich is and else a line a step.
"""

import os
import secrets
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import pip_install
from rlvr_envs.core.files import replaced
from rlvr_envs.core.terminal import harmless

NAMES = ("tensorboard", "wandb", "trackio")

_PROJECT = "rlvr_envs"

# What stands in the line of a step, where it was logged: name → words.
_SHOWN = {
    "reward/mean": "reward",
    "score/mean": "score",
    "held_out/score": "held-out",
    "held_out/greedy": "greedy",
    "length/mean": "tokens",
    "entropy": "entropy",
    "zero_variance": "equal groups",
    "grad_norm": "gradient",
}


class Reporter(Protocol):
    """Takes the numbers of a run."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Take the numbers of a step."""

    def close(self) -> None:
        """Take in that the run is over."""


def require(name: str) -> None:
    """Check that a reporter can be made.

    Raises:
        ConfigError: there is none of that name.
        DependencyError: its package is missing.
    """
    if name not in NAMES:
        raise ConfigError(f"a report is one of {', '.join(NAMES)}, got {name!r}")
    if find_spec(name) is None:
        raise DependencyError(f"the report needs {name}: {pip_install(name)}")


def make(name: str, folder: Path, step: int, config: Mapping[str, Any]) -> Reporter:
    """Return a reporter of the run in a folder, which begins or goes on with a step."""
    if name == "tensorboard":
        return _TensorBoard(folder, step)
    return _Wandb(folder, config) if name == "wandb" else _Trackio(folder, config)


class Watch(Reporter, Protocol):
    """What a person sees of a run."""

    def tell(self, text: str) -> None:
        """Show a line of text at once."""


def watch(total: int | None) -> Watch:
    """Return what shows the run on stderr; ``total`` is the number of its steps."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and find_spec("rich"):
        return _Bar(total)
    return _Lines(total)


class _TensorBoard:
    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder / "tensorboard"), purge_step=step)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class _Wandb:
    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        import wandb  # type: ignore[import-not-found,unused-ignore]

        self._run: Any = wandb.init(
            project=_PROJECT,
            name=folder.name,
            id=_run_id(folder),
            resume="allow",
            dir=str(folder),
            config=dict(config),
        )

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


class _Trackio:
    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        import trackio  # type: ignore[import-not-found,unused-ignore]

        name = f"{folder.name}-{_run_id(folder)}"
        self._trackio: Any = trackio
        trackio.init(project=_PROJECT, name=name, resume="allow", config=dict(config))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._trackio.log(dict(values), step=step)

    def close(self) -> None:
        self._trackio.finish()


def _run_id(folder: Path) -> str:
    """Return the name under which services know a run, also after it was resumed."""
    path = folder / "report_id"
    if not path.exists():
        with replaced(path) as file:
            file.write(secrets.token_hex(4).encode())
    return path.read_text(encoding="utf-8").strip()


class _Lines:
    def __init__(self, total: int | None) -> None:
        self._of = "" if total is None else f"/{total}"

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self.tell(f"step {step}{self._of}  {_text(_shown(values))}".rstrip())

    def tell(self, text: str) -> None:
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._shown: dict[str, float] = {}
        self._bar = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(bar_width=16),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("", total=total)
        self._bar.start()

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._shown |= _shown(values)  # the last evaluation stays in view
        self._bar.update(self._task, completed=step, description=_text(self._shown))

    def tell(self, text: str) -> None:
        self._bar.console.print(harmless(text), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._bar.stop()


def _shown(values: Mapping[str, float]) -> dict[str, float]:
    return {words: values[name] for name, words in _SHOWN.items() if name in values}


def _text(shown: Mapping[str, float]) -> str:
    return "  ".join(f"{words} {value:.3g}" for words, value in shown.items())
