"""SearchProposer: episodes, the filters of search self-play, the facts, and rows for solvers."""

import dataclasses
import json

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.generators.proposals import solvers
from rlvr_envs.generators.proposals.check import meaning, text_fault
from rlvr_envs.generators.proposals.episode import UNLIMITED
from rlvr_envs.generators.proposals.reader import read
from rlvr_envs.generators.search_episodes.browser import FAILED
from rlvr_envs.generators.search_episodes.protocol import QUESTION, parse_action
from rlvr_envs.generators.search_episodes.usage import shorthand
from rlvr_envs.generators.worlds.articles import library
from rlvr_envs.generators.worlds.gates import is_definite, is_spread, is_tight, shown
from rlvr_envs.generators.worlds.plan import evaluate
from rlvr_envs.generators.worlds.schema import LINKS, RELATIONS
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

SPEC = registry.find("SearchProposer-v0")
TASK = SPEC.task_type


def drawn(difficulty=3, seed=0, **knobs):
    task = TASK(dataclasses.replace(TASK.Config.at(difficulty), **knobs))
    return task, task.generate(stream("test.proposer", seed))


def asked(task, problem, question, actions=None):
    """The verdict on a question after the oracle's exploration, or after other actions."""
    explored = task.play(problem)[:-1] if actions is None else actions
    return task.replay(problem, [*explored, f"<question>{question}</question>"])


def everything_read(problem):
    """Actions that search for every page and open it, whatever fails."""
    pages = site(problem.world, problem.world_seed).pages
    found = [(f'<search>"{p.title}"</search>', f"<access>{p.id}</access>") for p in pages.values()]
    return [action for both in found for action in both]


def unhurried(difficulty=3, seed=0):
    """A problem with calls for everything, none of which fails."""
    task, problem = drawn(difficulty, seed)
    limits = dataclasses.replace(problem.limits, max_calls=UNLIMITED, failure_rate=0.0)
    return task, dataclasses.replace(problem, limits=limits)


# The oracle.


@pytest.mark.parametrize("syntax", ["tags", "json"])
@pytest.mark.parametrize("difficulty", range(11))
def test_the_oracle_earns_full_marks_within_the_calls(difficulty, syntax):
    for seed in range(3):
        task, problem = drawn(difficulty, seed, syntax=syntax)
        assert problem.hops == task.config.hops
        actions = task.play(problem)
        assert len(actions) - 1 <= problem.limits.max_calls
        verdict = task.replay(problem, actions)
        assert verdict.status is Status.CORRECT, (seed, problem.question, verdict)
        assert verdict.parts["valid"] == 1.0
        assert verdict.parts["malformed"] == 0.0
        assert verdict.parts["calls"] == len(actions) - 1


def test_the_baseline_asks_by_the_first_link_of_the_first_hit_and_earns_nothing():
    for seed in range(4):
        task, problem = drawn(0, seed)
        search, access, question = task.baseline(stream("policy"), problem)
        assert search == f"<search>{problem.gold}</search>"
        assert access.startswith("<access>")
        assert question.startswith(f"<question>What is the name of the {problem.noun} that has")
        verdict = task.replay(problem, [search, access, question])
        assert verdict.status is Status.WRONG
        parts = task.replay(problem, task.play(problem)).parts
        assert task.effort(problem) == parts["result_chars"] > 1_000


def test_the_oracle_does_without_queries_for_the_gold_answer():
    for seed in range(8):
        task, problem = drawn(6, seed, gold_free=True)
        actions = task.play(problem)
        assert task.replay(problem, actions).score == 1.0
        queries = [a for a in actions if a.startswith("<search>")]
        assert not any(form in query for form in problem.forms for query in queries)


def test_calls_are_raised_to_what_the_oracle_needs():
    task, problem = drawn(6, max_calls=1)
    needed = len(task.play(problem)) - 1
    assert 2 * needed <= problem.limits.max_calls < 2 * needed + 10


