"""The stored results of benchmarks are summaries: complete, short and quoted from one place."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
STORED = sorted(path for path in RESULTS.glob("*.json") if not path.name.endswith(".raw.json"))
FIELDS = ("measured", "device", "versions", "command", "date", "figures")
MOST_LINES = 60
LONGER = {
    "grpo_mechanisms": 80,  # a line for each preset
    "levels": 280,  # a line for each task, since the tasks' pages draw its curves
    "solve_rates_ideas": 95,
    "solve_rates": 95,  # a line for each task, which its page shows
    "verilog_soundness": 80,  # a line for each family of designs, since its page has them
}
WIDEST = 200

sys.path.append(str(ROOT / "benchmarks"))  # which are no part of the package
results_file = importlib.import_module("results_file")


def test_there_are_results() -> None:
    assert len(STORED) > 15
    assert LONGER.keys() <= {path.stem for path in STORED}


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_result_says_what_how_and_when_in_few_lines(path: Path) -> None:
    text = path.read_text("utf-8")
    stored = json.loads(text)
    assert [field for field in FIELDS if not stored.get(field)] == []
    assert {"processor", "cores"} <= stored["device"].keys()
    assert {"python", "rlvr_envs"} <= stored["versions"].keys()
    assert len(text.splitlines()) <= LONGER.get(path.stem, MOST_LINES)
    wide = [line for line in text.splitlines() if len(line) > WIDEST]
    assert [line for line in wide if not line.startswith(' "command"')] == []
    assert text == results_file.as_text(stored) + "\n"  # as the benchmarks write it


def test_raw_samples_are_ignored_by_git(tracked: list[Path]) -> None:
    raw = results_file.raw_file(RESULTS / "sandbox.json")
    assert raw == RESULTS / "sandbox.raw.json"
    done = subprocess.run(["git", "check-ignore", raw], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0
    assert [path for path in tracked if ".raw." in path.name] == []


def test_a_run_stores_a_summary_and_its_samples(tmp_path: Path) -> None:
    args = results_file.parser("What it does.", "some").parse_args(["--out", f"{tmp_path}/a.json"])
    head = results_file.head("some speed", "numpy", "no-such-package", gpu="H1", note="busy")
    results_file.store(args, head, {"median": 2}, [1, 2, 3])
    stored = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert [field for field in FIELDS if not stored.get(field)] == []
    assert stored["figures"] == {"median": 2}
    assert stored["device"]["gpu"] == "H1"
    assert stored["versions"]["no-such-package"] is None
    assert stored["note"] == "busy"
    assert json.loads((tmp_path / "a.raw.json").read_text("utf-8"))["samples"] == [1, 2, 3]


def test_a_part_alone_never_replaces_the_stored_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(results_file, "RESULTS", tmp_path)
    args = results_file.parser("What it does.", "some").parse_args([])
    results_file.store(args, {}, {"a": 1}, [], whole=False)
    assert list(tmp_path.iterdir()) == []
    assert "--out" in capsys.readouterr().err
    results_file.store(args, {}, {"a": 1}, [])
    assert {path.name for path in tmp_path.iterdir()} == {"some.json", "some.raw.json"}


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        {"a": {}, "b": [], "c": None, "d": "\u00e9"},
        {"table": {str(n): list(range(50)) for n in range(9)}},
        {"long": list(range(400)), "names": {f"name {n}": n / 7 for n in range(99)}},
        {"deep": {"er": {"still": [{"x": "y" * 100}, {"x": "z" * 100}]}}},
    ],
)
def test_a_summary_is_json_of_lines_that_can_be_read(value: dict[str, Any]) -> None:
    text = results_file.as_text(value)
    assert json.loads(text) == value
    assert max(map(len, text.splitlines())) <= WIDEST
    assert len(text.splitlines()) < 2 + json.dumps(value).count(",") + 9


def test_a_table_gives_its_rows_back() -> None:
    rows = {"a": {"x": 1, "y": 2}, "b": {"y": 3, "z": 4}}
    found = results_file.table(rows)
    assert found == {"columns": ["x", "y", "z"], "rows": {"a": [1, 2, None], "b": [None, 3, 4]}}
    assert results_file.rows_of(found)["b"] == {"x": None, "y": 3, "z": 4}
