"""Articles: an independent reader finds every fact in them, and nothing else."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from rlvr_envs.generators.worlds import sentences as words
from rlvr_envs.generators.worlds.articles import articles, library
from rlvr_envs.generators.worlds.reading import Text, claims
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

WORLDS = [
    build_world(WorldSpec.at(d), seed) for d, seed in ((0, 1), (3, 2), (6, 3), (9, 4), (10, 5))
]


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: str(len(w.entities)))
def test_the_reader_finds_exactly_the_facts_of_the_world(world, read):
    found = read(world.spec, world.seed).facts()
    assert Counter(found) == Counter(told_facts_in_order(world))


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: str(len(w.entities)))
def test_every_fact_is_told_on_the_page_that_the_library_says_and_only_there(world, read):
    books = library(world)
    reader = read(world.spec, world.seed)
    for fact, page in zip(told_facts_in_order(world), books.told, strict=True):
        assert reader.places[fact] == {books.pages[page].id}


def told_facts_in_order(world):
    return [
        (
            world.entities[f.subject].label,
            f.relation,
            f.value if RELATIONS[f.relation].is_number else world.entities[f.value].label,
            f.start,
            f.end,
        )
        for f in world.facts
    ]


@pytest.mark.parametrize("world", WORLDS, ids=lambda w: str(len(w.entities)))
def test_the_library_knows_whom_a_page_names(world):
    books = library(world)
    forms = {form: n for n, e in enumerate(world.entities) for form in (e.label, e.alias) if form}
    for number, page in enumerate(books.pages):
        links = re.findall(r"\[([A-Za-z ()]+)\]\(", "\n".join(s.text for s in page.sections))
        assert {forms[link] for link in links} | {number} == set(books.named[number])


def test_links_lead_to_their_page_or_to_none():
    shares = []
    for world in WORLDS:
        pages = {page.id: page.title for page in articles(world)}
        aliases = {e.alias: e.label for e in world.entities if e.alias}
        links = [
            link
            for page in articles(world)
            for section in page.sections
            for link in re.findall(r"\[([^\]]+)\]\(([a-z-]+)\)", section.text)
        ]
        dead = [target for _, target in links if target not in pages]
        assert all(target.endswith("-lost") for target in dead)
        for shown, target in links:
            if target in pages:
                assert pages[target] == aliases.get(shown, shown)
        shares.append(len(dead) / len(links))
    assert shares[0] == 0
    assert 0.24 < shares[-1] < 0.36


def test_facts_stand_in_sentences_tables_footnotes_and_on_other_pages():
    spec = replace(WorldSpec.at(5), elsewhere=0.3, in_table=0.3, in_footnote=0.2, conflict_rate=0)
    counts = Counter()
    for seed in range(4):
        world = build_world(spec, seed)
        books = library(world)
        counts["facts"] += len(world.facts)
        counts["elsewhere"] += sum(
            page != fact.subject for fact, page in zip(world.facts, books.told, strict=True)
        )
        for page in books.pages:
            for section in page.sections:
                lines = section.text.split("\n")
                if section.heading == "Data":
                    counts["table"] += len(lines) - 2
                elif section.heading == "Notes":
                    counts["footnote"] += len(lines)
                    assert [line.split(" ")[0] for line in lines] == [
                        f"[{i + 1}]" for i in range(len(lines))
                    ]
    share = {name: count / counts["facts"] for name, count in counts.items()}
    assert 0.25 < share["elsewhere"] < 0.32
    assert 0.26 < share["table"] < 0.34
    assert 0.16 < share["footnote"] < 0.24


def test_no_sentence_without_a_fact_looks_like_one_with_a_fact(looks_like_a_fact):
    plain = [
        text.format(s="Aa Bb", o="[Cc Dd](cc-dd)") for t in words.DISTRACTORS.values() for text in t
    ]
    fillers = [f"{start} {words.FILLER_ENDS[0]}" for start in words.FILLER_STARTS]
    fillers += [f"{words.FILLER_STARTS[0]} {end}" for end in words.FILLER_ENDS]
    notes = [text.format(topic="seat", s="Aa Bb", n=1).removesuffix("[1]") for text in words.NOTED]
    for sentence in [*plain, *fillers, *notes]:
        assert not looks_like_a_fact(sentence), sentence
    assert looks_like_a_fact("Aa Bb was taught by [Cc Dd](cc-dd).")


def test_every_relation_has_sentences_and_a_row_of_its_own():
    assert set(words.FACTS) == set(RELATIONS) == set(words.ROWS)
    assert len(set(words.ROWS.values())) == len(words.ROWS)
    patterns = [text for texts in words.FACTS.values() for text in texts]
    assert len(set(patterns)) == len(patterns)
    assert all(len(texts) >= 10 for texts in words.FACTS.values())


def test_no_sentence_stands_on_more_than_a_twentieth_of_the_pages():
    for world in WORLDS[1:]:
        pages = articles(world)
        on_pages = Counter()
        for page in pages:
            lines = [line for section in page.sections for line in section.text.split("\n")]
            sentences = (re.split(r"(?<=\.)(?:\[\d+\])? ", line) for line in lines)
            on_pages.update({one for line in sentences for one in line if one.endswith(".")})
        assert max(on_pages.values()) <= len(pages) / 20, on_pages.most_common(1)


def test_fillers_are_a_small_part_of_a_page():
    ends = tuple(words.FILLER_ENDS)
    page_chars = filler_chars = 0
    for section in (s for page in articles(build_world(WorldSpec.at(8), 3)) for s in page.sections):
        page_chars += len(section.text)
        fillers = [x for x in re.split(r"(?<=\.) ", section.text) if x.endswith(ends)]
        filler_chars += sum(map(len, fillers))
    assert 0 < filler_chars < 0.35 * page_chars


def test_each_wording_tells_one_relation_alone():
    """However subject and value are written, no other relation reads the sentence as its own."""
    for name, texts in words.FACTS.items():
        value = "1,890" if RELATIONS[name].is_number else "[Cc Dd](cc-dd)"
        for text in texts:
            for names in ({"s": "Aa Bb", "o": value}, {"s": "[Cc Dd](cc-dd)", "o": "Aa Bb"}):
                if RELATIONS[name].is_number and names["o"] == "Aa Bb":
                    continue
                sentence = text.format(**names, a=1880, b=1885)
                page = Text("Aa Bb", (sentence[0].upper() + sentence[1:],))
                found = [other for other in RELATIONS if list(claims(page, other))]
                assert found == [name], sentence


def test_more_fillers_and_distractors_make_longer_pages():
    short, long = (
        sum(len(s.text) for page in articles(build_world(spec, 1)) for s in page.sections)
        for spec in (WorldSpec(fillers=0, distractors=0), WorldSpec(fillers=12, distractors=5))
    )
    assert long > 3 * short


def test_one_paraphrase_means_one_pattern_a_relation():
    spec = replace(WorldSpec.at(0), paraphrases=1)
    text = "\n".join(s.text for page in articles(build_world(spec, 2)) for s in page.sections)
    assert "was born in the year" in text
    assert "The birth of" not in text
