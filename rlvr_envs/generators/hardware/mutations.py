"""Mistakes such as designers make, put into a source: its mutants.

Each is one small change of the tokens, so that comments and names never change by accident. Most of
them change what the design does; which ones, only a comparison with the source can tell.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.hardware.design import TOP
from rlvr_envs.generators.hardware.syntax import Code, Part, read_code
from rlvr_envs.verifiers.hdl.interface import Port

_OTHER_OPERATOR = {
    "+": "-",
    "-": "+",
    "&": "|",
    "|": "&",
    "^": "|",
    "&&": "||",
    "||": "&&",
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "<<": ">>",
    ">>": "<<",
    ">>>": ">>",
}
_ORDERED = frozenset({"-", "<", "<=", ">", ">=", "<<", ">>", ">>>"})
_READ = ("value", "condition", "selector")
_NUMBER = re.compile(r"(\d*'[sS]?[bodhBODH])?([0-9a-fA-F]+)")
_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}
_LONGEST = 60  # characters of a description
_SMALL = 24  # tokens of what may be left out; without more, too much would be gone to be a slip
_FORMATS = {2: "b", 8: "o", 10: "d", 16: "x"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A source with one mistake."""

    description: str  # what was changed and in which line
    source: str  # the text with the change


class _Change(NamedTuple):
    """Some tokens of a source, and what stands in their place.

    Attributes:
        code: the source.
        first: the number of the first token.
        last: the number after the last token.
        new: the text for them, None where they go with the space before them.
    """

    code: Code
    first: int
    last: int
    new: str | None

    def source(self) -> str:
        """Return the source with the change."""
        code = self.code
        if self.new is not None:
            return code.replaced(self.first, self.last, self.new)
        start, end = code.tokens[self.first - 1].end, code.tokens[self.last - 1].end
        return code.source[:start] + code.source[end:]

    def description(self) -> str:
        """Return what was changed and in which line."""
        line, old = self.code.line(self.first), _said(self.code.text(self.first, self.last))
        if self.new is None:
            return f"line {line}: without {old}"
        return f"line {line}: {old} became {_said(self.new)}"


_Kind = Callable[[Code], Iterator[_Change]]


class _Changes:
    """The changes of a source, each kind looked for when it is asked for."""

    def __init__(self, source: str) -> None:
        self._code = read_code(source)
        self._found: dict[_Kind, tuple[_Change, ...]] = {}

    def of(self, kind: _Kind) -> tuple[_Change, ...]:
        """Return the changes of a kind."""
        if kind not in self._found:
            self._found[kind] = tuple(kind(self._code))
        return self._found[kind]


# Faulty versions of a design are drawn from one source, many in a row.
_changes_of = lru_cache(maxsize=4)(_Changes)


def mutate(source: str, rng: Rng) -> str | None:
    """Return a mutant of a source, None where there is none; each kind is equally likely."""
    changes = _changes_of(source)
    kinds = list(_KINDS)
    while kinds:
        kind = pick(rng, kinds)
        found = changes.of(kind)
        if found:
            return pick(rng, found).source()
        kinds.remove(kind)
    return None


def mutants(source: str) -> tuple[Mutant, ...]:
    """Return all mutants of a source, no text twice."""
    changes = _changes_of(source)
    found: dict[str, Mutant] = {}
    for kind in _KINDS:
        for change in changes.of(kind):
            text = change.source()
            if text != source and text not in found:
                found[text] = Mutant(change.description(), text)
    return tuple(found.values())


def _changed(code: Code, first: int, last: int, new: str) -> _Change:
    """Return that some tokens give way to others."""
    return _Change(code, first, last, new)


def _removed(code: Code, first: int, last: int) -> _Change:
    """Return that some tokens go, with the space before them."""
    return _Change(code, first, last, None)


