"""Every example runs, and is short."""

import subprocess
import sys
from pathlib import Path

import pytest

# What trains a model has a test of its own, tests/integration/test_nano_grpo.py.
EXAMPLES = sorted(
    path
    for path in (Path(__file__).resolve().parents[2] / "examples").glob("*.py")
    if path.name != "nano_grpo.py"
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_example(path, tmp_path):
    assert len(path.read_text("utf-8").splitlines()) <= 60
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_examples_of_integrations_are_short():
    """What they do is tested in the environments of their clients, tests/clients."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "integrations"
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in folder.glob("*.py")}
    assert lengths
    assert max(lengths.values()) <= 60, lengths
