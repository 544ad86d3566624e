"""A chat completion that comes as server-sent events, put together to one that came whole.

The lines are read as the HTML standard says (section 9.2.6); only the data of events matters here.
"""

import io
import json
from typing import Any

from rlvr_envs.core.errors import RlvrEnvsError

DONE = "[DONE]"

# What a delta says of the reasoning, under the name that the server gives it.
REASONING = ("reasoning_content", "reasoning")


class BadReply(RlvrEnvsError, ValueError):
    """A reply is no chat completion; the message may quote all of it, with the key."""


class EventStream:
    """Takes the pieces of a stream, cut anywhere, and keeps no more of them than a limit.

    Args:
        most_bytes: the longest line, the longest event, and the longest completion.

    Errors hold what the server sent, uncut: a key that it repeats has to be redacted first.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._line = bytearray()
        self._after_return = False
        self._data: list[str] = []
        self._event_size = 0
        self._kept = 0
        self._ended = False
        self._finish: object = None
        self._usage: object = None
        self._texts = {name: io.StringIO() for name in ("content", *REASONING)}
        self._calls: dict[int, _Call] = {}

    def take(self, piece: bytes) -> bool:
        """Read a piece; return whether the stream has said that it ends.

        Raises:
            BadReply: it is no stream of a completion, or it is too long.
        """
        if not piece:
            return False
        if self._after_return:  # a line end may come in two pieces
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        *lines, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._grow(line)
            self._read(bytes(self._line))
            self._line.clear()
            if self._ended:
                return True
        self._grow(rest)
        return False

    def completion(self) -> dict[str, Any]:
        """Return the completion as the body of a whole reply has it, once the stream is over.

        Raises:
            BadReply: the stream broke off.
        """
        if not self._ended and self._line:
            self._read(bytes(self._line))
        if not self._ended:
            self._read(b"")
        if not self._ended and self._finish is None:
            raise BadReply("the stream broke off")
        message: dict[str, Any] = {name: text.getvalue() for name, text in self._texts.items()}
        if self._calls:
            message["tool_calls"] = [call.to_json() for call in self._calls.values()]
        return {
            "choices": [{"message": message, "finish_reason": self._finish}],
            "usage": self._usage,
        }

    def _grow(self, part: bytes) -> None:
        self._line += part
        if len(self._line) > self._most_bytes:
            raise BadReply("a line of the stream is too long")

    def _read(self, line: bytes) -> None:
        """Read a line; an empty one ends an event."""
        if line:
            name, _, value = line.decode("utf-8", "replace").partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
                self._event_size += len(line)
                if self._event_size > self._most_bytes:
                    raise BadReply("an event of the stream is too long")
            return
        data, self._data, self._event_size = "\n".join(self._data), [], 0
        if data.strip() == DONE:
            self._ended = True
        elif data:
            self._add(data)

    def _add(self, data: str) -> None:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadReply(f"an event of the stream is not JSON: {data}") from error
        if not isinstance(chunk, dict) or chunk.get("error"):
            raise BadReply(f"the stream says: {data}")
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices") or []
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            raise BadReply(f"a choice is an object: {data}")
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise BadReply(f"a delta is an object: {data}")
        for name, text in self._texts.items():
            self._write(text, delta.get(name))
        calls = delta.get("tool_calls") or []
        for call in calls if isinstance(calls, list) else []:
            self._add_call(call)

    def _write(self, kept: io.StringIO, text: object) -> None:
        if text is None:
            return
        if not isinstance(text, str):
            raise BadReply(f"the text of a delta is no text: {json.dumps(text)}")
        self._keep(len(text))
        kept.write(text)

    def _keep(self, size: int) -> None:
        self._kept += size
        if self._kept > self._most_bytes:
            raise BadReply("the completion is too long")

    def _add_call(self, delta: object) -> None:
        """Add a part of a call: the first says its name, and all say its number."""
        function = delta.get("function") if isinstance(delta, dict) else None
        if not isinstance(delta, dict) or not isinstance(function, dict):
            raise BadReply(f"a tool call is an object with a function: {json.dumps(delta)}")
        number = delta.get("index")
        if not isinstance(number, int):  # some servers send each call whole, without a number
            number = len(self._calls)
        if number not in self._calls:
            self._calls[number] = _Call()
            self._keep(_CALL_SIZE)
        call = self._calls[number]
        self._write(call.id, None if call.id.tell() else delta.get("id"))
        self._write(call.name, None if call.name.tell() else function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        self._write(call.arguments, arguments)


_CALL_SIZE = 1_000  # bytes that a call takes beside its texts


class _Call:
    """A call under way."""

    def __init__(self) -> None:
        self.id, self.name, self.arguments = io.StringIO(), io.StringIO(), io.StringIO()

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id.getvalue(),
            "type": "function",
            "function": {"name": self.name.getvalue(), "arguments": self.arguments.getvalue()},
        }
