"""OpenRLHF 0.11: a reward function, and an agent that plays episodes of several turns.

OpenRLHF takes a Python file for each. One file with this line serves as both::

    from rlvr_envs.integrations.openrlhf import AgentExecutor, reward_func

Rows come as ``rlvr export --to openrlhf`` stores them: the label is the row. OpenRLHF cannot leave
an answer out of its group. So what could not be scored counts as 0 there; the agent marks none of
its tokens as the model's, so that it is not trained on.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.core.errors import UsageError
from rlvr_envs.integrations.episodes import RowEpisodes
from rlvr_envs.integrations.judging import judge_texts

_log = logging.getLogger(__name__)

# OpenRLHF decodes with special tokens, of which one ends the answer: <|im_end|>, </s>, <eos>.
_ENDS = re.compile(r"(?:<\|[^<>|\s]{1,40}\|>|</s>|<eos>|<end_of_turn>)\Z")

# What is left of a prompt is at least that long, so that it is not found by chance.
_LEAST_PROMPT = 16


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str]
) -> dict[str, Any]:
    """Return the scores of answers to rows; OpenRLHF's ``--reward.remote_url FILE.py``.

    Args:
        queries: each prompt with the answer behind it.
        prompts: the prompts.
        labels: the rows.

    Raises:
        RowError: a row was altered.
        UsageError: a row is of a task of several turns, or a query does not begin with its prompt.
    """
    texts = [_answer(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    verdicts = judge_texts(labels, texts)
    for verdict in verdicts:
        if not verdict.scored:
            _log.warning("an answer was not scored: %s", verdict.detail)
    scores = torch.tensor([float(verdict.score) for verdict in verdicts])
    scored = torch.tensor([float(verdict.scored) for verdict in verdicts])
    return {"rewards": scores, "scores": scores.clone(), "extra_logs": {"scored": scored}}


def _answer(query: str, prompt: str) -> str:
    """Return what stands behind the prompt, of which a long one has lost its beginning."""
    for start in range(max(1, len(prompt) - _LEAST_PROMPT)):
        if query.startswith(prompt[start:]):
            return _without_end(query[len(prompt) - start :])
    raise UsageError(f"a query begins with its prompt {prompt!r:.60}, got {query!r:.60}")


def _without_end(text: str) -> str:
    """Return a text without the special tokens that end it."""
    while found := _ENDS.search(text):
        text = text[: found.start()]
    return text


class EpisodeAgent(AgentInstanceBase):
    """Plays one episode of a row: each message of the model is an action."""

    def __init__(self, chat: Chat, decode: Any) -> None:
        self._chat, self._decode = chat, decode
        self._player = RowEpisodes()

    async def reset(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Pose the problem of the row; the prompt has its template already."""
        await asyncio.to_thread(self._player.begin, states["label"])
        return {"observation": states["observation"]}

    async def step(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Take a message of the model, and return what the environment says and pays."""
        before = self._player.reward or 0.0
        text = _without_end(states["action_text"])
        reply = await asyncio.to_thread(self._player.act, text)
        reward, over = self._player.reward, self._player.over
        if over:
            await asyncio.to_thread(self._player.close)
        return {
            "rewards": torch.tensor((reward or 0.0) - before),
            "scores": torch.tensor(reward or 0.0),
            "environment_feedback": "" if over else self._framed(reply),
            "done": over,
            "sampling_params": states.get("sampling_params"),
            "extra_logs": {"scored": torch.tensor(float(reward is not None))},
        }

    def _framed(self, reply: str) -> str:
        """Return a reply in the model's chat template; OpenRLHF takes it as text."""
        return str(self._decode(list(self._chat.observation(reply, finished=True))))


class AgentExecutor(MultiTurnAgentExecutor):
    """What ``--train.agent_func_path FILE.py`` looks for."""

    def __init__(self) -> None:
        super().__init__(EpisodeAgent)
        self._tokenizer: Any = None

    async def execute(
        self,
        prompt: str,
        label: str,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        *positional: Any,
        **named: Any,
    ) -> dict[str, Any]:
        """Play one episode, and return its tokens with the ranges that the model wrote."""
        if self._tokenizer is not hf_tokenizer:
            decode = partial(hf_tokenizer.decode, clean_up_tokenization_spaces=False)
            self.agent_instance_cls = partial(EpisodeAgent, Chat(hf_tokenizer), decode)
            self._tokenizer = hf_tokenizer
        told: dict[str, Any] = await super().execute(
            prompt, label, sampling_params, max_length, hf_tokenizer, *positional, **named
        )
        if not told["extra_logs"].get("scored", torch.tensor(1.0)).item():
            told["action_ranges"] = []
        return told
