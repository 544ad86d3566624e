"""Varied prose: each fact is stated once and nothing else is, no reference is ambiguous, it varies."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.search_episodes.task import SearchConfig
from rlvr_envs.generators.worlds import genres, predicates, prose_reading, reading
from rlvr_envs.generators.worlds.articles import PLAIN, VARIED, articles, library
from rlvr_envs.generators.worlds.plan import evaluate
from rlvr_envs.generators.worlds.prose import VariedWriter
from rlvr_envs.generators.worlds.prose_reading import claims
from rlvr_envs.generators.worlds.questions import KINDS, QuestionSpec, draw_question
from rlvr_envs.generators.worlds.reading import Text
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.site import document, site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

WORLDS = [build_world(WorldSpec.at(d), seed) for d, seed in ((0, 1), (5, 2), (11, 3), (14, 4))]
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
SENTENCE_END = re.compile(r"(?<=[.?])(?:\[\d+\])? |\n")
each_world = pytest.mark.parametrize("world", WORLDS, ids=lambda w: str(len(w.entities)))


def text_of(page):
    lines = [line for s in page.sections for line in (f"## {s.heading}", *s.text.split("\n"))]
    return Text(page.title, tuple(lines))


def sentences_of(page):
    return [one for s in page.sections for one in SENTENCE_END.split(s.text)]


def alone(page, sentence):
    """A sentence of a page by itself, with the names of the page's subject."""
    aliases = [f"It is also known as {name}." for name in text_of(page).names[1:]]
    return Text(page.title, (sentence, *aliases))


def tells(page, sentence, reader=claims):
    """Whether a sentence of a page tells a fact."""
    text = alone(page, sentence)
    return any(next(reader(text, name), None) for name in RELATIONS)


def statements(world, books):
    """Every fact and false report: page, fact, value, and its source where it has one."""
    for index, fact in enumerate(world.facts):
        conflict = world.conflicts.get(index)
        yield books.told[index], fact, fact.value, conflict and conflict.true
        if conflict:
            yield books.denied[index], fact, conflict.value, conflict.false


# What is stated.


@each_world
def test_the_reader_finds_exactly_the_facts_and_false_reports_where_they_are_told(world):
    books = library(world, VARIED)
    numbers = {form: n for n, e in enumerate(world.entities) for form in (e.label, e.alias)}

    def meant(value, page):
        if value is None or isinstance(value, int):
            return page if value is None else value
        return numbers[value.shown]

    found = Counter(
        (page, meant(c.subject, page), name, meant(c.value, page), c.start, c.end, c.report)
        for page, text in enumerate(map(text_of, books.pages))
        for name in RELATIONS
        for c in claims(text, name)
    )
    assert found == Counter(
        (page, fact.subject, fact.relation, value, fact.start, fact.end, report)
        for page, fact, value, report in statements(world, books)
    )


