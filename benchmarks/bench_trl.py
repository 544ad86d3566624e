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

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from bench_setup import Save, Setup, read_command
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from rlvr_envs.bench.export import prompt_lines


def make_trainer(setup: Setup) -> Any:
    """Return a trainer that uses the budget of an exported experiment and saves checkpoints."""

    def reward(
        completions: Sequence[Any], row: Sequence[str], completion_ids: Sequence[Any], **_: Any
    ) -> list[float | None]:
        texts = [each if isinstance(each, str) else each[0]["content"] for each in completions]
        return setup.rewards(row, texts, map(len, completion_ids))

    def asked(prompt: str) -> Any:
        return prompt_lines(prompt) if setup.lines else [{"role": "user", "content": prompt}]

    problems = [{"prompt": asked(prompt), "row": row} for prompt, row in setup.problems()]
    model = AutoModelForCausalLM.from_pretrained(setup.start, dtype=torch.float32)
    optimizer = setup.optimizer(model)
    trainer = GRPOTrainer(
        model,
        args=GRPOConfig(
            output_dir=str(Path(tempfile.gettempdir()) / "rlvr-bench-trl"),  # stays empty
            top_k=0,
            use_bias_correction_kl=False,
            **setup.arguments(),
        ),
        train_dataset=Dataset.from_list(problems),
        processing_class=AutoTokenizer.from_pretrained(setup.start, padding_side="left"),
        reward_funcs=reward,
        optimizers=(optimizer, setup.schedule(optimizer)),
        callbacks=[Save(setup)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def main() -> None:
    """Train as the command line says."""
    setup = read_command(__doc__.splitlines()[0])
    torch.set_num_threads(1)
    make_trainer(setup).train()


if __name__ == "__main__":
    main()
