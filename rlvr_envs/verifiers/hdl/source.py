"""An answer as text: what may be given to the tools, and why anything else may not.

The text is cut into tokens, and what could print, read or write files, reach another design, touch
a proof or grow beyond all bounds is refused by name, each with a sentence that says what to write
instead. It is a first wall, for clear messages; the tools behind it run in a sandbox, alone with
the text. Everything here takes time in proportion to the length of the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rlvr_envs.verifiers.hdl.conditionals import NAMES_OF_THE_JUDGE, Unbalanced, readings
from rlvr_envs.verifiers.hdl.macros import Macro, expanded
from rlvr_envs.verifiers.hdl.tokens import (
    LAYOUT,
    TOKEN,
    Forbidden,
    Token,
    blank,
    ends_line,
    tokens_of,
    without_layout,
)

MOST_CHARACTERS = 65536
MOST_MACROS = 128
MOST_TOKENS = 200_000  # after all macros are replaced
MOST_READINGS = 4  # that tools have of a text


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
        text: with plain line ends, as a tool for synthesis reads it.
        top: the module that is asked for.
        modules: the names of the modules that it defines, as far as they are written out.
        hardware: the text without what is no hardware: attributes, reports, odd names.
        others: the hardware that tools read who define other names, where it is not the same.
    """

    text: str
    top: str
    modules: tuple[str, ...]
    hardware: str = ""
    others: tuple[str, ...] = ()

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


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
# Between such comments, tools see another text than the one that is read here.
_HIDING = re.compile(r"translate_(?:off|on)|(?:synthesis|synopsys)[ _\t](?:off|on)\b")

_OF_A_KIND = {"triple": "a string with three quotes is not allowed here"}
_OF_A_CHARACTER = {
    "`": "a backquote stands before the name of a directive or macro; joining names (``) and "
    "strings in macros are not allowed here",
    "\\": "a backslash may only end a line of a macro, or begin a name",
}

# --- words ----------------------------------------------------------------------------------

_REASONS: Mapping[str, str] = {
    "assume cover restrict expect property endproperty sequence endsequence checker "
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
    "tran rtran tranif0 tranif1 rtranif0 rtranif1 trireg": "{} joins nets in both directions, or "
    "holds a charge: choose by a multiplexer",
    "config": "config chooses among libraries, and there is a single source here",
}
_FORBIDDEN_WORDS = {
    word: reason.format(word) for words, reason in _REASONS.items() for word in words.split()
}
_FOREIGN = frozenset({"import", "export"})
_NOTED = _FOREIGN | {"assert"} | set(_FORBIDDEN_WORDS)  # all other words may stand anywhere

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

# Legal in hardware: they check parameters, and say what is wrong.
_REPORTS = re.compile(r"\$(info|warning|error|fatal)")
_NO_REPORT = "{} is a statement of its own here, outside of macros and with none in its arguments"
_NO_ASSERTION = (
    "an assertion here is `assert (condition);`, perhaps with `else $error(...);`, and describes "
    "no hardware"
)
_SILENT = re.compile(
    r"\$(f?(display|write|strobe|monitor)[bho]?|monitor(on|off)|info|warning|error|fatal"
    r"|dump\w+|finish|stop|exit|timeformat|printtimescale|fclose|fflush)"
)

_DIRECTIVES = frozenset(
    {"`define", "`undef", "`undefineall", "`ifdef", "`ifndef", "`elsif", "`else", "`endif"}
    | {"`timescale", "`default_nettype", "`resetall", "`celldefine", "`endcelldefine"}
)
_NAMING = frozenset({"`define", "`undef"})
_PLAIN_NAME = re.compile(r"\\[A-Za-z_][\w$]*", re.ASCII)
# All that an attribute may be made of; hints with other values are not known.
_IN_ATTRIBUTES = frozenset({"word", "number", "string", "newline", "space", "comment"})
_BETWEEN_ATTRIBUTES = frozenset("=,'+-.")


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
        others = readings(plain)
        first = next(others)
        tokens = list(tokens_of(first))
        if not trusted:
            _check_tokens(tokens, _REPORTS)
        if "`define" in first:
            _check_macros(tokens)
        hardware = _hardware(tokens)
        different = [] if trusted else _others(others, hardware, cut=hardware != first)
    except Forbidden as forbidden:
        return Refusal("forbidden", str(forbidden))
    except Unbalanced as unbalanced:
        return Refusal("compile", str(unbalanced))
    if not any(token.kind == "word" for token in tokens):
        return Refusal("compile", f"there is nothing in the source, and no module {top}")
    checked = silenced(first) if trusted else first
    return Source(checked, top, tuple(_modules(tokens)), hardware, tuple(different))