def test_it_is_in_no_mixture_unless_asked_for():
    assert SPEC.id not in gym.make("rlvr/Search-v0").unwrapped.source.task_ids
    env = gym.make("rlvr/Search-v0", weights={SPEC.id: 1.0})
    assert SPEC.id in env.unwrapped.source.task_ids


# The filters.


def test_the_length_of_a_question():
    task, problem = drawn()
    assert "10 to 1,000 characters" in asked(task, problem, "Who?").detail
    assert "10 to 1,000 characters" in asked(task, problem, "who " * 251).detail
    assert "at least 10 words, this one has 9" in asked(task, problem, "who " * 9).detail
    assert "names nothing in this world" in asked(task, problem, "the " * 10).detail


def test_the_gold_answer_in_the_question():
    task, problem = drawn(10)
    for form in problem.forms:
        verdict = asked(task, problem, problem.question.replace("?", f" and {form.upper()}?"))
        assert "contains the given answer" in verdict.detail
        assert verdict.parts["valid"] == 0.0


@pytest.mark.parametrize(
    "gold",
    [
        "Gafum Works",
        "GAFUM\nworks",
        "g-a-f-u-m Works",
        "Gáfüm Works",
        "Gаfum Wоrks",
        "Ｇafum Works",
    ],
)
def test_the_gold_answer_in_disguise_is_named_as_what_it_is(gold):
    text = "Which place is the seat of the thing that we call {}?"
    assert text_fault(text.format(gold), ("Gafum Works",)).startswith("the question contains")
    assert text_fault(text.format("Gafum and Works"), ("Gafum Works",)) == ""


def test_a_page_has_to_be_opened():
    task, problem = unhurried()
    verdict = asked(task, problem, problem.question, ["<search>one</search>"])
    assert verdict.detail == "not a valid question: no page was opened"


def test_a_query_may_not_be_made_twice():
    task, problem = unhurried()
    explored = task.play(problem)[:-1]
    again = "<search>  GROB   holm </search>"
    assert asked(task, problem, problem.question, [*explored, again]).score == 1.0
    for repeated in (again, "<search>grob holm</search>", '<search>"Grob, holm!"</search>'):
        verdict = asked(task, problem, problem.question, [*explored, again, repeated])
        assert "a query was made twice" in verdict.detail
    other_part = "<search>grob holm #2</search>"
    assert asked(task, problem, problem.question, [*explored, again, other_part]).score == 1.0


def test_a_query_that_the_tool_did_not_answer_may_be_made_again():
    task, problem = drawn(10)
    limits = dataclasses.replace(problem.limits, failure_rate=0.5)
    failing = dataclasses.replace(problem, limits=limits)
    actions = task.play(failing)
    assert len(set(actions)) < len(actions)
    assert task.replay(failing, actions).score == 1.0
    session = task.begin(failing)
    replies = [session.reply(action).text for action in actions[:-1]]
    assert any(FAILED in reply for reply in replies)


def test_two_different_queries_are_needed():
    task, problem = unhurried()
    opened = [a for a in task.play(problem) if a.startswith("<access>")]
    one = [*opened, "<search>vel</search>", "<search>vel #2</search>"]
    assert "fewer than 2 different" in asked(task, problem, problem.question, one).detail
    two = [*one, "<search>ost</search>"]
    assert asked(task, problem, problem.question, two).score == 1.0


def test_gold_free_queries():
    task, problem = unhurried()
    free = dataclasses.replace(problem, gold_free=True)
    search = f"<search>all about {problem.gold.lower()}</search>"
    clean = ["<search>vel</search>", "<search>ost</search>"]
    opened = [a for a in task.play(problem) if a.startswith("<access>")]
    assert asked(task, free, problem.question, [*clean, *opened]).score == 1.0
    verdict = asked(task, free, problem.question, [*clean, search, *opened])
    assert "a query contains the given answer" in verdict.detail
    assert asked(task, problem, problem.question, [*clean, search, *opened]).score == 1.0


