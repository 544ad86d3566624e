"""Assertions in a small, exactly defined part of SystemVerilog, as a monitor in plain Verilog.

An answer is a list of ``assert property`` statements. What is read here is written anew as a
module without properties, so that the text of an answer reaches no tool: expressions consist of
ports, constants, operators and a few functions, and everything else is refused.

The meaning is that of IEEE 1800-2017, section 16, in cycles of one clock. An attempt begins in
each cycle. It is dropped if the reset is active in any of its cycles, as by ``disable iff``, which
may be written or left out. A condition that looks back beyond the first cycle is false: it is
unknown there, and IEEE 1800 takes unknown for false.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from rlvr_envs.verifiers.hdl.interface import Clocking, Port

MOST_ASSERTIONS = 64
LONGEST_DELAY = 32  # in one ##N, [*N] or $past
LONGEST_SPAN = 64  # cycles of one assertion
_MOST_CHARACTERS = 20_000
_WIDEST_CONSTANT = 64

_TOKEN = re.compile(
    r"""
      (?P<skip>   \s++ | //[^\n]*+ | /\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/ )
    | (?P<string> "[^"\\\n]*+" )
    | (?P<number> (?:[0-9][0-9_]*+\s*+)?'[bodhBODH]\s*+[0-9a-fA-F_]++ | '[01](?!\w)
                  | [0-9][0-9_]*+ )
    | (?P<system> \$\w++ )
    | (?P<word>   [A-Za-z_]\w*+ )
    | (?P<symbol> \|-> | \|=> | \[\* | \#\# | === | !== | == | != | <= | >= | << | >> | && | \|\|
                  | ~& | ~\| | ~\^ | \^~ | [-+&|^~!<>?:(){}\[\],;@] )
    """,
    re.VERBOSE | re.ASCII,
)
_IMPLICATIONS = ("|->", "|=>")
_TEMPORAL = frozenset({"|->", "|=>", "##", "[*"})
_PLAIN_FUNCTIONS = frozenset({"$countones", "$onehot", "$onehot0"})
_HISTORY = frozenset({"$past", "$stable", "$changed", "$rose", "$fell"})
_TRUE = "1'b1"
_HINT = (
    "an assertion is `assert property (A |-> B);` or `assert property (A |=> B);` or "
    "`assert property (B);`, where A and B are conditions, possibly joined by ##N or repeated by "
    "[*N]"
)


Found = TypeVar("Found")


class AssertionRefused(Exception):
    """A text that is no list of assertions as they are defined here; the argument says why."""


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Conditions that hold in cycles: pairs of a cycle, counted from 0, and a wire."""

    steps: tuple[tuple[int, str], ...]
    last: int  # the cycle in which it ends

    def then(self, gap: int, other: "Steps") -> "Steps":
        """Return this one and another that begins ``gap`` cycles after its last cycle."""
        start = self.last + gap
        moved = tuple((start + at, wire) for at, wire in other.steps)
        return Steps(self.steps + moved, start + other.last)


@dataclass(frozen=True, slots=True)
class Implication:
    """An assertion: where the first holds, the second must hold."""

    before: Steps
    after: Steps  # in cycles of the attempt


def monitor_of(text: str, header: str, ports: Sequence[Port], clocking: Clocking) -> str:
    """Return a monitor of assertions: its output ``ok`` is 0 where one of them fails.

    Args:
        text: the assertions, from anybody.
        header: of the monitor: ``module Monitor (...);``.
        ports: what expressions may name.
        clocking: the clock and the reset.

    Raises:
        AssertionRefused: the text is something else; the argument says what.
    """
    reader = _Reader(_cut(text), {port.name for port in ports}, clocking)
    found = reader.assertions()
    return _written(header, reader, found, clocking)


def _cut(text: str) -> list[_Token]:
    if len(text) > _MOST_CHARACTERS:
        raise AssertionRefused(f"at most {_MOST_CHARACTERS} characters are read")
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise AssertionRefused(f"line {line}: {text[at : at + 1]!r} is not allowed")
        kind = match.lastgroup or "symbol"
        if kind != "skip":
            found.append(_Token(kind, match[0], line))
        line += match[0].count("\n")
        at = match.end()
    return found


@dataclass(slots=True)
class _Reader:
    """Reads tokens from left to right, and writes the wires that conditions need."""

    tokens: list[_Token]
    names: set[str]
    clocking: Clocking
    at: int = 0
    depth: int = 0  # of brackets
    lines: list[str] = field(default_factory=list)
    made: int = 0  # names that were given
    back: int = 0  # cycles that the condition which is read looks back
    furthest: int = 0  # that any condition does
    properties: dict[str, Implication] = field(default_factory=dict)

    def assertions(self) -> list[Implication]:
        """Return all assertions of the text."""
        found = []
        while self.at < len(self.tokens):
            if self._take("property"):
                self._property()
                continue
            if self.tokens[self.at].kind == "word" and self._peek(1) == ":":
                self.at += 2  # a label
            self._need("assert")
            self._need("property")
            self._need("(")
            found.append(self._body(")"))
            if self._take("else"):
                while self._peek() not in (";", ""):
                    self.at += 1
            self._need(";")
            if len(found) > MOST_ASSERTIONS:
                raise AssertionRefused(f"at most {MOST_ASSERTIONS} assertions are read")
        if not found:
            raise AssertionRefused(f"there is no assertion: {_HINT}")
        return found

    def _property(self) -> None:
        name = self._next("word", "the name of a property")
        self._need(";")
        found = self._body(";")
        self._need("endproperty")
        if self._take(":"):
            self._need(name)
        if name in self.names or name in self.properties:
            raise AssertionRefused(f"the name {name!r} of a property is taken")
        self.properties[name] = found

    def _body(self, end: str) -> Implication:
        """Read a clock and a reset, which may be left out, and what is asserted."""
        if self._take("@"):
            for text in ("(", "posedge", self.clocking.clock, ")"):
                self._need(text)
        if self._take("disable"):
            self._need("iff")
            self._need("(")
            self._reset()
            self._need(")")
        name = self._peek()
        if name in self.properties and self._peek(1) == end:
            self.at += 1
            found = self.properties[name]
        else:
            found = self._implication()
        if end == ";":
            self._take(";")
        else:
            self._need(end)
        return found

    def _reset(self) -> None:
        """Read the condition that holds under reset."""
        name, level = self.clocking.reset, self.clocking.reset_active
        allowed = [[name], [name, "==", "1"], [name, "==", "1'b1"]]
        if not level:
            allowed = [["!", name], ["~", name], [name, "==", "0"], [name, "==", "1'b0"]]
        for texts in sorted(allowed, key=len, reverse=True):
            if [token.text for token in self.tokens[self.at : self.at + len(texts)]] == texts:
                self.at += len(texts)
                return
        raise self._wrong(f"`disable iff` takes the reset, `{''.join(allowed[0])}`")

    def _implication(self) -> Implication:
        if self._wrapped(_IMPLICATIONS):
            self._need("(")
            found = self._deeper(self._implication)
            self._need(")")
            return found
        first = self._sequence()
        operator = self._peek()
        if operator not in _IMPLICATIONS:
            return Implication(Steps((), 0), first)
        self.at += 1
        rest = self._deeper(self._implication)
        gap = int(operator == "|=>")
        before = first.then(gap, rest.before) if rest.before.steps else first
        start = first.last + gap
        after = tuple((start + at, wire) for at, wire in rest.after.steps)
        self._check(start + rest.after.last)
        return Implication(before, Steps(after, start + rest.after.last))

    def _sequence(self) -> Steps:
        found = Steps((), 0)
        first = True
        while True:
            gap = 0
            if self._take("##"):
                gap = self._count("##")
            elif not first:
                return found
            found = found.then(gap, self._repeated())
            self._check(found.last)
            first = False

    def _repeated(self) -> Steps:
        if self._wrapped(("##", "[*")):
            self._need("(")
            found = self._deeper(self._sequence)
            self._need(")")
        else:
            found = Steps(((0, self._condition()),), 0)
        if self._take("[*"):
            once = found
            for _ in range(self._count("[*") - 1):
                found = found.then(1, once)
                self._check(found.last)
            self._need("]")
        return found

    def _check(self, last: int) -> None:
        if last >= LONGEST_SPAN:
            raise self._wrong(f"an assertion may span at most {LONGEST_SPAN} cycles")

    def _count(self, where: str) -> int:
        text = self._next("number", f"a number after {where}")
        least = int(where == "[*")
        if not text.isdecimal() or len(text) > 4 or not least <= int(text) <= LONGEST_DELAY:
            raise self._wrong(f"{where} takes a number from {least} to {LONGEST_DELAY}, not {text}")
        return int(text)

    def _wrapped(self, operators: Iterable[str]) -> bool:
        """Return whether an operator stands within brackets that open here."""
        depth, wanted = 0, set(operators)
        if self._peek() != "(":
            return False
        for token in self.tokens[self.at :]:
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                return False
            if token.text in wanted:
                return True
        return False

    def _deeper(self, read: Callable[[], Found]) -> Found:
        self.depth += 1
        if self.depth > 50:
            raise self._wrong("brackets or implications are nested too deeply")
        found = read()
        self.depth -= 1
        return found

    def _condition(self) -> str:
        """Read an expression, and return the wire of its truth."""
        self.back = 0
        value = f"|({self._expression()})"
        self.furthest = max(self.furthest, self.back)
        return self._wire(f"{value} & {_begun(self.back)}" if self.back else value)

    def _wire(self, value: str) -> str:
        self.made += 1
        name = f"_c{self.made}"
        self.lines.append(f"wire {name} = {value};")
        return name

    def _expression(self) -> str:
        """Read an expression up to something that ends it, and return it as text."""
        pieces, closing = list[str](), list[str]()
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            text = token.text
            if text in _TEMPORAL or (not closing and text in (")", ",", ";", "]", "}")):
                break
            self.at += 1
            if text in ("(", "[", "{"):
                closing.append({"(": ")", "[": "]", "{": "}"}[text])
                pieces.append(text)
            elif text in (")", "]", "}"):
                if text != closing.pop():
                    raise self._wrong(f"{text!r} closes no bracket")
                pieces.append(text)
            else:
                pieces.append(self._piece(token))
        if closing or not pieces:
            raise self._wrong("a condition is missing or not complete")
        return " ".join(pieces)

    def _piece(self, token: _Token) -> str:
        text = token.text
        if token.kind == "word" and text not in self.names:
            raise self._wrong(f"{text!r} is no port, and no other name or keyword is allowed here")
        if token.kind == "number":
            size = text.partition("'")[0].strip()
            if size and "'" in text and not 0 < int(size.replace("_", "")[:9]) <= _WIDEST_CONSTANT:
                raise self._wrong(f"constants have 1 to {_WIDEST_CONSTANT} bits, not {size}")
        if token.kind == "system":
            return self._function(text)
        if token.kind == "string" or text in (";", "@"):
            raise self._wrong(f"{text} is not allowed in a condition")
        return text

    def _function(self, name: str) -> str:
        if name not in _PLAIN_FUNCTIONS | _HISTORY:
            allowed = ", ".join(sorted(_PLAIN_FUNCTIONS | _HISTORY))
            raise self._wrong(f"the function {name} is not allowed, only {allowed} are")
        outside, self.back = self.back, 0
        self._need("(")
        value = self._deeper(self._expression)
        count = 1
        if name == "$past" and self._take(","):
            count = self._count("[*")
        self._need(")")
        self.back = max(outside, self.back + count * (name in _HISTORY))
        if self.back >= LONGEST_SPAN:
            raise self._wrong(f"a condition may look back less than {LONGEST_SPAN} cycles")
        if name in _PLAIN_FUNCTIONS:
            return f"{name}({value})"
        if name in ("$rose", "$fell"):
            now = self._wire(value)  # its lowest bit
            before = self._past(now, 1)
            return f"({now} & ~{before})" if name == "$rose" else f"(~{now} & {before})"
        before = self._past(value, count)
        if name == "$past":
            return before
        return f"(({value}) {'==' if name == '$stable' else '!='} {before})"

    def _past(self, value: str, count: int) -> str:
        """Return the register that holds what a value was some cycles ago."""
        self.made += 1
        names = [f"_p{self.made}_{k}" for k in range(1, count + 1)]
        moves = " ".join(
            f"{new} <= {old};" for new, old in zip(names, [value, *names], strict=False)
        )
        self.lines.append(f"reg [$bits({value}) - 1:0] {', '.join(names)};")
        self.lines.append(f"always @(posedge {self.clocking.clock}) begin {moves} end")
        return names[-1]

    def _peek(self, further: int = 0) -> str:
        at = self.at + further
        return self.tokens[at].text if at < len(self.tokens) else ""

    def _take(self, text: str) -> bool:
        found = self._peek() == text
        self.at += found
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise self._wrong(f"expected {text!r}, found {self._peek() or 'the end'!r}")

    def _next(self, kind: str, what: str) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at].kind != kind:
            raise self._wrong(f"expected {what}, found {self._peek() or 'the end'!r}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def _wrong(self, why: str) -> AssertionRefused:
        line = self.tokens[min(self.at, len(self.tokens) - 1)].line if self.tokens else 1
        return AssertionRefused(f"line {line}: {why} ({_HINT})")


def _begun(cycles: int) -> str:
    """Return the register that is 1 once so many cycles have passed."""
    return f"_b{cycles}"


def _written(
    header: str, reader: _Reader, assertions: list[Implication], clocking: Clocking
) -> str:
    """Return a module in which a register says how far the attempts of each cycle have come."""
    body, fails = list[str](), list[str]()
    for cycles in range(1, reader.furthest + 1):
        before = _begun(cycles - 1) if cycles > 1 else _TRUE
        body.append(f"reg {_begun(cycles)} = 0;")
        body.append(f"always @(posedge {clocking.clock}) {_begun(cycles)} <= {before};")
    body += reader.lines
    reset = clocking.reset if clocking.reset_active else f"~{clocking.reset}"
    for number, found in enumerate(assertions):
        last = max([at for at, _ in found.after.steps], default=0)
        for at in range(last + 1):
            here = [wire for step, wire in found.before.steps if step == at]
            if at:
                body.append(f"reg _r{number}_{at};")
                body.append(
                    f"always @(posedge {clocking.clock}) _r{number}_{at} <= "
                    f"~({reset}) & _m{number}_{at - 1};"
                )
                here.append(f"_r{number}_{at}")
            body.append(f"wire _m{number}_{at} = {' & '.join(here or [_TRUE])};")
        fails += [f"(_m{number}_{at} & ~{wire})" for at, wire in found.after.steps]
    body.append(f"assign ok = ({reset}) | ~({' | '.join(fails)});")
    return "\n".join([header, *(f"    {line}" for line in body), "endmodule", ""])
