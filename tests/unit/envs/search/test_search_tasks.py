"""The search tasks: episodes played to their end, the oracle's honesty, limits and scoring."""

import dataclasses
import re

import pytest

from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.generators.search_episodes import oracle
from rlvr_envs.generators.search_episodes.protocol import parse_action
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchConfig
from rlvr_envs.generators.worlds.questions import KINDS
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.world import build_world

TASKS = {
    task_type.kind: task_type
    for task_id in registry.task_ids("search")
    if hasattr(task_type := registry.find(task_id).task_type, "kind")
}
RUNGS = (0, 3, 6, 10)


def drawn(kind, difficulty=3, seed=0, **knobs):
    task = TASKS[kind](dataclasses.replace(SearchConfig.at(difficulty), **knobs))
    return task, task.generate(stream("test.search", kind, seed))


def test_every_kind_has_a_task():
    assert TASKS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("syntax", ["tags", "json"])
@pytest.mark.parametrize("difficulty", RUNGS)
def test_the_oracle_earns_full_marks_within_the_calls(kind, syntax, difficulty):
    for seed in range(3):
        task, problem = drawn(kind, difficulty, seed, syntax=syntax)
        actions = task.play(problem)
        assert len(actions) - 1 <= problem.limits.max_calls
        verdict = task.replay(problem, actions)
        assert verdict.status is Status.CORRECT, (seed, problem.question, actions[-1])
        assert verdict.parts["malformed"] == 0
        assert verdict.parts["calls"] == len(actions) - 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("syntax", ["tags", "search_r1"])
def test_the_oracle_reads_varied_prose(kind, syntax):
    for seed in range(2):
        task, problem = drawn(kind, 14, seed, syntax=syntax)
        assert task.config.prose == "varied"
        assert "Pages are of many kinds" in task.prompt(problem)
        actions = task.play(problem)
        assert len(actions) - 1 <= problem.limits.max_calls
        assert task.replay(problem, actions).status is Status.CORRECT


def test_varied_prose_is_a_knob_of_any_level():
    task, problem = drawn("chain", 3, prose="varied")
    plain_task, plain_problem = drawn("chain", 3)
    assert "Pages are of many kinds" in task.prompt(problem)
    assert "Pages are of many kinds" not in plain_task.prompt(plain_problem)
    assert task.replay(problem, task.play(problem)).status is Status.CORRECT
    read = task.replay(problem, task.play(problem)).parts["result_chars"]
    assert task.effort(problem) == 2 * read


@pytest.mark.parametrize("kind", KINDS)
def test_beyond_level_ten_questions_have_other_words_and_short_names(kind):
    assert not SearchConfig.at(10).paraphrased
    assert not SearchConfig.at(10).underspecified
    task, problem = drawn(kind, 12)
    assert task.config.paraphrased
    assert task.config.underspecified
    assert ("only a part of a name" in task.prompt(problem)) == (kind != "unanswerable")
    assert task.replay(problem, task.play(problem)).status is Status.CORRECT


@pytest.mark.parametrize("syntax", ["tags", "search_r1"])
def test_mixed_forms_are_other_pages_under_the_same_question(syntax):
    read = 0
    for seed in range(6):
        plain_task, plain = drawn("arithmetic", 6, seed, syntax=syntax)
        task, problem = drawn("arithmetic", 6, seed, syntax=syntax, forms="mixed")
        assert problem == plain
        assert "forms of several languages" in task.prompt(problem)
        assert "forms of several languages" not in plain_task.prompt(problem)
        verdict = task.replay(problem, task.play(problem))
        assert verdict.status is Status.CORRECT
        read += (
            verdict.parts["result_chars"]
            != plain_task.replay(problem, plain_task.play(problem)).parts["result_chars"]
        )
    assert read > 0


def test_unknown_forms_are_refused():
    with pytest.raises(ConfigError, match="forms is one of plain, mixed, got 'mix'"):
        SearchConfig(forms="mix")


