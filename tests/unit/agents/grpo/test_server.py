"""The sampler on a vLLM server, against a fake that has vLLM's routes, and against a scripted one."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("httpx")

from contract.vllm_gates import CONTEXT, END, change, gate, sampling, training  # noqa: E402
from fakes.vllm import FAULTS, serving  # noqa: E402

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request  # noqa: E402
from rlvr_envs.agents.grpo.sampling.vllm.client import ServerError, VllmClient  # noqa: E402
from rlvr_envs.agents.grpo.sampling.vllm.server import VllmSampler  # noqa: E402
from rlvr_envs.agents.grpo.sampling.vllm.transport import FileTransport, named  # noqa: E402
from rlvr_envs.agents.grpo.sampling.weights import weights_of  # noqa: E402
from rlvr_envs.core.errors import ConfigError, DependencyError  # noqa: E402


def make(*, tied=False):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        initializer_range=0.2,
        tie_word_embeddings=tied,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture
def model():
    return make()


@pytest.fixture
def fake(model):
    with serving(model) as fake:
        yield fake


# What a fault of the server leads to.

CAUGHT = {
    "forget": (AssertionError, "log-probabilities differ"),
    "keep_cache": (AssertionError, "log-probabilities differ"),
    "delay": (ServerError, "says that it has"),
    "error": (ServerError, "out of memory"),
}


@pytest.mark.parametrize("kind", ["file", "reload"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_server_with_a_fault_passes_the_gates(fake, model, tmp_path, kind, fault):
    error, says = CAUGHT[fault]
    fake.faults.add(fault)
    with pytest.raises(error, match=says):
        training(model, fake.url, tmp_path, kind)
    fake.faults.clear()
    fake.late = None
    training(model, fake.url, tmp_path, kind, steps=1)  # it was the fault, and nothing stays


def test_an_update_takes_these_steps_in_this_order(fake, model, tmp_path):
    with sampling(fake.url, tmp_path, "file", run="a run") as sampler:
        for version in (0, 1):
            sampler.update(lambda: weights_of(model), version)
    one = [
        ("/pause", {}),
        ("/start_weight_update", {}),
        ("/update_weights", {"update_info": {"path": str(tmp_path / "model.safetensors")}}),
        ("/finish_weight_update", {"weight_version": "a run.0"}),
        ("/reset_prefix_cache", {}),
        ("/weight_info", None),
        ("/resume", {}),
    ]
    other = [
        (path, {"weight_version": "a run.1"} if "finish" in path else body) for path, body in one
    ]
    assert fake.seen == [("/init_weight_transfer_engine", {"init_info": {}}), *one, *other]


def test_nothing_is_sampled_before_the_run_s_weights_are_on_the_server(fake, model, tmp_path):
    with sampling(fake.url, tmp_path, "file") as sampler:
        with pytest.raises(ConfigError, match="also where a run is resumed"):
            sampler.generate([Request((4,), 3)])
        assert not fake.seen
        sampler.update(lambda: weights_of(model), 7)
        gate(model, sampler, 7)


def test_a_prefix_cache_that_cannot_be_emptied_ends_the_update(fake, model, tmp_path):
    fake.on_reset_prefix_cache = lambda *_, **__: {"success": False}
    with sampling(fake.url, tmp_path, "file") as sampler:
        with pytest.raises(ServerError, match="kept its prefix cache"):
            sampler.update(lambda: weights_of(model), 0)
        assert fake.paused


def test_a_server_that_stays_paused_answers_after_the_next_update(fake, model, tmp_path):
    fake.faults.add("error")
    with sampling(fake.url, tmp_path, "file") as sampler:
        with pytest.raises(ServerError, match="stays paused"):
            sampler.update(lambda: weights_of(model), 0)
        assert fake.paused
        fake.faults.clear()
        sampler.update(lambda: weights_of(model), 1)
        assert not fake.paused
        gate(model, sampler, 1)


def test_requests_that_come_late_end_too_when_an_update_fails(fake, model, tmp_path):
    answer, came, late = fake.on_inference_v1_generate, threading.Semaphore(0), (7, 1)

    def delayed(body):
        came.release()
        if tuple(body["token_ids"]) == late:  # on its way while the others are ended
            with fake.change:
                fake.change.wait_for(lambda: fake.aborts)
        return answer(body)

    fake.on_inference_v1_generate = delayed
    with sampling(fake.url, tmp_path, "file") as sampler, ThreadPoolExecutor(1) as pool:
        sampler.update(lambda: weights_of(model), 0)
        fake.faults.add("error")
        sampler._ends = frozenset()
        future = pool.submit(sampler.generate, [Request((7, n), 450) for n in range(2)])
        for _ in range(2):
            came.acquire()
        with pytest.raises(ServerError, match="stays paused"):
            sampler.update(lambda: weights_of(model), 1)
        with pytest.raises(ServerError, match="450 at most"):
            future.result()
    assert fake.aborts > 1


def test_a_worker_that_does_not_send_samples_from_what_another_has_sent(fake, model, tmp_path):
    with (
        sampling(fake.url, tmp_path, "file", run="shared") as first,
        sampling(fake.url, tmp_path, "file", run="shared", sends=False) as second,
    ):
        gathered = []
        for version in range(2):
            first.update(lambda: weights_of(model), version)
            second.update(
                lambda: (gathered.append(pair[0]) or pair for pair in weights_of(model)), version
            )
            gate(model, second, version)
            change(model)
        assert len(gathered) == 2 * len(list(weights_of(model)))  # gathering takes all workers
        first.update(lambda: weights_of(model), 5)
        with pytest.raises(ServerError, match="sampled from the version"):
            second.generate([Request((4,), 3)])


def test_tied_weights_go_once_and_in_the_precision_that_is_asked_for(tmp_path):
    model = make(tied=True)
    names = [name for name, _ in weights_of(model)]
    assert "lm_head.weight" not in names
    assert "model.embed_tokens.weight" in names
    assert len(names) == len(set(names)) == len(list(model.parameters()))
    assert {value.dtype for _, value in weights_of(model, torch.bfloat16)} == {torch.bfloat16}
    with serving(model) as fake:
        training(model, fake.url, tmp_path, "file")
        with pytest.raises(ConfigError, match="tied to the embeddings"):
            training(model, fake.url, tmp_path, "reload")


# What a server was not started with.


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"scale_out": False}, ["--enable-scale-out"]),
        ({"dev_mode": False}, ["VLLM_SERVER_DEV_MODE=1"]),
        ({"logprobs_mode": "raw_logprobs"}, ["processed_logprobs", "raw_logprobs"]),
        ({"backend": None}, ["--weight-transfer-config", "'rlvr_file'", "has None"]),
        ({"backend": "nccl"}, ["'rlvr_file'", "has 'nccl'"]),
        ({"max_model_len": 100}, ["--max-model-len 512", "has 100"]),
        ({"scale_out": False, "max_model_len": 9}, ["--enable-scale-out", "has 9"]),
    ],
)
def test_what_a_server_lacks_is_named(model, tmp_path, settings, says):
    with serving(model, **settings) as fake, sampling(fake.url, tmp_path, "file") as sampler:
        with pytest.raises(ConfigError, match="vllm serve MODEL") as caught:
            sampler.check(CONTEXT)
        assert all(part in str(caught.value) for part in says)


def test_log_probabilities_of_another_temperature_fail_the_gate(model, tmp_path):
    with (
        serving(model, logprobs_mode="raw_logprobs") as fake,
        sampling(fake.url, tmp_path, "file") as sampler,
    ):
        sampler.update(lambda: weights_of(model), 0)
        gate(model, sampler, 0)
        with pytest.raises(AssertionError, match="log-probabilities differ"):
            gate(model, sampler, 0, temperature=0.7)


def test_no_server_is_named_with_how_to_start_one(model, tmp_path):
    with serving(model) as fake:
        url = fake.url
    says = pytest.raises(ServerError, match=r"no server answers.*vllm serve")
    with sampling(url, tmp_path, "file") as sampler, says:
        sampler.check()


def test_transports_have_names(tmp_path):
    client = VllmClient("http://localhost:1")
    assert isinstance(named("file", client, tmp_path), FileTransport)
    with pytest.raises(ConfigError, match="file, reload, nccl, ipc"):
        named("pigeon", client, tmp_path)


def test_a_transport_between_gpus_says_what_it_needs(tmp_path):
    with pytest.raises(DependencyError, match="pip install vllm"):
        named("nccl", VllmClient("http://localhost:1"), tmp_path)


def test_a_folder_that_cannot_be_written_is_a_mistake_of_the_user(fake, model, tmp_path):
    (tmp_path / "file").write_text("")
    says = pytest.raises(ConfigError, match="cannot be written")
    with sampling(fake.url, tmp_path / "file", "reload") as sampler, says:
        sampler.update(lambda: weights_of(model), 0)


# Single answers: a server that follows a script.


class Stub:
    """Answers by ``answer(body)``: an object, text, or a status to fail with."""

    def __init__(self):
        self.answer = counting
        self.seen, self.paths, self.keys = [], [], []
        self.headers = {}
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
                for name, value in stub.headers.items():
                    self.send_header(name, value)
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


def counting(body):
    """A model that goes on counting from the prompt's last token and then ends."""
    last = body["token_ids"][-1]
    tokens = [last + 1, last + 2, END][: body["sampling_params"]["max_tokens"]]
    return {"choices": [choice(tokens)]}


