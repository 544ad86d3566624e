"""What the endpoint policy sends for each option, and what it makes of each kind of reply."""

import itertools
import json

import pytest
from fakes.scripted_chat import completion, delta, events, message, streamed

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.evaluation import PolicyOptions, evaluate, make_policy
from rlvr_envs.evaluation import endpoint as endpoint_module
from rlvr_envs.evaluation.policies import make_policies
from rlvr_envs.evaluation.store import read_records
from rlvr_envs.generators.search_episodes.protocol import parse_action

pytest.importorskip("httpx", reason="the extra 'report' is not installed")

SECRET = "sk-very-secret-1234"
PLAIN = {"temperature": 1.0, "max_tokens": 1024}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
GOOD = (200, completion("\\boxed{1}"), {})


@pytest.fixture
def server(chat_server, monkeypatch):
    monkeypatch.setenv("RLVR_TEST_KEY", SECRET)
    return chat_server


def stored(folder):
    return list(read_records(folder / "episodes.jsonl"))


OPTIONS = [
    ({}, {}),
    ({"temperature": 0.0}, {"temperature": 0.0}),
    ({"top_p": 0.9}, {"top_p": 0.9}),
    ({"stop": ("\n\n", "Q:")}, {"stop": ["\n\n", "Q:"]}),
    ({"sampling_seed": 7}, {"seed": 7}),
    ({"max_new_tokens": 9}, {"max_tokens": 9}),
    ({"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
    (
        {"chat_template_args": {"enable_thinking": False}},
        {"chat_template_kwargs": {"enable_thinking": False}},
    ),
    ({"extra_body": {"top_k": 20, "n": 1}}, {"top_k": 20, "n": 1}),
    ({"stream": True}, STREAM),
    ({"tools": True}, {}),  # a task of one turn has none
]


@pytest.mark.parametrize(("given", "sent"), OPTIONS)
def test_the_exact_body_of_each_option(server, given, sent):
    server.evaluate(**given)
    ((_, _, body),) = server.requests
    assert body.pop("model") == "stub"
    assert [each["role"] for each in body.pop("messages")] == ["user"]
    assert body == PLAIN | sent


def test_a_temperature_can_be_left_to_the_server(server):
    server.evaluate(temperature=None)
    ((_, _, body),) = server.requests
    assert set(body) == {"model", "messages", "max_tokens"}


def test_samples_have_seeds_of_their_own(server):
    server.evaluate(samples=3, concurrency=1, sampling_seed=40)
    assert [body["seed"] for _, _, body in server.requests] == [40, 41, 42]


@pytest.mark.parametrize(
    "key", ["model", "messages", "max_tokens", "temperature", "stream", "tools", "top_p", "seed"]
)
def test_an_extra_body_cannot_replace_what_requests_hold(key):
    options = PolicyOptions(
        base_url="http://127.0.0.1:9/v1", top_p=0.5, sampling_seed=1, extra_body={key: 1}
    )
    with pytest.raises(ConfigError, match=f"extra_body holds {key}, which"):
        make_policy("openai:m", options)


def test_an_extra_body_may_hold_what_no_given_option_sends(server):
    server.evaluate(temperature=None, extra_body={"temperature": 0.3, "seed": 5})
    ((_, _, body),) = server.requests
    assert (body["temperature"], body["seed"]) == (0.3, 5)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"top_p": 0.0}, "top_p is a share above 0"),
        ({"top_p": 1.5}, "top_p is a share above 0"),
        ({"stop": "x"}, "stop is a tuple of texts"),
        ({"stop": ("",)}, "stop is a tuple of texts"),
        ({"sampling_seed": -1}, "sampling_seed is a number from 0"),
        ({"extra_body": {"x": float("nan")}}, "extra_body is JSON data"),
        ({"chat_template_args": {"x": {1}}}, "chat_template_args is JSON data"),
    ],
)
def test_bad_options_are_refused(bad, told):
    with pytest.raises(ConfigError, match=told):
        PolicyOptions(**bad)


