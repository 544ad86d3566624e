"""Whether hints teach what rewards alone cannot: a tiny model, a registered task, one CPU core.

    python benchmarks/grpo_hints.py                    # three seeds, every method
    python benchmarks/grpo_hints.py --methods seele

The start model has been shown how answers look: problems with the first half of the answer or more
as a hint, and the answers of the oracle. Then a few problems come back in every step. Each asks for
a row of 16 cells, so that a guess is right once in 65,536: without a hint the start model never
samples a right answer, and rewards alone have nothing to teach. Every method begins with the same
model and has as many steps; what is compared is the score of sampled answers to these problems
without any hint. Every run has a process of its own.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import results_file
from own_process import apart

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.tracking.metrics import read
from rlvr_envs.agents.grpo.train import train
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.seeding import stream
from rlvr_envs.curricula import Fixed, Proposal
from rlvr_envs.wrappers.hints import Ladder, PromptHints

TASK = "CellularAutomaton-v0"
KNOBS = {"kind": "elementary", "width": 16, "row_steps": 1}
COMMON = {
    "tasks": (TASK,),
    "knobs": tuple(f"{name}={value}" for name, value in KNOBS.items()),
    "device": "cpu",
    "threads": 1,
    "max_tokens": 40,
    "context": 400,
    "keep": 1,
}
START = {
    "warm_start": 200,
    "warm_start_batch": 48,
    "steps": 1,
    "groups": 1,
    "group_size": 2,
    "learning_rate": 1e-9,
}
LEARN = {
    "groups": 4,
    "steps": 100,
    "learning_rate": 1e-3,
    "warmup": 5,
    "save_every": 1000,
}
# With 16 episodes of a problem each.
METHODS: dict[str, dict[str, Any]] = {
    "none": {"group_size": 16, "loss": "clipped"},
    "seele": {
        "name": "seele",
        "group_size": 4,
        "wrappers": ('ItemResponseHints(hints="reference", rollouts=4, rounds=4)',),
        "kl": "none",
    },
    "guide": {
        "name": "guide",
        "group_size": 8,
        "wrappers": ('HintOnRequest(hints="reference")',),
        "callbacks": ("hint_after_failure(levels=(8, 12, 14))", "bare_prompts"),
    },
}
MEASURED = (
    "score of 64 sampled answers to each problem without hints, before and after training with each"
    " method, and CPU seconds of each run"
)


class SecondHalf(PromptHints):
    """Shows at least the first half of the answer, drawn for each problem."""

    def __init__(self, env: TextEnv) -> None:
        super().__init__(env, "reference", reveal=False)

    def _level(self, ladder: Ladder) -> int:
        rng = stream("second half", ladder.problem)
        return int(rng.integers((len(ladder) + 1) // 2, len(ladder), endpoint=True))

    def _record(self, ladder: Ladder, level: int, score: float) -> None:
        pass


def hinted(task: str | None, difficulty: int | None) -> SecondHalf:
    """Return the environment of the start model's lessons."""
    return SecondHalf(TextEnv(task or TASK, difficulty=difficulty, **KNOBS))


def start(out: Path, seed: int) -> Path:
    """Train the start model, and return it."""
    config = preset(**COMMON, **START, seed=seed, out=str(out))
    return train(config, make_env=hinted, quiet=True)


class InTurn(Fixed):
    """Proposes the same problems in every step."""

    def propose(self) -> Proposal:
        self.turn = (getattr(self, "turn", -1) + 1) % len(self.proposals)
        return self.proposals[self.turn]


def learn(config: Config) -> None:
    """Train on problems that return."""
    problems = [
        Proposal(task=registry.full_id(TASK), difficulty=0, problem_seed=1000 + number)
        for number in range(config.sampling.groups)
    ]
    train(config, curriculum=InTurn(problems), quiet=True)


def asked(model: Path, out: Path, seed: int) -> float:
    """Return the score of 64 answers to each of the problems, without hints."""
    config = method("none", model, out, seed, 1).replace(learning_rate=1e-12, group_size=64)
    apart(learn, config)
    return read(out)[1]["score/mean"]


def method(name: str, model: Path, out: Path, seed: int, steps: int) -> Config:
    """Return the settings of a method."""
    settings = {**COMMON, **LEARN, **METHODS[name], "steps": steps}
    return preset(**settings, model=str(model), seed=seed, out=str(out))


def main(args: argparse.Namespace) -> None:
    """Run every seed and method, print a line for each, and store the results."""
    runs = []
    for seed in args.seeds:
        folder = args.runs / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        spent = apart(start, folder / "start", seed)
        print(f"seed {seed}: start model, {spent:.0f} CPU s", flush=True)
        (model,) = (folder / "start" / "checkpoints").iterdir()
        before = asked(model, folder / "asked", seed)
        for name in args.methods:
            config = method(name, model, folder / name, seed, args.steps)
            spent = apart(learn, config)
            played = [row["score/mean"] for row in read(folder / name).values()]
            (newest,) = (folder / name / "checkpoints").iterdir()
            after = asked(newest, folder / f"{name}-asked", seed)
            found = {"seed": seed, "method": name, "before": before, "after": after}
            runs.append(found | {"training": played, "cpu_s": round(spent)})
            print(
                f"seed {seed} {name}: {before:.3f} -> {after:.3f} (while training "
                f"{played[0]:.3f} -> {played[-1]:.3f}), {spent:.0f} CPU s",
                flush=True,
            )
    head = results_file.head(MEASURED, "torch", "transformers")
    short = [{name: run[name] for name in run if name != "training"} for run in runs]
    results_file.store(args, head, {"settings": LEARN | COMMON, "runs": short}, runs)


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_hints")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--steps", type=int, default=LEARN["steps"])
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_hints"))
    main(parser.parse_args())
