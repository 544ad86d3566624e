"""A Verilog source as tokens and their parts: enough to change one or leave one out.

It reads what the families of designs write. Anything else is read as tokens all the same, and may
have fewer parts than it should.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<skip>      \s++ | //[^\n]*+ | /\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/ )
    | (?P<string>    "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*" )
    | (?P<directive> `\w*+ )
    | (?P<system>    \$[\w$]++ )
    | (?P<number>    (?:[0-9][0-9_]*+)?'[sS]?[bodhBODH][0-9a-fA-FxXzZ?_]++ | '[01xXzZ](?!\w)
                     | [0-9][0-9_]*+ )
    | (?P<word>      [A-Za-z_][\w$]*+ )
    | (?P<symbol>    <<<= | >>>= | === | !== | ==\? | !=\? | <<< | >>> | <<= | >>= | \*\* | &&
                     | \|\| | == | != | <= | >= | << | >> | ~& | ~\| | ~\^ | \^~ | \+\+ | --
                     | [-+*/%&|^]= | :: | [-+]: | . )
    """,
    re.VERBOSE | re.ASCII,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TYPES = frozenset({"wire", "reg", "logic", "integer", "input", "output", "bit", "int"})
_ADJECTIVES = frozenset({"signed", "unsigned", "automatic", "static", *_TYPES})


class Token(NamedTuple):
    """A piece of the text."""

    kind: str  # word, number, symbol, system, directive or string
    text: str  # as it stands there; an operator or a constant with its base is one token
    start: int  # where it begins in the source
    end: int  # where it ends


class Part(NamedTuple):
    """Some tokens that belong together.

    Attributes:
        kind: value (the right side of an assignment), condition (of an if), selector (of a case),
            item (a statement in a list), branch (of an if or a loop), arm (of a case), entry (an
            arm with its label), process (of an always), else (with the word), edges (of an always),
            body (between begin and end), range (of the declaration of something inside).
        first: the number of the first token.
        last: the number after the last token.
    """

    kind: str
    first: int
    last: int


def tokens(source: str) -> Iterator[Token]:
    """Cut a source into tokens; spaces and comments are left out."""
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup or "symbol"
        if kind != "skip":
            yield Token(kind, match[0], match.start(), match.end())


@dataclass(slots=True)
class Code:
    """A source that was read.

    Attributes:
        source: as it was.
        tokens: all of them.
        parts: in the order in which they end.
        widths: name → the range it was declared with, as text, empty for one bit.
        closing: the number of an opening bracket → that of the bracket that closes it.
    """

    source: str
    tokens: list[Token]
    parts: list[Part] = field(default_factory=list)
    widths: dict[str, str] = field(default_factory=dict)
    closing: dict[int, int] = field(default_factory=dict)

    def text(self, first: int, last: int) -> str:
        """Return the source from one token to before another, with what lies between."""
        return self.source[self.tokens[first].start : self.tokens[last - 1].end]

    def line(self, number: int) -> int:
        """Return the line of a token, from 1."""
        return self.source.count("\n", 0, self.tokens[number].start) + 1

    def replaced(self, first: int, last: int, new: str) -> str:
        """Return the source with other text in place of some tokens."""
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        return self.source[:start] + new + self.source[end:]

    def of(self, *kinds: str) -> list[Part]:
        """Return the parts of some kinds."""
        return [part for part in self.parts if part.kind in kinds]


def read_code(source: str) -> Code:
    """Return a source with its parts."""
    code = Code(source, list(tokens(source)))
    open_brackets: list[int] = []
    for number, token in enumerate(code.tokens):
        if token.text in _CLOSING:
            open_brackets.append(number)
        elif token.text in _CLOSING.values() and open_brackets:
            code.closing[open_brackets.pop()] = number
    _Reader(code).module()
    return code


