"""The agent learns: what is sampled after GRPO is right much more often, on held-out problems."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

ROOT = Path(__file__).parents[2]
LEAST_GAIN = 0.25


def learned(folder, *arguments):
    command = [sys.executable, ROOT / "benchmarks" / "grpo_learning.py", *arguments]
    done = subprocess.run(
        [
            *command,
            "--runs",
            folder / "runs",
            "--out",
            folder / "learning.json",
            "--pictures",
            folder,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "learning.raw.json").read_text(encoding="utf-8"))["samples"]


def test_a_tiny_model_learns_to_answer_in_one_turn(tmp_path):
    (run,) = learned(tmp_path, "--seeds", "0")
    before, after = run["held_out"]["before"], run["held_out"]["after"]
    assert 0.05 < before["score"] < 0.6
    assert after["score"] >= before["score"] + LEAST_GAIN
    assert sum(run["score"][-10:]) > sum(run["score"][:10]) + 10 * LEAST_GAIN


@pytest.mark.slow
def test_a_tiny_model_learns_to_play_several_turns(tmp_path):
    (run,) = learned(tmp_path, "--seeds", "0", "--task", "GuessNumber-v0", "--steps", "220")
    before, after = run["held_out"]["before"], run["held_out"]["after"]
    assert after["score"] >= before["score"] + LEAST_GAIN
