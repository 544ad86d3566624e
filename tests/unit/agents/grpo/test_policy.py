"""Log-probabilities against the plain forward pass, and loading."""

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.model import policy  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"  # peft 0.21 reads it
)
torch.set_num_threads(1)
VOCAB = 50
LENGTHS = (9, 5, 1, 7)


def llama(dtype=torch.float64, **settings):
    torch.manual_seed(0)
    sizes = {
        "vocab_size": VOCAB,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 64,
        "initializer_range": 0.5,
    }
    config = transformers.LlamaConfig(**{**sizes, **settings})
    return transformers.LlamaForCausalLM(config).to(dtype)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(policy, "CHUNK", 4)


@pytest.fixture
def data():
    """Ids and attention, padded on the right."""
    torch.manual_seed(1)
    ids = torch.randint(0, VOCAB, (len(LENGTHS), max(LENGTHS)))
    attention = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return ids, attention


def plain(model, ids, attention, temperature=1.0):
    """Each sequence by itself, unpadded, all logits at once."""
    logps = torch.zeros(ids.shape, dtype=torch.float64)
    entropies = torch.zeros(ids.shape, dtype=torch.float64)
    for row, (tokens, there) in enumerate(zip(ids, attention, strict=True)):
        places = there.nonzero()[:, 0]
        if len(places) < 2:
            continue
        logits = model(input_ids=tokens[places][None]).logits[0, :-1].double() / temperature
        scores = logits.log_softmax(-1)
        logps[row, places[1:]] = scores.gather(-1, tokens[places[1:], None])[:, 0]
        entropies[row, places[1:]] = -(scores.exp() * scores).sum(-1)
    return logps, entropies


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def assert_same(model, ids, attention, temperature=1.0):
    """Values to 1e-12 and gradients to 1e-10, of both outputs."""
    torch.manual_seed(2)
    weights = torch.randn(2, *ids.shape, dtype=torch.float64)
    found = policy.token_logps(model, ids, attention, temperature=temperature, entropy=True)
    wanted = plain(model, ids, attention, temperature)
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    ours = gradients(model, sum((w * x).sum() for w, x in zip(weights, found, strict=True)))
    theirs = gradients(model, sum((w * x).sum() for w, x in zip(weights, wanted, strict=True)))
    assert ours.keys() == theirs.keys()
    assert any(gradient.abs().max() > 0.1 for gradient in theirs.values())
    for name in theirs:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-10)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("tied", [False, True])
def test_values_and_gradients_are_those_of_the_plain_forward(data, tied, temperature):
    model = llama(tie_word_embeddings=tied)
    assert policy._plain_head(model, data[0]) is model.lm_head
    assert_same(model, *data, temperature)


def test_a_head_with_a_bias(data):
    model = llama()
    model.lm_head = torch.nn.Linear(16, VOCAB, bias=True, dtype=torch.float64)
    torch.nn.init.normal_(model.lm_head.bias)
    assert_same(model, *data)


def test_logits_that_the_model_changes_after_its_head(data):
    class Capped(transformers.LlamaForCausalLM):
        def forward(self, *args, **kwargs):
            output = super().forward(*args, **kwargs)
            output.logits = 3 * torch.tanh(output.logits / 3)
            return output

    model = Capped(llama().config).double()
    assert policy._plain_head(model, data[0]) is None
    assert_same(model, *data)


def test_left_padding_and_padding_on_both_sides(data):
    ids, attention = data
    model = llama()
    assert_same(model, ids.flip(1), attention.flip(1))
    attention = attention.clone()
    attention[0, :2] = False
    assert_same(model, ids, attention)


@pytest.mark.parametrize("flipped", [False, True])
def test_padding_has_no_influence(data, flipped):
    ids, attention = (x.flip(1) for x in data) if flipped else data
    model = llama()
    other = torch.where(attention, ids, (ids + 7) % VOCAB)
    found = [policy.token_logps(model, x, attention)[0] for x in (ids, other)]
    assert torch.equal(*found)
    assert (found[0][~attention] == 0).all()
    first, second = (gradients(model, x.sum()) for x in found)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_only_what_is_wanted_goes_through_the_head(data, monkeypatch):
    ids, attention = data
    wanted = torch.zeros_like(attention)
    wanted[0, 4:6] = wanted[1, 4:] = True  # of the second sequence, the rest is padding
    model = llama()
    everything = policy.token_logps(model, ids, attention)[0]
    widths = []
    measure = policy._measure
    monkeypatch.setattr(
        policy, "_measure", lambda x, *rest: widths.append(len(x)) or measure(x, *rest)
    )
    found, entropies = policy.token_logps(model, ids, attention, wanted=wanted)
    assert entropies is None
    assert widths == [3]
    shown = wanted & attention
    torch.testing.assert_close(found[shown], everything[shown], rtol=0, atol=1e-12)
    assert (found[~shown] == 0).all()


