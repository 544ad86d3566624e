"""How calls are written, in words for the agent, and how a person writes them at a keyboard."""

import re
from functools import partial

from rlvr_envs.core.task import Shorthand
from rlvr_envs.envs.search._protocol import (
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
    "<answer>your answer</answer>",
)
_JSON = (
    '{"name": "search", "arguments": {"query": "words"}}',
    '{"name": "open", "arguments": {"page": "page-id"}}',
    '{"name": "open", "arguments": {"page": "page-id", "section": "Section"}}',
    '{"name": "find", "arguments": {"text": "text"}}',
    '{"name": "answer", "arguments": {"answer": "your answer"}}',
)
_CALLS = {"tags": _TAGS, "json": _JSON}
_FRAME = "Put a call between <tool_call> and </tool_call>."


def usage(syntax: str) -> str:
    """Return what calls there are and how they are written."""
    lines = [f"- {call} {does}" for call, does in zip(_CALLS[syntax], _TOOLS, strict=True)]
    frame = [_FRAME] if syntax == "json" else []
    return "\n".join(["The calls are:", *lines, *frame])


# What a person types: the first letter of a call, or its name.
_SHORT = {tool[0]: tool for tool in (SEARCH, OPEN, FIND, ANSWER)}
_COMMANDS = ("s words", "o page-id", "o page-id#Section", "f text", "a your answer")
# What ends a task goes by other names in other tasks.
_LAST = re.compile(rf"^- .*\byour (?P<what>(?P<key>\w)\w*)\b.* {_TOOLS[-1]}$", re.MULTILINE)
_HITS = re.compile(r"\d+ found(?: \(part .*\))?:")
_HIT = re.compile(r"(?P<title>.+?) \((?P<id>[^()\s]+)\): ")


def shorthand(syntax: str) -> Shorthand:
    """Return how a person plays by short commands, whichever syntax the calls have."""
    return Shorthand(
        commands=tuple(zip(_COMMANDS, _TOOLS, strict=True)),
        expand=partial(_expanded, syntax=syntax),
        shorten=partial(_shortened, syntax=syntax),
        plain=partial(_plain, syntax=syntax),
    )


def _expanded(text: str, syntax: str) -> str | None:
    text = text.strip()
    if text.startswith(("<", "{")):
        return text
    word, _, rest = text.partition(" ")
    tool = _SHORT.get(word, word if word in _SHORT.values() else None)
    return call_text(Call(tool, rest.strip()), syntax) if tool and rest.strip() else None


def _shortened(action: str, syntax: str) -> str:
    call = parse_action(action, syntax)
    return action if isinstance(call, Malformed) else f"{call.tool[0]} {call.text}"


def _plain(text: str, syntax: str) -> str:
    """Return an observation without its frame, with short commands and with hits as a list."""
    opening, closing = f"<{RESULT[syntax]}>\n", f"\n</{RESULT[syntax]}>"
    if text.startswith(opening):
        result, _, told = text.removeprefix(opening).rpartition(closing)
        text = f"{result}\n{told}"
    for call, short, does in zip(_CALLS[syntax], _COMMANDS, _TOOLS, strict=True):
        text = text.replace(f"- {call} {does}", f"- {short}: {does}")
    text = _LAST.sub(rf"- \g<key> your \g<what>: {_TOOLS[-1]}", text)
    text = text.replace(f"\n{_FRAME}", "")
    head, *lines = text.split("\n")
    if not _HITS.fullmatch(head):
        return text
    return "\n".join(
        [head, *(_HIT.sub(r"- [\g<title>](\g<id>): ", line, count=1) for line in lines)]
    )
