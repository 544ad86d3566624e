"""ReMix (arXiv 2507.06892): groups of the last steps are learned from again, beside new ones."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from rlvr_envs.agents.grpo.episode import Episode, episode_of, row_of
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream


@callback(name="replay")
class Replay(Callback):
    """Adds groups of earlier steps, whole, with the probabilities that they were sampled with.

    After ``until`` steps it ends, and the run goes on with new answers alone (ReMix's
    reincarnation).
    """

    def __init__(self, *, share: float = 0.4, keep: int = 256, until: int = 50) -> None:
        """Take how many old groups come to a new one, and how many groups are kept."""
        if share <= 0 or keep < 1 or until < 1:
            raise ConfigError(
                f"share is above 0, keep and until from 1, got {share!r}, {keep!r} and {until!r}"
            )
        self._share, self._keep, self._until = share, keep, until
        self._stored: list[list[Episode]] = []

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Return the step's episodes and some of those that are kept."""
        if run.step - run.config.optimiser.warm_start >= self._until:
            self._stored = []
            return episodes
        new = [list(group) for _, group in groupby(episodes, key=lambda episode: episode.group)]
        order = stream("replay", run.config.seed, run.step).permutation(len(self._stored))
        chosen = order[: round(self._share * len(new))].tolist()
        first = 1 + max((episode.group for episode in episodes), default=-1)
        old = [
            replace(episode, group=first + place)
            for place, i in enumerate(chosen)
            for episode in self._stored[i]
        ]
        self._stored = (self._stored + new)[-self._keep :]
        return episodes + old

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Say how many groups are kept."""
        numbers["replay/groups"] = float(len(self._stored))

    def state_dict(self) -> dict[str, Any]:
        """Return the groups."""
        return {"stored": [[row_of(episode) for episode in group] for group in self._stored]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with them."""
        self._stored = [[episode_of(row) for row in group] for group in state["stored"]]


recipe(
    "remix",
    "ReMix, arXiv 2507.06892",
    differs="from reports: the penalty is on the initial policy alone, and not on a mixture with "
    "the one before; what ends is the replay, and the reference stays; shares are not known",
    estimator="grpo",
    # Ratios to the policy that sampled, old or new.
    loss="guide(low=0.2, high=0.28)",
    correction="none",
    kl="k3",
    kl_coef=0.001,
    callbacks=("replay",),
    minibatches=4,
    epochs=2,
)
