"""The policy protocol: what answers the problems of an evaluation, and how it is asked.

A policy is asked one turn at a time, through one method, `Policy.act`. A policy that has no
response to give raises `PolicyError`: that episode is not scored, and is asked again when the run
is resumed. It is never a score of 0, which would blame the model for the network.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.tools import Tool

# As in chat completions: a role and its content, and beside them the calls of tools.
Message = dict[str, Any]

# Of a tool: its id, and the function's name and arguments (JSON text), as in chat completions.
Call = dict[str, Any]


class PolicyError(Exception):
    """The policy gave no response, for a reason that says nothing about its abilities.

    Attributes:
        attempts: how many requests were sent for it, where it sends requests.
        waited_s: seconds of waiting before and between them.

    Examples:
        >>> from rlvr_envs.evaluation import PolicyError
        >>> raise PolicyError("the endpoint gave no answer", attempts=7)
        Traceback (most recent call last):
            ...
        rlvr_envs.evaluation.policy.PolicyError: the endpoint gave no answer
    """

    def __init__(self, message: str, attempts: int = 0, waited_s: float = 0.0) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.waited_s = waited_s


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
        tools: what a model may call instead of writing its actions, in an interactive task.

    Examples:
        >>> from rlvr_envs.evaluation import Policy, Request, Response
        >>> class Echo(Policy):
        ...     async def act(self, request: Request) -> Response:
        ...         return Response(request.messages[-1]["content"])
    """

    instance: Instance
    messages: tuple[Message, ...]
    sample: int
    seed: int
    turn: int = 0
    index: int | None = None
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    r"""What a policy says.

    Attributes:
        text: what is judged, unless there are calls.
        finish: "length" where a token limit cut it short.
        tokens: how many it has, those of its reasoning included.
        prompt_tokens: how many were read for it.
        reasoning: what a model thought, where its server keeps that apart. It is not judged.
        calls: of tools; the first is the action.
        attempts: how many requests were sent for it, where the policy sends requests.
        waited_s: seconds of waiting before and between them.

    Examples:
        >>> from rlvr_envs.evaluation import Response
        >>> Response(r"\boxed{7}", tokens=5).finish is None
        True
    """

    text: str
    finish: str | None = None
    tokens: int | None = None
    prompt_tokens: int | None = None
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    attempts: int = 0
    waited_s: float = 0.0


