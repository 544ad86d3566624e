"""Models, tokenizer and workload of `grpo.py`: random weights, and lengths from a fixed list."""

import argparse
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from rlvr_envs.agents.grpo.sampling.sampler import Request
from rlvr_envs.core.seeding import integer, integers, stream

# One for a look on the CPU; SmolLM2-135M's shape; and a Llama in Qwen2.5-1.5B's.
SIZES: dict[str, dict[str, Any]] = {
    "toy": {
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    "135m": {
        "vocab_size": 49_152,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "tie_word_embeddings": True,
    },
    "1.5b": {
        "vocab_size": 151_936,
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "tie_word_embeddings": True,
    },
}
PAD, END = 0, 1
_PAD, _END = "<pad>", "<end>"
NEVER = 1e-9  # the probability of an end that is switched off


@dataclass
class Workload:
    """A step's groups of episodes.

    Attributes:
        size: the name of the model's size.
        device: where it computes.
        groups: their number.
        group_size: the episodes of each.
        prompt: tokens of a prompt, at most; half of it at least.
        tokens: tokens of an episode, at most.
        slots: rows that are decoded at a time.
        micro_tokens: tokens that are trained on at a time, padding included.
        steps: whole steps that are timed in a round.
    """

    size: str
    device: str
    groups: int
    group_size: int
    prompt: int
    tokens: int
    slots: int
    micro_tokens: int
    steps: int

    @classmethod
    def of(cls, args: argparse.Namespace) -> "Workload":
        """Return what the command line says."""
        return cls(**{name: getattr(args, name) for name in cls.__dataclass_fields__})

    @property
    def episodes(self) -> int:
        """All of a step."""
        return self.groups * self.group_size

    @property
    def gpu(self) -> bool:
        """Whether it runs on one."""
        return self.device == "cuda"

    @property
    def low(self) -> torch.dtype:
        """The precision of computing."""
        return torch.bfloat16 if self.gpu else torch.float32

    @cached_property
    def prompts(self) -> list[tuple[int, ...]]:
        """A prompt for each group."""
        rng = stream("benchmark grpo", "prompts")
        highest = SIZES[self.size]["vocab_size"] - 1
        lengths = [integer(rng, max(2, self.prompt // 2), self.prompt) for _ in range(self.groups)]
        return [tuple(integers(rng, 2, highest, length)) for length in lengths]

    @cached_property
    def limits(self) -> list[int]:
        """How long each episode is: a third of the most on average, and some the most."""
        rng = stream("benchmark grpo", "lengths")
        shares = [min(1.0, float(rng.exponential(1 / 3))) for _ in range(self.episodes)]
        found = [max(1, round(self.tokens * share)) for share in shares]
        found[0] = self.tokens
        return found

    @cached_property
    def requests(self) -> list[Request]:
        """An episode each, group after group."""
        prompts = [prompt for prompt in self.prompts for _ in range(self.group_size)]
        pairs = zip(prompts, self.limits, strict=True)
        return [Request(prompt, limit) for prompt, limit in pairs]

    @cached_property
    def answers(self) -> list[tuple[int, ...]]:
        """Random tokens of the requests' lengths, to train on."""
        rng = stream("benchmark grpo", "answers")
        highest = SIZES[self.size]["vocab_size"] - 1
        return [tuple(integers(rng, 2, highest, limit)) for limit in self.limits]

    def texts(self) -> list[str]:
        """Return the prompts as text that `make_tokenizer` reads back."""
        return [" ".join(f"w{token}" for token in prompt) for prompt in self.prompts]

    def model(self, dtype: torch.dtype, *, end: float = NEVER, checkpointing: bool = False) -> Any:
        """Return a Llama with the same random weights at each call.

        Args:
            dtype: of its weights.
            end: the probability of the end token at each place.
            checkpointing: compute activations twice to save memory.
        """
        config = LlamaConfig(
            **SIZES[self.size],
            max_position_embeddings=self.prompt + self.tokens,
            bos_token_id=None,
            eos_token_id=END,
            pad_token_id=PAD,
        )
        torch.manual_seed(0)
        with torch.device(self.device):
            model = LlamaForCausalLM(config)
        set_end(model, end)
        if checkpointing:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        return model.to(dtype)


@torch.no_grad()
def set_end(model: Any, probability: float) -> None:
    """Give the end token about that probability at each place.

    The first number of every embedding becomes 1, which no layer reads or changes. So the last norm
    gives the head a number that hardly depends on the tokens before, and the end token's row of the
    head reads nothing else.
    """
    head = model.get_output_embeddings().weight
    model.get_input_embeddings().weight[:, 0] = 1.0
    head[:, 0] = 1.0
    head[END] = 0.0
    for layer in model.model.layers:
        layer.input_layernorm.weight[0] = layer.post_attention_layernorm.weight[0] = 0.0
        layer.self_attn.o_proj.weight[0] = layer.mlp.down_proj.weight[0] = 0.0
    model.model.norm.weight[0] = 0.1
    ids = torch.randint(END + 1, head.shape[0], (8, 16), device=head.device)
    states = model.model(ids).last_hidden_state
    others = (states @ head[END + 1 :].T).logsumexp(-1).mean()
    odds = math.log(probability / (1 - probability))
    head[END, 0] = (odds + float(others)) / float(states[..., 0].mean())


def make_tokenizer(size: str) -> Any:
    """Return a tokenizer whose words are ``w2``, ``w3`` and so on, one for each token."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {_PAD: PAD, _END: END}
    words |= {f"w{token}": token for token in range(END + 1, SIZES[size]["vocab_size"])}
    core = Tokenizer(models.WordLevel(words, unk_token=_PAD))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token=_PAD, eos_token=_END)