@pytest.mark.parametrize(
    ("specs", "given"),
    [
        (["oracle", "random"], {"top_p": 0.5}),
        (["oracle"], {"max_new_tokens": 7}),
        (["openai:m"], {"base_url": "http://127.0.0.1:9/v1", "batch_size": 3}),
        (["constant:1"], {"tools": True}),
        ([], {"retries": 1}),
    ],
)
def test_an_option_that_no_policy_takes_is_an_error(specs, given):
    *_, name = given
    with pytest.raises(ConfigError, match=rf"{name}=.* is for policies of the kind"):
        make_policies(specs, PolicyOptions(**given))


def test_models_that_are_compared_take_the_same_sampling_options():
    options = PolicyOptions(stop=("x",))
    with pytest.raises(ConfigError, match="would be ignored by openai, local"):
        options.check_taken(["openai", "local"])
    options.check_taken(["openai", "oracle"])
    PolicyOptions(top_p=0.5, batch_size=2).check_taken(["openai", "local"])


@pytest.mark.parametrize(("given", "_sent"), OPTIONS[1:])
def test_a_resumed_run_with_other_options_is_refused(server, tmp_path, given, _sent):
    server.evaluate(tmp_path)
    server.evaluate(tmp_path)
    (name,) = given
    with pytest.raises(ConfigError, match=rf"another configuration \(policies.openai:stub.{name}"):
        server.evaluate(tmp_path, **given)
    assert len(server.requests) == 1


def test_options_that_are_not_given_are_not_in_the_configuration(server):
    run = server.evaluate()
    assert set(run.config["policies"]["openai:stub"]) == {
        *("model", "base_url", "temperature", "max_new_tokens", "system_prompt")
    }


def test_secret_headers_are_sent_and_never_stored(server, tmp_path, monkeypatch):
    monkeypatch.setenv("RLVR_TEST_HEADER", "hdr-secret/42")
    given = {"header": ("api-key=RLVR_TEST_HEADER",)}
    server.script = [(400, "bad hdr-secret/42 and hdr-secret\\/42", {}), GOOD]
    server.evaluate(tmp_path, episodes=2, concurrency=1, **given)
    assert [headers["api-key"] for _, headers, _ in server.requests] == ["hdr-secret/42"] * 2
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "bad *** and ***" in written
    assert "hdr-secret" not in written
    assert SECRET not in written


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("api-key", "a header is like 'api-key=MY_VARIABLE'"),
        ("a key=RLVR_TEST_KEY", "a header is like"),
        ("x=", "a header is like"),
        ("Content-Type=RLVR_TEST_KEY", "belongs to the request itself"),
        ("x=RLVR_NO_SUCH", "'RLVR_NO_SUCH' of the header 'x' is empty"),
    ],
)
def test_bad_headers_are_refused(server, text, told):
    with pytest.raises(ConfigError, match=told):
        make_policy("openai:m", server.options(header=(text,)))


# Streams.


def test_a_streamed_reply_is_read_like_a_whole_one(server):
    usage = {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 6}}
    chunks = [
        delta(role="assistant", content=""),
        delta(reasoning="It is "),
        delta(reasoning="one."),
        delta(content="\\boxed"),
        delta(content="{1}"),
        delta(finish="length"),
        usage,
    ]
    data = events(*chunks)
    server.script = [streamed([data[i : i + 7] for i in range(0, len(data), 7)])]
    (record,) = server.evaluate(stream=True).records
    assert (record["answer"], record["finish"]) == ("1", "length")
    assert record["reasoning"] == "It is one."
    assert (record["prompt_tokens"], record["tokens"], record["attempts"]) == (4, 6, 1)


def test_a_server_that_does_not_stream_is_read_too(server):
    (record,) = server.evaluate(stream=True).records
    assert record["answer"] == "1"


@pytest.mark.parametrize("more", [False, True])
def test_a_stream_may_stay_open_after_its_end(server, more):
    def pieces():
        yield events(delta(content="\\boxed{1}", finish="stop"))
        while not server.stopped.wait(0.0 if more else 60.0):
            yield b": keep-alive\n\n"

    server.script = [lambda body: streamed(pieces())]
    (record,) = server.evaluate(stream=True, timeout_s=30.0).records
    assert record["answer"] == "1"


def test_streams_share_a_connection(server):
    server.script = [streamed(events(delta(content="\\boxed{1}", finish="stop")))]
    server.evaluate(stream=True, episodes=3, concurrency=1)
    assert len(server.requests) == 3
    assert len(set(server.clients)) == 1