def test_no_more_logits_than_a_chunk_exist_and_none_are_kept(data):
    ids, attention = data
    model = llama()
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: sizes.append(x.shape) or x, lambda x: x
    ):
        policy.token_logps(model, ids, attention, entropy=True)
    of_logits = [size for size in sizes if size and size[-1] == VOCAB]
    assert of_logits == [], "the LM head's output is kept for the backward pass"


def test_nothing_to_measure_still_has_a_graph():
    """A worker without work takes part in a backward pass all the same."""
    model = llama()
    found = policy.token_logps(model, torch.tensor([[3]]), torch.tensor([[True]]))[0]
    assert found.tolist() == [[0.0]]
    assert all((g == 0).all() for g in gradients(model, found.sum()).values())


def test_without_gradient_and_after_an_error_the_model_is_as_before(data):
    ids, attention = data
    model = llama()
    with torch.no_grad():
        found = policy.token_logps(model, ids, attention)[0]
    assert not found.requires_grad
    with pytest.raises(IndexError):
        policy.token_logps(model, torch.full_like(ids, VOCAB), attention)
    assert "forward" not in vars(model.lm_head)
    assert model(input_ids=ids).logits.shape == (*ids.shape, VOCAB)
    with pytest.raises(ConfigError, match="temperature is above 0"):
        policy.token_logps(model, ids, attention, temperature=0)


def test_gradient_checkpointing_changes_nothing(data):
    calls = []

    def recomputed(function, *args, **kwargs):
        calls.append(1)
        return torch.utils.checkpoint.checkpoint(function, *args, use_reentrant=False, **kwargs)

    model = llama()
    before = gradients(model, policy.token_logps(model, *data)[0].sum())
    for module in model.modules():
        if hasattr(module, "gradient_checkpointing"):
            module.gradient_checkpointing = True
            module._gradient_checkpointing_func = recomputed
    after = gradients(model.train(), policy.token_logps(model, *data)[0].sum())
    assert len(calls) == 2  # one for each layer
    for name in before:
        torch.testing.assert_close(after[name], before[name], rtol=0, atol=1e-12)


def test_autocast_computes_in_bfloat16_and_returns_float32(data):
    model = llama(torch.float32, initializer_range=0.1)
    exact = policy.token_logps(model, *data)[0]
    with torch.autocast("cpu", torch.bfloat16):
        found = policy.token_logps(model, *data)[0]
    assert found.dtype == torch.float32
    assert 0 < (found - exact).abs().max() < 0.1
    wanted = gradients(model, exact.sum())
    for name, gradient in gradients(model, found.sum()).items():
        assert gradient.dtype == torch.float32
        assert (gradient - wanted[name]).norm() < 0.1 * wanted[name].norm() + 1e-3


# The reference


def test_the_reference_stays_until_it_is_synced(data):
    model = llama()
    reference = policy.Reference(model)
    before = reference.logps(*data)
    assert torch.equal(before, policy.token_logps(model, *data)[0])
    assert reference.state_dict() == {}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.1)
    assert torch.equal(reference.logps(*data), before)
    reference.sync(model.state_dict())
    now = policy.token_logps(model, *data)[0]
    assert torch.equal(reference.logps(*data), now)
    other = policy.Reference(llama())
    other.load_state_dict(reference.state_dict())
    assert torch.equal(other.logps(*data), now)


def test_the_reference_of_a_model_with_adapters(data, tmp_path):
    pytest.importorskip("peft")
    llama(torch.float32).save_pretrained(tmp_path)
    base = llama(torch.float32)
    model = policy._adapted(llama(torch.float32), preset(lora_rank=2)).train()
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert trained
    assert all("lora_" in name and "lm_head" not in name for name in trained)
    reference = policy.Reference(model)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.3)
    now = policy.token_logps(model, *data)[0]
    assert not torch.allclose(now, policy.token_logps(base, *data)[0])
    assert torch.equal(reference.logps(*data), policy.token_logps(base, *data)[0])
    reference.sync(model.state_dict())
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.3)
    later = policy.token_logps(model, *data)[0]
    assert torch.equal(reference.logps(*data), now)
    assert torch.equal(policy.token_logps(model, *data)[0], later)
    assert set(reference.state_dict()) == set(trained)


def test_adapters_get_the_gradients_of_the_plain_forward(data):
    pytest.importorskip("peft")
    model = policy._adapted(llama(), preset(lora_rank=2)).train().double()
    assert_same(model, *data)


def test_adapters_depend_on_the_seed_alone():
    pytest.importorskip("peft")
    torch.manual_seed(5)
    state = torch.get_rng_state()
    adapted = [policy._adapted(llama(), preset(lora_rank=2, seed=s)) for s in (1, 1, 2)]
    first, same, other = (
        torch.cat([p.flatten() for n, p in m.named_parameters() if "lora_A" in n]) for m in adapted
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert not torch.equal(torch.get_rng_state(), state)  # which `llama` itself has set


# Loading


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("model")
    words = {word: i for i, word in enumerate(["<|endoftext|>", "<|im_start|>", "<|im_end|>", "a"])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="a"))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_start|>"
    ).save_pretrained(folder)
    llama(torch.bfloat16, attention_dropout=0.5).save_pretrained(folder)
    return folder


