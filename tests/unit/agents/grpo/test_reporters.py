"""Where numbers go besides the run's files: lines, a bar, TensorBoard, wandb and trackio."""

import io
import sys

import pytest

from rlvr_envs.agents.grpo.tracking.metrics import Metrics
from rlvr_envs.core.errors import ConfigError, DependencyError

NAN = float("nan")


def test_a_pipe_gets_a_line_a_step(tmp_path, capsys):
    metrics = Metrics(tmp_path, total=20)
    metrics.log(1, {"reward/mean": 0.123456, "length/mean": 31, "kl": 5.0})
    metrics.tell("warning/reward", "warning: it fell")
    metrics.log(2, {"held_out/score": 0.5, "reward/mean": NAN})
    metrics.close()
    assert capsys.readouterr().err == (
        "step 1/20  reward 0.123  tokens 31\nwarning: it fell\nstep 2/20  held-out 0.5\n"
    )
    quiet = Metrics(tmp_path / "quiet", total=20, quiet=True)
    quiet.tell("warning/reward", "warning: it fell")
    quiet.log(1, {"reward/mean": 0.5})
    quiet.close()
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_that_keeps_the_last_evaluation(tmp_path, monkeypatch):
    pytest.importorskip("rich")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    metrics = Metrics(tmp_path, total=20)
    metrics.log(1, {"held_out/score": 0.5})
    metrics.tell("warning/reward", "warning: [it] fell " + "far " * 40)
    metrics.log(2, {"reward/mean": 0.25})
    metrics.close()
    assert "warning: [it] fell " + "far " * 39 in sys.stderr.getvalue()
    assert "2/20" in sys.stderr.getvalue()
    assert "held-out 0.5  reward 0.25" in sys.stderr.getvalue()


def test_unknown_and_missing_reports_are_said_at_once(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="tensorboard, wandb, trackio"):
        Metrics(tmp_path, report=["excel"])
    monkeypatch.setattr("rlvr_envs.agents.grpo.tracking.reporters.find_spec", lambda name: None)
    with pytest.raises(DependencyError, match="pip install wandb"):
        Metrics(tmp_path, report=["wandb"])


def test_wandb_and_trackio_know_a_run_again(tmp_path, monkeypatch):
    calls = []

    class Run:
        def log(self, values, step):
            calls.append(("log", values, step))

        def finish(self):
            calls.append(("finish",))

    class Service(Run):
        __spec__ = object()

        def init(self, **arguments):
            calls.append(("init", arguments))
            return Run()

    for name in ("wandb", "trackio"):
        monkeypatch.setitem(sys.modules, name, Service())
        for step in (1, 2):
            metrics = Metrics(tmp_path / name, report=[name], quiet=True, config={"seed": 3})
            metrics.log(step, {"reward/mean": 0.5, "kl": NAN})
            metrics.close()
        (_, first), logged, finished, (_, again) = calls[:4]
        assert first == again
        assert (first["resume"], first["config"]) == ("allow", {"seed": 3})
        assert (logged, finished) == (("log", {"reward/mean": 0.5}, 1), ("finish",))
        calls.clear()


def test_tensorboard_has_the_numbers(tmp_path):
    pytest.importorskip("tensorboard")
    pytest.importorskip("torch.utils.tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    metrics = Metrics(tmp_path, report=["tensorboard"], quiet=True)
    for step in (1, 2, 3):
        metrics.log(step, {"reward/mean": step / 4, "kl": NAN})
    metrics.close()
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(e.step, e.value) for e in events.Scalars("reward/mean")] == [
        (1, 0.25),
        (2, 0.5),
        (3, 0.75),
    ]
    assert events.Tags()["scalars"] == ["reward/mean"]
