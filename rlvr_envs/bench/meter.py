"""What a run has used of its budget."""

import math
from collections.abc import Mapping
from typing import Any

from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.bench.usage import BudgetSpentError


class Meter(Callback):
    """Counts samples and tokens, and ends the run before it learns from more than it may.

    Every episode that is sampled counts, also those that are thrown away. A token counts when it is
    sampled, and again with each pass over it.

    Args:
        samples: the budget of episodes.
        epochs: passes over a step's episodes.
    """

    def __init__(self, samples: int, epochs: int) -> None:
        self.budget, self._epochs = samples, epochs
        self.samples = self.tokens = 0  # of all steps that were learned from
        self._drawn = self._drawn_tokens = 0  # of the running step

    def on_group(self, run: Run, group: Group) -> None:
        """Count what was sampled of a group."""
        played = [each for each in group.episodes if not each.demonstrated]
        self._drawn += len(played)
        self._drawn_tokens += sum(each.n_trained for each in played)

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Take what was sampled off the budget, and count what is trained on."""
        if self.samples + self._drawn > self.budget:
            raise BudgetSpentError
        trained = sum(each.n_trained for each in episodes if not math.isnan(each.reward))
        self.samples += self._drawn
        self.tokens += self._drawn_tokens + self._epochs * trained
        self._drawn = self._drawn_tokens = 0
        return episodes

    def state_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {"samples": self.samples, "tokens": self.tokens}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from counts."""
        self.samples, self.tokens = state["samples"], state["tokens"]
