"""The client of `rlvr serve` for asynchronous code.

Problems are data and environments repeat themselves exactly, so a session survives its server: when
the connection is lost, it connects again, resets to the same problem and takes the same actions.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from urllib.parse import quote

from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError
from rlvr_envs.core.extras import needs
from rlvr_envs.core.instance import Row
from rlvr_envs.core.verdict import Verdict

try:
    import httpx
    from websockets.asyncio.client import ClientConnection, connect
    from websockets.exceptions import InvalidStatus, WebSocketException
except ImportError as error:
    raise DependencyError(needs("this client", error, "serve")) from error

Result = TypeVar("Result")

MAX_MESSAGE_BYTES = 64 << 20
_REPLY_S = 600.0  # a batch of programs may take so long
_BATCH = 200  # pairs that one request to /verify carries
# What may pass when the server is busy, or has just been started again.
_PASSING = (httpx.TransportError, WebSocketException, OSError)


class ServerError(RlvrEnvsError):
    """The server refused a request, or could not be reached.

    Examples:
        >>> from rlvr_envs.serving.client import Client
        >>> with Client("http://127.0.0.1:9", retry_s=0) as client:
        ...     client.problems("rlvr/Gcd-v0")
        Traceback (most recent call last):
            ...
        rlvr_envs.serving.async_client.ServerError: http://127.0.0.1:9 did not answer for 0 s: All
        connection attempts failed
    """


class _Later(Exception):
    """The server says that it is busy or going down: ask again."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the environment answered.

    Attributes:
        text: the observation.
        reward: of this turn; None after a reset, and where the answer was not scored.
        done: whether the episode is over.
        metadata: the task, its problem seed, the turn; at the end the verdict.

    Examples:
        >>> from rlvr_envs.serving.client import Turn
        >>> turn = Turn(text="The number is larger than 5.", reward=0.0, done=False, metadata={})
        >>> turn.verdict is None
        True
    """

    text: str
    reward: float | None
    done: bool
    metadata: dict[str, Any]

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, once the episode is over."""
        return Verdict.from_json(_scored(self.metadata)) if self.done else None


