"""Further objectives per token, and penalties that need more than the sampled tokens.

Conventions are those of `loss`: (B, T), to be minimised, with gradient exactly 0 outside the mask.
"""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.formulas import loss
from rlvr_envs.core.errors import ConfigError

EXPERIMENTAL = (
    "dispo",
    "dhpo",
    "replayed_forward_kl",
    "replayed_jensen_shannon",
    "reweighted_reference",
    "full_forward_kl",
)

Range = tuple[float, float]


def one_side(
    ratio: Tensor, logp: Tensor, advantages: Tensor, mask: Tensor, *, clip: Range = (0.2, 0.2)
) -> Tensor:
    """Return -A logp, and 0 where clipping cuts the gradient off (REC-OneSide-NoIS, 2509.24203).

    A token counts where A > 0 and r <= 1 + clip[1], or A < 0 and r >= 1 - clip[0]; there it has no
    importance weight; with one it is the paper's REC-OneSide-IS, with the gradient of clipping.
    Reports have (0.6, 2.0) as faster.
    """
    low, high = clip
    if not (0 <= low <= 1 and high >= 0):
        raise ConfigError(f"need clip[0] from 0 to 1 and clip[1] from 0, got {clip!r}")
    near = torch.where(advantages > 0, ratio.detach() <= 1 + high, ratio.detach() >= 1 - low)
    return loss.reinforce(logp, advantages, mask).masked_fill(~near, 0.0)


def dispo(
    ratio: Tensor,
    logp: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    positive: Range = (0.8, 11.0),
    negative: Range = (0.0, 101.0),
) -> Tensor:
    """Return -sg(clip(r, low, high)) A logp, with a range for each sign of A (DISPO, 2602.00983).

    Experimental: the objective and the ranges are from others' reports of the paper. Belongs with
    `token_mean`. No token loses its gradient, as in `cispo`.

    Args:
        ratio: (B, T), of `token_ratio`.
        logp: (B, T).
        advantages: (B, 1) or (B, T).
        mask: (B, T).
        positive: the least and the greatest weight where A > 0.
        negative: the same elsewhere.
    """
    for low, high in (positive, negative):
        if not 0 <= low <= high:
            raise ConfigError(f"a range goes from 0 upwards, got {(low, high)!r}")
    fixed = ratio.detach()
    weight = torch.where(advantages > 0, fixed.clamp(*positive), fixed.clamp(*negative))
    return weight * loss.reinforce(logp, advantages, mask)


def dhpo(
    ratio: Tensor,
    whole: Tensor,
    advantages: Tensor,
    *,
    token_clip: Range = (0.2, 0.28),
    sequence_clip: Range = (3e-4, 4e-4),
    weight: float | Tensor = 0.5,
) -> Tensor:
    """Return w PPO(r) + (1 - w) PPO(s), token and sequence ratio, each clipped in its own range.

    Experimental (DHPO, arXiv 2601.05607): the form is from reports, the ranges are DAPO's and
    GSPO's. The paper's other mixture has a w that depends on the token's entropy; how is not known,
    so it may be given, and is taken without gradient.

    Args:
        ratio: (B, T), of `token_ratio`.
        whole: (B, T), of `sequence_ratio`.
        advantages: (B, 1) or (B, T).
        token_clip: how far below and above 1 the token's ratio counts.
        sequence_clip: the same for the sequence's.
        weight: w, from 0 to 1; or (B, T).
    """
    share = torch.as_tensor(weight).detach()
    if ((share < 0) | (share > 1)).any():
        raise ConfigError(f"weight is from 0 to 1, got {weight!r}")
    by_token = loss.clipped(ratio, advantages, low=token_clip[0], high=token_clip[1])
    by_sequence = loss.clipped(whole, advantages, low=sequence_clip[0], high=sequence_clip[1])
    return share * by_token + (1 - share) * by_sequence


def replayed_forward_kl(logp: Tensor, stored: Tensor, mask: Tensor) -> Tensor:
    """Return stored - logp on answers of the initial policy: mean KL(initial, policy).

    Experimental (DPH-RL, arXiv 2509.07430): it is supervised learning of what the initial policy
    answered, and needs no reference model while training. By reports only problems that it solved
    in 8 of 8 attempts are replayed, beside the others' objective without penalty.

    Args:
        logp: (B, T), of the stored answers, under the policy that is trained.
        stored: (B, T), the same under the initial policy, kept from when it sampled them.
        mask: (B, T).
    """
    return loss.k1(stored, logp, mask)


def replayed_jensen_shannon(logp: Tensor, stored: Tensor, mask: Tensor) -> Tensor:
    """Return (u log u - (u + 1) log((u + 1) / 2)) / 2, u = exp(logp - stored): mean JS.

    Experimental (DPH-RL), as `replayed_forward_kl` is; the generator function is the divergence's
    own. Unlike there, the pull ends where the policy has lost an answer: at u = 0 the slope in logp
    is 0.
    """
    log_u = loss.k1(logp, stored, mask).clamp(-loss.LOG_RATIO_LIMIT, loss.LOG_RATIO_LIMIT)
    u = log_u.exp()
    return (u * log_u - (u + 1) * torch.log1p((u - 1) / 2)) / 2


def reweighted_reference(reference: Tensor, exponents: Tensor) -> Tensor:
    """Return log(ref^phi / Z) over the vocabulary, (B, T, V) (RAPO, arXiv 2510.03865).

    Experimental: the reference gives ref^phi(r) / Z for an increasing phi; that it is meant for
    each token's distribution is an inference. An answer with a low reward has a phi under 1, so its
    reference is flatter and leaves room to explore.

    Args:
        reference: (B, T, V), the reference model's log-probabilities.
        exponents: (B,), phi of each answer's reward, from 0.
    """
    if (exponents < 0).any():
        raise ConfigError("exponents are from 0")
    return (exponents[:, None, None] * reference).log_softmax(-1)


def full_forward_kl(logps: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return KL(reference, policy) of each token's whole distribution, (B, T).

    Experimental, as RAPO's penalty with `reweighted_reference`; the divergence itself is exact.

    Args:
        logps: (B, T, V), of the policy.
        reference: (B, T, V).
        mask: (B, T).
    """
    outside = ~mask.bool()[..., None]
    own, wanted = logps.masked_fill(outside, 0.0), reference.masked_fill(outside, 0.0)
    return torch.nn.functional.kl_div(own, wanted, reduction="none", log_target=True).sum(-1)
