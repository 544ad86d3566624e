"""Questions: one right answer, nothing idle, no shortcut; judged from the articles alone.

The judge here reads the pages with its own reader and works plans out over a flat list of facts;
it shares nothing with the generator but the meaning of a plan.
"""

import json
from dataclasses import asdict, replace
from functools import cache

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.worlds.articles import articles
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.english import question_text
from rlvr_envs.generators.worlds.plan import Hop
from rlvr_envs.generators.worlds.questions import KINDS, UNANSWERABLE, QuestionSpec, draw_question
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

DIFFICULTIES = (0, 3, 6, 10)
PATH = ("follow", "back", "at")


def world_at(difficulty):
    return build_world(WorldSpec.at(difficulty), 77)


@cache
def questions(kind, difficulty, count=12):
    world = world_at(difficulty)
    spec = QuestionSpec.at(difficulty)
    return [draw_question(world, kind, spec, stream("test", kind, i)) for i in range(count)]


def work_out(plan, facts):
    """The values of every hop as sets, and the facts behind them; None where nothing is meant."""
    sets, shown = [], []
    for hop in plan:
        inputs = [sets[i] for i in hop.inputs]
        used = []
        if hop.op == "name":
            value = {hop.entity}
        elif hop.op in PATH:
            side = 2 if hop.op == "back" else 0
            used = [
                f
                for f in facts
                if f[1] == hop.relation
                and f[side] in inputs[0]
                and (hop.op != "at" or f[3] < hop.year < f[4])
            ]
            value = {f[2 - side] for f in used}
        elif hop.op in ("most", "least", "more", "less"):
            group = set().union(*inputs)
            used = [f for f in facts if f[1] == hop.relation and f[0] in group]
            ranked = sorted(used, key=lambda f: f[2], reverse=hop.op in ("most", "more"))
            complete = ranked and {f[0] for f in used} == group
            value = {f[0] for f in ranked if f[2] == ranked[0][2]} if complete else set()
        elif hop.op == "both":
            value = inputs[0] & inputs[1]
        elif hop.op == "count":
            value = {len(inputs[0])}
        elif hop.op == "all":
            value = inputs[0]
        else:
            numbers = [next(iter(x)) if len(x) == 1 else None for x in inputs]
            value = set()
            if None not in numbers and all(isinstance(x, int) for x in numbers):
                value = {sum(numbers) if hop.op == "sum" else abs(numbers[0] - numbers[1])}
        sets.append(value)
        shown.append(used)
    return sets, shown


def shortened(plan):
    """Every plan with a stretch of a path left out, or with one of two constraints."""
    for at in range(len(plan)):
        kept = []
        if plan[at].op == "both":
            kept = list(plan[at].inputs)
        elif plan[at].op in PATH and at < len(plan) - 1:
            back = at
            while plan[back].op in PATH:
                back = plan[back].inputs[0]
                kept.append(back)
        for k in kept:
            if at == len(plan) - 1:
                yield plan[: k + 1]
            else:
                yield tuple(
                    replace(h, inputs=tuple(k if i == at else i for i in h.inputs)) for h in plan
                )


def each(kind, read):
    for difficulty in DIFFICULTIES:
        world = world_at(difficulty)
        reader = read(world.spec, world.seed)
        facts = reader.facts()
        for question in questions(kind, difficulty):
            plan = tuple(
                replace(hop, entity=reader.names[hop.entity]) if hop.entity else hop
                for hop in question.plan
            )
            yield world, reader, facts, replace(question, plan=plan)


