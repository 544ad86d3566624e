"""What the clients' tests run on: a tokenizer of bytes, a tiny model, and a player of a game."""

import re

TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer(template):
    """One token a byte, and those of Qwen3's chats."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=bare,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        padding_side="left",
    )
    made.add_tokens(TAGS)
    made.chat_template = template
    return made


def tiny_llama(words):
    """A model of random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    return LlamaForCausalLM(config)


def guess(text, place):
    """Play GuessNumber by halves at even places, by what was said; say nothing of use at others."""
    low, high = map(int, re.search(r"from (\d+) to (\d+), both", text).groups())
    if place % 2:
        return "I give up"
    told = re.findall(
        r"boxed\{(\d+)\}(?:(?!boxed).)*?(larger|smaller)", text.split("counts")[1], re.S
    )
    for number, way in told:
        low, high = (int(number) + 1, high) if way == "larger" else (low, int(number) - 1)
    return rf"\boxed{{{(low + high) // 2}}}"
