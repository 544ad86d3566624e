"""What a page in varied prose claims: frames, references, predicates and lists are read."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from rlvr_envs.generators.worlds import genres, predicates, reading
from rlvr_envs.generators.worlds.names import NOUNS
from rlvr_envs.generators.worlds.numerals import amount_of, year_of
from rlvr_envs.generators.worlds.reading import Claim, Mention, Text
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.voice import PRONOUNS
from rlvr_envs.generators.worlds.world import Report

_KEPT = 4096  # pages whose claims a process keeps
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_LINKED = r"\[[^\]]+\]\([^)]+\)"
_LISTED = re.compile(r"\A(?:- |\[\d+\] |\(\d+\) |Guide: )")
_SENTENCE_END = re.compile(r"(?<=[.?])(?:\[\d+\])? ")
_NOTE = re.compile(r"\[\d+\]\Z")
_CARD_LINE = re.compile(r"- ([^:\[\]]+): (.+)")
_DATED_LINE = re.compile(r"- (\d{4})(?: to (\d{4}))?: (.+)")
_SLOT = re.compile(r"(\{[sotpc]\})")
_RELATIVE = re.compile(r", wh(?:o|ich) ")
_JOINTS = ("; ", ", and ")
_NOUNS = "|".join(noun for nouns in NOUNS.values() for noun in nouns)

Told = tuple[str, Claim]  # a relation and what is claimed of it
_Found = list[Told] | None  # None where a text says something else


@lru_cache(maxsize=_KEPT)
def _all(text: Text) -> tuple[Told, ...]:
    reader = _Reader(text)
    return tuple(told for line in text.lines for told in reader.line(line))


def claims(text: Text, relation: str) -> Iterator[Claim]:
    """Yield what a page claims of a relation, in the order of the page."""
    yield from (claim for name, claim in _all(text) if name == relation)


class _Reader:
    """Reads the lines of one page."""

    def __init__(self, text: Text) -> None:
        self._page = text
        names = {name.split(" (")[0] for name in text.names}
        lasts = {name.rpartition(" ")[2] for name in names}
        own = "|".join(map(re.escape, sorted(names | lasts, key=len, reverse=True)))
        own += f"|(?i:{'|'.join(sorted(PRONOUNS, key=len, reverse=True))})|(?i:the) (?:{_NOUNS})"
        self._own = re.compile(own)
        self._subject = re.compile(rf"(?:{_LINKED}|{own}) ")
        self._owner = re.compile(rf"(?:({_LINKED})'s|(?:{own})'s|(?i:his|her|its)) ")

    def line(self, line: str) -> Iterator[Told]:
        row = reading.row(line)
        if row:
            for relation in RELATIONS:
                yield from ((relation, claim) for claim in reading.row_claims(relation, *row))
            return
        listed = self._list_line(line)
        if listed:
            yield from listed
            return
        for sentence in _SENTENCE_END.split(_LISTED.sub("", line, count=1)):
            yield from self._sentence(_NOTE.sub("", sentence))

    def _list_line(self, line: str) -> list[Told]:
        dated = _DATED_LINE.fullmatch(line)
        if dated:
            first, last, told = dated.groups()
            value, _, office = told.rpartition(", ")
            for relation, said in predicates.DATED.items():
                if said == told and not last:
                    return [(relation, Claim(None, int(first), 0, 0, None))]
                if last and said == f"{{o}}, {office}":
                    held = self._things(value)
                    return [
                        (relation, Claim(None, one, int(first), int(last), None))
                        for one in held or ()
                    ]
        card = _CARD_LINE.fullmatch(line)
        if card is None:
            return []
        return [
            (relation, claim)
            for relation in RELATIONS
            for claim in reading.row_claims(relation, card[1], card[2])
        ]

    def _sentence(self, sentence: str) -> list[Told]:
        if not sentence.endswith("."):
            return []
        sentence = sentence.removesuffix(".")
        for frame in _reports():
            match = frame.fullmatch(sentence)
            if match:
                report = Report(match["source"], int(match["year"]))
                return [
                    (relation, Claim(c.subject, c.value, c.start, c.end, report))
                    for relation, c in self._core(match["c"]) or ()
                ]
        for before, after in _frames():
            if sentence.startswith(before) and sentence.endswith(after):
                inner = self._core(sentence[len(before) : len(sentence) - len(after)])
                if inner:
                    return inner
        return self._core(sentence) or []

    def _core(self, text: str) -> _Found:
        """Read a statement; None where it is none."""
        return (
            self._clauses(text)
            or self._opened(text)
            or self._owned(text)
            or self._plain(text)
            or None
        )

    def _clauses(self, text: str) -> _Found:
        """Read a subject with its predicates, or two such clauses."""
        start = self._subject.match(text)
        if start is None:
            return None
        about = self._thing(text[: start.end() - 1].removesuffix(","))
        rest = text[start.end() :]
        found = self._predicates(rest, about)
        if found:
            return found
        for joint in _JOINTS:
            for at in _places(rest, joint):
                left = self._predicates(rest[:at], about)
                right = self._clauses(rest[at + len(joint) :]) if left else None
                if left and right:
                    return left + right
        return None

    def _around(self, text: str) -> _Found:
        """Read a subject with a relative clause: "Anna, who was born in …, was taught by …"."""
        relative = _RELATIVE.search(text)
        if relative is None or not self._subject.fullmatch(f"{text[: relative.start()]} "):
            return None
        about, rest = self._thing(text[: relative.start()]), text[relative.end() :]
        for at in _places(rest, ", "):
            left = self._predicate(rest[:at], about)
            right = self._predicates(rest[at + 2 :], about) if left else None
            if left and right:
                return left + right
        return None

    def _opened(self, text: str) -> _Found:
        """Read a participle before its subject, or a relative clause behind it."""
        around = self._around(text)
        if around:
            return around
        for at in _places(text, ", "):
            start = self._subject.match(text, at + 2)
            if start is None:
                continue
            about = self._thing(text[at + 2 : start.end() - 1])
            left = self._predicate(f"was {text[0].lower()}{text[1:at]}", about)
            right = self._predicates(text[start.end() :], about) if left else None
            if left and right:
                return left + right
        return None

    def _owned(self, text: str) -> _Found:
        owner = self._owner.match(text)
        if owner is None:
            return None
        about = self._thing(owner[1]) if owner[1] else None
        for relation, slots in _owned():
            match = slots.fullmatch(text[owner.end() :])
            told = self._told(relation, match["o"], about) if match else None
            if told:
                return told
        return None

    def _plain(self, text: str) -> _Found:
        sentence = f"{text[:1].upper()}{text[1:]}."
        return [
            (relation, claim)
            for relation in RELATIONS
            for claim in reading.sentence_claims(self._page, relation, sentence)
        ]

    # Predicates.

    def _predicates(self, text: str, about: Mention | None) -> _Found:
        """Read a list of predicates."""
        whole = self._predicate(text, about)
        if whole:
            return whole
        for joint in (", ", " and "):
            for at in _places(text, joint):
                left = self._predicate(text[:at], about)
                right = self._predicates(text[at + len(joint) :], about) if left else None
                if left and right:
                    return left + right
        return None

    def _predicate(self, text: str, about: Mention | None) -> _Found:
        for relation, turned, slots in _by_word().get(text.split(" ", 1)[0], ()):
            match = slots.fullmatch(text)
            if match is None:
                continue
            times = _times(match["t"]) if "t" in slots.groupindex else (0, 0)
            if times is None:
                continue
            if not turned:
                told = self._told(relation, match["o"], about, *times)
            else:
                held = self._things(match["o"])
                told = [(relation, Claim(one, about, *times, None)) for one in held or ()]
            if told:
                return told
        return None

    def _told(
        self, relation: str, text: str, about: Mention | None, start: int = 0, end: int = 0
    ) -> _Found:
        kind = RELATIONS[relation].value
        if kind in ("year", "amount"):
            number = _year(text) if kind == "year" else amount_of(text)
            return None if number is None else [(relation, Claim(about, number, 0, 0, None))]
        held = self._things(text) or ()
        return [(relation, Claim(about, one, start, end, None)) for one in held]

    # References.

    def _thing(self, text: str) -> Mention | None:
        """Return the thing of a link; None stands for what the page is about."""
        link = _LINK.fullmatch(text)
        return Mention(link[1], link[2]) if link else None

    def _things(self, text: str) -> list[Mention | None] | None:
        """Return the things of a list of links, or the page's own; None for other texts."""
        if self._own.fullmatch(text):
            return [None]
        parts = re.split(r", | and ", text)
        if not all(_LINK.fullmatch(part) for part in parts):
            return None
        return [self._thing(part) for part in parts]


