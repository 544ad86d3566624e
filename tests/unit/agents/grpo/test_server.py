"""The server's client against a stub of vLLM's completions in a thread."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request
from rlvr_envs.core.errors import ConfigError

pytest.importorskip("httpx")

from rlvr_envs.agents.grpo.sampling.server import ServerError, ServerOptions, ServerSampler

END = 1
QUICK = {"first_wait_s": 0.001, "attempts": 3}


def counting(body):
    """A model that goes on counting from the prompt's last token and then ends."""
    last = body["prompt"][-1]
    tokens = [last + 1, last + 2, END][: body["max_tokens"]]
    return {
        "choices": [
            {
                "token_ids": tokens,
                "prompt_token_ids": body["prompt"],
                "logprobs": {"token_logprobs": [-0.5 * token for token in tokens]},
                "finish_reason": "stop" if tokens[-1] == END else "length",
            }
        ]
    }


class Stub:
    """Answers by ``answer(body)``: an object, text, or a status to fail with."""

    def __init__(self):
        self.answer = counting
        self.seen = []
        self.paths = []
        self.keys = []
        lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    stub.seen.append(body)
                    stub.paths.append(self.path)
                    stub.keys.append(self.headers.get("Authorization"))
                    answer = stub.answer(body)
                status = answer if isinstance(answer, int) else 200
                data = answer if isinstance(answer, str) else json.dumps(answer)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(data.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def stub():
    stub = Stub()
    yield stub
    stub.close()


def sampler(stub, **options):
    return ServerSampler(stub.url, "m", {END}, options=ServerOptions(**QUICK | options))


def test_completions_come_in_the_requests_order(stub):
    requests = [Request((9, n), 2 + n % 2) for n in range(20, 32)]
    completions = sampler(stub, concurrency=5).generate(requests)
    for request, completion in zip(requests, completions, strict=True):
        n = request.prompt[-1]
        tokens = (n + 1, n + 2, END)[: request.max_tokens]
        logps = tuple(-0.5 * token for token in tokens)
        assert completion == Completion(tokens, logps, finished=request.max_tokens == 3)
    assert len(stub.seen) == 12


def test_what_is_asked_leaves_no_choice_to_the_server_s_own_settings(stub):
    sampler(stub, tempered=True).generate([Request((4, 5), 3)], temperature=0.7)
    body = stub.seen[0]
    wanted = {"model": "m", "prompt": [4, 5], "max_tokens": 3, "temperature": 0.7, "n": 1}
    neutral = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    ids = {"return_token_ids": True, "logprobs": 1, "stop_token_ids": [END]}
    assert (wanted | neutral | ids).items() <= body.items()
    assert stub.paths == ["/v1/completions"]


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_the_address_may_name_the_version_or_not(stub, ending):
    ServerSampler(stub.url + ending, "m", {END}).generate([Request((4,), 3)])
    assert stub.paths == ["/v1/completions"]


def test_seeds_differ_by_request_and_repeat(stub):
    requests = [Request((4,), 3)] * 4
    client = sampler(stub, concurrency=1)
    for seed in (7, 7, 8):
        client.generate(requests, seed=seed)
    seeds = [body["seed"] for body in stub.seen]
    assert seeds[:4] == seeds[4:8]
    assert len(set(seeds)) == 8
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_ids_in_the_place_of_tokens_do_as_well(stub):
    def answer(body):
        reply = counting(body)
        choice = reply["choices"][0]
        choice["logprobs"]["tokens"] = [f"token_id:{t}" for t in choice.pop("token_ids")]
        return reply

    stub.answer = answer
    assert sampler(stub).generate([Request((4,), 3)])[0].tokens == (5, 6, END)


def test_what_passes_is_tried_again(stub):
    answers = iter([503, 429, counting])
    stub.answer = lambda body: answer(body) if callable(answer := next(answers)) else answer
    assert sampler(stub).generate([Request((4,), 3)])[0].tokens == (5, 6, END)
    assert len(stub.seen) == 3
    assert len({json.dumps(body) for body in stub.seen}) == 1


def test_what_does_not_pass_is_an_error_of_the_server(stub):
    stub.answer = lambda _: 500
    with pytest.raises(ServerError, match="3 attempts: HTTP 500"):
        sampler(stub).generate([Request((4,), 3)])
    assert len(stub.seen) == 3


def test_no_server_is_an_error_of_the_server():
    stub = Stub()
    stub.close()
    with pytest.raises(ServerError, match="ConnectError"):
        sampler(stub).generate([Request((4,), 3)])


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_the_server_refuses_is_not_tried_again(stub, status):
    stub.answer = lambda _: status
    with pytest.raises(ConfigError, match=f"HTTP {status}"):
        sampler(stub).generate([Request((4,), 3)])
    assert len(stub.seen) == 1


def change(**fields):
    def answer(body):
        reply = counting(body)
        reply["choices"][0].update(fields)
        return reply

    return answer


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (change(token_ids=None), "no token ids"),
        (change(token_ids=None, logprobs={"tokens": ["a", "b"]}), "no token ids"),
        (change(logprobs=None), "log-probability of each"),
        (change(logprobs={"token_logprobs": [-1.0, None, -1.0]}), "log-probability of each"),
        (change(logprobs={"token_logprobs": [-1.0, 0.5, -1.0]}), "log-probability of each"),
        (change(prompt_token_ids=[5]), "another prompt"),
        (change(token_ids=[5, 6, 7], finish_reason="length"), None),
        (change(token_ids=[5, END, 7]), "goes on after"),
        (lambda _: {"choices": []}, "no completion"),
        (lambda _: "<html>", "no completion"),
    ],
)
def test_answers_that_cannot_be_trained_on(stub, answer, says):
    stub.answer = answer
    if says is None:
        assert not sampler(stub).generate([Request((4,), 3)])[0].finished
        return
    with pytest.raises(ConfigError, match=says):
        sampler(stub).generate([Request((4,), 3)])


