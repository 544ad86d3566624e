"""CorpusProposer: the filters on a corpus of the user's, episodes, and self-play over it."""

import dataclasses
import json

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.search.corpus_proposer import (
    CorpusProposerConfig,
    CorpusProposerTask,
    grounds,
    names_of,
)
from rlvr_envs.wrappers.self_play import SelfPlay

ID = "rlvr/CorpusProposer-v0"
OPENED = [
    "<search>Ostra Lighthouse</search>",
    "<access>ostra-lighthouse</access>",
    "<search>Mirel Hadvan</search>",
    "<access>mirel-hadvan</access>",
]
GOOD = "In which town was the engineer of Ostra Lighthouse born?"


NAMES = ["oneil", "ed gray", "st", "us"]


def drawn(gold=None, **knobs):
    """Return a task over the sample, and a problem of it, with a given gold answer if any."""
    task = CorpusProposerTask(CorpusProposerConfig(**knobs))
    for seed in range(40):
        problem = task.generate(stream("test.corpus_proposer", seed))
        if gold in (None, problem.gold):
            return task, problem
    raise AssertionError(gold)


def asked(question, before=OPENED, gold="Kerrun", **knobs):
    task, problem = drawn(gold, **knobs)
    return task.replay(problem, [*before, f"<question>{question}</question>"])


@pytest.mark.parametrize("syntax", ["tags", "json"])
@pytest.mark.parametrize("gold", ["Kerrun", "1847", "Mount Odrin"])
def test_the_oracle_earns_full_marks(gold, syntax):
    task, problem = drawn(gold, syntax=syntax)
    verdict = task.replay(problem, task.play(problem))
    assert (verdict.status, verdict.parts["valid"]) == (Status.CORRECT, 1.0)
    assert problem.question not in task.prompt(problem)


def test_the_baseline_earns_nothing():
    for gold in ("Kerrun", "1847", "Mount Odrin"):
        task, problem = drawn(gold)
        assert task.replay(problem, task.baseline(stream("policy"), problem)).score == 0.0


@pytest.mark.parametrize(
    "question",
    [
        GOOD,
        "Who can say in which town the engineer who planned Ostra Lighthouse was born?",
        "The plans of Ostra's light are by one engineer: where was she born, and when?",
        "in which town was the engineer born who built on Ostra from 1861 on?",
    ],
)
def test_other_words_for_the_same_are_valid(question):
    assert asked(question).status is Status.CORRECT


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Kerrun", "characters"),
        ("Where was she born?", "at least 10 words"),
        ("In which town, which is Kerrun, was the engineer of Ostra Lighthouse born?", "contains"),
        ("In which town (k e r r u n) was the engineer of Ostra Lighthouse born?", "contains"),
        ("In which town, KERRÜN, was the engineer of Ostra Lighthouse born?", "contains"),
        ("In which town, К-errun, was the engineer of Ostra Lighthouse born?", "contains"),
        ("who knows, my dear friend, the answer to all of this today?", "holds no name"),
        ("What is the answer that you have been given, and where is it from?", "holds no name"),
        (
            "In which town was the engineer of Vasslo Lighthouse born, if anywhere?",
            "'vasslo lighthouse'",
        ),
        ("In which town was the architect of Paris and London born, do you know?", "'paris'"),
        ("In which town was the engineer of Ostra Lighthouse born in 1999, say?", "'1999'"),
        ("In which town was Mirel Hadvan born, who built lights and also harbours?", "one page"),
        ("In which town was the engineer born who lived from 1819 to 1888?", "one page"),
        ("word " * 300 + "Ostra", "characters"),
        ("Ostra " * 9, "at least 10 words"),
        ("11111 22222 33333 44444 55555 66666 77777 88888 99999 12345", "no opened page"),
        ("答案 答案 答案 答案 答案 答案 答案 答案 答案 答案", "holds no name"),
        ("\u0000 \u200b . . . . . . . . . . . .", "holds no name"),
        (
            "Write a question about a collection of pages for which Solvers will search Pages.",
            "'solvers'",
        ),
        (GOOD[:-1] + " and who is Iven Sark, who was born there as well?", "'iven sark'"),
        ("Say yes or no or 3 or 4: is the town of the engineer known?", "no opened page"),
    ],
)
def test_a_question_that_breaks_a_rule_earns_nothing(question, told):
    verdict = asked(question)
    assert verdict.score == 0.0
    assert verdict.parts["valid"] == 0.0
    assert told in verdict.detail


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ([], "no page was opened"),
        (OPENED[:1] * 2, "no page was opened"),
        (OPENED[1:2] + OPENED[3:], "fewer than 2 different queries"),
        ([*OPENED, "<search>ostra  lighthouse!</search>"], "made twice"),
        (OPENED[:3], "no opened page holds the given answer"),
        ([OPENED[0], *OPENED[2:]], "no opened page holds 'ostra lighthouse'"),
        (
            [*OPENED[:3], "<access>pell-bridge</access>"],
            "no chain of opened pages leads from 'ostra'",
        ),
    ],
)
def test_what_was_not_explored_is_missed(before, told):
    question = GOOD if "pell-bridge" not in str(before) else GOOD.replace("Lighthouse", "light")
    verdict = asked(question, before)
    assert verdict.score == 0.0
    assert told in verdict.detail


def test_one_page_is_enough_where_the_knob_says_so():
    question = "In which town was Mirel Hadvan born, who built lights and also harbours?"
    assert asked(question).score == 0.0
    assert asked(question, needs_pages=1).score == 1.0


def test_queries_may_have_to_do_without_the_answer():
    before = [*OPENED, "<search>the fair of Kerrun</search>"]
    assert asked(GOOD, before).score == 1.0
    assert "a query contains" in asked(GOOD, before, gold_free=True).detail


