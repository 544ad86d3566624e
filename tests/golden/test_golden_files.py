"""Golden lines: how they are written, compared and added."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import golden_lines
import pytest
from golden_files import add, compact, differences, read, written
from golden_lines import settle

GCD = "rlvr/Gcd-v0"
ROOT = Path(__file__).resolve().parents[2]


def line(task_id=GCD, difficulty=0, seed=0, **changes):
    values = {"problem_seed": 5, "prompt": "ab", "reference": "7", "oracle": "correct 1"}
    return {
        "id": task_id, "difficulty": difficulty, "seed": seed, **values, "near": {"8": "wrong 0"},
        **changes,
    }  # fmt: skip


@pytest.fixture
def file(tmp_path):
    """Return a file that holds the true lines of one task."""
    assert settle(GCD, tmp_path, update=True) == ""
    return tmp_path / "math.jsonl"


def test_short_references_are_stored_in_full_and_long_ones_as_hashes():
    assert compact("x" * 80) == "x" * 80
    assert (
        compact("x" * 81) == f"sha256 {hashlib.sha256(b'x' * 81).hexdigest()[:16]}, 81 characters"
    )
    assert compact(["U", "D"]) == ["U", "D"]
    assert compact(["move"] * 20).endswith(", 20 actions")
    assert compact("x" * 81) != compact("x" * 80 + "y")


def test_a_line_has_its_keys_in_one_order_and_is_read_as_it_was():
    mixed = dict(reversed(line(first_prompt="Größe?\n").items()))
    text = written(mixed)
    assert list(json.loads(text)) == [*line(), "first_prompt"]
    assert json.loads(text) == mixed
    assert "Größe?\\n" in text


def test_lines_are_added_in_order_and_others_stay(tmp_path):
    path = tmp_path / "math.jsonl"
    add(path, "b", [line("b", 3, 1), line("b", 3, 0), line("b", 0, 7)])
    before = path.read_text("utf-8").splitlines()
    add(path, "c", [line("c", None, 0)])
    add(path, "a", [line("a", 0, 0)])
    after = path.read_text("utf-8").splitlines()
    assert after[1:4] == before
    places = [(found["id"], found["difficulty"], found["seed"]) for found in read(path)]
    assert places == [("a", 0, 0), ("b", 0, 7), ("b", 3, 0), ("b", 3, 1), ("c", None, 0)]


def test_a_task_that_has_lines_is_not_written(tmp_path):
    path = tmp_path / "math.jsonl"
    add(path, "a", [line("a")])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="delete them"):
        add(path, "a", [line("a", 3)])
    assert path.read_bytes() == before


def test_equal_lines_differ_in_nothing():
    assert differences([line(), line(seed=1)], [line(), line(seed=1)]) == ""


def test_the_first_difference_is_told_with_both_values():
    stored = [line(seed=seed) for seed in range(4)]
    now = [
        line(),
        line(seed=1),
        line(seed=2, near={"8": "correct 1"}),
        line(seed=3, prompt="other"),
    ]
    found = differences(stored, now)
    assert found.startswith("2 of 4 lines differ; the first is rlvr/Gcd-v0, difficulty 0, seed 2:")
    assert '    stored: {"8": "wrong 0"}\n    now:    {"8": "correct 1"}' in found
    assert "other" not in found


def test_a_long_value_is_shown_where_it_differs():
    old, new = "a" * 5000 + "old" + "b" * 5000, "a" * 5000 + "new" + "b" * 5000
    found = differences([line(first_prompt=old)], [line(first_prompt=new)])
    assert "aold" in found
    assert "anew" in found
    assert len(found) < 600


@pytest.mark.parametrize(
    ("stored", "now", "said"),
    [
        ([line(), line(seed=1)], [line()], "no such problem is drawn"),
        ([line()], [line(), line(seed=1)], "it is not stored"),
        ([], [line(difficulty=None)], "seed 0:"),
    ],
)
def test_lines_that_are_only_on_one_side_are_told(stored, now, said):
    assert said in differences(stored, now)


def test_new_lines_agree_with_the_task(file):
    lines = read(file)
    assert len(lines) == 24
    assert [("first_prompt" in found) for found in lines] == [True] + [False] * 23
    assert all(len(found["near"]) >= 2 for found in lines)
    assert settle(GCD, file.parent) == ""


def test_lines_are_written_only_when_asked(tmp_path):
    assert "--update-golden" in settle(GCD, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("prompt", "0" * 16),
        ("problem_seed", 1),
        ("reference", "0"),
        ("oracle", "wrong 0"),
        ("near", {"1": "correct 1"}),
    ],
)
def test_a_changed_line_is_told_and_never_rewritten(file, key, value):
    lines = read(file)
    lines[4] |= {key: value}
    file.write_text("".join(written(found) + "\n" for found in lines), "utf-8")
    before = file.read_bytes()
    wrong = settle(GCD, file.parent, update=True)
    assert wrong.startswith(
        f"1 of 24 lines differ; the first is {GCD}, difficulty 0, seed 4:\n  {key}\n"
    )
    assert "delete all lines of rlvr/Gcd-v0" in wrong
    assert file.read_bytes() == before


def test_a_line_that_is_gone_is_told_and_not_added(file):
    before = "".join(file.read_text("utf-8").splitlines(keepends=True)[:-1])
    file.write_text(before, "utf-8")
    assert "it is not stored" in settle(GCD, file.parent, update=True)
    assert file.read_text("utf-8") == before


def test_a_task_whose_lines_are_deleted_gets_the_same_again(file):
    assert settle("rlvr/Totient-v0", file.parent, update=True) == ""
    whole = file.read_text("utf-8")
    kept = [text for text in whole.splitlines(keepends=True) if GCD not in text]
    file.write_text("".join(kept), "utf-8")
    assert settle(GCD, file.parent, update=True) == ""
    assert file.read_text("utf-8") == whole


@pytest.mark.parametrize(("seed", "noticed"), [(0, True), (1, False)])
def test_a_task_that_runs_programs_judges_one_seed_unless_thorough(
    file, monkeypatch, seed, noticed
):
    monkeypatch.setattr(golden_lines, "runs_programs", lambda task_id: True)
    lines = read(file)
    near = lines[8 + seed]["near"]
    near[next(iter(near))] = "partial 0.5"
    file.write_text("".join(written(found) + "\n" for found in lines), "utf-8")
    assert bool(settle(GCD, file.parent)) == noticed
    assert settle(GCD, file.parent, thorough=True)


def test_a_verdict_that_depends_on_the_machine_is_not_stored(tmp_path, monkeypatch):
    judge = golden_lines._verdict

    def busy(instance, answer):
        verdict = judge(instance, answer)
        return verdict if answer == instance.reference() else verdict.replace("wrong", "timeout")

    monkeypatch.setattr(golden_lines, "_verdict", busy)
    assert settle(GCD, tmp_path, update=True) == ""
    assert "timeout" not in (tmp_path / "math.jsonl").read_text("utf-8")


def test_several_processes_must_not_write():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "--update-golden", "tests/golden"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "it needs one process" in done.stderr
