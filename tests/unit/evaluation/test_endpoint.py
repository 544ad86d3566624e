"""The HTTP policy against a server of our own on this machine."""

import gzip
import threading
import time
from email.utils import formatdate

import pytest
from fakes.scripted_chat import completion

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.evaluation import PolicyOptions, evaluate, make_policy
from rlvr_envs.evaluation import endpoint as endpoint_module

pytest.importorskip("httpx")

from rlvr_envs.evaluation.endpoint import Pace, retry_after

SECRET = "sk-very-secret-1234"


@pytest.fixture
def server(chat_server, monkeypatch):
    monkeypatch.setenv("RLVR_TEST_KEY", SECRET)
    return chat_server


def test_a_request_holds_prompt_settings_and_key(server):
    run = server.evaluate(temperature=0.5, max_new_tokens=77, system_prompt="Be brief.")
    ((path, headers, body),) = server.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("stub", 0.5, 77)
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"].startswith("What is ")
    (record,) = run.records
    assert (record["scored"], record["finish"], record["tokens"]) == (True, "stop", 3)


@pytest.mark.parametrize(
    "trouble",
    [
        (429, "slow down", {"Retry-After": "0"}),
        (500, "oops", {}),
        (503, "<html>", {}),
        (200, "{not json", {}),
        (200, "[]", {}),
        (200, '{"choices": []}', {}),
        (200, '{"choices": [{"message": {"content": [1]}}]}', {}),
        (200, "[" * 100_000, {}),
    ],
)
def test_what_may_pass_is_tried_again(server, trouble):
    server.script = [trouble, trouble, (200, completion("\\boxed{1}"), {})]
    (record,) = server.evaluate().records
    assert record["scored"]
    assert len(server.requests) == 3


def test_retry_after_is_honoured(server):
    wait = {"Retry-After": "1"}
    server.script = [(429, "slow down", wait), (200, completion("\\boxed{1}"), {})]
    server.evaluate()
    first, second = server.times
    assert second - first >= 1.0


def test_too_long_a_retry_after_is_not_waited_for(server):
    server.script = [(429, "tomorrow", {"Retry-After": "86400"})]
    (group,) = server.evaluate().summary["overall"]
    assert (group.unscored, len(server.requests)) == (1, 1)


def test_a_slow_server_times_out_unscored(server):
    def slow(body):
        time.sleep(1.5)
        return 200, completion("\\boxed{1}"), {}

    server.script = [slow]
    run = server.evaluate(timeout_s=0.2, retries=1)
    (group,) = run.summary["overall"]
    assert (group.unscored, group.score.mean, len(server.requests)) == (1, None, 2)
    assert group.statuses == {"policy_error": 1}


def test_an_endless_reply_is_given_up_before_it_fills_the_memory(server, monkeypatch):
    monkeypatch.setattr(endpoint_module, "MAX_REPLY_BYTES", 1 << 20)
    server.script = [(200, completion("x" * (1 << 21)), {}), (200, completion("\\boxed{1}"), {})]
    records = server.evaluate(retries=1).records
    assert [r["scored"] for r in records] == [True]
    assert len(server.requests) == 2
    server.script = [(200, completion("x" * (1 << 21)), {})]
    (record,) = server.evaluate(retries=0).records
    assert record["verdict"]["status"] == "policy_error"


def test_a_compressed_reply_is_not_expanded(server):
    bomb = gzip.compress(b" " * (1 << 26))
    server.script = [(200, bomb, {"Content-Encoding": "gzip"})]
    (record,) = server.evaluate(retries=0).records
    assert record["verdict"]["status"] == "policy_error"
    assert "compressed" in record["verdict"]["detail"]
    assert server.requests[0][1]["Accept-Encoding"] == "identity"


def test_nobody_listening_is_unscored():
    options = PolicyOptions(base_url="http://127.0.0.1:9/v1", retries=0)
    run = evaluate("EvalPlus-v0", "openai:m", episodes=2, options=options)
    assert run.summary["overall"][0].unscored == 2


def test_a_bad_request_is_not_repeated(server):
    server.script = [(400, "prompt too long", {}), (200, completion("\\boxed{1}"), {})]
    run = server.evaluate(episodes=2, concurrency=1)
    assert len(server.requests) == 2
    assert run.summary["overall"][0].unscored == 1


def test_the_renamed_token_limit_is_learnt(server):
    def picky(body):
        if "max_tokens" in body:
            return 400, "use max_completion_tokens instead", {}
        return 200, completion("\\boxed{1}"), {}

    server.script = [picky]
    run = server.evaluate(episodes=3, concurrency=1)
    assert run.summary["overall"][0].unscored == 0
    assert len(server.requests) == 4


