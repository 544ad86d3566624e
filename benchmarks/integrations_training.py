"""Whether trainers of others learn from these environments: a tiny model, on one CPU core.

    python benchmarks/integrations_training.py
    python benchmarks/integrations_training.py --clients trl_one_turn --seeds 0 --out one.json

Each run begins with the same kind of start: a tiny model that has imitated solved problems for a
while. Then the trainer's example in `examples/integrations` trains it, in the trainer's own virtual
environment (`scripts/client_env.py` makes it). What is compared is the score of sampled answers to
held-out problems before and after. No problem is trained on and held out at once; imitation draws
its own, and comes before both scores.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import results_file
from own_process import apart

from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.core.instance import Row
from rlvr_envs.datasets.rows import json_line
from rlvr_envs.integrations.rows import open_rows

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "integrations"
HELD_OUT, SAMPLES = 200, 4
# Student's t for 95 %, by the number of runs.
T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}
MEASURED = (
    "score of sampled answers to held-out problems (greedy: of the likeliest answer) before and "
    "after training by another's trainer, from our imitation, on one thread"
)
# What a reader has to know of how the stored runs were chosen.
SELECTION = {
    "trl_several_turns": "settings were chosen on seed 0, and 60 steps on seeds 0 to 4 gained "
    "0.095 (-0.006 to 0.196); 150 steps and seeds 10 to 15 were fixed before any of them was run",
    "one_turn": "the fourth seed was added after the first three had been seen",
}


@dataclass(frozen=True, slots=True)
class Run:
    """What a client trains.

    Attributes:
        client: the file of `tests/clients` with its pins.
        task: what is trained, at level 0.
        imitation: the supervised steps of the start.
        max_tokens: the most tokens of a message.
        steps: batches of the trainer, each with 16 problems and 8 answers to each.
        problems: to train on.
        packages: whose versions matter.
        knobs: of the task.
        seeds: of the runs.
    """

    client: str
    task: str
    imitation: int
    max_tokens: int
    steps: int
    problems: int
    packages: tuple[str, ...]
    knobs: dict[str, int] = field(default_factory=dict)
    seeds: range = range(4)

    @property
    def call(self) -> str:
        """The task with its knobs, as the agent reads it."""
        knobs = ", ".join(f"{name}={value}" for name, value in self.knobs.items())
        return f"{self.task}({knobs})" if knobs else self.task


RUNS = {
    "trl_one_turn": Run("trl", "Derivative-v0", 70, 16, 80, 1280, ("trl", "torch")),
    "trl_several_turns": Run(
        *("trl", "GuessNumber-v0", 120, 10, 150, 600, ("trl", "torch")),
        knobs={"n_numbers": 3, "n_spare": 1},
        seeds=range(10, 16),
    ),
    "swift_one_turn": Run("swift", "Derivative-v0", 70, 16, 80, 1280, ("ms-swift", "trl", "torch")),
}


def start_of(run: Run, seed: int, folder: Path) -> Path:
    """Return a model that has imitated, made in a process of its own unless it is there."""
    from rlvr_envs.agents.grpo.model.checkpoint import newest

    config = preset(
        tasks=(run.call,),
        warm_start=run.imitation,
        stop_after=run.imitation,
        steps=1,
        max_tokens=run.max_tokens,
        context=320,
        device="cpu",
        threads=1,
        keep=1,
        seed=seed,
        out=str(folder),
    )
    checkpoints = folder / "checkpoints"
    if not checkpoints.exists() or newest(checkpoints) is None:
        shutil.rmtree(folder, ignore_errors=True)
        apart(_imitate, config)
    found = newest(checkpoints)
    if found is None:
        raise SystemExit(f"{folder} has no checkpoint")
    return found


def _imitate(config: Config) -> None:
    from rlvr_envs.agents.grpo.train import train

    train(config, quiet=True)


def scores(model: Path, run: Run, rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean scores of a model's sampled and likeliest answers to rows."""
    import torch

    from rlvr_envs.agents.grpo.chat import Chat
    from rlvr_envs.agents.grpo.model.policy import load
    from rlvr_envs.agents.grpo.parts import EnvMaker
    from rlvr_envs.agents.grpo.rollout import Rollout
    from rlvr_envs.agents.grpo.sampling.slots import SlotSampler
    from rlvr_envs.curricula.base import Proposal

    torch.set_num_threads(1)
    policy, tokenizer = load(preset(tasks=(run.task,), model=str(model), device="cpu"))
    chat = Chat(tokenizer)
    sampler = SlotSampler(policy, chat.end_tokens, chat.pad_token, context=320)
    asked = [Proposal(task=row["id"], row=row, difficulty=row["difficulty"]) for row in rows]
    found = {}
    for name, temperature, samples in (("score", 1.0, SAMPLES), ("greedy", 0.0, 1)):
        rollout = Rollout(
            EnvMaker((run.task,), (), {}),
            sampler,
            chat,
            max_tokens=run.max_tokens,
            context=320,
            temperature=temperature,
        )
        groups = rollout.play(asked, samples, seed=0)
        each = [episode.score for group in groups for episode in group.episodes]
        if any(map(math.isnan, each)):
            raise SystemExit("an episode could not be scored")
        found[name] = round(fmean(each), 4)
    return found


