"""Messages of an agent: which tool does one call, and with what.

The first call of a message is run and nothing else of it; of several answers the last counts.
Thoughts do not count, and neither does text that looks like a tool's result. Any text is read, in
linear time, and never raises.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.thoughts import spoken

SYNTAXES = ("tags", "json")
SEARCH_R1 = "search_r1"  # of Search-R1: a search shows whole documents, and nothing is opened
SOLVER_SYNTAXES = (*SYNTAXES, SEARCH_R1)
MAX_CHARS = 100_000  # of a message; a longer one is not read
MAX_ARGUMENT_CHARS = 4_000

SEARCH, OPEN, FIND, ANSWER = "search", "open", "find", "answer"
QUESTION = "question"  # how a proposer's last call is written; it is an `ANSWER` all the same
_LASTS = (ANSWER, QUESTION)
_TAGS = {SEARCH: "search", OPEN: "access", FIND: "find"}
_ARGUMENTS = {SEARCH: ("query",), OPEN: ("page", "section"), FIND: ("text",)}

# What a model writes to make believe that a tool had spoken.
_RESULTS = ("information", "tool_response", "result", "observation")
_JSON_OPENER = re.compile(rf"<(tool_call|{'|'.join(_RESULTS)})>|^```(json)[ \t]*+$", re.MULTILINE)
_TAG_OPENERS = {
    last: re.compile(rf"<({'|'.join((*_TAGS.values(), last, *_RESULTS))})>") for last in _LASTS
}
_OPENERS = {
    "json": _JSON_OPENER,
    SEARCH_R1: re.compile(rf"<({'|'.join((SEARCH, ANSWER, *_RESULTS))})>"),
}
# What has a meaning in a transcript: the elements above, thoughts, and the marks of chat templates.
_MARKED = "|".join((*_TAGS.values(), *_LASTS, *_RESULTS, "tool_call", "think"))
_MARKS = re.compile(rf"<(?=\s*+/?\s*+(?:{_MARKED})\b|[|\uff5c])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool and what it is given; `more` says that the message went on after it."""

    tool: str
    text: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class Malformed:
    """A message without a call, and the reason in words."""

    reason: str


def parse_action(message: str, syntax: str, last: str = ANSWER) -> Call | Malformed:
    """Return the first call of a message, or why there is none.

    The call that ends an episode is written as `ANSWER` or as `QUESTION`, whichever is ``last``. If
    it comes first and is written again in the same message, the last one counts.
    """
    if len(message) > MAX_CHARS:
        return Malformed(f"the message is longer than {MAX_CHARS} characters")
    text = spoken(message)
    if syntax == "json" and text.lstrip().startswith("{"):
        return _from_json(text.strip(), last, more=False)
    written = _elements(text, syntax, last)
    first = next(written, None)
    if first is None:
        return Malformed("there is no complete call in the message")
    call = _call(first, syntax, last)
    if isinstance(call, Call) and call.tool == ANSWER:
        for element in written:
            again = _call(element, syntax, last)
            if isinstance(again, Call) and again.tool == ANSWER:
                call = again
    return call


# The name of an element, its text, and whether anything follows it.
_Element = tuple[str, str, bool]


def _elements(text: str, syntax: str, last: str) -> Iterator[_Element]:
    """Yield the complete calls of a text, those in made-up results left out."""
    at = 0
    opener = _OPENERS.get(syntax, _TAG_OPENERS[last])
    while opened := opener.search(text, at):
        name = opened[1] or "json"
        close = "```" if name == "json" else f"</{name}>"
        end = text.find(close, opened.end())
        if end < 0:
            return
        at = end + len(close)
        if name not in _RESULTS:
            yield name, text[opened.end() : end].strip(), bool(text[at:].strip())


def _call(element: _Element, syntax: str, last: str) -> Call | Malformed:
    name, body, more = element
    if syntax == "json":
        return _from_json(body, last, more)
    tool = next((tool for tool, tag in _TAGS.items() if tag == name), last)
    return _checked(tool, last, body, more)


def _checked(tool: str, last: str, text: str, more: bool) -> Call | Malformed:
    if not text:
        return Malformed(f"the {tool} call is empty")
    if len(text) > MAX_ARGUMENT_CHARS:
        return Malformed(f"the {tool} call is longer than {MAX_ARGUMENT_CHARS} characters")
    return Call(ANSWER if tool == last else tool, text, more)


def quoted(result: str) -> str:
    """Return the result of a call so that nothing in it ends its frame or looks like a call."""
    return _MARKS.sub("&lt;", result)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; readers differ on what a repeated name means, so that none may be."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name is repeated")
    return made


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _read(body: str) -> Any:
    return json.loads(body, object_pairs_hook=_unique, parse_constant=_no_number)


def _from_json(body: str, last: str, more: bool) -> Call | Malformed:
    arguments_of = {**_ARGUMENTS, last: (last,)}
    try:
        data = _read(body)
        if isinstance(data, dict) and isinstance(data.get("function"), dict):
            data = data["function"]
        arguments = data.get("arguments") if isinstance(data, dict) else None
        if isinstance(arguments, str):
            arguments = _read(arguments)
    except (ValueError, RecursionError):
        return Malformed("the call is not valid JSON, or it repeats a name")
    tool = data.get("name") if isinstance(data, dict) else None
    if not isinstance(tool, str) or tool not in arguments_of or not isinstance(arguments, dict):
        known = ", ".join(arguments_of)
        return Malformed(f'a call needs a "name" (one of {known}) and an object "arguments"')
    names = arguments_of[tool]
    if names[0] not in arguments or not set(arguments) <= set(names):
        return Malformed(f"the arguments of {tool} are: {', '.join(names)}")
    values = [_text(arguments[name]) for name in names if arguments.get(name) is not None]
    if None in values:
        return Malformed(f"an argument of {tool} is neither text nor a number")
    return _checked(tool, last, "#".join(value.strip() for value in values if value), more)


def _text(value: Any) -> str | None:
    """Return an argument as text, a list of names with commas between them."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return None


def call_text(call: Call, syntax: str, last: str = ANSWER) -> str:
    """Return the message that makes a call."""
    tool = last if call.tool == ANSWER else call.tool
    if syntax != "json":
        tag = _TAGS.get(tool, last)
        return f"<{tag}>{call.text}</{tag}>"
    data = {"name": tool, "arguments": {_ARGUMENTS.get(tool, (last,))[0]: call.text}}
    return f"<tool_call>{json.dumps(data, ensure_ascii=False)}</tool_call>"