_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelt(number):
    """A number below 1,000,000 in words, by another way than the package's."""
    if number >= 1000:
        rest = number % 1000
        joint = " and " if 0 < rest < 100 else " "
        return spelt(number // 1000) + " thousand" + (joint + spelt(rest) if rest else "")
    if number >= 100:
        rest = number % 100
        return f"{_ONES[number // 100]} hundred" + (f" and {spelt(rest)}" if rest else "")
    if number >= 20:
        rest = number % 10
        return _TENS[number // 10 - 2] + (f"-{_ONES[rest]}" if rest else "")
    return _ONES[number]


def surfaces(world, fact, value, page):
    """Ways in which the value of a fact may stand in a text; empty where it is the page's own."""
    kind = RELATIONS[fact.relation].value
    if kind == "amount":
        return {f"{value:,}", spelt(value)}
    if kind == "year":
        rest = value % 100
        low = f"{'oh-' if rest < 10 else ''}{spelt(rest)}" if rest else "hundred"
        return {str(value), f"{spelt(value // 100)} {low}"}
    return {""} if value == page else {f"[{form}](" for form in world.entities[value].forms}


@each_world
def test_each_fact_stands_in_one_sentence_with_its_value_subject_source_and_years(world):
    """Found by the texts alone, without the grammar of the prose."""
    books = library(world, VARIED)
    lines = [sentences_of(page) for page in books.pages]
    for page, fact, value, report in statements(world, books):
        subject = {""}
        if fact.subject != page:
            subject = {f"[{form}](" for form in world.entities[fact.subject].forms}
        values = surfaces(world, fact, value, page)
        source = f"the {report.source} of {report.year}" if report else ""
        years = {str(fact.start), str(fact.end), spelt(fact.end - fact.start)}
        assert any(
            source in line.lower()
            and any(one in line for one in subject)
            and any(re.search(rf"(?<![\w-]){re.escape(one)}", line) for one in values)
            and (not fact.start or sum(one in line for one in years) >= 2)
            for line in lines[page]
        ), (books.pages[page], fact)


def test_no_near_miss_is_about_things_that_a_fact_joins():
    seen = 0
    for world in WORLDS:
        books = library(world, VARIED)
        numbers = {form: n for n, e in enumerate(world.entities) for form in (e.label, e.alias)}
        joined = {
            pair
            for _, fact, value, _ in statements(world, books)
            if not RELATIONS[fact.relation].is_number
            for pair in ((fact.subject, value), (value, fact.subject))
        }
        for number, page in enumerate(books.pages):
            for sentence in sentences_of(page):
                links = [numbers[shown] for shown, _ in LINK.findall(sentence)]
                if len(links) == 1 and sentence.endswith(".") and not tells(page, sentence):
                    assert (number, links[0]) not in joined, sentence
                    seen += 1
    assert seen > 500


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_evidence_of_a_question_is_where_its_facts_are_told(kind):
    world = WORLDS[-1]
    books = library(world, VARIED)
    ids = {page.id: n for n, page in enumerate(books.pages)}
    for seed in range(4):
        rng = stream("test.prose", kind, seed)
        question = draw_question(world, kind, QuestionSpec(hops=2), rng, VARIED)
        used = {fact for step in evaluate(world, question.plan) for fact in step.facts}
        assert {ids[page] for page in question.evidence} <= {books.told[fact] for fact in used}
        starts = {world.numbers[hop.entity] for hop in question.plan if hop.op == "name"}
        if kind == "chain":  # the page with the answer does not name what the question names
            assert starts.isdisjoint(books.named[ids[last_page(world, books, question)]])


def last_page(world, books, question):
    (fact,) = evaluate(world, question.plan)[-1].facts
    return books.pages[books.told[fact]].id


# What tells nothing.


def sample(template, link="[Cc Dd](cc-dd)"):
    filled = template.format(s="Aa Bb", m="Aa Bb", p="Aa Bb's", o=link, y=1940, n=7)
    return f"{filled[0].upper()}{filled[1:]}"


def read(sentence):
    return [name for name in RELATIONS if list(claims(Text("Aa Bb", (sentence,)), name))]


def test_no_filler_near_miss_opening_or_closing_tells_a_fact():
    texts = [
        f"{lead}{one}."
        for k in genres.FILLERS
        for one in genres.FILLERS[k]
        for lead in genres.LEADS
    ]
    texts += [f"{one}." for kind in genres.NEAR_MISSES for one in genres.NEAR_MISSES[kind]]
    texts += [one for genre in genres.GENRES for one in (*genre.fillers, *genre.closings)]
    for template in texts:
        assert read(sample(template)) == [], template
    for genre in genres.GENRES:
        for opening in genre.openings:
            line = opening.format(s="Aa Bb", aka=" (also known as Ee Ff)", an="a town")
            assert read(line) == []
            assert Text("Aa Bb", (line,)).names == ("Aa Bb", "Ee Ff")
    for noted in genres.NOTED:
        for topic in genres.TOPICS.values():
            line = noted.format(p="Aa Bb's", topic=topic.format(a=1880, b=1885), n=1)
            assert read(f"{line[0].upper()}{line[1:]}.") == [], line


def test_years_of_fillers_are_those_of_no_fact():
    latest = max(
        max(f.value if RELATIONS[f.relation].value == "year" else 0, f.end)
        for world in WORLDS
        for f in world.facts
    )
    assert latest <= 1929  # a work by the youngest author, at sixty
    assert {t for t in genres.LEADS if "{y}" in t}


@pytest.mark.parametrize("told", ["said", "turned", "owned"])
def test_each_predicate_tells_one_relation_alone(told):
    table = {"said": predicates.SAID, "turned": predicates.TURNED, "owned": predicates.OWNED}[told]
    assert set(predicates.SAID) == set(RELATIONS)
    for name, templates in table.items():
        number = RELATIONS[name].value
        value = {"year": "the spring of 1890", "amount": "1,890"}.get(number, "[Cc Dd](cc-dd)")
        assert len(set(templates)) == len(templates)
        for template in templates:
            for when in predicates.TIMES if "{t}" in template else ("",):
                held = when.format(a=1880, b=1885, n="five")
                text = template.format(p="Aa Bb's", s=value, o=value, t=held)
                sentence = f"{text}." if told == "owned" else f"Aa Bb {text}."
                assert read(sentence) == [name], sentence
                if held:
                    (claim,) = claims(Text("Aa Bb", (sentence,)), name)
                    assert (claim.start, claim.end) == (1880, 1885)


def test_sentences_by_hand():
    page = Text(
        "Anna Vell",
        (
            "Born in [Ost](ost) in the rain, she slept.",
            "Born in [Ost](ost), Anna Vell was taught by [Bo Ki](bo-ki) and took part in [Fair](fair).",
            "The painter, who worked for [Guild](guild), entered this life in the spring of 1840.",
            "She belonged to [A Club](a-club), [B Club](b-club) and [C Club](c-club); Vell wrote [X](x).",
            "Guide: Well, [Ost](ost) was governed by her as mayor for five years from 1880.",
            "- Teacher: [No One](no-one)",
            "In the chronicle of 1950 one reads that her place was wet.",
            "In the chronicle of 1950 one reads that her life began in eighteen forty-one.[2]",
        ),
    )

    def told(name):
        return [
            (c.subject and c.subject.shown, getattr(c.value, "shown", c.value), c.start, c.end)
            for c in claims(page, name)
        ]

    assert told("birthplace") == [(None, "Ost", 0, 0)]
    assert told("teacher") == [(None, "Bo Ki", 0, 0), (None, "No One", 0, 0)]
    assert told("attended") == [(None, "Fair", 0, 0)]
    assert told("employer") == [(None, "Guild", 0, 0)]
    assert told("born") == [(None, 1840, 0, 0), (None, 1841, 0, 0)]
    assert told("member") == [(None, f"{c} Club", 0, 0) for c in "ABC"]
    assert told("author") == [("X", None, 0, 0)]
    assert told("mayor") == [("Ost", None, 1880, 1885)]
    (_, reported) = claims(page, "born")
    assert (reported.report.source, reported.report.year) == ("chronicle", 1950)


# References.


@each_world
def test_a_pronoun_follows_a_name_with_nothing_between_that_it_could_mean(world):
    """In a paragraph, since the last full name, last name or noun of the page's subject."""
    books = library(world, VARIED)
    numbers = {form: n for n, e in enumerate(world.entities) for form in (e.label, e.alias)}
    seen = 0
    for number, page in enumerate(books.pages):
        subject = world.entities[number]
        own = [form.split(" (")[0] for form in subject.forms] + [f"the {subject.noun}"]
        if subject.kind == "person":
            own.append(subject.name.split()[1])
        word = r"\b(?:she|her|he|him|his)\b" if subject.kind == "person" else r"(?<=[;,] )it\b"
        pieces = re.compile(
            rf"{LINK.pattern}|(?P<own>{'|'.join(map(re.escape, own))})|(?P<pronoun>{word})",
            re.IGNORECASE,
        )
        for paragraph in (line for s in page.sections for line in s.text.split("\n")):
            named, rival = False, None
            for piece in pieces.finditer(paragraph):
                if piece["pronoun"]:
                    seen += 1
                    assert named, (page.title, paragraph)
                    assert rival is None, (page.title, paragraph)
                elif piece["own"]:
                    named, rival = True, None
                else:
                    other = world.entities[numbers[piece[1]]]
                    person = subject.kind == "person"
                    if (other.kind == "person") == person:
                        rival = other
    assert seen > 5


# Variety.


_NUMERAL = rf"\b(?:{'|'.join((*_ONES, *_TENS, 'hundred', 'thousand'))})\b"
_NUMBER = re.compile(rf"{_NUMERAL}(?:(?: and |[ -]){_NUMERAL})*|\d[\d,]*")


def skeleton(page, sentence):
    """A sentence with its names, sources, seasons and numbers masked."""
    text = LINK.sub("N", re.sub(r"\[\d+\]", "", sentence))
    names = [name.split(" (")[0] for name in text_of(page).names]
    for name in (*names, *(name.split()[-1] for name in names)):
        text = re.sub(rf"\b{re.escape(name)}\b", "N", text)
    text = re.sub(r"civil register|chronicle|newspaper", "S", text)
    text = re.sub(r"in (?:early |late |the \w+ of |the year |[A-Z][a-z]+ )", "in ", text)
    return _NUMBER.sub("#", text)


def told_skeletons(pages, reader):
    """The skeletons of the sentences that tell a fact."""
    return [
        skeleton(page, sentence)
        for page in pages
        for sentence in sentences_of(page)
        if sentence.endswith(".") and "|" not in sentence and tells(page, sentence, reader)
    ]


@pytest.fixture(scope="module")
def skeletons():
    world = build_world(WorldSpec.at(12).sized(1_000), 6)
    return {
        PLAIN: told_skeletons(articles(world, PLAIN), reading.claims),
        VARIED: told_skeletons(articles(world, VARIED), prose_reading.claims),
    }


def test_sentences_that_tell_facts_have_many_more_skeletons_than_in_plain_prose(skeletons):
    share = {prose: len(set(told)) / len(told) for prose, told in skeletons.items()}
    assert min(len(told) for told in skeletons.values()) > 1_500
    assert share[PLAIN] < 0.25
    assert share[VARIED] > 0.7
    (_, plain), (_, varied) = (Counter(told).most_common(1)[0] for told in skeletons.values())
    assert varied / len(skeletons[VARIED]) < 0.01
    assert varied < plain


def as_pattern(template, *, number):
    held = r"[\w, -]+?" if number else r"\[[^\]]+\]\([^)]+\)"
    slots = {"{o}": held, "{t}": r"[\w ]+"}
    return "".join(slots.get(part, re.escape(part)) for part in re.split(r"(\{[ot]\})", template))


def test_no_single_pattern_of_a_relation_finds_a_fourth_of_its_facts():
    """Not even where it may stand anywhere in a sentence."""
    world = build_world(WorldSpec.at(14).sized(1_000), 7)
    text = "\n".join(s.text for page in articles(world, VARIED) for s in page.sections)
    told = Counter(fact.relation for fact in world.facts)
    assert min(told.values()) > 100
    for name, templates in predicates.SAID.items():
        number = RELATIONS[name].is_number
        best = max(len(re.findall(as_pattern(t, number=number), text)) for t in templates)
        assert best < told[name] / 4, name


def test_pages_have_different_structures():
    pages = articles(WORLDS[-1], VARIED)
    structures = Counter(tuple(s.heading for s in page.sections) for page in pages)
    assert len(structures) > 80
    assert max(structures.values()) < len(pages) / 15
    text = "\n".join(s.text for page in pages for s in page.sections)
    for mark in ("Dear ", "Visitor: ", "\n(2) ", "Card of the general index", "| Entry | Value |"):
        assert text.count(mark) >= 5, mark
    assert re.search(r"^- \d{4} to \d{4}: ", text, re.MULTILINE)


def test_a_search_for_a_title_finds_its_page_among_a_thousand():
    spec = WorldSpec.at(14).sized(1_000)
    place = site(spec, 8, prose=VARIED)
    pages = list(place.pages.values())[::20]
    firsts = sum(
        page.id in [hit.id for hit in place.engine.search(f'"{page.title}"', 3)] for page in pages
    )
    assert firsts > 0.9 * len(pages)


# Levels.


PLAIN_PAGES = {
    0: "637574886304a3fc",
    4: "5e485340f10d22a1",
    7: "7d3a4c57cbd2c348",
    10: "e83095f965e659b5",
}


@pytest.mark.parametrize("difficulty", PLAIN_PAGES)
def test_plain_pages_of_levels_up_to_ten_stay_as_they_are(difficulty):
    """The digests are those of the pages before there was varied prose."""
    digest = hashlib.sha256()
    for seed in (1, 2):
        digest.update(repr(articles(build_world(WorldSpec.at(difficulty), seed))).encode())
    assert digest.hexdigest()[:16] == PLAIN_PAGES[difficulty]


def test_levels_beyond_ten_are_varied_and_longer():
    assert [SearchConfig.at(d).prose for d in (0, 10, 11, 20)] == [PLAIN, PLAIN, VARIED, VARIED]
    specs = [WorldSpec.at(d) for d in (9, 10, 12, 13)]
    assert [spec.distractors for spec in specs] == [4, 4, 5, 5]
    assert [spec.fillers for spec in specs] == [2, 2, 2, 3]
    with pytest.raises(ConfigError, match="prose is one of plain, varied, got 'varid'"):
        SearchConfig(prose="varid")


def test_equal_worlds_have_equal_varied_pages():
    spec = WorldSpec.at(11)
    once = articles(build_world(spec, 5), VARIED)
    assert VariedWriter(build_world(spec, 5)).library().pages == once
    assert articles(build_world(spec, 6), VARIED) != once


def test_the_page_of_the_docs_is_real():
    path = Path(__file__).resolve().parents[4] / "docs/search.md"
    shown = re.search(
        r"test_prose\.py -->\n```text\n(.*?)\n```", path.read_text("utf-8"), re.DOTALL
    )
    page = articles(build_world(WorldSpec.at(11), 2), VARIED)[5]
    assert shown
    assert shown[1] == f"# {page.title}\n{document(page)}"
