"""Verdicts: their invariants hold or they do not exist."""

import math

import pytest

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.verdict import Status, Verdict


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_scores_lie_between_0_and_1(score):
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        Verdict(score, Status.PARTIAL)


@pytest.mark.parametrize(
    ("score", "status"),
    [
        (1.0, Status.PARTIAL),
        (1.0, Status.WRONG),
        (0.5, Status.CORRECT),
        (0.5, Status.WRONG),
        (0.1, Status.VERIFIER_ERROR),
    ],
)
def test_score_and_status_agree(score, status):
    with pytest.raises(ValueError, match=r"marks|earns"):
        Verdict(score, status)


def test_graded_finds_the_status():
    assert [Verdict.graded(s).status for s in (0.0, 0.5, 1.0)] == ["wrong", "partial", "correct"]


def test_only_a_verifier_error_is_not_scored():
    made = [Verdict.correct(), Verdict.wrong(""), Verdict.unparsable(""), Verdict.timeout("")]
    assert all(v.scored for v in made)
    assert not Verdict.verifier_error("broken").scored


def test_json_round_trip():
    verdict = Verdict.graded(0.25, "half", quality=0.5)
    assert Verdict.from_json(verdict.to_json()) == verdict


@pytest.mark.parametrize(
    "data", [{}, {"score": "x", "status": "wrong"}, {"score": 0, "status": "?"}]
)
def test_bad_json_is_a_row_error(data):
    with pytest.raises(RowError, match="not a verdict"):
        Verdict.from_json(data)
