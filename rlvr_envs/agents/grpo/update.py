"""How the weights move: micro-batches are added up into one gradient, which takes one step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.batch import Batch, batch, micro_batches
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.formulas.loss import balanced_weights, token_mean
from rlvr_envs.agents.grpo.formulas.turns import spread_turns
from rlvr_envs.agents.grpo.model import policy
from rlvr_envs.agents.grpo.model.distributed import Workers
from rlvr_envs.agents.grpo.objective import Scored, Tally, Whole, advantages_of, micro_loss
from rlvr_envs.core.seeding import stream


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
    """

    config: Config
    workers: Workers
    model: Any
    reference: policy.Reference | None
    optimizer: torch.optim.Optimizer
    pad_token: int
    bf16: bool = False

    def scores(self, given: Batch, *, entropy: bool = False) -> tuple[Tensor, Tensor]:
        """Return log-probabilities (B, T) of what the model wrote, and entropies or 0.

        Entropies have a gradient only where it counts.
        """
        with_gradient = self.config.entropy_coef > 0
        with self._precision():
            logps, entropies = policy.token_logps(
                self.model,
                given.ids,
                given.attention,
                wanted=given.mask,
                temperature=self.config.temperature,
                entropy=entropy and (with_gradient or "detached"),
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
                temperature=self.config.temperature,
            )

    def _precision(self) -> torch.autocast:
        return torch.autocast(self.workers.device.type, torch.bfloat16, enabled=self.bf16)

    def batch(self, episodes: Sequence[Episode]) -> Batch:
        """Return episodes as tensors, where the model is."""
        return batch(episodes, self.pad_token, self.workers.device)


def make_optimizer(model: Any, config: Config) -> torch.optim.Optimizer:
    """Return AdamW over what is trained."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    return torch.optim.AdamW(
        trained, lr=config.learning_rate, betas=config.betas, weight_decay=config.weight_decay
    )


def renew_reference(learner: Learner) -> None:
    """Let the reference model become the trained one (ProRL, arXiv 2505.24864)."""
    if learner.reference is not None:
        learner.reference.sync(learner.workers.full_state_dict(learner.model))


def update(learner: Learner, episodes: list[Episode], step: int) -> dict[str, float]:
    """Move the weights by a step's episodes, of all workers, and return what was measured."""
    config, workers = learner.config, learner.workers
    advantages, kept = advantages_of(episodes, config)
    usable = [i for i, keep in enumerate(kept.tolist()) if keep and episodes[i].n_trained]
    old: dict[int, Tensor] = {}
    if config.epochs * config.minibatches > 1:
        old = recomputed(learner, episodes, usable)
    weights = _weights(config, episodes, usable, advantages)
    tally, norms = Tally(), []
    for epoch in range(config.epochs):
        order = stream("minibatches", config.seed, step, epoch).permutation(len(usable)).tolist()
        for k in range(config.minibatches):
            part = sorted(usable[i] for i in order[k :: config.minibatches])
            # The minibatches' losses are to have the whole step's as their mean.
            share = None if weights is None else weights * (len(usable) / max(1, len(part)))
            norms.append(_move(learner, episodes, part, (advantages, share), old, tally))
    return _averages(workers, tally) | {
        "grad_norm": _mean([norm for norm in norms if norm is not None]),
        "updates/skipped": float(norms.count(None)),
        "learning_rate": learner.optimizer.param_groups[0]["lr"],
    }


def imitate(learner: Learner, episodes: list[Episode]) -> dict[str, float]:
    """Move the weights towards what the episodes say, by the mean over their tokens."""
    workers = learner.workers
    n_tokens = sum(episode.n_trained for episode in episodes)

    def loss_of(given: Batch, _: Sequence[int]) -> Tensor:
        logps, _ = learner.scores(given)
        return token_mean(-logps, given.mask, n_tokens)

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
    mine = chosen[workers.rank :: workers.size]
    chunks = [
        [mine[i] for i in chunk]
        for chunk in micro_batches([episodes[i] for i in mine], learner.config.micro_tokens)
    ]
    most = max(workers.gather_objects(len(chunks)))
    if not most:
        return None, 0.0
    learner.model.train()
    learner.optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for place in range(most):
        spare = place >= len(chunks)
        chunk = chosen[:1] if spare else chunks[place]
        given = learner.batch([episodes[i] for i in chunk])
        with workers.accumulating(learner.model, last=place == most - 1):
            # What is spare is neither learned from nor measured.
            loss = learner.scores(given)[0].sum() * 0.0 if spare else loss_of(given, chunk)
            workers.backward(loss)
        total += float(loss.detach())
    norm = workers.clip_grad_norm(learner.model, learner.config.max_grad_norm)
    if not torch.isfinite(torch.tensor(norm)):
        learner.optimizer.zero_grad(set_to_none=True)
        return None, total
    learner.optimizer.step()
    return norm, total


