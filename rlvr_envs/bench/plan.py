"""Many runs: on an executor, each stored as it ends, and none made twice.

A run that was interrupted goes on from its last evaluation, from a folder in `UNFINISHED`.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.job import Job
from rlvr_envs.bench.results import Answers, Run
from rlvr_envs.bench.store import Entry
from rlvr_envs.bench.suite import Suite
from rlvr_envs.core.errors import ConfigError, DependencyError, RegistrationError, WorkerError
from rlvr_envs.core.executor import Call, Executor, Serial
from rlvr_envs.core.files import locked
from rlvr_envs.evaluation.on_executor import Stop

# CPU seconds of a run, after which something hangs.
CPU_S = 24 * 3600.0
UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which runs are to be made."""

    suite: Suite  # of which they are
    choices: tuple[Choice, ...]  # the algorithms
    experiments: tuple[str, ...] = ()  # names; empty for all
    seeds: tuple[int, ...] = ()  # empty for the suite's
    split: str = "test"  # what is tested on
    tuned_runs: int = 0  # with how many runs settings were chosen

    def runs(self) -> Iterator[tuple[Choice, str, int]]:
        """Yield algorithm, experiment and seed: all algorithms of a seed come before the next one.

        So what there is after an interruption can be compared.
        """
        names = self.experiments or tuple(each.name for each in self.suite.experiments)
        for seed in self.seeds or self.suite.seeds:
            for name in names:
                for choice in self.choices:
                    yield choice, self.suite.experiment(name).name, seed


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a plan is: ``run`` is the one that has just ended, or None at the beginning."""

    done: int
    total: int
    run: Run | None = None


def run_plan(
    plan: Plan,
    out: Path,
    *,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> list[Path]:
    """Make the runs that ``out`` lacks, and return the folders of the entries.

    Results do not depend on the executor, but for times and memory.

    Args:
        plan: what to do.
        out: holds a folder for each algorithm.
        executor: where; None for this process.
        progress: told at the beginning and after each run.

    Raises:
        ConfigError: an algorithm does not fit an experiment, or an entry is of something else.
        DependencyError: something is missing where the runs are made.
        WorkerError: a worker broke down, several times, on the same run.
    """
    labels = [choice.label for choice in plan.choices]
    if len(set(labels)) < len(labels):
        raise ConfigError(f"algorithms need different labels, got {', '.join(labels)}")
    with locked(out):
        entries = {label: Entry(out / label) for label in labels}
        _check(plan, entries)
        wanted = list(plan.runs())
        there = {(label, *run.key) for label, entry in entries.items() for run in entry.runs}
        todo = [each for each in wanted if (each[0].label, *each[1:]) not in there]
        done = len(wanted) - len(todo)
        progress(Progress(done, len(wanted)))

        def job(choice: Choice, name: str, seed: int) -> Job:
            return Job(
                suite=plan.suite,
                experiment=name,
                choice=choice,
                seed=seed,
                split=plan.split,
                tuned_runs=plan.tuned_runs,
                folder=out.absolute() / choice.label / UNFINISHED / f"{name}-{seed}",
            )

        jobs = (Call((job(choice, name, seed),)) for choice, name, seed in todo)
        outcomes = (executor or Serial()).map(f"{__name__}:make", jobs, cpu_s=CPU_S, batch=1)
        for (choice, name, seed), outcome in zip(todo, outcomes, strict=True):
            if outcome.error is not None:
                raise WorkerError(
                    f"{choice.label} on {name} with seed {seed}: {outcome.error}"
                ) from outcome.error
            if isinstance(outcome.value, Stop):
                raise outcome.value.raised()
            run, answers = cast(tuple[Run, list[Answers]], outcome.value)
            entries[choice.label].add(run, answers)
            done += 1
            progress(Progress(done, len(wanted), run))
        for entry in entries.values():
            with suppress(OSError):  # where one was given up before, it stays
                (entry.folder / UNFINISHED).rmdir()
    return [out / label for label in labels]


def _check(plan: Plan, entries: dict[str, Entry]) -> None:
    """Find out before hours of work that the runs cannot be added to what is there."""
    for choice in plan.choices:
        mine = choice.described(plan.tuned_runs)
        for run in entries[choice.label].runs:
            kind = (run.suite_hash, run.split, run.algorithm.spec, run.algorithm.source)
            if kind != (plan.suite.hash, plan.split, mine.spec, mine.source):
                raise ConfigError(
                    f"{entries[choice.label].folder} holds runs of {run.algorithm.spec!r} on "
                    f"{run.suite} ({run.suite_hash:.8}, {run.split}), not of {mine.spec!r} on "
                    f"{plan.suite.name} ({plan.suite.hash:.8}, {plan.split}): give another folder, "
                    "or another label"
                )


def make(job: Job) -> tuple[Run, list[Answers]] | Stop:
    """Make a run; called where the executor is."""
    from rlvr_envs.bench.train import train

    try:
        return train(job)
    except DependencyError as error:
        return Stop(str(error), missing=True)
    except (ConfigError, RegistrationError) as error:
        told = f"{job.choice.label} on {job.experiment}: {error}"
        return Stop(told, missing=False)
