"""Server-sent events: cut anywhere, in every legal form, and hostile."""

import json
import random

import pytest
from fakes.scripted_chat import delta, events

from rlvr_envs.evaluation.event_stream import BadReply, EventStream

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": ""}}
CHUNKS = [
    delta(role="assistant", content=""),
    delta(reasoning_content="Let me "),
    delta(reasoning_content="see\u2028."),
    delta(content="Grüße\r\n"),
    delta(content="\\boxed{1}"),
    delta(tool_calls=[{"index": 0, **CALL}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": '{"query": '}}]),
    delta(tool_calls=[{"index": 1, "id": "c2", "function": {"name": "find"}}]),
    delta(tool_calls=[{"index": 0, "function": {"arguments": '"Anna"}'}}]),
    delta(finish="tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9}},
]
WHOLE = {
    "choices": [
        {
            "message": {
                "content": "Grüße\r\n\\boxed{1}",
                "reasoning_content": "Let me see\u2028.",
                "reasoning": "",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"query": "Anna"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "find", "arguments": ""},
                    },
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 9},
}


def taken(pieces, most=1 << 20):
    stream = EventStream(most)
    ended = [stream.take(piece) for piece in pieces]
    return stream, ended


def raw(line_end="\n"):
    lines = []
    for chunk in CHUNKS:
        lines += [f"data: {json.dumps(chunk, ensure_ascii=False)}", ""]
    return line_end.join([*lines, "data: [DONE]", "", ""]).encode()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_stream_cut_anywhere_is_the_same(line_end):
    data = raw(line_end)
    for cut in range(len(data) + 1):
        stream, _ = taken([data[:cut], data[cut:]])
        assert stream.completion() == WHOLE
    stream, ended = taken([data[i : i + 1] for i in range(len(data))])
    assert stream.completion() == WHOLE
    assert ended.index(True) >= len(data) - 2
    rng = random.Random(0)
    for _ in range(200):
        cuts = sorted(rng.choices(range(len(data)), k=9))
        pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert taken(pieces)[0].completion() == WHOLE


@pytest.mark.parametrize(
    "text",
    [
        ': comment\n\nevent: message\nid: 7\ndata:{"choices": [{"delta": {"content": "x"}}]}\n\n',
        'data: {"choices":\ndata: [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n',
        'data: {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}\n\n',
        'data: {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}\n',
        'data: {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}',
        'retry\n\ndata: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]',
    ],
)
def test_the_forms_that_servers_use(text):
    stream, _ = taken([text.encode()] + [b"data: [DONE]\n\n"] * text.startswith(":"))
    assert stream.completion()["choices"][0]["message"]["content"] == "x"


def test_what_follows_the_end_is_not_read():
    stream, ended = taken([events(delta(content="x", finish="stop")) + b"data: {oops\n\n"])
    assert ended == [True]
    assert stream.completion()["choices"][0]["message"]["content"] == "x"


def test_calls_without_numbers_are_separate_and_objects_become_text():
    whole = {"id": "a", "function": {"name": "find", "arguments": {"text": "x"}}}
    stream, _ = taken([events(delta(tool_calls=[whole, whole]))])
    calls = stream.completion()["choices"][0]["message"]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == ['{"text": "x"}'] * 2


def test_a_stream_that_breaks_off_is_no_completion():
    stream, ended = taken([events(delta(content="half an ans"), done=False)])
    assert ended == [False]
    with pytest.raises(BadReply, match="broke off"):
        stream.completion()


@pytest.mark.parametrize(
    "data",
    [
        b"data: {not json\n\n",
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: 7\n\n",
        b'data: {"error": {"message": "overloaded"}}\n\n',
        b'data: {"choices": [7]}\n\n',
        b'data: {"choices": [{"delta": 7}]}\n\n',
        b'data: {"choices": [{"delta": {"content": [1]}}]}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [7]}}]}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [{"function": {"name": 7}}]}}]}\n\n',
    ],
)
def test_what_is_no_stream_of_a_completion_is_refused(data):
    with pytest.raises(BadReply):
        taken([data])


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ([b"data: "] + [b"x" * 1000] * 20, "a line of the stream is too long"),
        ([b"data: " + b"x" * 1000 + b"\n"] * 20, "an event of the stream is too long"),
        ([events(delta(content="x" * 1000), done=False)] * 20, "the completion is too long"),
        (
            [
                events(delta(tool_calls=[{"index": i, "function": {}}]), done=False)
                for i in range(20)
            ],
            "the completion is too long",
        ),
    ],
)
def test_no_more_is_kept_than_the_limit(pieces, told):
    with pytest.raises(BadReply, match=told):
        taken(pieces, most=10_000)


def test_small_pieces_of_a_long_line_take_linear_time():
    stream = EventStream(1 << 22)
    piece = b"x" * 16
    for _ in range(1 << 17):  # 2 MiB; to look at the whole line each time would take minutes
        stream.take(piece)
    with pytest.raises(BadReply, match="broke off"):
        stream.completion()