def choice(tokens):
    return {
        "token_ids": tokens,
        "logprobs": {"content": [{"token_id": t, "logprob": -0.5 * t} for t in tokens]},
        "finish_reason": "stop" if tokens[-1] == END else "length",
        "weight_versions": [{"version": "default", "start": 0, "end": len(tokens)}],
    }


def change_of(**fields):
    return lambda body: {"choices": [{**counting(body)["choices"][0], **fields}]}


@pytest.fixture
def stub():
    stub = Stub()
    yield stub
    stub.close()


def fixed(stub, **options):
    client = VllmClient(stub.url, **{"first_wait_s": 0.001, "attempts": 3} | options)
    return VllmSampler(client, {END})


def test_completions_come_in_the_requests_order(stub):
    requests = [Request((9, n), 2 + n % 2) for n in range(20, 32)]
    completions = fixed(stub, connections=5).generate(requests)
    for request, completion in zip(requests, completions, strict=True):
        n = request.prompt[-1]
        tokens = (n + 1, n + 2, END)[: request.max_tokens]
        logps = tuple(-0.5 * token for token in tokens)
        assert completion == Completion(tokens, logps, request.max_tokens == 3, ((0, 0),))
    assert len(stub.seen) == 12


def test_what_is_asked_leaves_no_choice_to_the_server_s_own_settings(stub):
    fixed(stub).generate([Request((4, 5), 3)], temperature=0.7)
    assert stub.paths == ["/inference/v1/generate"]
    assert stub.seen[0]["token_ids"] == [4, 5]
    wanted = {"max_tokens": 3, "temperature": 0.7, "n": 1, "stop_token_ids": [END]}
    neutral = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    plain = {"ignore_eos": True, "logprobs": 0}
    assert (wanted | neutral | plain).items() <= stub.seen[0]["sampling_params"].items()


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_the_address_may_name_the_version_or_not(stub, ending):
    VllmSampler(VllmClient(stub.url + ending), {END}).generate([Request((4,), 3)])
    assert stub.paths == ["/inference/v1/generate"]


