"""Reads a proposed question: every plan that its words can mean in a world, or why there is none.

Only the wordings of `wordings` are read, and every word has to have a part in one: what
nothing accounts for, be it noise, code or a hint, makes the whole question unreadable.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.generators.proposals import wordings as words
from rlvr_envs.generators.proposals.wordings import Wording
from rlvr_envs.generators.worlds.paths import extend, join
from rlvr_envs.generators.worlds.plan import Hop, Plan
from rlvr_envs.generators.worlds.schema import PLURALS, RELATIONS, TYPES
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import World, build_world

MAX_TOKENS = 160
MAX_READINGS = 24
_MAX_ANDS = 6

_WORD = re.compile(r"\w+")
_REST = re.compile(r"[\s?.,()'\"’“”-]*")
_YEAR = re.compile(r"[0-9]{4}")
_SHOWN = 5

_LEADS = (
    ("who", "is"),
    ("what", "is"),
    ("which", "is"),
    ("name",),
    ("what", "is", "the", "name", "of"),
)

Token = str | int  # a word, or the number of an entity
Plans = tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The plans that a question can mean; without one, `fault` says why."""

    plans: Plans = ()
    fault: str = ""


def read(world: World, question: str) -> Reading:
    """Read a question about a world."""
    if not _REST.fullmatch(_WORD.sub("", question)):
        return Reading(fault="the question contains a character that is not allowed")
    tokens, shared = _tokens(world, _WORD.findall(question))
    if shared:
        return Reading(fault=f"two things are called {shared}: use the titles of their pages")
    fault = _word_fault(tokens)
    if fault:
        return Reading(fault=fault)
    parser = _Parser(world, tokens)
    plans = tuple(dict.fromkeys(parser.questions()))
    if parser.overflowed or len(plans) > MAX_READINGS:
        return Reading(fault="the question can be read in too many ways")
    if not plans:
        return Reading(fault="the words do not form a question in the allowed wordings")
    return Reading(plans)


def _word_fault(tokens: Sequence[Token]) -> str:
    """Return what is wrong with the words, however they are put together; empty for nothing."""
    if len(tokens) > MAX_TOKENS or tokens.count("and") > _MAX_ANDS:
        return "the question has too many parts"
    if not any(isinstance(token, int) for token in tokens):
        return "the question names nothing in this world"
    known = words.vocabulary()
    spoken = [token for token in tokens if isinstance(token, str) and not _YEAR.fullmatch(token)]
    strange = dict.fromkeys(word for word in spoken if word not in known)
    if strange:
        told = ", ".join(ascii(word[:20]) for word in list(strange)[:_SHOWN])
        return f"these words are neither names nor part of a wording: {told}"
    return ""


# Names.


@lru_cache(maxsize=16)
def _names(spec: WorldSpec, seed: int) -> dict[tuple[str, ...], list[int]]:
    """Return the entities by the words of each of their names."""
    found: dict[tuple[str, ...], list[int]] = {}
    for number, entity in enumerate(build_world(spec, seed).entities):
        for form in entity.forms:
            key = tuple(word.lower() for word in _WORD.findall(form))
            found.setdefault(key, []).append(number)
    return found


def _tokens(world: World, found: Sequence[str]) -> tuple[list[Token], str]:
    """Return words and entities, the longest names first, and a name that two things share."""
    names = _names(world.spec, world.seed)
    longest = max(map(len, names))
    lower = [word.lower() for word in found]
    tokens: list[Token] = []
    at = 0
    while at < len(lower):
        for size in range(min(longest, len(lower) - at), 0, -1):
            meant = names.get(tuple(lower[at : at + size]))
            if meant is None:
                continue
            if len(meant) > 1:
                return [], " ".join(found[at : at + size])
            tokens.append(meant[0])
            at += size
            break
        else:
            tokens.append(words.spelled(found[at]))
            at += 1
    return tokens, ""


# Grammar.


