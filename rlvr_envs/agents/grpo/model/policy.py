"""The model that is trained: loading it, and the log-probabilities of tokens under it.

B sequences have T tokens each. The logits of all of them would take B·T·V numbers, for a vocabulary
of V several times what the rest of the model takes. They never exist at once here: the model's own
head is applied to `CHUNK` tokens at a time, and again while gradients are computed.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint
from rlvr_envs.evaluation.local_model import find_model, load_model, pick_device
from rlvr_envs.evaluation.policy import PolicyOptions

# Tokens whose logits exist at once: 0.2 GB in float32 for a vocabulary of 49,152.
CHUNK = 1024

TINY = "tiny"

# Whether a model's logits are its head's output unchanged, found out once for each.
_plain_heads: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()


def check(config: Config) -> None:
    """Find out, without loading anything, what would keep `load` from working.

    Raises:
        ConfigError: there is no such model or device, or a number is out of range.
        DependencyError: a package is missing.
    """
    if config.policy.lora_rank < 0:
        raise ConfigError(f"lora_rank is 0 (all weights) or more, got {config.policy.lora_rank}")
    files = None if config.policy.model == TINY else find_model(config.policy.model)
    if config.policy.reference and config.needs_reference:
        find_model(config.policy.reference)
    needed = {"transformers": "train"}  # and the extra that brings it
    if files is not None and files.gguf is not None:
        needed |= {"accelerate": "train", "gguf": "train"}  # what such a file is read with
    if config.policy.lora_rank:
        needed["peft"] = "lora"
    for package, extra in needed.items():
        if find_spec(package) is None:
            raise DependencyError(
                f"training {config.policy.model!r} needs {package}: {hint(extra)}"
            )
    pick_device(config.policy.device)


def load(config: Config, texts: Callable[[], Sequence[str]] = tuple) -> tuple[Any, Any]:
    """Return the model, with float32 weights and ready to train, and its tokenizer.

    There is no dropout: the probabilities that are trained on are those that were sampled from.

    Args:
        config: says which model, where, and with how many low-rank adapters.
        texts: what the tokenizer of the model ``tiny`` is made from; not called for others.

    Raises:
        ConfigError: the model cannot be loaded, or there is no such device.
        DependencyError: a package is missing.
    """
    check(config)
    device = pick_device(config.policy.device)
    if config.policy.model == TINY:
        from rlvr_envs.agents.grpo.model.tiny import tiny_model

        model, tokenizer = tiny_model(texts(), seed=config.seed)
        model = model.to(device)
    else:
        options = PolicyOptions(device=device, dtype="float32")
        model, tokenizer = load_model(config.policy.model, options)
    _drop_nothing(model)
    if config.policy.lora_rank:
        model = _adapted(model, config)
    if config.policy.gradient_checkpointing:
        enable = getattr(model, "activation_checkpointing_enable", None)  # since transformers 5
        (enable or model.gradient_checkpointing_enable)({"use_reentrant": False})
    return model.train(), tokenizer


def _drop_nothing(model: Any) -> None:
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        for name in ("dropout", "attention_dropout"):  # numbers that attention reads
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)


def _adapted(model: Any, config: Config) -> Any:
    """Return the model with adapters (LoRA, arXiv 2106.09685) on all linear layers but the head."""
    from peft import LoraConfig, get_peft_model  # type: ignore[import-untyped,unused-ignore]

    # A scale of alpha / rank = 2, whatever the rank.
    lora = LoraConfig(
        r=config.policy.lora_rank,
        lora_alpha=2 * config.policy.lora_rank,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)  # every worker makes the same adapters
        return get_peft_model(model, lora)


def unwrapped(model: Any) -> Any:
    """Return the model that ``DistributedDataParallel`` holds, or the model itself."""
    parallel = torch.nn.parallel.DistributedDataParallel
    return model.module if isinstance(model, parallel) else model


def token_logps(
    model: Any,
    ids: Tensor,
    attention: Tensor,
    *,
    wanted: Tensor | None = None,
    temperature: float = 1.0,
    entropy: bool | Literal["detached"] = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the log-probability of each token given those before it, and entropies if asked.

    Both are (B, T), in nats, float32 (float64 for a float64 model), with gradients unless under
    ``no_grad``. ``[:, t]`` belongs to ``ids[:, t]``: its log-probability, and the entropy of the
    distribution that it is drawn from. They are 0 where nothing was asked for: at the first token,
    at padding, outside of ``wanted``.

    A model whose logits are not its head's plain output (it caps or scales them) is computed with
    all logits at once.

    Args:
        model: a causal language model of transformers; wrapped by peft or for several workers too.
        ids: (B, T) token ids, padded on either side.
        attention: (B, T), false at padding.
        wanted: (B, T), true where log-probabilities are of interest; everywhere if None.
        temperature: what logits are divided by.
        entropy: whether to compute entropies; "detached" ones have no gradient, and take less
            memory.

    Raises:
        ConfigError: the temperature is not above 0.
    """
    if not temperature > 0:
        raise ConfigError(f"a temperature is above 0, got {temperature}")
    attention = attention.bool()
    asked = attention if wanted is None else attention & wanted.bool()
    rows, columns = (asked[:, 1:] & attention[:, :-1]).nonzero(as_tuple=True)
    targets = ids[rows, columns + 1]

    def measured(states: Tensor, project: Callable[[Tensor], Tensor]) -> Tensor:
        """Return (B, T, 2), log-probability and entropy, from the states before the tokens."""

        def part(states: Tensor, targets: Tensor) -> Tensor:
            return _measure(project(states), targets, temperature, entropy)

        picked = states[rows, columns]
        again = torch.is_grad_enabled() and len(picked) > CHUNK
        parts = [
            checkpoint(part, *pair, use_reentrant=False, preserve_rng_state=False)
            if again
            else part(*pair)
            for pair in zip(picked.split(CHUNK), targets.split(CHUNK), strict=True)
        ]
        values = torch.cat(parts)
        return values.new_zeros(*ids.shape, 2).index_put((rows, columns + 1), values)

    head = _plain_head(model, ids)
    if head is None:
        found = measured(_forward(model, ids, attention), lambda logits: logits)
    else:
        # Inside of the model's own forward, where sharded weights are gathered.
        project = head.forward
        with _replaced(head, lambda states: measured(states, project)):
            found = _forward(model, ids, attention)
    return found[..., 0], found[..., 1] if entropy else None


