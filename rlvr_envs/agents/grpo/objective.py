"""The loss of a micro-batch, put together from what a configuration names.

    losses = loss(inputs) * correction(inputs) + kl_coef * penalty - entropy_coef * entropy
    result = sum_i weight_i sum_t losses_it

where an aggregation gives the weights of all episodes of the optimiser step. Episodes that were
given instead of sampled are imitated, by -logp, unless the loss takes ``demonstrated``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo import losses as formulas
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.plugins import Choice
from rlvr_envs.core.errors import ConfigError

# Penalties whose gradient is the divergence's only times the token's ratio.
_TIMES_RATIO = ("k1", "forward_kl", "jensen_shannon")


def _nothing_told(name: str) -> Tensor:
    """Return what goes with any number of episodes of which nothing was told."""
    return torch.full((1,), math.nan)


@dataclass(frozen=True)
class LossInputs:
    """A micro-batch as a loss sees it: B episodes of T tokens; all are (B, T) unless said.

    Attributes:
        logp: log-probabilities under the weights as they are, with gradients.
        old: under the weights that sampled, as the trainer computes them.
        sampled: the same, as the sampler reported them.
        mask: true at trained tokens.
        advantages: (B, 1) or (B, T).
        weights: (B,), of the episodes in the loss.
        turns: the number of the action from 0; -1 outside the mask.
        entropy: of the distributions that the tokens were drawn from, or 0 where nothing asks.
        reference: under the reference model, or None.
        scores: (B,), the verdicts' scores.
        demonstrated: (B,), true for episodes that were not sampled but given.
        lag: (B, T), updates between sampling and now.
        scales: (B, T), of an estimator that gives them, else 1.
        observed: true at what the environment said after the first action.
        step: of the run.
        info: returns (B,) numbers that verdicts, wrappers or callbacks told under a name, else NaN.
    """

    logp: Tensor
    old: Tensor
    sampled: Tensor
    mask: Tensor
    advantages: Tensor
    weights: Tensor
    turns: Tensor
    entropy: Tensor
    reference: Tensor | None = None
    scores: Tensor | None = None
    demonstrated: Tensor | None = None
    lag: Tensor | None = None
    scales: Tensor | None = None
    observed: Tensor | None = None
    step: int = 0
    info: Callable[[str], Tensor] = _nothing_told

    @cached_property
    def ratio(self) -> Tensor:
        """The importance ratios of tokens."""
        return formulas.token_ratio(self.logp, self.old, self.mask)

    @cached_property
    def sequence_ratio(self) -> Tensor:
        """The geometric mean of an episode's ratios, at all of its tokens."""
        return formulas.sequence_ratio(self.logp, self.old, self.mask)


def info_of(episodes: Sequence[Episode]) -> Callable[[str], Tensor]:
    """Return what looks a name up in what was told of each episode."""
    return lambda name: torch.tensor([each.info.get(name, math.nan) for each in episodes])


@dataclass(slots=True)
class Tally:
    """What is measured on the way: sums over tokens, of how many, and greatest values."""

    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, values: Tensor, mask: Tensor) -> None:
        """Add up values (B, T) over the trained tokens, and keep the greatest."""
        kept = values.detach().expand(mask.shape)[mask].float()
        if kept.numel():
            self._add(name, float(kept.sum()), kept.numel(), float(kept.max()))

    def count(self, tokens: float, **values: float) -> None:
        """Add that many tokens, each with the values."""
        self.sums["tokens"] = self.sums.get("tokens", 0.0) + tokens
        for name, value in values.items():
            self._add(name, tokens * value, tokens, value)

    def _add(self, name: str, total: float, tokens: float, greatest: float) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + total
        self.counts[name] = self.counts.get(name, 0.0) + tokens
        self.peaks[name] = max(self.peaks.get(name, -math.inf), greatest)


def micro_loss(config: Config, inputs: LossInputs, tally: Tally) -> Tensor:
    """Return a micro-batch's share of the loss, a scalar with gradient.

    Raises:
        ConfigError: the loss that is configured returned another shape, or what is no number, or
            what has no gradient.
    """
    algorithm, mask = config.algorithm, inputs.mask
    losses, measured = _losses(config.loss, inputs)
    measure(config, inputs, losses, measured, tally)
    if inputs.demonstrated is not None and not config.loss.wants("demonstrated"):
        imitated = -formulas.kept(inputs.logp, mask)
        losses = torch.where(inputs.demonstrated[:, None], imitated, losses)
    correction = config.correction(inputs)
    if inputs.demonstrated is not None:  # no sampler drew these
        correction = torch.where(inputs.demonstrated[:, None], 1.0, correction)
    losses = losses * correction
    if inputs.reference is not None and algorithm.kl != "none":
        penalty = getattr(formulas, algorithm.kl)(inputs.logp, inputs.reference, mask)
        if algorithm.kl in _TIMES_RATIO:
            penalty = penalty * inputs.ratio
        losses = losses + algorithm.kl_coef * penalty
        tally.add("kl", formulas.k3(inputs.logp, inputs.reference, mask), mask)
    if algorithm.entropy_coef:
        losses = losses - algorithm.entropy_coef * inputs.entropy
    if inputs.observed is not None and config.loss.wants("observed"):
        mask = mask | inputs.observed
    return (inputs.weights * losses.masked_fill(~mask, 0.0).sum(1)).sum()


