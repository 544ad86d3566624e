"""The simple sampler against forward passes of the same model."""

import math
from collections import Counter

import pytest

from rlvr_envs.agents.grpo.sampling.sampler import Request
from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.sampling.generate import GenerateSampler, cut, pick  # noqa: E402

END, PAD, VOCAB = 1, 0, 24


@pytest.fixture(scope="module")
def llama():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        attention_dropout=0.5,
        initializer_range=0.25,  # logits far from uniform
    )
    return transformers.LlamaForCausalLM(config)


def forward(model, request, tokens, temperature):
    """The tokens' log-probabilities, from one forward pass over the sequence alone."""
    was = model.training
    model.eval()
    with torch.no_grad():
        ids = torch.tensor([(*request.prompt, *tokens)])
        logits = model(input_ids=ids).logits[0, len(request.prompt) - 1 : -1].float()
    model.train(was)
    logps = (logits / temperature).log_softmax(-1)
    return logps.gather(1, torch.tensor(tokens)[:, None])[:, 0]


REQUESTS = [
    Request((5, 6, 7, 8, 9), 9),
    Request((3,), 4),
    Request((4, PAD, END), 7),  # a prompt that holds padding and ends at the end token
    Request((3,), 1),
    Request((5, 6, 7, 8, 9), 6),
]


@pytest.mark.parametrize("temperature", [1.0, 0.6, 1.7])
@pytest.mark.parametrize("batch_size", [64, 2])
def test_log_probabilities_are_the_forward_pass_s(llama, temperature, batch_size):
    sampler = GenerateSampler(llama, {END}, PAD, batch_size=batch_size)
    completions = sampler.generate(REQUESTS, temperature=temperature, seed=3)
    for request, completion in zip(REQUESTS, completions, strict=True):
        wanted = forward(llama, request, completion.tokens, temperature)
        torch.testing.assert_close(torch.tensor(completion.logps), wanted, rtol=0, atol=1e-5)


def test_temperature_zero_takes_the_likeliest_token_with_plain_log_probabilities(llama):
    completions = GenerateSampler(llama, (), PAD).generate(REQUESTS, temperature=0)
    llama.eval()
    for request, completion in zip(REQUESTS, completions, strict=True):
        ids = list(request.prompt)
        for token in completion.tokens:
            with torch.no_grad():
                assert token == llama(input_ids=torch.tensor([ids])).logits[0, -1].argmax()
            ids.append(token)
        wanted = forward(llama, request, completion.tokens, 1.0)
        torch.testing.assert_close(torch.tensor(completion.logps), wanted, rtol=0, atol=1e-5)


def test_each_completion_ends_at_its_limit_or_its_end_token(llama):
    requests = [Request((2, 3), limit) for limit in range(1, 13)] * 4
    completions = GenerateSampler(llama, {END, 5, 6}, PAD).generate(requests, temperature=2.0)
    assert {completion.finished for completion in completions} == {True, False}
    for request, completion in zip(requests, completions, strict=True):
        ends = [token in (END, 5, 6) for token in completion.tokens]
        assert len(completion.tokens) == len(completion.logps)
        if completion.finished:
            assert ends.index(True) == len(ends) - 1
        else:
            assert not any(ends)
            assert len(ends) == request.max_tokens


def test_an_end_token_counts_where_it_is_also_the_padding(llama):
    completions = GenerateSampler(llama, {END}, END).generate([Request((2,), 20)] * 12)
    finished = [completion for completion in completions if completion.finished]
    assert finished
    assert all(completion.tokens.count(END) == 1 for completion in finished)