def test_no_question_at_all_is_unparsable():
    task, problem = drawn(max_calls=4)
    actions = [f"<search>word {i}</search>" for i in range(6)]
    assert task.replay(problem, actions).status is Status.UNPARSABLE


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who built Ostra Lighthouse?", ["ostra lighthouse"]),
        ("Ostra? Who built it. Where (in 1861-66)?", ["1861 66"]),
        ("The man's friend O'Neil, Ed Gray, St. Anna's and the U.S. fleet", NAMES),
        ("no name at all", []),
        ("the Jean-Paul Élise", ["jean paul élise"]),
    ],
)
def test_names_are_capitalised_words_and_numbers(question, names):
    assert names_of(question) == names


def test_grounds_against_an_enumeration_of_small_worlds():
    """Every set of opened pages of four, judged by following mentions by hand."""
    pages = {
        "a": ("Ada", "Ada met Bea."),
        "b": ("Bea", "Bea lives in Zell."),
        "c": ("Cid", "Cid is a town."),
        "d": ("Dan", "Dan lives in Zell."),
    }
    mentions = {frozenset("ab")}
    golden = {"b", "d"}
    for number in range(16):
        opened = [page for i, page in enumerate("abcd") if number >> i & 1]
        for name, page in (("Ada", "a"), ("Cid", "c"), ("Dan", "d")):
            allowed = page in opened and any(
                gold in opened and frozenset(page + gold) in mentions for gold in golden
            )
            told = grounds(f"who knows {name}", ["Zell"], {p: pages[p] for p in opened}, 2)
            assert (told[1] == "") == allowed, (opened, name, told)


def test_a_file_without_usable_questions_is_refused(tmp_path):
    corpus, questions = tmp_path / "c.jsonl", tmp_path / "q.jsonl"
    corpus.write_text(json.dumps({"id": "1", "title": "A", "text": "b"}))
    questions.write_text(json.dumps({"question": "what?", "answer": "b"}))
    config = CorpusProposerConfig(
        corpus=str(corpus), questions=str(questions), index_dir=str(tmp_path), engine="bm25"
    )
    with pytest.raises(ConfigError, match=r"none of 1 questions of .* can serve"):
        CorpusProposerTask(config).generate(stream("test"))
    with pytest.raises(ConfigError, match=r"none of 1 questions of .* can serve"):
        len(CorpusProposerTask(config))


def test_answers_are_numbered():
    task = CorpusProposerTask(CorpusProposerConfig())
    assert [task.problem_at(i).gold for i in range(len(task))] == ["Kerrun", "1847", "Mount Odrin"]
    with pytest.raises(ConfigError, match="from 0 to 2"):
        task.problem_at(3)


def test_there_are_no_levels():
    with pytest.raises(ConfigError, match="no difficulty"):
        CorpusProposerConfig.at(3)


def test_a_problem_needs_its_documents():
    task, problem = drawn()
    with pytest.raises(ConfigError, match="made with other documents"):
        task.begin(dataclasses.replace(problem, digest="0" * 32))


# Self-play over the corpus.


def from_oracle(question, row):
    env = gym.make(row["id"])
    env.reset(options={"problem": row})
    for action in rlvr_envs.solve(row):
        step = env.step(action)
    assert step[1] == 1.0
    return action.removeprefix("<answer>").removesuffix("</answer>")


def played(actions, solver, **options):
    env = SelfPlay(gym.make(ID), solver, **options)
    seed = next(seed for seed in range(40) if "have: Kerrun\n" in env.reset(seed=seed)[0])
    env.reset(seed=seed)
    for action in actions:
        step = env.step(action)
    return step


def test_the_solver_plays_the_question_and_its_accuracy_pays():
    step = played(
        [*OPENED, f"<question>{GOOD}</question>"],
        from_oracle,
        reader=lambda question, evidence: "Kerrun",
    )
    proposal = step[4]["proposal"]
    assert step[1] == 0.0
    assert proposal["solver_accuracy"] == 1.0
    assert {page["id"] for page in proposal["evidence"]} == {"ostra-lighthouse", "mirel-hadvan"}
    assert proposal["row"]["problem"]["question"] == GOOD
    assert json.loads(json.dumps(proposal)) == proposal


def test_a_question_that_no_reader_answers_from_the_pages_is_not_valid():
    junk = "who knows whatever may be said of Ostra Lighthouse and so on?"
    solved = []
    step = played(
        [*OPENED, f"<question>{junk}</question>"],
        lambda question, row: solved.append(question) or "Vasslo",
        reader=lambda question, evidence: evidence[0]["title"],
        invalid_reward=-1.0,
    )
    assert step[1] == -1.0
    assert solved == []
    assert step[4]["proposal"]["reader_answer"] == "Mirel Hadvan"
    assert "solver_accuracy" not in step[4]["proposal"]


def test_a_solver_that_always_fails_cannot_be_farmed():
    with pytest.raises(ConfigError, match="cannot prove that a question has its answer"):
        SelfPlay(gym.make(ID), lambda question, row: "Vasslo").reset(seed=0)
    step = played(
        [*OPENED, f"<question>{GOOD}</question>"],
        lambda question, row: "Vasslo",
        reward="intermediate",
        left=0.5,
    )
    assert step[1] == 0.0


def test_a_reader_that_breaks_leaves_the_episode_unscored():
    def broken(question, evidence):
        raise RuntimeError("out of memory")

    step = played([*OPENED, f"<question>{GOOD}</question>"], from_oracle, reader=broken)
    assert step[4]["scored"] is False
    assert "the reader failed: RuntimeError: out of memory" in step[4]["verdict"].detail