def test_an_error_is_read_even_if_it_calls_itself_a_stream(server):
    server.script = [(400, "prompt too long", {"Content-Type": "text/event-stream"})]
    (record,) = server.evaluate(stream=True).records
    assert record["verdict"]["detail"] == "HTTP 400: prompt too long"


BROKEN = [
    events(delta(content="\\boxed{2}"), done=False),
    b"data: {oops\n\n",
    b'data: {"error": {"message": "overloaded"}}\n\n',
    b"",
]


@pytest.mark.parametrize("data", BROKEN)
def test_a_stream_that_breaks_is_asked_again(server, data):
    server.script = [streamed(data), streamed(events(delta(content="\\boxed{1}")))]
    (record,) = server.evaluate(stream=True).records
    assert (record["answer"], record["attempts"], len(server.requests)) == ("1", 2, 2)


def test_a_connection_that_breaks_within_a_stream_is_asked_again(server):
    status, data, headers = streamed(events(delta(content="\\boxed{2}"), done=False))
    short = (status, [data], headers | {"Content-Length": "9999"})
    server.script = [short, streamed(events(delta(content="\\boxed{1}")))]
    (record,) = server.evaluate(stream=True).records
    assert (record["answer"], record["attempts"]) == ("1", 2)


@pytest.mark.parametrize("endless", [b": keep-alive\n\n", events(delta(content=""), done=False)])
def test_a_stream_without_end_meets_the_deadline(server, endless):
    def pieces():
        while not server.stopped.is_set():
            yield endless

    server.script = [lambda body: streamed(pieces())]
    (record,) = server.evaluate(stream=True, timeout_s=0.3, retries=0).records
    assert record["verdict"]["status"] == "policy_error"
    assert "no answer within 0.3 s" in record["verdict"]["detail"]


@pytest.mark.parametrize("piece", [b"x" * 4096, events(delta(content="x" * 4096), done=False)])
def test_a_stream_that_would_fill_the_memory_is_given_up(server, monkeypatch, piece):
    monkeypatch.setattr(endpoint_module, "MAX_REPLY_BYTES", 1 << 16)
    server.script = [lambda body: streamed(itertools.repeat(piece))]
    (record,) = server.evaluate(stream=True, timeout_s=60.0, retries=0).records
    assert record["verdict"]["status"] == "policy_error"
    assert "too long" in record["verdict"]["detail"]


@pytest.mark.parametrize("event", ['{"error": "x"}', '{"choices": [7, "x"]}', "{not JSON x"])
@pytest.mark.parametrize("before", [0, 80, 185, 195, 245, 255])
def test_no_part_of_a_key_in_a_stream_is_recorded(server, tmp_path, before, event):
    data = event.replace("x", "x" * before + SECRET)
    server.script = [streamed(f"data: {data}\n\n".encode())]
    server.evaluate(tmp_path, stream=True, retries=0)
    text = (tmp_path / "episodes.jsonl").read_text()
    assert "xx" in text or "***" in text
    assert not any(SECRET[:length] in text for length in range(4, len(SECRET) + 1))


# Reasoning.


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_from_what_is_judged(server, tmp_path, name):
    server.script = [message(content="It is \\boxed{7}", **{name: "I think \\boxed{8}"})]
    server.evaluate(tmp_path)
    (record,) = stored(tmp_path)
    assert (record["response"], record["answer"]) == ("It is \\boxed{7}", "7")
    assert record["reasoning"] == "I think \\boxed{8}"


def test_reasoning_alone_says_nothing(server, tmp_path):
    server.script = [message(content=None, reasoning="\\boxed{1}")]
    run = server.evaluate(tmp_path)
    (record,) = stored(tmp_path)
    assert (record["response"], record["verdict"]["status"]) == ("", "unparsable")
    assert record["reasoning"] == "\\boxed{1}"
    assert run.summary["overall"][0].unscored == 0