def test_an_empty_answer_is_the_models(server):
    server.script = [(200, completion(None, "length"), {})]
    (record,) = server.evaluate().records
    assert (record["scored"], record["verdict"]["status"]) == (True, "unparsable")
    assert record["finish"] == "length"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_ends_the_run_and_is_written_nowhere(server, tmp_path, status):
    server.script = [
        (200, completion("\\boxed{1}"), {}),
        (status, f"no such key: {SECRET}", {}),
    ]
    with pytest.raises(ConfigError, match="refuses 'stub'") as refused:
        server.evaluate(tmp_path, episodes=5, concurrency=1)
    assert SECRET not in str(refused.value)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written["episodes.jsonl"].count("\n") == 1
    assert SECRET not in "".join(written.values())


def test_an_echoed_key_is_not_recorded(server, tmp_path):
    server.script = [(400, f"bad key {SECRET}", {})]
    server.evaluate(tmp_path)
    text = (tmp_path / "episodes.jsonl").read_text()
    assert "bad key ***" in text
    assert SECRET not in text


@pytest.mark.parametrize("before", [0, 190, 295])
@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_part_of_an_echoed_key_is_recorded(server, tmp_path, status, before):
    server.script = [(status, "x" * before + SECRET, {})]
    server.evaluate(tmp_path, retries=0)
    text = (tmp_path / "episodes.jsonl").read_text()
    assert "xx" in text or "***" in text
    assert not any(SECRET[:length] in text for length in range(4, len(SECRET) + 1))


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY holds no API key"):
        make_policy("openai:m")


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://h/v1", "http://u:p@h/v1", "http://h/v1?key=x"]
)
def test_bad_addresses_are_refused(url):
    with pytest.raises(ConfigError, match="base URL"):
        make_policy("openai:m", PolicyOptions(base_url=url))


def test_requests_run_side_by_side_up_to_the_limit(server):
    gate, most, now, lock = threading.Barrier(3), [0], [0], threading.Lock()

    def meet(body):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait(timeout=60)  # passes only if three requests are here at once
        with lock:
            now[0] -= 1
        return 200, completion("\\boxed{1}"), {}

    server.script = [meet]
    run = server.evaluate(episodes=6, concurrency=3)
    assert run.summary["overall"][0].unscored == 0
    assert most[0] == 3


def test_the_rate_limit_spaces_requests(server):
    server.evaluate(episodes=4, concurrency=4, requests_per_minute=300.0)
    times = sorted(server.times)
    assert times[-1] - times[0] >= 3 * 0.2 - 0.05  # arrival may jitter by a little


def test_interactive_episodes_send_the_whole_chat(server):
    server.script = [(200, completion("x"), {})]
    evaluate("EvalHotCold-v0", "openai:stub", episodes=1, options=server.options())
    assert [len(body["messages"]) for _, _, body in server.requests] == [1, 3, 5]
    assert server.requests[1][2]["messages"][2] == {"role": "user", "content": "colder"}


def test_half_a_surrogate_pair_goes_back_and_forth(server):
    server.script = [(200, completion("\ud800"), {})]
    run = evaluate("EvalHotCold-v0", "openai:stub", episodes=1, options=server.options())
    assert [r["verdict"]["status"] for r in run.records] == ["wrong"]
    assert server.requests[1][2]["messages"][1]["content"] == "\ud800"


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_a_key_that_no_header_can_hold_is_refused(monkeypatch, key):
    monkeypatch.setenv("RLVR_TEST_KEY", key)
    options = PolicyOptions(base_url="http://127.0.0.1:1/v1", api_key_env="RLVR_TEST_KEY")
    with pytest.raises(ConfigError, match="RLVR_TEST_KEY") as refused:
        make_policy("openai:m", options)
    assert key not in str(refused.value)


def test_retry_after_reads_numbers_and_dates():
    assert retry_after("2.5", 0.0) == 2.5
    assert retry_after(formatdate(1000.0, usegmt=True), 990.0) == 10.0
    assert retry_after(formatdate(1000.0, usegmt=True), 2000.0) == 0.0
    for nothing in (None, "", "soon", "-3", "nan"):
        assert retry_after(nothing, 0.0) == 0.0


def test_a_pause_holds_back_later_requests(monkeypatch):
    import asyncio

    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(endpoint_module.asyncio, "sleep", sleep)
    pace = Pace(0.0)
    asyncio.run(pace.turn())
    assert slept == []
    pace.pause(30)
    asyncio.run(pace.turn())
    assert 29 < slept[0] <= 30


def test_many_requests_at_once_learn_the_renamed_token_limit(server):
    gate = threading.Barrier(3)

    def picky(body):
        if "max_tokens" in body:
            gate.wait(timeout=60)  # until three requests have the old name
            return 400, "use max_completion_tokens instead", {}
        return 200, completion("\\boxed{1}"), {}

    server.script = [picky]
    run = server.evaluate(episodes=3, concurrency=3)
    assert run.summary["overall"][0].unscored == 0
    assert run.summary["overall"][0].retries == 3
