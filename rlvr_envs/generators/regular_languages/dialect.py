"""Patterns that a model wrote: read in a stated dialect, compared as languages, within a budget.

The pattern never reaches a regular-expression engine. It is read into the automaton of its
positions (Glushkov), and subsets of those are walked side by side with the wanted automaton.
Every step is counted, so that nested counts and subset explosions end in an error, not a hang.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rlvr_envs.generators.regular_languages.automata import Automaton

MAX_LENGTH = 20_000  # characters of a pattern
MAX_COUNT = 1000  # the largest number in {n,m}
MAX_NESTING = 50  # groups within groups
_MAX_POSITIONS = 8000  # letters of a pattern once its counts are written out
_BUDGET = 1_000_000  # steps of one comparison: about a second at worst

_SPECIAL = frozenset("|()[]{}*+?.^$\\")


class PatternError(ValueError):
    """The text is no pattern of the dialect; the message says why."""


class TooLarge(Exception):
    """Comparing the pattern takes more steps than an honest one needs."""


@dataclass(slots=True)
class _Budget:
    left: int = _BUDGET

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLarge


# A node of a pattern is a function that adds its positions to an automaton under construction.
@dataclass(frozen=True, slots=True)
class _Fragment:
    nullable: bool
    first: int  # bit sets of positions
    last: int


_Node = Callable[["_Positions"], _Fragment]
_EMPTY = _Fragment(nullable=True, first=0, last=0)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Positions:
    """The automaton of a pattern's positions; position 0 is the start."""

    def __init__(self, letters: str, budget: _Budget) -> None:
        self.budget = budget
        self.follow = [0]
        self.on_letter = dict.fromkeys(letters, 0)

    def symbol(self, letters: frozenset[str]) -> _Fragment:
        self.budget.spend(1)
        position = len(self.follow)
        if position > _MAX_POSITIONS:
            raise TooLarge
        self.follow.append(0)
        for letter in letters:
            self.on_letter[letter] |= 1 << position
        return _Fragment(nullable=False, first=1 << position, last=1 << position)

    def link(self, last: int, first: int) -> None:
        self.budget.spend(1 + last.bit_count())
        for position in _bits(last):
            self.follow[position] |= first

    def chain(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self.link(left.last, right.first)
        return _Fragment(
            nullable=left.nullable and right.nullable,
            first=left.first | (right.first if left.nullable else 0),
            last=right.last | (left.last if right.nullable else 0),
        )


def _repeat(node: _Node, low: int, high: int | None) -> _Node:
    def build(positions: _Positions) -> _Fragment:
        done = _EMPTY
        for copy in range(low if high is None else high):
            part = node(positions)
            if copy >= low:
                part = _Fragment(nullable=True, first=part.first, last=part.last)
            done = positions.chain(done, part)
        if high is None:  # the loop may be entered once more, any number of times
            part = node(positions)
            positions.link(part.last, part.first)
            tail = _Fragment(nullable=True, first=part.first, last=part.last)
            done = positions.chain(done, tail)
        return done

    return build


def _sequence(nodes: list[_Node]) -> _Node:
    def build(positions: _Positions) -> _Fragment:
        positions.budget.spend(1)
        done = _EMPTY
        for node in nodes:
            done = positions.chain(done, node(positions))
        return done

    return build


def _choice(nodes: list[_Node]) -> _Node:
    def build(positions: _Positions) -> _Fragment:
        parts = [node(positions) for node in nodes]
        positions.budget.spend(len(parts))
        first = last = 0
        for part in parts:
            first |= part.first
            last |= part.last
        return _Fragment(nullable=any(part.nullable for part in parts), first=first, last=last)

    return build


class _Reader:
    """Reads a pattern by recursive descent; nesting is bounded."""

    def __init__(self, text: str, letters: str) -> None:
        self.text = text
        self.letters = letters
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def choice(self) -> _Node:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else _choice(branches)

    def sequence(self) -> _Node:
        items: list[_Node] = []
        # The whole string is matched anyway, so anchors around a whole branch say nothing new.
        if self.depth == 0 and self.peek() == "^":
            self.at += 1
        while self.peek() not in ("", "|", ")"):
            if self.depth == 0 and self.peek() == "$" and self.text[self.at + 1 :][:1] in ("", "|"):
                self.at += 1
            else:
                items.append(self.repeated())
        return items[0] if len(items) == 1 else _sequence(items)

    def repeated(self) -> _Node:
        node = self.atom()
        counts = self.counts()
        if counts is None:
            return node
        if self.peek() and self.peek() in "*+?{":
            raise PatternError("a repeated part is repeated again; put it into parentheses")
        return _repeat(node, *counts)

    def counts(self) -> tuple[int, int | None] | None:
        mark = self.peek()
        plain = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if mark in plain:
            self.at += 1
            return plain[mark]
        if mark != "{":
            return None
        end = self.text.find("}", self.at)
        inside = self.text[self.at + 1 : end] if end >= 0 else ""
        low, comma, high = inside.partition(",")
        if not (low + high) or not all(_is_count(part) for part in (low, high) if part):
            raise PatternError(f"a count is written {{n}}, {{n,}} or {{n,m}}, up to {MAX_COUNT}")
        self.at = end + 1
        least = int(low or "0")
        most = (int(high) if high else None) if comma else least
        if most is not None and most < least:
            raise PatternError(f"the count {{{inside}}} ends before it begins")
        return least, most

    def atom(self) -> _Node:
        mark = self.peek()
        if mark == "(":
            return self.group()
        self.at += 1
        if mark == "[":
            return _symbol(self.members())
        if mark == ".":
            return _symbol(frozenset(self.letters))
        if mark == "\\":
            mark = self.peek()
            self.at += 1
            if mark in self.letters or mark.isalnum() or not mark:
                raise PatternError(f"'\\{mark}' is not part of the dialect")
        elif mark in _SPECIAL:
            raise PatternError(f"{mark!r} cannot stand at character {self.at}")
        return _symbol(self.letter(mark))

    def group(self) -> _Node:
        self.at += 3 if self.text.startswith("(?:", self.at) else 1
        if self.peek() == "?":
            raise PatternError("of the groups that begin with '(?', only (?:...) is allowed")
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise PatternError(f"groups are nested more than {MAX_NESTING} deep")
        node = self.choice()
        if self.peek() != ")":
            raise PatternError("a parenthesis is never closed")
        self.at += 1
        self.depth -= 1
        return node

    def letter(self, mark: str) -> frozenset[str]:
        if mark not in self.letters:
            raise PatternError(f"{mark!r} is not in the alphabet")
        return frozenset(mark)

    def members(self) -> frozenset[str]:
        end = self.text.find("]", self.at)
        inside = self.text[self.at : end] if end >= 0 else ""
        self.at = end + 1
        negated = inside.startswith("^")
        body = inside[1:] if negated else inside
        if not body:
            raise PatternError("a class [...] is empty or never closed")
        found: set[str] = set()
        at = 0
        while at < len(body):
            if at + 2 < len(body) and body[at + 1] == "-":
                low, high = (self.letter(body[at]), self.letter(body[at + 2]))
                between = {letter for letter in self.letters if min(low) <= letter <= min(high)}
                found |= between
                at += 3
            else:
                at += 1 if body[at] == "\\" and body[at + 1 : at + 2] == "-" else 0
                found |= self.letter(body[at])
                at += 1
        return frozenset(self.letters) - found if negated else frozenset(found)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4 and int(text) <= MAX_COUNT


def _symbol(letters: frozenset[str]) -> _Node:
    return lambda positions: positions.symbol(letters)


def _read(text: str, letters: str) -> _Node:
    if len(text) > MAX_LENGTH:
        raise PatternError(f"the pattern has more than {MAX_LENGTH} characters")
    reader = _Reader(text, letters)
    node = reader.choice()
    if reader.at < len(text):
        raise PatternError("a parenthesis is closed that was never opened")
    return node


def difference(text: str, wanted: Automaton) -> str | None:
    """Return a shortest string on which the pattern and the automaton differ; None if none does.

    Raises:
        PatternError: the text is no pattern of the dialect.
        TooLarge: the comparison takes too many steps.
    """
    node = _read(text, wanted.letters)
    budget = _Budget()
    positions = _Positions(wanted.letters, budget)
    whole = node(positions)
    positions.follow[0] = whole.first
    final = whole.last | int(whole.nullable)
    masks = [positions.on_letter[letter] for letter in wanted.letters]
    before: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {(1, 0): None}
    queue = deque(before)
    while queue:
        pair = queue.popleft()
        subset, state = pair
        if bool(subset & final) != wanted.accepting[state]:
            return _path(before, pair)
        budget.spend(8 + subset.bit_count())
        reached = 0
        for position in _bits(subset):
            reached |= positions.follow[position]
        for letter, mask, after in zip(wanted.letters, masks, wanted.moves[state], strict=True):
            step = (reached & mask, after)
            if step not in before:
                before[step] = (pair, letter)
                queue.append(step)
    return None


def _path(
    before: dict[tuple[int, int], tuple[tuple[int, int], str] | None], pair: tuple[int, int]
) -> str:
    letters = []
    link = before[pair]
    while link is not None:
        pair, letter = link
        letters.append(letter)
        link = before[pair]
    return "".join(reversed(letters))
