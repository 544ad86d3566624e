"""A model behind an OpenAI-compatible HTTP endpoint, as a policy.

Failures that may pass (no connection, timeouts, 408, 409, 425, 429, 5xx, answers that are not
JSON) are tried again, each time after twice as long, with jitter and never before the server's
``Retry-After``. What remains becomes a `PolicyError`, so the episode is unscored. A key that is
refused ends the run at once: no other request would fare better.
"""

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rlvr_envs.core.bounded_http import (
    BoundedClient,
    NoReply,
    Reply,
    checked_url,
    key_in,
    retry_after,
    secret_headers,
)
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.evaluation.event_stream import REASONING, BadReply, EventStream
from rlvr_envs.evaluation.policy import Policy, PolicyError, PolicyOptions, Request, Response
from rlvr_envs.evaluation.tool_calls import function, read_calls

_DEFAULT_BASE_URL = PolicyOptions().base_url
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FATAL = frozenset({401, 403, 404})
_NEW_LIMIT = "max_completion_tokens"

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
# A server that asks for more patience than this is not waited for; a resumed run asks again.
LONGEST_RETRY_AFTER_S = 600.0
# The longest chat completion is far shorter.
MAX_REPLY_BYTES = 1 << 25


class EndpointPolicy(Policy):
    """Chat completions of one model.

    The key, and the values of headers, are read from the environment when the run begins. They are
    sent to the endpoint and go nowhere else: not into settings, records or error messages.

    Raises:
        ConfigError: the address is malformed or holds a password, or an option does not fit.
        DependencyError: httpx is missing.
    """

    def __init__(self, name: str, model: str, options: PolicyOptions) -> None:
        super().__init__(name)
        self.concurrency = options.concurrency
        self._model = model
        self._options = options
        place = "put the key into an environment variable and name it with --api-key-env"
        url = checked_url(options.base_url, "a base URL", "http://localhost:8000/v1", place)
        self._url = url.rstrip("/") + "/chat/completions"
        key = key_in(options.api_key_env)
        if not key and options.base_url == _DEFAULT_BASE_URL:
            raise ConfigError(
                f"the environment variable {options.api_key_env} holds no API key: set it, name "
                "another with --api-key-env, or choose another endpoint with --base-url"
            )
        self._pace = Pace(options.requests_per_minute)
        self._jitter: Rng = stream("endpoint jitter", os.getpid(), time.monotonic_ns())
        self._client = BoundedClient(
            "the openai policy",
            timeout_s=options.timeout_s,
            most_bytes=MAX_REPLY_BYTES,
            key=key,
            connections=options.concurrency,
            headers=secret_headers(options.header),
        )
        self._limit = "max_tokens"
        self._fixed = _fixed(options)

    def settings(self) -> dict[str, Any]:
        options = self._options
        return {
            "model": self._model,
            "base_url": options.base_url,
            "temperature": options.temperature,
            "max_new_tokens": options.max_new_tokens,
            "system_prompt": options.system_prompt,
            **options.given(),
        }

    def __reduce__(self) -> Any:  # the key stays here: another process reads its own environment
        return EndpointPolicy, (self.name, self._model, self._options)

    def check_portable(self) -> None:
        """Check that there is no rate limit, which no process could keep alone.

        Raises:
            ConfigError: there is one.
        """
        if self._options.requests_per_minute:
            raise ConfigError(
                f"requests_per_minute={self._options.requests_per_minute:g} holds in one process: "
                "leave it out, or evaluate without an executor"
            )

    async def close(self) -> None:
        await self._client.close()

    async def act(self, request: Request) -> Response:
        body = self._body(request)
        problem, waited = "", 0.0
        for attempt in range(self._options.retries + 1):
            waited += await self._pace.turn()
            try:
                outcome = await self._attempt(body)
            except PolicyError as error:
                raise PolicyError(str(error), attempt + 1, waited) from None
            if isinstance(outcome, Response):
                return replace(outcome, attempts=attempt + 1, waited_s=waited)
            problem, asked = outcome
            if asked > LONGEST_RETRY_AFTER_S:
                told = f"{problem}; the server asks to wait {asked:.0f} s"
                raise PolicyError(told, attempt + 1, waited)
            if attempt < self._options.retries:
                if asked:
                    self._pace.pause(asked)
                pause = self._wait(attempt)
                waited += pause
                await asyncio.sleep(pause)
        attempts = self._options.retries + 1
        raise PolicyError(f"{problem} (given up after {attempts} attempts)", attempts, waited)

    def _body(self, request: Request) -> dict[str, Any]:
        options = self._options
        messages = list(request.messages)
        if options.system_prompt:
            messages.insert(0, {"role": "system", "content": options.system_prompt})
        body = {"model": self._model, "messages": messages, **self._fixed}
        if options.sampling_seed is not None:
            body["seed"] = options.sampling_seed + request.sample
        if options.tools and request.tools:
            body["tools"] = [function(tool) for tool in request.tools]
        return body

    def _wait(self, attempt: int) -> float:
        """Return a random time up to twice the last bound ("full jitter", from half of it)."""
        bound = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**attempt)
        return float(self._jitter.uniform(bound / 2, bound))

    async def _attempt(self, body: Mapping[str, Any]) -> "Response | tuple[str, float]":
        """Return the response, or what went wrong and how long the server wants to be left."""
        limit = self._limit
        asked = {**body, limit: self._options.max_new_tokens}
        stream = EventStream(MAX_REPLY_BYTES) if self._options.stream else None
        try:
            take = stream.take if stream else None
            reply = await self._client.ask("POST", self._url, asked, take)
            if stream and reply.status == 200 and not reply.body:
                return self._read(stream.completion())
        except NoReply as error:
            return self._client.quoted(str(error)), 0.0
        except BadReply as error:
            return f"HTTP 200: {self._client.quoted(str(error))}", 0.0
        if reply.status == 200:
            return self._read_whole(reply)
        what = f"HTTP {reply.status}: {self._client.quoted(reply.text)}"
        if reply.status == 400 and limit == "max_tokens" and _NEW_LIMIT in reply.text:
            self._limit = _NEW_LIMIT  # OpenAI's reasoning models renamed it
            return what, 0.0
        if reply.status in _PASSING or reply.status >= 500:
            return what, retry_after(reply.retry_after, time.time())
        if reply.status in _FATAL:
            raise ConfigError(f"the endpoint {self._url} refuses {self._model!r}: {what}")
        raise PolicyError(what)

    def _read_whole(self, reply: Reply) -> "Response | tuple[str, float]":
        try:
            return self._read(reply.json())
        except ValueError:
            return f"HTTP 200 without a chat completion: {self._client.quoted(reply.text)!r}", 0.0

    def _read(self, data: Any) -> Response:
        """Return the response that a chat completion holds.

        Raises:
            BadReply: it holds none.
        """
        try:
            choice = data["choices"][0]
            message = choice["message"]
            text, calls = message.get("content"), message.get("tool_calls") or []
            usage = data.get("usage") or {}
            used = [usage.get(name) for name in ("completion_tokens", "prompt_tokens")]
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise BadReply("no chat completion") from error
        if text is not None and not isinstance(text, str):
            raise BadReply("the content is no text")
        thoughts = (message.get(name) for name in REASONING)
        finish = choice.get("finish_reason")
        tokens, prompt_tokens = (n if type(n) is int and n >= 0 else None for n in used)
        return Response(
            # A model that spent all its tokens on hidden reasoning has said nothing.
            text or "",
            finish if isinstance(finish, str) else None,
            tokens,
            prompt_tokens,
            next((thought for thought in thoughts if thought and isinstance(thought, str)), ""),
            read_calls(calls) if self._options.tools else (),
        )


