"""ReLIFT (arXiv 2506.07527): supervised steps on the hardest problems between those of RL."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from rlvr_envs.agents.grpo.callbacks import demonstration
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.learner import imitate
from rlvr_envs.agents.grpo.lifecycle import refresh
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.curricula.base import Proposal


@callback(name="relift")
class ReLIFT(Callback):
    """Collects problems that nobody of a group solved; once there are enough, imitates the oracle.

    It is one optimiser step of its own, at the run's learning rate or another.
    """

    def __init__(
        self,
        *,
        size: int = 64,
        worked: bool = True,
        learning_rate: float | None = None,
        solved: float = 1.0,
    ) -> None:
        """Take how many demonstrations there are in a supervised step."""
        self._size, self._worked, self._rate, self._solved = size, worked, learning_rate, solved
        self._hardest: list[dict[str, Any]] = []

    def on_group(self, run: Run, group: Group) -> None:
        """Keep a problem that nobody solved."""
        scores = group.unaided
        if scores and max(scores) < self._solved:
            task, difficulty = group.arm
            asked = replace(group.proposal, task=task, difficulty=difficulty)
            self._hardest.append(asdict(asked))

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Take the supervised step, if there are enough problems."""
        numbers["relift/collected"] = float(len(self._hardest))
        if len(self._hardest) < self._size:
            return
        chosen, self._hardest = self._hardest[: self._size], self._hardest[self._size :]
        given = [_given(run, number, each, self._worked) for number, each in enumerate(chosen)]
        groups = run.learner.optimizer.param_groups
        before = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] = self._rate or group["lr"]
        measured = imitate(run.learner, [episode for episode in given if episode is not None])
        for group, rate in zip(groups, before, strict=True):
            group["lr"] = rate
        refresh(run)
        numbers["relift/loss"] = measured["imitation/loss"]

    def state_dict(self) -> dict[str, Any]:
        """Return the problems that were collected."""
        return {"hardest": self._hardest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with those."""
        self._hardest = list(state["hardest"])


def _given(run: Run, number: int, kept: Mapping[str, Any], worked: bool) -> Episode | None:
    asked = Proposal(**kept)
    posed = Episode(
        group=number, task=asked.task or "", difficulty=asked.difficulty, problem_seed=None
    )
    return demonstration(run, Group(asked, [posed]), worked=worked)


recipe(
    "relift",
    "ReLIFT, arXiv 2506.07527",
    estimator="grpo",
    loss="clipped(low=0.2, high=0.2)",
    aggregation="token_mean",
    callbacks=("relift(size=64)",),
)