class _Reader:
    """Goes through the tokens once; a method takes where it begins and returns where it ends."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._end = len(code.tokens)
        self._loops = frozenset({"for", "while", "repeat"})

    def module(self) -> None:
        at = 0
        while at < self._end:
            word = self._text(at)
            if word in ("always", "always_ff", "always_comb"):
                at = self._process(at + 1)
            elif word == "assign":
                at = self._values(at + 1)
            elif word in _TYPES:
                at = self._declaration(at)
            elif word == "function":
                at = self._function(at)
            elif word in self._loops or word == "if":  # of what is generated
                at = self._after_brackets(at + 1)
            else:
                at += 1

    def _text(self, at: int) -> str:
        return self._code.tokens[at].text if at < self._end else ""

    def _add(self, kind: str, first: int, last: int) -> None:
        if first < last:
            self._code.parts.append(Part(kind, first, last))

    def _after_brackets(self, at: int) -> int:
        return self._code.closing.get(at, at) + 1

    def _find(self, at: int, *wanted: str) -> int:
        """Return where one of some symbols stands outside all brackets."""
        while at < self._end and self._text(at) not in wanted:
            at = self._after_brackets(at)
        return at

    def _process(self, at: int) -> int:
        if self._text(at) == "@":
            if self._text(at + 1) == "(":
                self._add("edges", at + 2, self._code.closing.get(at + 1, at + 2))
            at = self._after_brackets(at + 1)
        return self._statement(at, "process")

    def _values(self, at: int) -> int:
        """Read assignments with commas between, up to a semicolon."""
        end = self._find(at, ";")
        while at < end:
            after = self._find(at, ",", ";")
            equals = self._find(at, "=", ",", ";")
            if self._text(equals) == "=":
                self._add("value", equals + 1, after)
            at = after + 1
        return end + 1

    def _declaration(self, at: int) -> int:
        """Read the declaration of ports, variables or wires."""
        is_port = self._text(at) in ("input", "output")
        while self._text(at) in _ADJECTIVES:
            at += 1
        width = ""
        while self._text(at) == "[":
            if not is_port:
                self._add("range", at, self._after_brackets(at))
            width += self._code.text(at, self._after_brackets(at))
            at = self._after_brackets(at)
        if is_port:
            self._code.widths[self._text(at)] = width
            return at + 1
        name = at
        while self._text(name) not in ("", ";"):
            if self._text(name + 1) != "[":  # no memory
                self._code.widths[self._text(name)] = width
            name = self._find(name, ",", ";")
            name += self._text(name) == ","
        return self._values(at)

    def _function(self, at: int) -> int:
        at = self._find(at, ";") + 1
        while at < self._end and self._text(at) != "endfunction":
            if self._text(at) in _TYPES:
                at = self._find(at, ";") + 1
            else:
                at = self._statement(at, "item")
        return at + 1

    def _statement(self, at: int, role: str) -> int:
        """Read a statement, and file it under a role."""
        first = at
        while self._text(at) in ("unique", "unique0", "priority"):
            at += 1
        word = self._text(at)
        if word == "begin":
            at = self._block(at)
        elif word == "if":
            at = self._if(at)
        elif word in ("case", "casez", "casex"):
            at = self._case(at)
        elif word in self._loops:
            at = self._statement(self._after_brackets(at + 1), "branch")
        elif word in _TYPES:
            return self._declaration(at)
        else:
            at = self._assignment(at)
        self._add(role, first, at)
        return at

    def _block(self, at: int) -> int:
        at += 1
        if self._text(at) == ":":
            at += 2
        first = at
        while at < self._end and self._text(at) != "end":
            at = self._statement(at, "item")
        self._add("body", first, at)
        return at + 1

    def _if(self, at: int) -> int:
        close = self._after_brackets(at + 1) - 1
        self._add("condition", at + 2, close)
        at = self._statement(close + 1, "branch")
        if self._text(at) == "else":
            end = self._statement(at + 1, "branch")
            self._add("else", at, end)
            return end
        return at

    def _case(self, at: int) -> int:
        close = self._after_brackets(at + 1) - 1
        self._add("selector", at + 2, close)
        at = close + 1 + (self._text(close + 1) == "inside")
        while at < self._end and self._text(at) != "endcase":
            first = at
            if self._text(at) == "default":
                at += 1 + (self._text(at + 1) == ":")
            else:
                at = self._find(at, ":") + 1
            at = self._statement(at, "arm")
            self._add("entry", first, at)
        return at + 1

    def _assignment(self, at: int) -> int:
        end = self._find(at, ";")
        equals = self._find(at, "=", "<=", ";")
        if self._text(at) == "return":
            self._add("value", at + 1, end)
        elif equals < end:
            self._add("value", equals + 1, end)
        return end + 1
