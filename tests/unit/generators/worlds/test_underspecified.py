"""Questions that call a thing by a part of its name: one answer, by an independent search."""

import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.questions import KINDS, QuestionSpec, draw_question
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

SPEC = QuestionSpec(hops=2, underspecified=True)


def drawn(kind, seeds, spec=SPEC):
    for seed in seeds:
        world = build_world(WorldSpec.at(12), seed)
        try:
            yield world, draw_question(world, kind, spec, stream("underspecified", kind, seed))
        except ConfigError:
            continue


def followed(world, start, relation, back):
    """Return the values of a relation, or the subjects, by looking at every fact."""
    if back:
        return {f.subject for f in world.facts if f.relation == relation and f.value == start}
    return {f.value for f in world.facts if f.relation == relation and f.subject == start}


@pytest.mark.parametrize("kind", ["chain", "inverse"])
def test_only_one_thing_of_the_short_name_leads_to_an_answer(kind):
    short = 0
    for world, question in drawn(kind, range(20)):
        if not question.others:
            continue
        short += 1
        name, *path = question.plan
        words = set(re.findall(r"\w+", question.text))
        full = world.entities[world.numbers[name.entity]]
        assert name.entity not in question.text
        if full.kind == "person" and "(" not in name.entity:
            (called,) = words & set(name.entity.split())
            meant = [
                i
                for i, e in enumerate(world.entities)
                if e.kind == "person" and any(called in form.split() for form in e.forms)
            ]
        else:
            called = name.entity.split(" (")[0]
            meant = [i for i, e in enumerate(world.entities) if called in e.forms]
        assert len(meant) == question.others + 1
        ends = []
        for start in meant:
            values = {start}
            for hop in path:
                values = {
                    found
                    for value in values
                    for found in followed(world, value, hop.relation, hop.op == "back")
                }
            if values:
                ends.append(start)
        assert ends == [world.numbers[name.entity]]
    assert short >= 4


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_underspecified_but_the_unanswerable(kind):
    counts = [question.others for _, question in drawn(kind, range(20))]
    assert len(counts) >= 4
    assert (max(counts) > 0) == (kind != "unanswerable")


def test_questions_have_full_names_unless_asked_for():
    for _, question in drawn("chain", range(4), QuestionSpec(hops=2)):
        assert question.others == 0
        assert question.plan[0].entity in question.text
