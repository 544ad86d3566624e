"""The model that a vLLM server has to serve in the contract; as a program, writes it to a folder."""

import os
import sys

import torch
import transformers
from contract.vllm_gates import CONTEXT, END

TIED = bool(os.environ.get("RLVR_VLLM_TIED"))  # the head to the embeddings


def make(*, tied=TIED):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,  # the least that vLLM's attention takes
        max_position_embeddings=CONTEXT,
        initializer_range=0.1,
        eos_token_id=END,
        tie_word_embeddings=tied,
    )
    return transformers.LlamaForCausalLM(config).eval()


if __name__ == "__main__":
    make().save_pretrained(sys.argv[1])
