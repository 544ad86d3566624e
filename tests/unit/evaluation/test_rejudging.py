"""Judging stored runs again: what changes, what stays, and what is refused."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlvr_envs.cli.main import main
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.registry import find, register
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.evaluation import FunctionPolicy, PolicyError, evaluate, rejudge
from rlvr_envs.evaluation.store import read_problems, read_records
from rlvr_envs.executors import Processes

PLUS = "rlvr/EvalPlus-v0"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stored(folder):
    return {record["key"]: record for record in read_records(folder / "episodes.jsonl")}


def rewrite(path, change):
    """Change the objects of a file of lines."""
    rows = [change(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def run(tmp_path):
    """A run of 12 episodes: right, wrong and unreadable answers, and one without a response."""
    said = iter(["\\boxed{7}", None, "none", "\\boxed{100}", *["\\boxed{5}"] * 8])

    def act(messages):
        text = next(said)
        if text is None:
            raise PolicyError("the line is dead")
        return text

    policy = FunctionPolicy("mine", act)
    evaluate("EvalPlus-v0", [policy], difficulty=[0, 1], episodes=6, out=tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def strict(monkeypatch):
    """From now on, every number is wrong, with half of the score if it is 5."""

    def verify(self, problem, answer):
        if not answer.isdecimal():
            return Verdict.unparsable("expected an integer")
        return Verdict.graded(0.5 if answer == "5" else 0.0, f"{answer} is out of favour")

    monkeypatch.setattr(find(PLUS).task_type, "verify", verify)


def test_the_same_verifiers_give_the_same_verdicts_and_touch_nothing(run):
    before = contents(run)
    found = rejudge(run)
    assert (found.changes, found.kept, found.problems, found.new_prompts) == ([], 1, 12, 0)
    assert sum(found.counts.values()) == 11
    assert all(old == new for old, new in found.counts)
    assert found.after == found.before
    assert contents(run) == before


def test_every_changed_verdict_is_listed(run, strict):
    old = stored(run)
    found = rejudge(run)
    changed = {change.key: change for change in found.changes}
    expected = {}
    for key, record in old.items():
        if record["answer"] is not None:
            score = 0.5 if record["answer"] == "5" else 0.0
            if record["verdict"]["score"] != score:
                expected[key] = score
    assert {key: change.new_score for key, change in changed.items()} == expected
    assert len(expected) > 4
    for key, change in changed.items():
        record = old[key]
        assert (change.old_status, change.old_score) == (
            record["verdict"]["status"],
            record["verdict"]["score"],
        )
        assert (change.task, change.difficulty, change.sample) == (PLUS, record["difficulty"], 0)
        assert change.problem == str(record["problem_seed"])
        assert change.detail == f"{record['answer']} is out of favour"
    assert sum(count for (_, new), count in found.counts.items() if new == "correct") == 0
    assert found.before["overall"][0].score != found.after["overall"][0].score


def test_the_new_run_is_whole_and_goes_on(run, strict, tmp_path):
    before = contents(run)
    new = tmp_path / "new"
    found = rejudge(run, out=new)
    assert contents(run) == before
    assert {path.name for path in new.iterdir()} == {
        "run.json", "problems.jsonl", "episodes.jsonl", "summary.json",
    }  # fmt: skip
    old, judged = stored(run), stored(new)
    assert list(judged) == list(old)
    for key, record in judged.items():
        same = {k: v for k, v in record.items() if k not in ("verdict", "scored")}
        assert same == {k: v for k, v in old[key].items() if k not in ("verdict", "scored")}
    assert (new / "problems.jsonl").read_bytes() == before["problems.jsonl"]
    summary = json.loads((new / "summary.json").read_text())
    assert summary["levels"]["overall"][0] == json.loads(
        json.dumps(found.after["overall"][0].to_json())
    )

    asked = []
    policy = FunctionPolicy("mine", lambda messages: asked.append(1) or "\\boxed{5}")
    resumed = evaluate("EvalPlus-v0", policy, difficulty=[0, 1], episodes=6, out=new)
    assert len(asked) == 1  # the one whose policy had failed
    assert resumed.summary["overall"][0].unscored == 0
    assert rejudge(new).changes == []


def test_a_mended_verifier_scores_what_was_unscored(tmp_path, mend):
    evaluate("EvalBreakable-v0", "oracle", episodes=3, out=tmp_path)
    assert rejudge(tmp_path).counts == {("verifier_error", "verifier_error"): 3}
    mend()
    found = rejudge(tmp_path)
    assert found.counts == {("verifier_error", "correct"): 3}
    assert [(c.old_score, c.new_score) for c in found.changes] == [(None, 1.0)] * 3


def test_the_stored_problem_is_judged_not_the_one_of_today(run, monkeypatch):
    plus = find(PLUS).task_type
    pair = plus.Problem
    monkeypatch.setattr(plus, "generate", lambda self, rng: pair(100, 100))
    monkeypatch.setattr(plus, "prompt", lambda self, problem: f"{problem.first} + what?")
    found = rejudge(run)
    assert (found.changes, found.new_prompts) == ([], 12)


def test_an_episode_that_counts_twice_is_judged_once_as_it_ended(tmp_path, mend):
    evaluate("EvalBreakable-v0", "oracle", episodes=3, out=tmp_path / "run")
    mend()
    evaluate("EvalBreakable-v0", "oracle", episodes=3, out=tmp_path / "run")
    found = rejudge(tmp_path / "run", out=tmp_path / "new")
    assert found.counts == {("correct", "correct"): 3}
    assert len((tmp_path / "new" / "episodes.jsonl").read_text().splitlines()) == 3


def test_interactive_episodes_are_played_again(tmp_path):
    moves = iter(["x", "crash", "x", "x", "x"])
    player = FunctionPolicy("player", lambda messages: next(moves))
    evaluate("EvalHotCold-v0", [player, "oracle"], episodes=2, out=tmp_path)
    found = rejudge(tmp_path)
    assert found.changes == []
    assert found.counts == {
        ("correct", "correct"): 2, ("verifier_error", "verifier_error"): 1, ("wrong", "wrong"): 1,
    }  # fmt: skip
    # Had the task not failed, the episode would have gone on: no fault of the policy.
    path = tmp_path / "episodes.jsonl"
    mended = {"crash": "y"}
    rewrite(path, lambda r: r | {"response": [mended.get(a, a) for a in r["response"]]})
    found = rejudge(tmp_path, out=tmp_path / "new")
    assert found.counts["verifier_error", "verifier_error"] == 1
    (record,) = (r for r in stored(tmp_path / "new").values() if not r["scored"])
    assert "it has to be played again" in record["verdict"]["detail"]


def test_problems_that_cannot_be_used_are_named_or_left_unscored(run):
    path = run / "problems.jsonl"
    first, second = (row["question"] for row in list(read_problems(path))[:2])

    def spoil(row):
        return row | {"problem": {"first": 1, "second": 99}} if row["question"] == first else row

    rewrite(path, spoil)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if second not in line))
    with pytest.raises(RowError, match=r"does not match its fingerprint.*--skip-bad-rows"):
        rejudge(run)
    found = rejudge(run, skip_bad_rows=True)
    # The second question had no response.
    assert [fault.partition(" cannot")[0] for fault in found.faults] == [f"the problem of {first}"]
    (change,) = found.changes
    assert (change.new_status, change.new_score) == ("verifier_error", None)
    assert "fingerprint" in change.detail


def test_a_run_without_problems_says_how_to_get_them(run):
    (run / "problems.jsonl").unlink()
    with pytest.raises(RowError, match="repeating the `rlvr eval` that made the run stores it"):
        rejudge(run)


def test_an_episode_of_another_problem_is_not_judged_on_the_stored_one(run):
    rewrite(run / "episodes.jsonl", lambda r: r | {"fingerprint": "of another"})
    with pytest.raises(RowError, match="or another one is"):
        rejudge(run)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyConfig:
    """Where the key is."""

    path: str = ""


@pytest.fixture
def keyed():
    """A task whose verifier opens the file that a knob names."""
    plus = find(PLUS).task_type

    class KeyedTask(Task[KeyConfig, plus.Problem]):
        prompt, solve = plus.prompt, plus.solve

        def generate(self, rng):
            return self.Problem(1, int(rng.integers(2**40)))

        def verify(self, problem, answer):
            key = Path(self.outside("path")).read_text()
            return Verdict.correct() if answer == key else Verdict.wrong("no")

    register("EvalKeyed-v0", domain="math")(KeyedTask)
    yield
    registry._SPECS.pop("rlvr/EvalKeyed-v0")


def test_a_folder_opens_nothing_unless_it_is_trusted(keyed, tmp_path):
    (tmp_path / "key").write_text("7")
    knobs = {"path": str(tmp_path / "key")}
    run = tmp_path / "run"
    evaluate("EvalKeyed-v0", "constant:7", episodes=2, knobs=knobs, out=run)
    with pytest.raises(RowError, match=r"would open path=.*rejudge"):
        rejudge(run)
    assert rejudge(run, skip_bad_rows=True).counts == {("correct", "verifier_error"): 2}
    assert rejudge(run, trusted=True).counts == {("correct", "correct"): 2}


def test_processes_give_the_same(tmp_path):
    evaluate(["Gcd-v0", "GuessNumber-v0"], ["oracle", "random"], episodes=5, out=tmp_path / "run")
    with Processes(2) as executor:
        there = rejudge(tmp_path / "run", executor=executor, out=tmp_path / "there")
    here = rejudge(tmp_path / "run", out=tmp_path / "here")
    assert there.counts == here.counts
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_what_is_no_run_and_a_folder_in_use_are_refused(run, tmp_path):
    with pytest.raises(ConfigError, match="holds no run"):
        rejudge(tmp_path)
    for target in (run, tmp_path):
        with pytest.raises(ConfigError, match="is not empty"):
            rejudge(run, out=target)


def test_the_command_prints_what_changed(run, strict, capsys, tmp_path):
    here = ["--executor", "serial", "--no-progress"]
    assert main(["rejudge", str(run), "--out", str(tmp_path / "new"), *here]) == 0
    shown = capsys.readouterr().out
    found = rejudge(run)
    assert f"11 episodes judged again, {len(found.changes)} of them with another" in shown
    assert "1 episodes without a response to judge stay as they are" in shown
    rows = [line.split() for line in shown.splitlines()]
    for (old, new), count in found.counts.items():
        assert [old, new, str(count)] in rows
    assert sum(row[:2] == ["mine", PLUS] for row in rows) == len(found.changes)
    assert "is out of favour" in shown
    assert str(tmp_path / "new") in shown

    assert main(["rejudge", str(run), "--json", *here]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_json()))


def test_the_command_says_that_prompts_are_others(run, monkeypatch, capsys):
    monkeypatch.setattr(find(PLUS).task_type, "prompt", lambda self, problem: "Add.")
    assert main(["rejudge", str(run), "--executor", "serial", "--no-progress"]) == 0
    shown = capsys.readouterr()
    assert "12 of 12 problems have another prompt in this version" in shown.out
    assert main(["rejudge", str(run / "nowhere")]) == 2
    assert "holds no run of `rlvr eval`" in capsys.readouterr().err
