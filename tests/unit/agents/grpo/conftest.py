"""Whole runs of a tiny model: a look at their groups, and verdicts that are certain."""

import json
from dataclasses import dataclass, field

import pytest

TINY = {
    "steps": 2,
    "groups": 4,
    "group_size": 2,
    "max_tokens": 4,
    "context": 512,
    "device": "cpu",
    "threads": 1,
    "learning_rate": 1e-3,
    "warmup": 0,
}


@dataclass
class Notes:
    """What a run showed: its groups and what was learned from, by step."""

    groups: list = field(default_factory=list)
    batches: list = field(default_factory=list)
    metrics: list = field(default_factory=list)

    @property
    def proposals(self):
        return [[group.proposal for group in step] for step in self.groups]


@pytest.fixture(scope="session")
def watched():
    """Return a function that trains a tiny model and returns notes.

    It takes the folder of the run, a function from an instance to the score that is paid instead of
    the task's, a curriculum object, and settings.
    """
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import gymnasium

    from rlvr_envs.agents.grpo import plugins
    from rlvr_envs.agents.grpo.parts import EnvMaker
    from rlvr_envs.agents.grpo.presets import preset
    from rlvr_envs.agents.grpo.run import Callback
    from rlvr_envs.agents.grpo.train import train
    from rlvr_envs.core.verdict import Verdict

    notes = Notes()

    @plugins.callback(name="watch_for_tests")
    class Watch(Callback):
        def __init__(self):
            self.groups = []

        def on_group(self, run, group):
            self.groups.append(group)

        def on_batch(self, run, episodes):
            notes.groups.append(self.groups)
            notes.batches.append(list(episodes))
            self.groups = []
            return episodes

    class Judged(gymnasium.Wrapper):
        def __init__(self, env, judge):
            super().__init__(env)
            self.judge = judge

        def step(self, action):
            text, paid, terminated, truncated, info = super().step(action)
            if "verdict" in info:
                paid = float(self.judge(self.unwrapped.instance))
                info |= {"verdict": Verdict.graded(paid, "as the test says"), "scored": True}
            return text, paid, terminated, truncated, info

    def run(folder, judge=None, own=None, callbacks=(), **settings):
        notes.groups, notes.batches = [], []
        callbacks = ("watch_for_tests", *callbacks)
        config = preset(out=str(folder), callbacks=callbacks, **(TINY | settings))
        make_env = None
        if judge is not None:
            maker = EnvMaker(config.data.tasks, config.data.wrappers, {})

            def make_env(task, level):
                return Judged(maker(task, level), judge)

        train(config, make_env=make_env, curriculum=own, quiet=True)
        return Notes(notes.groups, notes.batches, metrics(folder))

    return run


def metrics(folder):
    """Return the rows of a run's metrics, without what a clock measured."""
    rows = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return [
        {name: value for name, value in row.items() if "time/" not in name and name != "tokens/s"}
        for row in rows
    ]
