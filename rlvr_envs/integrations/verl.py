"""verl 0.9: a reward function, and an agent loop that plays episodes of several turns.

Both read the row as ``rlvr export --to verl`` stores it, in ``reward_model.ground_truth``. verl
imports this module with itself (entry point ``verl.plugins``), which registers the agent loop.

verl cannot leave an answer out of its group. So what could not be scored counts as 0 there; the
agent loop masks it, so that it is not trained on.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register
from verl.utils.profiler import simple_timer

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import canonical
from rlvr_envs.core.verdict import Status
from rlvr_envs.datasets.export import VERL_PLAYER
from rlvr_envs.integrations.episodes import RowEpisodes
from rlvr_envs.integrations.judging import judge_texts
from rlvr_envs.integrations.tokens import TokenEpisode

_log = logging.getLogger(__name__)


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, float]:
    """Return the score of an answer to a row; verl's ``reward.custom_reward_function``.

    Returns:
        ``score`` and ``acc``, the score; ``correct`` and ``scored``, 1 or 0. What was not scored
        has a score of 0, since verl knows no answer without one.

    Raises:
        RowError: the row was altered.
        UsageError: the row is of a task of several turns.
    """
    (verdict,) = await asyncio.to_thread(judge_texts, [ground_truth], [solution_str])
    if not verdict.scored:
        _log.warning("an answer to %s was not scored: %s", data_source, verdict.detail)
    score = float(verdict.score)
    correct = float(verdict.status is Status.CORRECT)
    return {"score": score, "acc": score, "correct": correct, "scored": float(verdict.scored)}


@register(VERL_PLAYER)
class EpisodeLoop(AgentLoopBase):
    """Plays the environment of a row: each message of the model is an action.

    Args:
        positional: what verl gives.
        env: the id of an environment; None for that of each row's own id.
        arguments: what `gymnasium.make` gets beside the id, such as the ``url`` of a server.
        named: what verl gives.
    """

    def __init__(
        self,
        *positional: Any,
        env: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> None:
        super().__init__(*positional, **named)
        self._env, self._arguments = env, dict(arguments or {})

    async def run(self, sampling_params: dict[str, Any], **fields: Any) -> AgentLoopOutput:
        """Play one episode, and return its tokens with the mask of those that the model wrote."""
        player = RowEpisodes(self._env, **self._arguments)
        metrics: dict[str, Any] = {}
        try:
            episode = await asyncio.to_thread(self._begin, player, fields["reward_model"])
            request = uuid4().hex  # the same for all turns, so that a server has them cached
            while not episode.over:
                with simple_timer("generate_sequences", metrics):
                    said = await self.server_manager.generate(
                        request_id=request,
                        prompt_ids=episode.tokens,
                        sampling_params={**sampling_params, "max_tokens": episode.room},
                    )
                with simple_timer("tool_calls", metrics):
                    await asyncio.to_thread(episode.take, said.token_ids, said.log_probs)
        finally:
            await asyncio.to_thread(player.close)
        return _output(episode, metrics, logps=bool(sampling_params.get("logprobs")))

    def _begin(self, player: RowEpisodes, reward_model: Mapping[str, Any]) -> TokenEpisode:
        limit, response = self.rollout_config.prompt_length, self.rollout_config.response_length
        chat = _chat(self.tokenizer, canonical(dict(self.apply_chat_template_kwargs)))
        episode = TokenEpisode(
            player,
            chat,
            reward_model["ground_truth"],
            context=limit + response,
            response=response,
        )
        if len(episode.prompt_ids) > limit:
            raise ConfigError(
                f"a prompt has {len(episode.prompt_ids)} tokens, more than "
                f"data.max_prompt_length={limit}: raise that or lower the difficulty"
            )
        return episode


def _output(episode: TokenEpisode, metrics: dict[str, Any], *, logps: bool) -> AgentLoopOutput:
    scored = episode.reward is not None
    return AgentLoopOutput(
        prompt_ids=episode.prompt_ids,
        response_ids=episode.ids,
        response_mask=episode.mask if scored else [0] * len(episode.mask),
        response_logprobs=episode.logps if logps else None,
        reward_score=episode.reward or 0.0,
        num_turns=2 * episode.turns,
        metrics=metrics,
        extra_fields={
            "turn_scores": [],
            "tool_rewards": [],
            "reward_extra_info": {"scored": float(scored)},
        },
    )


@lru_cache(maxsize=4)
def _chat(tokenizer: Any, template_args: str) -> Chat:
    return Chat(tokenizer, template_args=json.loads(template_args))
