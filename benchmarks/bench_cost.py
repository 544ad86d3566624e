r"""What a run of `small-v1` or `transfer-v1` costs on one GPU, before it is begun.

    python benchmarks/bench_cost.py --model Qwen/Qwen2.5-0.5B-Instruct
    python benchmarks/bench_cost.py --tokenizer FOLDER       # without a model hub
    python benchmarks/bench_cost.py --tokenizer rlvr_envs/bench/starts/gcd --toy --steps 1 \
        --experiments derivative guess_number --out cost.json                    # a quick look

A few training steps and one evaluation are taken of each experiment, at the suite's settings. The
first step, which captures CUDA graphs, is left out of the mean. `whole run` is the sum over all
steps and evaluations.

Without `--model` the model has the shape of Qwen2.5-0.5B and random weights. It hardly ever ends a
response, so nearly every one has all the tokens that it may have: the cost is an upper bound. Of
several turns it has as many as the task allows.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import results_file
import torch
from grpo_clock import gpu_name

from rlvr_envs.agents.grpo import lifecycle
from rlvr_envs.agents.grpo.train import learn
from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.exam import Examiner
from rlvr_envs.bench.job import Job
from rlvr_envs.bench.meter import Meter
from rlvr_envs.bench.suite import Experiment, Suite, load
from rlvr_envs.bench.train import config_of

MEASURED = (
    "seconds and GPU memory of a training step and an evaluation, on each experiment; from them "
    "the minutes of a whole run"
)
QWEN_05B = {
    "vocab_size": 151_936,
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": True,
}
TOY = QWEN_05B | {
    "vocab_size": 4096,
    "hidden_size": 28,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
}


def random_model(tokenizer: str, shape: dict[str, Any], folder: Path) -> str:
    """Save a model with random weights and a tokenizer, and return the folder."""
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    Qwen2ForCausalLM(Qwen2Config(**shape)).to(torch.bfloat16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(folder)
    return str(folder)


def cost(suite: Suite, experiment: Experiment, choice: Choice, steps: int) -> dict[str, Any]:
    """Return what steps and an evaluation of an experiment take."""
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    job = Job(suite=suite, experiment=experiment.name, choice=choice, seed=0)
    with tempfile.TemporaryDirectory(prefix="rlvr-bench-cost-") as work:
        config = config_of(job, experiment, Path(work))
        meter = Meter(experiment.samples, config.optimiser.epochs)
        run = lifecycle.begin(config, curriculum=None, make_env=None, quiet=True, first=(meter,))
        examiner = Examiner(suite, experiment, rows_of(experiment, "test"), run.sampler, run.chat)
        taken: list[dict[str, float]] = []
        try:
            for step in range(1 + steps):
                began = time.perf_counter()
                numbers = learn(run, step)
                lifecycle.refresh(run)
                run.step += 1
                taken.append(numbers | {"step_s": time.perf_counter() - began})
            began = time.perf_counter()
            examiner.ask(seed=0, greedy=False)
            evaluation_s = time.perf_counter() - began
        finally:
            examiner.close()
            run.close()
        total = run.total
    middle = {
        name: statistics.fmean(each.get(name, 0.0) for each in taken[1:])
        for name in ("time/sample_s", "time/train_s", "step_s")
    }
    # The start and the end have a round of likeliest responses besides two sampled ones.
    evaluations = len(suite.fractions) + 2 / suite.responses
    whole_s = total * middle["step_s"] + evaluations * evaluation_s
    return {
        "steps measured": steps,
        "first step s": round(taken[0]["step_s"], 1),
        "sampling s": round(middle["time/sample_s"], 2),
        "training s": round(middle["time/train_s"], 2),
        "evaluation s": round(evaluation_s, 1),
        "tokens of a step": round(meter.tokens / (1 + steps) / (1 + config.optimiser.epochs)),
        "peak GiB": round(torch.cuda.max_memory_allocated() / 2**30, 1) if gpu else None,
        "steps": total,
        "whole run min": round(whole_s / 60, 1),
    }


def of_model(suite: Suite, names: Sequence[str], model: str) -> Suite:
    """Return the suite with another model to begin with, and only some experiments."""
    kept = (each for each in suite.experiments if not names or each.name in names)
    return replace(suite, experiments=tuple(replace(each, start=model) for each in kept))


def main(args: argparse.Namespace) -> None:
    """Measure each experiment, print a line for each, and store the table."""
    with tempfile.TemporaryDirectory(prefix="rlvr-bench-model-") as folder:
        shape = TOY if args.toy else QWEN_05B
        model = args.model or random_model(args.tokenizer, shape, Path(folder))
        suite = of_model(load(args.suite), args.experiments, model)
        choice = Choice.read(args.algorithm)
        rows: dict[str, dict[str, Any]] = {}
        for experiment in suite.experiments:
            rows[experiment.name] = cost(suite, experiment, choice, args.steps)
            print(f"{experiment.name}: {rows[experiment.name]}", flush=True)
    hours = sum(row["whole run min"] for row in rows.values()) * len(suite.seeds) / 60
    head = results_file.head(
        MEASURED, "torch", "transformers", gpu=gpu_name("cuda" if torch.cuda.is_available() else "")
    )
    figures = {
        "suite": f"{suite.name}, draft {suite.draft}",
        "model": args.model or "random weights in the shape of Qwen2.5-0.5B",
        "algorithm": args.algorithm,
        "GPU hours of an algorithm, all seeds": round(hours, 1),
        **results_file.table(rows),
    }
    results_file.store(args, head, figures, rows, whole=not args.experiments and not args.toy)


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "bench_cost")
    parser.add_argument("--suite", default="small-v1")
    parser.add_argument("--experiments", nargs="+", default=[], metavar="E")
    parser.add_argument("--algorithm", default="grpo")
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--model", help="what the suite's runs begin with, or one like it")
    start.add_argument("--tokenizer", help="random weights beside this tokenizer")
    parser.add_argument("--toy", action="store_true", help="a much smaller model")
    parser.add_argument("--steps", type=int, default=3, help="after the first")
    main(parser.parse_args())
