"""What moves the weights: micro-batches are added up into one gradient, which takes one step."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.batch import Batch, batch, micro_batches
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode, Segment
from rlvr_envs.agents.grpo.losses import kept
from rlvr_envs.agents.grpo.model import policy
from rlvr_envs.agents.grpo.model.distributed import Workers


@dataclass(slots=True, kw_only=True)
class Learner:
    """The model and what moves it.

    Attributes:
        config: the objective and the sizes.
        workers: the processes that train together.
        model: in training precision, wrapped for several processes.
        reference: a frozen copy, or None without a penalty.
        optimizer: over the model's parameters.
        pad_token: fills batches.
        bf16: compute in bfloat16.
        version: how many training steps the weights have learned from.
    """

    config: Config
    workers: Workers
    model: Any
    reference: policy.Reference | None
    optimizer: torch.optim.Optimizer
    pad_token: int
    bf16: bool = False
    version: int = 0

    def scores(self, given: Batch, wanted: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return log-probabilities (B, T) of what the model wrote, and entropies or 0.

        Entropies are computed where the objective asks for them. ``wanted`` (B, T) are the tokens
        of interest, if not those that the model wrote.
        """
        bonus = self.config.algorithm.entropy_coef > 0
        bonus |= bool(self.config.loss.plugin.traits.get("entropy_gradient"))
        with self._precision():
            logps, entropies = policy.token_logps(
                self.model,
                given.ids,
                given.attention,
                wanted=given.mask if wanted is None else wanted,
                temperature=self.config.sampling.temperature,
                entropy=bonus or (self.config.loss.wants("entropy") and "detached"),
            )
        return logps, torch.zeros_like(logps) if entropies is None else entropies

    def reference_scores(self, given: Batch) -> Tensor | None:
        """Return log-probabilities (B, T) under the reference model, or None without one."""
        if self.reference is None:
            return None
        with self._precision():
            return self.reference.logps(
                given.ids,
                given.attention,
                wanted=given.mask,
                temperature=self.config.sampling.temperature,
            )

    def _precision(self) -> torch.autocast:
        return torch.autocast(self.workers.device.type, torch.bfloat16, enabled=self.bf16)

    def batch(self, episodes: Sequence[Episode]) -> Batch:
        """Return episodes as tensors, where the model is."""
        return batch(episodes, self.pad_token, self.workers.device)

    def batches(
        self, episodes: Sequence[Episode], chosen: Sequence[int]
    ) -> Iterator[tuple[Batch, list[int]]]:
        """Yield the chosen episodes in micro-batches, each with the places of its episodes."""
        sizes = [episodes[i] for i in chosen]
        for rows in micro_batches(sizes, self.config.optimiser.micro_tokens):
            places = [chosen[row] for row in rows]
            yield self.batch([episodes[i] for i in places]), places

    def believe(self, episodes: Sequence[Episode]) -> None:
        """Set each episode's beliefs in its solution, before its first action and after each.

        One more forward pass over each prefix of an episode, with the solution's tokens after it,
        as IGPO (arXiv 2510.14967) and A2TGPO have it; no gradient goes through it.
        """
        probes, owners = [], []
        for owner in (episode for episode in episodes if episode.target):
            owner.beliefs = []
            before: list[Segment] = []
            for segment in [*owner.segments, None]:
                if segment is None or segment.logps is not None:
                    target = Segment(owner.target, (0.0,) * len(owner.target))
                    prefix = [Segment(each.tokens) for each in before]
                    probes.append(replace(owner, segments=[*prefix, target]))
                    owners.append(owner)
                if segment is not None:
                    before.append(segment)
        found = recomputed(self, probes, range(len(probes)))
        for place, owner in enumerate(owners):
            logps = found[place][-len(owner.target) :]
            owner.beliefs.append(float(logps.mean()))


