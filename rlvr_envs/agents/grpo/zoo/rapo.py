"""RAPO (arXiv 2510.03865): a forward KL penalty to a reference that is flatter for bad answers."""

from torch import Tensor

from rlvr_envs.agents.grpo.losses import LOG_RATIO_LIMIT, clipped, difference
from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.core.errors import ConfigError


@loss(always=True)
def rapo(  # noqa: PLR0913 - six inputs, four settings
    ratio: Tensor,
    logp: Tensor,
    reference: Tensor,
    advantages: Tensor,
    mask: Tensor,
    scores: Tensor,
    *,
    coef: float = 0.01,
    least: float = 0.5,
    low: float = 0.2,
    high: float = 0.28,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return `clipped` + coef r (u log u - u + 1), u = reference^phi / policy (RAPO, 2510.03865).

    phi = least + (1 - least) * score: an answer with a low score has a flatter reference, which
    leaves room to explore. In expectation the penalty's gradient is that of KL(reference^phi / Z,
    policy) times Z, the sum of reference^phi over the vocabulary; computing Z, to divide by it,
    would take the whole distribution at every token.
    """
    if coef < 0 or not 0 <= least <= 1:
        raise ConfigError(f"coef is from 0 and least from 0 to 1, got {coef!r} and {least!r}")
    phi = (least + (1 - least) * scores.nan_to_num().clamp(0, 1))[:, None]
    log_u = difference(phi * reference, logp, mask).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    penalty = log_u.exp() * (log_u - 1) + 1
    return clipped(ratio, advantages, low=low, high=high) + coef * ratio * penalty, {
        "forward_kl": penalty
    }


recipe(
    "rapo",
    "arXiv 2510.03865",
    differs="from reports, in a reduced form: the penalty is estimated from the sampled tokens and "
    "weighs Z times as much, phi is linear in the score, and the weights are not known",
    estimator="grpo",
    loss="rapo",
    entropy_coef=0.001,
    minibatches=4,
)
