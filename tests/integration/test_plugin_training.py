"""Plug-ins from files outside of the package train by the command line, and go on after a kill."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = (
    *("--tasks", "Derivative-v0", "--groups", "2", "--group-size", "4", "--max-tokens", "6"),
    *(
        "--warm-start",
        "2",
        "--steps",
        "6",
        "--save-every",
        "1",
        "--keep",
        "99",
        "--minibatches",
        "2",
    ),
    *("--learning-rate", "1e-3", "--device", "cpu", "--threads", "1"),
)
CHOSEN = {
    "plugin_estimator": ("--estimator", "by_rank(power=2.0)"),
    "plugin_loss": ("--loss", "leashed(width=0.3)"),
}


def command(*arguments):
    return [sys.executable, "-m", "rlvr_envs", "train", *map(str, arguments)]


def trained(folder):
    """The weights and the random state of the last checkpoint, as bytes."""
    last = max((folder / "checkpoints").iterdir())
    return last.name, (last / "model.safetensors").read_bytes()


@pytest.mark.parametrize("name", CHOSEN)
def test_an_example_from_another_folder_trains_and_goes_on_after_a_kill(name, tmp_path):
    plugin = shutil.copy(EXAMPLES / f"{name}.py", tmp_path / f"my_{name}.py")
    given = ("--plugin", plugin, *CHOSEN[name], *SMALL)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = subprocess.run(
        command(*given, "--out", whole), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    kept = json.loads((whole / "config.json").read_text("utf-8"))
    kind = name.removeprefix("plugin_")
    assert kept["plugins"][kind]["name"] in CHOSEN[name][1]
    assert kept["config"]["plugins"] == [str(plugin)]

    running = subprocess.Popen(
        command(*given, "--out", cut), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while running.poll() is None and not any((cut / "checkpoints").glob("step-*4")):
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL, "the run was over before it could be killed"
    done = subprocess.run(
        command("--resume", "--out", cut), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert trained(cut) == trained(whole)
    assert trained(cut)[0] == "step-00000008"
