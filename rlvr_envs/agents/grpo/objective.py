"""What a configuration minimises, put together from the functions of `advantage` and `loss`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.formulas import advantage, advantage_variants, loss, loss_variants
from rlvr_envs.agents.grpo.formulas.sequence_loss import (
    drpo,
    length_weights,
    log_likelihoods,
    pacs,
    slopes,
)

_OF_GROUPS = {
    "reinforce": advantage.reinforce,
    "dr_grpo": advantage.dr_grpo,
    "grpo": advantage.grpo,
    "rloo": advantage.rloo,
    "lite_ppo": advantage.lite_ppo,
    "bnpo": advantage.bnpo,
    "ngrpo": advantage.ngrpo,
    "psr": advantage.psr,
    "asym_re": advantage_variants.asym_re,
    "nsr": advantage.nsr,
    "weighted_reinforce": advantage.weighted_reinforce,
}

# Penalties whose gradient is the divergence's only times the token's ratio.
_TIMES_RATIO = ("k1", "forward_kl", "jensen_shannon")

# MC-GRPO's bound on advantages, which are boundless where most rewards of a group agree.
_MC_GRPO_LIMIT = 4.0

# DRPO's tau, as in its authors' scripts.
_DRPO_TEMPERATURE = 10.0


@dataclass(frozen=True, slots=True)
class Groups:
    """The rewards of a step's episodes, side by side by group.

    Attributes:
        place: (B, 2), each episode's row and column.
        rewards: (N, G), NaN where a group has fewer episodes or one was not scored.
    """

    place: Tensor
    rewards: Tensor

    def spread(self, table: Tensor) -> Tensor:
        """Return each episode's entry of a table (N, G, …), as (B, …)."""
        return table[self.place[:, 0], self.place[:, 1]]


def groups_of(episodes: Sequence[Episode], config: Config) -> Groups:
    """Return a step's rewards, with the penalty on length if there is one."""
    rows: dict[int, int] = {}
    columns: dict[int, int] = {}
    place = []
    for episode in episodes:
        row = rows.setdefault(episode.group, len(rows))
        column = columns[row] = columns.get(row, -1) + 1
        place.append((row, column))
    # At least two, so that an episode alone in its group is one without others to everybody.
    rewards = torch.full((len(rows), max(2, max(columns.values()) + 1)), torch.nan)
    where = torch.tensor(place)
    earned = torch.tensor([episode.reward for episode in episodes])
    if config.overlong == "penalty":
        left = torch.tensor([_tokens_left(episode, config.max_tokens) for episode in episodes])
        earned = earned + advantage.overlong_penalty(
            config.max_tokens - left, longest=config.max_tokens, buffer=config.overlong_buffer
        )
    rewards[where[:, 0], where[:, 1]] = earned
    return Groups(where, rewards)


def advantages_of(episodes: Sequence[Episode], config: Config) -> tuple[Tensor, Tensor]:
    """Return the advantages of a step's episodes, and which of them to train on.

    Args:
        episodes: of all workers, whole groups.
        config: names the estimator.

    Returns:
        Advantages (B, K), where K is 1, or the number of turns or tokens for estimators that tell
        those apart; and a boolean (B,) that is false for what was not scored and what is left out.
    """
    groups = groups_of(episodes, config)
    earned = groups.spread(groups.rewards)
    kept = ~earned.isnan()
    if config.overlong == "mask":
        kept &= torch.tensor([episode.finished for episode in episodes])
    for name in config.leave_out:
        part = _LEFT_OUT[name]
        kept &= torch.tensor([not episode.info.get(part) for episode in episodes])
    match config.advantage:
        case "reinforce_plus_plus":
            worth = _reinforce_plus_plus(episodes, earned)
        case "dr_mas_experimental":
            worth = _dr_mas(episodes, earned)
        case "mc_grpo":
            table, chosen = advantage.mc_grpo(groups.rewards, limit=_MC_GRPO_LIMIT)
            worth = groups.spread(table)
            kept &= groups.spread(chosen)
        case "pacs":
            worth = groups.spread(_pacs(groups.rewards))
        case "drpo":
            worth = groups.spread(_drpo(episodes, groups, config))
        case "tempo_experimental":
            worth = groups.spread(_tempo(episodes, groups))
        case "trloo":
            worth = groups.spread(advantage.trloo(_of_turns(episodes, groups)))
        case estimator:
            worth = groups.spread(_OF_GROUPS[estimator](groups.rewards))
    return worth if worth.ndim == 2 else worth[:, None], kept


# Mini-o3's and SimpleTIR's masks. What a task counts as malformed had no call and no answer.
_LEFT_OUT = {"over_turn_experimental": "out_of_turns", "void_turn_experimental": "malformed"}


def _reinforce_plus_plus(episodes: Sequence[Episode], rewards: Tensor) -> Tensor:
    lengths = torch.tensor([episode.n_trained for episode in episodes])
    tokens = torch.arange(int(lengths.max())) < lengths[:, None]
    return advantage.reinforce_plus_plus(rewards, tokens)[:, :1]


