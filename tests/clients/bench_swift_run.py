"""Runs the benchmark's ms-swift on a small suite; prints how it compares with our agent as JSON.

python bench_swift_run.py, with benchmarks and tests on the path
"""

import importlib.metadata
import json
from pathlib import Path

import bench_setup
import bench_swift
import torch
from bench_replay import SameParts, Watched, distance
from small_suite import small_suite

from rlvr_envs.agents.grpo import train as training
from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.bench.export import export
from rlvr_envs.bench.results import Algorithm
from rlvr_envs.bench.score import score_checkpoints
from rlvr_envs.bench.usage import BudgetSpentError

SEED = 3  # of samples in which every step has something to learn, and some are cut off
EQUAL = {
    "default": ({}, {}),
    "dr_grpo": ({"loss_type": "dr_grpo"}, {"aggregation": "constant_length"}),
    "grpo": (
        {"loss_type": "grpo", "scale_rewards": "group", "beta": 0.04},
        {"aggregation": "sequence_mean", "estimator": "grpo", "kl": "k3", "kl_coef": 0.04},
    ),
    "epochs": (
        {"epochs": 3, "epsilon_high": 0.2, "learning_rate": 2e-3},
        {"epochs": 3, "loss": "clipped(high=0.2)", "learning_rate": 2e-3},
    ),
}
PARTS = 4


class WatchedSwift(Watched):
    """A run of ms-swift, from its first to its last step."""

    def __init__(self, folder, *, more_steps=0, **settings):
        super().__init__()
        self.out = folder / "checkpoints"
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        chosen = bench_setup.Settings(**settings)
        setup = bench_setup.Setup(Path("exported"), self.out, None, chosen)
        self.texts, self.cut, self.inputs = [], [], []
        pipeline = bench_swift.make_pipeline(setup, self.work)
        train = pipeline.train

        def watched(trainer):
            trainer.args.max_steps += more_steps
            self.watch(trainer)
            return train(trainer)

        pipeline.train = watched
        pipeline.main()

    def watch(self, trainer):
        self.words = trainer.processing_class
        prepare, loss, create = (
            trainer._prepare_batch_inputs,
            trainer._compute_loss,
            trainer.create_scheduler,
        )
        processors = trainer.model._get_logits_processor

        def prepared(samples):
            rewards = trainer._rewards_per_func[:, 0].tolist()
            self.batches.append(
                [
                    (sample.messages[0]["content"], sample.response_token_ids, reward)
                    for sample, reward in zip(samples, rewards, strict=True)
                ]
            )
            self.texts += [sample.messages[1]["content"] for sample in samples]
            return prepare(samples)

        def lost(model, inputs, signals, *rest):
            pairs = zip(inputs["input_ids"], inputs["attention_mask"].bool(), strict=True)
            self.parts.append([tuple(tokens[here].tolist()) for tokens, here in pairs])
            self.inputs.append(signals.completion_mask.sum(1).tolist())
            return loss(model, inputs, signals, *rest)

        def created(*given, **named):
            schedule = create(*given, **named)
            self.watch_weights(trainer)
            return schedule

        def drawn_from(*given, **named):
            found = processors(*given, **named)
            logits = torch.linspace(-30, 30, len(self.words)).repeat(2, 1)
            self.cut.append(bool((found(torch.zeros(2, 1).long(), logits) != logits).any()))
            return found

        trainer._prepare_batch_inputs, trainer._compute_loss = prepared, lost
        trainer.create_scheduler, trainer.model._get_logits_processor = created, drawn_from


def compared_tokens(watched):
    """Return whether prompts, answers and texts are those of our agent."""
    chat = Chat(watched.words)
    sampled = [each for batch in watched.batches for each in batch]
    ours = [(*chat.opening(prompt.removesuffix("\n")), *tokens) for prompt, tokens, _ in sampled]
    lengths = [length for part in watched.inputs for length in part]
    return {
        "tokens": [tokens for part in watched.parts for tokens in part] == ours,
        "lengths": lengths == [len(tokens) for _, tokens, _ in sampled],
        "texts": watched.texts == [chat.text(tokens) for _, tokens, _ in sampled],
        "ended": sorted({tokens[-1] in chat.end_tokens for _, tokens, _ in sampled}),
    }


def compared_updates(suite, runs):
    """Return how far weights end from ours, by what was set."""
    exported = Path("exported")
    found = {
        name: distance(suite, exported, Path(name) / "ours", runs[name], **ours)
        for name, (_, ours) in EQUAL.items()
    }
    other = {"aggregation": "sequence_mean"}
    found["another"] = distance(suite, exported, Path("another"), runs["default"], **other)
    ours = {"minibatches": PARTS, "estimator": "grpo"}
    for name, skips in (("skips", True), ("takes", False)):
        run = WatchedSwift(Path(name), minibatches=PARTS, scale_rewards="group", skips_empty=skips)
        training.stream, drawn = SameParts(run, run.words, PARTS), training.stream
        found[name] = distance(suite, exported, Path(name) / "ours", run, **ours)
        training.stream = drawn
    return found


def spent():
    """Return what a run says that would take one step too many, and how many checkpoints it has."""
    try:
        WatchedSwift(Path("spent"), more_steps=1)
    except BudgetSpentError as error:
        return [str(error), len(list(Path("spent/checkpoints").glob("*/usage.json")))]
    return ["no error"]


def main():
    suite = small_suite()
    export(suite, "small", Path("exported"), seed=SEED)
    runs = {name: WatchedSwift(Path(name), **theirs) for name, (theirs, _) in EQUAL.items()}
    plain = runs["default"]
    algorithm = Algorithm(name="swift", version=importlib.metadata.version("ms_swift"))
    run, answers = score_checkpoints(suite, "small", plain.out, algorithm=algorithm, seed=SEED)
    told = {
        "updates": compared_updates(suite, runs),
        "tokens": compared_tokens(plain),
        "cut": plain.cut,
        "sampled": [sum(len(tokens) for _, tokens, _ in batch) for batch in plain.batches],
        "points": [[point.samples, point.tokens, point.device_s] for point in run.points],
        "learned": answers[0] != answers[-1],
        "spent": spent(),
    }
    print("\n" + json.dumps(told))


if __name__ == "__main__":
    main()