def test_what_passes_is_tried_again(stub):
    answers = iter([503, 429, counting])
    stub.answer = lambda body: answer(body) if callable(answer := next(answers)) else answer
    assert fixed(stub).generate([Request((4,), 3)])[0].tokens == (5, 6, END)
    assert len(stub.seen) == 3
    assert len({json.dumps(body) for body in stub.seen}) == 1


def test_what_does_not_pass_is_an_error_of_the_server(stub):
    stub.answer = lambda _: 500
    with pytest.raises(ServerError, match=r"3 attempts.*HTTP 500"):
        fixed(stub).generate([Request((4,), 3)])
    assert len(stub.seen) == 3


def test_no_step_of_an_update_is_done_twice(stub, tmp_path):
    client = VllmClient(stub.url, attempts=3, first_wait_s=0.001)
    stub.answer = lambda _: 503
    with pytest.raises(ServerError, match="1 attempt"):
        FileTransport(client, tmp_path).send([], "0")
    assert stub.paths == ["/start_weight_update"]


@pytest.mark.parametrize("status", [307, 400, 401, 404])
def test_what_the_server_refuses_is_not_tried_again_and_no_redirect_is_followed(stub, status):
    stub.headers["Location"] = stub.url + "/elsewhere"
    stub.answer = lambda _: status
    with pytest.raises(ConfigError, match=f"HTTP {status}"):
        fixed(stub).generate([Request((4,), 3)])
    assert stub.paths == ["/inference/v1/generate"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (change_of(token_ids=None), "no completion"),
        (change_of(logprobs=None), "log-probability of each"),
        (change_of(logprobs={"content": [{"logprob": -1.0}] * 2}), "log-probability of each"),
        (change_of(logprobs={"content": [{"logprob": -9999.0}] * 3}), "log-probability of each"),
        (change_of(logprobs={"content": [{"logprob": 0.5}] * 3}), "log-probability of each"),
        (change_of(**choice([5, END, 7])), "goes on after"),
        (change_of(**choice([5, 6, 7, 8])), "goes on after|without an end token"),
        (change_of(**choice([5, 6])), "without an end token"),
        (lambda _: {"choices": []}, "no completion"),
        (lambda _: "<html>", "no JSON"),
        (lambda _: [], "no completion"),
    ],
)
def test_answers_that_cannot_be_trained_on(stub, answer, says):
    stub.answer = answer
    with pytest.raises(ServerError, match=says):
        fixed(stub).generate([Request((4,), 3)])


