"""A critic's credit for the turns of an episode, set before advantages (StepORLM, 2509.22558).

A critic of your own is a subclass of `Critique` that is registered as a callback; a model of yours
may stand behind it. With several processes each asks its own, and all have to answer the same.
"""

import math
from collections.abc import Sequence

from rlvr_envs.agents.grpo.demonstration import pose, text_env
from rlvr_envs.agents.grpo.episode import Episode, Group
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance


class Critique(Callback):
    """Adds what a critic says of each turn to what the turn earned, times a weight.

    Estimators that tell turns apart see it by turn, and others in the reward. Scores and verdicts
    stay. ``info["critique"]`` of an episode is the mean, for estimators that take ``info``.
    """

    weight = 1.0

    def credit(self, instance: Instance, episode: Episode) -> Sequence[float] | None:
        """Return a number for each turn of an episode, or None to say nothing."""
        raise NotImplementedError

    def on_group(self, run: Run, group: Group) -> None:
        """Have the critic read the episodes that were scored."""
        scored = [episode for episode in group.episodes if not math.isnan(episode.reward)]
        if not scored:
            return
        cell = (group.posed.task, group.posed.difficulty)
        if cell not in run.envs:
            run.envs[cell] = run.make_env(*cell)
        pose(run.envs[cell], group.proposal)
        instance = text_env(run.envs[cell]).instance
        for episode in scored:
            marks = self.credit(instance, episode)
            if marks is not None:
                self._book(episode, [float(mark) for mark in marks])

    def _book(self, episode: Episode, marks: list[float]) -> None:
        turns = len(episode.turn_rewards)
        if len(marks) != turns or not all(map(math.isfinite, marks)):
            raise ConfigError(
                f"{type(self).__name__}.credit returns a finite number for each of the {turns} "
                f"turns of an episode, got {marks!r:.80}"
            )
        added = [self.weight * mark for mark in marks]
        episode.turn_rewards = [
            earned + more for earned, more in zip(episode.turn_rewards, added, strict=True)
        ]
        episode.reward += sum(added)
        episode.info["critique"] = sum(marks) / max(1, turns)


@callback(name="step_critic")
class StepCritic(Critique):
    """Reads the steps of each message as the task itself does (`Task.step_credit`)."""

    def __init__(self, *, weight: float = 0.5) -> None:
        """Take the weight of the credit beside the reward."""
        self.weight = weight

    def credit(self, instance: Instance, episode: Episode) -> Sequence[float] | None:
        """Return the share of right steps in each message; None where the task reads none."""
        said = episode.texts[: len(episode.turn_rewards)]
        found = [instance.task.step_credit(instance.problem, text) for text in said]
        return [mark for mark in found if mark is not None] or None
