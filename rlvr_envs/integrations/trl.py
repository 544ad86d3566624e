"""TRL 1.16: datasets, a reward function, environments and rollouts for its `GRPOTrainer`.

One turn: `dataset` and `reward`. Several turns: `episodes`, and either `environments`, where the
model calls a tool named ``act``, or `rollout` with `episode_reward`, where its messages are the
actions as they are, so that neither tools nor a chat template are needed.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from datasets import Dataset

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError, UsageError
from rlvr_envs.core.extras import pip_install
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.problem import canonical
from rlvr_envs.datasets.export import to_trl
from rlvr_envs.integrations.episodes import OVER, MakeEnv, RowEpisodes
from rlvr_envs.integrations.judging import judge_texts, score_of
from rlvr_envs.integrations.rows import open_rows
from rlvr_envs.integrations.tokens import TokenEpisode

_THREADS = 16  # environments that answer at the same time


def dataset(source: str | Path | Sequence[str], *, text: bool = False, **selection: Any) -> Dataset:
    """Return problems of one turn, with a prompt and the row that `reward` judges by.

    Args:
        source: an id or several, or the path of a dataset folder or file.
        text: whether prompts are plain text, as for models without a chat template, rather than
            messages.
        selection: ``count``, ``difficulty``, ``seed`` and the like: see
            `rlvr_envs.integrations.rows.open_rows`.

    Raises:
        ConfigError: an argument is wrong, or a task is played in several turns.
        RegistrationError: there is no such id.
        RowError: a row of the dataset cannot be read.
    """
    records = []
    for index, row in enumerate(open_rows(source, **selection)):
        if Instance.from_row(row).interactive:
            raise ConfigError(
                f"{row['id']} is played in several turns: use trl.episodes with trl.environments "
                "or trl.rollout"
            )
        record = to_trl(row, "train", index)
        records.append(record | {"prompt": f"{row['prompt']}\n"} if text else record)
    return Dataset.from_list(records)


def episodes(source: str | Path | Sequence[str], **selection: Any) -> Dataset:
    """Return problems to be played in turns, by `environments` or `rollout`.

    The prompt is empty, since the environment says it. The row stands beside it in the message:
    that is how both find it, and why the members of a group get the same problem.

    Args:
        source: an id or several, or the path of a dataset folder or file.
        selection: ``count``, ``difficulty``, ``seed`` and the like: see
            `rlvr_envs.integrations.rows.open_rows`.

    Raises:
        ConfigError: an argument is wrong.
        RegistrationError: there is no such id.
        RowError: a row of the dataset cannot be read.
    """
    return Dataset.from_list([_episode(row) for row in open_rows(source, **selection)])


def _episode(row: Row) -> dict[str, Any]:
    message = {"role": "user", "content": "", "row": canonical(row)}
    names = ("id", "difficulty", "fingerprint")
    return {"prompt": [message], **{name: row.get(name) for name in names}}


def reward(completions: Sequence[Any], row: Sequence[str], **_: Any) -> list[float | None]:
    """Return the scores of completions by the rows of `dataset`; for ``reward_funcs``.

    None is for answers that could not be scored, which TRL leaves out of the group. Worker
    processes judge, so a hostile answer cannot hold up the trainer.

    Raises:
        RowError: a row was altered.
        UsageError: a row is of a task of several turns.
    """
    texts = [_said(completion) for completion in completions]
    return [score_of(verdict) for verdict in judge_texts(row, texts)]


def _said(completion: Any) -> str:
    """Return the text of the last answer of a completion, which is a text or messages."""
    if isinstance(completion, str):
        return completion
    answers = [message for message in completion if message.get("role") == "assistant"]
    content = (answers[-1].get("content") if answers else "") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


class TextEpisode:
    """An environment as TRL wants it: its one tool is `act`; made by `environments`."""

    def __init__(self, player: RowEpisodes) -> None:
        self._player = player
        self._error: RlvrEnvsError | None = None

    def reset(self, prompt: Any = None, **_: Any) -> str:
        """Pose the problem of a row of `episodes` and return its prompt."""
        self._error = None
        return self._player.begin(_row_of(prompt))

    def act(self, text: str) -> str:
        """Send your next message to the task, written exactly as the task asks for it.

        Args:
            text: The message: a move, a guess or an answer.

        Returns:
            What the task replies.
        """
        try:
            reply = self._player.act(str(text))
        except RlvrEnvsError as error:  # TRL would show it to the model and train on
            self._error = error
            return OVER
        return f"{reply}\n{OVER}".strip() if self._player.over and reply != OVER else reply

    def get_reward(self) -> float | None:
        """Return what the episode has earned, None where it could not be scored.

        Raises:
            RlvrEnvsError: something that the user has to mend, such as a missing program.
        """
        if self._error is not None:
            raise self._error
        return self._player.reward


def environments(
    env: str | MakeEnv | None = None, /, **arguments: Any
) -> Callable[[], TextEpisode]:
    """Return what ``environment_factory`` takes, for a dataset of `episodes`.

    The model needs a chat template with tools that TRL knows, such as Qwen3's.

    Args:
        env: the id of an environment, or a function that makes one; None for the environment of
            each row's own id.
        arguments: what `gymnasium.make` gets beside the id, such as the ``url`` of a server.
    """
    return lambda: TextEpisode(RowEpisodes(env, **arguments))


def episode_reward(
    completions: Sequence[Any], episode_score: Sequence[float | None], **_: Any
) -> list[float | None]:
    """Return what the episodes of `rollout` have earned; for ``reward_funcs``."""
    return list(episode_score)


def rollout(
    env: str | MakeEnv | None = None, /, *, context: int = 4096, **arguments: Any
) -> Callable[[Sequence[Any], Any], dict[str, Any]]:
    """Return what ``rollout_func`` takes, for a dataset of `episodes`; with `episode_reward`.

    The trainer's own engine samples: plain transformers or vLLM. ``max_completion_length`` limits a
    message. Tokens of the environment are masked out of the loss.

    Args:
        env: as for `environments`.
        context: the most tokens of an episode; one that grows longer ends without credit.
        arguments: what `gymnasium.make` gets beside the id.

    Raises:
        ConfigError: ``context`` is below 2.
    """
    if context < 2:
        raise ConfigError(f"context is an integer from 2, got {context!r}")
    players: list[RowEpisodes] = []

    def play(prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        players.extend(RowEpisodes(env, **arguments) for _ in range(len(prompts) - len(players)))
        words = trainer.processing_class
        template_args = trainer.chat_template_kwargs if words.chat_template else None
        chat = Chat(words, template_args=template_args, end_tokens=trainer.eos_token_ids)

        def begin(player: RowEpisodes, prompt: Any) -> TokenEpisode:
            return TokenEpisode(player, chat, _row_of(prompt), context=context)

        with ThreadPoolExecutor(_THREADS, "rlvr-rollout") as threads:
            begun = list(threads.map(begin, players, prompts))
            told = True
            while running := [episode for episode in begun if not episode.over]:
                written, logps = _sample(trainer, [episode.tokens for episode in running])
                told = told and logps is not None
                given: Sequence[list[float] | None] = logps or [None] * len(running)
                list(threads.map(TokenEpisode.take, running, written, given))
        return {
            "prompt_ids": [episode.prompt_ids for episode in begun],
            "completion_ids": [episode.ids for episode in begun],
            "logprobs": [episode.logps for episode in begun] if told else None,
            "env_mask": [episode.mask for episode in begun],
            "episode_score": [episode.reward for episode in begun],
            "episode_turns": [episode.turns for episode in begun],
        }

    return play


def _sample(
    trainer: Any, prompts: list[list[int]]
) -> tuple[list[list[int]], list[list[float]] | None]:
    """Continue token sequences by the engine that the trainer itself samples with."""
    try:
        sample = trainer._generate_single_turn
    except AttributeError as error:
        raise DependencyError(
            "this version of TRL has no GRPOTrainer._generate_single_turn: "
            f"{pip_install('trl==1.16.0')}"
        ) from error
    # One completion of each: the members of a group have histories of their own.
    found: tuple[list[list[int]], list[list[float]] | None] = sample(prompts, None, {}, 1)
    return found


def _row_of(prompt: Any) -> str:
    message = prompt[-1] if isinstance(prompt, list) and prompt else None
    if not isinstance(message, Mapping) or not message.get("row"):
        raise UsageError(
            f"a prompt of trl.episodes holds its row, got {prompt!r:.80}: without it, the members "
            "of a group would get different problems"
        )
    return str(message["row"])
