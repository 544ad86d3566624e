"""An answer as text: what may be given to the tools, and why anything else may not.

The text is cut into tokens, and what could print, read or write files, reach another design, touch
a proof or grow beyond all bounds is refused by name, each with a sentence that says what to write
instead. It is a first wall, for clear messages; the tools behind it run in a sandbox, alone with
the text. Everything here takes time in proportion to the length of the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rlvr_envs.verifiers.hdl.macros import Macro, expanded

MOST_CHARACTERS = 65536
MOST_MACROS = 128
MOST_TOKENS = 200_000  # after all macros are replaced


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no netlist.

    Attributes:
        stage: forbidden, compile, unsupported (legal, but not to be synthesised here), resource,
            timeout (of CPU time), or fault (ours or the machine's: never scored).
        detail: a sentence for whoever wrote the source.
    """

    stage: str
    detail: str


@dataclass(frozen=True, slots=True)
class Source:
    """A text that may be elaborated.

    Attributes:
        text: with plain line ends.
        top: the module that is asked for.
        modules: the names of the modules that it defines, as far as they are written out.
    """

    text: str
    top: str
    modules: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return a line, counted from 1; nothing beyond the end."""
        lines = self.text.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def without_top(self) -> str:
        """Return a sentence for a text that lacks the module asked for."""
        if self.top in self.modules:
            return f"the module {self.top} cannot stand alone"
        found = ", ".join(self.modules[:8])
        return f"there is no module {self.top}" + (f", only {found:.200}" if found else "")


class Token(NamedTuple):
    """A piece of the text: what it is, as it stands there, and in which line."""

    kind: str
    text: str
    line: int


class _Forbidden(Exception):
    """The text may not be given to the tools; the argument says why."""


# Repetitions are possessive, or of groups that begin with what ends the one before: nothing is
# tried twice. What a lone quote, backslash or comment mark begins has no end: it is refused below.
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
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
# Between such comments, tools see another text than the one that is read here.
_HIDING = re.compile(r"translate_(?:off|on)|(?:synthesis|synopsys)[ _\t](?:off|on)\b")
LAYOUT = frozenset({"comment", "newline", "space", "continued"})

_OF_A_KIND = {
    "triple": "a string with three quotes is not allowed here",
    "escaped": "an escaped identifier (a backslash and a name) is not allowed here: use letters, "
    "digits and underscores",
    "unclosed": "a comment begins with /* and does not end",
}
_OF_A_CHARACTER = {
    '"': "a string does not end in its line",
    "`": "a backquote stands before the name of a directive or macro; joining names (``) and "
    "strings in macros are not allowed here",
    "\\": "a backslash may only end a line of a macro",
}

# --- words ----------------------------------------------------------------------------------

_REASONS: Mapping[str, str] = {
    "assert assume cover restrict expect property endproperty sequence endsequence checker "
    "endchecker covergroup": "{} belongs to verification: describe the hardware alone, its "
    "behaviour is checked from outside",
    "force release deassign": "{} overrides signals in a simulation: every signal has one driver "
    "that stands in the design",
    "bind": "bind puts modules into other designs: instantiate a module where it is used",
    "fork join join_any join_none wait wait_order": "{} is for testbenches: hardware reacts to "
    "edges and levels, in always blocks",
    "class program": "{} is for testbenches, not for hardware",
    "static": "{} variables keep values between calls: hold state in registers of the module",
    "final": "a final block runs at the end of a simulation, and hardware has none",
    "primitive table": "user-defined primitives are not allowed here: write the function as "
    "expressions or as a case",
    "specify specparam": "{} describes delays, which play no part here",
    "bufif0 bufif1 notif0 notif1 nmos pmos rnmos rpmos cmos rcmos tran rtran tranif0 tranif1 "
    "rtranif0 rtranif1 trireg": "{} may leave a net at z: choose by a multiplexer",
    "config": "config chooses among libraries, and there is a single source here",
}
_FORBIDDEN_WORDS = {
    word: reason.format(word) for words, reason in _REASONS.items() for word in words.split()
}
_FOREIGN = frozenset({"import", "export"})

# Synthesis would ignore an event elsewhere, and take for logic what a simulation sees wait.
_AWAIT = frozenset({"always", "always_ff", "always_latch"})

# Pure functions of their arguments, most of them of constants.
SYSTEM_FUNCTIONS = (
    *("$signed", "$unsigned", "$clog2", "$bits", "$countones", "$countbits", "$onehot"),
    *("$onehot0", "$size", "$left", "$right", "$low", "$high", "$increment", "$dimensions"),
    *("$unpacked_dimensions", "$pow", "$sqrt", "$ceil", "$floor", "$ln", "$log10", "$exp"),
    *("$rtoi", "$itor"),
)
_SYSTEM_REASONS = (
    (
        re.compile(
            r"\$(s?readmem|writemem|dump|sdf|rewind|ungetc"
            r"|f(open|close|scanf|gets|getc|read|eof|seek|tell|error|flush))"
        ),
        "{} reaches files: write tables as a case or as constants",
    ),
    (
        re.compile(r"\$(f|s)?(display|write|strobe|monitor|info|warning|error|fatal)"),
        "{} prints, and nothing that is printed is read: leave it out",
    ),
    (re.compile(r"\$(finish|stop|exit)"), "{} ends a simulation, and hardware does not end"),
    (re.compile(r"\$(system|\w+\$plusargs)"), "{} reaches outside the design"),
    (re.compile(r"\$(u?random|dist_)"), "{} is random, and hardware is not"),
    (re.compile(r"\$(time|realtime|stime)"), "{} reads a simulation's time: count clock edges"),
    (re.compile(r"\$(root|unit)"), "{} names what lies outside the module: use ports"),
    (
        re.compile(r"\$(past|rose|fell|stable|changed|sampled)"),
        "{} belongs to assertions: keep the earlier value in a register",
    ),
)

_SILENT = re.compile(
    r"\$(f?(display|write|strobe|monitor)[bho]?|monitor(on|off)|info|warning|error|fatal"
    r"|dump\w+|finish|stop|exit|timeformat|printtimescale|fclose|fflush)"
)

_DIRECTIVES = frozenset(
    {"`define", "`undef", "`undefineall", "`ifdef", "`ifndef", "`elsif", "`else", "`endif"}
    | {"`timescale", "`default_nettype", "`resetall", "`celldefine", "`endcelldefine"}
)
_NAMING = frozenset({"`define", "`undef", "`ifdef", "`ifndef", "`elsif"})

# Hints for tools that no step here takes; everything else could steer one.
_ATTRIBUTES = re.compile(
    r"full_case|parallel_case|fsm_encoding|fsm_state|enum_state|ram_?style|rom_?style|ram_block"
    r"|rom_block|use_dsp|use_dsp48|mult_?style|async_reg|dont_touch|mark_debug|max_fanout"
    r"|shreg_extract|srl_style|iob|syn_\w+|altera_attribute",
    re.ASCII | re.IGNORECASE,
)


def read_source(text: str, top: str, *, trusted: bool = False) -> Source | Refusal:
    """Return a source that the tools may be given, or why not.

    Args:
        text: Verilog or SystemVerilog.
        top: the module that is asked for.
        trusted: whether it may hold what an answer may not: prints, assertions, attributes. What
            grows beyond all bounds is refused all the same.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        _check_characters(plain)
        tokens = list(_tokens(plain, hiding=trusted))
        if not trusted:
            _check_tokens(tokens)
            _check_attributes(tokens)
        _check_macros(tokens)
    except _Forbidden as forbidden:
        return Refusal("forbidden", str(forbidden))
    source = Source(silenced(plain) if trusted else plain, top, tuple(_modules(tokens)))
    if not any(token.kind == "word" for token in tokens):
        return Refusal("compile", f"there is nothing in the source, and no module {top}")
    return source


