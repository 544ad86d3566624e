"""The demo gives its command again where it was killed, as long as that leads somewhere."""

import importlib.util
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "demo.py"


@pytest.fixture
def demo():
    spec = importlib.util.spec_from_file_location("demo", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("statuses", "lines", "ends"),
    [
        ([0], [1], 0),
        ([-signal.SIGKILL, -signal.SIGKILL, 0], [1, 2, 3], 0),
        ([-signal.SIGKILL, 2], [1, 1], 2),
        ([-signal.SIGKILL, -signal.SIGKILL], [1, 1], signal.SIGKILL),
        ([-signal.SIGKILL, -signal.SIGKILL], [0, 0], signal.SIGKILL),
    ],
    ids=["at once", "killed twice", "an error", "no further", "never began"],
)
def test_the_demo_goes_on_where_it_was_killed(
    demo, monkeypatch, tmp_path, capsys, statuses, lines, ends
):
    episodes, calls = tmp_path / "episodes.jsonl", []

    def run(command, **_):
        if lines[len(calls)]:
            episodes.write_text("{}\n" * lines[len(calls)])
        calls.append(command)
        return SimpleNamespace(returncode=statuses[len(calls) - 1])

    monkeypatch.setattr(demo.subprocess, "run", run)
    assert demo.evaluate(["rlvr/Math-v0"], episodes) == ends
    assert len(calls) == len(statuses)
    assert all(call[-4:] == ["-m", "rlvr_envs", "eval", "rlvr/Math-v0"] for call in calls)
    assert capsys.readouterr().out.count("goes on from there") == len(calls) - 1
