"""The best held-out evaluation of a run: what early stopping and the best checkpoint go by."""

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class Best:
    """The best evaluation so far; an equal one is not better.

    Attributes:
        score: its mean score of sampled answers; None before the first.
        step: how many training steps were over.
        since: evaluations since that were not better.
    """

    score: float | None = None
    step: int = 0
    since: int = 0

    def record(self, step: int, score: float, *, counts: bool = True) -> None:
        """Take down an evaluation; one without a score says nothing.

        With ``counts`` false it may be the best, but does not make anybody impatient.
        """
        if math.isnan(score):
            return
        if self.score is None or score > self.score:
            self.score, self.step, self.since = score, step, 0
        elif counts:
            self.since += 1

    def over(self, patience: int) -> bool:
        """Whether as many evaluations in a row were not better; 0 is endless patience."""
        return 0 < patience <= self.since

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""
        return asdict(self)