@pytest.mark.parametrize(
    "spans",
    [
        None,
        [],
        [("r.3", 0, 2)],
        [("r.3", 1, 3)],
        [("r.3", 0, 2), ("r.3", 1, 3)],
        [("r.3", 0, 1), ("r.3", 2, 3)],
    ],
)
def test_versions_have_to_cover_every_token(stub, tmp_path, spans):
    client = VllmClient(stub.url)
    sampler = VllmSampler(client, {END}, transport=named("reload", client, tmp_path), run="r")
    sampler._version = 3
    stub.answer = change_of(
        weight_versions=spans and [{"version": v, "start": s, "end": e} for v, s, e in spans]
    )
    with pytest.raises(ServerError, match="which weights sampled each of 3 tokens"):
        sampler.generate([Request((4,), 3)])


@pytest.mark.parametrize("label", ["default", "r.2", "r.4", "other.3", "3"])
def test_versions_have_to_be_those_that_were_sent(stub, tmp_path, label):
    client = VllmClient(stub.url)
    sampler = VllmSampler(client, {END}, transport=named("reload", client, tmp_path), run="r")
    sampler._version = 3
    stub.answer = change_of(weight_versions=[{"version": label, "start": 0, "end": 3}])
    with pytest.raises(ServerError, match=f"sampled from the version '{label}'"):
        sampler.generate([Request((4,), 3)])


def test_a_server_without_a_transport_is_for_evaluations_alone(stub):
    with pytest.raises(ConfigError, match="choose a transport"):
        fixed(stub).update(list, 1)


def test_the_key_is_sent_along_and_is_in_no_message(stub, monkeypatch):
    monkeypatch.setenv("A_KEY", "hunter2")
    sampler = fixed(stub, api_key_env="A_KEY")
    sampler.generate([Request((4,), 3)])
    assert stub.keys == ["Bearer hunter2"]
    stub.answer = lambda _: "no hunter2 here"
    with pytest.raises(ServerError) as caught:
        sampler.generate([Request((4,), 3)])
    assert "hunter2" not in str(caught.value)
    assert "***" in str(caught.value)


def test_a_key_that_is_refused_is_in_no_message(model, monkeypatch):
    monkeypatch.setenv("A_KEY", "hunter2")
    with serving(model, key="another") as fake:
        sampler = VllmSampler(VllmClient(fake.url, api_key_env="A_KEY"), {END})
        with pytest.raises(ConfigError, match="HTTP 401") as caught:
            sampler.generate([Request((4,), 3)])
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["a\nb", "ключ"])
def test_a_key_that_cannot_be_one_is_refused(monkeypatch, key):
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(ConfigError, match="A_KEY holds characters"):
        VllmClient("http://localhost:1", api_key_env="A_KEY")


@pytest.mark.parametrize(
    ("request_", "temperature", "says"),
    [
        (Request((), 3), 1.0, "token"),
        (Request((4,), 0), 1.0, "max"),
        (Request((4,), 3), 0.005, "from 0.01 on"),
        (Request((4,), 3), -1.0, "from 0.01 on"),
    ],
)
def test_what_cannot_be_sampled_is_refused(stub, request_, temperature, says):
    with pytest.raises(ConfigError, match=says):
        fixed(stub).generate([request_], temperature=temperature)
    assert not stub.seen


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost:8000", "like 'http://localhost:8000'"),
        ("http://me:secret@localhost:8000", "no password"),
        ("http://localhost:8000?key=secret", "no password"),
    ],
)
def test_a_malformed_address_is_refused_without_its_secret(url, says):
    with pytest.raises(ConfigError, match=says) as caught:
        VllmClient(url)
    assert "secret" not in str(caught.value)


def test_nothing_asked_is_nothing_answered(stub):
    assert fixed(stub).generate([]) == []