def _places(text: str, joint: str) -> Iterator[int]:
    at = text.find(joint)
    while at >= 0:
        yield at
        at = text.find(joint, at + 1)


def _year(text: str) -> int | None:
    for before in predicates.SEASONS:
        if before and text.startswith(before):
            return year_of(text.removeprefix(before))
    return year_of(text)


@cache
def _time_patterns() -> tuple[re.Pattern[str], ...]:
    slots = {"{a}": r"(?P<a>\d{4})", "{b}": r"(?P<b>\d{4})", "{n}": r"(?P<n>[a-z]+)"}
    return tuple(
        re.compile("".join(slots.get(part, part) for part in re.split(r"(\{[abn]\})", text)))
        for text in predicates.TIMES
    )


def _times(text: str) -> tuple[int, int] | None:
    for pattern in _time_patterns():
        match = pattern.fullmatch(text)
        if match:
            found = match.groupdict()
            years = amount_of(found.get("n") or "") or 0
            start, end = (int(found[name]) if found.get(name) else 0 for name in "ab")
            return start or end - years, end or start + years
    return None


def _pattern(template: str) -> re.Pattern[str]:
    slots = {"{s}": "(?P<o>.+?)", "{o}": "(?P<o>.+?)", "{t}": "(?P<t>(?:from|between|for) .+)"}
    return re.compile("".join(slots.get(part, re.escape(part)) for part in _SLOT.split(template)))


