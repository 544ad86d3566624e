"""SPIRAL (arXiv 2506.24119): self-play with a running mean for each game and role as baseline."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import scored_only
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.plugins import callback, estimator
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.agents.grpo.tracking.metrics import cell
from rlvr_envs.core.errors import ConfigError

BASELINE = "baseline"
_EVEN = 0.5  # what a seat gets on average where nobody is better off, of 1 for a win


@estimator(needs="role_baseline")
def role_conditioned(rewards: Tensor, info: Callable[[str], Tensor]) -> Tensor:
    """Return A = r - b, b the running mean of the game and role (RAE of SPIRAL, 2506.24119).

    The callback `role_baseline` keeps the means. An episode that it has not seen counts against
    1/2, with which the means begin.
    """
    return scored_only(rewards, rewards - info(BASELINE).nan_to_num(nan=_EVEN))


@callback(name="role_baseline")
class RoleBaseline(Callback):
    """Keeps a mean of the rewards of each game and role: b <- decay b + (1 - decay) r.

    ``info["baseline"]`` of an episode is b before its own reward comes in, so b does not depend on
    it, as in the authors' code. A game is a task at a level. A role is a seat, and whether it was
    the first to move from the position that was posed. Rewards are 1 for a win, 1/2 for a draw and
    0 for a loss, and b begins at 1/2: with 1, 0 and -1 this is the authors' 0.
    """

    def __init__(self, *, decay: float = 0.95) -> None:
        """Take the decay of the means."""
        if not 0 <= decay < 1:
            raise ConfigError(f"decay is from 0 and below 1, got {decay}")
        self._decay = decay
        self._means: dict[str, float] = {}

    def on_group(self, run: Run, group: Group) -> None:
        """Note the baseline of each episode, and take in its reward."""
        first = group.posed.seat
        for episode in group.episodes:
            if math.isnan(episode.reward):
                continue
            role = _role(episode, first)
            baseline = self._means.get(role, _EVEN)
            episode.info[BASELINE] = baseline
            self._means[role] = self._decay * baseline + (1 - self._decay) * episode.reward

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Log the means."""
        numbers |= {f"baseline/{role}": mean for role, mean in sorted(self._means.items())}

    def state_dict(self) -> dict[str, Any]:
        """Return the means."""
        return {"means": dict(self._means)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from the means of a checkpoint."""
        self._means = dict(state["means"])


def _role(episode: Episode, first: int) -> str:
    moves = "first" if episode.seat == first else "second"
    return f"{cell(episode.task, episode.difficulty)}/seat_{episode.seat}_moves_{moves}"


recipe(
    "spiral",
    "SPIRAL, arXiv 2506.24119",
    differs="a seat's turns are one sequence, theirs are one each; a draw earns 1/2 and a loss 0, "
    "theirs 0 and -1; the third message without a move loses, theirs the first; the range of "
    "clipping is PPO's",
    self_play=True,
    estimator="role_conditioned",
    callbacks=("role_baseline",),
    loss="clipped(high=0.2)",
    groups=64,
    group_size=1,
    epochs=2,
)
