"""`rlvr compare`."""

import json

import pytest
from fakes.run_folders import record, write_run

from rlvr_envs.cli.main import main


@pytest.fixture
def runs(tmp_path):
    before = [record("m", seed=s, level=s % 2, score=0.0) for s in range(6)]
    after = [record("m", seed=s, level=s % 2, score=float(s > 1)) for s in range(7)]
    write_run(tmp_path / "before", before)
    write_run(tmp_path / "after", after)
    return tmp_path


def test_it_prints_the_comparison(runs, capsys):
    assert main(["compare", f"{runs}/before", f"{runs}/after", "--problems", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("after compared with before, the baseline\n")
    assert [line.split() for line in out.splitlines() if line.strip().startswith("6 ")] == [
        ["6", "0.000", "0.667", "0.667", "[-0.099,", "1.000]", "4", "2", "0"]
    ]
    assert "The 2 of 4 changed problems that changed most:" in out
    assert "wrong → correct" in out
    assert "difficulty  problems" in out
    assert "task      problems" not in out  # of one task the whole says it
    assert "1 problems of after are not in the other run." in out
    assert "Note:" not in out


def test_json_has_the_same(runs, capsys):
    given = ["compare", f"{runs}/before", f"{runs}/after", "--json", "--problems", "1"]
    assert main(given) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["first"], found["second"]) == ("before", "after")
    assert found["groups"]["overall"][0]["won"] == 4
    assert len(found["changes"]) == 1


def test_policies_of_one_run_are_compared_with_the_first(tmp_path, capsys):
    run = write_run(tmp_path, [record(p, score=float(p != "b")) for p in "abc"])
    assert main(["compare", str(run), "--problems", "0"]) == 0
    out = capsys.readouterr().out
    assert "b compared with a, the baseline" in out
    assert "c compared with a, the baseline" in out
    assert "changed" not in out


def test_runs_without_a_common_problem_say_why(runs, capsys):
    other = write_run(runs / "other", [record("m", seed=70)], seed=5)
    assert main(["compare", f"{runs}/before", str(other)]) == 1
    out = capsys.readouterr().out
    assert "Note: they share no problem: other levels" not in out
    assert "Note: they share no problem: other problem seeds (--seed 0; --seed 5)" in out


def test_one_policy_alone_is_refused(runs, capsys):
    assert main(["compare", f"{runs}/before"]) == 2
    assert "has one policy: give a second run" in capsys.readouterr().err