def _measure(
    logits: Tensor, targets: Tensor, temperature: float, entropy: bool | Literal["detached"]
) -> Tensor:
    """Return (N, 2), the targets' log-probabilities and the entropies, from logits (N, V)."""
    logits = logits if logits.dtype == torch.float64 else logits.float()
    if temperature != 1.0:
        logits = logits / temperature
    total = logits.logsumexp(-1)
    logps = logits.gather(-1, targets[:, None])[:, 0] - total
    if entropy:
        with torch.set_grad_enabled(torch.is_grad_enabled() and entropy != "detached"):
            entropies = total - (logits.softmax(-1) * logits).sum(-1)
    else:
        entropies = torch.zeros_like(logps)
    return torch.stack([logps, entropies], -1)


def _forward(model: Any, ids: Tensor, attention: Tensor) -> Tensor:
    if bool((attention[:, :-1] >= attention[:, 1:]).all()):
        # Padding on the right: no token comes after it, so that causal attention needs no mask,
        # and kernels without one are faster. Positions count from 0.
        extra = {}
    else:
        positions = (attention.long().cumsum(1) - 1).clamp(min=0)
        extra = {"attention_mask": attention.long(), "position_ids": positions}
    return model(input_ids=ids, use_cache=False, **extra).logits


def _plain_head(model: Any, ids: Tensor) -> Any:
    """Return the module that makes the logits, or None if the model changes what it makes."""
    inner = unwrapped(model)
    head = inner.get_output_embeddings()
    if head is None:
        return None
    if inner not in _plain_heads:
        token = ids[:1, :1]
        mark = torch.linspace(100, 101, 2, device=ids.device)[None, None]
        mark = mark + torch.pi  # no number that a shorter float holds
        with torch.no_grad(), _replaced(head, lambda states: mark):
            told = _forward(inner, token, torch.ones_like(token, dtype=torch.bool))
        _plain_heads[inner] = told.shape == mark.shape and bool((told == mark).all())
    return head if _plain_heads[inner] else None