def test_the_evidence_has_to_be_opened():
    task, problem = unhurried(6)
    row = task.proposal(problem, f"<question>{problem.question}</question>")["row"]
    for page in row["problem"]["evidence"]:
        without = [a for a in task.play(problem)[:-1] if a != f"<access>{page}</access>"]
        verdict = asked(task, problem, problem.question, without)
        assert "pages that state the facts behind the answer were never opened" in verdict.detail


# The facts.


def chains(problem, hops):
    """Every question of so many nouns about the world of a problem, with what it comes to."""
    world = problem.built
    for entity in world.entities:
        yield from _extended(world, entity.label, entity.kind, hops)


def _extended(world, told, kind, hops):
    for name in LINKS[kind]:
        longer = RELATIONS[name].noun.format(x=told)
        if hops > 1:
            yield from _extended(world, longer, RELATIONS[name].value, hops - 1)
            continue
        text = f"Which {RELATIONS[name].value} is {longer}?"
        (plan,) = read(world, text).plans or [None]
        steps = evaluate(world, plan) if plan else None
        if steps and steps[-1].values:
            yield text, plan, steps


def test_another_answer_and_another_number_of_hops():
    task, problem = unhurried(3)
    assert asked(task, problem, problem.question).score == 1.0
    for hops in (2, 4):
        verdict = asked(task, dataclasses.replace(problem, hops=hops), problem.question)
        assert verdict.detail.endswith(f"the question follows 3 relations instead of {hops}")
    explored = everything_read(problem)
    others = 0
    for text, _, steps in chains(problem, 2):
        named = any(form in text for form in problem.forms)
        right = steps[-1].values == (problem.built.numbers[problem.gold],)
        if others < 5 and not named and not right and len(text.split()) >= 10:
            verdict = asked(task, problem, text, explored)
            assert verdict.detail.endswith("the answer to the question is not the given one")
            others += 1
    assert others == 5


def world_with(difficulty, wanted):
    """The first problem in whose world something is found, with what was found."""
    for seed in range(40):
        task, problem = unhurried(difficulty, seed)
        found = wanted(problem.built)
        if found is not None:
            return task, problem, found
    raise AssertionError("no such world")


def born_together(world):
    """A place where several people were born, and one of them."""
    for place in world.ranges["place"]:
        facts = world.to.get(("birthplace", place), ())
        if len(facts) > 1:
            return world.entities[place].label, world.entities[world.facts[facts[0]].subject].label
    return None


def test_a_question_with_several_answers_earns_nothing():
    task, problem, (place, person) = world_with(2, born_together)
    wanted = dataclasses.replace(problem, gold=person, hops=1)
    text = f"What is the name of the person who was born in {place}?"
    verdict = asked(task, wanted, text, everything_read(problem))
    assert verdict.detail.endswith("has other answers besides the given one")


def born_where_the_work_is_the_same(world):
    """A place with two children of one employer, and this employer."""
    for place in world.ranges["place"]:
        facts = world.to.get(("birthplace", place), ())
        employers = [
            world.facts[i].value
            for fact in facts
            for i in world.of.get((world.facts[fact].subject, "employer"), ())
        ]
        if len(employers) == 2 and len(set(employers)) == 1:
            return world.entities[place].label, world.entities[employers[0]].label
    return None


def test_a_way_over_several_things_earns_nothing_even_if_they_agree():
    task, problem, (place, employer) = world_with(0, born_where_the_work_is_the_same)
    wanted = dataclasses.replace(problem, gold=employer, hops=2)
    text = f"Which organisation is the employer of the person who was born in {place}?"
    verdict = asked(task, wanted, text, everything_read(problem))
    assert verdict.detail.endswith("speaks of one thing where several fit")


def namesake_of_one(world):
    """Someone after whom one place alone is named, and a birthplace, which is another."""
    for fact in world.facts:
        alone = len(world.to.get((fact.relation, fact.value), ())) == 1
        if fact.relation == "namesake" and alone and (fact.value, "birthplace") in world.of:
            birthplace = world.facts[world.of[fact.value, "birthplace"][0]].value
            if birthplace != fact.subject:
                return world.entities[fact.value].label, world.entities[birthplace].label
    return None


