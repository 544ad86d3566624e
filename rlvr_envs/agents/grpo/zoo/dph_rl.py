"""DPH-RL (arXiv 2509.07430): what the initial policy solved is kept, and held on to."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.episode import Episode, episode_of, row_of
from rlvr_envs.agents.grpo.losses import LOG_RATIO_LIMIT, clipped, difference
from rlvr_envs.agents.grpo.plugins import callback, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream

# Where the draws of stored problems are told from a step's own rounds of sampling.
_APART = 1_000_000


@loss
def dph_rl(  # noqa: PLR0913 - six inputs, four settings
    ratio: Tensor,
    logp: Tensor,
    sampled: Tensor,
    mask: Tensor,
    advantages: Tensor,
    demonstrated: Tensor,
    *,
    divergence: Literal["forward_kl", "jensen_shannon"] = "forward_kl",
    coef: float = 0.01,
    low: float = 0.2,
    high: float = 0.28,
) -> Tensor:
    """Return `clipped`, and on stored answers the divergence from the initial policy (DPH-RL).

    On stored answers u = policy / initial policy. The forward KL is -log u: supervised learning of
    what the initial policy answered. The Jensen-Shannon divergence is
    (u log u - (u + 1) log((u + 1) / 2)) / 2, whose gradient ends where an answer is lost. Neither
    needs a reference model: ``sampled`` are the log-probabilities that were stored.
    """
    if coef < 0:
        raise ConfigError(f"coef is from 0, got {coef!r}")
    log_u = difference(logp, sampled, mask)
    if divergence == "forward_kl":
        held = -log_u
    else:
        log_u = log_u.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
        u = log_u.exp()
        held = (u * log_u - (u + 1) * torch.log1p((u - 1) / 2)) / 2
    learned = clipped(ratio, advantages, low=low, high=high)
    return torch.where(demonstrated[:, None], coef * held, learned)


@callback(name="initial_solutions")
class InitialSolutions(Callback):
    """Plays problems before the first update, and replays answers of those that were solved.

    A problem is stored if all of its group's answers scored full marks.

    Args:
        problems: how many are played, by the curriculum's proposals.
        replay: stored answers that are added to each step.
    """

    def __init__(self, *, problems: int = 64, replay: int = 16) -> None:
        if problems < 1 or replay < 1:
            raise ConfigError(f"problems and replay are from 1, got {problems!r} and {replay!r}")
        self._problems, self._replay = problems, replay
        self._stored: list[Episode] | None = None

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Return the step's episodes and some of those that are stored."""
        if self._stored is None:  # before the first update: the sampler is the initial policy
            self._stored = self._play(run)
        if not self._stored or not episodes:
            return episodes
        order = stream("initial solutions", run.config.seed, run.step)
        chosen = order.permutation(len(self._stored))[: self._replay].tolist()
        first = 1 + max(episode.group for episode in episodes)
        return episodes + [
            replace(self._stored[i], group=first + place) for place, i in enumerate(chosen)
        ]

    def _play(self, run: Run) -> list[Episode]:
        from rlvr_envs.agents.grpo.train import play

        proposals = [run.curriculum.propose() for _ in range(self._problems)]
        drawn = run.source.draw(proposals, run.step, _APART)
        return [
            replace(episode, demonstrated=True)
            for group in play(run, drawn, (run.step, _APART))
            if all(episode.score >= 1 for episode in group.episodes)
            for episode in group.episodes
        ]

    def on_step(self, run: Run, numbers: dict[str, float]) -> None:
        """Say how many answers are stored."""
        numbers["initial_solutions"] = float(len(self._stored or ()))

    def state_dict(self) -> dict[str, Any]:
        """Return the stored answers."""
        if self._stored is None:
            return {}
        return {"stored": [row_of(each) for each in self._stored]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the stored answers."""
        if "stored" in state:
            self._stored = [episode_of(row) for row in state["stored"]]


for _name, _divergence in (("dph_rl", "forward_kl"), ("dph_rl_js", "jensen_shannon")):
    recipe(
        _name,
        "arXiv 2509.07430",
        differs="from reports: problems that the initial policy solved in all attempts are stored; "
        "they may be learned from too, while the paper has two sets; coef is not known",
        estimator="grpo",
        loss=f'dph_rl(divergence="{_divergence}")',
        callbacks=("initial_solutions",),
        group_size=8,
        minibatches=4,
    )