def _fixed(options: PolicyOptions) -> dict[str, Any]:
    """Return what all requests of a run hold alike, beside the model and its messages.

    Raises:
        ConfigError: the extra body holds what has an option of its own.
    """
    stream = {"stream": True, "stream_options": {"include_usage": True}}
    body = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "stop": list(options.stop) or None,
        "reasoning_effort": options.reasoning_effort or None,
        "chat_template_kwargs": options.chat_template_args,
        **(stream if options.stream else {}),
    }
    body = {name: value for name, value in body.items() if value is not None}
    extra = options.extra_body or {}
    own = {"model", "messages", "max_tokens", _NEW_LIMIT, "stream", "tools", *body}
    if options.sampling_seed is not None:
        own.add("seed")
    if taken := sorted(own & extra.keys()):
        raise ConfigError(
            f"extra_body holds {', '.join(taken)}, which requests hold already: use the option for "
            "it (--temperature none leaves that one out)"
        )
    return body | dict(extra)


class Pace:
    """Spaces requests evenly under a rate limit, and holds all of them back on request."""

    def __init__(self, per_minute: float) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def turn(self) -> float:
        """Wait until a request may be sent, and return for how many seconds."""
        now = time.monotonic()
        mine = max(now, self._next)
        if self._gap:
            self._next = mine + self._gap
        if mine > now:
            await asyncio.sleep(mine - now)
        return mine - now

    def pause(self, seconds: float) -> None:
        """Let no request begin before so many seconds have passed."""
        self._next = max(self._next, time.monotonic() + seconds)