@pytest.mark.parametrize("kind", KINDS)
def test_the_articles_give_exactly_the_answer(kind, read):
    for world, _, facts, question in each(kind, read):
        values = work_out(question.plan, facts)[0]
        if question.form == UNANSWERABLE:
            assert question.answers == ((UNANSWERABLE,),)
            assert values[-1] == set()
            reached = [v for v in values if v]
            assert all(len(v) == 1 for v in reached)
            continue
        if question.form == "number":
            assert values[-1] == {int(question.answers[0][0])}
            assert len(question.answers) == 1
        else:
            assert values[-1] == {forms[0] for forms in question.answers}
            assert len(question.answers) == 1 or question.form == "set"
            for forms in question.answers:
                entity = world.entities[world.numbers[forms[0]]]
                expected = {entity.name, entity.label} | ({entity.alias} if entity.alias else set())
                assert set(forms) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_one_thing_is_one_thing(kind, read):
    groups = ("both", "most", "least", "count", "all")
    for _, _, facts, question in each(kind, read):
        if question.form == UNANSWERABLE:
            continue
        values = work_out(question.plan, facts)[0]
        for at, value in enumerate(values):
            takers = [hop.op for hop in question.plan if at in hop.inputs]
            if not any(op in groups for op in takers) and question.plan[at].op != "all":
                assert len(value) == 1, (question.text, at)
            assert value, question.text


@pytest.mark.parametrize("kind", KINDS)
def test_no_hop_and_no_constraint_can_be_dropped(kind, read):
    for _, _, facts, question in each(kind, read):
        if question.form == UNANSWERABLE:
            continue
        plan = question.plan
        values = work_out(plan, facts)[0]
        sides = plan[-1].inputs if plan[-1].op in ("more", "less") else (len(plan) - 1,)
        for short in shortened(plan):
            other = work_out(short, facts)[0]
            if len(short) < len(plan):
                assert other[-1] != values[-1], question.text
            else:
                ends = short[-1].inputs if len(sides) == 2 else (len(short) - 1,)
                assert [other[i] for i in ends] != [values[i] for i in sides], question.text
        if plan[-1].op in ("most", "least"):
            everyone = [f for f in facts if f[1] == plan[-1].relation]
            best = (max if plan[-1].op == "most" else min)(f[2] for f in everyone)
            assert not values[-1] & {f[0] for f in everyone if f[2] == best}
            assert len(values[plan[-1].inputs[0]]) >= 3
        if plan[-1].op == "at":
            (office,) = values[plan[-1].inputs[0]]
            holders = {f[2] for f in facts if f[0] == office and f[1] == plan[-1].relation}
            assert len(holders) > 1


@pytest.mark.parametrize("kind", ["chain", "inverse", "temporal"])
def test_the_answer_is_no_stop_on_the_way_to_it(kind):
    world = build_world(WorldSpec.at(1), 78)
    facts = [
        (
            world.entities[f.subject].label,
            f.relation,
            f.value if RELATIONS[f.relation].is_number else world.entities[f.value].label,
            f.start,
            f.end,
        )
        for f in world.facts
    ]
    for i in range(60):
        question = draw_question(world, kind, QuestionSpec(hops=3), stream("stops", kind, i))
        values = work_out(question.plan, facts)[0]
        assert question.form == "number" or not any(v & values[-1] for v in values[:-1])


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_that_names_the_start_shows_two_hops(kind, read):
    judged = 0
    for world, reader, facts, question in each(kind, read):
        values, shown = work_out(question.plan, facts)
        if question.plan[-1].op == "both":
            groups = question.plan[-1].inputs
            shown = [
                [f for f in used if i not in groups or f[0] in values[-1]]
                for i, used in enumerate(shown)
            ]
        evidence = [used for used in shown if used]
        told = [[reader.places[f] for f in used] for used in evidence]
        pages = {page for used in told for places in used for page in places}
        assert pages == set(question.evidence)
        direct = question.plan[-1].op == "both" and len(question.plan) == 5
        if len(evidence) < 2 or direct:
            assert not direct or len(pages) == 1  # what two named things share has one page
            continue
        judged += 1
        starts = [world.entities[world.numbers[h.entity]] for h in question.plan if h.op == "name"]
        naming = set()
        for page in articles(world):
            text = page.title + "\n" + "\n".join(s.text for s in page.sections)
            for start in starts:
                forms = [start.label] + ([start.alias] if start.alias else [])
                if page.id == start.id or any(form in text for form in forms):
                    naming.add(page.id)
        for page in naming:
            assert sum(all(page in p for p in used) for used in told) < 2, question.text
        if len(starts) == 1 and len(told[-1]) == 1:
            assert not told[-1][0] & naming, question.text
    assert judged > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_question_does_not_contain_its_answer_and_says_all_it_must(kind, read):
    for world, _, _, question in each(kind, read):
        for forms in question.answers:
            for form in forms:
                if question.form == "number":
                    assert form not in question.text.replace(",", "").replace("?", "").split()
                else:
                    assert form.lower() not in question.text.lower()
        for hop in question.plan:
            if hop.op == "name":
                forms = world.entities[world.numbers[hop.entity]].forms
                assert any(form in question.text for form in forms)
            if hop.year:
                assert str(hop.year) in question.text
        assert question.text[0].isupper()
        assert question.text.count("?") == 1
        assert "{" not in question.text
        assert question.kind == kind
        json.dumps(asdict(question))