class Policy(ABC):
    """Answers problems; made from a text such as ``random`` by `make_policy`.

    Attributes:
        name: what the records of a run call it.
        concurrency: how many episodes may be under way at once; 0 for as many as the run wants.

    Examples:
        >>> from rlvr_envs.evaluation import Policy, make_policy
        >>> isinstance(make_policy("random"), Policy)
        True
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


ENDPOINT, LOCAL = "openai", "local"  # the kinds of policies that take options
MODELS = (ENDPOINT, LOCAL)


def _option(default: Any, text: str, *, takers: Collection[str] = (ENDPOINT,), **more: Any) -> Any:
    """Return the field of an option.

    Args:
        default: its value where it is not given.
        text: its help.
        takers: the kinds of policies that take it.
        more: ``shapes``, whether it shapes what a model says, which is stored with a run;
            ``stored``, whether it is stored all the same; ``read``, ``many`` and ``metavar``, how
            the command line reads it.
    """
    return field(default=default, metadata={"help": text, "takers": tuple(takers), **more})


def number_or_none(text: str) -> float | None:
    """Return the number of a text, None for ``none``.

    Raises:
        ConfigError: it is neither.
    """
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise ConfigError(f"a number is needed, got {text!r:.40}; none leaves it out") from None


def json_object(text: str) -> dict[str, Any]:
    """Return the object that a JSON text holds.

    Raises:
        ConfigError: it holds none.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON ({error}): {text!r:.80}") from error
    if not isinstance(data, dict):
        raise ConfigError(f'expected a JSON object such as {{"key": 1}}, got {text!r:.80}')
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions:
    """Options of the policies that run a model; `check_taken` says which one nobody takes.

    Examples:
        >>> from rlvr_envs.evaluation import PolicyOptions
        >>> PolicyOptions(temperature=0.0, max_new_tokens=256).given()
        {'temperature': 0.0, 'max_new_tokens': 256}
    """

    base_url: str = _option("https://api.openai.com/v1", "endpoint: address up to /v1")
    api_key_env: str = _option("OPENAI_API_KEY", "endpoint: environment variable with the key")
    header: tuple[str, ...] = _option(
        (),
        "endpoint: header whose value is in an environment variable; may be repeated",
        many=True,
        metavar="NAME=VARIABLE",
    )
    concurrency: int = _option(8, "endpoint: requests under way at once")
    requests_per_minute: float = _option(0.0, "endpoint: rate limit; 0 for none")
    timeout_s: float = _option(120.0, "endpoint: seconds until a request is given up")
    retries: int = _option(6, "endpoint: attempts after the first one")
    stream: bool = _option(False, "endpoint: ask for server-sent events", stored=True)
    temperature: float | None = _option(
        1.0,
        "model: sampling temperature; 0 is greedy; endpoint: none leaves it to the server",
        takers=MODELS,
        shapes=True,
        read=number_or_none,
    )
    top_p: float | None = _option(
        None,
        "model: sample from the likeliest tokens that have this probability together",
        takers=MODELS,
        shapes=True,
        read=float,
    )
    stop: tuple[str, ...] = _option(
        (), "endpoint: text that ends a response; may be repeated", shapes=True, many=True
    )
    sampling_seed: int | None = _option(
        None, "endpoint: seed of sampling; sample number i gets this plus i", shapes=True, read=int
    )
    max_new_tokens: int = _option(
        1024, "model: token limit of a response", takers=MODELS, shapes=True
    )
    reasoning_effort: str = _option(
        "", "endpoint: reasoning effort, such as low, medium or high", shapes=True
    )
    system_prompt: str = _option(
        "", "model: system message before the prompt", takers=MODELS, shapes=True
    )
    chat_template_args: Mapping[str, Any] | None = _option(
        None,
        'model: arguments of the chat template, such as {"enable_thinking": false}',
        takers=MODELS,
        shapes=True,
        read=json_object,
        metavar="JSON",
    )
    extra_body: Mapping[str, Any] | None = _option(
        None,
        'endpoint: what requests hold besides, such as {"top_k": 20}',
        shapes=True,
        read=json_object,
        metavar="JSON",
    )
    tools: bool = _option(
        False, "endpoint: offer the calls of interactive tasks as tools", shapes=True
    )
    batch_size: int = _option(16, "local model: prompts generated together", takers=[LOCAL])
    threads: int = _option(
        0,
        "local model: CPU threads; 0: one for a small model, else all cores",
        takers=[LOCAL],
    )
    device: str = _option("auto", "local model: cpu, cuda, or auto", takers=[LOCAL])
    dtype: str = _option("auto", "local model: float32, bfloat16 or auto", takers=[LOCAL])

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
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p is a share above 0, at most 1, got {self.top_p!r}")
        for name in ("stop", "header"):
            texts: object = getattr(self, name)
            if not isinstance(texts, (tuple, list)) or not all(
                isinstance(text, str) and text for text in texts
            ):
                raise ConfigError(f"{name} is a tuple of texts that are not empty, got {texts!r}")
        for name in ("chat_template_args", "extra_body"):
            value = getattr(self, name)
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise ConfigError(f"{name} is JSON data ({error}), got {value!r:.80}") from error

    def given(self) -> dict[str, Any]:
        """Return the options, as JSON data, that may change a response and were given.

        They are part of a run's configuration. Those that were not given stay out of it, so that a
        run from before there was such an option can be resumed.
        """
        return {
            option.name: list(value) if isinstance(value, tuple) else value
            for option in fields(self)
            for value in [getattr(self, option.name)]
            if (option.metadata.get("shapes") or option.metadata.get("stored"))
            and value != option.default
        }

    def check_taken(self, kinds: Collection[str]) -> None:
        """Check that policies of these kinds take every option that differs from its default.

        One of them has to. What shapes the responses of models has to be taken by all models, or
        their numbers would be compared under different conditions.

        Raises:
            ConfigError: an option would be ignored.
        """
        for option in fields(self):
            if getattr(self, option.name) == option.default:
                continue
            takers = option.metadata["takers"]
            ignored = [kind for kind in kinds if kind in MODELS and kind not in takers]
            shapes = option.metadata.get("shapes", False)
            if not set(kinds) & set(takers) or (shapes and ignored):
                raise ConfigError(
                    f"{option.name}={getattr(self, option.name)!r:.80} is for policies of the kind "
                    f"{' and '.join(takers)}, and would be ignored by "
                    f"{', '.join(dict.fromkeys(kinds)) or 'these'}: leave it out, or evaluate "
                    "them apart"
                )


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
