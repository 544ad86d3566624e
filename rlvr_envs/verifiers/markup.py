r"""Answers without the markup that models put around words and grids in a box or a tag."""

import re

_FENCED = re.compile(r"```[^`\n]*\n(.*)\n[ \t]*```", re.DOTALL)
_TEXT = re.compile(r"\\(?:text(?:bf|tt|it|rm|sf)?|math(?:rm|tt|bf|sf|it))\{([^{}]*)\}")
_QUOTED = re.compile(r"`([^`]+)`")
_SPACE = re.compile(r"\\(?:[ ,;:!]|q?quad(?![A-Za-z]))")
_ARROW = re.compile(r"\\(?:to|(?:long)?(?:right|Right)arrow)(?![A-Za-z])")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
_BETWEEN = re.compile(r"(?<=[^\s])[ \t]{0,4}(->|→|-)[ \t]{0,4}")
_MOVES = re.compile(r"(?<=-)(\w+)(?:->|→)(?=\w+-)")
_AROUND = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"))


def unmarked(text: str) -> str:
    r"""Return text without TeX's commands, and without a fence, quotes or marks around it.

    The quotes are backquotes; the marks are ``$``, ``\(`` and ``**``.
    What stands inside of ``\text{...}`` and its like stays; ``\{`` and ``\}`` become braces, and
    commands for spaces become spaces.
    """
    text = text.strip()
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1].strip()
    elif quoted := _QUOTED.fullmatch(text):
        text = quoted[1].strip()
    for before, after in _AROUND:
        long_enough = len(text) > len(before) + len(after)
        if long_enough and text.startswith(before) and text.endswith(after):
            text = text[len(before) : -len(after)].strip()
    if "\\" in text:
        text = _SPACE.sub(" ", _TEXT.sub(r"\1", text))
        text = _ARROW.sub("→", text.replace(r"\{", "{").replace(r"\}", "}")).strip()
    return text


def hyphened(text: str) -> str:
    """Return text with a hyphen for each dash and minus sign, and no blanks at hyphens and arrows.

    A move such as ``A - B`` becomes one word; an arrow between two such moves becomes a comma.
    """
    if "\\" in text:
        text = _ARROW.sub("→", text)
    return _MOVES.sub(r"\1, ", _BETWEEN.sub(r"\1", text.translate(_DASHES)))
