"""HPT (arXiv 2509.04419): what is hardly ever solved is learned from demonstrations, else by RL.

The demonstrations are those of the oracle, with the worked solution where the task has one.
"""

from statistics import fmean

from rlvr_envs.agents.grpo.callbacks import demonstration
from rlvr_envs.agents.grpo.episode import Group
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run


@callback(name="hpt")
class HybridPostTraining(Callback):
    """Puts a demonstration in the place of a group whose share of solved episodes is low."""

    def __init__(
        self, *, gate: float = 0.0, weight: float = 1.0, worked: bool = True, solved: float = 1.0
    ) -> None:
        """Take the greatest such share, and how a demonstration weighs against the whole group."""
        self._gate, self._weight, self._worked, self._solved = gate, weight, worked, solved

    def on_group(self, run: Run, group: Group) -> None:
        """Leave the episodes out, which still count as played, and add a demonstration."""
        scores = group.unaided
        if not scores or fmean(score >= self._solved for score in scores) > self._gate:
            return
        given = demonstration(run, group, worked=self._worked)
        if given is None:
            return
        given.weight = self._weight * len(group.episodes)
        for episode in group.episodes:
            episode.left_out = True
        group.episodes.append(given)


recipe(
    "hpt",
    "HPT, arXiv 2509.04419",
    estimator="dr_grpo",
    loss="clipped(low=0.2, high=0.2)",
    aggregation="constant_length",
    callbacks=("hpt(gate=0.0)",),
)
