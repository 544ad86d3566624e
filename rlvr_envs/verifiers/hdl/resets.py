"""Registers that only the branch of an asynchronous reset assigns, made visible to synthesis.

A register keeps its value where no branch assigns it. Of a block with an asynchronous reset, the
front end makes registers of what the other branch assigns, bit by bit, and nothing of the rest: a
register that is reset and never changes would have any value, or its initial one. Here such a block
gets `name <= name;` at the head of its other branch. That says what the text means anyway.

Everything here takes time in proportion to the length of the text, with its macros replaced.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from rlvr_envs.verifiers.hdl.macros import replaced
from rlvr_envs.verifiers.hdl.tokens import LAYOUT, Forbidden, Token, tokens_of

MOST_NESTED = 200  # statements within statements
MOST_KEPT = 1 << 18  # characters of the statements that keep values, in one block

_EDGE = re.compile(r"\b(?:pos|neg)edge\b")
_ASSIGNS = re.compile(r"(?:[-+*/%&|^]|<<<?|>>>?)?=|\+\+|--")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LOOPS = frozenset({"for", "while", "repeat", "foreach"})
_CASES = frozenset({"case", "casez", "casex"})
_CHECKS = frozenset({"unique", "unique0", "priority"})
# Where a block is over for certain, even if parentheses of it are still open.
_BEYOND = frozenset({"always", "always_ff", "always_comb", "always_latch", "initial", "endmodule"})
_ENDS = _BEYOND | {"end", "endcase", "endtask", "endfunction", ""}


class _Loop(NamedTuple):
    """A loop around statements."""

    header: str  # with the word before it; empty where it cannot be repeated as it is
    variables: frozenset[str]  # that its header assigns


class _Target(NamedTuple):
    """What an assignment assigns: a name, or a part of it."""

    words: tuple[str, ...]  # with the spaces behind them
    loops: tuple[_Loop, ...] = ()

    @property
    def name(self) -> str:
        return self.words[0].strip()


@dataclass(slots=True)
class _Written:
    """What some statements do."""

    targets: dict[_Target, str] = field(default_factory=dict)  # with the operator that assigns it
    declared: set[str] = field(default_factory=set)  # names of their own
    read: set[str] = field(default_factory=set)  # all words

    def whole(self) -> set[str]:
        """Return the names that are assigned as a whole."""
        return {target.name for target in self.targets if len(target.words) == 1}

    def names(self) -> set[str]:
        """Return the names that are assigned, or of which a part is."""
        return {target.name for target in self.targets}

    def add(self, routine: "_Written") -> None:
        """Add what a task or a function does to names that are not its own."""
        for target, operator in routine.targets.items():
            if target.name not in routine.declared:
                self.targets.setdefault(_Target(target.words[:1]), operator)


def kept(text: str) -> str:
    """Return a text in which what an asynchronous reset alone assigns keeps its value otherwise.

    Raises:
        Forbidden: a block with an asynchronous reset is written in a way that cannot be followed.
    """
    if len(_EDGE.findall(text)) < 2:
        return text
    pieces = list(tokens_of(replaced(text)))
    found = dict(_Reader(pieces).insertions())
    if not found:
        return text
    texts = [*(piece.text for piece in pieces), ""]
    return "".join(found.get(place, "") + text for place, text in enumerate(texts))


class _Reader:
    """Finds the blocks in the tokens of a text; places are those of words, without layout."""

    def __init__(self, pieces: Sequence[Token]) -> None:
        places = [place for place, piece in enumerate(pieces) if piece.kind not in LAYOUT]
        self._places = [*places, len(pieces)]
        self._last = len(places)  # the place of the first empty word, which nothing goes beyond
        self._words = [*(pieces[place].text for place in places), *[""] * 8]  # to look ahead
        # With the spaces behind them: two signs may be one.
        spaced = [" " * (after > place + 1) for place, after in pairwise(self._places)]
        self._text = [word + space for word, space in zip(self._words, spaced, strict=False)]
        kinds = (pieces[place].kind for place in places)
        self._names = [*(kind in ("word", "escaped") for kind in kinds), *[False] * 8]
        self._loops: tuple[_Loop, ...] = ()  # around the statement that is read
        self._routines: dict[str, _Written] | None = None

    def insertions(self) -> Iterator[tuple[int, str]]:
        """Yield what to insert, each with the place of the token that it comes before."""
        words = self._words
        for place, word in enumerate(words):
            if word in ("always", "always_ff") and words[place + 1 : place + 3] == ["@", "("]:
                body = self._behind(place + 2)
                edges = [w for w in words[place + 2 : body] if w in ("posedge", "negedge")]
                if len(edges) == 2:  # with more of them, another front end reads the text
                    yield from self._block(body)

    def _block(self, place: int) -> Iterator[tuple[int, str]]:
        """Yield what to insert into a block, of which the statement begins at a place."""
        words, before = self._words, _Written()
        while words[place] != "if":  # of the reset, after declarations and other assignments
            if words[place] == "begin":
                place = self._named(place + 1)
            elif words[place] in _ENDS:
                return
            else:
                place = self._statement(place, before)
        reset, other, start = _Written(), _Written(), self._behind(place + 1)
        middle = self._statement(start, reset)
        chooses = words[middle] == "else"
        end = self._statement(middle + 1, other) if chooses else middle
        self._call(reset)
        keep = " ".join(_keeping(before, reset, other))
        if not chooses:  # and an `if` at the end of the branch must not take the new one
            yield self._places[start], " begin "
            yield self._places[end - 1] + 1, f" end else begin {keep} end "
        elif keep:
            yield self._places[middle + 1], f" begin {keep} "
            yield self._places[end - 1] + 1, " end "

    def _call(self, written: _Written) -> None:
        """Add what the tasks and functions assign that are named in statements, or in these."""
        if self._routines is None:
            self._routines = dict(self._find_routines())
        todo, seen = [written], set[str]()
        while todo:
            called = todo.pop().read & self._routines.keys() - seen
            seen |= called
            for routine in map(self._routines.__getitem__, sorted(called)):
                written.add(routine)
                todo.append(routine)

    def _find_routines(self) -> Iterator[tuple[str, _Written]]:
        """Yield the tasks and functions of the text."""
        words, place = self._words, 0
        while place < self._last:
            if words[place] in ("task", "function"):
                head = place
                while words[place] not in ("(", ";", ""):
                    place += 1
                name, found = words[place - 1], _Written(declared={words[place - 1]})
                while words[place] not in (";", ""):
                    found.declared |= {words[place]} if self._names[place] else set()
                    place += 1
                place = min(place + 1, self._last)
                while words[place] not in _ENDS:
                    place = self._statement(place, found)
                yield name, found
                place = max(place, head + 1)
            place += 1

    def _statement(self, place: int, written: _Written, depth: int = 0) -> int:
        """Note what a statement does; return the place behind it."""
        if depth > MOST_NESTED:
            raise Forbidden(f"statements are nested more than {MOST_NESTED} deep")
        words = self._words
        while words[place] in _CHECKS:
            place += 1
        word = words[place]
        if word == "begin":
            place = self._named(place + 1)
            while words[place] not in _ENDS:
                place = self._statement(place, written, depth + 1)
            return self._named(place + 1)
        if word in _CASES:
            return self._case(place, written, depth)
        if word == "if":
            return self._choice(place, written, depth)
        if word in _LOOPS:
            return self._loop(place, written, depth)
        if word == "do":
            place = self._statement(place + 1, written, depth + 1)
        end = self._until(place, ";")
        self._assignment(place, end, written)
        return min(end + 1, self._last)

    def _choice(self, place: int, written: _Written, depth: int) -> int:
        """Note what an `if` does, and those that follow its `else`."""
        while True:
            end = self._behind(place + 1)
            written.read.update(self._words[place:end])
            place = self._statement(end, written, depth + 1)
            if self._words[place] != "else":
                return place
            place += 1
            if self._words[place] != "if":
                return self._statement(place, written, depth + 1)

    def _case(self, place: int, written: _Written, depth: int) -> int:
        """Note what a case does; return the place behind it."""
        words, begin = self._words, place
        place = self._behind(place + 1)
        while words[place] not in _ENDS:
            if words[place] == "default":
                place += 1 + (words[place + 1] == ":")
            else:
                place = min(self._until(place, ":") + 1, self._last)
            written.read.update(words[begin:place])
            begin = place = self._statement(place, written, depth + 1)
        return min(place + 1, self._last)

    def _loop(self, place: int, written: _Written, depth: int) -> int:
        """Note what a loop does; return the place behind it."""
        start, end = place + 2, self._behind(place + 1)
        header = _Written()
        while start < end - 1:
            stop = self._until(start, ";,", end - 1)
            self._assignment(start, stop, header)
            start = stop + 1
        written.read |= header.read
        written.declared |= header.declared
        written.targets.update(header.targets)
        head, loops = self._words[place:end], self._loops
        if head[0] == "foreach":  # (name[index, index])
            header.declared.update(self._words[n] for n in range(place + 3, end) if self._names[n])
            written.declared |= header.declared
        repeated = "".join(self._text[place:end]) if head[0] in ("for", "foreach") else ""
        self._loops = (*loops, _Loop(repeated, frozenset(header.declared | header.names())))
        place = self._statement(end, written, depth + 1)
        self._loops = loops
        return place

    def _assignment(self, start: int, end: int, written: _Written) -> None:
        """Note what is assigned or declared by the words of a simple statement."""
        words = self._words
        written.read.update(words[start:end])
        stepped = words[start] in ("+", "-")  # ++ or -- in front of a name
        start += 2 * stepped + (words[start] == "'")
        if words[start] == "{":
            place = self._behind(start)
            spans = list(self._spans(start + 1, place - 1))
        else:
            place = self._select(start)
            spans = [(start, place)] if self._names[start] else []
            if self._names[place]:  # a type stands before it
                written.declared.update(self._declared(place, end))
                return
        signs = "".join(words[place : min(place + 4, end)])
        operator = "<=" if signs.startswith("<=") else "="
        if operator == "<=" or stepped or _ASSIGNS.match(signs):
            for first, last in spans:
                target = tuple(self._text[first:last])
                loops = self._loops if len(target) > 1 else ()
                written.targets.setdefault(_Target(target, loops), operator)

    def _declared(self, place: int, end: int) -> Iterator[str]:
        """Yield the names of a declaration: the last ones before a value, a comma or the end."""
        while place < end:
            stop = self._until(place, ",", end)
            value, name = self._until(place, "=", stop), ""
            while place < value:
                name = self._words[place] if self._names[place] else name
                place = self._behind(place) if self._words[place] == "[" else place + 1
            yield name
            place = stop + 1

    def _spans(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where each target in a list in braces begins, and what is behind it."""
        while start < end:
            first, start = start, self._select(start) if self._names[start] else start + 1
            if self._names[first]:
                yield first, start

    def _select(self, place: int) -> int:
        """Return the place behind a name and its parts."""
        words, place = self._words, place + 1
        while True:
            if words[place] == "[":
                place = self._behind(place)
            elif words[place] == ".":
                place = min(place + 2, self._last)
            elif words[place : place + 2] == [":", ":"]:
                place = min(place + 3, self._last)
            else:
                return place

    def _named(self, place: int) -> int:
        """Return the place behind the name of a block, if there is one."""
        named = place < self._last and self._words[place] == ":"
        return min(place + 2 * named, self._last)

    def _behind(self, place: int) -> int:
        """Return the place behind what opens here: parentheses, brackets or braces."""
        depth, words, place = 0, self._words, min(place, self._last)
        while words[place] and words[place] not in _BEYOND:
            depth += (words[place] in _OPENING) - (words[place] in _CLOSING)
            place += 1
            if depth <= 0:
                break
        return place

    def _until(self, place: int, ends: str, limit: int | None = None) -> int:
        """Return the place of the first of some signs, outside of parentheses, or a limit."""
        depth, choices, words = 0, 0, self._words
        limit = self._last if limit is None else limit
        while place < limit and words[place] not in _BEYOND:
            word = words[place]
            depth += (word in _OPENING) - (word in _CLOSING)
            if depth == 0:
                if word == ":" and words[place + 1] == ":":  # of a package
                    place += 1
                elif word == ":" and choices:
                    choices -= 1
                elif word in ends:
                    break
                choices += word == "?"
            place += 1
        return min(place, limit)


