"""Whether hints teach what rewards alone cannot: a tiny model, a registered task, one CPU core.

    python benchmarks/grpo_hints.py                    # three seeds, every method
    python benchmarks/grpo_hints.py --methods seele

The start model imitates answers of the oracle for a while, to problems with none, some or nearly
all of the answer as a hint: it knows how answers look and what a hint is for, and does not know the
puzzle. Of new problems, the first four are to be learned that it never solves in 2,048 attempts
without a hint, and in a tenth of 64 attempts with the longest hint: each alone, in a run whose only
problem it is, and then all four together in one run. Every method begins with the same model and
has as many steps; what is compared is the score of sampled answers to these problems without any
hint. Every run has a process of its own.
"""

import argparse
import itertools
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import results_file
from own_process import apart

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.episode import Group
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.agents.grpo.tracking.metrics import read
from rlvr_envs.agents.grpo.train import train
from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.seeding import stream
from rlvr_envs.curricula import Fixed, Proposal
from rlvr_envs.wrappers.hints import HintSequence, PromptHints

TASK = "NQueens-v0"
KNOBS = {"size": 10, "n_given": 3}
HINTS = "reference"  # the first columns of an answer
LONGEST = 9  # the level of the longest hint
PROBLEMS = 4
CANDIDATES = 96  # problems, each tried with that hint
HINTED = 64  # attempts with it, of which a tenth has to be right
ATTEMPTS = 2048  # without a hint, of which none may be right
COMMON = {
    "tasks": (TASK,),
    "knobs": tuple(f"{name}={value}" for name, value in KNOBS.items()),
    "device": "cpu",
    "threads": 1,
    "max_tokens": 36,
    "context": 448,
    "keep": 1,
}
START = {
    "warm_start": 500,
    "warm_start_batch": 48,
    "steps": 1,
    "groups": 1,
    "group_size": 2,
    "learning_rate": 1e-9,
}
LEARN = {
    "warmup": 5,
    "schedule": "linear",
    "overlong": "mask",
    "save_every": 1000,
}
WAYS: dict[str, dict[str, Any]] = {
    "alone": {"groups": 1, "steps": 300, "learning_rate": 1e-4},
    "together": {"groups": 4, "steps": 300, "learning_rate": 5e-4},
}
# With 24 episodes of a problem in a step; Guide plays 16 of them where the first 8 failed.
METHODS: dict[str, dict[str, Any]] = {
    "none": {"group_size": 24, "loss": "clipped"},
    "seele": {
        "name": "seele",
        "group_size": 24,
        "wrappers": (f"ItemResponseHints(hints={HINTS!r}, rollouts=24, rounds=1)",),
        "callbacks": ("imitate_hints(weight=0.1)",),
        "kl": "none",
    },
    "guide": {
        "name": "guide",
        "group_size": 8,
        "wrappers": (f"HintOnRequest(hints={HINTS!r})",),
        "callbacks": (f"hint_after_failure(levels=({LONGEST},), samples=16)", "bare_prompts"),
    },
}
MEASURED = (
    "score of 64 sampled answers to each of four problems without hints, after training on each "
    "alone or on all together; before, all 2,048 sampled answers to each were wrong"
)


class Lesson(PromptHints):
    """Shows as much of the answer as is drawn for a problem, evenly from nothing up."""

    def __init__(self, env: TextEnv) -> None:
        super().__init__(env, HINTS, reveal=False)

    def _level(self, sequence: HintSequence) -> int:
        rng = stream("lesson", sequence.problem)
        return int(rng.integers(0, len(sequence), endpoint=True))

    def _record(self, sequence: HintSequence, level: int, score: float) -> None:
        pass


def lesson(task: str | None, difficulty: int | None) -> Lesson:
    """Return an environment to learn how answers look."""
    return Lesson(TextEnv(task or TASK, difficulty=difficulty, **KNOBS))


def start(out: Path, seed: int) -> Path:
    """Train the start model, and return it."""
    config = preset(**COMMON, **START, seed=seed, out=str(out))
    return train(config, make_env=lesson, quiet=True)


@callback(name="note_scores")
class NoteScores(Callback):
    """Writes the score of each problem's answers into the run's folder."""

    def __init__(self) -> None:
        self._scores: dict[str, float] = {}

    def on_group(self, run: Run, group: Group) -> None:
        """Take down the mean of a group."""
        self._scores[str(group.proposal.problem_seed)] = fmean(group.scores)

    def on_end(self, run: Run) -> None:
        """Write the file."""
        file = Path(run.config.output.out) / "scores.json"
        file.write_text(json.dumps(self._scores), encoding="utf-8")