def silenced(text: str) -> str:
    """Return a source without the calls of tasks that print, record or end a simulation."""
    kept = []
    closing: int | None = None  # parentheses that are still open in a call; None outside of calls
    for match in TOKEN.finditer(text):
        piece, kind = match[0], match.lastgroup
        if closing is None and kind == "system" and _SILENT.fullmatch(piece):
            closing = 0
        elif closing is None or (closing == 0 and kind not in LAYOUT and piece not in ("(", "(*")):
            closing = None
            kept.append(piece)
        else:
            opened = piece in ("(", "(*")
            closing += opened - (piece in (")", "*)"))
            kept.append("\n" * piece.count("\n"))
            if closing == 0 and kind not in LAYOUT:
                closing = None
    return "".join(kept)


def _check_characters(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        most = MOST_CHARACTERS
        raise _Forbidden(f"the source has {len(text)} characters, and at most {most} are read")
    odd = _CONTROL.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise _Forbidden(f"line {line}: the source has a control character {odd[0]!r}")


def _tokens(text: str, *, hiding: bool = False) -> Iterator[Token]:
    """Cut the text into tokens; spaces are left out, comments and ends of lines are not.

    Args:
        text: the source.
        hiding: whether comments may hide text from synthesis.
    """
    line = 1
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind == "unclosed" or match[0] == '"':  # what follows cannot be read
            reason = _OF_A_KIND.get(kind) or _OF_A_CHARACTER[match[0]]
            raise _Forbidden(f"line {line}: {reason}")
        if kind == "comment" and not hiding and _HIDING.search(match[0]):
            raise _Forbidden(f"line {line}: a comment hides a part of the text from synthesis")
        if kind != "space":
            yield Token(kind, match[0], line)
        if kind in ("newline", "comment", "continued"):
            line += match[0].count("\n")


def _check_tokens(tokens: Sequence[Token]) -> None:
    defined = {after.text for token, after in _pairs(tokens) if token.text == "`define"}
    last = ""
    for token, after in _pairs(tokens):
        reason = _why_not(token, after, defined)
        if token.text == "@" and last not in _AWAIT:
            reason = "an event (@) stands right behind always alone: hardware waits nowhere else"
        if reason:
            raise _Forbidden(f"line {token.line}: {reason}")
        last = token.text


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Go through the tokens that are no layout, each with the one behind it."""
    last: Token | None = None
    for token in tokens:
        if token.kind in LAYOUT:
            continue
        if last is not None:
            yield last, token
        last = token
    if last is not None:
        yield last, Token("other", "", last.line)


def _why_not(token: Token, after: Token, defined: set[str]) -> str:
    """Return why a token may not stand there, or nothing."""
    kind, text = token.kind, token.text
    if kind == "word":
        reason = _why_no_word(text, after)
    elif kind == "system":
        reason = "" if text in SYSTEM_FUNCTIONS else _why_no_function(text)
    elif kind == "directive":
        reason = _why_no_directive(text, defined)
    elif not text.isascii():
        reason = f"{text:.20} is not in ASCII, and only comments may be in anything else"
    else:
        reason = _OF_A_KIND.get(kind) or _OF_A_CHARACTER.get(text, "")
    return reason


def _why_no_word(word: str, after: Token) -> str:
    if word in _FOREIGN and after.kind != "word":
        return f"{word} of a function calls a program outside: everything stands in the design"
    return _FORBIDDEN_WORDS.get(word, "")


def _why_no_function(name: str) -> str:
    for pattern, reason in _SYSTEM_REASONS:
        if pattern.match(name):
            return reason.format(f"{name:.40}")
    return f"{name:.40} is none of the system functions that hardware can have: " + ", ".join(
        SYSTEM_FUNCTIONS[:7]
    )


def _why_no_directive(name: str, defined: set[str]) -> str:
    if name in _DIRECTIVES or name[1:] in defined:
        return ""
    if name in ("`include", "`line", "`__FILE__"):
        return f"{name} is about files, and there is a single source here: write everything out"
    return f"{name:.40} is neither a macro that the source defines nor a directive allowed here"


def _check_attributes(tokens: Sequence[Token]) -> None:
    """Raise for an attribute that could steer a tool."""
    place = None  # the token before, within an attribute
    for token, _ in _pairs(tokens):
        if token.kind == "open":
            place = token
        elif token.kind == "close":
            place = None
        elif place is not None:
            named = place.kind == "open" or place.text == ","
            harmless = token.kind == "word" and _ATTRIBUTES.fullmatch(token.text)
            if token.kind == "directive" or (named and not harmless):
                raise _Forbidden(
                    f"line {token.line}: the attribute {token.text:.40} is not allowed here: "
                    "leave attributes out"
                )
            place = token


def _check_macros(tokens: Sequence[Token]) -> None:
    """Raise where macros would grow beyond what any design needs."""
    macros, rest = _macros(tokens)
    if sum(map(len, macros.values())) > MOST_MACROS:
        raise _Forbidden(f"the source defines more than {MOST_MACROS} macros")
    if macros and expanded(macros, rest) > MOST_TOKENS:
        raise _Forbidden("the macros of the source grow beyond all bounds when they are replaced")


def _macros(tokens: Sequence[Token]) -> tuple[dict[str, list[Macro]], list[str]]:
    """Return the definitions of each macro, and the other tokens."""
    macros: dict[str, list[Macro]] = {}
    rest: list[str] = []
    body: list[str] | None = None
    glued = False  # whether a parenthesis right behind the name opens parameters
    for number, token in enumerate(tokens):
        if token.kind == "newline" or (token.kind == "comment" and "\n" in token.text):
            if body:
                macros.setdefault(body[0], []).append(Macro.of(body[1:], glued=glued))
            body = None
        elif token.kind in LAYOUT:
            continue
        elif body is not None:
            body.append(token.text)
        elif token.text == "`define":
            body = []
            glued = _opens_parameters(tokens[number + 1 : number + 3])
        else:
            rest.append(token.text)
    if body:
        macros.setdefault(body[0], []).append(Macro.of(body[1:], glued=glued))
    return macros, rest


def _opens_parameters(following: Sequence[Token]) -> bool:
    """Whether a name and an open parenthesis follow; a macro with a space between takes none."""
    return [token.text for token in following][1:] == ["("]


def _modules(tokens: Sequence[Token]) -> Iterator[str]:
    """Return the names of the modules."""
    words = (token for token in tokens if token.kind not in LAYOUT)
    for token in words:
        if token.text == "module":
            name = next(words, None)
            if name is not None and name.text in ("automatic", "static"):
                name = next(words, None)
            if name is not None and name.kind == "word":
                yield name.text
