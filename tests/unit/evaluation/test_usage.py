"""What requests used: the fields of a record, and their sums."""

import pytest

from rlvr_envs.evaluation.policy import PolicyError, Response
from rlvr_envs.evaluation.usage import asked_fields, cost, retries, total

CALL = {"id": "c", "type": "function", "function": {"name": "act", "arguments": "{}"}}


def test_counts_are_summed_over_the_turns():
    responses = [
        Response("a", "stop", 3, 10, attempts=1),
        Response("b", "length", 5, 20, attempts=3, waited_s=1.25),
    ]
    assert asked_fields(responses, None, interactive=True) == {
        "finish": "length",
        "tokens": 8,
        "prompt_tokens": 30,
        "attempts": 4,
        "waited_s": 1.25,
    }


def test_a_turn_that_does_not_say_its_tokens_leaves_the_sum_unknown():
    fields = asked_fields([Response("a", tokens=3), Response("b")], None, interactive=True)
    assert fields == {}


def test_the_attempts_of_a_request_that_failed_count():
    fields = asked_fields([Response("a", attempts=1)], PolicyError("no", 7, 2.0), interactive=True)
    assert fields == {"attempts": 8, "waited_s": 2.0}


def test_reasoning_is_a_text_or_a_list_by_turn():
    thinks, silent = Response("a", reasoning="hm"), Response("b")
    assert asked_fields([thinks], None, interactive=False)["reasoning"] == "hm"
    assert asked_fields([silent, thinks], None, interactive=True)["reasoning"] == ["", "hm"]
    assert "reasoning" not in asked_fields([silent], None, interactive=False)


def test_calls_and_the_text_beside_them_are_lists_by_turn():
    responses = [Response("I look", calls=(CALL,)), Response("<answer>x</answer>")]
    fields = asked_fields(responses, None, interactive=True)
    assert fields["tool_calls"] == [[CALL], []]
    assert fields["beside_calls"] == ["I look", ""]


@pytest.mark.parametrize(
    ("turns", "status", "attempts", "expected"),
    [
        (1, "correct", 1, 0),
        (3, "wrong", 5, 2),
        (1, "policy_error", 4, 2),
        (0, "policy_error", 7, 6),
    ],
)
def test_requests_beyond_the_first_of_a_turn_are_retries(turns, status, attempts, expected):
    record = {"turns": turns, "verdict": {"status": status}, "attempts": attempts}
    assert retries(record) == expected


def test_records_from_before_there_were_counts():
    old = {"turns": 2, "verdict": {"status": "correct"}}
    assert retries(old) == 0
    assert total([old], "tokens") is None
    assert total([old, old | {"tokens": 4}], "tokens") == 4


def test_a_price_is_for_a_million_tokens():
    assert cost(2_000_000, 500_000, (0.5, 4.0)) == 3.0
    assert cost(None, 500_000, (0.5, 4.0)) is None
    assert cost(2_000_000, None, (0.5, 4.0)) is None
