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
from typing import Any

from rlvr_envs.core.bounded_http import (
    BoundedClient,
    NoReply,
    Reply,
    checked_url,
    key_in,
    retry_after,
)
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.evaluation.policy import Policy, PolicyError, PolicyOptions, Request, Response

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

    The key is read from the environment when the run begins. It is sent to the endpoint and goes
    nowhere else: not into settings, records or error messages.

    Raises:
        ConfigError: the address is malformed or holds a password.
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
        )
        self._limit = "max_tokens"

    def settings(self) -> dict[str, Any]:
        options = self._options
        return {
            "model": self._model,
            "base_url": options.base_url,
            "temperature": options.temperature,
            "max_new_tokens": options.max_new_tokens,
            "system_prompt": options.system_prompt,
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
        messages = list(request.messages)
        if self._options.system_prompt:
            messages.insert(0, {"role": "system", "content": self._options.system_prompt})
        body = {
            "model": self._model,
            "messages": messages,
            "temperature": self._options.temperature,
        }
        problem = ""
        for attempt in range(self._options.retries + 1):
            await self._pace.turn()
            outcome = await self._attempt(body)
            if isinstance(outcome, Response):
                return outcome
            problem, asked = outcome
            if asked > LONGEST_RETRY_AFTER_S:
                raise PolicyError(f"{problem}; the server asks to wait {asked:.0f} s")
            if attempt < self._options.retries:
                if asked:
                    self._pace.pause(asked)
                await asyncio.sleep(self._wait(attempt))
        raise PolicyError(f"{problem} (given up after {self._options.retries + 1} attempts)")

    def _wait(self, attempt: int) -> float:
        """Return a random time up to twice the last bound ("full jitter", from half of it)."""
        bound = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**attempt)
        return float(self._jitter.uniform(bound / 2, bound))

    async def _attempt(self, body: Mapping[str, Any]) -> "Response | tuple[str, float]":
        """Return the response, or what went wrong and how long the server wants to be left."""
        asked = {**body, self._limit: self._options.max_new_tokens}
        try:
            reply = await self._client.ask("POST", self._url, asked)
        except NoReply as error:
            return str(error), 0.0
        if reply.status == 200:
            return self._read(reply)
        what = f"HTTP {reply.status}: {self._client.quoted(reply.text)}"
        if reply.status == 400 and self._limit == "max_tokens" and _NEW_LIMIT in reply.text:
            self._limit = _NEW_LIMIT  # OpenAI's reasoning models renamed it
            return what, 0.0
        if reply.status in _PASSING or reply.status >= 500:
            return what, retry_after(reply.retry_after, time.time())
        if reply.status in _FATAL:
            raise ConfigError(f"the endpoint {self._url} refuses {self._model!r}: {what}")
        raise PolicyError(what)

    def _read(self, reply: Reply) -> "Response | tuple[str, float]":
        try:
            data = reply.json()
            choice = data["choices"][0]
            text = choice["message"].get("content")
            usage = data.get("usage") or {}
            tokens = usage.get("completion_tokens")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return f"HTTP 200 without a chat completion: {self._client.quoted(reply.text)!r}", 0.0
        if text is not None and not isinstance(text, str):
            return f"HTTP 200 whose content is no text: {self._client.quoted(repr(text))}", 0.0
        finish = choice.get("finish_reason")
        return Response(
            # A model that spent all its tokens on hidden reasoning has said nothing.
            text or "",
            finish if isinstance(finish, str) else None,
            tokens if isinstance(tokens, int) else None,
        )


class Pace:
    """Spaces requests evenly under a rate limit, and holds all of them back on request."""

    def __init__(self, per_minute: float) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until a request may be sent."""
        now = time.monotonic()
        mine = max(now, self._next)
        if self._gap:
            self._next = mine + self._gap
        if mine > now:
            await asyncio.sleep(mine - now)

    def pause(self, seconds: float) -> None:
        """Let no request begin before so many seconds have passed."""
        self._next = max(self._next, time.monotonic() + seconds)
