"""A suite of one experiment that is cheap to draw, with a start that the package ships."""

from dataclasses import replace

from rlvr_envs.bench.draw import digest, draw
from rlvr_envs.bench.suite import Split, Suite, TaskLevels, load

PROBLEMS = {"train": 48, "validation": 3, "test": 4}
TASK, START = "Derivative-v0", "derivative"


def small_suite(**changes) -> Suite:
    """Return a suite with one experiment, some of whose fields are others."""
    known = load("tiny-v1")
    experiment = known.experiment(START)
    experiment = replace(
        experiment,
        name="small",
        train=(TaskLevels(task=TASK, levels=(0,)),),
        test=(),
        splits={name: Split(problems=count) for name, count in PROBLEMS.items()},
        start=START,
        max_tokens=12,
        context=128,
        samples=64,
        tokens=2000,
        batch=16,
        settings={"learning_rate": 1e-3, "threads": 1, "device": "cpu", "group_size": 4},
        fixed={},
    )
    experiment = replace(experiment, **changes)
    splits = {
        name: replace(split, digest=digest(draw(experiment, name)))
        for name, split in experiment.splits.items()
    }
    return replace(
        known,
        name="small-v1",
        status="draft",
        seeds=(0, 1),
        fractions=(0.0, 0.5, 1.0),
        responses=2,
        temperature=1.0,
        starts={START: known.starts[START]},
        experiments=(replace(experiment, splits=splits),),
    )
