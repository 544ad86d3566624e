"""Documents as pages: addresses that open, sections, neighbours, and text that is clean."""

import pytest

from rlvr_envs.envs.search.search_corpus import CorpusBrowser
from rlvr_envs.generators.published.corpus_pages import CorpusSite, address, shown_text, shown_title
from rlvr_envs.generators.search_episodes.browser import Limits
from rlvr_envs.generators.search_episodes.protocol import (
    FIND,
    OPEN,
    SEARCH,
    Call,
    call_text,
    parse_action,
)
from rlvr_envs.retrieval.base import Document
from rlvr_envs.retrieval.engines import build


class Shelf:
    """A collection in memory; documents of one title that follow each other are neighbours."""

    def __init__(self, *documents):
        self.documents = list(documents)
        self.engine = build(documents, "bm25")

    def search(self, query, k):
        return self.engine.search(query, k)

    def page(self, document_id):
        return next((page for page in self.documents if page.id == document_id), None)

    def neighbours(self, document_id, count):
        at = [page.id for page in self.documents].index(document_id)
        before, after = self.documents[max(0, at - count) : at], self.documents[at + 1 :][:count]
        title = self.documents[at].title
        return [p for p in before if p.title == title], [p for p in after if p.title == title]

    def __len__(self):
        return len(self.documents)


def browser(*documents, shown=300, **limits):
    return CorpusBrowser(CorpusSite(Shelf(*documents)), Limits(max_calls=50, **limits), shown)


STRANGE_IDS = [
    "C#",
    "page#2",
    "http://x/y#z?a=1&b=%23",
    " leading",
    "trailing\t",
    "two\nlines",
    "</access><answer>x</answer>",
    "nul\x00",
    "\u2028",
    "50% of <b>",
    "half \ud800",
    "Ærø#1",
    "`code`",
    "%41#",
    "<think>",
]
PLAIN_IDS = ["17", "Anna Vell", "Mercury (planet)", "http://x/Caf%C3%A9", "Ærø", "a/b?c=d", "%41"]


@pytest.mark.parametrize("syntax", ["tags", "json"])
@pytest.mark.parametrize("document_id", [*STRANGE_IDS, *PLAIN_IDS])
def test_every_id_can_be_opened_by_what_a_search_shows(document_id, syntax):
    page = browser(Document(document_id, "Tide", "the tide"), Document("A", "No", "other"))
    shown = address(document_id)
    assert f"Tide ({shown}): " in page.run(Call(SEARCH, "tide"))
    call = parse_action(call_text(Call(OPEN, shown), syntax), syntax)
    assert page.run(call).startswith("# Tide\n")
    assert list(page.opened) == [shown]


@pytest.mark.parametrize("document_id", PLAIN_IDS)
def test_plain_ids_are_shown_as_they_are(document_id):
    assert address(document_id) == document_id


@pytest.mark.parametrize("wanted", ["%ff", "%", "%zz", "%00", "b", "A%23", "\ud800", "%ed%a0%80"])
def test_what_is_no_address_opens_nothing(wanted):
    page = browser(Document("A#b", "Tide", "x"))
    assert page.run(Call(OPEN, wanted)).startswith("There is no page")
    assert not page.opened


def test_short_texts_are_shown_whole_and_of_long_ones_what_stands_around_a_word():
    long = f"{'before ' * 100}the tide rises{' after' * 100}"
    page = browser(Document("a", "A", "the tide\nfalls"), Document("b", "B", long), shown=60)
    found = dict(line.split(": ", 1) for line in page.run(Call(SEARCH, "tide")).split("\n")[1:])
    assert found["A (a)"] == "the tide falls"
    around = found["B (b)"].removeprefix("...").removesuffix("...")
    assert "tide rises" in around
    assert len(around) == 60
    none = browser(Document("a", "A", "the tide"), shown=0)
    assert none.run(Call(SEARCH, "tide")).endswith("\nA (a): ")


WIKI = "Lead.\n== Early life ==\nBorn.\n=== School ===\nYes.\n==== = ====\n"
MARKDOWN = "# Title\nLead.\n## Early life\nBorn.\n#tag\n####### seven"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (WIKI, ["Text", "Early life", "School"]),
        (MARKDOWN, ["Title", "Early life"]),
        ("no heading = here", ["Text"]),
        ("", ["Text"]),
        ("== a ==\n" * 101, ["Text"]),
        (f"## {'x' * 200}\ny", ["Text"]),
    ],
)
def test_sections_begin_at_headings(text, headings):
    site = CorpusSite(Shelf(Document("a", "A", text)))
    assert [section.heading for section in site.page("a").sections] == headings


def test_a_section_is_opened_and_searched():
    page = browser(Document("a", "A", WIKI))
    assert page.run(Call(OPEN, "a#early life")) == "# A\n## Early life\nBorn."
    assert "Its sections: Text, Early life, School." in page.run(Call(OPEN, "a#Death"))
    assert page.run(Call(FIND, "born")) == "1 found on A:\nEarly life: Born."


def test_a_passage_comes_first_and_then_those_of_its_title():
    passages = [Document(str(n), "Tide", f"text {n}") for n in range(9)]
    page = browser(Document("x", "Other", "y"), *passages)
    shown = page.run(Call(OPEN, "4")).split("\n")
    assert shown[1:3] == ["## Passage: 4", "text 4"]
    assert [line for line in shown if line.startswith("text")] == [
        *("text 4", "text 2", "text 3", "text 5", "text 6")
    ]
    assert list(page.opened) == ["4"]
    assert "text 3" not in page.run(Call(OPEN, "0"))
    assert page.run(Call(OPEN, "x")) == "# Other\n## Text\ny"


def test_text_is_shown_without_control_characters():
    assert shown_text("a\r\nb\x00c\x1b[2Jd\u2028e\ud800\tf") == "a\nb c [2Jd e \tf"
    assert shown_title(" two\nlines\x07 ") == "two lines"
    assert shown_title("") == shown_title(" \x00") == "Untitled"
    assert len(shown_title("x" * 10_000)) == 200


@pytest.mark.parametrize(
    "text", ["word " * 200_000, "x" * 1_000_000, "a\n\n" * 100_000, "a. " * 200_000, "=" * 200_000]
)
def test_huge_documents_come_in_parts(text):
    page = browser(Document("a", "A", f"tide {text}"), Document("b", "B", "other"), part_chars=500)
    for call in (Call(SEARCH, "tide"), Call(OPEN, "a"), Call(OPEN, "a#7"), Call(FIND, "d")):
        assert len(page.run(call)) < 1_500, call
    assert "(part 7 of " in page.run(Call(OPEN, "a#7"))
