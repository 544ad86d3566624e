"""TRL's GRPOTrainer on an experiment of the benchmark, at the settings of our own agent.

    python benchmarks/bench_trl.py EXPORTED --out CHECKPOINTS --seed 0

EXPORTED is what `rlvr_envs.bench.export.export` wrote. `rlvr_envs.bench.score.score_checkpoints`
makes a run of CHECKPOINTS. The defaults are those of our preset ``default``::

    ours                                        TRL's
    estimator="dr_grpo"                         scale_rewards="none" ("group" for "grpo")
    loss="clipped(low=0.2, high=0.28)"          epsilon=0.2, epsilon_high=0.28
    aggregation="token_mean"                    loss_type="bnpo" ("grpo" for "sequence_mean",
                                                "dr_grpo" for "constant_length")
    correction="truncate"                       nothing: it samples with the weights it trains
    minibatches, epochs                         steps_per_generation, num_iterations
    no step where nothing has an advantage      an optimiser that leaves such steps out; TRL's
                                                would go on by its momentum
    betas=(0.9, 0.95), warmup=10                an optimiser and a schedule that are handed over,
                                                since its own warm-up begins at a rate of 0
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from rlvr_envs.bench.export import prompt_lines, read_export
from rlvr_envs.bench.noise import reward as reward_of
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


class Save(TrainerCallback):  # type: ignore[misc]
    """Saves the checkpoints that are due, after the last update on what a step sampled."""

    def __init__(self, usage: Usage, out: Path, updates: int) -> None:
        self.usage, self.out, self.updates = usage, out, updates

    def on_step_end(self, args: Any, state: Any, control: Any, *, model: Any, **_: Any) -> None:
        """Save."""
        if self.usage.due and state.global_step % self.updates == 0:
            with self.usage.checkpoint(self.out) as folder:
                model.save_pretrained(folder)


def make_trainer(folder: Path, out: Path, seed: int | None, chosen: Settings) -> Any:
    """Return a trainer that uses the budget of an exported experiment and saves checkpoints."""
    job, rows = read_export(folder)
    seed = job.seed if seed is None else seed
    start = str(folder / job.start if (folder / job.start).is_dir() else job.start)
    usage = Usage(
        samples=job.samples,
        fractions=job.fractions,
        epochs=chosen.epochs,
        clock=time.process_time,
    )

    def reward(
        completions: Sequence[Any], row: Sequence[str], completion_ids: Sequence[Any], **_: Any
    ) -> list[float | None]:
        usage.count(map(len, completion_ids))
        texts = [each if isinstance(each, str) else each[0]["content"] for each in completions]
        return [reward_of(*pair, job.noise) for pair in zip(row, texts, strict=True)]

    lines = bool(job.chat_template)  # a model that is asked on lines of their own
    problems = [
        {
            "prompt": prompt_lines(row["prompt"])
            if lines
            else [{"role": "user", "content": row["prompt"]}],
            "row": json.dumps(row),
        }
        for row in rows
    ]
    model = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    rate = chosen.learning_rate or float(job.settings["learning_rate"])
    kind = Skipping if chosen.skips_empty else torch.optim.AdamW
    optimiser = kind(model.parameters(), lr=rate, betas=BETAS, weight_decay=0.0)

    def warm_up(update: int) -> float:
        return min(1.0, (update // chosen.updates + 1) / (chosen.warmup + 1))

    trainer = GRPOTrainer(
        model,
        args=GRPOConfig(
            output_dir=str(Path(tempfile.gettempdir()) / "rlvr-bench-trl"),  # stays empty
            max_steps=job.samples // job.batch * chosen.updates,
            per_device_train_batch_size=job.batch // chosen.minibatches,
            steps_per_generation=chosen.minibatches,
            num_iterations=chosen.epochs,
            num_generations=chosen.group_size or int(job.settings.get("group_size", 8)),
            max_completion_length=job.max_tokens,
            temperature=job.temperature,
            top_k=0,
            loss_type=chosen.loss_type,
            scale_rewards=chosen.scale_rewards,
            epsilon=0.2,
            epsilon_high=chosen.epsilon_high,
            beta=chosen.beta,
            use_bias_correction_kl=False,
            max_grad_norm=1.0,
            gradient_checkpointing=False,
            seed=seed,
            use_cpu=True,
            bf16=False,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list(problems),
        processing_class=AutoTokenizer.from_pretrained(start, padding_side="left"),
        reward_funcs=reward,
        optimizers=(optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, warm_up)),
        callbacks=[Save(usage, out, chosen.updates)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
    torch.set_num_threads(1)
    make_trainer(folder, out, seed, Settings(**given)).train()


if __name__ == "__main__":
    main()