def _dr_mas(episodes: Sequence[Episode], rewards: Tensor) -> Tensor:
    names = sorted({episode.task for episode in episodes})
    labels = torch.tensor([names.index(episode.task) for episode in episodes])
    return advantage.dr_mas(rewards, labels)


def _pacs(rewards: Tensor) -> Tensor:
    """Return what PACS multiplies each answer's log-probability by where nothing has moved yet.

    There the log-ratios are 0, so that its gradient is REINFORCE's with these advantages and the
    answers' sums over tokens.
    """
    solved = _solved(rewards)
    steepness = slopes(lambda ratios: pacs(ratios, solved), torch.zeros_like(solved))
    return -steepness * (~solved.isnan()).sum()


def _drpo(episodes: Sequence[Episode], groups: Groups, config: Config) -> Tensor:
    """Return what DRPO multiplies each answer's mean log-probability by where nothing has moved.

    As in `_pacs`, so that its gradient is REINFORCE's with answers' means over tokens.
    """
    scores, lengths = torch.zeros_like(groups.rewards), torch.ones_like(groups.rewards)
    for (row, column), episode in zip(groups.place.tolist(), episodes, strict=True):
        logps = [logp for action in episode.actions for logp in action.logps or ()]
        if logps:
            scores[row, column], lengths[row, column] = sum(logps) / len(logps), len(logps)
    weights = length_weights(
        lengths, longest=config.max_tokens, temperature=config.length_temperature
    )
    solved = _solved(groups.rewards)
    steepness = slopes(
        lambda given: drpo(given, solved, weights, temperature=_DRPO_TEMPERATURE), scores
    )
    return -steepness * (~solved.isnan()).sum()


def _solved(rewards: Tensor) -> Tensor:
    """Return 1 for full marks, 0 for less, and NaN for what was not scored."""
    return (rewards >= 1).to(rewards).masked_fill(rewards.isnan(), torch.nan)


def _tempo(episodes: Sequence[Episode], groups: Groups) -> Tensor:
    """Return advantages of tokens (N, G, T), by the prefixes that a group's episodes share."""
    longest = max(episode.n_tokens for episode in episodes)
    tokens = torch.zeros((*groups.rewards.shape, longest), dtype=torch.long)
    there = torch.zeros_like(tokens, dtype=torch.bool)
    for (row, column), episode in zip(groups.place.tolist(), episodes, strict=True):
        said = [token for segment in episode.segments for token in segment.tokens]
        tokens[row, column, : len(said)] = torch.tensor(said, dtype=torch.long)
        there[row, column, : len(said)] = True
    # A group at a time: it takes memory for every pair of a group's episodes.
    parts = zip(groups.rewards.split(1), tokens.split(1), there.split(1), strict=True)
    return torch.cat([advantage_variants.tempo(*part) for part in parts])


def _tokens_left(episode: Episode, max_tokens: int) -> int:
    """Return how far the longest action stayed under the limit of its tokens."""
    longest = max((len(action.tokens) for action in episode.actions), default=0)
    return (episode.max_tokens or max_tokens) - longest


def _of_turns(episodes: Sequence[Episode], groups: Groups) -> Tensor:
    """Return the rewards of turns (N, G, K), NaN after an episode's end."""
    turns = max(1, *(len(episode.turn_rewards) for episode in episodes))
    table = torch.full((*groups.rewards.shape, turns), torch.nan)
    for (row, column), episode in zip(groups.place.tolist(), episodes, strict=True):
        if not torch.isnan(groups.rewards[row, column]):
            rewards = torch.tensor(episode.turn_rewards)
            rewards[-1:] += groups.rewards[row, column] - episode.reward  # the length's penalty
            table[row, column, : len(rewards)] = rewards
    return table