def test_hops_that_lead_back_do_not_count():
    """A detour makes three hops of one: it comes back to where it began."""
    task, problem, (person, birthplace) = world_with(0, namesake_of_one)
    wanted = dataclasses.replace(problem, gold=birthplace, hops=3)
    text = (
        f"Which place is the birthplace of the namesake of the place that was named after {person}?"
    )
    verdict = asked(task, wanted, text, everything_read(problem))
    assert verdict.detail.endswith("can be dropped without changing its answer")


def ranked_alone(world):
    """A place where one person was born, with the year known, and the person."""
    for place in world.ranges["place"]:
        facts = world.to.get(("birthplace", place), ())
        if len(facts) == 1:
            person = world.facts[facts[0]].subject
            years = [
                world.facts[i].value
                for p in world.ranges["person"]
                for i in world.of.get((p, "born"), ())
            ]
            own = world.of.get((person, "born"))
            if own and world.facts[own[0]].value != max(years):
                return world.entities[place].label, world.entities[person].label
    return None


def test_a_ranking_of_one_does_not_count():
    task, problem, (place, person) = world_with(2, ranked_alone)
    wanted = dataclasses.replace(problem, gold=person, hops=2)
    text = f"Of all the people who were born in {place}, which one was born last?"
    verdict = asked(task, wanted, text, everything_read(problem))
    assert verdict.detail.endswith("can be dropped without changing its answer")


def test_two_hops_on_one_page_that_the_question_names_earn_nothing():
    task, problem = unhurried(5, 1)
    explored = everything_read(problem)
    world = problem.built
    for text, plan, steps in chains(problem, 2):
        spread = is_spread(library(world), plan, shown(world, plan, steps))
        gold = world.entities[steps[-1].values[0]]
        if spread or any(form in text for form in gold.forms) or len(text.split()) < 10:
            continue
        wanted = dataclasses.replace(problem, gold=gold.label, hops=2)
        detail = asked(task, wanted, text, explored).detail
        if "dropped" in detail or "same name as the answer" in detail:
            continue
        assert detail.endswith(
            "one page that the question leads to states too many of the relations"
        )
        return
    pytest.fail("every question of this world is spread")


def test_a_namesake_of_the_answer_on_the_way_earns_nothing():
    """The bare name is accepted for both: who stops too early would be right."""
    spec = WorldSpec(homonym_rate=1.0, alias_rate=0.0)
    for seed in range(30):
        world = build_world(spec, seed)
        met = dataclasses.replace(unhurried(0)[1], world=spec, world_seed=seed)
        for text, plan, steps in chains(met, 2):
            end, middle = (world.entities[step.values[0]] for step in (steps[-1], steps[-2]))
            if end is middle or end.name != middle.name:
                continue
            if is_definite(plan, steps) and is_tight(world, plan, steps):
                fault = meaning(world, text, world.numbers[end.label], 2).fault
                assert (
                    fault == "the question leads through something with the same name as the answer"
                )
                return
    pytest.fail("no question meets a namesake of its answer")


# Shortcuts, and what is left of the reward.


def test_the_reward_is_the_share_of_shortcuts_that_fail():
    """Over many valid questions, some are answered by one shortcut, and then earn 3/4."""
    scores = set()
    for seed in range(6):
        task, problem = unhurried(0, seed)
        explored = everything_read(problem)
        world, pages = problem.built, site(problem.world, problem.world_seed)
        for text, plan, steps in chains(problem, 2):
            gold = world.entities[steps[-1].values[0]]
            case = solvers.Asked(text, plan, world, pages)
            right = [solver(case) in gold.forms for solver in solvers.SHORTCUTS]
            if sum(right) / 4 in scores or len(text.split()) < 10:
                continue
            wanted = dataclasses.replace(problem, gold=gold.label, hops=2)
            verdict = asked(task, wanted, text, explored)
            if not verdict.parts["valid"]:
                continue
            assert verdict.score == 1 - sum(right) / 4
            assert verdict.parts["solver_accuracy"] == sum(right) / 4
            scores.add(sum(right) / 4)
    assert {0.0, 0.25} <= scores


