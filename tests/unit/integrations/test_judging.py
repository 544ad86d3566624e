"""Judging a trainer's batch: in order, with what is hostile or not scored kept apart."""

import json

import pytest

import rlvr_envs
from rlvr_envs.core.errors import RowError, UsageError
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.integrations.judging import judge_texts, score_of
from rlvr_envs.integrations.rows import open_rows


def test_verdicts_come_in_order_and_a_hostile_answer_costs_its_own_score_alone():
    rows = [json.dumps(row) for row in open_rows("Derivative-v0", count=3, difficulty=0)]
    right = [rlvr_envs.solve(json.loads(row)) for row in rows]
    hostile = r"\boxed{9^{9^{9^{9}}} x}"
    verdicts = judge_texts([rows[0], rows[1], rows[1], rows[2]], [right[0], hostile, *right[1:]])
    assert [verdict.score for verdict in verdicts] == [1.0, 0.0, 1.0, 1.0]
    assert verdicts[1].status is not Status.VERIFIER_ERROR
    assert judge_texts([], []) == []


def test_what_is_not_scored_has_no_score():
    assert score_of(Verdict.verifier_error("the machine failed")) is None
    assert score_of(Verdict.wrong("no")) == 0.0
    assert score_of(Verdict.graded(0.25)) == 0.25


def test_a_row_of_several_turns_is_refused():
    (row,) = open_rows("GuessNumber-v0", count=1)
    with pytest.raises(UsageError, match="several turns"):
        judge_texts([json.dumps(row)], [r"\boxed{3}"])


@pytest.mark.parametrize("row", ["no json", "[1, 2]", None, '{"id": "Gcd-v0"}'])
def test_what_is_no_row_is_refused(row):
    with pytest.raises(RowError):
        judge_texts([row], ["3"])


def test_an_altered_row_is_refused():
    (row,) = open_rows("Gcd-v0", count=1)
    row["problem"]["numbers"] = [2, 2]
    with pytest.raises(RowError, match="fingerprint"):
        judge_texts([json.dumps(row)], ["3"])


def test_every_response_needs_its_row():
    with pytest.raises(UsageError, match="needs its row, got 1 and 2"):
        judge_texts(["{}"], ["3", "4"])