def test_reasoning_of_several_turns_is_a_list_and_is_not_sent_back(server, tmp_path):
    server.script = [message(content="x", reasoning_content="hm"), message(content="y")]
    server.evaluate(tmp_path, task="EvalHotCold-v0")
    (record,) = stored(tmp_path)
    assert record["reasoning"] == ["hm", "", ""]
    assert server.requests[1][2]["messages"][1] == {"role": "assistant", "content": "x"}


@pytest.mark.parametrize("odd", [7, ["x"], {"text": "x"}, ""])
def test_reasoning_that_is_no_text_is_left_out(server, tmp_path, odd):
    server.script = [message(content="\\boxed{1}", reasoning=odd)]
    server.evaluate(tmp_path)
    assert "reasoning" not in stored(tmp_path)[0]


# Tokens and retries.


def counted(text, prompt_tokens, tokens):
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens}
    return 200, json.dumps({"choices": [choice], "usage": usage}), {}


def test_tokens_of_all_turns_and_retries_reach_the_summary(server):
    server.script = [counted("x", 10, 1), (503, "", {}), counted("y", 20, 2), counted("z", 40, 4)]
    run = server.evaluate(task="EvalHotCold-v0")
    (record,) = run.records
    assert (record["prompt_tokens"], record["tokens"], record["attempts"]) == (70, 7, 4)
    (group,) = run.summary["overall"]
    assert (group.prompt_tokens, group.tokens, group.retries) == (70, 7, 1)
    assert 0 < group.waited_s == record["waited_s"]
    assert run.summary.to_json()["levels"]["overall"][0]["retries"] == 1


def test_the_attempts_of_a_failed_episode_are_counted(server):
    server.script = [counted("x", 10, 1), (503, "", {})]
    run = server.evaluate(task="EvalHotCold-v0", retries=2)
    (record,) = run.records
    assert (record["verdict"]["status"], record["attempts"]) == ("policy_error", 4)
    assert run.summary["overall"][0].retries == 2


@pytest.mark.parametrize(
    "usage", [None, 7, [], {"completion_tokens": "3"}, {"completion_tokens": -1}]
)
def test_a_server_that_does_not_count_tokens(server, usage):
    choice = {"message": {"content": "\\boxed{1}"}}
    server.script = [(200, json.dumps({"choices": [choice], "usage": usage}), {}), GOOD]
    (record,) = server.evaluate().records
    assert record["scored"]
    assert record.get("tokens", 3) == 3


def test_a_request_that_is_refused_after_retries_counts_them(server):
    server.script = [(503, "", {}), (400, "too long", {})]
    run = server.evaluate()
    assert run.records[0]["attempts"] == 2
    assert run.summary["overall"][0].retries == 1


def test_a_run_with_a_folder_keeps_texts_on_disk_alone(server, tmp_path):
    server.script = [called("act", {"text": "5"}, reasoning="hm")]
    run = server.evaluate(tmp_path, task="EvalHotCold-v0", tools=True)
    texts = {"response", "reasoning", "tool_calls", "beside_calls"}
    assert texts <= stored(tmp_path)[0].keys()
    assert not texts & run.records[0].keys()


# Tools.


def called(name, arguments, identity="c1", **fields):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return message(
        tool_calls=[{"id": identity, "type": "function", "function": function}], **fields
    )


def as_call(action, number):
    """Return a step that makes the call of a search task's action."""
    call = parse_action(action, "tags")
    argument = {"search": "query", "open": "page", "find": "text", "answer": "answer"}[call.tool]
    return called(call.tool, {argument: call.text}, f"c{number}", content=f"step {number}")


