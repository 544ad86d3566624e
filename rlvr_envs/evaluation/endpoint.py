"""A model behind an OpenAI-compatible HTTP endpoint, as a policy.

Failures that may pass (no connection, timeouts, 408, 409, 425, 429, 5xx, answers that are not
JSON) are tried again, each time after twice as long, with jitter and never before the server's
``Retry-After``. What remains becomes a `PolicyError`, so the episode is unscored. A key that is
refused ends the run at once: no other request would fare better.
"""

import asyncio
import json
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint
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
# A server that never stops must not fill the memory; the longest chat completion is far shorter.
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
        self._url = _checked(options.base_url).rstrip("/") + "/chat/completions"
        self._key = os.environ.get(options.api_key_env, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError(f"the API key in {options.api_key_env} holds characters no key has")
        if not self._key and options.base_url == _DEFAULT_BASE_URL:
            raise ConfigError(
                f"the environment variable {options.api_key_env} holds no API key: set it, name "
                "another with --api-key-env, or choose another endpoint with --base-url"
            )
        self._pace = Pace(options.requests_per_minute)
        self._jitter: Rng = stream("endpoint jitter", os.getpid(), time.monotonic_ns())
        try:
            import httpx
        except ImportError as error:
            raise DependencyError(
                f"the openai policy needs httpx: {hint('report', 'httpx')}"
            ) from error
        self._httpx: Any = httpx
        self._client: Any = None
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

    async def open(self) -> None:
        self._client = self._httpx.AsyncClient(
            timeout=self._options.timeout_s,
            # A compressed reply could be a thousand times as long as what is counted.
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity"}
            | ({"Authorization": f"Bearer {self._key}"} if self._key else {}),
            limits=self._httpx.Limits(max_connections=self._options.concurrency),
        )

    async def close(self) -> None:
        await self._client.aclose()

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
        # In ASCII, since a model may have said half a surrogate pair, which UTF-8 cannot say.
        data = json.dumps({**body, self._limit: self._options.max_new_tokens}).encode("ascii")
        try:
            # The client's timeouts are per read, so a server that drips would never time out.
            async with asyncio.timeout(self._options.timeout_s):
                reply, whole = await self._post(data)
        except (TimeoutError, self._httpx.TimeoutException):
            return f"no answer within {self._options.timeout_s:g} s", 0.0
        except self._httpx.HTTPError as error:
            return f"the request failed: {type(error).__name__}: {self._redact(str(error))}", 0.0
        if not whole:
            return f"the reply is longer than {MAX_REPLY_BYTES >> 20} MiB, or compressed", 0.0
        if reply.status_code == 200:
            return self._read(reply)
        what = f"HTTP {reply.status_code}: {self._quote(reply.text)}"
        if reply.status_code == 400 and self._limit == "max_tokens" and _NEW_LIMIT in reply.text:
            self._limit = _NEW_LIMIT  # OpenAI's reasoning models renamed it
            return what, 0.0
        if reply.status_code in _PASSING or reply.status_code >= 500:
            return what, retry_after(reply.headers.get("retry-after"), time.time())
        if reply.status_code in _FATAL:
            raise ConfigError(f"the endpoint {self._url} refuses {self._model!r}: {what}")
        raise PolicyError(what)

    async def _post(self, data: bytes) -> tuple[Any, bool]:
        """Return the reply, and whether it was read to its end."""
        async with self._client.stream("POST", self._url, content=data) as reply:
            body = bytearray()
            if reply.headers.get("content-encoding", "identity").lower() != "identity":
                return reply, False
            async for piece in reply.aiter_raw():
                body += piece
                if len(body) > MAX_REPLY_BYTES:
                    return reply, False
        headers = {k: v for k, v in reply.headers.items() if k in ("content-type", "retry-after")}
        whole = self._httpx.Response(reply.status_code, headers=headers, content=bytes(body))
        return whole, True

    def _redact(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _quote(self, text: str) -> str:
        """Return the beginning of what a server said, on one line; the key goes before the cut."""
        return " ".join(self._redact(text)[:300].split())

    def _read(self, reply: Any) -> "Response | tuple[str, float]":
        try:
            data = reply.json()
            choice = data["choices"][0]
            text = choice["message"].get("content")
            usage = data.get("usage") or {}
            tokens = usage.get("completion_tokens")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            return f"HTTP 200 without a chat completion: {self._quote(reply.text)!r}", 0.0
        if text is not None and not isinstance(text, str):
            return f"HTTP 200 whose content is no text: {self._quote(repr(text))}", 0.0
        finish = choice.get("finish_reason")
        return Response(
            # A model that spent all its tokens on hidden reasoning has said nothing.
            text or "",
            finish if isinstance(finish, str) else None,
            tokens if isinstance(tokens, int) else None,
        )


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"a base URL is like 'http://localhost:8000/v1', got {url!r}")
    if parts.username or parts.password or parts.query:
        raise ConfigError(
            "a base URL holds no password and no query: it is written to run.json; "
            "put the key into an environment variable and name it with --api-key-env"
        )
    return url


def retry_after(header: str | None, now: float) -> float:
    """Return the seconds of a ``Retry-After`` header, a number or a date; 0 if there is none.

    RFC 9110, section 10.2.3.
    """
    if not header:
        return 0.0
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, OverflowError):
        return 0.0


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