class InTurn(Fixed):
    """Proposes the same problems in every step."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        super().__init__(proposals)
        self._next = itertools.cycle(proposals)

    def propose(self) -> Proposal:
        """Return the next one."""
        return next(self._next)


def learn(config: Config, problems: Sequence[int], hint: int | None = None) -> None:
    """Train on problems that return."""
    task = registry.full_id(TASK)
    proposals = [
        Proposal(task=task, difficulty=0, problem_seed=each, hint=hint) for each in problems
    ]
    train(config, curriculum=InTurn(proposals), quiet=True)


def asked(
    model: Path,
    out: Path,
    problems: Sequence[int],
    attempts: int,
    hint: int | None = None,
) -> dict[int, float]:
    """Return the score of sampled answers to each problem."""
    config = method("none", "alone", model, out, 0).replace(
        steps=1,
        learning_rate=1e-12,
        group_size=attempts,
        groups=len(problems),
        callbacks=("note_scores",),
        wrappers=(f"HintOnRequest(hints={HINTS!r})",),
    )
    apart(learn, config, problems, hint)
    scores = json.loads((out / "scores.json").read_text(encoding="utf-8"))
    return {int(problem): score for problem, score in scores.items()}


def unsolved(model: Path, out: Path, seed: int) -> list[int]:
    """Return the problems to learn: never solved without a hint, at times with one."""
    drawn = range(1000 * seed, 1000 * seed + CANDIDATES)
    hinted = asked(model, out.with_name("hinted"), drawn, HINTED, LONGEST)
    helped = [each for each in drawn if hinted[each] >= 0.1][: 3 * PROBLEMS]
    bare = asked(model, out, helped, ATTEMPTS)
    found = [each for each in helped if bare[each] == 0.0]
    print(
        f"seed {seed}: {len(helped)} problems are solved with a hint, {len(found)} of them never "
        "without",
        flush=True,
    )
    if len(found) < PROBLEMS:
        raise SystemExit(f"that is less than {PROBLEMS}: draw more candidates")
    return found[:PROBLEMS]


def method(name: str, way: str, model: Path, out: Path, seed: int) -> Config:
    """Return the settings of a method."""
    settings = {**COMMON, **LEARN, **WAYS[way], **METHODS[name]}
    return preset(**settings, model=str(model), seed=seed, out=str(out))


def learned(
    name: str, way: str, model: Path, out: Path, seed: int, problems: Sequence[int]
) -> dict[str, Any]:
    """Train with a method, and return how the problems are answered then."""
    spent = apart(learn, method(name, way, model, out, seed), problems)
    played = [row["score/mean"] for row in read(out).values()]
    (newest,) = (out / "checkpoints").iterdir()
    after = asked(newest, out.with_name(f"{out.name}-asked"), problems, 64)
    return {"after": list(after.values()), "training": played, "cpu_s": spent}


def taught(
    name: str, way: str, model: Path, folder: Path, seed: int, problems: Sequence[int]
) -> dict[str, Any]:
    """Train with a method on each problem alone, or on all together."""
    batches = [[each] for each in problems] if way == "alone" else [problems]
    parts = [
        learned(name, way, model, folder / f"{name}-{way}-{number}", seed, batch)
        for number, batch in enumerate(batches, 1)
    ]
    return {
        "seed": seed,
        "method": name,
        "way": way,
        "after": [score for part in parts for score in part["after"]],
        "training": [part["training"] for part in parts],
        "cpu_s": round(sum(part["cpu_s"] for part in parts)),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a line for each run: the score of each problem, their mean, and CPU seconds."""

    def row(run: dict[str, Any]) -> dict[str, Any]:
        scores = {f"problem {k}": score for k, score in enumerate(run["after"], 1)}
        return {**scores, "mean": round(fmean(run["after"]), 4), "CPU s": run["cpu_s"]}

    return results_file.table(
        {f"{run['way']}, {run['method']}, seed {run['seed']}": row(run) for run in runs}
    )


def main(args: argparse.Namespace) -> None:
    """Run every seed and method, print a line for each, and store the results."""
    runs = []
    for seed in args.seeds:
        folder = args.runs / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        spent = apart(start, folder / "start", seed)
        print(f"seed {seed}: start model, {spent:.0f} CPU s", flush=True)
        (model,) = (folder / "start" / "checkpoints").iterdir()
        problems = unsolved(model, folder / "asked", seed)
        for way, name in itertools.product(args.ways, args.methods):
            runs.append(taught(name, way, model, folder, seed, problems))
            told = ", ".join(f"{score:.2f}" for score in runs[-1]["after"])
            print(f"seed {seed} {way} {name}: 0 -> {told}, {runs[-1]['cpu_s']} CPU s", flush=True)
    head = results_file.head(MEASURED, "torch", "transformers")
    every = set(args.methods) == set(METHODS) and set(args.ways) == set(WAYS)
    whole = every and len(args.seeds) >= 3
    results_file.store(args, head, summary(runs), runs, whole=whole)


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "grpo_hints")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=list(METHODS))
    parser.add_argument("--ways", choices=WAYS, nargs="+", default=list(WAYS))
    parser.add_argument("--runs", type=Path, default=Path("runs/grpo_hints"))
    main(parser.parse_args())
