"""One run of the benchmark: train within a budget, and test at fixed shares of it."""

import platform
import resource
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from rlvr_envs.agents.grpo import lifecycle
from rlvr_envs.agents.grpo import run as running
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.preflight import check
from rlvr_envs.agents.grpo.run import Callback
from rlvr_envs.agents.grpo.train import learn
from rlvr_envs.bench import starts
from rlvr_envs.bench.algorithm import changed, make_config
from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.exam import Examiner, sampling_seed
from rlvr_envs.bench.job import Job
from rlvr_envs.bench.meter import Meter
from rlvr_envs.bench.noise import NoisyEnvMaker
from rlvr_envs.bench.results import Answers, Marks, Point, Run
from rlvr_envs.bench.suite import Experiment
from rlvr_envs.bench.usage import BudgetSpentError
from rlvr_envs.core.errors import ConfigError, DependencyError, RegistrationError
from rlvr_envs.core.version import __version__
from rlvr_envs.datasets.rows import json_line


class _Tests(Callback):
    """The evaluations of a run so far and what it took, which its checkpoints keep."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.answers: list[Answers] = []
        self.device_s = 0.0
        self._cpu_before_s, self._began = 0.0, time.process_time()

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the run, those before an interruption included."""
        return self._cpu_before_s + time.process_time() - self._began

    def state_dict(self) -> dict[str, Any]:
        """Return all of it."""
        return {
            "points": [asdict(point) for point in self.points],
            "answers": [[each.sampled, each.greedy] for each in self.answers],
            "device_s": self.device_s,
            "cpu_s": self.cpu_s,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        self.points = [Point(**each) for each in state["points"]]
        self.answers = [Answers(*each) for each in state["answers"]]
        self.device_s, self._cpu_before_s = state["device_s"], state["cpu_s"]


# The start is the same in all runs of an experiment, and so are its responses.
_of_starts: dict[tuple[str, str, str], tuple[Answers, Marks]] = {}


def train(job: Job) -> tuple[Run, list[Answers]]:
    """Train by an algorithm, and return the run and the responses of each of its evaluations.

    A run that breaks keeps the evaluations before that, and says why in ``failed``. With
    `Job.folder` one that was killed goes on from its last evaluation, and ends as it would have.

    Raises:
        ConfigError: the algorithm does not fit the experiment, or the suite this version.
        DependencyError: a package is missing.
    """
    experiment = job.suite.experiment(job.experiment)
    tests, failed = _Tests(), ""
    with ExitStack() as stack:
        if job.folder is None:
            work = Path(stack.enter_context(TemporaryDirectory(prefix="rlvr-bench-")))
        else:
            work = job.folder
            work.mkdir(parents=True, exist_ok=True)
        config = config_of(job, experiment, work)
        resumable = config.replace(resume=job.folder is not None, keep=1)
        check(resumable)
        maker = None
        if experiment.noise is not None:
            maker = NoisyEnvMaker((), config.data.wrappers, {}, noise=experiment.noise)
        meter = Meter(experiment.samples, config.optimiser.epochs)
        run = lifecycle.begin(
            resumable, curriculum=None, make_env=maker, quiet=True, first=(meter, tests)
        )
        stack.callback(run.close)
        rows = rows_of(experiment, job.split)
        examiner = Examiner(job.suite, experiment, rows, run.sampler, run.chat)
        stack.callback(examiner.close)
        try:
            _go(job, experiment, run, meter, examiner, tests)
        except (ConfigError, DependencyError, RegistrationError):
            raise
        except Exception as error:
            if not tests.points:  # the start could not be tested: that is no fault of the algorithm
                raise
            failed = f"{type(error).__name__}: {error}"[:500]
    if job.folder is not None:
        shutil.rmtree(job.folder)
    run_of = Run(
        suite=job.suite.name,
        suite_hash=job.suite.hash,
        split=job.split,  # type: ignore[arg-type]  # checked when it is written
        experiment=experiment.name,
        seed=job.seed,
        algorithm=replace(job.choice.described(job.tuned_runs), settings=changed(config)),
        trust="plug-in",
        points=tuple(tests.points),
        failed=failed,
        cpu_s=round(tests.cpu_s, 2),
        memory_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        machine=machine(),
        versions=versions(),
    )
    return run_of, tests.answers


def config_of(job: Job, experiment: Experiment, work: Path) -> Config:
    """Return the configuration of a run whose training problems and output lie in a folder."""
    rows = work / "train.jsonl"
    rows.write_bytes(b"".join(map(json_line, rows_of(experiment, "train"))))
    places = {"start": Path(starts.folder_of(job.suite, experiment)), "rows": rows}
    return make_config(job.choice, job.suite, experiment, job.seed, {**places, "out": work / "run"})


def _go(
    job: Job,
    experiment: Experiment,
    run: running.Run,
    meter: Meter,
    examiner: Examiner,
    tests: _Tests,
) -> None:
    """Train until the budget is used, testing on the way."""
    clock = _clock(run)

    def test(*, last: bool = False) -> None:
        answers, marks = _asked(job, examiner, meter.samples, last)
        tests.points.append(
            marks.point(
                answers, samples=meter.samples, tokens=meter.tokens, device_s=tests.device_s
            )
        )
        tests.answers.append(answers)
        if job.folder is not None and meter.samples and not last:
            lifecycle.save(run)

    if not tests.points:
        test()
    shares = [share * experiment.samples for share in job.suite.fractions[1:-1]]
    due = [each for each in shares if each > meter.samples]
    while run.step < run.total and meter.samples < experiment.samples:
        before = clock()
        try:
            learn(run, run.step)
        except BudgetSpentError:
            break
        lifecycle.refresh(run)
        run.step += 1
        tests.device_s = round(tests.device_s + clock() - before, 3)
        if due and meter.samples >= due[0]:
            due = [each for each in due if each > meter.samples]
            test()
    test(last=True)


def _asked(job: Job, examiner: Examiner, samples: int, last: bool) -> tuple[Answers, Marks]:
    if samples:
        seed = sampling_seed(job.experiment, job.choice.label, job.seed, samples)
        return examiner.ask(seed=seed, greedy=last)
    place = (job.suite.hash, job.experiment, job.split)
    if place not in _of_starts:
        _of_starts[place] = examiner.ask(seed=0, greedy=True)
    return _of_starts[place]


def _clock(run: running.Run) -> Callable[[], float]:
    """Return what measures training: CPU time, or the time that passes where a GPU computes."""
    return time.perf_counter if run.workers.device.type == "cuda" else time.process_time


def machine() -> dict[str, Any]:
    """Return what a run was computed on."""
    cuda = torch.cuda.is_available()
    return {
        "processor": platform.processor() or platform.machine(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": torch.cuda.get_device_name() if cuda else "cpu",
    }


def versions() -> dict[str, str]:
    """Return the versions that the numbers may depend on."""
    packages = ("torch", "transformers", "numpy")
    return {
        "rlvr_envs": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
