"""The tiny model: what its tokens are, and that the same arguments make the same model."""

import subprocess
import sys

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.chat import Chat  # noqa: E402  (it needs transformers)
from rlvr_envs.agents.grpo.model.tiny import tiny_model, tiny_tokenizer  # noqa: E402

TEXTS = [f"What is {n} + {n * n}, as a number?\n\n- Use A, B." for n in range(40)]
TEXTS += [f"\\boxed{{{n}}}" for n in range(40)]


def pieces(made, text):
    return [made.decode([token]) for token in made(text).input_ids]


def test_words_in_a_row_are_one_token_and_digits_letters_and_signs_their_own():
    made = tiny_tokenizer(TEXTS)
    assert pieces(made, "What is 12 + 144, as a number?\n\n- Use A, B.") == [
        *("What is ", "1", "2", " + ", "1", "4", "4", ", ", "as a number", "?", "\n\n", "- "),
        *("Use ", "A", ", ", "B", "."),
    ]
    assert pieces(made, "\\boxed{12}") == ["\\", "boxed", "{", "1", "2", "}"]


@pytest.mark.parametrize("text", ["", " naïve  ☃\t\r\n end ", "<p> 0.5e-3 'x' </p>", "\x00\x7f"])
def test_any_text_comes_back(text):
    made = tiny_tokenizer(TEXTS)
    chat = Chat(made)
    assert chat.text(chat.action(text)) == text
    assert len(chat.end_tokens) == 1
    assert chat.pad_token not in chat.end_tokens


def test_the_tokenizer_is_the_same_in_every_process_and_for_any_order_of_texts():
    code = (
        "from rlvr_envs.agents.grpo.model.tiny import tiny_tokenizer\n"
        f"print(tiny_tokenizer({TEXTS[::-1]!r}, vocab=300).backend_tokenizer.to_str())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == tiny_tokenizer(TEXTS, vocab=300).backend_tokenizer.to_str()


def test_the_vocabulary_has_the_size_at_most():
    assert len(tiny_tokenizer(TEXTS, vocab=270)) == 270
    assert len(tiny_tokenizer(TEXTS, vocab=5000)) < 400


def weights(**given):
    return tiny_model(TEXTS, **{"seed": 0, "hidden": 32, "layers": 1, **given})[0].state_dict()


def test_the_seed_makes_the_weights_and_the_global_generator_stays():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = weights()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    again, other = weights(), weights(seed=1)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)
    assert all(tensor.dtype == torch.float32 for tensor in first.values())


def test_the_model_fits_its_tokenizer():
    model, made = tiny_model(TEXTS, seed=0, hidden=32, layers=2, context=77)
    assert model.config.vocab_size == len(made)
    assert model.config.max_position_embeddings == 77
    assert len(model.model.layers) == 2
    assert model.generation_config.eos_token_id == made.eos_token_id
    assert model.generation_config.pad_token_id == made.pad_token_id
    ids = torch.tensor([made("What is 1?").input_ids])
    assert model(ids).logits.shape == (*ids.shape, len(made))


def test_the_default_size_is_a_third_of_a_million():
    model, made = tiny_model(TEXTS, seed=0)
    a_token = 2 * 96  # what goes in and what comes out
    n_weights = sum(weight.numel() for weight in model.parameters())
    assert n_weights + (512 - len(made)) * a_token == pytest.approx(340_000, rel=0.02)


@pytest.mark.parametrize("sizes", [{"hidden": 12}, {"hidden": 0}, {"layers": 0}, {"vocab": 257}])
def test_sizes_out_of_range_are_refused(sizes):
    with pytest.raises(ConfigError, match="need"):
        tiny_model(TEXTS, seed=0, **sizes)
    with pytest.raises(ConfigError, match="need texts"):
        tiny_tokenizer([])
