"""Dr. MAS: advantages within a prompt and an agent, for several agents in one episode."""

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.advantages import deviation, mean
from rlvr_envs.agents.grpo.plugins import estimator
from rlvr_envs.agents.grpo.presets import recipe


@estimator(compares=True, level="turn")
def dr_mas(
    rewards: Tensor,
    turn_rewards: Tensor,
    agents: Tensor,
    *,
    own: bool = False,
    eps: float = 1e-4,
) -> Tensor:
    """Return A = (r - m) / (s + eps) of turns, m and s over a prompt's turns by the same agent.

    So agents whose rewards differ in scale, or that come in at different times, do not disturb each
    other (Dr. MAS). With one agent that acts once it is GRPO.

    Args:
        rewards: (N, G), of whole episodes.
        turn_rewards: (N, G, K).
        agents: (N, G, K), who wrote a turn; -1 where there is none.
        own: whether r is what the agent's own turns were paid in all, and not the whole episode's.
        eps: as in `grpo`.

    Returns:
        (N, G, K), 0 where there was no turn.
    """
    advantages = torch.zeros(agents.shape)
    for agent in agents[agents >= 0].unique():
        mine = agents == agent
        paid = rewards
        if own:
            extra = (0, agents.shape[2] - turn_rewards.shape[2])
            turns = torch.nn.functional.pad(turn_rewards, extra).masked_fill(~mine, 0.0)
            paid = torch.where(rewards.isnan(), torch.nan, turns.nan_to_num(nan=0.0).sum(2))
        rows = paid[..., None].expand(mine.shape).masked_fill(~mine, torch.nan).flatten(1)
        normal = (rows - mean(rows)) / (deviation(rows) + eps)
        advantages += normal.nan_to_num(nan=0.0).reshape(mine.shape)
    return advantages


recipe(
    "dr_mas",
    "Dr. MAS: Stable Reinforcement Learning for Multi-Agent LLM Systems",
    differs="by its abstract; one model plays all agents; clipping and minibatches are not known",
    estimator="dr_mas",
    loss="clipped(high=0.2)",
    minibatches=4,
)
