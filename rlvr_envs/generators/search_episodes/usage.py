"""How calls are written, in words for the agent, and how a person writes them at a keyboard."""

import re
from collections.abc import Mapping
from functools import partial

from rlvr_envs.core.task import Shorthand
from rlvr_envs.core.tools import BadCall, Tool
from rlvr_envs.generators.search_episodes.browser import Limits
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    FIND,
    OPEN,
    SEARCH,
    SEARCH_R1,
    Call,
    Malformed,
    call_text,
    parse_action,
)

# The element in which a result comes, by syntax.
RESULT = {"tags": "information", "json": "tool_response", SEARCH_R1: "information"}

_SEARCHES = (
    "searches all pages for any of the words, best matches first; words in double quotes must "
    "occur as a phrase"
)
_TOOLS = (
    _SEARCHES,
    "opens a page by its id; search results and links show ids in round brackets",
    "opens one section of a page",
    "finds the sentences that contain this text on the page you opened last",
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
_SHOWS = (
    "searches all pages for any of the words, and shows the documents that match best; words in "
    "double quotes must occur as a phrase"
)
# {last} stands for the name of the last one
_CALLS = {"tags": _TAGS, "json": _JSON, SEARCH_R1: (_TAGS[0], _TAGS[4])}
_DOES = {"tags": _TOOLS, "json": _TOOLS, SEARCH_R1: (_SHOWS, _TOOLS[4])}
_FRAME = "Put a call between <tool_call> and </tool_call>."


def framed(syntax: str) -> tuple[str, str]:
    """Return what stands before a result and after it."""
    name = RESULT[syntax]
    if syntax == SEARCH_R1:
        return f"\n\n<{name}>", f"</{name}>\n\n"
    return f"<{name}>\n", f"\n</{name}>\n"


def usage(syntax: str, last: str = ANSWER) -> str:
    """Return what calls there are and how they are written."""
    lines = [
        f"- {call} {does}" for call, does in zip(_calls(syntax, last), _DOES[syntax], strict=True)
    ]
    frame = [_FRAME] if syntax == "json" else []
    return "\n".join(["Make one of these calls in each message:", *lines, *frame])


def rules(limits: Limits, last: str = ANSWER, syntax: str = "tags") -> str:
    """Return what happens to calls, and how many there are."""
    parts = (
        "You get the result of each call. A long result comes in parts: for part 2, make the call "
        "again and end its text with #2, as in page-id#2."
    )
    if syntax == SEARCH_R1:
        parts = (
            f"A search shows {limits.hits} documents at most: for the next ones, search again and "
            "end the text with #2, as in words#2."
        )
    again = " A call may fail: then make it again." if limits.failure_rate else ""
    return (
        f"{parts}{again}\n\n"
        f"The number of calls is limited: you can make at most {limits.max_calls} before your "
        f"{last}. Every call counts, and so does a message without a readable call. When no "
        f"calls are left, your next message must be the {last}."
    )


def _calls(syntax: str, last: str) -> list[str]:
    return [call.replace("{last}", last) for call in _CALLS[syntax]]


def tools(syntax: str, last: str = ANSWER) -> tuple[Tool, ...]:
    """Return the calls as functions, whichever syntax their actions have."""
    written = partial(_written, syntax=syntax, last=last)
    page = {"page": "The id of the page.", "section": "A heading, to open that section alone."}
    told = [
        (SEARCH, SEARCH, _DOES[syntax][0], {"query": "The words."}),
        (OPEN, OPEN, _TOOLS[1], page),
        (FIND, FIND, _TOOLS[3], {"text": "The text."}),
        (ANSWER, last, _TOOLS[4], {last: f"Your {last}."}),
    ]
    if syntax == SEARCH_R1:
        told = [told[0], told[-1]]
    return tuple(
        Tool(name, does, texts, partial(written, tool), [x for x in texts if x == "section"])
        for tool, name, does, texts in told
    )


def _written(tool: str, arguments: Mapping[str, str], *, syntax: str, last: str) -> str:
    """Return the action of a function call, which is read back as this call and nothing else.

    Raises:
        BadCall: its text would be read as something else.
    """
    text = "#".join(value.strip() for value in arguments.values() if value.strip())
    action = call_text(Call(tool, text), syntax, last)
    read = parse_action(action, syntax, last)
    if isinstance(read, Call) and read != Call(tool, text):
        raise BadCall("the text of a call cannot contain a call, its marks or thoughts")
    return action


# What a person types: the first letter of a call, or its name.
_COMMANDS = ("s words", "o page-id", "o page-id#Section", "f text")
_HITS = re.compile(r"\d+ found(?: \(part .*\))?:")
_HIT = re.compile(r"(?P<title>.+?) \((?P<id>[^()\s]+)\): ")


def shorthand(syntax: str, last: str = ANSWER) -> Shorthand:
    """Return how a person plays by short commands, whichever syntax the calls have."""
    return Shorthand(
        commands=tuple(zip(_commands(syntax, last), _DOES[syntax], strict=True)),
        expand=partial(_expanded, syntax=syntax, last=last),
        shorten=partial(_shortened, syntax=syntax, last=last),
        plain=partial(_plain, syntax=syntax, last=last),
    )


def _commands(syntax: str, last: str) -> tuple[str, ...]:
    shown = _COMMANDS[:1] if syntax == SEARCH_R1 else _COMMANDS
    return (*shown, f"{last[0]} your {last}")


def _expanded(text: str, syntax: str, last: str) -> str | None:
    text = text.strip()
    if text.startswith(("<", "{")):
        return text
    word, _, rest = text.partition(" ")
    for name in (SEARCH, last) if syntax == SEARCH_R1 else (SEARCH, OPEN, FIND, last):
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
    opening, closing = framed(syntax)
    closing = closing.rstrip("\n")
    if text.startswith(opening):
        result, _, told = text.removeprefix(opening).rpartition(closing)
        text = f"{result}\n{told}".rstrip("\n")
    for call, short, does in zip(
        _calls(syntax, last), _commands(syntax, last), _DOES[syntax], strict=True
    ):
        text = text.replace(f"- {call} {does}", f"- {short}: {does}")
    text = text.replace(f"\n{_FRAME}", "")
    head, *lines = text.split("\n")
    if not _HITS.fullmatch(head):
        return text
    return "\n".join(
        [head, *(_HIT.sub(r"- [\g<title>](\g<id>): ", line, count=1) for line in lines)]
    )