@contextmanager
def _replaced(module: Any, forward: Callable[[Tensor], Tensor]) -> Iterator[None]:
    before = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before


class Reference:
    """The model that a KL penalty measures the distance from: as it was, or as it was last synced.

    Of a model with adapters it is the same model with them switched off, or set to their former
    values; of any other a frozen copy. Make it before the model is wrapped for several workers.
    """

    def __init__(self, model: Any) -> None:
        inner = unwrapped(model)
        self._adapters = hasattr(inner, "disable_adapter")
        self._model = inner if self._adapters else copy.deepcopy(inner).requires_grad_(False).eval()
        # What it was last synced to; empty for the model as it was.
        self._synced: dict[str, Tensor] = {}

    def logps(
        self,
        ids: Tensor,
        attention: Tensor,
        *,
        wanted: Tensor | None = None,
        temperature: float = 1.0,
    ) -> Tensor:
        """Return log-probabilities (B, T) as `token_logps` does, without gradient."""
        with torch.no_grad(), self._set():
            return token_logps(self._model, ids, attention, wanted=wanted, temperature=temperature)[
                0
            ]

    def sync(self, weights: Mapping[str, Tensor]) -> None:
        """Become the model with these weights, its whole state dict (ProRL's reference reset)."""
        if self._adapters:
            names = [name for name, p in self._model.named_parameters() if p.requires_grad]
            self._synced = {name: weights[name].detach().clone() for name in names}
        else:
            self._model.load_state_dict(weights)
            self._synced = self._model.state_dict()

    def follow(self, weights: Mapping[str, Tensor], rate: float) -> None:
        """Move towards these weights, a whole state dict, by a share: (1 - rate) own + rate theirs.

        Adapters are averaged factor by factor, and begin with a product of 0.
        """
        before = self._synced or self._start(weights)
        moved = {
            name: torch.lerp(own, weights[name].detach().to(own), rate)
            if own.is_floating_point()
            else weights[name]
            for name, own in before.items()
        }
        self.sync({**weights, **moved})

    def _start(self, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return what it is before it was ever synced."""
        if not self._adapters:
            whole: dict[str, Tensor] = self._model.state_dict()
            return whole
        trained = [name for name, p in self._model.named_parameters() if p.requires_grad]
        return {
            name: torch.zeros_like(weights[name]) if "lora_B" in name else weights[name]
            for name in trained
        }

    def state_dict(self) -> dict[str, Tensor]:
        """Return what it was last synced to; empty if it never was."""
        return self._synced

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Take what `state_dict` gave, for the same model as it was at the start."""
        if state:
            self.sync(state)

    @contextmanager
    def _set(self) -> Iterator[None]:
        if not self._adapters:
            yield
        elif not self._synced:
            with self._model.disable_adapter():
                yield
        else:
            parameters = dict(self._model.named_parameters())
            kept = {name: parameters[name].detach().clone() for name in self._synced}
            try:
                _fill(parameters, self._synced)
                yield
            finally:
                _fill(parameters, kept)


def load_reference(config: Config, model: Any) -> Reference:
    """Return the reference model that a configuration names, or the model as it is.

    Raises:
        ConfigError: it cannot be loaded, or its vocabulary has another size.
    """
    if not config.policy.reference:
        return Reference(model)
    named = config.replace(model=config.policy.reference, lora_rank=0)
    other, _ = load(named)
    sizes = [each.get_output_embeddings().weight.shape[0] for each in (other, unwrapped(model))]
    if sizes[0] != sizes[1]:
        raise ConfigError(
            f"the reference {config.policy.reference!r} has {sizes[0]} tokens and the model "
            f"{sizes[1]}: a reference has the model's tokenizer"
        )
    return Reference(other)


def _fill(parameters: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, value in values.items():
            parameters[name].copy_(value)