def _move(
    learner: Learner,
    episodes: list[Episode],
    part: list[int],
    worth: tuple[Tensor, Tensor | None],
    old: dict[int, Tensor],
    tally: Tally,
) -> float | None:
    """Take one optimiser step on some of a step's episodes.

    ``worth`` are the advantages (B, K) of all of them, and their weights (B,) if they have any.
    """
    config, (advantages, weights) = learner.config, worth
    whole = Whole(tokens=sum(episodes[i].n_trained for i in part), episodes=len(part))
    # Where nothing else pulls, what has no advantage has no gradient: it only counts.
    pulled = learner.reference is not None or config.entropy_coef > 0
    moving = [i for i in part if pulled or bool(advantages[i].any())]

    def loss_of(given: Batch, chunk: Sequence[int]) -> Tensor:
        # First, since adapters are set to other values for it and back.
        reference = learner.reference_scores(given)
        logps, entropies = learner.scores(given, entropy=True)
        scored = Scored(
            mask=given.mask,
            old=_padded([old[i] for i in chunk], logps) if old else logps.detach(),
            sampled=given.sampled,
            reference=reference,
            advantages=_of_tokens(config, advantages[list(chunk)].to(logps), given.turns),
            weights=None if weights is None else weights[list(chunk)].to(logps),
        )
        return micro_loss(config, logps, entropies, scored, whole, tally)

    norm, _ = descend(learner, episodes, moving, loss_of)
    return norm


def recomputed(learner: Learner, episodes: list[Episode], mine: list[int]) -> dict[int, Tensor]:
    """Return the tokens' log-probabilities under the weights that sampled them, by episode."""
    found: dict[int, Tensor] = {}
    learner.model.eval()
    for chunk in micro_batches([episodes[i] for i in mine], learner.config.micro_tokens):
        given = learner.batch([episodes[mine[i]] for i in chunk])
        with torch.no_grad():
            logps, _ = learner.scores(given)
        for row, i in enumerate(chunk):
            found[mine[i]] = logps[row, : episodes[mine[i]].n_tokens]
    return found


def _weights(
    config: Config, episodes: list[Episode], usable: list[int], advantages: Tensor
) -> Tensor | None:
    """Return the episodes' weights in balanced aggregation, (B,) over the whole step, or None."""
    if config.aggregation != "balanced" or not usable:
        return None
    weights = torch.zeros(len(episodes))
    weights[usable] = balanced_weights(
        advantages[usable, 0],
        torch.tensor([episodes[i].n_trained for i in usable]),
        torch.tensor([episodes[i].group for i in usable]),
    )
    return weights


def _of_tokens(config: Config, advantages: Tensor, turns: Tensor) -> Tensor:
    """Return (B, K) as it is for K = 1, else each token's advantage or its turn's, (B, T)."""
    if advantages.shape[1] == 1:
        return advantages
    if config.advantage == "tempo_experimental":
        return advantages[:, : turns.shape[1]]
    return spread_turns(advantages, turns)


def _padded(rows: Sequence[Tensor], like: Tensor) -> Tensor:
    padded = torch.zeros_like(like)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _averages(workers: Workers, tally: Tally) -> dict[str, float]:
    """Return the means over all workers' trained tokens, and the greatest values."""
    everyone = workers.gather_objects((tally.sums, tally.peaks))
    tokens = sum(sums.get("tokens", 0.0) for sums, _ in everyone)
    names = sorted({name for sums, _ in everyone for name in sums} - {"tokens"})
    numbers = {"tokens": tokens}
    for name in names:
        numbers[f"{name}/mean" if name in ("ratio", "mismatch") else name] = (
            sum(sums.get(name, 0.0) for sums, _ in everyone) / tokens if tokens else float("nan")
        )
    for name in ("ratio", "mismatch"):
        found = [peaks[name] for _, peaks in everyone if name in peaks]
        numbers[f"{name}/max"] = max(found, default=float("nan"))
    return numbers


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
