"""A suite of one experiment that trains for two steps."""

from dataclasses import replace

import pytest

from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.freeze import freeze
from rlvr_envs.bench.job import Job
from rlvr_envs.bench.suite import Split, load


@pytest.fixture(scope="session")
def suite():
    """Two steps of 32 episodes on tiny-v1's first experiment, with two seeds."""
    whole = load("tiny-v1")
    small = replace(
        whole.experiments[0],
        splits={"train": Split(problems=24), "validation": Split(problems=4)}
        | {"test": Split(problems=6)},
        samples=64,
        batch=32,
        tokens=400,
    )
    start = {small.start: whole.starts[small.start]}
    mini = replace(whole, name="mini-v1", seeds=(0, 1), starts=start, experiments=(small,))
    return freeze(replace(mini, fractions=(0.0, 0.5, 1.0)))


@pytest.fixture(scope="session")
def job(suite):
    """Return the job of an algorithm."""

    def made(text="default", seed=0, **changes):
        name = suite.experiments[0].name
        return Job(suite=suite, experiment=name, choice=Choice.read(text), seed=seed, **changes)

    return made
