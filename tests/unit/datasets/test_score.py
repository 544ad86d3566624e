"""`rlvr verify`: answers meet their rows, and what cannot be used is named."""

import itertools
import json

import pytest

import rlvr_envs
from rlvr_envs.cli.main import main
from rlvr_envs.core import parallel
from rlvr_envs.core.verdict import Status
from rlvr_envs.datasets import score
from rlvr_envs.datasets.read import checked_rows
from rlvr_envs.datasets.score import Answers, Fault, Sample, judge, oracle_samples
from rlvr_envs.executors import Processes

HERE = ("--executor", "serial")  # the small tasks are known in this process alone


def test_answers_by_number_and_fingerprint_with_one_or_several_samples(halving_rows, write):
    half = [row["problem"]["half"] for row in halving_rows]
    answers = write(
        "answers.jsonl",
        [
            {"row": 0, "response": f"\\boxed{{{half[0]}}}"},
            {"fingerprint": halving_rows[1]["fingerprint"], "response": ["\\boxed{0}", "none"]},
            {"row": 1, "response": f"\\boxed{{{half[1]}}}"},
        ],
    )
    samples = list(Answers(halving_rows).read(answers))
    assert [(s.index, s.sample) for s in samples] == [(0, 0), (1, 0), (1, 1), (1, 2)]
    assert [v.status for _, v in judge(samples)] == [
        Status.CORRECT,
        Status.WRONG,
        Status.UNPARSABLE,
        Status.CORRECT,
    ]


def test_an_interactive_response_is_a_list_of_actions(secret_rows, write):
    secret = secret_rows[2]["problem"]["secret"]
    good = [str(n) for n in range(1, secret + 1)]
    answers = write(
        "answers.jsonl",
        [
            {"row": 2, "response": good},
            {"row": 2, "response": [["9"], good]},
            {"row": 2, "response": str(secret)},
        ],
    )
    verdicts = [verdict.score for _, verdict in judge(Answers(secret_rows).read(answers))]
    assert verdicts == [1.0, 0.0, 1.0, 1.0]