def learn(name: str, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Train once, and return what was measured."""
    run, folder = RUNS[name], args.runs / f"{name}-{seed}"
    stored = folder / "measured.json"
    if args.reuse and stored.exists():
        known: dict[str, Any] = json.loads(stored.read_text("utf-8"))
        return known
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = open_rows(
        run.task, count=HELD_OUT + run.problems, difficulty=0, seed=seed, knobs=run.knobs
    )
    (folder / "rows.jsonl").write_bytes(b"".join(json_line(row) for row in rows[HELD_OUT:]))
    start = start_of(run, seed, args.runs / f"start-{run.task}-{seed}")
    before = scores(start, run, rows[:HELD_OUT])
    began = time.perf_counter()
    cpu_s = apart(_train, name, start, seed, args.steps or run.steps, folder)
    seconds = time.perf_counter() - began
    after = scores(folder / "trained", run, rows[:HELD_OUT])
    found = {
        "seed": seed,
        "before": before,
        "after": after,
        "seconds": round(seconds),
        "cpu_s": round(cpu_s),
    }
    stored.write_text(json.dumps(found), encoding="utf-8")
    return found


def _train(name: str, start: Path, seed: int, steps: int, folder: Path) -> None:
    command = [
        python_of(RUNS[name].client),
        EXAMPLES / f"{name}.py",
        *("--model", start.resolve()),
        *("--rows", "rows.jsonl"),
        *("--steps", steps),
        *("--seed", seed),
        *("--out", "trained"),
    ]
    with (folder / "log.txt").open("w") as log:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
        subprocess.run(
            [str(word) for word in command], cwd=folder, env=env, stdout=log, stderr=log, check=True
        )


def python_of(client: str) -> Path:
    """Return the Python of a client's virtual environment, which is made if it is not there."""
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "client_env.py", client],
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(made.stdout.strip())


def interval(gains: Sequence[float]) -> list[float] | None:
    """Return the 95 % interval of the mean gain over runs; None for one run."""
    if len(gains) not in T_95:
        return None
    half = T_95[len(gains)] * stdev(gains) / math.sqrt(len(gains))
    return [round(fmean(gains) - half, 3), round(fmean(gains) + half, 3)]


def summary(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the runs of a client have brought."""
    run = RUNS[name]
    gains = [each["after"]["score"] - each["before"]["score"] for each in runs]
    return {
        "task": run.call,
        "versions": versions_of(run),
        "steps": run.steps,
        "gain": round(fmean(gains), 3),
        "interval": interval(gains),
        "runs": runs,
    }


def versions_of(run: Run) -> dict[str, str]:
    """Return the versions in the client's virtual environment."""
    names = ", ".join(repr(package) for package in run.packages)
    code = f"from importlib.metadata import version\nfor n in ({names},): print(n, version(n))"
    told = subprocess.run(
        [python_of(run.client), "-c", code], check=True, capture_output=True, text=True
    )
    return dict(line.split() for line in told.stdout.splitlines())


def main(args: argparse.Namespace) -> None:
    """Run every seed of every client, print a line for each, and store the results."""
    figures = {}
    for name in args.clients:
        runs = []
        for seed in args.seeds or RUNS[name].seeds:
            found = learn(name, seed, args)
            runs.append(found)
            told = " -> ".join(f"{found[when]['score']:.3f}" for when in ("before", "after"))
            print(f"{name} seed {seed}: held-out score {told}, {found['seconds']} s", flush=True)
        figures[name] = summary(name, runs)
        print(f"{name}: gain {figures[name]['gain']}, 95 % {figures[name]['interval']}", flush=True)
    head = results_file.head(MEASURED, selection=SELECTION)
    whole = len(args.clients) == len(RUNS) and not args.steps and not args.seeds
    results_file.store(args, head, figures, figures, whole=whole)


if __name__ == "__main__":
    parser = results_file.parser(__doc__, "integrations_training")
    parser.add_argument("--clients", choices=RUNS, nargs="+", default=list(RUNS))
    parser.add_argument("--seeds", type=int, nargs="+", help="by default those of the client")
    parser.add_argument("--steps", type=int, help="of the trainer; by default those of the client")
    parser.add_argument("--reuse", action="store_true", help="take runs that are in --runs")
    parser.add_argument("--runs", type=Path, default=Path("runs/integrations_training"))
    main(parser.parse_args())
