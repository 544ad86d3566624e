"""Episodes as tokens: what a trainer's sampler continues, and which of it the model wrote.

Tokens are only ever added, so that what is trained on is exactly what was sampled. Text of the
environment is framed by the model's own chat template, or stands on lines of its own where the
tokenizer has none (see `rlvr_envs.agents.grpo.chat`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.integrations.episodes import RowEpisodes


class TokenEpisode:
    """One episode, from the prompt on.

    Args:
        player: plays the row; it serves one episode at a time.
        chat: frames texts as tokens.
        row: the problem.
        context: the most tokens of the episode, prompt included.
        response: the most tokens after the prompt; None for as many as the context holds.

    Attributes:
        prompt_ids: the tokens before the model's first.
        ids: all later tokens.
        mask: for each of these, 1 where the model wrote it and 0 where the environment did.
        logps: for each of these, the log-probability that the sampler told, 0 where it told none.
        turns: how many messages the model has written.
        over: whether nothing more is to be sampled.

    Raises:
        ConfigError: the prompt leaves no room in the context.
    """

    def __init__(
        self,
        player: RowEpisodes,
        chat: Chat,
        row: str | Mapping[str, Any],
        *,
        context: int,
        response: int | None = None,
    ) -> None:
        self._player, self._chat, self._context = player, chat, context
        self._response = context if response is None else response
        prompt = player.begin(row)
        self.prompt_ids = list(chat.opening(prompt))
        self.ids: list[int] = []
        self.mask: list[int] = []
        self.logps: list[float] = []
        self.turns = 0
        self.over = player.over
        if self.over:  # the environment is broken, and trainers want a token of every episode
            self._add([chat.pad_token], 0)
        elif self.room < 1:
            raise ConfigError(
                f"a prompt has {len(self.prompt_ids)} tokens, which leaves no room in a context of "
                f"{context}: raise that limit or lower the difficulty"
            )

    @property
    def tokens(self) -> list[int]:
        """The prompt and all that came after it."""
        return self.prompt_ids + self.ids

    @property
    def room(self) -> int:
        """How many tokens there may still be."""
        return min(self._context - len(self.prompt_ids), self._response) - len(self.ids)

    @property
    def reward(self) -> float | None:
        """As of `RowEpisodes`: None where there is no score."""
        return self._player.reward

    def take(self, ids: Sequence[int], logps: Sequence[float] | None = None) -> None:
        """Add what the model wrote, and what the environment answers to it."""
        written = list(ids)[: self.room]
        self._add(written, 1, None if logps is None else list(logps)[: self.room])
        self.turns += 1
        reply = self._player.act(self._chat.text(written))
        if self._player.over:
            self.over = True
            return
        has_end = bool(written) and written[-1] in self._chat.end_tokens
        heard = self._chat.observation(reply, finished=has_end)
        if len(heard) < self.room:
            self._add(list(heard), 0)
        else:
            self.over = True

    def _add(self, ids: list[int], written: int, logps: list[float] | None = None) -> None:
        self.ids += ids
        self.mask += [written] * len(ids)
        self.logps += [0.0] * len(ids) if logps is None else logps
