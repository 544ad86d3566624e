"""The objective of a configuration on made-up episodes, so that a plug-in fails before a run."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.batch import batch
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.credit import Groups, credit
from rlvr_envs.agents.grpo.episode import Episode, Segment
from rlvr_envs.agents.grpo.objective import (
    LossInputs,
    Tally,
    by_token,
    info_of,
    micro_loss,
    weights_of,
)
from rlvr_envs.agents.grpo.plugins import Choice
from rlvr_envs.core.errors import ConfigError, RlvrEnvsError


def try_out(config: Config) -> None:
    """Compute the objective of groups, some of whose tokens have become likelier or less.

    In two of them episodes differ in their scores, in the third all are right.

    Raises:
        ConfigError: a plug-in refuses its settings, fails, or returns what cannot be trained on.
    """
    size = 3 if config.estimator.plugin.traits.get("odd") else 4
    scores = torch.linspace(0, 1, size).tolist()
    groups = (scores, scores, [1.0] * size)
    gradient(config, [made_up(k, score) for k, group in enumerate(groups) for score in group])


def gradient(
    config: Config, episodes: list[Episode], moved: float = 0.5
) -> tuple[Tensor, dict[str, float]]:
    """Return the gradient (B, T) of the objective by log-probabilities, and what it measured.

    Args:
        config: names the objective.
        episodes: of whole groups.
        moved: the size of the differences between the policy, its old self and its reference,
            which follow a fixed pattern; 0 for the first update of a step.
    """
    given = batch(episodes, 0)
    waves = torch.sin(torch.arange(given.ids.numel(), dtype=torch.float32)).reshape(given.ids.shape)
    logp = (given.sampled + moved * waves * given.mask).requires_grad_()
    shifts = {i: (moved * waves[i] * given.mask[i]).sum() for i in range(len(episodes))}
    with _named(config.estimator):
        advantages, kept, scales = credit(Groups(episodes, config, shifts if moved else {}))
    part = [i for i, keep in enumerate(kept.tolist()) if keep]
    with _named(config.aggregation):
        weights = weights_of(config, episodes, part, advantages)
    inputs = LossInputs(
        logp=logp,
        old=given.sampled,
        sampled=given.sampled,
        mask=given.mask,
        advantages=by_token(config, advantages, given.turns),
        weights=weights.to(logp),
        turns=given.turns,
        entropy=-logp,
        info=info_of(episodes),
        reference=given.sampled - moved * waves.cos() if config.needs_reference else None,
        scores=torch.tensor([episode.score for episode in episodes]),
        demonstrated=torch.tensor([episode.demonstrated for episode in episodes]),
        lag=given.lag(1),
        scales=torch.ones_like(logp) if scales is None else by_token(config, scales, given.turns),
        observed=given.observed,
    )
    tally = Tally()
    with _named(config.correction):
        config.correction(inputs)
    with _named(config.loss):
        loss = micro_loss(config, inputs, tally)
    (slope,) = torch.autograd.grad(loss, logp)
    tokens = max(1.0, tally.sums.get("tokens", 0.0))
    return slope, {name: value / tokens for name, value in tally.sums.items()}


def made_up(group: int, score: float) -> Episode:
    """Return an episode of two turns with that score; the better, the longer."""
    said = 2 + round(4 * score)
    return Episode(
        group=group,
        task="made up",
        difficulty=0,
        problem_seed=group,
        segments=[
            Segment((1, 2)),
            Segment((3,) * said, (-0.5,) * said),
            Segment((4, 5)),
            Segment((6, 7), (-1.0, -0.25)),
        ],
        reward=score,
        score=score,
        turn_rewards=[0.0, score],
        beliefs=[-2.0, -1.5 - score, -1.0 + score],
        finished=True,
    )


@contextmanager
def _named(choice: Choice) -> Iterator[None]:
    try:
        yield
    except RlvrEnvsError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the {choice.plugin.kind} {choice.name} failed: {told}") from error