@cache
def _by_word() -> dict[str, list[tuple[str, bool, re.Pattern[str]]]]:
    """Return the patterns of predicates by their first word."""
    found: dict[str, list[tuple[str, bool, re.Pattern[str]]]] = {}
    for turned, said in ((False, predicates.SAID), (True, predicates.TURNED)):
        for relation, templates in said.items():
            for template in templates:
                word = template.split(" ", 1)[0]
                found.setdefault(word, []).append((relation, turned, _pattern(template)))
    return found


@cache
def _owned() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (relation, _pattern(template.removeprefix("{p} ")))
        for relation, templates in predicates.OWNED.items()
        for template in templates
    )


@cache
def _reports() -> tuple[re.Pattern[str], ...]:
    patterns = []
    for frame in genres.REPORTS:
        text = re.escape(f"{frame[0].upper()}{frame[1:]}" if frame[0] != "{" else frame)
        text = text.replace(r"\{c\}", "(?P<c>.+)").replace(r"\{year\}", r"(?P<year>\d{4})")
        patterns.append(re.compile(text.replace(r"\{source\}", "(?P<source>[a-z ]+)")))
    return tuple(patterns)


@cache
def _frames() -> tuple[tuple[str, str], ...]:
    """Return what stands before and after a statement in each frame."""
    found = []
    for frame in sorted({frame for genre in genres.GENRES for frame in genre.frames}):
        before, after = frame.split("{c}")
        found.append((before[:1].upper() + before[1:], after))
    return tuple(found)
