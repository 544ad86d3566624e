"""Requests to servers that nobody vouches for: bounded in time and size, and secret about keys.

A reply is not expanded (a compressed one could be a thousand times as long as what is counted),
not read beyond a limit, and not waited for beyond a deadline that holds for the whole request,
however slowly a server drips. Redirects are not followed. What goes into messages and records is
redacted before it is cut, so that no part of a key is left over.
"""

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError
from rlvr_envs.core.extras import hint

T = TypeVar("T")


# The media type of a stream of server-sent events.
EVENTS = "text/event-stream"

# How long the end of a connection's reply is waited for, once the stream in it has ended.
_LINGER_S = 0.5

# What every request has of its own; a bearer token is the key's.
_OWN_HEADERS = ("accept-encoding", "connection", "content-length", "content-type", "host")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, section 5.6.2


class NoReply(RlvrEnvsError):
    """There is no reply within the bounds; the message says why, and holds no key."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply.

    Attributes:
        status: of HTTP.
        body: as it was sent; empty for a stream of events that was taken as it came.
        retry_after: the header of that name, empty where there is none.
    """

    status: int
    body: bytes
    retry_after: str = ""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the data of a JSON body.

        Raises:
            ValueError: it is none.
        """
        try:
            return json.loads(self.body)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error


class BoundedClient:
    """Asks servers; use it either with ``await`` in one event loop, or by `ask_now` from threads.

    Args:
        purpose: what it is for, for the error where httpx is missing.
        timeout_s: the longest that a request may take, from the connection to the last byte.
        most_bytes: the longest reply.
        key: sent as a bearer token, and nowhere else; empty for none (see `key_in`).
        connections: requests under way at a time.
        headers: more headers, whose values are as secret as the key (see `secret_headers`).

    Raises:
        DependencyError: httpx is missing.
    """

    def __init__(
        self,
        purpose: str,
        *,
        timeout_s: float,
        most_bytes: int = 1 << 25,
        key: str = "",
        connections: int = 64,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise DependencyError(f"{purpose} needs httpx: {hint('report', 'httpx')}") from error
        self._httpx: Any = httpx
        self._timeout_s, self._most_bytes = timeout_s, most_bytes
        self._connections = connections
        self._headers = ({"Authorization": f"Bearer {key}"} if key else {}) | dict(headers or {})
        # As a reply may quote them: in JSON or in an address.
        forms = {
            form
            for secret in (key, *(headers or {}).values())
            for form in (
                secret,
                json.dumps(secret)[1:-1],
                secret.replace("/", "\\/"),
                quote(secret, safe=""),
            )
            if form
        }
        self._secrets = sorted(forms, key=len, reverse=True)
        self._client: Any = None
        self._pid = 0

    async def ask(
        self,
        method: str,
        url: str,
        body: object = None,
        take: Callable[[bytes], bool] | None = None,
    ) -> Reply:
        """Return the reply to a request.

        Args:
            method: of HTTP.
            url: the address.
            body: JSON data; None for no body.
            take: gets a stream of events of status 200 piece by piece, and says whether it has its
                end; what follows is not kept. A ValueError says that it is no such stream. How
                much of a stream is kept is for this function to limit.

        Raises:
            NoReply: the server cannot be reached, or its reply is too late, too long or compressed.
        """
        # In ASCII, since a model may have said half a surrogate pair, which UTF-8 cannot say.
        data = None if body is None else json.dumps(body).encode("ascii")
        if self._client is None or self._pid != os.getpid():
            self._client, self._pid = self._opened(url), os.getpid()
        try:
            # The client's own timeouts are per read, so a server that drips would never meet them.
            async with asyncio.timeout(self._timeout_s):
                return await self._read(method, url, data, take)
        except (TimeoutError, self._httpx.TimeoutException) as error:
            raise NoReply(f"no answer within {self._timeout_s:g} s") from error
        except (self._httpx.HTTPError, self._httpx.InvalidURL, OSError, ValueError) as error:
            told = self.redact(f"{type(error).__name__}: {error}")
            raise NoReply(f"the request failed: {told}") from None

    def ask_now(self, method: str, url: str, body: object = None) -> Reply:
        """Return what `ask` does, from any thread.

        Raises:
            NoReply: as `ask`.
        """
        return _background().run(self.ask(method, url, body))

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None and self._pid == os.getpid():
            await client.aclose()

    def close_now(self) -> None:
        """Do what `close` does, from any thread."""
        _background().run(self.close())

    def redact(self, text: str) -> str:
        """Return a text without the key, in whatever form a reply quotes it."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def quoted(self, text: str, chars: int = 300) -> str:
        """Return the beginning of what a server said, on one line; the key goes before the cut."""
        return " ".join(self.redact(text)[:chars].split())

    def _opened(self, url: str) -> Any:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        return self._httpx.AsyncClient(
            timeout=self._timeout_s,
            headers=headers | self._headers,
            limits=self._httpx.Limits(max_connections=self._connections),
            follow_redirects=False,
            verify=url.startswith("https:"),  # certificates take long to load
        )

    async def _read(
        self,
        method: str,
        url: str,
        data: bytes | None,
        take: Callable[[bytes], bool] | None,
    ) -> Reply:
        async with self._client.stream(method, url, content=data) as reply:
            body = bytearray()
            compressed = reply.headers.get("content-encoding", "identity").lower() != "identity"
            kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
            if take is None or reply.status_code != 200 or kind != EVENTS:
                take = None
            if not compressed:
                pieces = reply.aiter_raw()
                async for piece in pieces:
                    if take is not None:
                        if take(piece):
                            await _rest(pieces)
                            break
                        continue
                    body += piece
                    if len(body) > self._most_bytes:
                        break
        if compressed or len(body) > self._most_bytes:
            most = f"{self._most_bytes / 2**20:g} MiB"
            raise NoReply(f"the reply is longer than {most}, or compressed")
        return Reply(reply.status_code, bytes(body), reply.headers.get("retry-after", ""))