@pytest.mark.parametrize("stream", [False, True])
def test_a_search_task_is_played_by_tool_calls(server, tmp_path, stream):
    asked = {"difficulty": 0, "episodes": 1}
    evaluate("ChainSearch-v0", "oracle", out=tmp_path / "oracle", **asked)
    (oracle,) = stored(tmp_path / "oracle")
    actions = oracle["response"]
    assert len(actions) > 2
    server.script = [as_call(action, i) for i, action in enumerate(actions)]
    if stream:
        server.script = [as_events(step) for step in server.script]
    options = server.options(tools=True, stream=stream)
    evaluate("ChainSearch-v0", "openai:stub", out=tmp_path / "run", options=options, **asked)
    (record,) = stored(tmp_path / "run")
    assert record["verdict"] == oracle["verdict"]
    assert (record["response"], record["verdict"]["status"]) == (actions, "correct")
    assert [len(calls) for calls in record["tool_calls"]] == [1] * len(actions)
    assert record["tool_calls"][0][0]["id"] == "c0"
    assert record["beside_calls"] == [f"step {i}" for i in range(len(actions))]

    names = [each["function"]["name"] for each in server.requests[0][2]["tools"]]
    assert names == ["search", "open", "find", "answer"]
    messages = server.requests[-1][2]["messages"]
    assert [each["role"] for each in messages] == ["user"] + ["assistant", "tool"] * (
        len(actions) - 1
    )
    for i, (said, result) in enumerate(zip(messages[1::2], messages[2::2], strict=True)):
        assert said["content"] == f"step {i}"
        assert said["tool_calls"] == record["tool_calls"][i]
        assert result["tool_call_id"] == f"c{i}"
        assert result["content"].startswith("<information>")

    recorded = f"recorded:{tmp_path / 'run' / 'episodes.jsonl'}"
    again = evaluate("ChainSearch-v0", recorded, **asked)
    assert again.summary["overall"][0].solved.mean == 1.0


def as_events(step):
    """Return the step with its message streamed, the arguments in two parts."""
    said = json.loads(step[1])["choices"][0]["message"]
    (call,) = said["tool_calls"]
    function = call["function"]
    first = {"index": 0, **call, "function": function | {"arguments": function["arguments"][:5]}}
    rest = {"index": 0, "function": {"arguments": function["arguments"][5:]}}
    return streamed(
        events(
            delta(content=said["content"]),
            delta(tool_calls=[first]),
            delta(tool_calls=[rest]),
            delta(finish="tool_calls"),
        )
    )


def test_a_game_without_tools_of_its_own_is_played_by_act(server, tmp_path):
    server.script = [called("act", {"text": "5"}), called("act", {"text": "6"})]
    server.evaluate(tmp_path, task="EvalHotCold-v0", tools=True)
    (record,) = stored(tmp_path)
    assert record["response"] == ["5", "6", "6"]
    assert [each["function"]["name"] for each in server.requests[0][2]["tools"]] == ["act"]
    assert server.requests[1][2]["messages"][2]["content"] == "colder"


def test_bad_calls_cost_a_turn_each(server, tmp_path):
    odd = {"id": "c", "type": "function", "function": {"name": "act", "arguments": "{oops"}}
    server.script = [
        called("guess", {"text": "5"}),
        message(tool_calls=[odd]),
        message(content="a text is an action"),
    ]
    server.evaluate(tmp_path, task="EvalHotCold-v0", tools=True)
    (record,) = stored(tmp_path)
    assert record["response"] == ["", "", "a text is an action"]
    assert record["tool_calls"][1] == [odd]
    assert record["verdict"]["detail"] == "the limit of 3 turns is reached"
    messages = server.requests[2][2]["messages"]
    assert messages[2]["content"].startswith("The call was not run: there is no tool 'guess'")
    assert messages[2]["content"].endswith("\ncolder")
    assert messages[3]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_bad_call_of_a_search_task_costs_a_call(server, tmp_path):
    server.script = [called("serch", {"query": "x"}), called("answer", {"answer": "x"})]
    server.evaluate(tmp_path, task="ChainSearch-v0", tools=True)
    (record,) = stored(tmp_path)
    assert record["verdict"]["parts"]["malformed"] == 1.0
    assert record["verdict"]["parts"]["calls"] == 1.0


def test_calls_that_nobody_offered_are_not_read(server, tmp_path):
    server.script = [called("act", {"text": "5"}, content="4")]
    server.evaluate(tmp_path, task="EvalHotCold-v0")
    (record,) = stored(tmp_path)
    assert record["response"] == ["4"] * 3
    assert "tool_calls" not in record


@pytest.mark.parametrize("calls", [7, "act", {"name": "act"}, [7], [{}]])
def test_calls_that_are_none_are_asked_for_again(server, calls):
    server.script = [message(tool_calls=calls), called("act", {"text": "5"})]
    run = server.evaluate(task="EvalHotCold-v0", tools=True)
    assert run.records[0]["attempts"] == run.records[0]["turns"] + 1