def _others(others: Iterator[str], hardware: str, *, cut: bool) -> list[str]:
    """Return the hardware that other tools read, where it is not what synthesis reads.

    They may print, since what a simulator prints is no part of a design.

    Args:
        others: what they read.
        hardware: what synthesis reads.
        cut: whether that is without a part of the text, so that it has to be read again.
    """
    found = {_plain(hardware): ""} if cut else {}
    for number, other in enumerate(others, start=2):
        found = found or {_plain(hardware): ""}
        if number > MOST_READINGS:
            raise Forbidden("conditions on the names of tools make too many designs of one text")
        tokens = list(tokens_of(other))
        _check_tokens(tokens, _SILENT)
        _check_macros(tokens)
        text = _hardware(tokens)
        found.setdefault(_plain(text), text)
    return list(filter(None, found.values()))


def _plain(text: str) -> tuple[str, ...]:
    return tuple(token.text for token in without_layout(list(tokens_of(text))))


def _hardware(tokens: Sequence[Token]) -> str:
    """Return a text without attributes, which no tool takes for hardware, and without reports.

    Names with odd characters get plain ones: tools have meanings of their own for some.
    """
    text = "".join([token.text for token in tokens])
    if not any(token.kind in ("open", "escaped") for token in tokens):
        return silenced(text)
    found: list[str] = []
    stem = "escaped_"
    while stem in text:
        stem += "_"
    names: dict[str, str] = {}
    until = 0
    for place, token in enumerate(tokens):
        if token.kind == "open" and place >= until:
            until = _attribute_end(tokens, place) or until
        piece = blank(token.text) if place < until else token.text
        if token.kind == "escaped" and not _PLAIN_NAME.fullmatch(token.text):
            piece = names.setdefault(token.text, f"{stem}{len(names)}")
        found.append(piece)
    return silenced("".join(found))


def _attribute_end(tokens: Sequence[Token], place: int) -> int | None:
    """Return the place behind an attribute of plain names and values; None if it is none."""
    for number in range(place + 1, len(tokens)):
        token = tokens[number]
        if token.kind == "close":
            return number + 1 if token.macro == tokens[place].macro else None
        plain = token.kind in _IN_ATTRIBUTES or token.text in _BETWEEN_ATTRIBUTES
        if not plain or (tokens[place].macro and ends_line(token)):
            return None
    return None


def silenced(text: str) -> str:
    """Return a source without the calls of tasks that print, record or end a simulation."""
    if "$" not in text:
        return text
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
        raise Forbidden(f"the source has {len(text)} characters, and at most {most} are read")
    odd = _CONTROL.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise Forbidden(f"line {line}: the source has a control character {odd[0]!r}")


def _check_tokens(tokens: Sequence[Token], tasks: re.Pattern[str]) -> None:
    """Raise for what an answer may not hold.

    Args:
        tokens: of the answer.
        tasks: system tasks that may stand there as statements.
    """
    for place, token in enumerate(tokens):
        if token.kind == "comment" and _HIDING.search(token.text):
            raise Forbidden(f"line {token.line}: a comment hides a part of the text from synthesis")
        if token.kind == "open" and _attribute_end(tokens, place) is None:
            raise Forbidden(
                f"line {token.line}: an attribute is a list of names here, perhaps with numbers or "
                "strings as their values"
            )
    words = without_layout(tokens)
    defined = {after.text for token, after in pairwise(words) if token.text == "`define"}
    words += [Token("other", "", 0)] * 4  # to look ahead
    last = ""
    for place, token in enumerate(words[:-4]):
        if token.text not in _NOTED and token.kind in ("word", "number"):
            last = token.text
            continue
        reason = _why_not(words, place, defined, tasks)
        if token.text == "@" and last not in _AWAIT:
            reason = "an event (@) stands right behind always alone: hardware waits nowhere else"
        if reason:
            raise Forbidden(f"line {token.line}: {reason}")
        last = token.text