async def _rest(pieces: AsyncIterator[bytes]) -> None:
    """Read to the end what ends at once, so that the connection can be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            async for _ in pieces:
                pass


class _Background:
    """An event loop in a thread of its own, for callers that have none."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True, name="rlvr-http").start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, which is given up when the caller is interrupted."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


_lock = threading.Lock()
_running: _Background | None = None


def _background() -> _Background:
    global _running  # noqa: PLW0603 - one for each process, since a fork does not copy threads
    with _lock:
        if _running is None or _running.pid != os.getpid():
            _running = _Background()
        return _running


def key_in(variable: str) -> str:
    """Return the API key in an environment variable, empty if there is none.

    Raises:
        ConfigError: it holds characters that no header can hold.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the API key in {variable} holds characters no key has")
    return key


def secret_headers(named: Iterable[str]) -> dict[str, str]:
    """Return headers with their values, which are in environment variables.

    Args:
        named: each like ``api-key=MY_VARIABLE``.

    Raises:
        ConfigError: one is malformed or set by the client itself, or its variable holds nothing.
    """
    found = {}
    for text in named:
        name, _, variable = text.partition("=")
        if not _HEADER_NAME.fullmatch(name) or not variable:
            raise ConfigError(f"a header is like 'api-key=MY_VARIABLE', got {text!r:.80}")
        if name.lower() in _OWN_HEADERS:
            raise ConfigError(f"the header {name!r} belongs to the request itself: leave it out")
        found[name] = key_in(variable)
        if not found[name]:
            raise ConfigError(
                f"the environment variable {variable!r:.80} of the header {name!r} is empty: set it"
            )
    return found


def checked_url(url: str, what: str, example: str, key_place: str) -> str:
    """Return the address of a server, which holds no secret.

    Args:
        url: the address.
        what: the address is called, for the message.
        example: of one, for the message.
        key_place: where a key goes instead, for the message.

    Raises:
        ConfigError: it is no address, or holds a password or a query.
    """
    misfit = ConfigError(f"{what} is like {example!r}, got {url!r:.200}")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise misfit from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise misfit
    if parts.username or parts.password or parts.query:
        raise ConfigError(
            f"{what} holds no password and no query, since it is written down: {key_place}"
        )
    return url


def retry_after(header: str, now: float) -> float:
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
