"""The tool of an environment by JSON-RPC, as OpenEnv serves it: ``act(text)``."""

from typing import Any

from rlvr_envs.core.tools import ACT
from rlvr_envs.serving.sessions import Session, Sessions, WireError

_PARSE, _REQUEST, _METHOD, _PARAMS, _SERVER = -32700, -32600, -32601, -32602, -32000

TOOL = {"name": ACT.name, "description": ACT.description, "inputSchema": ACT.parameters}


class RpcError(Exception):
    """A call that is refused."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


async def answer_rpc(
    request: object,
    sessions: Sessions,
    session: Session | None = None,
    *,
    client: str = "",
    env_id: str = "",
) -> dict[str, Any]:
    """Return the response to a JSON-RPC request.

    Args:
        request: what the client sent.
        sessions: all sessions.
        session: that of the WebSocket which the request came by, if it did.
        client: who asks, where there is no WebSocket.
        env_id: what a new session plays.
    """
    number = request.get("id") if isinstance(request, dict) else None
    try:
        method, params = _read(request)
        if method == "openenv/session/create":
            made = session or sessions.open(env_id, client)
            result: object = {"session_id": made.key}
        elif method == "tools/list":
            result = {"tools": [TOOL]}
        else:
            chosen = session or sessions.find(params.get("session_id"), client, env_id)
            result = await _METHODS[method](chosen, params, sessions)
    except RpcError as error:
        return _failure(number, error.code, str(error))
    except WireError as error:
        code = _SERVER if error.status >= 500 else _PARAMS
        return _failure(number, code, str(error))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def parse_failure(reason: str) -> dict[str, Any]:
    """Return the response to what is no JSON."""
    return _failure(None, _PARSE, f"a request is JSON text: {reason}")


def _failure(number: object, code: int, message: str) -> dict[str, Any]:
    error = {"code": code, "message": message, "data": None}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def _read(request: object) -> tuple[str, dict[str, Any]]:
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        raise RpcError(_REQUEST, "a request is an object with jsonrpc '2.0', method and params")
    method, params = request.get("method"), request.get("params", {})
    if method not in ("openenv/session/create", "tools/list", *_METHODS):
        raise RpcError(_METHOD, f"no method {method!r:.80}")
    if not isinstance(params, dict):
        raise RpcError(_PARAMS, f"params is an object, got {params!r:.80}")
    return method, params


async def _call(session: Session, params: dict[str, Any], sessions: Sessions) -> object:
    arguments = params.get("arguments", {})
    if params.get("name") != TOOL["name"]:
        raise RpcError(_PARAMS, f"no tool {params.get('name')!r:.80}: there is 'act'")
    if not isinstance(arguments, dict) or set(arguments) != {"text"}:
        raise RpcError(_PARAMS, f"act takes one argument, 'text'; got {arguments!r:.80}")
    if not isinstance(arguments["text"], str):
        raise RpcError(_PARAMS, f"text is a string, got {arguments['text']!r:.80}")
    turn = await sessions.step(session, arguments["text"])
    fields = {"text": turn.text, "reward": turn.reward, "done": turn.done}
    return {**fields, "metadata": turn.metadata}


async def _close(session: Session, params: dict[str, Any], sessions: Sessions) -> object:
    if session.attached:
        session.ends_with_socket = True
        return {"session_id": session.key, "closed": False, "closing": True}
    sessions.end(session)
    return {"session_id": session.key, "closed": True}


_METHODS = {"tools/call": _call, "openenv/session/close": _close}
