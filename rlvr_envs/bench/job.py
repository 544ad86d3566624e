"""A run that is to be made, as it travels to where it is made."""

from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A run to make.

    Attributes:
        suite: what it is part of.
        experiment: the name of one of the suite's.
        choice: the algorithm.
        seed: of the run.
        split: what is tested on: test, or validation while settings are chosen.
        tuned_runs: how many runs its settings were chosen with.
        folder: where the run keeps what it needs to go on after an interruption; None to begin
            anew each time.
    """

    suite: Suite
    experiment: str
    choice: Choice
    seed: int
    split: str = "test"
    tuned_runs: int = 0
    folder: Path | None = None
