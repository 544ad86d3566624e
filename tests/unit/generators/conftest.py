"""A reader of articles that knows the sentence patterns and nothing else about the world.

It turns the patterns into regular expressions, resolves names by what the pages say of
themselves (titles, "also known as"), and believes one of two reports by the stated rule.
"""

import re
from collections import defaultdict
from functools import cache

import pytest

from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.articles import articles
from rlvr_envs.generators.worlds.world import build_world

_ORDER = ["civil register", "chronicle", "newspaper"]
_LINK = r"\[(?P<{0}link>[^\]]+)\]\([a-z-]+\)"
_PLAIN = r"(?P<{0}plain>[A-Za-z0-9, ]+?)"
_REPORT = re.compile(r"According to the ([a-z ]+) of (\d{4}), (.*)")
_ROW = re.compile(r"\| (.+) \| (.+) \|")


def _slot(name):
    return f"(?:{_LINK.format(name)}|{_PLAIN.format(name)})"


def _pattern(template):
    parts = re.split(r"(\{[soab]\})", template)
    made = ""
    for part in parts:
        if part in ("{s}", "{o}"):
            made += _slot(part[1])
        elif part in ("{a}", "{b}"):
            made += rf"(?P<{part[1]}>\d{{4}})"
        else:
            made += re.escape(part)
    return re.compile(made)


PATTERNS = [(name, _pattern(text)) for name, texts in words.FACTS.items() for text in texts]
ROWS = [(name, _pattern(text)) for name, text in words.ROWS.items()]
_NUMBERS = {"born", "population", "elevation", "founded", "staff", "published", "pages", "held"}
_NUMBERS |= {"visitors"}


class Reader:
    """All facts of some pages; `claims[subject, relation]` lists values with their reports."""

    def __init__(self, pages, rule):
        self.rule = rule
        self.names = {}
        self.claims = defaultdict(list)
        self.places = defaultdict(set)  # page ids by fact
        for page in pages:
            self.names[page.title] = page.title
            for section in page.sections:
                for alias in re.findall(r" is also known as ([A-Za-z ]+)\.", section.text):
                    assert alias not in self.names, f"{alias} is told twice"
                    self.names[alias] = page.title
        for page in pages:
            for section in page.sections:
                self._section(page, section.text)

    def _section(self, page, text):
        for line in text.split("\n"):
            row = _ROW.fullmatch(line)
            if row:
                self._row(page, *row.groups())
                continue
            plain = re.sub(r"^(- |\[\d+\] )", "", line)
            for sentence in re.split(r"(?<=\.)(?:\[\d+\])? ", plain):
                self._sentence(page, sentence)

    def _row(self, page, label, value):
        for name, pattern in ROWS:
            match = pattern.fullmatch(label)
            if match:
                terms = match.groupdict()
                link = re.fullmatch(_LINK.format("o"), value)
                self._add(page, page.title, name, link["olink"] if link else value, terms, None)

    def _sentence(self, page, sentence):
        report = None
        reported = _REPORT.fullmatch(sentence)
        if reported:
            report = (reported[1], int(reported[2]))
            sentence = reported[3][0].upper() + reported[3][1:]
        for name, pattern in PATTERNS:
            match = pattern.fullmatch(sentence)
            if match is None:
                continue
            subject = match["slink"] or self._home(page, match["splain"])
            value = match["olink"] or match["oplain"]
            if name not in _NUMBERS and match["oplain"]:
                value = self._home(page, value)
            if subject is not None and value is not None:
                self._add(page, subject, name, value, match.groupdict(), report)

    @staticmethod
    def _home(page, name):
        """A name without a link is the page's own, or no name at all."""
        return page.title if name == page.title.split(" (")[0] else None

    def _add(self, page, subject, relation, value, terms, report):
        subject = self.names[subject]
        if relation in _NUMBERS:
            if not re.fullmatch(r"\d[\d,]*", value):
                return
            value = int(value.replace(",", ""))
        else:
            value = self.names[value]
        start, end = int(terms.get("a") or 0), int(terms.get("b") or 0)
        self.claims[subject, relation].append((value, start, end, report))
        self.places[subject, relation, value, start, end].add(page.id)

    def facts(self):
        """The facts as the rule resolves them: (subject, relation, value, start, end)."""
        found = []
        for (subject, relation), claims in self.claims.items():
            reported = [claim for claim in claims if claim[3]]
            if reported:
                assert len(claims) == len(reported) == 2, (subject, relation, claims)
                assert reported[0][0] != reported[1][0]
                found.append((subject, relation, *self._believed(*reported)[:3]))
            else:
                found += [(subject, relation, *claim[:3]) for claim in claims]
        return found

    def _believed(self, one, two):
        if self.rule == "latest":
            assert one[3][1] != two[3][1]
            return one if one[3][1] > two[3][1] else two
        assert one[3][0] != two[3][0]
        return min(one, two, key=lambda claim: _ORDER.index(claim[3][0]))


@cache
def _read(spec, seed):
    return Reader(articles(build_world(spec, seed)), spec.rule)


@pytest.fixture(scope="session")
def read():
    """Read the articles of a world: `read(spec, seed)`, kept for the next test."""
    return _read


@pytest.fixture(scope="session")
def looks_like_a_fact():
    """Tell whether a sentence has the form of one that tells a fact."""
    return lambda sentence: any(pattern.fullmatch(sentence) for _, pattern in PATTERNS)