def test_shortcuts_read_what_they_say():
    _, problem = unhurried(0)
    world, pages = problem.built, site(problem.world, problem.world_seed)
    for text, plan, steps in chains(problem, 1):
        case = solvers.Asked(text, plan, world, pages)
        told = library(world).told[steps[-1].facts[0]]
        if told == world.numbers[plan[0].entity]:
            assert solvers.one_page(case) in world.entities[steps[-1].values[0]].forms
        assert solvers.one_search(case) not in text
        assert solvers.three_pages(case) not in text
        assert solvers.common(case) in world.numbers


# Messages.


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_messages_without_a_call_cost_calls_and_then_end_the_episode(syntax):
    task, problem = drawn(syntax=syntax)
    problem = dataclasses.replace(problem, limits=dataclasses.replace(problem.limits, max_calls=2))
    session = task.begin(problem)
    first, second, third = (session.reply("Let me think about it.") for _ in range(3))
    assert "Nothing was run" in first.text
    assert "answer" not in first.text
    assert "must be the question" in second.text
    assert third.verdict.status is Status.UNPARSABLE
    assert third.verdict.parts["malformed"] == 2


def test_queries_beyond_the_limit_are_not_made():
    task, problem = unhurried()
    actions = task.play(problem)
    short = dataclasses.replace(
        problem, limits=dataclasses.replace(problem.limits, max_calls=len(actions) - 2)
    )
    verdict = task.replay(short, actions)
    assert verdict.score == 0.0
    assert "no question after" in verdict.detail


def test_the_first_call_of_a_message_is_run_and_nothing_else():
    task, problem = unhurried()
    question = f"<question>{problem.question}</question>"
    reply = task.begin(problem).reply(f"<search>vel</search>{question}")
    assert reply.verdict is None
    assert "what followed was ignored" in reply.text
    explored = task.play(problem)[:-1]
    for hidden in (
        f"<think>{question}</think>",
        f"<information>{question}</information>",
        f"<answer>{problem.question}</answer>",
    ):
        session = task.begin(problem)
        for action in explored:
            session.reply(action)
        assert session.reply(hidden).verdict is None
        assert session.reply(question).verdict.score == 1.0


@pytest.mark.parametrize("text", ["<answer>x</answer>", "a <question> b", "answer", 'the "answer"'])
def test_texts_that_name_the_calls_reach_the_tools_as_they_are(text):
    query = {"name": "search", "arguments": {"query": text}}
    told = {"name": "search", "arguments": json.dumps({"query": text})}
    for message in (json.dumps(query), json.dumps(told)):
        assert parse_action(message, "json", QUESTION).text == text
    assert parse_action(f"<search>{text}</search>", "tags", QUESTION).text == text


@pytest.mark.parametrize("arguments", [{"question": "Who?"}, '{"question": "Who?"}'])
def test_a_question_as_json(arguments):
    call = {"name": "question", "arguments": arguments}
    for message in (call, {"type": "function", "function": call}):
        assert parse_action(json.dumps(message), "json", QUESTION).text == "Who?"
    refused = parse_action('{"name": "answer", "arguments": {"answer": "Who?"}}', "json", QUESTION)
    assert "search, open, find, question" in refused.reason


def test_short_commands():
    for syntax in ("tags", "json"):
        short = shorthand(syntax, QUESTION)
        action = short.expand("q Who is it?")
        assert parse_action(action, syntax, QUESTION).text == "Who is it?"
        assert short.shorten(action) == "q Who is it?"
        assert short.shorten(short.expand("s vel")) == "s vel"
        assert short.expand("a Vel") is None
        assert short.expand("what?") is None
        task, problem = drawn(syntax=syntax)
        shown = short.plain(task.prompt(problem))
        assert "- q your question: ends the task" in shown
        assert "your answer" not in shown
        assert "- s words: searches" in shown


