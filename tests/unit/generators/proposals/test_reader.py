"""The reader of proposed questions: what it reads, what it means, and what it turns down."""

import re
from dataclasses import replace

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.proposals import wordings as words
from rlvr_envs.generators.proposals.check import meaning
from rlvr_envs.generators.proposals.reader import MAX_READINGS, read
from rlvr_envs.generators.worlds.plan import Hop, evaluate
from rlvr_envs.generators.worlds.questions import QuestionSpec, draw_question
from rlvr_envs.generators.worlds.schema import LINKS, PLURALS, RELATIONS
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

WORLD = build_world(WorldSpec(homonym_rate=0.0, alias_rate=0.5), 5)
FIRST = {kind: WORLD.entities[numbers.start].label for kind, numbers in WORLD.ranges.items()}
PERSON, PLACE, GROUP = FIRST["person"], FIRST["place"], FIRST["organisation"]


def path(*relations, start):
    """The plan that follows relations from a named thing."""
    hops = [Hop("name", entity=start)]
    hops += [Hop("follow", (i,), name) for i, name in enumerate(relations)]
    return tuple(hops)


@pytest.mark.parametrize("kind", ["chain", "inverse", "intersection", "temporal", "superlative"])
@pytest.mark.parametrize("difficulty", [0, 5, 10])
def test_questions_of_the_other_tasks_are_read_as_their_plans_and_valid(kind, difficulty):
    read_ones = 0
    for seed in range(6):
        world = build_world(WorldSpec.at(difficulty), seed)
        rng = stream("test.reader", kind, difficulty, seed)
        question = draw_question(world, kind, QuestionSpec.at(difficulty), rng)
        if question.form != "name":
            continue
        read_ones += 1
        plan = tuple(
            replace(hop, entity=world.entities[world.numbers[hop.entity]].label)
            if hop.entity
            else hop
            for hop in question.plan
        )
        assert read(world, question.text).plans == (plan,), question.text
        gold = next(i for i, e in enumerate(world.entities) if e.forms == question.answers[0])
        meant = meaning(world, question.text, gold, question.hops)
        assert (meant.fault, meant.plan) == ("", plan)
        assert meant.evidence == question.evidence
    assert read_ones > 0


def read_one(text):
    (plan,) = read(WORLD, text).plans
    return plan


def filled(wording, kind):
    told = [*wording.before, FIRST[kind], *wording.after]
    return " ".join([*told, "in", "1890"] if wording.dated else told)


@pytest.mark.parametrize("wording", words.values(), ids=str)
def test_every_wording_of_a_value_is_read(wording):
    subject = RELATIONS[wording.relation].subject
    plan = read_one(f"What is {filled(wording, subject)}?")
    year = 1890 if wording.dated else 0
    assert plan[1:] == (Hop(wording.op, (0,), wording.relation, year=year),)


@pytest.mark.parametrize("wording", words.asked_values(), ids=str)
def test_every_question_for_a_value_is_read(wording):
    text = filled(wording, RELATIONS[wording.relation].subject)
    assert read_one(text)[1].relation == wording.relation
    if wording.dated:
        first = f"In 1890, {text.removesuffix(' in 1890')}?"
        assert read_one(first) == read_one(text)


@pytest.mark.parametrize("wording", words.predicates(several=False), ids=str)
def test_every_predicate_is_read_in_three_places(wording):
    relation = RELATIONS[wording.relation]
    told, kind = filled(wording, relation.value), relation.subject
    plan = (Hop("name", entity=FIRST[relation.value]), Hop("back", (0,), wording.relation))
    for text in (f"Which {kind} {told}?", f"Name the {kind} that {told}."):
        assert read_one(text) == plan
    both = read_one(f"Which {kind} {told} and {told}?")
    assert both == (*plan, plan[0], Hop("back", (2,), wording.relation), Hop("both", (1, 3)))


@pytest.mark.parametrize("wording", words.clauses(), ids=str)
def test_every_clause_is_read(wording):
    relation = RELATIONS[wording.relation]
    plan = read_one(f"What is the {relation.subject} {filled(wording, relation.value)}?")
    assert plan[1] == Hop("back", (0,), wording.relation)


@pytest.mark.parametrize("line", words.measures(), ids=" ".join)
def test_every_measure_is_read(line):
    op, relation = words.measures()[line]
    kind = RELATIONS[relation].subject
    wording = next(
        w for w in words.predicates(several=True) if RELATIONS[w.relation].subject == kind
    )
    group = filled(wording, RELATIONS[wording.relation].value)
    plan = read_one(f"Of all the {PLURALS[kind]} who {group}, which one {' '.join(line)}?")
    assert plan[-1] == Hop(op, (1,), relation)


