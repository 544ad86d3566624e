"""Tool calls of chat completions: how tools are offered, what a call means, what goes back.

A task plays text. The first call of a reply becomes the action that it stands for; what stands
beside it is not judged. A call that means no action is played as an empty message, so it costs
what any message without an action costs, and a replay of the actions ends in the same verdict.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.tools import BadCall, Tool
from rlvr_envs.evaluation.event_stream import BadReply
from rlvr_envs.evaluation.policy import Call, Message, Response

NOT_RUN = "Only one call a turn: this one was not run."

_SHOWN = 80  # characters of a name that a message repeats


@dataclass(frozen=True, slots=True)
class Turn:
    """What a response does: its action, and why its call was not run, if it was not."""

    action: str
    fault: str = ""


def function(tool: Tool) -> dict[str, Any]:
    """Return how a request offers a tool."""
    about = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": about}


def played(response: Response, tools: Sequence[Tool]) -> Turn:
    """Return what a response does in an episode that has these tools."""
    if not response.calls:
        return Turn(response.text)
    try:
        return Turn(_action(response.calls[0], tools))
    except BadCall as error:
        return Turn("", f"The call was not run: {error}.")


def _action(call: Call, tools: Sequence[Tool]) -> str:
    name = call["function"]["name"]
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        known = ", ".join(tool.name for tool in tools)
        raise BadCall(f"there is no tool {name[:_SHOWN]!r} (tools: {known})")
    return tool.action(_arguments(call))


def messages_after(response: Response, turn: Turn, reply: str, number: int) -> list[Message]:
    """Return the messages of a turn: what the model did, and what the task replied.

    Args:
        response: of the model.
        turn: what it did.
        reply: the task's text.
        number: of the turn, for calls that came without an id.
    """
    if not response.calls:
        return [{"role": "assistant", "content": response.text}, {"role": "user", "content": reply}]
    if turn.fault:
        reply = f"{turn.fault}\n{reply}"
    calls = [_sent_back(call, f"call_{number}_{i}") for i, call in enumerate(response.calls)]
    contents = [reply, *[NOT_RUN] * (len(calls) - 1)]
    return [
        {"role": "assistant", "content": response.text, "tool_calls": calls},
        *(
            {"role": "tool", "tool_call_id": call["id"], "content": content}
            for call, content in zip(calls, contents, strict=True)
        ),
    ]


def read_calls(data: object) -> tuple[Call, ...]:
    """Return the calls of a reply as they are kept: an id, a name, and arguments as JSON text.

    Raises:
        BadReply: they are no calls.
    """
    if not isinstance(data, list) or not all(isinstance(call, dict) for call in data):
        raise BadReply("the tool calls are no list of objects")
    return tuple(map(_read, data))


def _read(call: Mapping[str, Any]) -> Call:
    called = call.get("function")
    if not isinstance(called, dict):
        raise BadReply("a tool call has no function")
    arguments = called.get("arguments")
    if not isinstance(arguments, str):  # some servers send an object
        arguments = _json(arguments or {})
    return {
        "id": _text(call.get("id")),
        "type": "function",
        "function": {"name": _text(called.get("name")), "arguments": arguments},
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _json(data: object) -> str:
    try:
        return json.dumps(data)
    except RecursionError as error:
        raise BadReply("the arguments are nested too deeply") from error


def _arguments(call: Call) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        BadCall: they are no JSON object.
    """
    try:
        # A function without arguments may be called with an empty text.
        found = json.loads(call["function"]["arguments"] or "{}", parse_constant=_no_number)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadCall("the arguments are no JSON object")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _sent_back(call: Call, name: str) -> Call:
    """Return a call as a server accepts it in a conversation: chat templates read its arguments."""
    try:
        arguments = _json(_arguments(call))
    except (BadCall, BadReply):
        arguments = "{}"
    called = {"name": call["function"]["name"] or "unknown", "arguments": arguments}
    return {**call, "id": call["id"] or name, "function": called}
