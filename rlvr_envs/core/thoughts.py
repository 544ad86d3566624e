"""What of a response is said, and what is only thought: `spoken`.

Thoughts stand between delimiters that differ from model to model. Those of the models in use are
known (`DELIMITERS`); the environment variable ``RLVR_THOUGHTS`` adds others, as a JSON list of
pairs: ``[["<plan>", "</plan>"]]``.
"""

import json
import os
import re
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
# Possessive quantifiers: a hostile line cannot make the match quadratic.
_FENCE = re.compile(
    r"^((?:[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]++)?+[ \t]*+)(`{3,}+|~{3,}+)"
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
    if marks:
        marks = _meant(response, marks)
    begin, end = 0, len(response)
    for mark in marks:
        if mark[0].lower() in closing:
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
    found = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
            continue
        indent = len(opened[1])
        closes = not fence[3] and not fence[1].strip() and fence[2].startswith(opened[2])
        if closes and len(fence[1]) <= indent + 3:
            body = text[opened.end() + 1 : max(opened.end() + 1, fence.start() - 1)]
            found.append((opened[3].lower(), _dedented(body, indent), opened.start(), fence.end()))
            opened = None
    return found


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


def _meant(text: str, marks: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the delimiters that are meant as such, and not spoken of or part of code."""
    spans = [(start, end) for _, _, start, end in code_blocks(text)]
    kept, at = [], 0
    for mark in marks:
        while at < len(spans) and spans[at][1] <= mark.start():
            at += 1
        in_code = at < len(spans) and spans[at][0] < mark.start()
        before = text[max(0, mark.start() - _REACH) : mark.start()]
        after = text[mark.end() : mark.end() + _REACH]
        alone = not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
        mentioned = (
            (before[-1:] in _QUOTES and before != "")
            or _BEFORE.search(before) is not None
            or _AFTER.match(after) is not None
        )
        if alone or not (in_code or mentioned):
            kept.append(mark)
    return kept