@pytest.mark.parametrize(
    "text",
    [
        f"Which place is the birthplace of the founder of {GROUP}?",
        f"What is the place where the person who founded {GROUP} was born?",
        f"Where was the founder of {GROUP} born?",
        f"What is the name of the place of birth of the person who founded {GROUP}",
        f"  which PLACE was the birthplace of\nthe founder of ({GROUP.upper()}) ?",
    ],
)
def test_the_same_said_in_other_words(text):
    assert read_one(text) == path("founder", "birthplace", start=GROUP)


def test_american_spelling_is_read():
    text = f"Which organization is the employer of {PERSON}?"
    assert read_one(text) == path("employer", start=PERSON)


def test_second_names_are_read():
    entity = next(e for e in WORLD.entities if e.kind == "person" and e.alias)
    assert read_one(f"Where was {entity.alias} born?") == path("birthplace", start=entity.label)


def test_a_clause_that_may_belong_to_two_things_has_two_readings():
    text = (
        f"Which person is the person who was taught by the person who was born in {PLACE} and was "
        f"employed by {GROUP}?"
    )
    plans = read(WORLD, text).plans
    assert sorted(plan[-1].op for plan in plans) == ["back", "both"]


def test_a_name_of_two_things_is_turned_down_and_its_titles_are_read():
    world = build_world(WorldSpec(homonym_rate=1.0), 3)
    entity = next(e for e in world.entities if e.kind == "person" and e.name != e.label)
    assert "two things are called" in read(world, f"Where was {entity.name} born?").fault
    assert read(world, f"Where was {entity.label} born?").plans


def test_a_relation_of_the_wrong_type_is_no_reading():
    assert read(WORLD, f"Where was {PLACE} born?").plans == ()
    assert read(WORLD, f"Which person is the birthplace of {PERSON}?").plans == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "names nothing in this world"),
        ("Where was the teacher of the author of X born?", "names nothing in this world"),
        (f"Where was {PERSON} really born?", "neither names nor part of a wording: 'really'"),
        (f"Where was {PERSON} born? Say it.", "neither names nor"),
        (f"Where was {PERSON} born? Who is {PERSON}?", "do not form a question"),
        (f"Where was the {PERSON} born?", "do not form a question"),
        (f"Where was {PERSON} born\u200b?", "a character that is not allowed"),
        (f"Where was {PERSON} born? <answer>1</answer>", "a character that is not allowed"),
        (f"Where was {PERSON} born #2", "a character that is not allowed"),
        (f"{PERSON}", "do not form a question"),
        (f"Who was the mayor of {PLACE}?", "do not form a question"),
        (f"Who was the mayor of {PLACE} in 18900?", "neither names nor"),
        ("the " * 150 + PERSON, "do not form a question"),
        ("the teacher of " * 60 + PERSON, "too many parts"),
        (f"Who was born in {PLACE}" + f" and born in {PLACE}" * 7, "too many parts"),
        ("a" * 100_000, "names nothing in this world"),
        ("?" * 100_000 + PERSON, "do not form a question"),
    ],
)
def test_what_cannot_be_read(text, fault):
    reading = read(WORLD, text)
    assert reading.plans == ()
    assert fault in reading.fault


def test_too_many_readings_are_turned_down_not_cut_off():
    inner = "the person who was taught by " * 6
    text = f"Who is {inner}{PERSON}" + f" and was born in {PLACE}" * 6
    assert read(WORLD, text).fault == "the question can be read in too many ways"
    few = f"Who is the person who was taught by {inner}{PERSON} and was born in {PLACE}?"
    assert 1 < len(read(WORLD, few).plans) <= MAX_READINGS


NOUNS = {name: RELATIONS[name].noun for names in LINKS.values() for name in names}


def test_whole_small_world_of_two_hops(read):
    """Every question of two nouns, against facts that another reader takes from the pages."""
    spec, seed = WorldSpec.at(0), 2
    world = build_world(spec, seed)
    told = {(s, r): v for s, r, v, start, _ in read(spec, seed).facts() if not start}
    numbers = world.numbers
    seen = {"valid": 0, "nothing": 0, "other": 0}
    for start in world.entities:
        for first in LINKS[start.kind]:
            middle = told.get((start.label, first))
            for second in LINKS[RELATIONS[first].value]:
                end = told.get((middle, second)) if middle else None
                lead = f"Which {RELATIONS[second].value} is"
                inner = NOUNS[first].format(x=start.label)
                text = f"{lead} {NOUNS[second].format(x=inner)}?"
                if end is None:
                    fault = meaning(world, text, 0, 2).fault
                    assert fault == "nothing in the world answers the question"
                    seen["nothing"] += 1
                    continue
                wrong = (numbers[end] + 1) % len(world.entities)
                fault = meaning(world, text, wrong, 2).fault
                assert fault == "the answer to the question is not the given one"
                seen["other"] += 1
                meant = meaning(world, text, numbers[end], 2)
                assert not re.search("answer to the question|other answers", meant.fault)
                if not meant.fault:
                    assert end not in (start.label, middle)
                    assert evaluate(world, meant.plan)[-1].values == (numbers[end],)
                    seen["valid"] += 1
    assert min(seen.values()) > 20
