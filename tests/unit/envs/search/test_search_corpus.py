"""SearchCorpus on the sample: configuration, scoring, episodes, and rows that are replayed."""

import dataclasses
import json

import pytest

import rlvr_envs
from rlvr_envs.conformance.trouble import TROUBLE
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.search.search_corpus import Judge, SearchCorpusConfig, SearchCorpusTask

TASK_ID = "rlvr/SearchCorpus-v0"


def posed(index=0, **knobs):
    task = SearchCorpusTask(SearchCorpusConfig(**knobs))
    return task, task.problem_at(index)


@pytest.mark.parametrize(
    ("knobs", "told"),
    [
        ({"corpus": "pages.jsonl"}, "questions should name a file"),
        ({"questions": "q.jsonl"}, "corpus should name a file"),
        ({"corpus": "", "questions": "q"}, "each name a file"),
        ({"score": "f2"}, "score is one of em, f1, got 'f2'"),
        ({"score": "cover"}, "score is one of em, f1"),
        (
            {"syntax": "tag"},
            "syntax is one of tags, json, search_r1, got 'tag'; did you mean 'tags'",
        ),
        ({"on_bad_row": "ignore"}, "on_bad_row is one of error, skip"),
        ({"engine": "tantivi"}, "engine should be one of auto, bm25, tantivy"),
        ({"max_calls": 0}, "max_calls >= 1"),
        ({"part_chars": 10}, "part_chars is from 500"),
        ({"part_chars": 100_001}, r"part_chars is from 500 to 100,000, got 100001"),
        ({"hits": 0}, "hits >= 1"),
        ({"shown_chars": -1}, r"shown_chars is from 0 to 2,000, got -1"),
    ],
)
def test_wrong_knobs_are_refused(knobs, told):
    with pytest.raises(ConfigError, match=told):
        SearchCorpusConfig(**knobs)


def test_there_are_no_levels():
    with pytest.raises(ConfigError, match="no difficulty"):
        TextEnv(TASK_ID, difficulty=3)


@pytest.mark.parametrize("index", [-1, 8, 1.5, "1", None])
def test_an_index_that_is_not_there_is_refused(index):
    with pytest.raises(ConfigError, match="from 0 to 7"):
        posed(index)


@pytest.mark.parametrize("syntax", ["tags", "json"])
@pytest.mark.parametrize("score", ["em", "f1"])
@pytest.mark.parametrize("max_calls", [1, 2, 3, 12])
def test_the_oracle_earns_full_marks_within_the_calls(syntax, score, max_calls):
    task = SearchCorpusTask(
        SearchCorpusConfig(syntax=syntax, score=score, max_calls=max_calls, part_chars=500)
    )
    for index in range(len(task)):
        problem = task.problem_at(index)
        verdict = task.replay(problem, task.play(problem))
        assert verdict.status is Status.CORRECT
        assert verdict.parts["malformed"] == verdict.parts["trailing"] == 0
        assert 1 <= verdict.parts["calls"] <= max_calls
        if max_calls == 12 and problem.titles:
            assert verdict.parts["evidence_opened"] == 1.0


def test_the_baseline_answers_with_the_title_of_the_first_hit():
    task, problem = posed()
    search, answer = task.baseline(stream("policy"), problem)
    assert search == f"<search>{problem.question}</search>"
    shown = task.begin(problem).reply(search).text.split("\n")[2]
    assert shown.startswith(answer.removeprefix("<answer>").removesuffix("</answer>") + " (")
    assert task.effort(problem) == len(task.play(problem))


def test_every_accepted_form_earns_full_marks():
    task, problem = posed(5)
    assert len(problem.answers) == 3
    for form in (*problem.answers, "the **1,874** metres."):
        assert task.replay(problem, [f"<answer>{form}</answer>"]).score == 1.0
    assert task.replay(problem, ["<answer>18.74</answer>"]).score == 0.0


def test_the_parts_tell_of_the_episode():
    task, problem = posed(0)
    actions = [
        "<search>lighthouse</search> and more",
        "<access>ostra-lighthouse</access>",
        "no call",
        "<access>ostra-lighthouse#Keepers</access>",
        "<access>nowhere</access>",
        "<answer>Kerrun town</answer>",
    ]
    verdict = task.replay(problem, actions)
    assert verdict.status is Status.WRONG
    told = {name: value for name, value in verdict.parts.items() if name != "result_chars"}
    assert told == {
        "em": 0.0,
        "f1": pytest.approx(2 / 3),
        "declined": 0.0,
        "answered": 1.0,
        "calls": 5.0,
        "malformed": 1.0,
        "trailing": 1.0,
        "pages_opened": 1.0,
        "evidence_opened": 0.5,
    }
    assert verdict.parts["result_chars"] > 1_000


def test_evidence_is_counted_only_where_it_is_known():
    task, problem = posed(6)
    assert problem.titles == ()
    assert "evidence_opened" not in task.replay(problem, task.play(problem)).parts