@dataclass(frozen=True, slots=True)
class Whole:
    """The denominators of an optimiser step: over all of its micro-batches and workers."""

    tokens: float
    episodes: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A micro-batch as a loss sees it; all are (B, T) but for the last two.

    Attributes:
        mask: true at trained tokens.
        old: log-probabilities under the weights that sampled, as the trainer computes them.
        sampled: the same, as the sampler reported them.
        reference: under the reference model, or None.
        advantages: (B, 1) or (B, T).
        weights: (B,), of the episodes for balanced aggregation, or None.
    """

    mask: Tensor
    old: Tensor
    sampled: Tensor
    reference: Tensor | None
    advantages: Tensor
    weights: Tensor | None = None


@dataclass(slots=True)
class Tally:
    """What is measured on the way: sums over tokens, and greatest values."""

    sums: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, values: Tensor, mask: Tensor) -> None:
        """Add up values (B, T) over the trained tokens, and keep the greatest."""
        kept = values.detach()[mask].float()
        self.sums[name] = self.sums.get(name, 0.0) + float(kept.sum())
        if kept.numel():
            self.peaks[name] = max(self.peaks.get(name, 0.0), float(kept.max()))


def micro_loss(
    config: Config,
    logps: Tensor,
    entropies: Tensor,
    batch: Scored,
    whole: Whole,
    tally: Tally,
) -> Tensor:
    """Return a micro-batch's share of the loss, a scalar with gradient."""
    mask = batch.mask
    if config.ace_experimental and batch.reference is not None:
        batch = replace(batch, advantages=_ace(config, logps, batch))
    ratio = _ratio(config, logps, batch)
    losses = _losses(config, ratio, logps, batch)
    if config.mismatch != "none":
        losses = losses * _correction(config, batch)
    if batch.reference is not None:
        penalty = getattr(loss, config.kl)(logps, batch.reference, mask)
        if config.kl in _TIMES_RATIO:
            penalty = penalty * loss.token_ratio(logps, batch.old, mask)
        losses = losses + config.kl_coef * penalty
        tally.add("kl", loss.k3(logps, batch.reference, mask), mask)
    if config.entropy_coef:
        losses = losses - config.entropy_coef * entropies.masked_fill(~mask, 0.0)
    tally.add("entropy", entropies, mask)
    tally.add("ratio", ratio, mask)
    tally.add("clip_fraction", _clipped(config, ratio, batch.advantages).float(), mask)
    tally.add("mismatch", (batch.old - batch.sampled).abs(), mask)
    tally.sums["tokens"] = tally.sums.get("tokens", 0.0) + float(mask.sum())
    return _aggregated(config, losses, batch, whole)


def _ratio(config: Config, logps: Tensor, batch: Scored) -> Tensor:
    if config.ratio == "sequence":
        by_length = config.objective != "topr"
        return loss.sequence_ratio(logps, batch.old, batch.mask, by_length=by_length)
    ratio = loss.token_ratio(logps, batch.old, batch.mask)
    return loss.prefix_ratio(ratio, batch.mask) if config.ratio == "prefix" else ratio


def _losses(config: Config, ratio: Tensor, logps: Tensor, batch: Scored) -> Tensor:
    advantages, mask = batch.advantages, batch.mask
    clip = (config.clip_low, config.clip_high)
    match config.objective:
        case "reinforce":
            losses = loss.reinforce(logps, advantages, mask)
        case "cispo":
            losses = loss.cispo(ratio, logps, advantages, mask, high=config.clip_high)
        case "topr":
            losses = loss.topr(ratio, logps, advantages, mask)
        case "soft_adaptive":
            losses = loss.soft_adaptive(ratio, advantages)
        case "one_side":
            losses = loss_variants.one_side(ratio, logps, advantages, mask, clip=clip)
        case "dispo_experimental":
            losses = loss_variants.dispo(ratio, logps, advantages, mask)
        case "dhpo_experimental":
            whole = loss.sequence_ratio(logps, batch.old, mask)
            losses = loss_variants.dhpo(ratio, whole, advantages, token_clip=clip)
        case "opmd_experimental":
            losses = loss.reinforce(logps, advantages, mask) + loss.k2(logps, batch.old, mask)
        case _:
            low, high = clip
            losses = loss.clipped(ratio, advantages, low=low, high=high, dual=config.clip_dual)
    return losses


def _ace(config: Config, logps: Tensor, batch: Scored) -> Tensor:
    """Return the advantages, larger for wrong answers that have become likelier."""
    moved = logps.detach() - batch.reference
    shifts = log_likelihoods(moved, batch.mask, by_length=True)[:, None]
    return advantage_variants.ace(
        batch.advantages, shifts.expand_as(batch.advantages), alpha=config.ace_experimental
    )


def _correction(config: Config, batch: Scored) -> Tensor:
    weigh = loss.truncated_weights if config.mismatch == "truncate" else loss.masked_weights
    level: loss.Level = "sequence" if config.ratio == "sequence" else "token"
    return weigh(batch.old, batch.sampled, batch.mask, most=config.mismatch_limit, level=level)


def _clipped(config: Config, ratio: Tensor, advantages: Tensor) -> Tensor:
    """Return where a token's gradient is cut off (for CISPO, bounded)."""
    if config.objective == "cispo":
        return ratio > config.clip_high
    if config.objective != "clipped":
        return torch.zeros_like(ratio, dtype=torch.bool)
    above = (ratio > 1 + config.clip_high) & (advantages > 0)
    below = (ratio < 1 - config.clip_low) & (advantages < 0)
    return above | below


def _aggregated(config: Config, losses: Tensor, batch: Scored, whole: Whole) -> Tensor:
    mask = batch.mask
    match config.aggregation:
        case "sequence_mean":
            return loss.sequence_mean(losses, mask, whole.episodes)
        case "sequence_sum":
            return loss.sequence_sum(losses, mask, whole.episodes)
        case "constant_length":
            return loss.constant_length(losses, mask, config.max_tokens, whole.episodes)
        case "balanced" if batch.weights is not None:
            return loss.sequence_sum(losses * batch.weights[:, None], mask, 1.0)
        case _:
            return loss.token_mean(losses, mask, whole.tokens)
