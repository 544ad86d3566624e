"""Tokens of a Verilog text, for what has to look at one before any tool does."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Token(NamedTuple):
    """A piece of the text."""

    kind: str  # what it is
    text: str  # as it stands there
    line: int  # in which line, counted from 1
    macro: bool = False  # whether it stands in the text of a macro's definition


class Forbidden(Exception):
    """The text may not be given to the tools; the argument says why."""


# Repetitions are possessive, or of groups that begin with what ends the one before: nothing is
# tried twice. What a lone quote, backslash or comment mark begins has no end: it is refused.
TOKEN = re.compile(
    r"""
      (?P<comment>   //[^\n]*+ | /\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/ )
    | (?P<newline>   \n )
    | (?P<space>     [ \t\f\v]++ )
    | (?P<continued> \\\n )
    | (?P<triple>    \"\"\" )
    | (?P<string>    "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*" )
    | (?P<escaped>   \\[^\s]++ )
    | (?P<system>    \$[\w$]++ )
    | (?P<directive> `[A-Za-z_]\w*+ )
    | (?P<open>      \(\*(?!\s*+\)) )
    | (?P<close>     \*\) )
    | (?P<word>      [A-Za-z_][\w$]*+ )
    | (?P<number>    [0-9][0-9_]*+ )
    | (?P<unclosed>  /\* )
    | (?P<other>     . )
    """,
    re.VERBOSE | re.ASCII,
)
LAYOUT = frozenset({"comment", "newline", "space", "continued"})


def tokens_of(text: str) -> Iterator[Token]:
    """Cut a text into tokens, of which the texts together are the text again.

    Raises:
        Forbidden: a comment or a string has no end, so that what follows cannot be read.
    """
    line = 1
    define = False  # from `define to the macro's name
    macro = False
    for match in TOKEN.finditer(text):
        kind, piece = match.lastgroup or "other", match[0]
        if kind == "unclosed":
            raise Forbidden(f"line {line}: a comment begins with /* and does not end")
        if piece == '"':
            raise Forbidden(f"line {line}: a string does not end in its line")
        if kind == "space":
            yield Token(kind, piece, line, macro)
            continue
        inside = macro
        if kind == "newline" or (kind == "comment" and "\n" in piece):
            define = macro = inside = False
        elif define and kind not in LAYOUT:
            define, macro = False, True
        elif piece == "`define" and not macro:
            define = True
        yield Token(kind, piece, line, inside)
        line += piece.count("\n") if kind in LAYOUT else 0


def ends_line(token: Token) -> bool:
    """Whether a token ends a line for a directive; a backslash before the end does not."""
    return token.kind == "newline" or (token.kind == "comment" and "\n" in token.text)


def blank(text: str) -> str:
    """Return spaces in place of a text; its lines stay."""
    return re.sub(r"[^\n]", " ", text)


def without_layout(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens that are no comments and no spaces."""
    return [token for token in tokens if token.kind not in LAYOUT]