class _Parser:
    """Reads spans of tokens; a span is read once for each thing that it may be."""

    def __init__(self, world: World, tokens: Sequence[Token]) -> None:
        self.world = world
        self.tokens = tuple(tokens)
        self.overflowed = False
        self._things: dict[tuple[int, int], Plans] = {}
        self._groups: dict[tuple[int, int, str, bool], Plans] = {}

    def questions(self) -> Iterator[Plan]:
        """Yield the plans of the whole text."""
        end = len(self.tokens)
        start, year = self._leading_year()
        if year:
            yield from self._worded(words.asked_values(), start, end, year)
            return
        yield from self._worded(words.asked_values(), 0, end)
        yield from self._identified(end)
        for kind in TYPES:
            if self._has(0, ("which", kind)):
                yield from self._group(2, end, kind, several=False)
        yield from self._ranked(end)

    def _leading_year(self) -> tuple[int, int]:
        """Return where the question begins behind "in 1890", and the year."""
        if len(self.tokens) > 2 and self.tokens[0] == "in":
            year = self._year(1)
            return (2, year) if year else (0, 0)
        return 0, 0

    def _identified(self, end: int) -> Iterator[Plan]:
        """Read "who is the founder of X" and its like."""
        for lead in _LEADS:
            if self._has(0, lead):
                yield from self.things(len(lead), end)
        for kind in TYPES:
            if self._has(0, ("which", kind, "is")):
                yield from (p for p in self.things(3, end) if self._kind(p) == kind)

    def _ranked(self, end: int) -> Iterator[Plan]:
        """Read "of all the people who were born in X, which one was born last"."""
        for lead in (("of", "all", "the"), ("among", "all", "the"), ("among", "the")):
            if not self._has(0, lead):
                continue
            for told, (op, relation) in words.measures().items():
                cut = end - len(told) - 2
                if cut < len(lead) + 2 or self.tokens[cut:] != ("which", "one", *told):
                    continue
                kind = RELATIONS[relation].subject
                if self._has(len(lead), (PLURALS[kind],)):
                    begin = self._behind_pronoun(len(lead) + 1)
                    for group in self._group(begin, cut, kind, several=True):
                        yield extend(group, op, relation)

    def things(self, i: int, j: int) -> Plans:
        """Return the plans of what names one thing."""
        key = (i, j)
        if key not in self._things:
            self._things[key] = ()  # a span is never a part of itself
            self._things[key] = self._kept(self._thing(i, j))
        return self._things[key]

    def _thing(self, i: int, j: int) -> Iterator[Plan]:
        if j - i == 1:
            token = self.tokens[i]
            if isinstance(token, int):
                yield (Hop("name", entity=self.world.entities[token].label),)
            return
        if j - i < 3 or self.tokens[i] != "the":
            return
        yield from self._worded(words.values(), i, j)
        kind = self.tokens[i + 1]
        if kind in TYPES:
            yield from self._group(i + 2, j, str(kind), several=False)

    def _group(self, i: int, j: int, kind: str, *, several: bool) -> Plans:
        """Return the plans of all things of a type of which one or more predicates hold."""
        key = (i, j, kind, several)
        if key not in self._groups:
            self._groups[key] = ()
            self._groups[key] = self._kept(self._described(i, j, kind, several))
        return self._groups[key]

    def _described(self, i: int, j: int, kind: str, several: bool) -> Iterator[Plan]:
        begin = self._behind_pronoun(i)
        known = words.predicates(several)
        if begin == i:
            known += words.clauses()
        yield from (p for p in self._worded(known, begin, j) if self._kind(p) == kind)
        for cut in range(begin + 2, j - 2):
            if self.tokens[cut] != "and":
                continue
            firsts = [p for p in self._worded(known, begin, cut) if self._kind(p) == kind]
            if firsts:
                seconds = self._group(cut + 1, j, kind, several=several)
                yield from (join(one, two, "both") for one in firsts for two in seconds)

    def _kept(self, plans: Iterator[Plan]) -> Plans:
        """Return different plans, and note where there are too many to be kept."""
        found = tuple(dict.fromkeys(plans))
        if len(found) > MAX_READINGS:
            self.overflowed = True
        return found[:MAX_READINGS]

    def _behind_pronoun(self, i: int) -> int:
        return i + 1 if i < len(self.tokens) and self.tokens[i] in words.PRONOUNS else i

    def _worded(self, known: Sequence[Wording], i: int, j: int, year: int = 0) -> Iterator[Plan]:
        """Yield the plans of a span that one of some wordings makes up."""
        for wording in known:
            if not self._has(i, wording.before):
                continue
            end, date = j, year
            if wording.dated and not year:
                date = self._year(j - 1) if self._has(j - 2, ("in",)) else 0
                end = j - 2
            if wording.dated != bool(date):
                continue
            begin, stop = i + len(wording.before), end - len(wording.after)
            if begin >= stop or self.tokens[stop:end] != wording.after:
                continue
            relation = RELATIONS[wording.relation]
            wanted = relation.value if wording.op == "back" else relation.subject
            for inner in self.things(begin, stop):
                if self._kind(inner) == wanted:
                    yield extend(inner, wording.op, wording.relation, date)

    def _has(self, i: int, sought: Sequence[str]) -> bool:
        return i >= 0 and self.tokens[i : i + len(sought)] == tuple(sought)

    def _year(self, i: int) -> int:
        token = self.tokens[i]
        return int(token) if isinstance(token, str) and _YEAR.fullmatch(token) else 0

    def _kind(self, plan: Plan) -> str:
        """Return the type of what a plan means."""
        hop = plan[-1]
        if hop.op == "name":
            return self.world.kind(self.world.numbers[hop.entity])
        if hop.op == "both":
            return self._kind(plan[: hop.inputs[0] + 1])
        relation = RELATIONS[hop.relation]
        return relation.subject if hop.op == "back" else relation.value