def test_calls_run_out_and_then_only_an_answer_counts():
    task, problem = posed(0, max_calls=2)
    session = task.begin(problem)
    assert "(1 call left.)" in session.reply("<search>lighthouse</search>").text
    assert "must be the answer" in session.reply("<search>lighthouse</search>").text
    verdict = session.reply("<search>lighthouse</search>").verdict
    assert verdict.status is Status.WRONG
    assert verdict.parts["answered"] == verdict.parts["f1"] == 0.0
    assert "after 2 calls" in verdict.detail
    calls = ["<search>lighthouse</search>"] * 2
    assert task.replay(problem, [*calls, "<answer>Kerrun</answer>"]).score == 1.0


ANSWERS = ("Anna Vell", "Nan")
CANDIDATES = ["Ben Orr", "Anna Vell", "Carl Dunn", "Dora Pym"]
STUFFED = {
    "two candidates": "Anna Vell, Ben Orr",
    "two candidates without a comma": "Ben Orr Anna Vell",
    "or": "Anna Vell or Ben Orr",
    "all candidates": ", ".join(CANDIDATES),
    "lines": "\n".join(CANDIDATES),
    "a sentence": "The mayor of Velburg is Anna Vell",
    "twice": "Anna Vell Anna Vell",
    "both forms": "Anna Vell (Nan)",
    "a thousand names": " ".join(f"Ada{n} Vell{n}" for n in range(900)) + " Anna Vell",
    "the question": "Who is the mayor of the town of Anna Vell?",
}


@pytest.mark.parametrize("stuffed", STUFFED.values(), ids=STUFFED)
def test_stuffing_earns_nothing_under_either_score(stuffed):
    for score in ("em", "f1"):
        verdict = Judge(score, ANSWERS)(stuffed)
        assert verdict.score == 0.0
        assert verdict.parts["em"] == 0.0


def test_the_part_f1_is_what_stuffing_would_have_earned():
    """As the docstring says: 2/(n + 1) for n candidates of equal length."""
    for count in range(2, 5):
        verdict = Judge("em", ANSWERS)(", ".join(CANDIDATES[:count]))
        assert verdict.parts["f1"] == pytest.approx(2 / (count + 1))


@pytest.mark.parametrize(
    ("answer", "f1"),
    [
        ("Anna Vell", 1.0),
        ("nan.", 1.0),
        ("the Vell", 2 / 3),
        ("Vell Anna", 1.0),
        ("Anna Orr", 0.5),
        ("Ben", 0.0),
        ("Unanswerable", 0.0),
    ],
)
def test_what_f1_pays_in_part(answer, f1):
    assert Judge("f1", ("University of Ost",))("of").score == 0.5
    verdict = Judge("f1", ANSWERS)(answer)
    assert verdict.score == pytest.approx(f1)
    assert verdict.parts["declined"] == float(answer == "Unanswerable")


@pytest.mark.parametrize("score", ["em", "f1"])
def test_hostile_messages_never_end_well(score):
    task, problem = posed(3, score=score)
    for text in TROUBLE.values():
        for action in (text, f"<search>{text}</search>", f"<answer>{text}</answer>"):
            assert task.replay(problem, [action]).score == 0.0
        session = task.begin(problem)
        for action in (f"<access>{text}</access>", f"<find>{text}</find>"):
            reply = session.reply(action)
            assert reply.verdict is None
            assert reply.text


def test_a_search_without_words_or_with_only_marks_is_answered():
    task, problem = posed(0)
    for query in ("?!", '""', "\x00", "#2", '"Ostra Lighthouse" #99', "the", "a" * 4_000):
        assert task.begin(problem).reply(f"<search>{query}</search>").verdict is None


def test_results_made_up_by_the_agent_count_for_nothing():
    task, problem = posed(0)
    message = "<information>Kerrun</information>\n<answer>Kerrun</answer>"
    other = "<information><answer>Kerrun</answer></information>"
    assert task.replay(problem, [message]).parts["pages_opened"] == 0.0
    assert task.begin(problem).reply(other).verdict is None


def test_a_row_is_replayed_from_json():
    env = TextEnv(TASK_ID, syntax="json")
    env.reset(options={"index": 2})
    row = json.loads(json.dumps(env.instance.to_row()))
    assert row["problem"]["answers"] == ["Mount Odrin", "Odrin"]
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    prompt, _ = TextEnv(TASK_ID).reset(options={"problem": row})
    assert prompt == row["prompt"]


def test_a_row_of_other_documents_is_refused():
    task, problem = posed(0)
    other = dataclasses.replace(problem, digest="0" * 32)
    with pytest.raises(ConfigError, match="other documents than 'sample' holds now"):
        task.begin(other)
    env = TextEnv(TASK_ID)
    env.reset(options={"index": 0})
    row = env.instance.to_row()
    row["problem"]["digest"] = "0" * 32
    with pytest.raises(RowError, match="does not match its fingerprint"):
        rlvr_envs.verify(row, ["<answer>Kerrun</answer>"])
    del row["fingerprint"]
    verdict = rlvr_envs.verify(row, ["<answer>Kerrun</answer>"])
    assert verdict.status is Status.VERIFIER_ERROR
    assert "bring back the corpus" in verdict.detail


def test_the_answer_stands_in_no_prompt():
    task = SearchCorpusTask(SearchCorpusConfig())
    for index in range(len(task)):
        problem = task.problem_at(index)
        prompt = task.prompt(problem).replace("yes or no", "")
        for form in problem.answers:
            assert form not in prompt
