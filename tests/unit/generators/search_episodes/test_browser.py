"""The tools of an episode: what they show, their limits, and hostile arguments."""

import pytest

from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.search_episodes.browser import FAILED, Browser, Limits, split
from rlvr_envs.generators.search_episodes.protocol import Call
from rlvr_envs.generators.worlds.pages import Page, Section
from rlvr_envs.generators.worlds.site import Site, site, unlinked
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.retrieval.base import Document
from rlvr_envs.retrieval.engines import build

SITE = site(WorldSpec.at(0), 1)


def browser(place=SITE, **limits):
    return Browser(place, Limits(**{"max_calls": 50, **limits}))


def made(*pages):
    plain = {page.id: unlinked("\n".join(s.text for s in page.sections)) for page in pages}
    documents = [Document(page.id, page.title, plain[page.id]) for page in pages]
    return Site({page.id: page for page in pages}, plain, build(documents, "bm25"))


LONG = made(
    Page(
        "vel",
        "Vel",
        (
            Section("Overview", "Vel is a town."),
            Section(
                "History", " ".join(f"Sentence {i} of [X](x-lost) is here." for i in range(60))
            ),
        ),
    )
)


def test_a_site_is_built_once():
    assert site(WorldSpec.at(0), 1) is site(WorldSpec.at(0), 1)


def test_its_engine_finds_every_page_by_title():
    assert len(SITE.engine) == len(SITE.pages)
    for page in SITE.pages.values():
        assert SITE.engine.search(f'"{page.title}"', 1)[0].id == page.id


def test_links_are_indexed_by_their_names_alone():
    assert unlinked("In [Vel](vel-lost) [1] it was.") == "In Vel [1] it was."
    assert not LONG.engine.search("lost", 1)


def test_search_shows_where_the_words_stand_and_how_to_open_it():
    tools = browser(LONG)
    assert tools.run(Call("search", '"sentence 7 of"')).startswith("1 found:\nVel (vel): ...")
    assert "Sentence 7 of X is here." in tools.run(Call("search", '"sentence 7 of"'))
    assert "Nothing was found" in tools.run(Call("search", "zebra"))


def test_a_quoted_name_with_brackets_is_shown_where_it_stands():
    text = "Long ago. " * 30 + "It was held in [Vel (town)](vel-town) that year."
    tools = browser(made(Page("cup", "Cup", (Section("Overview", text),))))
    assert "held in Vel (town) that year" in tools.run(Call("search", '"Vel (town)"'))


def test_many_hits_come_in_parts():
    tools = browser(hits=3)
    first = tools.run(Call("search", "was"))
    assert first.count("\n") == 3
    assert "end the call with #2 for the next" in first
    second = tools.run(Call("search", "was #2"))
    assert second.count("\n") == 3
    assert set(first.split("\n")[1:]).isdisjoint(second.split("\n")[1:])
    assert "no part 999" in tools.run(Call("search", "was #999"))
    assert "no part 0" in tools.run(Call("search", "was #0"))


def test_the_parts_of_a_page_are_the_page():
    tools = browser(LONG, part_chars=500)
    whole, number = [], 1
    while not (text := tools.run(Call("open", f"vel#{number}"))).startswith("There is no part"):
        head, body = text.split("\n", 1)
        assert head.startswith(f"# Vel (part {number} of ")
        assert len(body) <= 500
        whole.append(body)
        number += 1
    page = LONG.page("vel")
    lines = [f"## {s.heading}\n{s.text}" for s in page.sections]
    assert " ".join(whole).split() == "\n".join(lines).split()
    assert list(tools.opened) == ["vel"]


def test_open_a_section_or_learn_what_there_is():
    tools = browser(LONG)
    assert tools.run(Call("open", "vel#overview")) == "# Vel\n## Overview\nVel is a town."
    assert "Its sections: Overview, History." in tools.run(Call("open", "vel#Mayors"))
    assert tools.run(Call("open", "vel-lost")) == (
        "There is no page with the id 'vel-lost'. Search for the page by name."
    )


def test_find_looks_at_the_page_opened_last():
    tools = browser(LONG)
    assert tools.run(Call("find", "town")).startswith("Open a page first")
    tools.run(Call("open", "vel#Overview"))
    assert tools.run(Call("find", "SENTENCE 7")) == (
        "1 found on Vel:\nHistory: Sentence 7 of [X](x-lost) is here."
    )
    assert "does not contain" in tools.run(Call("find", "zebra"))
    assert tools.run(Call("find", "#2")) == "Give a text to find."


def test_calls_run_out():
    tools = browser(max_calls=2)
    tools.run(Call("search", "was"))
    tools.spend()
    assert tools.left == 0
    assert tools.run(Call("open", next(iter(SITE.pages)))).startswith("All calls are used up")
    assert (tools.calls, tools.opened) == (2, {})


def test_failures_follow_from_the_seed_and_the_number_of_the_call():
    def failures(seed):
        tools = Browser(SITE, Limits(max_calls=300, failure_rate=0.3), seed)
        return [tools.run(Call("search", "was")) == FAILED for _ in range(300)]

    assert failures(1) == failures(1) != failures(2)
    assert 60 < sum(failures(1)) < 120


@pytest.mark.parametrize("tool", ["search", "open", "find"])
def test_hostile_arguments_give_short_results(tool):
    tools = browser(max_calls=200)
    tools.run(Call("open", next(iter(SITE.pages))))
    for text in TROUBLE.values():
        for argument in (text[:4000], f"{text[:4000]}#2", f"{text[:2000]}#9999"):
            assert 0 < len(tools.run(Call(tool, argument))) < 8_000
    assert "\n" not in tools.run(Call("open", "a\n</information>\nb"))


def test_split_keeps_the_limit_and_loses_nothing():
    lines = ["Short.", "First one. Second.[1] Third here. " * 30, "- item"]
    parts = split(lines, 200)
    assert all(len(part) <= 200 for part in parts)
    assert " ".join(parts).split() == "\n".join(lines).split()


@pytest.mark.parametrize(
    "wrong", [{"max_calls": 0}, {"hits": 0}, {"part_chars": 10}, {"failure_rate": 0.9}]
)
def test_limits_out_of_range(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Limits(**{"max_calls": 5, **wrong})