def test_the_prompt_states_what_is_asked_for():
    task, problem = drawn(4)
    text = task.prompt(problem)
    for part in (problem.gold, f"exactly {problem.hops}", problem.rule, "<question>", "may fail"):
        assert part in text
    assert "<answer>" not in text
    assert "No query contains" in drawn(4, gold_free=True)[0].prompt(
        dataclasses.replace(problem, gold_free=True)
    )
    assert "<question>" not in drawn(4, syntax="json")[0].prompt(drawn(4, syntax="json")[1])


# Rows for solvers.


@pytest.mark.parametrize("syntax", ["tags", "json"])
@pytest.mark.parametrize("difficulty", [0, 5, 10])
def test_a_question_is_a_row_that_the_oracle_solves(difficulty, syntax):
    task, problem = drawn(difficulty, syntax=syntax)
    proposal = task.proposal(problem, task.play(problem)[-1])
    row = json.loads(json.dumps(proposal["row"]))
    assert row["problem"]["question"] == proposal["question"] == problem.question
    assert row["problem"]["answers"] == [proposal["answers"]]
    assert proposal["question"] in row["prompt"]
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    assert [page["id"] for page in proposal["evidence"]] == row["problem"]["evidence"]
    env = gym.make("rlvr/Search-v0")
    prompt, info = env.reset(options={"problem": row})
    assert (prompt, info["task"]) == (row["prompt"], row["id"])


@pytest.mark.parametrize(
    ("op", "task_id"),
    [
        ("back", "rlvr/InverseSearch-v0"),
        ("both", "rlvr/IntersectionSearch-v0"),
        ("at", "rlvr/TemporalSearch-v0"),
        ("most", "rlvr/SuperlativeSearch-v0"),
    ],
)
def test_other_kinds_of_questions_are_rows_of_other_tasks(op, task_id):
    """The other tasks' own questions, proposed: what the oracle never writes is judged the same."""
    kinds = 0
    for seed in range(30):
        row = rlvr_envs.make_problem(task_id, seed=seed, difficulty=4)
        if row["problem"]["form"] != "name" or row["problem"]["plan"][-1]["op"] != op:
            continue
        hops = sum(1 for hop in row["problem"]["plan"] if hop["relation"])
        if hops < 2 or len(row["problem"]["question"].split()) < 10:
            continue
        task, problem = unhurried(4)
        (names,) = row["problem"]["answers"]
        world = dataclasses.replace(problem, world_seed=row["problem"]["world_seed"], hops=hops)
        wanted = dataclasses.replace(world, gold=names[0], rule=world.built.rule)
        verdict = asked(task, wanted, row["problem"]["question"], everything_read(wanted))
        assert verdict.parts["valid"] == 1.0, verdict
        proposal = task.proposal(wanted, f"<question>{row['problem']['question']}</question>")
        assert proposal["row"]["id"] == task_id
        numbers = wanted.built.numbers
        one, other = (
            [{**hop, "entity": numbers.get(hop["entity"])} for hop in each["problem"]["plan"]]
            for each in (proposal["row"], row)
        )
        assert one == other
        kinds += 1
        if kinds == 3:
            return
    pytest.fail("too few questions of this kind")


def test_there_is_no_proposal_without_a_valid_question():
    task, problem = drawn()
    for action in ("", "<search>vel</search>", "<question>Who?</question>"):
        assert task.proposal(problem, action) is None


@pytest.mark.parametrize(
    ("knob", "value"),
    [("world_level", -1), ("hops", 1), ("syntax", "tag"), ("max_calls", 0), ("failure_rate", 0.9)],
)
def test_knobs_out_of_range(knob, value):
    with pytest.raises(ConfigError):
        TASK.Config(**{knob: value})