def measure(
    config: Config,
    inputs: LossInputs,
    losses: Tensor | None,
    measured: Mapping[str, Tensor],
    tally: Tally,
) -> None:
    """Add a micro-batch to what is measured; ``losses`` are None where nothing pulls.

    A token is clipped if it has an advantage and no gradient, whatever the loss.
    """
    mask = inputs.mask
    clipped = torch.zeros_like(inputs.logp)
    if losses is not None:
        (slope,) = torch.autograd.grad(
            losses.masked_fill(~mask, 0.0).sum(), inputs.logp, retain_graph=True, allow_unused=True
        )
        if slope is None:
            raise ConfigError(f"the loss {config.loss.name} does not depend on logp")
        clipped = ((slope == 0) & (inputs.advantages != 0)).float()
    tally.add("ratio", inputs.ratio, mask)
    tally.add("ratio/moved", ((inputs.ratio - 1).abs() > 1e-4).float(), mask)
    tally.add("clip_fraction", clipped, mask)
    mismatch = (inputs.old - inputs.sampled).abs()
    if inputs.demonstrated is not None:
        mismatch = mismatch.masked_fill(inputs.demonstrated[:, None], 0.0)
    tally.add("mismatch", mismatch, mask)
    if config.algorithm.entropy_coef or config.loss.wants("entropy"):
        tally.add("entropy/exact", inputs.entropy, mask)
    for name, values in measured.items():
        tally.add(f"loss/{name}", values, mask)
    tally.count(float(mask.sum()))


def _losses(choice: Choice, inputs: LossInputs) -> tuple[Tensor, Mapping[str, Tensor]]:
    """Return the losses of tokens, and what the plug-in measured."""
    found: Any = choice(inputs)
    losses, measured = found if isinstance(found, tuple) else (found, {})
    told = f"the loss {choice.name} is to return finite numbers with a gradient, of logp's shape"
    shape = tuple(inputs.logp.shape)
    if not isinstance(losses, Tensor) or losses.shape != inputs.logp.shape:
        raise ConfigError(f"{told} {shape}, got {getattr(losses, 'shape', losses)!r:.80}")
    if not losses.requires_grad:
        raise ConfigError(f"{told} {shape}; these have no gradient")
    if not losses.detach()[inputs.mask].isfinite().all():
        raise ConfigError(f"{told} {shape}; some are NaN or infinite")
    return losses, measured


def weights_of(
    config: Config, episodes: Sequence[Episode], part: Sequence[int], advantages: Tensor
) -> Tensor:
    """Return the weights (B,) of a step's episodes in the loss, 0 outside of ``part``."""
    weights = torch.zeros(len(episodes), dtype=torch.float64)
    if part:
        known = {
            "lengths": torch.tensor([episodes[i].n_trained for i in part]).double(),
            "groups": torch.tensor([2 * episodes[i].group + episodes[i].seat for i in part]),
            "advantages": advantages[list(part), 0],
            "longest": config.sampling.max_tokens,
        }
        own = torch.tensor([episodes[i].weight for i in part]).double()
        weights[list(part)] = config.aggregation(known) * own
    return weights


def by_token(config: Config, values: Tensor, turns: Tensor) -> Tensor:
    """Return (B, K) as it is for K = 1, else each token's value or its turn's, (B, T)."""
    if values.shape[1] == 1:
        return values
    if config.estimator.plugin.traits.get("level") == "token":
        return values[:, : turns.shape[1]]
    return values.gather(1, turns.clamp(min=0)).masked_fill(turns < 0, 0.0)


def averages(everyone: Sequence[Tally]) -> dict[str, float]:
    """Return means over all workers' tokens for which something was measured, and peaks."""
    numbers = {"tokens": sum(tally.sums.get("tokens", 0.0) for tally in everyone)}
    for name in sorted({name for tally in everyone for name in tally.counts}):
        tokens = sum(tally.counts.get(name, 0.0) for tally in everyone)
        mean = sum(tally.sums.get(name, 0.0) for tally in everyone) / tokens if tokens else math.nan
        if name in ("ratio", "mismatch"):
            numbers[f"{name}/mean"] = mean
            numbers[f"{name}/max"] = max(tally.peaks.get(name, -math.inf) for tally in everyone)
        else:
            numbers[name] = mean
    return numbers