@pytest.mark.parametrize("kind", KINDS)
def test_questions_have_the_hops_asked_for(kind):
    for hops in (1, 2, 3):
        world = world_at(6)
        drawn = [
            draw_question(world, kind, QuestionSpec(hops=hops), stream("hops", kind, i))
            for i in range(10)
        ]
        longest = [depth(q.plan, len(q.plan) - 1) for q in drawn]
        least = hops if kind in ("inverse", "temporal", "unanswerable") else 1
        least = max(2, hops) if kind == "chain" else least
        assert min(longest) >= least
        assert all(q.hops == sum(1 for hop in q.plan if hop.relation) for q in drawn)


def depth(plan, at):
    hop = plan[at]
    return (hop.relation != "") + max((depth(plan, i) for i in hop.inputs), default=0)


def test_questions_call_things_by_their_second_names_too():
    world = world_at(10)
    drawn = [
        draw_question(world, "chain", QuestionSpec(hops=2), stream("called", i)) for i in range(60)
    ]
    aliases = {entity.alias for entity in world.entities if entity.alias}
    called = [question for question in drawn if question.plan[0].entity in aliases]
    assert 15 < len(called) < 50
    assert all(question.plan[0].entity in question.text for question in called)
    first = [draw_question(world_at(0), "chain", QuestionSpec(), stream("c", i)) for i in range(30)]
    labels = {entity.label for entity in world_at(0).entities}
    assert all(question.plan[0].entity in labels for question in first)


def test_the_same_stream_gives_the_same_question():
    world = world_at(3)
    for kind in KINDS:
        one, two = (draw_question(world, kind, QuestionSpec(), stream("s", 1)) for _ in range(2))
        assert one == two
        texts = {draw_question(world, kind, QuestionSpec(), stream("s", i)).text for i in range(12)}
        assert len(texts) > 6


def test_an_unknown_kind_and_too_few_hops_are_told():
    with pytest.raises(ConfigError, match="chain, inverse"):
        draw_question(world_at(0), "riddle", QuestionSpec(), stream("x"))
    with pytest.raises(ConfigError, match="at least one hop"):
        QuestionSpec(hops=0)


def test_plans_read_as_english():
    plan = (
        Hop("name", entity="Songs of Vell"),
        Hop("follow", (0,), "author"),
        Hop("back", (1,), "teacher"),
        Hop("count", (2,)),
    )
    dice = Dice(stream("english"))
    assert (
        question_text(plan, dice) == "How many people were taught by the author of Songs of Vell?"
    )
    ranked = (*plan[:3], Hop("least", (2,), "born"))
    assert question_text(ranked, dice) == (
        "Of all the people who were taught by the author of Songs of Vell, "
        "which one was born first?"
    )
    office = (Hop("name", entity="Vellburg"), Hop("at", (0,), "mayor", year=1890))
    assert question_text(office, dice) == "In 1890, who was the mayor of Vellburg?"


def test_relations_can_be_put_into_words():
    for relation in RELATIONS.values():
        assert "{x}" in relation.noun
        assert "{x}" in relation.ask
        if relation.is_number:
            assert relation.most
            assert relation.less
            assert (relation.moment != "") == (relation.value == "year")
        elif not relation.timed:
            assert all("{x}" in text for text in (relation.one, relation.several, relation.clause))
