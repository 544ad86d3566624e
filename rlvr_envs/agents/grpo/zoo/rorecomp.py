"""RoRecomp: short right and long wrong answers first, and now and then all the others."""

from itertools import groupby

from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream


@callback(name="rorecomp")
class Recomposed(Callback):
    """Learns from the shortest right and the longest wrong answers of each group (RoRecomp).

    The others count in their group's statistics. With a chance that falls to 0 over ``decay``
    steps, a step learns from those others instead, so that answers do not collapse to the
    shortest.
    """

    def __init__(
        self, *, share: float = 0.8, compensation: float = 0.5, decay: int = 200, solved: float = 1
    ) -> None:
        """Take the share that comes first, of right and of wrong answers alike."""
        if not 0 < share < 1 or not 0 <= compensation <= 1 or decay < 1:
            raise ConfigError(
                "share is between 0 and 1, compensation from 0 to 1 and decay from 1, got "
                f"{share!r}, {compensation!r} and {decay!r}"
            )
        self._share, self._solved = share, solved
        self._compensation, self._decay = compensation, decay

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Leave out what is not to be learned from in this step."""
        steps = run.step - run.config.optimiser.warm_start
        chance = self._compensation * max(0.0, 1 - steps / self._decay)
        others = stream("rorecomp", run.config.seed, run.step).random() < chance
        for _, group in groupby(episodes, key=lambda episode: episode.group):
            scored = [episode for episode in group if episode.score == episode.score]
            right = [episode for episode in scored if episode.score >= self._solved]
            wrong = [episode for episode in scored if episode.score < self._solved]
            right.sort(key=lambda episode: episode.n_trained)
            wrong.sort(key=lambda episode: -episode.n_trained)
            for side in (right, wrong):
                first = round(self._share * len(side))
                for place, episode in enumerate(side):
                    episode.left_out |= (place < first) is others
        return episodes


recipe(
    "rorecomp",
    "RoRecomp: rollout response recomposition",
    differs="by its abstract: shares and schedule are not known, and what comes second is learned "
    "from in the step that sampled it, and not out of a store",
    estimator="grpo",
    loss="clipped(high=0.28)",
    group_size=16,
    callbacks=("rorecomp",),
    minibatches=4,
)
