"""RLTF (arXiv 2602.02482): what an answer with feedback has that the first one had not.

The environments are in the wrapper `VerbalRetry`: an answer x0 -> y0, what was wrong with it, and a
second answer y1.
"""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from rlvr_envs.agents.grpo.advantages import scored_only
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.losses import clipped, kept
from rlvr_envs.agents.grpo.plugins import callback, estimator, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError

FIRST = "attempt/0"


@estimator
def rltf(rewards: Tensor, info: Callable[[str], Tensor]) -> Tensor:
    """Return A = r - mean of the scores of the group's first attempts (RLTF's self-distillation).

    With the second answers' own mean for a baseline the first answers collapse. An episode without
    attempts counts by its reward.
    """
    firsts = info(FIRST)
    firsts = firsts.where(~firsts.isnan(), rewards)
    return scored_only(rewards, rewards - firsts.nanmean(1, keepdim=True))


@callback(name="self_distillation")
class SelfDistillation(Callback):
    """Learns the last answer of an episode as if the bare problem had brought it about."""

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Leave out of each episode what came between its prompt and its last answer."""
        return [_last_answer(episode) for episode in episodes]


def _last_answer(episode: Episode) -> Episode:
    if len(episode.actions) < 2:
        return episode
    if FIRST not in episode.info and episode.status != "context":
        raise ConfigError(
            "self_distillation learns from second attempts: wrap the environments in VerbalRetry"
        )
    segments = [episode.segments[0], episode.actions[-1]]
    return replace(episode, segments=segments, turn_rewards=[episode.reward], agents=[])


@loss(always=True)
def feedback_modelling(  # noqa: PLR0913 - each is a part of the formula
    logp: Tensor,
    ratio: Tensor,
    mask: Tensor,
    advantages: Tensor,
    observed: Tensor,
    *,
    coef: float = 0.1,
    low: float = 0.2,
    high: float = 0.28,
) -> Tensor:
    """Return `clipped`, and -coef logp for the tokens of what the environment said to an answer."""
    return clipped(ratio, advantages, low=low, high=high) - coef * kept(logp, observed & ~mask)


recipe(
    "rltf_sd",
    "RLTF, arXiv 2602.02482, self-distillation",
    estimator="rltf",
    loss="reinforce",
    correction="none",
    aggregation="sequence_sum",
    wrappers=("VerbalRetry(attempts=2)",),
    callbacks=("self_distillation",),
)
recipe(
    "rltf_fm",
    "RLTF, arXiv 2602.02482, feedback modelling",
    estimator="grpo",
    loss="feedback_modelling(coef=0.1)",
    wrappers=("VerbalRetry(attempts=2)",),
)