def test_a_short_name_brings_calls_for_what_else_it_may_mean():
    more = 0
    for seed in range(8):
        task, problem = drawn("inverse", 3, seed, underspecified=True)
        name = problem.plan[0].entity
        calls = len(task.play(problem)) - 1
        beyond = problem.limits.max_calls - max(13, 10 * -(-calls // 5))
        assert (beyond > 0) == (name not in problem.question)
        assert beyond % 4 == 0
        more += beyond > 0
    assert more > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_has_read_the_evidence(kind):
    seen = []
    for seed in range(4):
        task, problem = drawn(kind, 6, seed)
        seen.append(task.replay(problem, task.play(problem)).parts["evidence_opened"])
    assert seen == [1.0] * 4


def test_the_oracle_reads_nothing_but_the_plan_and_the_pages():
    """With other pages under the same plan it fails: what it says comes from what it read."""
    task, problem = drawn("chain", 6)
    other = drawn("chain", 6, seed=1)[1]
    actions = task.play(dataclasses.replace(problem, world_seed=other.world_seed))
    assert actions[-1] == f"<answer>{oracle.NOTHING}</answer>"


def test_an_answer_ends_the_episode_at_once():
    task, problem = drawn("set")
    everyone = ", ".join(forms[0] for forms in problem.answers)
    assert task.replay(problem, [f"<answer>{everyone}</answer>"]).score == 1.0
    verdict = task.replay(problem, [f"<answer>{problem.answers[0][0]}</answer>"])
    assert 0 < verdict.score < 1
    assert verdict.parts["evidence_opened"] == 0.0


def test_aliases_are_accepted():
    problems = (drawn("chain", 10, seed) for seed in range(40))
    task, problem = next((t, p) for t, p in problems if len(p.answers[0]) > 1)
    for form in problem.answers[0]:
        assert task.replay(problem, [f"<answer>{form}</answer>"]).score == 1.0


def test_unanswerable_is_right_only_where_a_fact_is_missing():
    forms = set()
    for seed in range(40):
        task, problem = drawn("unanswerable", 2, seed)
        verdict = task.replay(problem, ["<answer>Unanswerable.</answer>"])
        assert verdict.score == float(problem.form == "unanswerable")
        forms.add(problem.form)
    assert "unanswerable" in forms
    assert len(forms) > 1


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_messages_without_a_call_cost_calls_and_then_end_the_episode(syntax):
    task, problem = drawn("chain", syntax=syntax)
    problem = dataclasses.replace(problem, limits=dataclasses.replace(problem.limits, max_calls=2))
    session = task.begin(problem)
    first, second, third = (session.reply("I think it is Vel.") for _ in range(3))
    assert first.text.startswith(("<information>\nNothing was run", "<tool_response>\nNothing"))
    assert "(1 call left.)" in first.text
    assert "must be the answer" in second.text
    assert third.verdict.status is Status.WRONG
    assert third.verdict.parts["malformed"] == 2


def test_only_the_first_call_is_run_and_this_is_said():
    task, problem = drawn("chain", 0)
    message = "<search>was</search><answer>" + problem.answers[0][0] + "</answer>"
    reply = task.begin(problem).reply(message)
    assert reply.verdict is None
    assert "what followed was ignored" in reply.text


@pytest.mark.parametrize("kind", ["chain", "count", "set", "unanswerable"])
def test_hostile_messages_never_end_well(kind):
    task, problem = drawn(kind)
    session = task.begin(problem)
    for text in TROUBLE.values():
        for action in (text, f"<search>{text}</search>", f"<access>{text}</access>"):
            reply = session.reply(action)
            if reply.verdict is not None:
                assert reply.verdict.score == 0.0
                return
    pytest.fail("the calls never ran out")


def test_calls_are_raised_to_what_the_oracle_needs():
    task, problem = drawn("intersection", 6, max_calls=1)
    needed = len(task.play(problem)) - 1
    assert 2 * needed <= problem.limits.max_calls < 2 * needed + 10
    assert drawn("intersection", 6, max_calls=400)[1].limits.max_calls == 400


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_the_baseline_answers_with_the_first_fitting_thing_of_the_first_hit(syntax):
    for kind in ("chain", "count"):
        task, problem = drawn(kind, 3, syntax=syntax)
        actions = task.baseline(stream("policy"), problem)
        calls = [parse_action(action, syntax) for action in actions]
        assert [call.tool for call in calls] == ["search", "open", "answer"]
        assert calls[0].text == problem.question
        page = problem.browser()._site.page(calls[1].text)
        shown = "\n".join(section.text for section in page.sections)
        if kind == "count":
            assert calls[2].text in re.findall(r"\d[\d,]*", shown) or calls[2].text == "0"
        else:
            assert f"[{calls[2].text}](" in shown
        assert task.replay(problem, actions).status is not Status.UNPARSABLE


def test_effort_is_what_the_oracle_reads():
    task, problem = drawn("chain", 3)
    session = task.begin(problem)
    texts = [session.reply(action).text for action in task.play(problem)[:-1]]
    inner = [re.search(r"<information>\n(.*)\n</information>", text, re.S)[1] for text in texts]
    assert task.effort(problem) == sum(map(len, inner))


def test_wrong_names_in_a_set_cancel_right_ones():
    task, problem = next(
        (task, problem)
        for task, problem in (drawn("set", 2, seed) for seed in range(20))
        if len(problem.answers) == 4
    )
    right = [forms[0] for forms in problem.answers]

    def score(names):
        return task.replay(problem, [f"<answer>{', '.join(names)}</answer>"]).score

    assert score(right) == 1.0
    assert score(right[:3]) == 0.75
    assert score([*right, "Nobody"]) == 0.75
    assert score([*right[:3], "Nobody"]) == 0.5
    assert score([*right, *(f"Nobody {word}" for word in "abcd")]) == 0.0


def test_at_level_0_an_intersection_names_both_things_and_a_chain_has_two_links():
    for seed in range(5):
        plan = drawn("intersection", 0, seed)[1].plan
        assert [hop.op for hop in plan] == ["name", "back", "name", "back", "both"]
        assert len(drawn("chain", 0, seed)[1].plan) == 3
        assert len(drawn("unanswerable", 0, seed)[1].plan) == 2


def test_from_level_4_on_a_name_of_the_question_is_not_always_the_first_hit():
    for level, low, high in ((0, 1.0, 1.0), (8, 0.3, 0.8)):
        first = []
        for seed in range(40):
            problem = drawn("chain", level, seed)[1]
            world, name = build_world(problem.world, problem.world_seed), problem.plan[0].entity
            hits = site(problem.world, problem.world_seed).engine.search(f'"{name}"', 20)
            ids = [hit.id for hit in hits]
            page = world.entities[world.numbers[name]].id
            assert page in ids
            first.append(ids[0] == page)
        assert low <= sum(first) / len(first) <= high


def test_the_prompt_states_question_rule_and_limits():
    task, problem = drawn("temporal", 4)
    text = task.prompt(problem)
    for part in (problem.question, problem.rule, str(problem.limits.max_calls), "<answer>"):
        assert part in text
    assert "may fail" in text
    assert "may fail" not in task.prompt(drawn("temporal", 0)[1])
    assert "<search>" not in drawn("temporal", 4, syntax="json")[0].prompt(
        drawn("temporal", 4, syntax="json")[1]
    )


def test_no_level_reaches_the_registered_turn_limit():
    assert SearchConfig.at(100).max_calls < TURNS_AT_MOST
    task, problem = drawn("count", 15)
    assert task.replay(problem, task.play(problem)).score == 1.0


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        ("world_level", -1),
        ("hops", 0),
        ("syntax", "tag"),
        ("max_calls", 0),
        ("hits", 0),
        ("part_chars", 1),
        ("failure_rate", 0.9),
    ],
)
def test_knobs_out_of_range(knob, value):
    with pytest.raises(ConfigError):
        SearchConfig(**{knob: value})


def test_a_world_has_the_pages_that_are_asked_for_and_is_else_of_its_level():
    for pages in (44, 45, 500):
        task, problem = drawn("chain", 5, n_pages=pages)
        assert len(site(problem.world, problem.world_seed).pages) == pages
        assert problem.world.paraphrases == SearchConfig.at(5).spec().paraphrases
        assert task.replay(problem, task.play(problem)).score == 1.0
    assert drawn("chain", 5)[1].world.n_articles == 109


@pytest.mark.parametrize("kind", ["count", "superlative", "intersection"])
def test_questions_about_a_large_world_are_answered(kind):
    task, problem = drawn(kind, 3, n_pages=3_000)
    assert task.replay(problem, task.play(problem)).score == 1.0


@pytest.mark.parametrize("pages", [0, 43, 20_001])
def test_a_world_of_no_such_size_is_refused(pages):
    with pytest.raises(ConfigError, match=r"n_pages is from 44 to 20,000, or None, got"):
        SearchConfig(n_pages=pages)
