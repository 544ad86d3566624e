"""CHORD (arXiv 2508.11408): demonstrations beside what was sampled, less and less of them.

The loss is (1 - mu) of RL's and mu of the demonstrations', both means over their own tokens.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.callbacks import demonstration
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.losses import clipped, kept
from rlvr_envs.agents.grpo.plugins import callback, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError


@loss
def chord(  # noqa: PLR0913 - each is a part of the formula
    logp: Tensor,
    ratio: Tensor,
    mask: Tensor,
    advantages: Tensor,
    demonstrated: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.28,
    phi: bool = True,
) -> Tensor:
    """Return `clipped`, and for demonstrations -sg(p (1 - p)) logp, p a token's probability.

    What the policy says anyway, and what it would never say, is left as it is; without ``phi`` it
    is -logp.
    """
    p = kept(logp, mask).detach().exp()
    imitated = -kept(logp, mask) * (p * (1 - p) if phi else 1.0)
    reinforced = clipped(ratio, advantages, low=low, high=high)
    return torch.where(demonstrated[:, None], imitated, reinforced)


@callback(name="chord")
class Chord(Callback):
    """Adds demonstrations of a step's problems, whose share mu of the loss falls linearly."""

    def __init__(
        self,
        *,
        high: float = 0.9,
        low: float = 0.05,
        decay: int = 200,
        problems: int = 0,
        worked: bool = True,
    ) -> None:
        """Take mu at the first step and from step ``decay`` on, and the problems (0 for all)."""
        if not 0 <= low <= high < 1 or decay < 1:
            raise ConfigError(
                f"need 0 <= low <= high < 1 and decay >= 1, got {low}, {high}, {decay}"
            )
        self._high, self._low, self._decay = high, low, decay
        self._problems, self._worked = problems, worked
        self._given: list[Episode] = []

    def mu(self, step: int) -> float:
        """Return the demonstrations' share of the loss after so many steps of RL."""
        return self._high - (self._high - self._low) * min(1.0, step / self._decay)

    def on_group(self, run: Run, group: Group) -> None:
        """Have the oracle answer the problem."""
        if not self._problems or len(self._given) < self._problems:
            given = demonstration(run, group, worked=self._worked)
            self._given += [] if given is None else [given]

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Add the demonstrations, and weigh both sides."""
        given, self._given = self._given, []
        if not given:
            return episodes
        mu = self.mu(run.step - run.config.optimiser.warm_start)
        first = 1 + max(episode.group for episode in episodes)
        for number, episode in enumerate(given, first):
            episode.group = number
        counts = [sum(episode.n_trained for episode in side) for side in (episodes, given)]
        for side, share, count in zip((episodes, given), (1 - mu, mu), counts, strict=True):
            for episode in side:
                episode.weight *= share * sum(counts) / max(1, count)
        return episodes + given

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Log mu."""
        numbers["chord/mu"] = self.mu(run.step - 1 - run.config.optimiser.warm_start)


recipe(
    "chord_mu",
    "CHORD, arXiv 2508.11408, with mu that falls",
    estimator="grpo",
    loss="chord(phi=False)",
    aggregation="token_mean",
    callbacks=("chord(high=0.9, low=0.05, decay=200)",),
)
recipe(
    "chord_phi",
    "CHORD, arXiv 2508.11408, with the tokens' weights p (1 - p)",
    estimator="grpo",
    loss="chord(phi=True)",
    aggregation="token_mean",
    callbacks=("chord(high=0.1, low=0.1)",),
)
