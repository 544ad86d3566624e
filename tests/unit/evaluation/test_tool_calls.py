"""Calls of tools as actions, and what goes back to the model."""

import pytest

from rlvr_envs.core.tools import ACT, Tool
from rlvr_envs.evaluation.event_stream import BadReply
from rlvr_envs.evaluation.policy import Response
from rlvr_envs.evaluation.tool_calls import (
    NOT_RUN,
    Turn,
    function,
    messages_after,
    played,
    read_calls,
)

FIND = Tool("find", "Finds.", {"text": "What."}, lambda given: f"<find>{given['text']}</find>")
TOOLS = (FIND, ACT)


def call(name="find", arguments='{"text": "x"}', identity="c1"):
    return {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def test_a_tool_is_offered_as_a_function():
    assert function(FIND) == {
        "type": "function",
        "function": {"name": "find", "description": "Finds.", "parameters": FIND.parameters},
    }


def test_a_text_without_a_call_is_the_action():
    response = Response("<find>y</find>")
    turn = played(response, TOOLS)
    assert turn == Turn("<find>y</find>")
    assert messages_after(response, turn, "found", 1) == [
        {"role": "assistant", "content": "<find>y</find>"},
        {"role": "user", "content": "found"},
    ]


def test_the_first_call_is_the_action_and_the_others_are_answered():
    calls = (call(), call("act", '{"text": "z"}', "c2"))
    response = Response("Let me look.", calls=calls)
    turn = played(response, TOOLS)
    assert turn == Turn("<find>x</find>")
    assert messages_after(response, turn, "found", 1) == [
        {"role": "assistant", "content": "Let me look.", "tool_calls": list(calls)},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "tool", "tool_call_id": "c2", "content": NOT_RUN},
    ]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (call("serch"), "there is no tool 'serch' (tools: find, act)"),
        (call(""), "there is no tool ''"),
        (call(arguments="{oops"), "the arguments are no JSON object"),
        (call(arguments="[1]"), "the arguments are no JSON object"),
        (call(arguments='{"text": NaN}'), "the arguments are no JSON object"),
        (call(arguments="[" * 100_000), "the arguments are no JSON object"),
        (call(arguments=""), "find lacks the argument 'text'"),
        (call(arguments='{"query": "x"}'), "find has no argument 'query'"),
    ],
)
def test_a_bad_call_is_an_empty_action_and_the_model_is_told(bad, told):
    response = Response("<find>not judged</find>", calls=(bad,))
    turn = played(response, TOOLS)
    assert turn.action == ""
    assert turn.fault.startswith(f"The call was not run: {told}")
    _, answer = messages_after(response, turn, "Nothing was run.", 1)
    assert answer["content"] == f"{turn.fault}\nNothing was run."


def test_what_a_chat_template_could_not_read_does_not_go_back():
    response = Response("", calls=(call("", "{oops", ""), call("find", '{"text": "ü"}', "")))
    said, *answers = messages_after(response, Turn(""), "r", 3)
    assert [each["function"] for each in said["tool_calls"]] == [
        {"name": "unknown", "arguments": "{}"},
        {"name": "find", "arguments": '{"text": "\\u00fc"}'},
    ]
    ids = [each["id"] for each in said["tool_calls"]]
    assert ids == ["call_3_0", "call_3_1"] == [each["tool_call_id"] for each in answers]


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ([], []),
        ([{"function": {"name": "find", "arguments": {"text": "x"}}}], [call(identity="")]),
        ([{"id": 7, "function": {}}], [call("", "{}", "")]),
        ([call() | {"index": 0}], [call()]),
    ],
)
def test_calls_are_kept_in_one_form(data, read):
    assert read_calls(data) == tuple(read)


@pytest.mark.parametrize("data", ["find", {"name": "find"}, [7], [{}], [{"function": "find"}]])
def test_what_are_no_calls_is_refused(data):
    with pytest.raises(BadReply):
        read_calls(data)