BAD_ANSWERS = {
    "torn": ('{"row": 0, "resp', "not JSON"),
    "no object": ("[1]", "expected a JSON object"),
    "no row": ('{"response": "x"}', "neither 'fingerprint' nor 'row'"),
    "no response": ('{"row": 0}', "no 'response'"),
    "row too large": ('{"row": 6, "response": "x"}', "rows go from 0 to 5"),
    "row negative": ('{"row": -1, "response": "x"}', "no row -1"),
    "row no number": ('{"row": true, "response": "x"}', "an integer from 0"),
    "unknown": ('{"fingerprint": "ab", "response": "x"}', "no row has the fingerprint 'ab'"),
    "response number": ('{"row": 0, "response": 5}', "a text or a list of texts"),
    "response empty": ('{"row": 0, "response": []}', "a text or a list of texts"),
    "response nested": ('{"row": 0, "response": [["x"]]}', "made of texts"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_line_is_named(name, halving_rows, write, capsys):
    line, reason = BAD_ANSWERS[name]
    rows = write("rows.jsonl", halving_rows)
    answers = write("answers.jsonl", [{"row": 0, "response": "x"}, "", line])
    assert main(["verify", *HERE, str(rows), "--answers", str(answers)]) == 2
    told = capsys.readouterr().err
    assert f"{answers}:3: " in told
    assert reason in told
    assert main(["verify", *HERE, str(rows), "--answers", str(answers), "--skip-bad-rows"]) == 0
    assert "1 of 6 rows answered, 1 bad lines left out" in capsys.readouterr().out


def test_a_bad_row_is_named_and_skipping_keeps_the_numbers(halving_rows, write, capsys):
    halving_rows[1]["problem"]["number"] += 2
    del halving_rows[2]["answer_format"]
    halving_rows[3]["id"] = "rlvr/TestHalvng-v0"
    halving_rows[4]["id"] = 7
    rows = write("rows.jsonl", halving_rows)
    answers = write("answers.jsonl", [{"row": 5, "response": rlvr_envs.solve(halving_rows[5])}])
    assert main(["verify", *HERE, str(rows), "--answers", str(answers)]) == 2
    assert f"{rows}:2: the problem of this rlvr/TestHalving-v0 row" in capsys.readouterr().err
    assert main(["verify", *HERE, str(rows), "--answers", str(answers), "--skip-bad-rows"]) == 0
    told = capsys.readouterr()
    for number, reason in ((3, "lacks answer_format"), (4, "did you mean"), (5, "not a row")):
        assert any(f":{number}: " in line and reason in line for line in told.err.split("\n"))
    total = next(line for line in told.out.split("\n") if line.startswith("all"))
    assert total.split()[:4] == ["all", "1", "1.0000", "1"]
    assert "1 of 6 rows answered, 4 bad lines left out" in told.out


KEYS = ("id", "config", "problem", "answer_format", "fingerprint")
JUNK = (5, [], [[]], {}, "", "x", "[", True, {"a": []})


@pytest.mark.parametrize(
    ("key", "value"),
    [*itertools.product(KEYS, JUNK), *((key, None) for key in KEYS if key != "fingerprint")],
)
def test_whatever_stands_in_a_row_is_a_fault_and_no_crash(key, value, halving_rows, write):
    rows = write("rows.jsonl", [halving_rows[0], halving_rows[1] | {key: value}])
    first, second = checked_rows(rows)
    assert first.fault == ""
    assert second.fault
    assert second.place == f"{rows}:2"


def test_verdicts_are_written_and_a_broken_verifier_is_not_in_the_mean(
    halving_rows, write, tmp_path, capsys
):
    rows = write("rows.jsonl", halving_rows)
    responses = ["\\boxed{break}", "\\boxed{0}", rlvr_envs.solve(halving_rows[2])]
    answers = write("a.jsonl", [{"row": n, "response": text} for n, text in enumerate(responses)])
    out = tmp_path / "verdicts.jsonl"
    assert main(["verify", *HERE, str(rows), "--answers", str(answers), "--out", str(out)]) == 0
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(v["row"], v["status"]) for v in verdicts] == [
        (0, "verifier_error"),
        (1, "wrong"),
        (2, "correct"),
    ]
    assert [v["fingerprint"] for v in verdicts] == [r["fingerprint"] for r in halving_rows[:3]]
    table = [line.split() for line in capsys.readouterr().out.split("\n") if line]
    assert table[0] == ["task", "answers", "mean", "correct", "wrong", "verifier_error"]
    assert table[-2] == ["all", "3", "0.5000", "1", "1", "1"]


def test_oracle_checks_every_row(halving_rows, secret_rows, write, capsys):
    rows = write("rows.jsonl", [*halving_rows, *secret_rows])
    assert main(["verify", *HERE, str(rows), "--oracle"]) == 0
    assert "10 of 10 rows answered" in capsys.readouterr().out


def test_the_oracle_check_judges_the_answer_that_a_row_has(halving_rows, write, capsys):
    spoilt = {**halving_rows[0], "problem": {**halving_rows[0]["problem"], "half": 999}}
    stored = {**halving_rows[1], "reference": "999"}
    bare = {key: value for key, value in halving_rows[2].items() if key != "reference"}
    rows = write("rows.jsonl", [spoilt, stored, bare])
    assert main(["verify", *HERE, str(rows), "--oracle"]) == 1
    assert [v.score for _, v in judge(oracle_samples([spoilt, stored, bare]))] == [0.0, 0.0, 1.0]


def test_the_oracle_check_reports_a_task_that_rejects_itself(
    halving_rows, write, monkeypatch, capsys
):
    from rlvr_envs.core.registry import find

    task_type = find("TestHalving-v0").task_type
    monkeypatch.setattr(task_type, "solve", lambda self, problem: str(problem.half % 7))
    bare = [{k: value for k, value in row.items() if k != "reference"} for row in halving_rows]
    rows = write("rows.jsonl", bare)
    assert main(["verify", *HERE, str(rows), "--oracle"]) == 1
    assert "of rlvr/TestHalving-v0: wrong" in capsys.readouterr().err


@pytest.fixture
def two():
    with Processes(2) as executor:
        yield executor


def test_workers_give_the_same_verdicts(two):
    rows = [rlvr_envs.make_problem("Gcd-v0", seed=n) for n in range(8)]
    samples = list(oracle_samples(rows))
    samples += [Sample(n, row, 1, "\\boxed{1}") for n, row in enumerate(rows)]
    alone = [verdict for _, verdict in judge(samples)]
    assert [verdict for _, verdict in judge(samples, executor=two)] == alone
    assert {verdict.status for verdict in alone} == {Status.CORRECT, Status.WRONG}


FRAGILE = """
import os
from rlvr_envs.datasets.read import checked_rows
from rlvr_envs.core.parallel import judge_row as honest

def judge_row(row, response):
    if response == "kill":
        os._exit(1)
    if response == "hang":
        9**9**9
    return honest(row, response)
"""


def test_an_answer_that_breaks_its_worker_costs_no_other(tmp_path, monkeypatch, two):
    (tmp_path / "fragile.py").write_text(FRAGILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(parallel, "_JUDGE", "fragile:judge_row")
    monkeypatch.setattr(score, "CPU_S", 1.0)
    rows = [rlvr_envs.make_problem("Gcd-v0", seed=n) for n in range(5)]
    samples = list(oracle_samples(rows))
    samples[2:2] = [Sample(0, rows[0], 1, "kill"), Sample(0, rows[0], 2, "hang")]
    statuses = [verdict.status for _, verdict in judge(samples, executor=two)]
    assert statuses.pop(2) is Status.VERIFIER_ERROR
    assert statuses.pop(2) is Status.TIMEOUT
    assert statuses == [Status.CORRECT] * 5


def test_rows_of_equal_fingerprint_are_answered_once(halving_rows, write):
    answers = write("a.jsonl", [{"fingerprint": halving_rows[0]["fingerprint"], "response": "x"}])
    (sample,) = Answers([*halving_rows, halving_rows[0]]).read(answers)
    assert not isinstance(sample, Fault)
    assert sample.index == 0


def test_an_answer_that_names_two_rows_is_a_fault(halving_rows, write):
    first = halving_rows[0]["fingerprint"]
    answers = write(
        "a.jsonl",
        [
            {"row": 0, "fingerprint": first, "response": "a"},
            {"row": 1, "fingerprint": first, "response": "b"},
            {"row": 1, "fingerprint": None, "response": "c"},
        ],
    )
    agreed, both, by_number = Answers(halving_rows).read(answers)
    assert (agreed.index, by_number.index) == (0, 1)
    assert "has not the fingerprint" in both.reason


def test_no_file_that_is_read_is_written(halving_rows, write, capsys):
    rows = write("rows.jsonl", halving_rows)
    answers = write("a.jsonl", [{"row": 0, "response": "\\boxed{0}"}])
    before = rows.read_bytes(), answers.read_bytes()
    for out in (rows, answers):
        command = ["verify", str(rows), "--answers", str(answers), "--out", str(out)]
        assert main(command) == 2
        assert "which is read" in capsys.readouterr().err
    assert main(["export", "--to", "trl", str(rows), "--out", str(rows)]) == 2
    assert "itself" in capsys.readouterr().err
    assert (rows.read_bytes(), answers.read_bytes()) == before


def test_a_file_without_answers_is_refused(halving_rows, write, capsys):
    rows, answers = write("rows.jsonl", halving_rows), write("a.jsonl", [])
    assert main(["verify", *HERE, str(rows), "--answers", str(answers)]) == 2
    assert "holds no answers" in capsys.readouterr().err