def test_the_same_seed_gives_the_same_tokens_and_torch_s_own_state_is_left_alone(llama):
    sampler = GenerateSampler(llama, {END}, PAD, batch_size=2)
    before = torch.get_rng_state()
    first = sampler.generate(REQUESTS, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    assert sampler.generate(REQUESTS, seed=1) == first
    assert sampler.generate(REQUESTS, seed=2) != first


def test_draws_follow_the_model_s_distribution(llama):
    request = Request((7, 8), 1)
    completions = GenerateSampler(llama, {END}, PAD, batch_size=500).generate(
        [request] * 2000, temperature=0.2, seed=5
    )
    counts = Counter(completion.tokens[0] for completion in completions)
    wanted = [math.exp(forward(llama, request, (token,), 0.2)) for token in range(VOCAB)]
    assert chi_square(counts, wanted) < 49.7  # 23 degrees of freedom, one in a thousand


def chi_square(counts, wanted):
    """Those that are expected fewer than five times count as one."""
    total = counts.total()
    cells = [(counts[i], total * p) for i, p in enumerate(wanted) if total * p >= 5]
    rest = [total - sum(column) for column in zip(*cells, strict=True)]
    if rest[1] >= 1:
        cells.append(tuple(rest))
    return sum((found - mean) ** 2 / mean for found, mean in cells)


def test_pick_never_takes_what_has_no_probability():
    logits = torch.tensor([[0.0, -torch.inf, 1.0]])
    noise = torch.tensor([[1.0, 0.0, 1.0]])  # the noise that favours the middle one most
    tokens, logps = pick(logits, 1.0, noise)
    assert tokens.tolist() == [2]
    assert logps.item() == pytest.approx(1 - math.log(1 + math.e))


def test_the_model_s_own_settings_of_generation_do_not_count(llama):
    wanted = GenerateSampler(llama, {END}, PAD).generate(REQUESTS, seed=4)
    kept = llama.generation_config
    own = transformers.GenerationConfig(
        top_k=1, repetition_penalty=3.0, eos_token_id=list(range(2, 9)), max_length=3, num_beams=2
    )
    llama.generation_config = own
    try:
        assert GenerateSampler(llama, {END}, PAD).generate(REQUESTS, seed=4) == wanted
        assert llama.generation_config is own
    finally:
        llama.generation_config = kept


def test_the_model_is_left_as_it_was(llama):
    llama.train()
    llama.model.layers[0].eval()
    llama.lm_head.weight.requires_grad_(False)
    try:
        modes = [module.training for module in llama.modules()]
        GenerateSampler(llama, {END}, PAD).generate(REQUESTS[:1])
        assert [module.training for module in llama.modules()] == modes
        assert not llama.lm_head.weight.requires_grad
        assert llama.model.norm.weight.requires_grad
        assert torch.is_grad_enabled()
    finally:
        llama.lm_head.weight.requires_grad_(True)
        llama.train()


def test_dropout_is_off_while_sampling(llama):
    llama.train()
    completion = GenerateSampler(llama, {END}, PAD).generate(REQUESTS[:1], seed=9)[0]
    wanted = forward(llama, REQUESTS[0], completion.tokens, 1.0)
    torch.testing.assert_close(torch.tensor(completion.logps), wanted, rtol=0, atol=1e-5)


def test_bf16_by_autocast_stays_near_the_forward_pass(llama):
    completion = GenerateSampler(llama, (), PAD, dtype=torch.bfloat16).generate(REQUESTS[:1])[0]
    wanted = forward(llama, REQUESTS[0], completion.tokens, 1.0)
    gap = (torch.tensor(completion.logps) - wanted).abs()
    assert 1e-5 < gap.mean() < 0.2


@pytest.mark.parametrize(
    ("request_", "temperature", "says"),
    [
        (Request((), 1), 1.0, "at least one token"),
        (Request((3,), 0), 1.0, "max_tokens"),
        (Request((3,), 64), 1.0, "context of 64"),
        (Request((3, VOCAB), 4), 1.0, "vocabulary"),
        (Request((3,), 4), -1.0, "temperature"),
        (Request((3,), 4), math.nan, "temperature"),
    ],
)
def test_what_cannot_be_sampled_is_refused(llama, request_, temperature, says):
    with pytest.raises(ConfigError, match=says):
        GenerateSampler(llama, {END}, PAD).generate([request_], temperature=temperature)


def test_nothing_asked_is_nothing_answered(llama):
    assert GenerateSampler(llama, {END}, PAD).generate([]) == []


def test_cut_keeps_the_first_end_token():
    completion = cut([4, 9, 5, 9], [-1.0, -2.0, -3.0, -4.0], 3, frozenset({9}))
    assert (completion.tokens, completion.logps, completion.finished) == (
        (4, 9),
        (-1.0, -2.0),
        True,
    )
    assert cut([4, 5, 9], [0.0] * 3, 2, frozenset({9})).tokens == (4, 5)
