"""TRL's side of `grpo.py`: its `GRPOTrainer` samples, trains, and takes whole steps.

Sampling is the trainer's own `_generate_single_turn`, and the update is its `compute_loss`, both of
which are internals of TRL 1.16; whole steps are `GRPOTrainer.train()`.

TRL has one limit of tokens for all rows. Its plain `generate` runs until the longest row is done,
so a limit for each row would save it nothing, and it is told the longest. Continuous batching would
gain by rows that end: transformers' manager takes a limit for each request, which TRL does not
pass, and is handed our list here. Only tokens up to the lengths count, as on our side.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from grpo_clock import Clock, installed
from grpo_models import PAD, Workload, make_tokenizer
from grpo_ours import reward

VERSION = "1.16."
# On the CPU; on a GPU TRL takes half of the memory, and of a CPU's that takes seconds to fill.
SMALL = {"max_memory_percent": 0.01, "max_batch_tokens": 256}


def why_not() -> str:
    """Return what keeps TRL from being measured, or nothing."""
    found = installed("trl") if find_spec("trl") else None
    if found is None:
        return "trl is not installed"
    if not found.startswith(VERSION):
        return f"internals of TRL {VERSION}x are used, and here is {found}"
    return "" if find_spec("datasets") else "datasets is not installed"


def load() -> None:
    """Import what is slow to import."""
    from trl.trainer import grpo_trainer  # noqa: F401


def rows_of(work: Workload) -> int:
    """Return the rows of a micro-batch: as many as our micro-batches have room for at the most."""
    most = max(1, work.micro_tokens // (work.prompt + work.tokens))
    return next(n for n in range(min(most, work.episodes), 0, -1) if not work.episodes % n)


def make_trainer(work: Workload, model: Any, **settings: Any) -> Any:
    """Return a trainer with the settings that `grpo_ours.configuration` has as well."""
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

    rows = rows_of(work)
    args = GRPOConfig(
        output_dir=str(Path(tempfile.gettempdir()) / "rlvr-grpo-benchmark"),  # stays empty
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=work.episodes // rows,
        num_generations=work.group_size,
        max_completion_length=work.tokens,
        max_steps=1 + work.steps,
        learning_rate=1e-6,
        lr_scheduler_type="constant",
        adam_beta2=0.95,
        max_grad_norm=1.0,
        loss_type="dapo",
        scale_rewards="none",
        epsilon=0.2,
        epsilon_high=0.28,
        beta=0.0,
        bf16=work.gpu,
        use_cpu=not work.gpu,
        shuffle_dataset=False,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        transformers_continuous_batching_config=None if work.gpu else SMALL,
        **settings,
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=paid,
        args=args,
        train_dataset=Dataset.from_dict({"prompt": work.texts()}),
        processing_class=make_tokenizer(work.size),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def paid(completions: list[str], **_: Any) -> list[float]:
    """Return the rewards of texts."""
    return [reward(text) for text in completions]


class Sampling:
    """`_generate_single_turn`, with weights in the precision of computing."""

    def __init__(self, work: Workload, *, batching: bool) -> None:
        self.work, self.batching = work, batching
        self.notes: dict[str, Any] = {}
        self.trainer = make_trainer(
            work,
            work.model(work.low),
            gradient_checkpointing=False,
            use_transformers_continuous_batching=batching,
        )
        self.prompts = [list(request.prompt) for request in work.requests]

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        work = self.work
        torch.manual_seed(seed)
        with limited(work.limits):
            clock.mark()
            completions, _ = self.trainer._generate_single_turn(
                self.prompts, None, {}, work.group_size
            )
            clock.mark()
        lengths = [len(completion) for completion in completions]
        self.notes = {"sampled": sum(lengths)}
        return [sum(map(min, lengths, work.limits))]


@contextmanager
def limited(limits: list[int]) -> Iterator[None]:
    """Give continuous batching a limit of tokens for each request, by the requests' numbers."""
    from transformers.generation.continuous_batching import ContinuousBatchingManager as Manager

    add_request = Manager.add_request

    def add(self: Any, **named: Any) -> Any:
        number = int(named["request_id"].removeprefix("req_"))
        return add_request(self, **named | {"max_new_tokens": limits[number]})

    with mock.patch.object(Manager, "add_request", add):
        yield


