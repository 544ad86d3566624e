"""ms-swift's GRPO on an experiment of the benchmark, at the settings of our own agent.

    python benchmarks/bench_swift.py EXPORTED --out CHECKPOINTS --seed 0

EXPORTED is what `rlvr_envs.bench.export.export` wrote. `rlvr_envs.bench.score.score_checkpoints`
makes a run of CHECKPOINTS. ms-swift names its settings as TRL does: `bench_trl` says which are
which of ours. An optimiser, a schedule, a callback and the reward are registered under one name.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from bench_setup import Save, Setup, read_command
from swift.arguments import RLHFArguments
from swift.callbacks import callbacks_map
from swift.optimizers import OptimizerCallback, optimizers_map
from swift.pipelines.train.rlhf import SwiftRLHF
from swift.rewards import orms

from rlvr_envs.bench.export import prompt_lines

NAME = "rlvr_bench"
EVERY_TOKEN = 10**9  # its own -1, which stands for that, ends as the 50 of transformers


def register(setup: Setup) -> None:
    """Register under `NAME` what ms-swift shall use of ours."""

    def reward(
        completions: Sequence[str],
        row: Sequence[str],
        response_token_ids: Sequence[Sequence[int]],
        **_: Any,
    ) -> list[float | None]:
        return setup.rewards(row, completions, map(len, response_token_ids))

    class Optimizer(OptimizerCallback):  # type: ignore[misc]
        def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
            return setup.optimizer(model or self.trainer.model)

        def create_scheduler(self, _: int, optimizer: torch.optim.Optimizer) -> Any:
            return setup.schedule(optimizer)

    orms[NAME] = lambda **_: reward
    optimizers_map[NAME] = Optimizer
    callbacks_map[NAME] = lambda *_: Save(setup)


def make_pipeline(setup: Setup, work: Path) -> Any:
    """Return a pipeline that uses the budget of an exported experiment and saves checkpoints.

    Args:
        setup: what to train, and on what.
        work: a folder for the files of ms-swift.
    """
    if not setup.lines:
        sys.exit(f"{setup.start} has a chat template: this benchmark knows models without one")
    register(setup)
    dataset = work / "train.jsonl"
    with dataset.open("w", encoding="utf-8") as file:
        for prompt, row in setup.problems():
            messages = [{"role": "user", "content": prompt_lines(prompt)}]
            file.write(json.dumps({"messages": messages, "row": row}) + "\n")
    return SwiftRLHF(
        RLHFArguments(
            rlhf_type="grpo",
            model=setup.start,
            model_type="llama",
            template="dummy",
            use_chat_template=False,
            tuner_type="full",
            torch_dtype="float32",
            top_k=EVERY_TOKEN,
            dataset=[str(dataset)],
            output_dir=str(work / "out"),
            reward_funcs=[NAME],
            optimizer=NAME,
            callbacks=[NAME],
            use_hf=True,
            check_model=False,  # asks a hub whether there is a newer one
            **setup.arguments(),
        )
    )


def main() -> None:
    """Train as the command line says."""
    setup = read_command(__doc__.splitlines()[0])
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="rlvr-bench-swift-") as work:
        make_pipeline(setup, Path(work)).main()


if __name__ == "__main__":
    main()
