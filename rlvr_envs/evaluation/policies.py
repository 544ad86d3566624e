"""Policies: what answers the problems of an evaluation.

A policy is asked one turn at a time, through one method, `Policy.act`. A policy that has no
response to give raises `PolicyError`: that episode is not scored, and is asked again when the run
is resumed. It is never a score of 0, which would blame the model for the network.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.seeding import Rng, integer, integers, pick, stream

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
    threads: int = _option(0, "local model: CPU threads; 0 for torch's own choice")
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


class OraclePolicy(Policy):
    """The task's own solver: the ceiling, and a check that the verifier agrees with it."""

    async def act(self, request: Request) -> Response:
        try:
            solution = await asyncio.to_thread(request.instance.solution)
        except Exception as error:  # the solver is the task's; its failure is no score
            raise PolicyError(f"the oracle failed: {type(error).__name__}: {error}") from error
        return Response(nth_action(solution, request.turn, "oracle"))


class RandomPolicy(Policy):
    """A random reply in the right format: the floor that guessing reaches.

    Draws a number, a list of numbers, or a word or number of the prompt.
    """

    async def act(self, request: Request) -> Response:
        instance = request.instance
        rng = stream(
            "random policy",
            instance.spec.id,
            instance.fingerprint(),
            request.seed,
            request.sample,
            request.turn,
        )
        label = instance.format_label
        guess = _guess(rng, request.messages[-1]["content"], as_json=label == "json")
        return Response(guess if instance.interactive else answer_format(label).wrap(guess))


def _guess(rng: Rng, prompt: str, *, as_json: bool) -> str:
    kind = int(rng.integers(4))
    if kind == 0:
        return str(integer(rng, 0, 20))
    if kind == 1:
        values = [str(v) for v in integers(rng, 0, 9, integer(rng, 2, 6))]
        return f"[{', '.join(values)}]" if as_json else ", ".join(values)
    words = [word.strip(".,:;?!()[]") for word in prompt.split()[:400]]
    if kind == 2:
        words = [word for word in words if word.isdecimal()]
    words = [word for word in words if word]
    word = pick(rng, words) if words else str(integer(rng, 0, 20))
    return json.dumps(word) if as_json and not word.isdecimal() else word


class ConstantPolicy(Policy):
    """The same answer to everything: shows what an answer that ignores the problem earns."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name)
        self.text = text

    async def act(self, request: Request) -> Response:
        instance = request.instance
        if instance.interactive:
            return Response(self.text)
        return Response(answer_format(instance.format_label).wrap(self.text))


class FunctionPolicy(Policy):
    """Your own function from the chat messages to the next response, run in the event loop."""

    def __init__(self, name: str, function: Callable[[list[Message]], str]) -> None:
        super().__init__(name)
        self._function = function

    async def act(self, request: Request) -> Response:
        return Response(self._function([dict(message) for message in request.messages]))


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


class PolicyKinds:
    """The words that begin a policy's text."""

    plain: ClassVar[dict[str, type[Policy]]] = {"oracle": OraclePolicy, "random": RandomPolicy}
    valued: ClassVar[dict[str, str]] = {
        "constant": "constant:<text>",
        "recorded": "recorded:<file.jsonl>",
        "openai": "openai:<model>",
        "local": "local:<folder, file.gguf, hub name or smollm2>",
    }


def make_policy(spec: str, options: PolicyOptions | None = None) -> Policy:
    """Return the policy of a text such as ``oracle``, ``constant:7`` or ``openai:gpt-4o``.

    Raises:
        ConfigError: the text names no policy, or an option does not fit it.
        DependencyError: the policy needs a package that is missing.
    """
    options = options or PolicyOptions()
    kind, colon, value = spec.partition(":")
    if spec in PolicyKinds.plain:
        return PolicyKinds.plain[spec](spec)
    if kind in PolicyKinds.valued and not value and not (colon and kind == "constant"):
        raise ConfigError(f"the policy {spec!r} lacks its value: {PolicyKinds.valued[kind]}")
    if kind not in PolicyKinds.valued:
        known = [*PolicyKinds.plain, *PolicyKinds.valued.values()]
        hint = did_you_mean(kind, [*PolicyKinds.plain, *PolicyKinds.valued])
        raise ConfigError(f"no policy {spec!r}{hint} (known: {', '.join(known)})")
    if kind == "constant":
        return ConstantPolicy(spec, value)
    if kind == "recorded":
        from rlvr_envs.evaluation.recorded import RecordedPolicy

        return RecordedPolicy(spec, Path(value))
    if kind == "openai":
        from rlvr_envs.evaluation.endpoint import EndpointPolicy

        return EndpointPolicy(spec, value, options)
    from rlvr_envs.evaluation.local_model import LocalPolicy

    return LocalPolicy(spec, value, options)
