"""What a trainer of somebody else's is set up with to take part in the benchmark.

The trainers here name their settings as transformers and TRL do, so they share all of this: the
exported experiment, settings equal to those of our own agent's preset ``default``, the count of
what is used, and the checkpoints.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from rlvr_envs.bench.export import read_export
from rlvr_envs.bench.noise import reward
from rlvr_envs.bench.usage import Usage

BETAS = (0.9, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an algorithm may choose; None for what the experiment has for our agent."""

    loss_type: str = "bnpo"
    scale_rewards: str = "none"
    epsilon_high: float = 0.28
    beta: float = 0.0
    group_size: int | None = None
    learning_rate: float | None = None
    warmup: int = 10
    minibatches: int = 1
    epochs: int = 1
    skips_empty: bool = True

    @property
    def updates(self) -> int:
        """Optimiser steps on what a step sampled."""
        return self.minibatches * self.epochs


class Skipping(torch.optim.AdamW):
    """AdamW that takes no step where every gradient is 0, as our agent takes none."""

    def step(self, closure: Any = None) -> Any:
        """Take a step, or none."""
        weights = [weight for group in self.param_groups for weight in group["params"]]
        if any(weight.grad is not None and bool(weight.grad.any()) for weight in weights):
            return super().step(closure)
        return None


class Setup:
    """An exported experiment and how to train on it.

    Args:
        folder: what was exported.
        out: a new folder for the checkpoints.
        seed: of the run; None for the one that was exported.
        chosen: the settings.
    """

    def __init__(self, folder: Path, out: Path, seed: int | None, chosen: Settings) -> None:
        self.job, self.rows = read_export(folder)
        self.out, self.chosen = out, chosen
        self.seed = self.job.seed if seed is None else seed
        start = folder / self.job.start
        self.start = str(start if start.is_dir() else self.job.start)
        self.lines = bool(self.job.chat_template)  # a model that is asked on lines of their own
        self.usage = Usage(
            samples=self.job.samples,
            fractions=self.job.fractions,
            epochs=chosen.epochs,
            clock=time.process_time,
        )

    def rewards(
        self, rows: Sequence[str], texts: Sequence[str], lengths: Iterable[int]
    ) -> list[float | None]:
        """Return what completions earn, and count them with their lengths in tokens."""
        self.usage.count(lengths)
        return [reward(row, text, self.job.noise) for row, text in zip(rows, texts, strict=True)]

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the prompts of the training problems, each with its row as JSON."""
        for row in self.rows:
            yield row["prompt"], json.dumps(row)

    def arguments(self) -> dict[str, Any]:
        """Return the settings that the trainers name alike."""
        job, chosen = self.job, self.chosen
        return {
            "max_steps": job.samples // job.batch * chosen.updates,
            "per_device_train_batch_size": job.batch // chosen.minibatches,
            "steps_per_generation": chosen.minibatches,
            "num_iterations": chosen.epochs,
            "num_generations": chosen.group_size or int(job.settings.get("group_size", 8)),
            "max_completion_length": job.max_tokens,
            "temperature": job.temperature,
            "loss_type": chosen.loss_type,
            "scale_rewards": chosen.scale_rewards,
            "epsilon": 0.2,
            "epsilon_high": chosen.epsilon_high,
            "beta": chosen.beta,
            "max_grad_norm": 1.0,
            "gradient_checkpointing": False,
            "seed": self.seed,
            "use_cpu": True,
            "bf16": False,
            "save_strategy": "no",
            "logging_strategy": "no",
            "report_to": "none",
            "disable_tqdm": True,
        }

    def optimizer(self, model: torch.nn.Module) -> torch.optim.Optimizer:
        """Return what moves the weights of a model."""
        rate = self.chosen.learning_rate or float(self.job.settings["learning_rate"])
        kind = Skipping if self.chosen.skips_empty else torch.optim.AdamW
        return kind(model.parameters(), lr=rate, betas=BETAS, weight_decay=0.0)

    def schedule(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LambdaLR:
        """Return the warm-up, which begins above a rate of 0."""

        def share(update: int) -> float:
            return min(1.0, (update // self.chosen.updates + 1) / (self.chosen.warmup + 1))

        return torch.optim.lr_scheduler.LambdaLR(optimizer, share)


class Save(TrainerCallback):  # type: ignore[misc]
    """Saves the checkpoints that are due, after the last update on what a step sampled."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def on_step_end(self, args: Any, state: Any, control: Any, *, model: Any, **_: Any) -> None:
        """Save."""
        usage = self.setup.usage
        if usage.due and state.global_step % self.setup.chosen.updates == 0:
            with usage.checkpoint(self.setup.out) as folder:
                model.save_pretrained(folder)


def read_command(description: str) -> Setup:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("exported", type=Path, help="a folder that the benchmark exported")
    add("--out", type=Path, required=True, help="a new folder for the checkpoints")
    add("--seed", type=int, help="of the run (default: the one that was exported)")
    plain = Settings()
    add("--loss-type", default=plain.loss_type)
    add("--scale-rewards", default=plain.scale_rewards, choices=("none", "group", "batch"))
    add("--epsilon-high", type=float, default=plain.epsilon_high)
    add("--beta", type=float, default=plain.beta, help="weight of the penalty on the KL divergence")
    add("--group-size", type=int)
    add("--learning-rate", type=float)
    add("--warmup", type=int, default=plain.warmup, help="steps")
    add("--minibatches", type=int, default=plain.minibatches)
    add("--epochs", type=int, default=plain.epochs)
    add("--takes-empty", dest="skips_empty", action="store_false", help="steps without a gradient")
    given = vars(parser.parse_args())
    folder, out, seed = (given.pop(name) for name in ("exported", "out", "seed"))
    return Setup(folder, out, seed, Settings(**given))