def test_an_end_token_that_is_left_out_is_noticed(stub):
    stub.answer = change(token_ids=[5, 6], logprobs={"token_logprobs": [-1.0, -1.0]})
    with pytest.raises(ConfigError, match="without an end token"):
        sampler(stub).generate([Request((4,), 3)])


def test_other_temperatures_need_a_server_that_says_its_log_probabilities_are_theirs(stub):
    with pytest.raises(ConfigError, match="processed_logprobs"):
        sampler(stub).generate([Request((4,), 3)], temperature=0.5)
    assert not stub.seen
    assert sampler(stub).generate([Request((4,), 3)], temperature=0)


def test_training_needs_a_way_to_hand_weights_over(stub):
    with pytest.raises(ConfigError, match="do not change by themselves"):
        sampler(stub).update()
    called = []
    sampler(stub, update=lambda: called.append(1)).update()
    assert called == [1]
    stub.answer = lambda _: {}
    sampler(stub, update=f"{stub.url}/reload").update()
    assert stub.paths == ["/reload"]


def test_a_key_is_sent_along(stub, monkeypatch):
    monkeypatch.setenv("A_KEY", "secret")
    sampler(stub, api_key_env="A_KEY").generate([Request((4,), 3)])
    assert stub.keys == ["Bearer secret"]


@pytest.mark.parametrize(
    ("request_", "says"), [(Request((), 3), "token"), (Request((4,), 0), "max")]
)
def test_what_cannot_be_sampled_is_refused(stub, request_, says):
    with pytest.raises(ConfigError, match=says):
        sampler(stub).generate([request_])
    assert not stub.seen


def test_a_malformed_address_is_refused():
    with pytest.raises(ConfigError, match="URL"):
        ServerSampler("localhost:8000", "m", {END})


def test_nothing_asked_is_nothing_answered(stub):
    assert sampler(stub).generate([]) == []