def _said(text: str) -> str:
    """Return a text in one line that is not long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-10:]}"


def _swapped(code: Code, one: tuple[int, int], other: tuple[int, int]) -> _Change:
    """Return that two stretches of tokens change places; ``one`` comes first."""
    between = code.source[code.tokens[one[1] - 1].end : code.tokens[other[0]].start]
    return _changed(code, one[0], other[1], code.text(*other) + between + code.text(*one))


def _reading(code: Code) -> list[int]:
    """Return the numbers of the tokens of expressions."""
    parts = code.of(*_READ)
    return sorted({number for part in parts for number in range(part.first, part.last)})


def _is_binary(code: Code, number: int) -> bool:
    """Return whether an operator stands between operands."""
    before = code.tokens[number - 1]
    return before.kind in ("word", "number") or before.text in (")", "]", "}")


# --- operators and operands -----------------------------------------------------------------


def _operators(code: Code) -> Iterator[_Change]:
    for number in _reading(code):
        other = _OTHER_OPERATOR.get(code.tokens[number].text)
        if other and _is_binary(code, number):
            yield _changed(code, number, number + 1, other)


def _operands(code: Code) -> Iterator[_Change]:
    """Swap what is left and right of an operator for which that matters."""
    for number in _reading(code):
        if code.tokens[number].text in _ORDERED and _is_binary(code, number):
            left, right = _before(code, number), _after(code, number + 1)
            if code.text(left, number) != code.text(number + 1, right):
                yield _swapped(code, (left, number), (number + 1, right))


def _before(code: Code, number: int) -> int:
    """Return where the operand begins that ends before a token."""
    opening = {close: start for start, close in code.closing.items()}
    at = number - 1
    while code.tokens[at].text in (")", "]", "}"):
        at = opening[at]
        if code.tokens[at - 1].kind == "word" or code.tokens[at - 1].text == "]":
            at -= 1
    return at


def _after(code: Code, number: int) -> int:
    """Return where the operand ends that begins with a token."""
    at = number
    while code.tokens[at].text in ("~", "!", "-", "&", "|", "^"):
        at += 1
    at = code.closing.get(at, at) + 1
    while at < len(code.tokens) and code.tokens[at].text in ("(", "["):
        at = code.closing.get(at, at) + 1
    return at


def _inverters(code: Code) -> Iterator[_Change]:
    """Leave out a negation."""
    for number in _reading(code):
        if code.tokens[number].text in ("!", "~") and not _is_binary(code, number):
            after = _after(code, number + 1)
            yield _changed(code, number, after, code.text(number + 1, after))


def _terms(code: Code) -> Iterator[_Change]:
    """Leave out a term of a condition."""
    for part in code.of(*_READ):
        for first, last in _levels(code, part):
            joints = [n for n in _flat(code, first, last) if code.tokens[n].text in ("&&", "||")]
            bounds = [first - 1, *joints, last]
            if not joints or any(code.tokens[n].text == "?" for n in _flat(code, first, last)):
                continue
            for place in range(len(bounds) - 1):
                # A term goes with the operator behind it, the last one with that before it.
                last_term = place == len(bounds) - 2
                start = bounds[place] + (0 if last_term else 1)
                end = bounds[place + 1] + (0 if last_term else 1)
                rest = code.text(first, start) if start > first else ""
                more = code.text(end, last) if end < last else ""
                yield _changed(code, first, last, f"{rest} {more}".strip())


def _levels(code: Code, part: Part) -> Iterator[tuple[int, int]]:
    """Yield a part, and what stands in parentheses within it."""
    yield part.first, part.last
    for number in range(part.first, part.last):
        if code.tokens[number].text == "(" and code.closing.get(number, 0) > number + 1:
            yield number + 1, code.closing[number]


def _flat(code: Code, first: int, last: int) -> Iterator[int]:
    """Yield the numbers of the tokens that stand outside all brackets."""
    at = first
    while at < last:
        yield at
        at = code.closing.get(at, at) + 1


def _choices(code: Code) -> Iterator[_Change]:
    """Swap what a ``?`` chooses from."""
    for number in _reading(code):
        if code.tokens[number].text != "?":
            continue
        colon, depth = number + 1, 0
        while colon < len(code.tokens) and (code.tokens[colon].text != ":" or depth):
            depth += {"?": 1, ":": -1}.get(code.tokens[colon].text, 0)
            colon = code.closing.get(colon, colon) + 1
        end = colon + 1
        while end < len(code.tokens) and code.tokens[end].text not in (*_ENDS, ":"):
            nested = code.tokens[end].text == "?"
            end = code.closing.get(end, end) + 1
            if nested:  # its own colon does not end the choice
                end = next(n for n in range(end, len(code.tokens)) if code.tokens[n].text == ":")
                end += 1
        yield _swapped(code, (number + 1, colon), (colon + 1, end))


_ENDS = (",", ";", ")", "]", "}")


def _pieces(code: Code) -> Iterator[_Change]:
    """Swap neighbours within braces."""
    for number in _reading(code):
        if code.tokens[number].text != "{" or number not in code.closing:
            continue
        close = code.closing[number]
        commas = [n for n in _flat(code, number + 1, close) if code.tokens[n].text == ","]
        bounds = [number, *commas, close]
        for low, middle, high in zip(bounds, bounds[1:], bounds[2:], strict=False):
            if code.text(low + 1, middle) != code.text(middle + 1, high):
                yield _swapped(code, (low + 1, middle), (middle + 1, high))


# --- constants and names --------------------------------------------------------------------


def _constants(code: Code) -> Iterator[_Change]:
    """Make a constant, or the number of a bit, larger or smaller by one."""
    for number in _reading(code):
        token = code.tokens[number]
        is_size = code.tokens[number + 1].text in ("'", "{") if token.kind == "number" else True
        for by in (1, -1):
            other = None if is_size else _moved(token.text, by)
            if other is not None:
                yield _changed(code, number, number + 1, other)


def _moved(text: str, by: int) -> str | None:
    """Return a constant plus something, None where it would not fit."""
    match = _NUMBER.fullmatch(text.replace("_", ""))
    if match is None:
        return None
    prefix, digits = match[1] or "", match[2]
    base = _BASES[prefix[-1].lower()] if prefix else 10
    size = prefix.split("'")[0]
    try:
        value = int(digits, base) + by
    except ValueError:  # a digit that the base does not have
        return None
    if value < 0 or (size and value >> int(size)):
        return None
    return prefix + format(value, f"0{len(digits)}{_FORMATS[base]}" if base != 10 else "d")


def _names(code: Code) -> Iterator[_Change]:
    """Read another signal of the same width; nobody mistakes a clock or an edge's reset."""
    edges = {code.tokens[n].text for part in code.of("edges") for n in range(part.first, part.last)}
    named = {name: width for name, width in code.widths.items() if name not in edges}
    for number in _reading(code):
        name = code.tokens[number].text
        for other, width in named.items():
            if name in named and other != name and named[name] == width:
                yield _changed(code, number, number + 1, other)