def make_optimizer(model: Any, config: Config) -> torch.optim.Optimizer:
    """Return AdamW over what is trained."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    return torch.optim.AdamW(
        trained,
        lr=config.optimiser.learning_rate,
        betas=config.optimiser.betas,
        weight_decay=config.optimiser.weight_decay,
    )


def set_learning_rate(learner: Learner, step: int) -> None:
    """Warm up and fall as scheduled: first the supervised steps' rate, then the other."""
    chosen = learner.config.optimiser
    if step < chosen.warm_start:
        rate, left = chosen.warm_start_learning_rate, 1.0
    else:
        step -= chosen.warm_start
        rate, done = chosen.learning_rate, max(0.0, step - chosen.warmup)
        done /= max(1, chosen.steps - chosen.warmup)
        fall = {"constant": 0.0, "linear": done, "cosine": (1 - math.cos(math.pi * done)) / 2}
        left = 1 - (1 - chosen.final_rate) * fall[chosen.schedule]
    for group in learner.optimizer.param_groups:
        group["lr"] = rate * left * min(1.0, (step + 1) / (chosen.warmup + 1))


def reset_reference(learner: Learner) -> None:
    """Let the reference become the trained model (ProRL, 2505.24864), unless it is another."""
    if learner.reference is not None and not learner.config.policy.reference:
        learner.reference.sync(learner.workers.full_state_dict(learner.model))


def imitate(learner: Learner, episodes: list[Episode]) -> dict[str, float]:
    """Move the weights towards what the episodes say, by the mean over their tokens."""
    workers = learner.workers
    n_tokens = sum(episode.n_trained for episode in episodes)

    def loss_of(given: Batch, _: Sequence[int]) -> Tensor:
        logps, _ = learner.scores(given)
        return kept(-logps, given.mask).sum() / max(1, n_tokens)

    norm, loss = descend(learner, episodes, range(len(episodes)), loss_of)
    return {
        "imitation/loss": workers.sum(loss),
        "grad_norm": float("nan") if norm is None else norm,
    }


def descend(
    learner: Learner,
    episodes: list[Episode],
    chosen: Sequence[int],
    loss_of: Callable[[Batch, Sequence[int]], Tensor],
) -> tuple[float | None, float]:
    """Take one optimiser step on the chosen episodes, of which each worker has its share.

    ``loss_of`` gives a micro-batch's share of a loss whose denominators are all workers', so the
    shares add up. Workers have as many micro-batches as the one with most: a synchronised model
    waits for all.

    Returns:
        The gradient's length before clipping, or None where it was not finite or there was nothing
        to learn, and no step was taken; and this worker's share of the loss.
    """
    workers = learner.workers
    chunks = list(learner.batches(episodes, chosen[workers.rank :: workers.size]))
    most = max(workers.gather_objects(len(chunks)))
    if not most:
        return None, 0.0
    learner.model.train()
    learner.optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for place in range(most):
        spare = place >= len(chunks)
        given, chunk = next(learner.batches(episodes, chosen[:1])) if spare else chunks[place]
        with workers.accumulating(learner.model, last=place == most - 1):
            # What is spare is neither learned from nor measured.
            loss = learner.scores(given)[0].sum() * 0.0 if spare else loss_of(given, chunk)
            workers.backward(loss)
        total += float(loss.detach())
    norm = workers.clip_grad_norm(learner.model, learner.config.optimiser.max_grad_norm)
    if not torch.isfinite(torch.tensor(norm)):
        learner.optimizer.zero_grad(set_to_none=True)
        return None, total
    learner.optimizer.step()
    return norm, total


def recomputed(
    learner: Learner, episodes: Sequence[Episode], chosen: Sequence[int]
) -> dict[int, Tensor]:
    """Return the tokens' log-probabilities (T,) under the weights as they are, by episode."""
    found: dict[int, Tensor] = {}
    learner.model.eval()
    for given, places in learner.batches(episodes, chosen):
        with torch.no_grad():
            logps, _ = learner.scores(given)
        for row, i in enumerate(places):
            found[i] = logps[row, : episodes[i].n_tokens]
    return found
