"""What is kept of a training run: numbers of each step, some episodes in full, and a line to watch.

`METRICS` has a JSON object a step, and `SAMPLES` one an episode; both are whole after any crash but
for their last line. When a run goes on from a checkpoint, what they hold of the steps that are done
again is cut.
"""

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO

from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.tracking import reporters
from rlvr_envs.agents.grpo.tracking.reporters import Reporter
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status

METRICS = "metrics.jsonl"
SAMPLES = "samples.jsonl"


def cell(task: str, difficulty: int | None) -> str:
    """Return how names of metrics say a task and its difficulty, such as ``Gcd-v0/2``."""
    return f"{task.rpartition('/')[2]}/{'default' if difficulty is None else difficulty}"


def summarise(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return the numbers of the episodes of a step, all of its groups.

    Demonstrations do not count. Episodes that could not be scored count in lengths, turns and
    shares, and nowhere else. What has no episode to be computed from is NaN.

    Returns:
        reward/mean and score/mean; length/mean and length/max, in tokens that the model wrote;
        turns/mean; the shares of episodes that are truncated and unscored; zero_variance, the share
        of groups whose rewards do not differ; and solve/<task>/<difficulty>, the share of full
        marks.
    """
    episodes = [e for e in episodes if not e.demonstrated]
    scored = [e for e in episodes if not math.isnan(e.reward)]
    lengths = [e.n_trained for e in episodes]
    groups: dict[int, set[float]] = {e.group: set() for e in episodes}
    solved: dict[str, list[bool]] = defaultdict(list)
    for episode in scored:
        groups[episode.group].add(episode.reward)
        where = cell(episode.task, episode.difficulty)
        solved[where].append(episode.status == Status.CORRECT)
    return {
        "reward/mean": _mean(e.reward for e in scored),
        "score/mean": _mean(e.score for e in scored),
        "length/mean": _mean(lengths),
        "length/max": max(lengths, default=math.nan),
        "turns/mean": _mean(len(e.actions) for e in episodes),
        "truncated": _mean(not e.finished for e in episodes),
        "unscored": _mean(math.isnan(e.reward) for e in episodes),
        "zero_variance": _mean(len(rewards) < 2 for rewards in groups.values()),
        **{f"solve/{where}": _mean(found) for where, found in sorted(solved.items())},
    }


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else math.nan


def read(folder: Path) -> dict[int, dict[str, float]]:
    """Return step → name → value of a run, without what was not a number.

    Args:
        folder: of the run, or its `METRICS`.

    Raises:
        ConfigError: there is no such file, or a line of it is no step.
    """
    path = folder / METRICS if folder.is_dir() else folder
    if not path.is_file():
        raise ConfigError(f"{str(folder)!r} is not a run: it has no {METRICS}")
    steps: dict[int, dict[str, float]] = {}
    for _, row in _rows(path):
        values = {k: v for k, v in row.items() if k != "step" and isinstance(v, (int, float))}
        steps.setdefault(row["step"], {}).update(values)
    return dict(sorted(steps.items()))


class Metrics:
    """Writes what is logged into the folder of a run, and shows it.

    Args:
        folder: of the run; made if it is not there.
        report: where numbers go besides: ``tensorboard``, ``wandb``, ``trackio``.
        total: the steps of the run, for the bar.
        quiet: show nothing on stderr.
        config: what a report may show beside the curves.

    Raises:
        ConfigError: the folder cannot be made, or a report is unknown.
        DependencyError: the package of a report is missing.
    """

    def __init__(
        self,
        folder: Path,
        *,
        report: Sequence[str] = (),
        total: int | None = None,
        quiet: bool = False,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        for name in report:
            reporters.require(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the run folder {str(folder)!r} cannot be made: {error}") from error
        self._folder = folder
        self._names = tuple(report)
        self._config = dict(config or {})
        self._files: dict[str, TextIO] = {}
        self._reporters: list[Reporter] = [] if quiet else [reporters.watch(total)]

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Take down the numbers of a step.

        Args:
            step: how many training steps are over; the first call says where this process begins.
            values: numbers by name; NaN and infinity are written as null.
        """
        self._begin(step)
        plain = {name: _number(value) for name, value in values.items()}
        self._write(METRICS, {"step": step, **plain})
        finite = {name: value for name, value in plain.items() if value is not None}
        for reporter in self._reporters:
            reporter.log(step, finite)

    def samples(self, step: int, episodes: Iterable[Episode]) -> None:
        """Write episodes out in full."""
        self._begin(step)
        for e in episodes:
            row = {
                "step": step,
                "task": e.task,
                "difficulty": e.difficulty,
                "problem_seed": e.problem_seed,
                "reward": _number(e.reward),
                "score": _number(e.score),
                "status": str(e.status),
                "finished": e.finished,
                "tokens": e.n_trained,
                "turn_rewards": [_number(reward) for reward in e.turn_rewards],
                "info": {name: _number(value) for name, value in e.info.items()},
                "texts": e.texts,
            }
            self._write(SAMPLES, row)

    def close(self) -> None:
        """Close files, reports and bar."""
        for file in self._files.values():
            file.close()
        for reporter in self._reporters:
            reporter.close()
        self._reporters = []

    def _begin(self, step: int) -> None:
        if self._files:
            return
        for name in (METRICS, SAMPLES):
            path = self._folder / name
            _cut(path, step)
            # A lone surrogate, which a response may hold, has no place in UTF-8.
            self._files[name] = path.open("a", encoding="utf-8", errors="backslashreplace")
        for name in self._names:
            self._reporters.append(reporters.make(name, self._folder, step, self._config))

    def _write(self, name: str, row: Mapping[str, Any]) -> None:
        self._files[name].write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        self._files[name].flush()


def _number(value: float) -> float | None:
    if isinstance(value, (bool, int)):
        return int(value)
    plain = float(value)  # also of tensors and NumPy's numbers
    return plain if math.isfinite(plain) else None


def _rows(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield each line and what it holds; a last one that was cut off is passed over."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or not isinstance(row.get("step"), int):
                raise ConfigError(f"{path}, line {number} is no object with a step: {line!r:.60}")
            yield line, row


def _cut(path: Path, step: int) -> None:
    """Leave in a file what is of earlier steps; at any time there is the old file or the new."""
    if not path.exists():
        return
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.writelines(line for line, row in _rows(path) if row["step"] < step)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