def _why_not(words: Sequence[Token], place: int, defined: set[str], tasks: re.Pattern[str]) -> str:
    """Return why a token may not stand there, or nothing."""
    token, after = words[place], words[place + 1]
    kind, text = token.kind, token.text
    if text == "assert":
        reason = "" if _is_assertion(words, place, tasks) else _NO_ASSERTION
    elif kind == "word":
        deferred = text == "final" and place and words[place - 1].text == "assert"
        reason = "" if deferred else _why_no_word(text, after)
    elif kind == "system":
        reason = "" if text in SYSTEM_FUNCTIONS else _why_no_task(words, place, tasks)
    elif kind == "directive":
        reason = _why_no_directive(text, after, defined)
    elif not text.isascii():
        reason = f"{text:.20} is not in ASCII, and only comments may be in anything else"
    elif kind == "escaped" and text.endswith("\\"):
        reason = _OF_A_CHARACTER["\\"]
    else:
        reason = _OF_A_KIND.get(kind) or _OF_A_CHARACTER.get(text, "")
    return reason


def _is_assertion(words: Sequence[Token], place: int, tasks: re.Pattern[str]) -> bool:
    """Whether an immediate assertion stands there that does nothing but report.

    A simulator would run any other action, and synthesis leaves it out.
    """
    at = place + 1
    if [word.text for word in words[at : at + 2]] == ["#", "0"]:
        at += 2
    elif words[at].text == "final":
        at += 1
    if words[place].macro or words[at].text != "(":
        return False
    at = _call_end(words, at)
    if words[at].text == "else" and tasks.fullmatch(words[at + 1].text):
        at = _call_end(words, at + 2)
    return words[at].text == ";"


def _why_no_task(words: Sequence[Token], place: int, tasks: re.Pattern[str]) -> str:
    """Return why a system task may not stand there, or nothing."""
    name = words[place].text
    if not tasks.fullmatch(name):
        return _why_no_function(name)
    alone = words[_call_end(words, place + 1)].text == ";" and not words[place].macro
    return "" if alone else _NO_REPORT.format(name)


def _call_end(words: Sequence[Token], place: int) -> int:
    """Return the place behind arguments in parentheses; of odd ones, one that ends nothing."""
    depth = 0
    for number in range(place, len(words)):
        token = words[number]
        depth += (token.text == "(") - (token.text == ")")
        if token.kind in ("directive", "open", "close") or (token.text == ";" and depth):
            break
        if depth == 0:
            return number + (token.text == ")")
    return len(words) - 1


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


def _why_no_directive(name: str, after: Token, defined: set[str]) -> str:
    if name in _NAMING and after.text in NAMES_OF_THE_JUDGE:
        return f"{after.text} is a name that tools define: choose another one"
    if name in _NAMING and after.kind != "word":
        return f"{name} needs the name of a macro behind it"
    if name in _DIRECTIVES or name[1:] in defined:
        return ""
    if name in ("`include", "`line", "`__FILE__"):
        return f"{name} is about files, and there is a single source here: write everything out"
    return f"{name:.40} is neither a macro that the source defines nor a directive allowed here"


def _check_macros(tokens: Sequence[Token]) -> None:
    """Raise where macros would grow beyond what any design needs."""
    macros, rest = _macros(tokens)
    if sum(map(len, macros.values())) > MOST_MACROS:
        raise Forbidden(f"the source defines more than {MOST_MACROS} macros")
    if macros and expanded(macros, rest) > MOST_TOKENS:
        raise Forbidden("the macros of the source grow beyond all bounds when they are replaced")


def _macros(tokens: Sequence[Token]) -> tuple[dict[str, list[Macro]], list[str]]:
    """Return the definitions of each macro, and the other tokens."""
    macros: dict[str, list[Macro]] = {}
    rest: list[str] = []
    body: list[str] | None = None
    glued = False  # whether a parenthesis right behind the name opens parameters
    for number, token in enumerate(tokens):
        if ends_line(token):
            if body:
                macros.setdefault(body[0], []).append(Macro.of(body[1:], glued=glued))
            body = None
        elif token.kind in LAYOUT:
            continue
        elif body is not None:
            body.append(token.text)
        elif token.text == "`define":
            body = []
            glued = _opens_parameters(tokens[number + 1 : number + 4])
        else:
            rest.append(token.text)
    if body:
        macros.setdefault(body[0], []).append(Macro.of(body[1:], glued=glued))
    return macros, rest


def _opens_parameters(following: Sequence[Token]) -> bool:
    """Whether a name and an open parenthesis follow; a macro with a space between takes none."""
    return [token.text for token in following][2:] == ["("]


def _modules(tokens: Sequence[Token]) -> Iterator[str]:
    """Return the names of the modules."""
    words = (token for token in tokens if token.kind not in LAYOUT)
    for token in words:
        if token.text == "module":
            name = next(words, None)
            if name is not None and name.text in ("automatic", "static"):
                name = next(words, None)
            if name is not None and name.kind in ("word", "escaped"):
                yield name.text.removeprefix("\\")
