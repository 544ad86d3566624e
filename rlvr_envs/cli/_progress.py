"""Progress on stderr: a bar in a terminal where rich is there, else a line every few seconds."""

import os
import sys
import time
from typing import Any

from rlvr_envs.cli._text import say

_EVERY_S = 5.0
_NAME_CHARS = 20


class ProgressBar:
    """Shows how far a long command is; the first `update` says where it begins.

    Args:
        noun: what is counted.
        hidden: show nothing.
    """

    def __init__(self, noun: str, *, hidden: bool) -> None:
        self._noun = noun
        self._hidden = hidden
        self._bar: Any = None
        self._task: Any = None
        self._begun = False
        self._told = time.monotonic()

    def __enter__(self) -> "ProgressBar":
        if not self._hidden and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            try:
                self._start()
            except ImportError:  # lines do as well
                self._bar = None
        return self

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.start()
        self._task = self._bar.add_task(self._noun, total=None, rate="")

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, total: int, name: str = "") -> None:
        """Show that so many are done, and what is under way."""
        if self._bar is not None:
            self._update_bar(done, total, name)
        elif not self._hidden and time.monotonic() - self._told > _EVERY_S:
            self._told = time.monotonic()
            say(f"{done} of {total} {self._noun}", file=sys.stderr, flush=True)

    def _update_bar(self, done: int, total: int, name: str) -> None:
        if not self._begun:  # what an earlier run did says nothing of this one's speed
            self._begun = True
            self._bar.reset(self._task, total=total, completed=done)
            return
        speed = self._bar.tasks[0].finished_speed or self._bar.tasks[0].speed
        self._bar.update(
            self._task,
            total=total,
            completed=done,
            description=name[:_NAME_CHARS] or self._noun,
            rate=f"{speed:.1f}/s" if speed else "",
        )
