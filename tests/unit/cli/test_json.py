"""`--json`: JSON alone on stdout, with keys that stay."""

import json

import pytest

from rlvr_envs import make_problem
from rlvr_envs.cli.main import main


def printed(capsys, *command, status=0):
    capsys.readouterr()
    assert main([*command, "--json"]) == status
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    made = [make_problem("Gcd-v0", seed=seed) for seed in range(2)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in made))
    return path


def test_list(capsys):
    found = printed(capsys, "list", "--domain", "math")
    assert {tuple(row) for row in found} == {("id", "domain", "about")}


def test_show_a_task(capsys):
    found = printed(capsys, "show", "Gcd-v0", "--difficulty", "2", "--seed", "3")
    assert list(found) == ["id", "domain", "about", "sections", "tasks", "knobs", "example"]
    assert (found["id"], found["domain"], found["tasks"]) == (
        "rlvr/Gcd-v0",
        "math",
        ["rlvr/Gcd-v0"],
    )
    assert found["knobs"]["n_numbers"].keys() == {"default", "help", "allowed"}
    example = found["example"]
    assert example["difficulty"] == 2
    assert "greatest common divisor" in example["prompt"]
    assert example["answers"][0].startswith("\\boxed{")
    assert example["explanation"]
    assert example.keys() >= {"task", "problem_seed"}


@pytest.mark.parametrize(("name", "domain"), [("Math-v0", "math"), ("All-v0", "all")])
def test_show_a_mixture(capsys, name, domain):
    found = printed(capsys, "show", name)
    assert list(found) == ["id", "domain", "about", "sections", "tasks", "knobs", "example"]
    assert found["domain"] == domain
    assert "rlvr/Gcd-v0" in found["tasks"]
    assert found["example"]["task"] in found["tasks"]


def test_check(capsys):
    command = ("check", "Gcd-v0", "--only", "documentation_is_complete")
    (found,) = printed(capsys, *command)
    assert found == {
        "id": "rlvr/Gcd-v0",
        "check": "documentation_is_complete",
        "status": "passed",
        "asked": found["asked"],
        "seen": "",
    }
    assert found["asked"].startswith("The docstring")


def test_check_that_fails(capsys, monkeypatch):
    from rlvr_envs.core.registry import find

    monkeypatch.setattr(find("Gcd-v0").task_type, "__doc__", "Nothing.")
    command = ("check", "Gcd-v0", "--only", "documentation_is_complete")
    (found,) = printed(capsys, *command, status=1)
    assert found["status"] == "failed"
    assert "lacks the section" in found["seen"]


def test_doctor(capsys):
    found = printed(capsys, "doctor")
    names = "version python platform core extras verilog languages sandboxes tasks"
    assert list(found) == names.split()
    assert {"name": "worker pool", "state": "works", "broken": False} in found["core"]
    assert found["tasks"]["math"] > 10
    assert found["languages"]["python"] is True
    assert found["extras"][0].keys() == {"extra", "for", "state"}


def test_doctor_missing(capsys):
    lines = printed(capsys, "doctor", "--missing")
    assert all(isinstance(line, str) for line in lines)
    assert main(["doctor", "--missing"]) == 0
    told = capsys.readouterr().out
    assert told == "".join(f"missing: {line}\n" for line in lines) or "nothing is missing" in told


def test_languages(capsys):
    found = printed(capsys, "languages")
    assert {tuple(row) for row in found} == {("name", "installed", "version", "install")}


def test_generate(capsys, tmp_path):
    out = tmp_path / "data"
    found = printed(capsys, "generate", "Gcd-v0", "--count", "2", "--out", str(out), "--quiet")
    assert found["out"] == str(out)
    (file,) = found["files"]
    assert file.keys() == {"name", "split", "rows", "sha256"}
    assert (file["split"], file["rows"]) == ("train", 2)


def test_export(capsys, rows, tmp_path):
    out = tmp_path / "out.jsonl"
    found = printed(capsys, "export", "--to", "trl", str(rows), "--out", str(out))
    assert found == [{"file": str(out), "split": "train", "rows": 2}]


def test_verify(capsys, rows, tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"row": 0, "response": "\\\\boxed{-1}"}\n')
    found = printed(capsys, "verify", str(rows), "--answers", str(answers), "--executor", "serial")
    line = {"answers": 1, "mean": 0.0, "statuses": {"wrong": 1}}
    assert found == {
        "rows": 2,
        "answered": 1,
        "bad_lines": 0,
        "tasks": {"rlvr/Gcd-v0": line, "all": line},
    }


def test_bench_list(capsys):
    pytest.importorskip("pydantic")
    suites = printed(capsys, "bench", "list")
    tiny = next(suite for suite in suites if suite["suite"] == "tiny-v1")
    assert list(tiny) == ["suite", "title", "status", "draft", "hash", "experiments", "seeds"]
    names = {"experiment", "axis", "samples", "tokens", "question"}
    assert all(each.keys() == names for each in tiny["experiments"])
    assert printed(capsys, "bench", "list", "tiny-v1") == tiny


def test_presets(capsys):
    pytest.importorskip("tyro")
    pytest.importorskip("torch")
    found = printed(capsys, "train", "--list")
    assert {tuple(each) for each in found} == {("name", "paper", "differs", "settings")}
    assert "grpo" in {each["name"] for each in found}


def test_plot(capsys, tmp_path):
    pytest.importorskip("plotly")
    pytest.importorskip("tyro")
    run = tmp_path / "first"
    run.mkdir()
    steps = [{"step": step, "reward/mean": 1 - 0.9**step} for step in range(30)]
    (run / "metrics.jsonl").write_text("".join(f"{json.dumps(step)}\n" for step in steps))
    out = tmp_path / "curves.html"
    found = printed(capsys, "plot", str(run), "--out", str(out), "--fit")
    assert found["out"] == str(out)
    assert found["runs"] == [{"name": "first", "seeds": 1}]
    (fit,) = found["fits"]
    names = "run metric start asymptote midpoint exponent residual points last"
    assert list(fit) == names.split()
    assert (fit["run"], fit["metric"], fit["points"]) == ("first", "reward/mean", 30)


@pytest.mark.parametrize(
    "command",
    ["list", "show", "check", "doctor", "languages", "generate", "export", "verify", "plot"],
)
def test_help_says_the_keys(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "print JSON alone: " in " ".join(capsys.readouterr().out.split())