def _ranges(code: Code) -> Iterator[_Change]:
    """Declare something inside one bit too narrow."""
    for part in code.of("range"):
        high = _moved(code.tokens[part.first + 1].text, -1)
        if high is not None and code.tokens[part.first + 2].text == ":":
            yield _changed(code, part.first + 1, part.first + 2, high)


# --- statements -----------------------------------------------------------------------------


def _negated(code: Code) -> Iterator[_Change]:
    """Negate a condition; of a reset, that is the wrong level."""
    for part in code.of("condition"):
        text = code.text(part.first, part.last)
        if not text.startswith("!"):
            yield _changed(code, part.first, part.last, f"!({text})")


def _always_holds(code: Code) -> Iterator[_Change]:
    """Leave out what a condition asks for."""
    for part in code.of("condition"):
        yield _changed(code, part.first, part.last, "1'b1")


def _left_out(code: Code) -> Iterator[_Change]:
    """Leave out what follows an else, a statement, or an arm of a case."""
    for part in code.of("else", "item", "entry"):
        if part.last - part.first <= _SMALL:
            yield _removed(code, part.first, part.last)


def _exchanged_branches(code: Code) -> Iterator[_Change]:
    """Exchange what is done if a condition holds and what is done otherwise."""
    branches = {part.last: part for part in code.of("branch")}
    for part in code.of("else"):
        one, other = branches.get(part.first), branches[part.last]
        if one is not None and code.tokens[other.first].text != "if":
            yield _swapped(code, (one.first, one.last), (other.first, other.last))


def _exchanged_arms(code: Code) -> Iterator[_Change]:
    """Exchange what two neighbouring arms of a case do."""
    arms = code.of("arm")
    for one, other in pairwise(arms):
        between = code.tokens[one.last : other.first]
        plain = all(token.text not in ("case", "endcase", "begin", "end") for token in between)
        if one.last <= other.first and plain:
            yield _swapped(code, (one.first, one.last), (other.first, other.last))


def _edges(code: Code) -> Iterator[_Change]:
    """Take the other edge, or leave out all but the first."""
    other = {"posedge": "negedge", "negedge": "posedge"}
    for part in code.of("edges"):
        for number in range(part.first, part.last):
            if code.tokens[number].text in other:
                yield _changed(code, number, number + 1, other[code.tokens[number].text])
            if code.tokens[number].text in ("or", ",") and code.tokens[part.first].text in other:
                yield _removed(code, number, part.last)


_KINDS: tuple[_Kind, ...] = (
    _operators,
    _operands,
    _inverters,
    _terms,
    _choices,
    _pieces,
    _constants,
    _names,
    _ranges,
    _negated,
    _always_holds,
    _left_out,
    _exchanged_branches,
    _exchanged_arms,
    _edges,
)


def inverted(source: str, ports: Sequence[Port]) -> str:
    """Return a source whose last output is inverted: a mutant that is never the same design."""
    code = read_code(source)
    words = [token.text for token in code.tokens]
    place = next(n for n, pair in enumerate(pairwise(words), 1) if pair == ("module", TOP))
    header = ",\n".join(f"    {port.declaration()}" for port in ports)
    last = next(port for port in reversed(ports) if port.direction == "output")
    wires = [f".{p.name}({'inner' if p is last else p.name})" for p in ports]
    width = "" if last.width == 1 else f"[{last.width - 1}:0] "
    return (
        f"{code.replaced(place, place + 1, 'Inner').rstrip()}\n\n"
        f"module {TOP} (\n{header}\n);\n"
        f"    wire {width}inner;\n"
        f"    Inner whole ({', '.join(wires)});\n"
        f"    assign {last.name} = ~inner;\n"
        "endmodule\n"
    )
