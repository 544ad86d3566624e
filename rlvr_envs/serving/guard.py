"""The guard before every route: tokens, sizes, what is under way, and a line in the log."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, did_you_mean_path
from rlvr_envs.serving.metrics import Metrics, note

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MIN_TOKEN_CHARS = 16
# What anybody may ask, so that a container can be watched without a secret.
_OPEN = "/health"


class Tokens:
    """The tokens of a server; only their digests are stored.

    Args:
        tokens: the tokens; none means that anybody may come in.

    Raises:
        ConfigError: a token is too short, or not of printable ASCII characters.
    """

    def __init__(self, tokens: list[str]) -> None:
        for number, token in enumerate(tokens, 1):
            if len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable():
                raise ConfigError(
                    f"token {number} has {len(token)} characters: a token is at least "
                    f"{MIN_TOKEN_CHARS} printable ASCII characters, such as `openssl rand -hex 24` "
                    "prints"
                )
        self._digests = [_digest(token) for token in tokens]

    @classmethod
    def from_file(cls, path: Path) -> "Tokens":
        """Return the tokens of a file: one a line; lines that begin with # are comments.

        Raises:
            ConfigError: there is no such file, or no token in it, or one that is too short.
        """
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            hint = did_you_mean_path(path)
            raise ConfigError(
                f"the tokens in {str(path)!r} cannot be read: {error}{hint}"
            ) from None
        tokens = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        if not tokens:
            raise ConfigError(f"{str(path)!r} holds no token: write one a line")
        return cls(tokens)

    def __len__(self) -> int:
        return len(self._digests)

    def client(self, token: str | None) -> str | None:
        """Return the name of a token's owner, or None; the time does not tell how close it was."""
        if not self._digests:
            return "anybody"
        if token is None:
            return None
        digest = _digest(token)
        found = [hmac.compare_digest(digest, known) for known in self._digests]
        return f"token {found.index(True) + 1}" if any(found) else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class UnderWay:
    """Counts requests from their arrival to the last byte of the reply."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one request."""
        self._count += 1
        self._none.clear()
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def none(self) -> None:
        """Wait until nothing is under way."""
        await self._none.wait()


class Guard:
    """Wraps the application.

    A token comes as ``Authorization: Bearer TOKEN`` or, for clients that send no header, as the
    beginning of the path: ``/k/TOKEN/...``. It is taken out of the path before anything else sees
    it.
    """

    def __init__(
        self, app: App, *, tokens: Tokens, metrics: Metrics, under_way: UnderWay, max_bytes: int
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._metrics = metrics
        self._under_way = under_way
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        token = _take_token(scope)
        client = self._tokens.client(token)
        if client is None and scope["path"].endswith(_OPEN):
            client = "nobody"
        scope.setdefault("state", {})["client"] = client
        if scope["type"] == "websocket":
            if client is None:
                self._metrics.errors.labels("UNAUTHORIZED").inc()
                await receive()
                await send({"type": "websocket.close", "code": 1008})  # the handshake fails: 403
                return
            await self._app(scope, receive, send)
            return
        with self._under_way.one():
            await self._http(scope, receive, send, known=client is not None)

    async def _http(self, scope: Scope, receive: Receive, send: Send, *, known: bool) -> None:
        began = time.perf_counter()
        began_to_answer, status = False, 500

        async def watch(message: MutableMapping[str, Any]) -> None:
            nonlocal began_to_answer, status
            if message["type"] == "http.response.start":
                began_to_answer, status = True, message["status"]
            await send(message)

        try:
            if not known:
                await _refuse(watch, 401, "a token is needed: send Authorization: Bearer TOKEN")
                return
            body = await self._body(scope, receive)
            if body is None:
                await _refuse(
                    watch, 413, f"a request has at most {self._max_bytes} bytes: send fewer items"
                )
                return
            await self._app(scope, _given(body, receive), watch)
        except asyncio.CancelledError:  # the server waited for this as long as it was told to
            if not began_to_answer:
                await _refuse(watch, 503, "the server ended before the answer came: send it again")
        finally:
            seconds = time.perf_counter() - began
            self._metrics.requests.labels(str(status)).observe(seconds)
            note(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round(1000 * seconds, 1),
                client=scope["state"]["client"],
            )

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the whole body, or None if it is too large; it is read no further then."""
        if _declared_bytes(scope) > self._max_bytes:
            return None
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                return None
            if not message.get("more_body", False):  # a client that has gone sends no more either
                return bytes(body)


def _given(body: bytes, receive: Receive) -> Receive:
    """Return a source of messages that begins with the whole body."""
    first = True

    async def next_message() -> MutableMapping[str, Any]:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return next_message


def _take_token(scope: Scope) -> str | None:
    path = scope["path"]
    if path.startswith("/k/"):
        token, slash, rest = path[3:].partition("/")
        scope["path"] = f"/{rest}" if slash else "/"
        scope["raw_path"] = scope["path"].encode()
        return str(token)
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return str(token.strip()) if scheme.lower() == "bearer" else None
    return None


def _declared_bytes(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(send: Send, status: int, detail: str) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": detail}).encode()})
