"""`rlvr eval --opponents` and `rlvr ratings`."""

import json

import pytest
from fakes.run_folders import record, write_run

from rlvr_envs.cli.main import main

GAME = ("Nim-v0", "--difficulty", "1", "--episodes", "8", "--no-progress")
OPPONENTS = ("--opponents", "random,optimal")


def evaluated(out, *policies, more=()):
    named = [text for policy in policies for text in ("--policy", policy)]
    return main(["eval", *GAME, *OPPONENTS, *named, "--out", str(out), "--no-report", *more])


def test_eval_prints_ratings(tmp_path, capsys):
    assert evaluated(tmp_path, "oracle", "random") == 0
    out = capsys.readouterr().out
    _, _, told = out.partition("\nRatings\n")
    header, *rows = [line.split() for line in told.strip().splitlines() if "  " in line]
    assert header[:3] == ["player", "rating", "[95"]
    assert header[-4:] == ["vs", "random", "vs", "optimal"]
    named = [row[0] if row[0] != "built-in" else " ".join(row[:2]) for row in rows]
    assert sorted(named[:2]) == ["built-in optimal", "oracle"]
    assert named[2:] == ["built-in random", "random"]
    assert rows[-1][2:] == ["[-∞,", *rows[-1][3:]]
    assert "400 points are odds of ten to one, and random has 0" in told
    assert (tmp_path / "anchors.jsonl").read_text().count("\n") == 16


def test_json_of_eval_and_of_ratings_is_the_same(tmp_path, capsys):
    assert evaluated(tmp_path, "oracle", more=["--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["config"]["opponents"] == ["random", "optimal"]
    assert main(["ratings", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == whole["ratings"]
    assert list(found) == ["reference", "groups", "notes"]
    assert list(found["groups"]) == ["overall", "task", "difficulty"]
    (overall,) = found["groups"]["overall"]
    oracle = next(each for each in overall["players"] if each["player"] == "oracle")
    assert oracle["games"] == 32
    assert set(oracle["against"]) == {"random", "optimal"}


def test_several_runs_share_a_table(tmp_path, capsys):
    for policy in ("oracle", "random"):
        assert evaluated(tmp_path / policy, policy) == 0
    capsys.readouterr()
    assert main(["ratings", str(tmp_path / "oracle"), str(tmp_path / "random")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Ratings\n\nplayer ")
    names = [line.partition("  ")[0] for line in out.splitlines()]
    assert names.count("oracle") == names.count("random") == 1
    assert "built-in random" in names
    assert main(["ratings", f"{tmp_path / 'oracle'}:oracel"]) == 2
    assert "did you mean 'oracle'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["Gcd-v0", *OPPONENTS], "rlvr/Gcd-v0 is no game"),
        (["Nim-v0", "--opponents", "random,,optimal"], "names with commas between them"),
        (["Nim-v0", "--opponents", "perfect"], "no opponent 'perfect'"),
    ],
)
def test_mistakes_are_named(given, told, capsys):
    try:
        status = main(["eval", *given, "--policy", "oracle"])
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert told in capsys.readouterr().err


def test_a_run_without_matches_says_how_to_have_some(tmp_path, capsys):
    write_run(tmp_path, [record("m")])
    assert main(["ratings", str(tmp_path)]) == 2
    assert "rlvr eval --opponents random,mcts:50,optimal" in capsys.readouterr().err


def test_a_run_whose_policy_was_never_scored_ends_with_status_1(tmp_path, capsys):
    assert evaluated(tmp_path, "oracle") == 0
    path = tmp_path / "episodes.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["scored"], row["verdict"]["status"] = False, "policy_error"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    capsys.readouterr()
    assert main(["ratings", str(tmp_path)]) == 1
    assert "Games left out: 32," in capsys.readouterr().out
