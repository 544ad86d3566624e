"""The messages of OpenEnv 0.10: a WebSocket is a session, and every message has one reply.

Messages are ``{"type": "reset" | "step" | "state" | "close" | "mcp", "data": {...}}``; replies are
``observation``, ``state``, ``mcp`` or ``error``. A message that is refused changes nothing, and
the session goes on.
"""

import asyncio
import json
import logging
import time
from contextlib import suppress
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from rlvr_envs.serving.episodes import Turn
from rlvr_envs.serving.guard import UnderWay
from rlvr_envs.serving.mcp import answer_rpc
from rlvr_envs.serving.metrics import Metrics, note
from rlvr_envs.serving.sessions import Session, Sessions, WireError, invalid

_KINDS = ("reset", "step", "state", "close", "mcp")
# Close codes of WebSockets.
_UNUSED = 1001
_TRY_LATER = 1013


class Sockets:
    """Serves the WebSockets of one server.

    Args:
        sessions: who plays what.
        metrics: what counts messages.
        under_way: what counts them until they are answered.
    """

    def __init__(self, sessions: Sessions, metrics: Metrics, under_way: UnderWay) -> None:
        self._sessions = sessions
        self._metrics = metrics
        self._under_way = under_way
        self._closing: set[asyncio.Task[None]] = set()

    async def serve(self, socket: WebSocket, env_id: str) -> None:
        """Serve a WebSocket until either side ends it."""
        await socket.accept()
        key = socket.query_params.get("session_id")
        try:
            session = self._enter(socket, env_id, key)
        except WireError as error:
            await self.refuse(socket, error)
            return
        try:
            while await self._serve_one(socket, session):
                pass
        except (WebSocketDisconnect, RuntimeError):  # the client has gone
            pass
        finally:
            session.attached, session.close = False, None
            if session.ends_with_socket:
                self._sessions.end(session)

    def _enter(self, socket: WebSocket, env_id: str, key: str | None) -> Session:
        client = socket.state.client
        if key:
            session = self._sessions.free(key, client, env_id)
        else:
            session = self._sessions.open(env_id, client)
            session.ends_with_socket = True
        session.attached, session.close = True, lambda reason: self._close(socket, reason)
        return session

    def _close(self, socket: WebSocket, reason: str) -> None:
        async def close() -> None:
            with suppress(RuntimeError, WebSocketDisconnect):
                await socket.close(_UNUSED, reason)

        task = asyncio.create_task(close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def refuse(self, socket: WebSocket, error: WireError) -> None:
        """Send an error to a WebSocket that gets no session, and close it."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await socket.send_text(self._error(error))
            await socket.close(_TRY_LATER)

    async def _serve_one(self, socket: WebSocket, session: Session) -> bool:
        """Answer the next message; return whether there may be another."""
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return False
        with self._under_way.one():
            began = time.perf_counter()
            reply = await self._reply(message.get("text"), session)
            if reply is None:
                await socket.close()
                return False
            await socket.send_text(reply)
            self._metrics.messages.observe(time.perf_counter() - began)
        return True

    async def _reply(self, raw: str | None, session: Session) -> str | None:
        """Return the reply to a message; None when it closes the session."""
        try:
            kind, data = _read(raw)
            if kind == "close":
                return None
            return json.dumps(await self._answer(kind, data, session))
        except WireError as error:
            return self._error(error)
        except Exception:  # noqa: BLE001 - a fault of ours must not end the session
            note("fault", logging.ERROR, trace=True)
            return self._error(WireError("EXECUTION_ERROR", 500, "the server failed; see its log"))

    async def _answer(self, kind: str, data: dict[str, Any], session: Session) -> dict[str, Any]:
        if kind == "reset":
            turn = await self._sessions.reset(session, data)
            return {"type": "observation", "data": payload(turn)}
        if kind == "step":
            turn = await self._sessions.step(session, text_of(data))
            return {"type": "observation", "data": payload(turn)}
        if kind == "state":
            return {"type": "state", "data": session.state()}
        return {"type": "mcp", "data": await answer_rpc(data, self._sessions, session)}

    def _error(self, error: WireError) -> str:
        self._metrics.errors.labels(error.code).inc()
        return json.dumps({"type": "error", "data": {"message": str(error), "code": error.code}})


def _read(raw: str | None) -> tuple[str, dict[str, Any]]:
    """Return the type and the data of a message."""
    try:
        message = json.loads(raw or "")
    except (ValueError, RecursionError) as error:
        raise WireError("INVALID_JSON", 400, f"a message is JSON text: {error}") from None
    if not isinstance(message, dict):
        raise invalid(f"a message is an object with 'type' and 'data', got {message!r:.80}")
    kind, data = message.get("type"), message.get("data", {})
    if kind not in _KINDS:
        raise WireError(
            "UNKNOWN_TYPE", 400, f"the type of a message is {', '.join(_KINDS)}; got {kind!r:.80}"
        )
    if not isinstance(data, dict):
        raise invalid(f"'data' is an object, got {data!r:.80}")
    extra = sorted(set(message) - {"type", "data"})
    if extra:
        raise invalid(f"a message has 'type' and 'data' only, got {', '.join(extra):.80}")
    return kind, data


def text_of(action: dict[str, Any]) -> str:
    """Return the text of an action.

    Some clients read what looks like JSON before they send it, so ``49`` may come as a number.

    Raises:
        WireError: there is no text, or another field.
    """
    if "text" not in action or set(action) - {"text", "metadata"}:
        raise invalid(f"an action has one field, 'text'; got {', '.join(sorted(action)):.80}")
    text = action["text"]
    return text if isinstance(text, str) else json.dumps(text)


def payload(turn: Turn, **more: object) -> dict[str, Any]:
    """Return a turn as OpenEnv's observation: typed clients read the inner metadata."""
    metadata = {**turn.metadata, **more}
    return {
        "observation": {"text": turn.text, "metadata": metadata},
        "reward": turn.reward,
        "done": turn.done,
        "metadata": metadata,
    }