def test_a_folder_is_loaded_ready_to_train(folder, data):
    config = preset(model=str(folder), device="cpu", gradient_checkpointing=True)
    model, tokenizer = policy.load(config)
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert model.training
    assert all(layer.gradient_checkpointing for layer in model.model.layers)
    ids, attention = data
    ids = ids % 4
    first, second = (policy.token_logps(model, ids, attention)[0] for _ in range(2))
    assert torch.equal(first, second)  # no dropout


OF_GGUF = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(path, model, words):
    """Write a Llama as llama.cpp has it: other names, and halves of a head's rows interleaved."""
    gguf = pytest.importorskip("gguf")
    config = model.config
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(64)
    file.add_embedding_length(config.hidden_size)
    file.add_block_count(config.num_hidden_layers)
    file.add_feed_forward_length(config.intermediate_size)
    file.add_head_count(config.num_attention_heads)
    file.add_head_count_kv(config.num_key_value_heads)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_rope_freq_base(10_000.0)
    file.add_vocab_size(config.vocab_size)
    file.add_tokenizer_model("gpt2")
    file.add_token_list(words)
    file.add_token_types([3, 3, 3] + [1] * (len(words) - 3))  # three special ones
    file.add_token_merges(["a b"])
    file.add_eos_token_id(2)
    for name, weight in model.state_dict().items():
        values = weight.float().numpy()
        if name.startswith("model.layers."):
            place, _, inner = (
                name.removeprefix("model.layers.").removesuffix(".weight").partition(".")
            )
            short = OF_GGUF[inner]
            if short in heads:
                halves = values.reshape(heads[short], 2, -1, config.hidden_size)
                values = halves.swapaxes(1, 2).reshape(values.shape).copy()
            file.add_tensor(f"blk.{place}.{short}.weight", values)
        elif name != "lm_head.weight":  # which is tied
            whole = {"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm"}
            file.add_tensor(f"{whole[name]}.weight", values)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def test_a_gguf_file_is_loaded_and_can_be_saved(tmp_path):
    pytest.importorskip("accelerate")  # with which transformers reads such files
    words = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "b", "ab", "Ġ", "c"]
    original = llama(torch.float32, vocab_size=len(words), hidden_size=32, tie_word_embeddings=True)
    write_gguf(tmp_path / "model.gguf", original, words)
    model, tokenizer = policy.load(preset(model=str(tmp_path / "model.gguf"), device="cpu"))
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|endoftext|>")
    assert tokenizer("ab c")["input_ids"] == [5, 6, 7]
    assert model.lm_head.weight is model.model.embed_tokens.weight
    model.save_pretrained(tmp_path / "saved")
    saved = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "saved")
    for other in (model, saved):
        assert all(map(torch.equal, original.parameters(), other.parameters()))


def test_a_folder_is_loaded_with_adapters(folder, data):
    pytest.importorskip("peft")
    model, _ = policy.load(preset(model=str(folder), device="cpu", lora_rank=2))
    found = gradients(model, policy.token_logps(model, *data)[0].sum())
    assert found
    assert all("lora_" in name for name in found)


def test_the_tiny_model_is_made_of_the_texts():
    pytest.importorskip("rlvr_envs.agents.grpo.model.tiny")
    model, tokenizer = policy.load(preset(device="cpu", seed=3), lambda: ["1 + 2 = 3"] * 4)
    ids = torch.tensor([tokenizer("1 + 2 = 3")["input_ids"]])
    assert policy.token_logps(model, ids, torch.ones_like(ids))[0][0, 1:].max() < 0
    assert model.training


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "none.gguf"}, "no model file"),
        ({"model": "./none"}, "no model folder"),
        ({"device": "abacus"}, r"device is Literal\[.auto., .cpu., .cuda.\], got .abacus."),
        ({"lora_rank": -1}, "lora_rank is 0"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_loaded(settings, told, monkeypatch):
    monkeypatch.setattr(policy, "load_model", None)
    with pytest.raises(ConfigError, match=told):
        policy.load(preset(**settings), None)


def test_a_missing_gpu_or_package_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="needs a GPU"):
        policy.check(preset(device="cuda"))
    policy.check(preset(device="auto"))
    monkeypatch.setattr(policy, "find_spec", lambda name: None if name == "peft" else object())
    policy.check(preset())
    with pytest.raises(DependencyError, match="needs peft: pip install 'peft>="):
        policy.check(preset(lora_rank=4))


def test_detached_entropies_are_the_same_without_a_gradient(data):
    model, (ids, attention) = llama(), data
    logps, entropies = policy.token_logps(model, ids, attention, entropy="detached")
    _, wanted = policy.token_logps(model, ids, attention, entropy=True)
    assert torch.equal(entropies, wanted.detach())
    found = gradients(model, logps.sum() + entropies.sum())
    alone, _ = policy.token_logps(model, ids, attention)
    for name, gradient in gradients(model, alone.sum()).items():
        assert torch.equal(found[name], gradient)
