"""How calls are written, in words for the agent, and how a person writes them at a keyboard."""

import re
from functools import partial

from rlvr_envs.core.task import Shorthand
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    FIND,
    OPEN,
    SEARCH,
    Call,
    Malformed,
    call_text,
    parse_action,
)

# The element in which a result comes, by syntax.
RESULT = {"tags": "information", "json": "tool_response"}

_TOOLS = (
    "searches all pages (words in double quotes must stand together)",
    "opens a page by its id, which search results and links give in round brackets",
    "opens one section of it",
    "finds the sentences with a text on the page opened last",
    "ends the task",
)
_TAGS = (
    "<search>words</search>",
    "<access>page-id</access>",
    "<access>page-id#Section</access>",
    "<find>text</find>",
    "<{last}>your {last}</{last}>",
)
_JSON = (
    '{"name": "search", "arguments": {"query": "words"}}',
    '{"name": "open", "arguments": {"page": "page-id"}}',
    '{"name": "open", "arguments": {"page": "page-id", "section": "Section"}}',
    '{"name": "find", "arguments": {"text": "text"}}',
    '{"name": "{last}", "arguments": {"{last}": "your {last}"}}',
)
_CALLS = {"tags": _TAGS, "json": _JSON}  # {last} stands for the name of the last one
_FRAME = "Put a call between <tool_call> and </tool_call>."


def usage(syntax: str, last: str = ANSWER) -> str:
    """Return what calls there are and how they are written."""
    lines = [f"- {call} {does}" for call, does in zip(_calls(syntax, last), _TOOLS, strict=True)]
    frame = [_FRAME] if syntax == "json" else []
    return "\n".join(["The calls are:", *lines, *frame])


def _calls(syntax: str, last: str) -> list[str]:
    return [call.replace("{last}", last) for call in _CALLS[syntax]]


# What a person types: the first letter of a call, or its name.
_COMMANDS = ("s words", "o page-id", "o page-id#Section", "f text")
_HITS = re.compile(r"\d+ found(?: \(part .*\))?:")
_HIT = re.compile(r"(?P<title>.+?) \((?P<id>[^()\s]+)\): ")


def shorthand(syntax: str, last: str = ANSWER) -> Shorthand:
    """Return how a person plays by short commands, whichever syntax the calls have."""
    return Shorthand(
        commands=tuple(zip(_commands(last), _TOOLS, strict=True)),
        expand=partial(_expanded, syntax=syntax, last=last),
        shorten=partial(_shortened, syntax=syntax, last=last),
        plain=partial(_plain, syntax=syntax, last=last),
    )


def _commands(last: str) -> tuple[str, ...]:
    return (*_COMMANDS, f"{last[0]} your {last}")


def _expanded(text: str, syntax: str, last: str) -> str | None:
    text = text.strip()
    if text.startswith(("<", "{")):
        return text
    word, _, rest = text.partition(" ")
    for name in (SEARCH, OPEN, FIND, last):
        if word in (name, name[0]) and rest.strip():
            tool = ANSWER if name == last else name
            return call_text(Call(tool, rest.strip()), syntax, last)
    return None


def _shortened(action: str, syntax: str, last: str) -> str:
    call = parse_action(action, syntax, last)
    if isinstance(call, Malformed):
        return action
    return f"{last[0] if call.tool == ANSWER else call.tool[0]} {call.text}"


def _plain(text: str, syntax: str, last: str) -> str:
    """Return an observation without its frame, with short commands and with hits as a list."""
    opening, closing = f"<{RESULT[syntax]}>\n", f"\n</{RESULT[syntax]}>"
    if text.startswith(opening):
        result, _, told = text.removeprefix(opening).rpartition(closing)
        text = f"{result}\n{told}"
    for call, short, does in zip(_calls(syntax, last), _commands(last), _TOOLS, strict=True):
        text = text.replace(f"- {call} {does}", f"- {short}: {does}")
    text = text.replace(f"\n{_FRAME}", "")
    head, *lines = text.split("\n")
    if not _HITS.fullmatch(head):
        return text
    return "\n".join(
        [head, *(_HIT.sub(r"- [\g<title>](\g<id>): ", line, count=1) for line in lines)]
    )
