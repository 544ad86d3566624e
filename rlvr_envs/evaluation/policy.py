"""The policy protocol: what answers the problems of an evaluation, and how it is asked.

A policy is asked one turn at a time, through one method, `Policy.act`. A policy that has no
response to give raises `PolicyError`: that episode is not scored, and is asked again when the run
is resumed. It is never a score of 0, which would blame the model for the network.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance

Message = dict[str, str]


class PolicyError(Exception):
    """The policy gave no response, for a reason that says nothing about its abilities."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a policy is asked: the conversation so far, and which episode it belongs to.

    Attributes:
        instance: the problem. Only the oracle may look at more than its prompt.
        messages: the chat so far: solved examples if the run has any, then the prompt, then
            actions and what the task said to them.
        sample: the number of the response to this problem, from 0.
        seed: the seed of the evaluation.
        turn: the number of actions before this one.
        index: the number of the problem, where problems are numbered.
    """

    instance: Instance
    messages: tuple[Message, ...]
    sample: int
    seed: int
    turn: int = 0
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A policy's text; ``finish`` is "length" where a token limit cut it short."""

    text: str
    finish: str | None = None
    tokens: int | None = None


class Policy(ABC):
    """Answers problems; made from a text such as ``random`` by `make_policy`.

    Attributes:
        name: what the records of a run call it.
        concurrency: how many episodes may be under way at once; 0 for as many as the run wants.
    """

    concurrency: int = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def settings(self) -> dict[str, Any]:
        """Return what the responses depend on, beside the name; never a secret."""
        return {}

    def check_portable(self) -> None:  # noqa: B027 - most policies may answer anywhere
        """Check that processes of an executor may each have this policy.

        Raises:
            ConfigError: they may not.
        """

    async def open(self) -> None:  # noqa: B027 - most policies need not get ready
        """Get ready: connect, load."""

    async def close(self) -> None:  # noqa: B027 - as above
        """Let go of what `open` took."""

    @abstractmethod
    async def act(self, request: Request) -> Response:
        """Return the response to a request.

        Raises:
            PolicyError: there is none.
        """


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions:
    """Options of the policies that run a model; each policy reads those that concern it."""

    base_url: str = _option("https://api.openai.com/v1", "endpoint: address up to /v1")
    api_key_env: str = _option("OPENAI_API_KEY", "endpoint: environment variable with the key")
    concurrency: int = _option(8, "endpoint: requests under way at once")
    requests_per_minute: float = _option(0.0, "endpoint: rate limit; 0 for none")
    timeout_s: float = _option(120.0, "endpoint: seconds until a request is given up")
    retries: int = _option(6, "endpoint: attempts after the first one")
    temperature: float = _option(1.0, "model: sampling temperature; 0 is greedy")
    max_new_tokens: int = _option(1024, "model: token limit of a response")
    system_prompt: str = _option("", "model: system message before the prompt")
    batch_size: int = _option(16, "local model: prompts generated together")
    threads: int = _option(0, "local model: CPU threads; 0: one for a small model, else all cores")
    device: str = _option("auto", "local model: cpu, cuda, or auto")
    dtype: str = _option("auto", "local model: float32, bfloat16 or auto")

    def __post_init__(self) -> None:
        lowest = {"concurrency": 1, "max_new_tokens": 1, "batch_size": 1}
        for option in fields(self):
            value = getattr(self, option.name)
            if isinstance(value, (int, float)) and not (
                lowest.get(option.name, 0) <= value < float("inf")
            ):
                raise ConfigError(
                    f"{option.name} is a number from {lowest.get(option.name, 0)}, got {value!r}"
                )
        if self.timeout_s == 0:
            raise ConfigError("timeout_s must be above 0")


def nth_action(actions: str | list[str], turn: int, whose: str) -> str:
    """Return the action of a turn, from a list that was made beforehand.

    Raises:
        PolicyError: the list is too short.
    """
    if isinstance(actions, str):
        actions = [actions]
    if turn >= len(actions):
        raise PolicyError(f"the {whose} ends after {len(actions)} actions, the episode does not")
    return actions[turn]