class Update:
    """TRL's loss and an optimiser step on the batch that ours gets, padded as TRL pads it."""

    def __init__(self, work: Workload, *, checkpointing: bool) -> None:
        self.work = work
        self.notes: dict[str, Any] = {}
        model = work.model(torch.float32, checkpointing=checkpointing)
        self.trainer = make_trainer(work, model, gradient_checkpointing=checkpointing)
        self.trainer.create_optimizer()
        self.trainer.current_gradient_accumulation_steps = work.episodes // rows_of(work)
        self.model = model.train()
        prompts, prompt_mask = padded([r.prompt for r in work.requests], left=True)
        answers, answer_mask = padded(work.answers, left=False)
        whole = {
            "prompt_ids": prompts,
            "prompt_mask": prompt_mask,
            "completion_ids": answers,
            "completion_mask": answer_mask,
            "advantages": torch.tensor([place % 2 - self.mean for place in range(work.episodes)]),
        }
        whole = {name: values.to(work.device) for name, values in whole.items()}
        items = torch.tensor(sum(work.limits), device=work.device)
        rows = rows_of(work)
        self.parts = [
            {name: values[at : at + rows] for name, values in whole.items()}
            | {"num_items_in_batch": items}
            for at in range(0, work.episodes, rows)
        ]

    @property
    def mean(self) -> float:
        """The mean reward of a group whose rewards alternate."""
        return self.work.group_size // 2 / self.work.group_size

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        trainer, model = self.trainer, self.model
        clock.mark()
        for part in self.parts:
            trainer.compute_loss(model, part).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), trainer.args.max_grad_norm)
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()
        clock.mark()
        self.notes = {"grad_norm": float(norm)}
        return [sum(map(len, self.work.answers)) + sum(len(r.prompt) for r in self.work.requests)]


def padded(rows: list[tuple[int, ...]], *, left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows as (B, T), filled up on one side, and the mask of what is in them."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), PAD)
    mask = torch.zeros_like(ids)
    for row, places, tokens in zip(ids, mask, rows, strict=True):
        where = slice(width - len(tokens), None) if left else slice(len(tokens))
        row[where] = torch.tensor(tokens)
        places[where] = 1
    return ids, mask


class Steps:
    """`GRPOTrainer.train()`, timed from the end of one step to the end of the next."""

    def __init__(
        self,
        work: Workload,
        *,
        end: float,
        dtype: torch.dtype = torch.float32,
        **settings: Any,
    ) -> None:
        self.work, self.end, self.dtype, self.settings = work, end, dtype, settings
        self.notes: dict[str, Any] = {}

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        from transformers import TrainerCallback

        tokens: list[int] = []
        sampling: list[float] = []

        class Marks(TrainerCallback):  # type: ignore[misc]
            def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                clock.mark()
                tokens.append(state.num_input_tokens_seen)

        model = self.work.model(self.dtype, end=self.end)
        trainer = make_trainer(self.work, model, **self.settings)
        trainer.add_callback(Marks())
        with timed(trainer, sampling):
            trainer.train()
        # The first step is the warm-up: the clock runs from its end.
        self.notes = {"sample_s": round(sum(sampling[1:]) / self.work.steps, 4)}
        counts = [after - before for before, after in pairwise(tokens)]
        return [round(count) for count in counts]


@contextmanager
def timed(trainer: Any, seconds: list[float]) -> Iterator[None]:
    """Take down how long each sampling of a trainer takes; it ends by waiting for the device."""
    generate = trainer._generate_single_turn

    def run(*given: Any) -> Any:
        began = time.perf_counter()
        found = generate(*given)
        seconds.append(time.perf_counter() - began)
        return found

    with mock.patch.object(trainer, "_generate_single_turn", run):
        yield
