"""A model small enough to learn on a CPU in seconds, made for the tasks at hand.

Its tokenizer is trained on the tasks' own prompts and solutions. It has no chat template: `Chat`
then frames texts by lines.
"""

from collections.abc import Sequence
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import needs

PAD, END = "<pad>", "<end>"
_BYTES = 256  # tokens that every byte-level vocabulary has
# What may become one token: words in a row, since tasks repeat their sentences, but each digit,
# capital, lone letter and sign by itself. A space goes with the words or sign beside it, so that
# a digit or letter is the same token in a prompt and in an answer, which is what copying needs.
_PIECES = r" ?[A-Za-z][a-z]+(?: [a-z]+)* ?| ?[^\sA-Za-z0-9] ?|[A-Za-z]|[0-9]|\s+"
_HEADS = 4


def tiny_model(
    texts: Sequence[str],
    *,
    seed: int,
    hidden: int = 96,
    layers: int = 2,
    vocab: int = 512,
    context: int = 2048,
) -> tuple[Any, Any]:
    """Return a Llama with random float32 weights, and its tokenizer.

    The same arguments give the same weights and tokens; torch's generator is left as it was. With
    the default sizes it has 0.34 million parameters, and fewer where the texts give fewer tokens.

    Args:
        texts: what the tokenizer is trained on, in any order.
        seed: of the weights.
        hidden: the width, a multiple of 8; feed-forward layers are three times as wide.
        layers: their number.
        vocab: the most tokens, at least the 256 bytes and 2 special ones.
        context: the most positions, for what asks the configuration; the weights do not depend
            on it.

    Raises:
        ConfigError: a size is out of range.
        DependencyError: transformers is missing.
    """
    if hidden < 8 or hidden % (2 * _HEADS) or layers < 1:
        raise ConfigError(f"need hidden a multiple of 8 and layers >= 1, got {hidden} and {layers}")
    tokenizer = tiny_tokenizer(texts, vocab=vocab)
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=_HEADS,
        num_key_value_heads=_HEADS,
        max_position_embeddings=context,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config).float()
    return model, tokenizer


def tiny_tokenizer(texts: Sequence[str], *, vocab: int = 512) -> Any:
    """Return a byte-level BPE tokenizer trained on texts; each digit is a token of its own.

    Raises:
        ConfigError: the vocabulary is too small, or there are no texts.
        DependencyError: transformers is missing.
    """
    if vocab < _BYTES + 2 or not texts:
        raise ConfigError(f"need texts and a vocab of {_BYTES + 2} or more, got {vocab}")
    try:
        from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise DependencyError(needs("the tiny model", error, "train")) from error
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=[PAD, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token=PAD, eos_token=END)