def _keeping(before: _Written, reset: _Written, other: _Written) -> Iterator[str]:
    """Yield statements that keep what one branch assigns, and what the other one may not.

    Args:
        before: what stands before the branches.
        reset: the branch of the reset.
        other: the other one.
    """
    assigned = before.whole() | other.whole() | reset.declared
    partly, whole = before.names(), reset.whole()
    operators = {target.name: operator for target, operator in other.targets.items()}
    inner = reset.declared | reset.names()
    found: set[str] = set()
    size = 0
    for target, operator in reset.targets.items():
        name = target.name
        if name in assigned or (name in whole and len(target.words) > 1):
            continue
        if name in partly:
            raise Forbidden(
                f"{name:.80} is assigned before the branches of an asynchronous reset, and in one "
                "of them: assign all of it in both"
            )
        keep = _kept(target, operators.get(name, operator), inner)
        if keep not in found:
            found.add(keep)
            size += len(keep)
            yield keep
        if size > MOST_KEPT:
            raise Forbidden("the branch of an asynchronous reset assigns too much: shorten it")


def _kept(target: _Target, operator: str, inner: set[str]) -> str:
    """Return a statement that keeps the value of a target.

    Where the branch of the reset computes an index, all that could be meant is kept.
    """
    variables = {name for loop in target.loops for name in loop.variables}
    if variables and all(loop.header for loop in target.loops):
        inner = inner - variables
    words = [word.strip() for word in target.words]
    cut, depth, begin = len(words), 0, 0
    for place, word in enumerate(words):
        depth += (word == "[") - (word == "]")
        begin = place if depth == 1 and word == "[" else begin
        if depth and word in inner:
            cut = begin
            break
    loops = target.loops if variables & set(words[:cut]) else ()
    text = "".join(target.words[:cut]).strip()
    return f"{''.join(loop.header for loop in loops)} {text} {operator} {text} ;"
