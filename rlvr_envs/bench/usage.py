"""What a trainer of somebody else's has used of its budget, and the file that says so.

A trainer counts here what it samples, and saves a checkpoint whenever one is due::

    usage = Usage(samples=job.samples, fractions=job.fractions)
    ...
    usage.count(len(tokens) for tokens in completions)  # before it learns from them
    ...
    if usage.due:  # after it has learned from them
        with usage.checkpoint(out) as folder:
            model.save_pretrained(folder)
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter

from rlvr_envs.bench.results import STRICT, Amount, Count
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.files import replaced
from rlvr_envs.datasets.rows import json_line

USAGE = "usage.json"


class BudgetSpentError(Exception):
    """The samples of a step go beyond the budget: nothing may be learned from them."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a run had used when a checkpoint was saved."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    samples: Count  # training episodes that had been sampled, those that were thrown away too
    tokens: Count  # tokens that had been sampled, and trained on with each pass over them
    device_s: Amount  # seconds of training, saving and evaluating not counted


_USED = TypeAdapter(Used)


def read_usage(checkpoint: Path) -> Used:
    """Return what a checkpoint's `USAGE` says.

    Raises:
        ConfigError: there is none, or it does not say what it should.
    """
    form = '{"samples": 640, "tokens": 15000, "device_s": 1.5}'
    try:
        return _USED.validate_json((checkpoint / USAGE).read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{checkpoint / USAGE} is to say what was used until then, such as {form}: {error}"
        ) from error


class Usage:
    """Counts samples and tokens, says which checkpoint is due, and ends a run at its budget.

    A run in several processes counts in one of them what all have sampled.

    Args:
        samples: the budget of episodes.
        fractions: of the budget, at which checkpoints are due; 0, the start, needs none.
        epochs: passes over what was sampled.
        clock: seconds of training: `time.process_time` where a CPU computes.
    """

    def __init__(
        self,
        *,
        samples: int,
        fractions: Sequence[float],
        epochs: int = 1,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if samples < 1 or epochs < 1:
            raise ConfigError(f"samples and epochs are from 1, got {samples!r} and {epochs!r}")
        self.budget = samples
        self.samples = self.tokens = 0
        self._due = [share * samples for share in fractions if share > 0]
        self._epochs = epochs
        self._clock = clock
        self._began = clock()

    @property
    def left(self) -> int:
        """How many episodes may still be sampled."""
        return self.budget - self.samples

    @property
    def due(self) -> bool:
        """Whether a checkpoint is to be saved, once what was sampled has been learned from."""
        return bool(self._due) and self.samples >= self._due[0]

    @property
    def device_s(self) -> float:
        """Seconds of training since this was made, checkpoints not counted."""
        return self._clock() - self._began

    def count(self, lengths: Iterable[int]) -> None:
        """Count episodes that were sampled, before anything is learned from them.

        Args:
            lengths: the tokens that the model wrote in each, its end token included.

        Raises:
            BudgetSpentError: they go beyond the budget, so nothing may be learned from them: save
                the last checkpoint and end. They are not counted.
        """
        told = list(lengths)
        if len(told) > self.left:
            raise BudgetSpentError(
                f"{len(told)} more episodes go beyond the budget of {self.budget}, of which "
                f"{self.left} are left: save the last checkpoint and end the run"
            )
        self.samples += len(told)
        self.tokens += (1 + self._epochs) * sum(told)

    @contextmanager
    def checkpoint(self, out: Path) -> Iterator[Path]:
        """Give the folder for the weights as they are, and write its `USAGE` in the end.

        Meanwhile the clock stands still.

        Args:
            out: the folder of all checkpoints.

        Raises:
            ConfigError: it has a checkpoint after as many samples.
        """
        used = Used(self.samples, self.tokens, round(self.device_s, 3))
        folder = out / f"{self.samples:08d}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError as error:
            raise ConfigError(
                f"{folder} is there already: save the checkpoints of a run in a folder of its own"
            ) from error
        yield folder
        with replaced(folder / USAGE) as file:
            file.write(json_line(asdict(used)))
        self._due = [each for each in self._due if each > self.samples]
        self._began = self._clock() - used.device_s