def _scored(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a verdict from the wire, where the score of one that is not scored is null."""
    return {**told, "score": told["score"] or 0.0}


def _turn(reply: Mapping[str, Any]) -> Turn:
    data = reply["data"]
    return Turn(data["observation"]["text"], data["reward"], data["done"], data["metadata"] or {})


def _read(raw: str | bytes) -> dict[str, Any]:
    """Return a reply.

    Raises:
        _Later: the server is busy or going down.
        ServerError: it refused the message.
    """
    reply: dict[str, Any] = json.loads(raw)
    if reply.get("type") != "error":
        return reply
    data = reply["data"]
    if data["code"] in ("CAPACITY_REACHED", "SESSION_ERROR"):
        raise _Later(data["message"])
    raise ServerError(f"{data['message']} ({data['code']})")


class _Script:
    """What a new session must hear to come to where the old one was."""

    def __init__(self) -> None:
        self._reset: dict[str, Any] | None = None
        self._actions: list[str] = []

    def begun(self, data: Mapping[str, Any], turn: Turn) -> None:
        """Remember a reset by its very problem, where the problem has a seed."""
        again = dict(data)
        if turn.metadata.get("problem_seed") is not None and "problem" not in data:
            for name in ("seed", "split", "index"):
                again.pop(name, None)
            again["problem_seed"] = turn.metadata["problem_seed"]
        self._reset, self._actions = again, []

    def taken(self, action: str) -> None:
        """Remember an action."""
        self._actions.append(action)

    def messages(self) -> Iterator[dict[str, Any]]:
        """Return what to send to a new session."""
        if self._reset is not None:
            yield {"type": "reset", "data": self._reset}
            for action in self._actions:
                yield {"type": "step", "data": {"text": action}}


class _Address:
    """Where a server is, and how to come in."""

    def __init__(self, url: str, token: str | None, retry_s: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"a url begins with http:// or https://, got {url!r}")
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.retry_s = retry_s

    def socket(self, env: str | None) -> str:
        place = f"/e/{quote(env.removeprefix('rlvr/'), safe='')}" if env else ""
        return f"ws{self.url.removeprefix('http')}{place}/ws"

    async def persist(
        self,
        ask: Callable[[], Awaitable[Result]],
        before_again: Callable[[], Awaitable[None]] | None = None,
    ) -> Result:
        """Return what a request returns; ask again while the server is busy or away.

        Raises:
            ServerError: the time for that is over, or the server refuses the token.
        """
        end, wait = time.monotonic() + self.retry_s, 0.1
        while True:
            try:
                return await ask()
            except (*_PASSING, _Later) as error:
                # A server that is going down answers a handshake with a status above 500.
                if isinstance(error, InvalidStatus) and error.response.status_code < 500:
                    raise ServerError(f"{self.url} refuses the connection: {error}") from error
                if before_again is not None:
                    await before_again()
                if time.monotonic() + wait > end:
                    tried = f"{self.url} did not answer for {self.retry_s:g} s"
                    raise ServerError(f"{tried}: {error}") from error
            await asyncio.sleep(wait)
            wait = min(2 * wait, 5.0)


class AsyncSession:
    """An environment on a server; get one from `AsyncClient.session`."""

    def __init__(self, address: _Address, env: str | None) -> None:
        self._address = address
        self._url = address.socket(env)
        self._script = _Script()
        self._socket: ClientConnection | None = None

    async def reset(self, **data: Any) -> Turn:
        """Begin an episode; None stands for what is left out.

        Args:
            data: ``seed``, ``problem_seed``, ``problem`` (a row), ``index``, or ``split`` and
                ``index`` name the problem; ``difficulty``, ``answer_format``, ``max_turns``,
                ``tasks``, ``weights`` and ``knobs`` say what it is like.

        Raises:
            ServerError: the server refuses them, or cannot be reached.
        """
        given = {name: value for name, value in data.items() if value is not None}
        self._script = _Script()
        turn = _turn(await self._ask({"type": "reset", "data": given}))
        self._script.begun(given, turn)
        return turn

    async def step(self, action: str) -> Turn:
        """Take an action.

        Raises:
            ServerError: no episode is under way, or the server cannot be reached.
        """
        turn = _turn(await self._ask({"type": "step", "data": {"text": action}}))
        self._script.taken(action)
        return turn

    async def state(self) -> dict[str, Any]:
        """Return how far the episode has come."""
        state: dict[str, Any] = (await self._ask({"type": "state"}))["data"]
        return state

    async def _ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        async def once() -> dict[str, Any]:
            socket = await self._connected()
            return await _exchange(socket, message)

        return await self._address.persist(once, self.close)

    async def _connected(self) -> ClientConnection:
        if self._socket is None:
            socket = await connect(
                self._url,
                additional_headers=self._address.headers,
                max_size=MAX_MESSAGE_BYTES,
                compression=None,
            )
            self._socket = socket
            for message in self._script.messages():
                await _exchange(socket, message)
        return self._socket

    async def close(self) -> None:
        """End the session."""
        socket, self._socket = self._socket, None
        if socket is not None:
            with suppress(*_PASSING):
                await socket.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _exchange(socket: ClientConnection, message: Mapping[str, Any]) -> dict[str, Any]:
    await socket.send(json.dumps(message))
    return _read(await socket.recv())


class AsyncClient:
    """A server, for asynchronous code.

    Args:
        url: such as ``http://localhost:8000``.
        token: what the server asks for, if it asks.
        retry_s: how long to try again while the server is busy or cannot be reached, in seconds.

    Raises:
        ConfigError: the url has another form.
    """

    def __init__(self, url: str, *, token: str | None = None, retry_s: float = 60.0) -> None:
        self._address = _Address(url, token, retry_s)
        self._http = httpx.AsyncClient(headers=self._address.headers, timeout=_REPLY_S)

    def session(self, env: str | None = None) -> AsyncSession:
        """Return a session of an environment, or of the server's first one; it connects later."""
        return AsyncSession(self._address, env)

    async def problems(
        self,
        id: str,  # noqa: A002 - the word of the row's own key
        *,
        seed: int = 0,
        count: int = 1,
        difficulty: int | tuple[int, int] | None = None,
        **more: Any,
    ) -> list[Row]:
        """Return rows of the seeds ``seed``, ``seed + 1``, ...; at most 1,000.

        Args:
            id: a task or a mixture.
            seed: of the first row.
            count: how many rows.
            difficulty: a difficulty level, or an inclusive range.
            more: ``answer_format``, and ``knobs``, an object.

        Raises:
            ServerError: the server refuses this, or cannot be reached.
        """
        body = {"id": id, "seed": seed, "count": count, "difficulty": difficulty, **more}
        rows: list[Row] = (await self._post("/problems", body))["rows"]
        return rows

    async def verify(self, row: Row, response: str | Sequence[str]) -> Verdict:
        """Return the verdict on a response to a row; see `rlvr_envs.verify`.

        Raises:
            ServerError: the row was altered, or the server cannot be reached.
        """
        return (await self.verify_all([(row, response)]))[0]

    async def verify_all(self, pairs: Iterable[tuple[Row, str | Sequence[str]]]) -> list[Verdict]:
        """Return the verdicts on pairs of row and response, in order.

        Raises:
            ServerError: a row was altered, or the server cannot be reached.
        """
        items = [{"row": row, "response": response} for row, response in pairs]
        found: list[Verdict] = []
        for start in range(0, len(items), _BATCH):
            reply = await self._post("/verify", {"items": items[start : start + _BATCH]})
            found += [Verdict.from_json(_scored(each)) for each in reply["verdicts"]]
        return found

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        async def once() -> dict[str, Any]:
            reply = await self._http.post(self._address.url + path, json=body)
            if reply.status_code == 503:
                raise _Later(_detail(reply))
            if reply.is_error:
                raise ServerError(f"{_detail(reply)} (HTTP {reply.status_code})")
            found: dict[str, Any] = reply.json()
            return found

        return await self._address.persist(once)

    async def close(self) -> None:
        """Close the connections of this client; its sessions have their own."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _detail(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return reply.text[:500]
