"""Whole runs of a tiny model: what is measured, kept, said and stopped while they go on."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import gymnasium

from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.model import checkpoint
from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.run import Callback
from rlvr_envs.agents.grpo.tracking.metrics import METRICS, SAMPLES, read
from rlvr_envs.agents.grpo.train import train
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.files import locked
from rlvr_envs.core.verdict import Verdict


def tiny(folder, **changes):
    fields = {
        "tasks": ("Gcd-v0",),
        "steps": 3,
        "groups": 2,
        "group_size": 4,
        "max_tokens": 3,
        "context": 512,
        "device": "cpu",
        "threads": 1,
        "warmup": 0,
        "learning_rate": 1e-3,
        "out": str(folder),
    }
    return preset(changes.pop("preset", "default"), **(fields | changes))


class Paid(gymnasium.Wrapper):
    """Pays what a function says of the answer."""

    def __init__(self, env, score):
        super().__init__(env)
        self.score = score

    def step(self, action):
        text, _, terminated, truncated, info = self.env.step(action)
        score = self.score(action)
        verdict = Verdict.correct() if score == 1.0 else Verdict.wrong("paid otherwise")
        return text, score, terminated, truncated, info | {"verdict": verdict, "scored": True}


def paying(score):
    """Return a maker of environments that pay so."""
    maker = EnvMaker(("Gcd-v0",), (), {})
    return lambda task, difficulty: Paid(maker(task, difficulty), score)


def by_parity(action):
    """About every second answer of an untrained model is right."""
    return float(len(action) % 2)


@plugins.callback(name="one_equal_for_tests")
class OneEqual(Callback):
    """Of the first two groups, one has both rewards, and the other has equal ones."""

    def __init__(self):
        self.groups = 0

    def on_group(self, run, group):
        self.groups += 1
        for place, episode in enumerate(group.episodes):
            episode.reward = episode.score = float(self.groups == 1 and place % 2)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_hopeless_task_is_said_and_its_answers_are_kept(tmp_path, capsys):
    config = tiny(
        tmp_path / "run", preset="dapo", minibatches=1, overlong="count", groups=4, samples=3
    )
    train(config, make_env=paying(lambda _: 0.0))
    steps = read(tmp_path / "run")
    assert [row["groups/drawn"] for row in steps.values()] == [32.0] * 3
    assert [row["reward/mean"] for row in steps.values()] == [0.0] * 3
    assert [row["groups/failed"] for row in steps.values()] == [1.0] * 3
    assert all(row["entropy"] > 1 for row in steps.values())
    shown = capsys.readouterr().err
    assert shown.count("warning: ") == 1
    assert "warning: nothing was learned in the last 2 steps: of 64 groups 64 failed" in shown
    assert steps[2]["warning/no_signal_failed"] == 1
    (text,) = lines(tmp_path / "run" / METRICS)[1]["told"].values()
    assert text in shown
    samples = lines(tmp_path / "run" / SAMPLES)
    assert [row["step"] for row in samples] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert all("greatest common divisor" in row["prompt"].lower() for row in samples)
    assert len({row["problem_seed"] for row in samples}) == 9


def test_numbers_cover_what_has_no_advantage(tmp_path):
    """One update: tokens of groups with equal rewards have the ratio 1 and are not clipped."""
    train(tiny(tmp_path, steps=1, callbacks=("one_equal_for_tests",)), quiet=True)
    (row,) = read(tmp_path).values()
    assert row["zero_variance"] == 0.5
    assert row["tokens"] == pytest.approx(8 * row["length/mean"])
    assert (row["ratio/mean"], row["ratio/max"], row["clip_fraction"]) == (1.0, 1.0, 0.0)
    assert row["mismatch/mean"] < 1e-4


def test_two_updates_measure_the_ratio_of_all_tokens(tmp_path):
    settings = {"epochs": 2, "learning_rate": 1e-2, "callbacks": ("one_equal_for_tests",)}
    train(tiny(tmp_path, steps=1, **settings), quiet=True)
    (row,) = read(tmp_path).values()
    assert row["tokens"] == pytest.approx(2 * 8 * row["length/mean"])
    assert row["ratio/max"] > 1.001


def test_exact_entropy_where_the_objective_asks(tmp_path):
    train(tiny(tmp_path / "a", steps=1), make_env=paying(by_parity), quiet=True)
    assert "entropy/exact" not in read(tmp_path / "a")[1]
    asked = tiny(tmp_path / "b", steps=1, entropy_coef=0.01, groups=16, group_size=8)
    train(asked, make_env=paying(by_parity), quiet=True)
    row = read(tmp_path / "b")[1]
    assert row["entropy"] == pytest.approx(row["entropy/exact"], rel=0.1)


def test_samples_and_warnings_are_the_same_in_pieces(tmp_path):
    def settings(name, **more):
        return tiny(tmp_path / name, steps=4, groups=16, group_size=2, save_every=1, **more)

    nothing = paying(lambda _: 0.0)
    train(settings("whole"), make_env=nothing, quiet=True)
    for resume in (False, True, True, True):
        train(settings("parts", stop_after=1, resume=resume), make_env=nothing, quiet=True)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert (whole / SAMPLES).read_text("utf-8") == (parts / SAMPLES).read_text("utf-8")
    told = [[row.get("told") for row in lines(path / METRICS)] for path in (whole, parts)]
    assert told[0] == told[1]
    assert [bool(text) for text in told[0]] == [False, True, False, False]


@pytest.fixture
def scored(monkeypatch):
    """Let held-out evaluations have these scores, one after the other."""

    def give(*scores):
        left = iter(scores)
        told = lambda *_: {"held_out/score": next(left)}  # noqa: E731
        monkeypatch.setattr("rlvr_envs.agents.grpo.train.held_out", told)

    return give


def test_a_run_without_progress_stops_and_keeps_its_best(tmp_path, scored, capsys):
    scored(0.1, 0.2, 0.5, 0.4, 0.5, 0.9)
    config = tiny(tmp_path, steps=9, evaluate_every=1, patience=2, save_every=100, keep=1)
    newest = train(config, make_env=paying(by_parity))
    assert newest.name == "step-00000004"
    folder = tmp_path / "checkpoints"
    assert checkpoint.best_of(folder).name == "step-00000002"
    assert sorted(path.name for path in folder.iterdir()) == [
        "best",
        "step-00000002",
        "step-00000004",
    ]
    told = "stopped after 2 evaluations without a better held-out score than 0.5 after step 2"
    assert told in capsys.readouterr().err
    assert lines(tmp_path / METRICS)[-1]["told"] == {"stopped": told}

    # It stays stopped, unless more patience is given.
    again = config.replace(resume=True)
    assert train(again, make_env=paying(by_parity)).name == "step-00000004"
    told = (
        f"{tmp_path}: the run is finished at step 4, after 2 evaluations that were not better; to "
        "extend it, have more patience, such as --resume --patience 4\n"
    )
    assert told in capsys.readouterr().err
    scored(0.4, 0.3)
    newest = train(again.replace(patience=4), make_env=paying(by_parity), quiet=True)
    assert newest.name == "step-00000006", "two were counted before"
    assert checkpoint.best_of(folder).name == "step-00000002"


def test_patience_needs_evaluations(tmp_path):
    with pytest.raises(ConfigError, match="give evaluate_every"):
        train(tiny(tmp_path, patience=2), quiet=True)


def test_two_processes_in_one_folder_are_refused(tmp_path):
    with locked(tmp_path), pytest.raises(UsageError, match="another process"):
        train(tiny(tmp_path), quiet=True)
    assert not (tmp_path / METRICS).exists()
