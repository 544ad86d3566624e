"""What the text of a page claims, read by the sentence patterns of the articles."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rlvr_envs.generators.worlds import forms
from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.spec import SOURCES
from rlvr_envs.generators.worlds.world import Report

_LINK = r"\[(?P<{0}shown>[^\]]+)\]\((?P<{0}target>[^)]+)\)"
_PLAIN = r"(?P<{0}plain>[A-Za-z0-9, ]+?)"
_REPORT = re.compile(words.ACCORDING.format(source="([a-z ]+)", year=r"(\d{4})") + "(.*)")
_ROW = re.compile(r"\| (.+) \| (.+) \|")
_LISTED = re.compile(r"\A(?:- |\[\d+\] )")
_SENTENCE_END = re.compile(r"(?<=\.)(?:\[\d+\])? ")
_ALIAS = re.compile(r" (?:is also known as ([^.]+)\.|\(also known as ([^.)]+)\))")
_SLOT = re.compile(r"\{[soab]\}")
_SEEN = re.compile(rf"- {_LINK.format('o')}")


@dataclass(frozen=True, slots=True)
class Mention:
    """A link: the name that it shows and the page that it leads to, or does not."""

    shown: str
    target: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or a row; None stands for what the page itself is about."""

    subject: Mention | None
    value: Mention | int | None
    start: int
    end: int
    report: Report | None


@dataclass(frozen=True, slots=True)
class Text:
    """A page as it was shown."""

    title: str
    lines: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the page says that its subject is called."""
        aliases = (match[1] or match[2] for line in self.lines for match in _ALIAS.finditer(line))
        return (self.title, *aliases)

    @property
    def see_also(self) -> list[Mention]:
        """The links at the end of the page."""
        if "## See also" not in self.lines:
            return []
        after = self.lines[self.lines.index("## See also") + 1 :]
        matches = [match for line in after if (match := _SEEN.fullmatch(line))]
        return [Mention(match["oshown"], match["otarget"]) for match in matches]


def claims(text: Text, relation: str) -> Iterator[Claim]:
    """Yield what a page claims of a relation, in the order of the page."""
    for line in text.lines:
        told = row(line)
        if told:
            yield from row_claims(relation, *told)
            continue
        for sentence in _SENTENCE_END.split(_LISTED.sub("", line, count=1)):
            yield from sentence_claims(text, relation, sentence)


def row(line: str) -> tuple[str, str] | None:
    """Return the label and the value of a row of a table, None for other lines."""
    match = _ROW.fullmatch(line)
    return (match[1], match[2]) if match else None


def row_claims(relation: str, label: str, value: str) -> Iterator[Claim]:
    """Yield what a label with a value claims of a relation."""
    named = _row_pattern(relation).fullmatch(label)
    if RELATIONS[relation].is_number and (named or label == forms.LABELS.get(relation)):
        number = forms.read(value)
        if number is not None:
            yield Claim(None, number, 0, 0, None)
    elif named:
        match = _value_pattern().fullmatch(value)
        if match:
            yield _claim(None, match, named.groupdict(), None, relation)


def sentence_claims(text: Text, relation: str, sentence: str) -> Iterator[Claim]:
    """Yield what a sentence of plain prose claims of a relation."""
    report = None
    reported = _REPORT.fullmatch(sentence)
    if reported:
        report = Report(reported[1], int(reported[2]))
        sentence = reported[3][:1].upper() + reported[3][1:]
    own = text.title.split(" (")[0]
    for words_of_it, pattern in _patterns(relation):
        match = pattern.fullmatch(sentence) if words_of_it in sentence else None
        if match is None or match["splain"] not in (None, own):
            continue
        if not RELATIONS[relation].is_number and match["oplain"] not in (None, own):
            continue
        subject = None if match["splain"] else Mention(match["sshown"], match["starget"])
        yield _claim(subject, match, match.groupdict(), report, relation)
        return


def _claim(
    subject: Mention | None,
    match: re.Match[str],
    terms: dict[str, str | None],
    report: Report | None,
    relation: str,
) -> Claim:
    value: Mention | int | None = None
    if RELATIONS[relation].is_number:
        value = int((match["oplain"] or "0").replace(",", ""))
    elif match["oshown"]:
        value = Mention(match["oshown"], match["otarget"])
    return Claim(subject, value, int(terms.get("a") or 0), int(terms.get("b") or 0), report)


def _slot(name: str) -> str:
    return f"(?:{_LINK.format(name)}|{_PLAIN.format(name)})"


def _compiled(template: str, number: bool = False) -> re.Pattern[str]:
    slots = {
        "{s}": _slot("s"),
        "{o}": _slot("o"),
        "{a}": r"(?P<a>\d{4})",
        "{b}": r"(?P<b>\d{4})",
    }
    if number:
        slots["{o}"] = r"(?P<oplain>\d[\d,]*)"
    pieces = re.split(f"({_SLOT.pattern})", template)
    return re.compile("".join(slots.get(piece, re.escape(piece)) for piece in pieces))


@cache
def _patterns(relation: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns, each with its longest words, which are quickly found to be missing."""
    number = RELATIONS[relation].is_number
    return tuple(
        (max(_SLOT.split(template), key=len), _compiled(template, number))
        for template in words.FACTS[relation]
    )


@cache
def _row_pattern(relation: str) -> re.Pattern[str]:
    return _compiled(words.ROWS[relation])


@cache
def _value_pattern() -> re.Pattern[str]:
    return re.compile(_slot("o"))


def believed(told: list[Claim], rule: str) -> Claim:
    """Return the claim that the rule believes; those without a source are undisputed."""
    for claim in told:
        if claim.report is None:
            return claim
    return max(told, key=lambda claim: _weight(claim.report, rule))


def _weight(report: Report | None, rule: str) -> int:
    if report is None:
        return 0
    return report.year if rule == "latest" else -SOURCES.index(report.source)
