"""The oracle's reader finds in the pages every fact of a world and believes the right report."""

import pytest

from rlvr_envs.generators.worlds.articles import library
from rlvr_envs.generators.worlds.reading import Claim, Mention, Text, believed, claims
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import Report, build_world


def text_of(page):
    lines = [line for s in page.sections for line in (f"## {s.heading}", *s.text.split("\n"))]
    return Text(page.title, tuple(lines))


@pytest.mark.parametrize(("difficulty", "seed"), [(0, 1), (5, 2), (9, 3), (10, 4)])
def test_every_fact_is_read_where_it_is_told(difficulty, seed):
    world = build_world(WorldSpec.at(difficulty), seed)
    pages = library(world)
    texts = [text_of(page) for page in pages.pages]
    missing = []
    for index, fact in enumerate(world.facts):
        page = pages.told[index]
        told = [
            claim
            for claim in claims(texts[page], fact.relation)
            if fact.subject in subjects(world, page, claim.subject)
            and (claim.start, claim.end) == (fact.start, fact.end)
            and fact.value in values(world, page, claim.value)
        ]
        if not told:
            missing.append((page, fact))
    assert not missing


def subjects(world, page, mention):
    return values(world, page, mention)


def values(world, page, value):
    """The entities or the number that a claim may mean; dead links are judged by their names."""
    if value is None:
        return [page]
    if isinstance(value, int):
        return [value]
    return [i for i, entity in enumerate(world.entities) if value.shown in entity.forms]


def test_fillers_and_near_misses_claim_nothing():
    text = Text(
        "Vel",
        (
            "Vel is a town. A painting in [Ost](ost) shows Vel. Records of the time are scarce.",
            "- [Ost](ost)",
        ),
    )
    assert not [
        claim for name in ("birthplace", "seat", "namesake") for claim in claims(text, name)
    ]


def test_forms_of_a_claim():
    text = Text(
        "Vel (town)",
        (
            (
                "Vel is also known as Old Vel. More on this is said in note 1.[1] Vel has 1,310 "
                "inhabitants. According to the chronicle of 1950, vel was named after [A B](a-b)."
            ),
            "- [C D](c-d-lost) was born in Vel.",
            "| Mayor from 1880 to 1885 | [A B](a-b) |",
            "[1] According to the newspaper of 1960, Vel was named after [C D](c-d).",
            "## See also",
            "- [Ost](ost)",
        ),
    )
    assert text.names == ("Vel (town)", "Old Vel")
    assert text.see_also == [Mention("Ost", "ost")]
    assert list(claims(text, "population")) == [Claim(None, 1310, 0, 0, None)]
    assert list(claims(text, "mayor")) == [Claim(None, Mention("A B", "a-b"), 1880, 1885, None)]
    assert list(claims(text, "birthplace")) == [Claim(Mention("C D", "c-d-lost"), None, 0, 0, None)]
    one, two = claims(text, "namesake")
    assert (one.report, two.report) == (Report("chronicle", 1950), Report("newspaper", 1960))
    assert believed([one, two], "latest") is two
    assert believed([one, two], "authority") is one
    undisputed = Claim(None, 7, 0, 0, None)
    assert believed([one, undisputed, two], "latest") is undisputed
