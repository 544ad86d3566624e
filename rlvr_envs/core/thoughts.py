"""What of a response is said, and what is only thought: `spoken`.

Thoughts stand between delimiters that differ from model to model. Those of the models in use are
known (`DELIMITERS`); the environment variable ``RLVR_THOUGHTS`` adds others, as a JSON list of
pairs: ``[["<plan>", "</plan>"]]``.
"""

import json
import os
import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError

VARIABLE = "RLVR_THOUGHTS"

DELIMITERS = (
    ("<think>", "</think>"),  # Qwen, DeepSeek, GLM, MiniMax, Nemotron and most others
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("<longcat_think>", "</longcat_think>"),
    ("[THINK]", "[/THINK]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi-VL
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # Sky-T1
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A
    ("<unused94>thought", "<unused95>"),  # MedGemma
    ("<|channel|>analysis", "<|channel|>final<|message|>"),  # gpt-oss
    ("<|channel|>commentary", "<|channel|>final<|message|>"),
)

# Zero-width characters, marks of direction, the byte-order mark and the soft hyphen.
_INVISIBLE = dict.fromkeys(
    (
        *(0xAD, 0x34F, 0x180E, 0xFEFF),
        *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A)),
    )
)
# What may be left at the end of a response whose special tokens were not skipped.
_ENDS = ("<|return|>", "<|end|>", "<|im_end|>", "<|eot_id|>", "<|endoftext|>")
# A delimiter is only mentioned if it is quoted, follows a word such as "after", or is called a tag.
_QUOTES = "`\"'“‘«"
_BEFORE = re.compile(
    r"(?:\b(?:a|after|an|and|before|between|closing|each|every|in|inside|my|no|of|opening|or|the|to|use|using|with)"
    r"|,)[ \t]+\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[ \t]+(?:blocks?|delimiters?|markers?|sections?|tags?|tokens?)\b", re.IGNORECASE
)
_REACH = 12  # characters that are looked at before a delimiter
_MOST_FENCES = 1_000  # lines that begin or end a code block, at the end of a text
# Possessive quantifiers: a hostile line cannot make the match quadratic.
_FENCE = re.compile(
    r"^((?:[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]++)?[ \t]*+)(`{3,}+|~{3,}+)"
    r"[ \t]*+([^\s`]*+)[^\n`]*+$",
    re.MULTILINE,
)


def visible(text: str) -> str:
    """Return a text without invisible characters."""
    return text if text.isascii() else text.translate(_INVISIBLE)


def spoken(response: str) -> str:
    """Return the response without its thoughts, in linear time.

    What counts stands after the last closing delimiter, and before an opening one that is not
    closed. A delimiter inside a code block, in quotes, or spoken of ("after </think>") is none.
    """
    pattern, closing = _delimiters(os.environ.get(VARIABLE, ""))
    marks = list(pattern.finditer(response))
    begin, end = 0, len(response)
    for mark, closes in _meant(response, marks, closing) if marks else ():
        if closes:
            begin, end = mark.end(), len(response)
        elif end == len(response):
            end = mark.start()
    said = response[begin:end]
    for _ in range(2):  # there are two at most: the turn's, and the text's
        bare = said.rstrip()
        said = next((bare.removesuffix(mark) for mark in _ENDS if bare.endswith(mark)), said)
    return said


def code_blocks(text: str) -> list[tuple[str, str, int, int]]:
    """Return the complete fenced blocks: language in small letters, body, start and end.

    As in CommonMark, a block in a list may be indented, and its lines lose that indentation.
    """
    fences = _Fences(text)
    found, at = [], 0
    while at < len(fences.all):
        opened, closer = fences.all[at], fences.closer(at)
        if closer is None:
            at += 1
            continue
        close = fences.all[closer]
        body = text[opened.end() + 1 : max(opened.end() + 1, close.start() - 1)]
        body = _dedented(body, len(opened[1]))
        found.append((opened[3].lower(), body, opened.start(), close.end()))
        at = closer + 1
    return found


class _Fences:
    """The last fence lines of a text, and which of them closes which."""

    def __init__(self, text: str) -> None:
        # Each is compared with all that follow it, so a hostile text has its number bounded.
        self.all = list(deque(_FENCE.finditer(text), maxlen=_MOST_FENCES))
        self._closers: dict[int, int | None] = {}

    def closer(self, at: int) -> int | None:
        """Return the place of the fence that closes one, or None if it is never closed."""
        if at not in self._closers:
            opened, later = self.all[at], range(at + 1, len(self.all))
            closing = (place for place in later if _closes(self.all[place], opened))
            self._closers[at] = next(closing, None)
        return self._closers[at]


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    """Whether a fence line ends the block of another: bare, as long, and indented no deeper."""
    bare = not fence[3] and not fence[1].strip()
    return bare and fence[2].startswith(opened[2]) and len(fence[1]) <= len(opened[1]) + 3


def _dedented(body: str, indent: int) -> str:
    if not indent:
        return body
    lines = body.split("\n")
    return "\n".join(line[min(indent, len(line) - len(line.lstrip())) :] for line in lines)


@lru_cache(maxsize=4)
def _delimiters(added: str) -> tuple[re.Pattern[str], frozenset[str]]:
    """Return a pattern of all delimiters, and the closing ones in small letters."""
    pairs = [*DELIMITERS, *_pairs(added)]
    texts = sorted({text for pair in pairs for text in pair}, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, texts)), re.IGNORECASE)
    return pattern, frozenset(close.lower() for _, close in pairs)


def _pairs(added: str) -> list[tuple[str, str]]:
    if not added.strip():
        return []
    try:
        return [(str(begin), str(end)) for begin, end in json.loads(added) if begin and end]
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"{VARIABLE} is a JSON list of pairs of texts, such as "
            f'[["<plan>", "</plan>"]]; got {added!r:.80}'
        ) from error


def _meant(
    text: str, marks: list[re.Match[str]], closing: frozenset[str]
) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield the delimiters that are meant as such, and whether each ends a thought.

    Within a thought only its end is looked for: a code block in it may be cut off.
    """
    fences, at = _Fences(text), 0
    thinking = False
    for mark in marks:
        closes = mark[0].lower() in closing
        if thinking:
            in_code, alone = not closes, False
        else:
            at, in_code = _in_code(fences, at, mark.start())
            line_before = text[max(0, mark.start() - _REACH) : mark.start()].rpartition("\n")[2]
            line_after = text[mark.end() : mark.end() + _REACH].partition("\n")[0]
            alone = not line_before.strip() and not line_after.strip()
        if alone or not (in_code or _is_mentioned(text, mark)):
            thinking = not closes
            while at < len(fences.all) and fences.all[at].start() < mark.end():
                at += 1
            yield mark, closes


def _in_code(fences: _Fences, at: int, place: int) -> tuple[int, bool]:
    """Return the first fence that may matter from a place on, and whether a block holds it."""
    while at < len(fences.all) and fences.all[at].start() < place:
        closer = fences.closer(at)
        if closer is None:
            at += 1
        elif fences.all[closer].start() > place:
            return at, True
        else:
            at = closer + 1
    return at, False


def _is_mentioned(text: str, mark: re.Match[str]) -> bool:
    """Whether a delimiter is quoted, follows a word such as "after", or is called a tag."""
    before = text[max(0, mark.start() - _REACH) : mark.start()]
    quoted = before != "" and before[-1] in _QUOTES
    return quoted or bool(_BEFORE.search(before) or _AFTER.match(text, mark.end()))
